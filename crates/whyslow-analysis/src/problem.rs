//! [`Problem`]: a limit to the conclusions that a capture allows.

mod detail;

pub use detail::{MissingHandshake, NotCompared, ProblemDetail, Rewritten, TextField, UnmatchedIcmp};

use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;

/// The [`Problem`] of a capture that was stopped, or whose reading was, before its end.
pub const PARTIAL: &str = "partial";

/// The [`Problem`] of a capture with packets of QUIC, which are not read.
pub const QUIC: &str = "quic";

/// A property of a capture that limits the conclusions from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct Problem {
    /// Its name.
    pub slug: String,
    /// How often.
    pub count: u64,
    /// Kind of the problem.
    pub detail: ProblemDetail,
}

impl Problem {
    /// Returns the problem of this name.
    pub fn new(slug: &str, count: u64, detail: impl Into<ProblemDetail>) -> Self {
        Self { slug: slug.to_owned(), count, detail: detail.into() }
    }
}
