//! Statements about windows, segments and ACKs.

use crate::words::en::ends::syn;
use crate::words::en::spread::spread;
use crate::words::quantity::{count, number, rate, thousands, time, window_rate};
use whyslow_analysis::{End, SpreadCost};
use whyslow_units::Nanos;

pub(super) fn slow_start(spent_s: Nanos, whole_s: Nanos, first_flight: Option<u64>) -> String {
    let from = first_flight.map_or(String::new(), |bytes| format!(", from {} B a round trip", thousands(bytes)));
    format!("the sender spent {} of {} opening its congestion window{from}", time(spent_s), time(whole_s))
}

pub(super) fn early_exit(segments: u64, bytes: u64, cost_s: Nanos) -> String {
    format!(
        "the sender stopped doubling its window at {} ({} B) though nothing was lost, and took {} more to open it slowly",
        count(segments, "segment"),
        thousands(bytes),
        time(cost_s),
    )
}

pub(super) fn remembered_threshold(
    connections: u64,
    sender: &str,
    peer: &str,
    segments: u64,
    cost: SpreadCost,
) -> String {
    format!(
        "{} from {sender} to {peer} stopped doubling their windows at the same {}: the sender remembers a threshold for this peer, which cost {}",
        count(connections, "connection"),
        count(segments, "segment"),
        spread(cost),
    )
}

pub(super) fn no_window_scaling(missing: &[End], window: u64, rtt_s: Nanos) -> String {
    let missing: Vec<&str> = missing.iter().map(|end| syn(*end)).collect();
    format!(
        "there is no window scale option in {}, so no more than {} B can be in flight: {} B / {} = {}",
        missing.join(" and "),
        thousands(window),
        thousands(window),
        time(rtt_s),
        rate(window_rate(window, rtt_s)),
    )
}

pub(super) fn receive_window_full(window: u64, full_s: Nanos, whole_s: Nanos, rtt_s: Nanos) -> String {
    format!(
        "the receiver's window of {} B was full for {} of {}: {} B / {} = {}",
        thousands(window),
        time(full_s),
        time(whole_s),
        thousands(window),
        time(rtt_s),
        rate(window_rate(window, rtt_s)),
    )
}

pub(super) fn window_closed(closed_s: Nanos, whole_s: Nanos) -> String {
    format!(
        "the receiver's window was closed for {} of {}: its application did not read",
        time(closed_s),
        time(whole_s)
    )
}

pub(super) fn sender_cap(bytes: u64, alternating: bool, window: Option<u64>, time_s: Nanos) -> String {
    let flight = if alternating {
        format!("sent more than {} B in two round trips (a large flight and a small one)", thousands(bytes))
    } else {
        format!("had more than {} B in flight", thousands(bytes))
    };
    let allowed = match window {
        Some(window) => format!("although the receiver allowed {} B", thousands(window)),
        None => "and the capture does not show whether the receiver allowed more".to_owned(),
    };
    format!(
        "the sender never {flight}, {allowed}: {} B / {} = {}",
        thousands(bytes),
        time(time_s),
        rate(window_rate(bytes, time_s))
    )
}

pub(super) fn protocol_window(bytes: u64, rtt_s: Nanos) -> String {
    format!(
        "the sender stopped at {} B in flight until a message of the receiver's application came: {} B / {} = {}",
        thousands(bytes),
        thousands(bytes),
        time(rtt_s),
        rate(window_rate(bytes, rtt_s)),
    )
}

pub(super) fn flow_control_window(
    stream: Option<u32>,
    bytes: u64,
    granted_by: End,
    (times, waited_s): (u64, Nanos),
) -> String {
    let window = stream.map_or("the connection".to_owned(), |stream| format!("stream {stream}"));
    let end = if granted_by == End::Client { "client" } else { "server" };
    format!(
        "the window of {window}, {} B, which the {end} grants, was used up {}, for {}",
        thousands(bytes),
        count(times, "time"),
        time(waited_s)
    )
}

pub(super) fn protocol_turns(bytes: u64, times: u64, cost_s: Nanos, whole_s: Nanos) -> String {
    format!(
        "the sender stopped after each {} B until a message of the receiver's application came, {}: {} of {}",
        thousands(bytes),
        count(times, "time"),
        time(cost_s),
        time(whole_s),
    )
}

pub(super) fn small_segments_of_window(mean: u64, mss: u64, window: u64) -> String {
    format!(
        "segments of {mean} B on average where {} B fit, as the receiver's window is at most {} B; the cost is the window's",
        thousands(mss),
        thousands(window),
    )
}

pub(super) fn small_segments_of_writes(mean: u64, mss: u64, cost_s: Nanos, whole_s: Nanos) -> String {
    format!(
        "segments of {mean} B on average where {} B fit: full ones would have saved about {} of {}",
        thousands(mss),
        time(cost_s),
        time(whole_s),
    )
}

pub(super) fn nagle_waits(segments: u64, typical_s: Nanos, delayed_ack: bool) -> String {
    format!(
        "{} waited about {} each for {}: the application writes in small pieces and then reads",
        count(segments, "small segment"),
        time(typical_s),
        if delayed_ack { "a delayed ACK" } else { "the ACK of the one before" },
    )
}

pub(super) fn delayed_acks(acks: u64, typical_s: Nanos) -> String {
    format!(
        "the receiver delayed {} by about {} while the sender had nothing else to send",
        count(acks, "ACK"),
        time(typical_s)
    )
}

pub(super) fn paced(rate_bps: f64, held_s: Nanos, whole_s: Nanos, flight: u64) -> String {
    format!(
        "the sender limited itself to {} for {} of {}: at most {} B in flight, no queue, no wait for an ACK",
        rate(rate_bps),
        time(held_s),
        time(whole_s),
        thousands(flight),
    )
}

pub(super) fn amplification(request: u64, flight: u64, filled_window: bool, segments: u64) -> String {
    format!(
        "the server answered a request of {} B with {} B before the first ACK{}: {} times the request, {} segments where 10 are usual",
        thousands(request),
        thousands(flight),
        if filled_window { ", the whole receive window" } else { "" },
        number(flight as f64 / request.max(1) as f64),
        thousands(segments),
    )
}

pub(super) fn restart_after_idle(idle_s: Nanos, flight: u64, largest: u64, cost_s: Nanos) -> String {
    format!(
        "after {} of silence the sender started again with {} B in flight, down from {} B: {} in slow start again",
        time(idle_s),
        thousands(flight),
        thousands(largest),
        time(cost_s),
    )
}
