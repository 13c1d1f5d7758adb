//! [`Answer`]: a kernel's account of a connection compared with the findings of a capture. The
//! findings stay as they are; the answers stand next to them.

mod coverage;
mod judge;
mod matching;
mod reading;

pub use matching::MatchedBy;
pub use reading::{Outcome, Reading};

use crate::report::{Figure, Report};
use serde::Serialize;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Analysis, Question};

/// Maximum number of answers.
const MOST: usize = 10_000;

/// The account of one end about one finding.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// Id of the connection.
    pub connection: u64,
    /// The number of its transfer, from 1.
    pub transfer: usize,
    /// The finding of this transfer.
    pub cause: Cause,
    /// The open question; `None` if the account is about the cause itself.
    pub question: Option<Question>,
    /// Index in [`Report::subjects`].
    pub subject: usize,
    /// How the account was found.
    pub matched_by: MatchedBy,
    /// Whether it agrees with the finding.
    pub outcome: Outcome,
    /// The reading that the account supports.
    pub reading: Reading,
    /// The kernel's figures.
    pub evidence: Vec<Figure>,
}

/// Answers what the accounts of a report can answer, in the order of the analysis.
pub fn answers(analysis: &Analysis, report: &Report) -> Vec<Answer> {
    let mut out = Vec::new();
    for found in matching::matches(analysis, report) {
        for (index, transfer) in found.connection.transfers.iter().enumerate() {
            let about = judge::About { found: &found, transfer };
            for finding in &transfer.findings {
                let answered = about.finding(finding).into_iter().map(|judged| Answer {
                    connection: found.connection.id,
                    transfer: index + 1,
                    cause: finding.cause,
                    question: judged.question,
                    subject: found.subject,
                    matched_by: found.by,
                    outcome: judged.outcome,
                    reading: judged.reading,
                    evidence: judged.evidence,
                });
                out.extend(answered);
            }
        }
        out.truncate(MOST);
    }
    out
}

#[cfg(test)]
mod tests;
