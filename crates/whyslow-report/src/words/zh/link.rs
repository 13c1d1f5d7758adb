//! The rate of the link and its queue.

use whyslow_core::analysis::{LinkAction, LinkQuestion, LinkStatement};

pub(super) fn statement(statement: &LinkStatement) -> String {
    match statement {
        LinkStatement::Placeholder => String::new(),
    }
}

pub(super) fn question(question: &LinkQuestion) -> String {
    match question {
        LinkQuestion::Placeholder => String::new(),
    }
}

pub(super) fn action(action: &LinkAction) -> String {
    match action {
        LinkAction::Placeholder => String::new(),
    }
}
