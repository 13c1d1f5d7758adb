//! [`Results`]: the results of the requests, and the analysis of their packets.

use crate::report::figures::{self, Figure};
use crate::requests::Request;
use crate::threshold::Threshold;
use whyslow_core::analysis::Analysis;
use whyslow_report::text::units;

/// The requests in the order in which they were made, and the analysis of their packets.
pub struct Results {
    /// The requests.
    pub requests: Vec<Request>,
    /// Or why no packets were recorded.
    pub recorded: Result<RecordedPackets, String>,
}

/// The packets that were recorded.
pub struct RecordedPackets {
    /// What the packets show.
    pub analysis: Analysis,
    /// How many were recorded.
    pub packets: u64,
    /// How many the kernel dropped.
    pub dropped: u64,
}

impl Results {
    /// Why requests count as failed, a line each.
    pub fn failures(&self) -> Vec<String> {
        self.requests.iter().filter_map(Request::complaint).collect()
    }

    /// Which URLs needed new connections in spite of --reuse, a line each.
    pub fn not_reused(&self) -> Vec<String> {
        let mut urls: Vec<&str> = Vec::new();
        let mut out = Vec::new();
        for request in self.requests.iter().filter(|request| request.may_reuse) {
            if urls.contains(&request.url.as_str()) {
                continue;
            }
            urls.push(&request.url);
            let same = self.requests.iter().filter(|other| other.may_reuse && other.url == request.url);
            let hops: Vec<_> = same.filter_map(|other| other.outcome.as_ref().ok()?.hops.first()).collect();
            let anew = hops.iter().filter(|hop| !hop.is_reused).count();
            let Some(hop) = hops.iter().find(|hop| !hop.is_reused) else { continue };
            let why = if hop.http == "1.0" { ": it answers with HTTP/1.0" } else { "" };
            out.push(format!(
                "{}: --reuse: {anew} of {} requests needed a new connection, because the server closed it{why}",
                request.url,
                hops.len()
            ));
        }
        out
    }

    /// Whether a request was answered.
    pub fn is_any_answered(&self) -> bool {
        self.requests.iter().any(|request| request.outcome.is_ok())
    }

    /// Which requests passed which thresholds, a line each.
    pub fn exceeded(&self, thresholds: &[Threshold]) -> Vec<String> {
        let mut out = Vec::new();
        for request in &self.requests {
            let Ok(exchange) = &request.outcome else { continue };
            for threshold in thresholds {
                let Some(value) = figures::value(threshold.figure, exchange) else { continue };
                if threshold.is_passed(value) {
                    let unit = if threshold.figure == Figure::Speed { "bit/s" } else { "s" };
                    let name = threshold.figure.name();
                    out.push(format!("{}: {threshold}: {name} is {}", request.url, units::figure(value, unit)));
                }
            }
        }
        out
    }
}
