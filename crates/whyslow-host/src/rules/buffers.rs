//! [`needed`]: the buffer size that live connections need, from their rate and round trip.

use crate::finding::BufferSize;
use crate::snapshot::Live;

/// A larger buffer costs every connection memory that few can use, bytes: as for captures.
const MOST: u64 = 16 << 20;
/// Of the bytes that a round trip brings now. They are what the small buffer let through, and not
/// what the path carries, so four times their need is advised: half of a buffer is the kernel's
/// own.
const TIMES: f64 = 8.0;
/// Buffers are rounded up to multiples of this.
const PIECE: u64 = 65_536;
/// Linux' default of the last figure of `tcp_rmem` and of `tcp_wmem`, bytes: with it a connection
/// of 100 ms carries about 200 Mbit/s, whatever rate the smaller buffer held it at.
pub(super) const RECEIVE: u64 = 6 << 20;
pub(super) const SEND: u64 = 4 << 20;
/// Linux' default of the second figure of `tcp_rmem`, bytes, and the most that is advised for it:
/// every connection begins with it.
const BEGIN: u64 = 128 << 10;
const MOST_BEGIN: u64 = 1 << 20;

/// Eight times rate × least round trip of the connection that has most of it, at least `least`, at
/// most 16 MiB. `None` if that is unknown, or if a round trip grows with the bytes in flight: a
/// larger buffer would only fill that queue.
pub(super) fn needed(
    connections: &[Live<'_>],
    least: u64,
    rate: impl Fn(&Live<'_>) -> Option<f64>,
) -> Option<BufferSize> {
    if connections.iter().any(Live::stands_in_queue) {
        return None;
    }
    let product = |live: &Live<'_>| {
        let rtt = live.min_rtt().or(live.rtt())?;
        rate(live).map(|rate| (rate * rtt, rate, rtt))
    };
    let (bytes, rate, rtt) = connections.iter().filter_map(product).max_by(|a, b| a.0.total_cmp(&b.0))?;
    let wanted = ((TIMES * bytes) as u64).div_ceil(PIECE).max(1) * PIECE;
    Some(BufferSize { bytes: wanted.clamp(least, MOST), rate_bps: rate * 8.0, rtt_s: rtt, is_default: wanted <= least })
}

/// With what a buffer begins, where it does not grow: what is needed, within bounds.
pub(super) fn begins_with(size: &BufferSize) -> u64 {
    let needed = TIMES * size.rate_bps / 8.0 * size.rtt_s;
    ((needed as u64).div_ceil(PIECE).max(1) * PIECE).clamp(BEGIN, MOST_BEGIN)
}

/// Raises the second figure of a setting, with which each connection begins, and the last one.
pub(super) fn raise_both(name: &str, begin: u64, most: u64) -> String {
    let at_least = |figure: u8, bytes: u64| format!("(${figure}>{bytes}?${figure}:{bytes})");
    format!(
        "sysctl -w net.ipv4.{name}=\"$(sysctl -n net.ipv4.{name} | awk '{{print $1, {}, {}}}')\"",
        at_least(2, begin),
        at_least(3, most)
    )
}

/// Raises the last figure of a setting, and keeps a larger one.
pub(super) fn raise(name: &str, bytes: u64) -> String {
    format!(
        "sysctl -w net.ipv4.{name}=\"$(sysctl -n net.ipv4.{name} | awk '{{print $1, $2, ($3>{bytes}?$3:{bytes})}}')\""
    )
}
