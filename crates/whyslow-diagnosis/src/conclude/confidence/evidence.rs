//! Evidence that a finding needs and the capture lacks.

use crate::ranking::BULK;
use crate::rules::{Evidence, certain_with};
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{CommonQuestion, Connection};

/// Which evidence the capture has of a connection.
pub(super) struct CapturedEvidence {
    opening: bool,
    options: bool,
    protocol: bool,
}

impl CapturedEvidence {
    pub(super) fn of(connection: &Connection) -> Self {
        let lacks = |slug: &str| connection.problems.iter().any(|problem| problem.slug == slug);
        Self {
            opening: !lacks(Cause::NoHandshake.slug()),
            options: !lacks("malformed-options"),
            protocol: connection.application_is_shown || !connection.requests.is_empty(),
        }
    }

    /// Returns why a cause is not certain; `None` if the capture has the evidence that it rests on.
    /// `bytes` of its transfer.
    pub(super) fn lacks(&self, cause: Cause, bytes: u64) -> Option<CommonQuestion> {
        let is_missing = |evidence: &&Evidence| match evidence {
            Evidence::Opening => !self.opening,
            Evidence::Options => !self.options,
            Evidence::Protocol => !self.protocol && bytes <= BULK,
        };
        certain_with(cause).iter().find(is_missing).map(|missing| match missing {
            Evidence::Opening => CommonQuestion::OpeningNotCaptured,
            Evidence::Options => CommonQuestion::OptionsNotCaptured,
            Evidence::Protocol => CommonQuestion::ProtocolUnknown,
        })
    }
}
