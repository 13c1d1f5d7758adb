//! Lost, repeated and reordered packets.

use crate::words::quantity::thousands;
use whyslow_core::analysis::{LossAction, LossQuestion, LossStatement};

pub(super) fn statement(statement: &LossStatement) -> String {
    match statement {
        LossStatement::SizeIgnored { by, mtu } => format!(
            "{by} says by ICMP that packets of {} B pass, and the sender does not heed it",
            thousands(u64::from(*mtu))
        ),
    }
}

pub(super) fn question(question: &LossQuestion) -> String {
    match question {
        LossQuestion::Placeholder => String::new(),
    }
}

pub(super) fn action(action: &LossAction) -> String {
    match action {
        LossAction::Placeholder => String::new(),
    }
}
