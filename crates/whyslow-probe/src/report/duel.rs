//! Two URLs side by side: the fastest request of each, step by step, in ten lines.

use super::figures::phases;
use super::side_by_side::{connection, fastest, urls};
use crate::client::exchange::{Exchange, Hop};
use crate::results::Results;
use whyslow_analysis::Finding;
use whyslow_report::text::styles::BOLD;
use whyslow_report::text::{Column, Line, Page, Table, units};

/// The phases in words.
const NAMES: [(&str, &str); 5] = [
    ("dns", "DNS lookup"),
    ("tunnel", "tunnel of the proxy"),
    ("tls", "TLS handshake"),
    ("first_byte", "first byte"),
    ("transfer", "the rest"),
];
/// A smaller difference is not called one: share of the slower one's time, and seconds.
const LEAST_SHARE: f64 = 0.05;
const LEAST: f64 = 0.001;

/// Prints them, if there are two, and returns whether there are.
pub(super) fn print(page: &mut Page, results: &Results) -> bool {
    let urls = urls(results);
    let [a, b] = urls.as_slice() else { return false };
    let [Some(first), Some(second)] = [a, b].map(|url| fastest(results, url)) else { return false };
    let [total_a, total_b] = [first, second].map(|exchange| exchange.took.as_secs_f64());
    let (least, most) = (total_a.min(total_b), total_a.max(total_b));
    let verdict = if most - least < (LEAST_SHARE * most).max(LEAST) {
        format!("A and B take the same time: {} and {}", figure(total_a), figure(total_b))
    } else {
        let (faster, slower) = if total_a < total_b { ("A", "B") } else { ("B", "A") };
        let (by, share) = (figure(most - least), units::share(1.0 - least / most));
        format!("{faster} is faster by {by} ({share}): {} instead of {slower}'s {}", figure(least), figure(most))
    };
    page.hanging(&Line::new(), BOLD, &verdict, 2);
    for (name, url) in [("A  ", a), ("B  ", b)] {
        page.hanging(&Line::new().plain(name), anstyle::Style::new(), url, 3);
    }
    let mut table =
        Table::new(vec![Column::words(""), Column::figures("A"), Column::figures("B"), Column::figures("B − A")]);
    for ((phase, a), (_, b)) in phases(first).into_iter().zip(phases(second)) {
        let name = NAMES.iter().find_map(|(known, name)| (*known == phase).then_some(*name)).unwrap_or(phase);
        if let (None, None) = (a, b) {
            continue;
        }
        let [a, b] = [a, b].map(|time| time.unwrap_or_default().as_secs_f64());
        table.row([name.to_owned(), figure(a), figure(b), difference(b - a)]);
    }
    let bytes = |exchange: &Exchange| units::bytes(exchange.last().body_bytes.max(exchange.last().sent_bytes));
    table.row(["bytes".to_owned(), bytes(first), bytes(second), String::new()]);
    let causes = [first, second].map(|exchange| cause(results, exchange.last()));
    if causes.iter().any(Option::is_some) {
        let [a, b] = causes.map(|cause| cause.unwrap_or_else(|| "nothing slow".to_owned()));
        table.row(["cause".to_owned(), a, b, String::new()]);
    }
    table.print(page, 0);
    true
}

/// The costliest cause of a request's connection, by its packets.
fn cause(results: &Results, hop: &Hop) -> Option<String> {
    let analysis = &results.recorded.as_ref().ok()?.analysis;
    let connection = connection(&analysis.connections, hop)?;
    let of_transfers = connection.transfers.iter().flat_map(|transfer| &transfer.findings);
    let findings = of_transfers.chain(&connection.findings);
    let worst: &Finding = findings.max_by_key(|finding| finding.cost_s)?;
    Some(format!("{} {}", worst.cause, units::span(worst.cost_s)))
}

fn figure(seconds: f64) -> String {
    units::figure(seconds, "s")
}

fn difference(seconds: f64) -> String {
    let sign = if seconds < 0.0 { "−" } else { "+" };
    format!("{sign}{}", figure(seconds.abs()))
}
