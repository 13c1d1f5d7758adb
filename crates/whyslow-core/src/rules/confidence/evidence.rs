//! What a finding rests on and the capture lacks.

use super::{LIKELY, set};
use crate::analysis::{CommonQuestion, Connection, Finding, Grade};
use crate::cause::Cause;
use crate::rules::certain_with;
use crate::rules::rule::Evidence;

/// More than an initial window of ten segments (RFC 6928) is no news or sign of life: such a
/// response was asked for, whatever the protocol.
const BULK: u64 = 14_600;

/// Which evidence the capture has of a connection.
pub(super) struct Seen {
    opening: bool,
    options: bool,
    protocol: bool,
}

impl Seen {
    pub(super) fn of(connection: &Connection) -> Self {
        let lacks = |slug: &str| connection.problems.iter().any(|problem| problem.slug == slug);
        Self {
            opening: !lacks(Cause::NoHandshake.slug()),
            options: !lacks("malformed-options"),
            protocol: connection.application.is_some(),
        }
    }

    /// Lowers the confidence of a finding that is certain only with evidence that is not there.
    /// `bytes` of its transfer.
    pub(super) fn cap_unproven(&self, finding: &mut Finding, bytes: u64) {
        let lacking = |evidence: &&Evidence| match evidence {
            Evidence::Opening => !self.opening,
            Evidence::Options => !self.options,
            Evidence::Protocol => !self.protocol && bytes <= BULK,
        };
        if finding.confidence <= LIKELY {
            return;
        }
        if let Some(missing) = certain_with(finding.cause).iter().find(lacking) {
            set(finding, finding.grade.min(Grade::Inferred), finding.weight);
            let question = match missing {
                Evidence::Opening => CommonQuestion::OpeningNotCaptured,
                Evidence::Options => CommonQuestion::OptionsNotCaptured,
                Evidence::Protocol => CommonQuestion::ProtocolUnknown,
            };
            finding.to_confirm.insert(0, question.into());
        }
    }
}
