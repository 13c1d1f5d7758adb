//! Data for the page with its sentences.

use serde::Serialize;
use whyslow_analysis::Connection;
use whyslow_diagnosis::compare::Comparison;
use whyslow_report::words::{ComparisonWords, WordSheet};

/// A connection with its sentences.
#[derive(Serialize)]
pub(crate) struct WordedConnection<'a> {
    #[serde(flatten)]
    connection: &'a Connection,
    words: WordSheet,
}

impl<'a> WordedConnection<'a> {
    pub(crate) fn new(connection: &'a Connection) -> Self {
        Self { connection, words: WordSheet::of_connection(connection) }
    }
}

/// Two transfers side by side, with the sentences about them.
#[derive(Serialize)]
pub(crate) struct WordedComparison {
    #[serde(flatten)]
    comparison: Comparison,
    words: ComparisonWords,
}

impl WordedComparison {
    pub(crate) fn new(comparison: Comparison) -> Self {
        Self { words: ComparisonWords::new(&comparison), comparison }
    }
}
