//! A line for each request of a monitor.

use super::figures::phases;
use super::floor::Path;
use super::kernel;
use crate::client::exchange::Exchange;
use crate::requests::Request;
use std::time::Duration;
use whyslow_report::text::{harmless, units};
use whyslow_units::{Time, iso_8601};

/// `2026-11-27T23:10:24Z URL 200 new 206 ms (connect 40.2 ms, …) slow-start (possible)`; `began` is
/// since the epoch.
pub fn monitor_line(request: &Request, exchange: &Exchange, began: Duration) -> String {
    let hop = exchange.last();
    let took = units::figure(exchange.took.as_secs_f64(), "s");
    let parts: Vec<String> = phases(exchange)
        .into_iter()
        .filter(|(name, _)| *name != "total")
        .filter_map(|(name, time)| {
            Some(format!("{} {}", name.replace('_', " "), units::figure(time?.as_secs_f64(), "s")))
        })
        .collect();
    let connection = if hop.is_reused { "reused" } else { "new" };
    let rtt = Path::of(std::iter::once(request)).rtt();
    let cause = kernel::verdict(exchange, rtt).and_then(|verdict| verdict.cause);
    let cause = cause.map_or(String::new(), |cause| format!(" {cause} (possible)"));
    let url = harmless(&request.url);
    format!("{} {url} {} {connection} {took} ({}){cause}", utc(began), hop.status, parts.join(", "))
}

/// The time of day on a date, in whole seconds.
fn utc(since_epoch: Duration) -> String {
    let nanos = i64::try_from(since_epoch.as_nanos()).unwrap_or(i64::MAX);
    let text = iso_8601(Time(nanos));
    format!("{}Z", text.split('.').next().unwrap_or_default())
}
