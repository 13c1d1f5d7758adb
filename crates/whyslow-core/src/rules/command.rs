//! Commands that are printed to be pasted on Linux. Each is whole, and raises what is too small
//! without lowering what is larger already.

use super::TransferCase;
use super::say::{rate, thousands, time};
use crate::limit;
use std::net::IpAddr;

/// The largest receive buffer of a Linux that nobody has tuned (`tcp_rmem`), bytes.
const USUAL_RMEM: u64 = 6_291_456;
/// The largest send buffer (`tcp_wmem`), bytes.
const USUAL_WMEM: u64 = 4_194_304;
/// A larger buffer costs every connection of the host memory that few can use, bytes.
const MAX: u64 = 16 << 20;
/// Where the path's rate is not known, so many times the rate that was measured is a start.
const A_START: f64 = 8.0;

/// The buffer that a transfer over this path needs, twice the bandwidth-delay product or twice its
/// payload (a part of each buffer is the kernel's own), and why in words. The path's rate is the
/// one that was given, or else what its bursts show. None without a round trip.
pub(super) fn buffer_for(case: &TransferCase<'_>) -> Option<(u64, String)> {
    let rtt = case.context.rtt?;
    // Next to the sender ACKs come together, and what they let go leaves at the sender's own rate.
    let near = case.context.near_receiver;
    let seen = limit::burst_rate(case.transfer, &case.context).filter(|_| near);
    let given = case.context.path_rate;
    let wanted = given.or(seen).unwrap_or(A_START * case.rate());
    let round = |bytes: u64| bytes.div_ceil(65_536).max(1) * 65_536;
    let full = round((2.0 * wanted / 8.0 * rtt.as_secs_f64()) as u64);
    let all = round(2 * case.transfer.bytes());
    let whence = match (given, seen) {
        (Some(given), _) => format!("the path carries {}, as was said", rate(given)),
        (None, Some(best)) => format!("the path delivered bursts at {}", rate(best)),
        (None, None) => format!(
            "how fast the path is does not show (`--path-rate` tells it); {} would be {A_START} times as fast",
            rate(wanted)
        ),
    };
    let buffer = full.min(all).min(MAX);
    let why = match buffer {
        _ if buffer == full => format!("which at a round trip of {} needs {} B at least", time(rtt), thousands(buffer)),
        _ if buffer == all => format!("and {} B at least let go all of this transfer at once", thousands(buffer)),
        _ => format!("and {} B at least are a start at a round trip of {}", thousands(MAX), time(rtt)),
    };
    Some((buffer, format!("{whence}, {why}")))
}

/// Receive buffers that hold `bytes` from the first round trip on. The second figure is where each
/// connection begins; raising the third alone leaves the kernel to grow the buffer while the sender
/// waits for it.
pub(super) fn receive_buffer(bytes: u64) -> String {
    at_least("tcp_rmem", bytes, USUAL_RMEM.max(2 * bytes))
}

/// Send buffers that may grow to `bytes`. They grow with the congestion window, so that only the
/// largest matters.
pub(super) fn send_buffer(bytes: u64) -> String {
    at_least("tcp_wmem", 0, USUAL_WMEM.max(bytes))
}

/// Keeps what is larger already.
fn at_least(name: &str, usual: u64, most: u64) -> String {
    let second = if usual > 0 { format!("($2>{usual}?$2:{usual})") } else { "$2".into() };
    format!(
        "sysctl -w net.ipv4.{name}=\"$(sysctl -n net.ipv4.{name} | awk '{{print $1, {second}, ($3>{most}?$3:{most})}}')\""
    )
}

/// Sets an attribute of the default route that leads to `peer`, and leaves the rest of it as it is.
pub(super) fn default_route(peer: IpAddr, attribute: &str) -> String {
    let ip = if peer.is_ipv6() { "ip -6" } else { "ip" };
    format!("{ip} route change $({ip} route show default | head -n 1) {attribute}")
}

#[cfg(test)]
mod tests;
