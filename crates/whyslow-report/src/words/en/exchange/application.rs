//! What applications do, and wait for.

use crate::words::quantity::{count, rate, thousands, time};
use whyslow_analysis::{End, Pauses};
use whyslow_units::Nanos;

pub(super) fn nothing_to_send(paused: Nanos, whole: Nanos, pauses: u64) -> String {
    let (paused, whole, pauses) = (time(paused), time(whole), count(pauses, "pause"));
    format!("the sending application had nothing to send for {paused} of {whole}, in {pauses}")
}

pub(super) fn nothing_arrived(paused: Nanos, whole: Nanos, pauses: u64) -> String {
    format!(
        "nothing arrived from the sender for {} of {}, in {}: its application had nothing to send, or all of its segments were lost",
        time(paused),
        time(whole),
        count(pauses, "pause"),
    )
}

pub(super) fn silent_under_encryption(paused: Nanos, whole: Nanos, pauses: u64) -> String {
    format!(
        "no data came from the sender for {} of {}, in {}: QUIC encrypts whether its application had none, a window was full, or packets were lost",
        time(paused),
        time(whole),
        count(pauses, "pause"),
    )
}

pub(super) fn small_writes(bits: f64, segment: u64, spent: Nanos, whole: Nanos) -> String {
    format!(
        "the sending application wrote {}, in segments of {} B on average, for {} of {}: there was no queue, and no wait for an ACK",
        rate(bits),
        thousands(segment),
        time(spent),
        time(whole),
    )
}

pub(super) fn response_late(by: End, took: Nanos, rtt: Nanos) -> String {
    let by = match by {
        End::Client => "the client, which responds on this connection,",
        End::Server => "the server",
    };
    format!("{by} took {} to begin its response, in addition to the round trip of {}", time(took), time(rtt))
}

pub(super) fn request_was(label: &str, stream: Option<u32>) -> String {
    match stream {
        Some(stream) => format!("the request was {label} (stream {stream})"),
        None => format!("the request was {label}"),
    }
}

pub(super) fn requests_late(first: Option<Nanos>, later: Option<Pauses>) -> String {
    let first = first.map(|first| format!("{} between the handshake and its first request", time(first)));
    let later =
        later.map(|later| format!("{} in {} before later requests", time(later.sum_s), count(later.count, "pause")));
    let parts: Vec<String> = first.into_iter().chain(later).collect();
    format!("the client's application took {}", parts.join(", and "))
}

pub(super) fn requests_one_by_one(requests: u64, rtt: Nanos, spent: Nanos, whole: Nanos) -> String {
    format!(
        "{} one after the other, each with a round trip of {}: {} of {}",
        count(requests, "request"),
        time(rtt),
        time(spent),
        time(whole),
    )
}

pub(super) fn bursts(bursts: u64, interval: Nanos, rtt: Nanos) -> String {
    format!(
        "this looks like a proxy: the data arrived in {}, one every {}, as in the slow start of a second connection behind this one, whose round trip is {}",
        count(bursts, "growing burst"),
        time(interval),
        time(rtt),
    )
}

pub(super) fn hops_differ(handshake: Nanos, response: Nanos) -> String {
    format!(
        "this looks like a proxy: the handshake took {} and the response {}, and their packets passed different numbers of routers",
        time(handshake),
        time(response),
    )
}

pub(super) fn record(late: Nanos, record: u64, flights: u64) -> String {
    format!(
        "the first byte of the response could be read {} late: its TLS record of {} B left in {}, and only a whole record can be decrypted",
        time(late),
        thousands(record),
        count(flights, "flight"),
    )
}
