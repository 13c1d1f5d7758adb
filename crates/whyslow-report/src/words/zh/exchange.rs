//! Applications, requests and connections.

use whyslow_core::analysis::{ExchangeAction, ExchangeQuestion, ExchangeStatement};

pub(super) fn statement(statement: &ExchangeStatement) -> String {
    match statement {
        ExchangeStatement::Placeholder => String::new(),
    }
}

pub(super) fn question(question: &ExchangeQuestion) -> String {
    match question {
        ExchangeQuestion::Placeholder => String::new(),
    }
}

pub(super) fn action(action: &ExchangeAction) -> String {
    match action {
        ExchangeAction::Placeholder => String::new(),
    }
}
