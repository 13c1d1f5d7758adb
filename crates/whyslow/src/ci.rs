//! What build servers read: a verdict for each transfer, as JUnit's XML, GitHub's annotations or
//! Markdown, and the comparison with a baseline.

pub(crate) mod baseline;
mod formats;

pub(crate) use formats::{github, junit, markdown};

use crate::fail_on::FailOn;
use baseline::Change;
use whyslow_analysis::{Analysis, Connection, End, Transfer};
use whyslow_report::headline;
use whyslow_report::words::{self, Lang};

/// A transfer that passes or fails.
#[derive(Debug)]
pub(crate) struct Case {
    /// The capture's path.
    pub capture: String,
    /// `#3.2 download from web.example:443`.
    pub name: String,
    /// The time that a user waited, seconds.
    pub waited_s: f64,
    /// The costliest cause, and its cost in seconds.
    pub cause: Option<(&'static str, f64)>,
    /// Why it fails: a name and a sentence each.
    pub failures: Vec<(String, String)>,
}

/// A verdict for each transfer, in the order of the analysis.
pub(crate) fn cases(analysis: &Analysis, rules: &[FailOn], changes: &[Change]) -> Vec<Case> {
    let mut out = Vec::new();
    for connection in &analysis.connections {
        for (index, transfer) in connection.transfers.iter().enumerate() {
            let mut case = case(analysis, connection, index, transfer);
            for finding in transfer.findings.iter().filter(|finding| rules.iter().any(|rule| rule.is_of(finding))) {
                case.failures.push((finding.cause.slug().to_owned(), words::summary(finding, Lang::En)));
            }
            let of_this = changes.iter().filter(|change| change.is_of(connection.id, index + 1));
            for change in of_this.filter(|change| rules.iter().any(|rule| rule.is_slower(change))) {
                case.failures.push(("slower".to_owned(), change.text()));
            }
            out.push(case);
        }
    }
    out
}

fn case(analysis: &Analysis, connection: &Connection, index: usize, transfer: &Transfer) -> Case {
    let (way, peer) = match transfer.from {
        End::Client => ("upload to", &connection.server),
        End::Server => ("download from", &connection.server),
    };
    let capture = analysis.captures.get(connection.capture).map_or("", |capture| &capture.path);
    let worst = transfer.findings.iter().max_by_key(|finding| finding.cost_s);
    Case {
        capture: capture.to_owned(),
        name: format!("#{}.{} {way} {}", connection.id, index + 1, peer.host_and_port()),
        waited_s: transfer.waited().as_secs_f64(),
        cause: worst.map(|finding| (finding.cause.slug(), finding.cost_s.as_secs_f64())),
        failures: Vec::new(),
    }
}

/// The first line of the page.
pub(crate) fn verdict(analysis: &Analysis) -> String {
    headline::of(analysis, Lang::En).sentence
}

#[cfg(test)]
mod tests;
