//! [`needed`]: the buffer that live connections need, by what they have.

use crate::host::look::Live;
use whyslow_report::text::units;

/// A larger buffer costs every connection memory that few can use, bytes: as for captures.
const MOST: u64 = 16 << 20;
/// Of the bytes that a round trip brings now: half of a buffer is the kernel's own, and twice as
/// much shows whether the path carries more.
const TIMES: f64 = 4.0;
/// Buffers come in pieces of so many bytes.
const PIECE: u64 = 65_536;

/// A buffer, and why it is that large.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Buffer {
    pub bytes: u64,
    pub why: String,
}

/// Four times rate × least round trip of the connection that has most of it, no more than 16 MiB.
/// None where nothing is known of that, or where a round trip grows with what is on its way: a
/// larger buffer would only fill that queue.
pub(super) fn needed(connections: &[Live<'_>], rate: impl Fn(&Live<'_>) -> Option<f64>) -> Option<Buffer> {
    if connections.iter().any(Live::stands_in_queue) {
        return None;
    }
    let product = |live: &Live<'_>| {
        let rtt = live.min_rtt().or(live.rtt())?;
        rate(live).map(|rate| (rate * rtt, rate, rtt))
    };
    let (bytes, rate, rtt) = connections.iter().filter_map(product).max_by(|a, b| a.0.total_cmp(&b.0))?;
    let wanted = ((TIMES * bytes) as u64).div_ceil(PIECE).max(1) * PIECE;
    let why =
        format!("{} × {} is {} now", units::rate(rate * 8.0), units::figure(rtt, "s"), units::bytes(bytes as u64));
    Some(Buffer { bytes: wanted.min(MOST), why })
}

/// Raises the last two figures of `net.ipv4.tcp_rmem`: the second one is where each connection
/// begins.
pub(super) fn raise_both(name: &str, bytes: u64) -> String {
    let at_least = |figure: u8| format!("(${figure}>{bytes}?${figure}:{bytes})");
    format!(
        "sysctl -w net.ipv4.{name}=\"$(sysctl -n net.ipv4.{name} | awk '{{print $1, {}, {}}}')\"",
        at_least(2),
        at_least(3)
    )
}

/// Raises the last figure of `net.ipv4.tcp_wmem`, and keeps what is larger already.
pub(super) fn raise(name: &str, bytes: u64) -> String {
    format!(
        "sysctl -w net.ipv4.{name}=\"$(sysctl -n net.ipv4.{name} | awk '{{print $1, $2, ($3>{bytes}?$3:{bytes})}}')\""
    )
}
