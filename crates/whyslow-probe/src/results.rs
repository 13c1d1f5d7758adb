//! [`Results`]: the results of the requests, and the analysis of their packets.

use crate::client::exchange::Exchange;
use crate::report::figures::{self, Figure};
use crate::requests::Request;
use crate::threshold::Threshold;
use whyslow_analysis::Analysis;
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
    /// Findings from the packets.
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

    /// Which URLs redirect further than redirects are followed, a line each.
    pub fn not_followed(&self) -> Vec<String> {
        let is_on = |exchange: &&Exchange| exchange.redirects_on && exchange.hops.len() > 1;
        let answered = self.requests.iter().filter_map(|request| request.outcome.as_ref().ok());
        let mut lines: Vec<String> = answered
            .filter(is_on)
            .map(|exchange| {
                let followed = units::count(exchange.hops.len() as u64 - 1, "redirect");
                format!("{}: still redirected after {followed} (--max-redirs)", exchange.hops[0].url)
            })
            .collect();
        lines.dedup();
        lines
    }

    /// Whether a request was answered.
    pub fn is_any_answered(&self) -> bool {
        self.requests.iter().any(|request| request.outcome.is_ok())
    }

    /// Which requests passed which thresholds, a line each.
    pub fn exceeded(&self, thresholds: &[Threshold]) -> Vec<String> {
        self.requests.iter().flat_map(|request| Self::passed_by(request, thresholds)).collect()
    }

    /// Which thresholds a request passed, a line each.
    pub fn passed_by(request: &Request, thresholds: &[Threshold]) -> Vec<String> {
        let Ok(exchange) = &request.outcome else { return Vec::new() };
        let line = |threshold: &Threshold| {
            let value = figures::value(threshold.figure, exchange).filter(|value| threshold.is_passed(*value))?;
            let unit = if threshold.figure == Figure::Speed { "bit/s" } else { "s" };
            let name = threshold.figure.name();
            Some(format!("{}: {threshold}: {name} is {}", request.url, units::figure(value, unit)))
        };
        thresholds.iter().filter_map(line).collect()
    }
}
