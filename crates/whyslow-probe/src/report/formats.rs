//! Output in the formats of other tools.

use super::figures::{Curl, speed};
use crate::client::exchange::Exchange;
use crate::client::failure::{Failure, Phase};
use crate::results::Results;
use std::fmt::Write;
use whyslow_report::text::harmless;

/// httptest's line for each request: `0 DNS connect response transfer bytes speed URL`, seconds,
/// body bytes, bytes per second; connecting includes TLS. The response begins with its first
/// packet: that tool measures when the first TLS record can be read, and with a large record a
/// round trip or more of the transfer would count as response. What failed is `CODE 0 0 0 0 0 URL`.
pub fn httptest(results: &Results) -> String {
    let mut out = String::new();
    for request in &results.requests {
        let url = harmless(&request.url);
        let _ = match &request.outcome {
            Ok(exchange) if exchange.last().status < 400 => writeln!(out, "0 {} {url}", httptest_figures(exchange)),
            Ok(_) => writeln!(out, "4 0 0 0 0 0 {url}"),
            Err(failure) => writeln!(out, "{} 0 0 0 0 0 {url}", httptest_code(failure)),
        };
    }
    out
}

fn httptest_figures(exchange: &Exchange) -> String {
    let hop = exchange.last();
    let times = &hop.times;
    let dns = times.namelookup.unwrap_or_default();
    let connected = times.appconnect.or(times.connect).unwrap_or(dns);
    let transfer = times.total.saturating_sub(times.first_packet).as_secs_f64();
    format!(
        "{:.4} {:.4} {:.4} {transfer:.4} {} {:.0}",
        dns.as_secs_f64(),
        connected.saturating_sub(dns).as_secs_f64(),
        times.first_packet.saturating_sub(connected).as_secs_f64(),
        hop.body_bytes,
        // A body that came at once has no rate: the rate is that of the whole time.
        if transfer > 1e-6 { hop.body_bytes as f64 / transfer } else { speed(hop) }
    )
}

/// That tool's exit codes.
fn httptest_code(failure: &Failure) -> u8 {
    match failure.phase {
        Phase::Url => 10,
        Phase::Dns => 1,
        Phase::Connect | Phase::Proxy => 2,
        Phase::Tls => 9,
        Phase::Send | Phase::Wait | Phase::Transfer => 3,
    }
}

/// The variables of `curl -w`, a line each; a blank line between requests.
pub fn curl(results: &Results) -> String {
    let answered = results.requests.iter().filter_map(|request| request.outcome.as_ref().ok());
    answered.map(curl_one).collect::<Vec<_>>().join("\n")
}

fn curl_one(exchange: &Exchange) -> String {
    let mut out = String::new();
    for (name, seconds) in Curl::of(exchange).named() {
        let _ = writeln!(out, "{name}: {seconds:.6}");
    }
    for (name, value) in curl_rest(exchange) {
        let _ = writeln!(out, "{name}: {}", harmless(&value));
    }
    out
}

/// The variables that are not times.
pub(super) fn curl_rest(exchange: &Exchange) -> Vec<(&'static str, String)> {
    let hop = exchange.last();
    let connections = exchange.hops.iter().filter(|hop| !hop.is_reused).count();
    let per_second = |bytes: u64| bytes as f64 / exchange.took.as_secs_f64().max(1e-9);
    vec![
        ("http_code", format!("{:03}", hop.status)),
        ("http_version", hop.http.to_owned()),
        ("url_effective", hop.url.clone()),
        ("content_type", hop.content_type.clone().unwrap_or_default()),
        ("num_connects", connections.to_string()),
        ("num_redirects", (exchange.hops.len() - 1).to_string()),
        ("num_headers", hop.headers.to_string()),
        ("size_header", hop.head_bytes.to_string()),
        ("size_download", hop.body_bytes.to_string()),
        ("size_upload", hop.sent_bytes.to_string()),
        ("speed_download", format!("{:.0}", per_second(hop.body_bytes))),
        ("speed_upload", format!("{:.0}", per_second(hop.sent_bytes))),
        ("local_ip", hop.local.ip().to_string()),
        ("local_port", hop.local.port().to_string()),
        ("remote_ip", hop.remote.ip().to_string()),
        ("remote_port", hop.remote.port().to_string()),
    ]
}
