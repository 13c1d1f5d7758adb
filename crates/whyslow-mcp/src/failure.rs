//! [`Failure`]: why a tool has no result, and what to do about it.

use rmcp::model::{CallToolResult, ContentBlock};

/// The error in place of a result, for the assistant, which can act on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    what: String,
    hint: String,
}

impl Failure {
    /// The error, and what to do.
    pub(crate) fn new(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { what: what.into(), hint: hint.into() }
    }

    /// Returns both, each on its own line.
    pub(crate) fn text(&self) -> String {
        format!("Error: {}\nHint: {}", self.what, self.hint)
    }

    /// A fault of this program.
    pub(crate) fn fault() -> Self {
        Self::new(
            "a fault in whyslow ended this call",
            "other calls still work; `whyslow FILE` on the command line shows whether the capture causes it",
        )
    }
}

impl From<Failure> for CallToolResult {
    fn from(failure: Failure) -> Self {
        Self::error(vec![ContentBlock::text(failure.text())])
    }
}
