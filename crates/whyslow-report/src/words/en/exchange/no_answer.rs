//! Packets and requests without a response.

use crate::words::en::ends::name;
use crate::words::quantity::{count, thousands, time};
use whyslow_analysis::{End, Fate, UnansweredRequest, Undelivered, WaitEnd};
use whyslow_units::Nanos;

pub(super) fn undelivered(reason: &Undelivered) -> String {
    let Undelivered { fate, by, host, port } = reason;
    match fate {
        Fate::TooBig(_) => format!("{by} reports that packets are too long"),
        Fate::NetworkUnreachable => format!("{by} has no route to {host}"),
        Fate::HostUnreachable => format!("{by} cannot reach {host}"),
        Fate::ProtocolUnreachable => format!("{by} reports that {host} does not accept TCP"),
        Fate::PortUnreachable => format!("{by} reports that port {port} is closed"),
        Fate::Prohibited => format!("a filter at {by} blocks it"),
        Fate::TimeExceeded => format!("its packets expired on the way, at {by}"),
    }
}

pub(super) fn syn_undelivered(server: &str, reason: &Undelivered, syns: u64, waited: Nanos) -> String {
    let (reason, syns) = (undelivered(reason), count(syns, "SYN"));
    format!("{server} did not receive the SYN: {reason} (ICMP); {syns} in {}", time(waited))
}

pub(super) fn syn(server: &str, syns: u64, waited: Nanos, end: WaitEnd) -> String {
    let waited = time(waited);
    match (end, syns) {
        (WaitEnd::CaptureEnded, 1) => {
            format!("the capture ends while {server} has not responded to the SYN for {waited}")
        }
        (WaitEnd::CaptureEnded, _) => {
            format!("the capture ends while {server} has not responded to {} for {waited}", count(syns, "SYN"))
        }
        (WaitEnd::GaveUp | WaitEnd::Closed, _) => {
            format!("{server} never responded: {} in {waited}", count(syns, "SYN"))
        }
    }
}

pub(super) fn syn_ack(client: &str, syns: u64, syn_acks: u64, waited: Nanos) -> String {
    let (syns, syn_acks) = (count(syns, "SYN"), count(syn_acks, "SYN-ACK"));
    format!("{client} never acknowledged a response to its {syns}: {syn_acks} in {}", time(waited))
}

pub(super) fn data(by: End, tries: u64, waited: Nanos, end: WaitEnd) -> String {
    let (sender, by) = (name(by.other()), name(by));
    let (tries, waited) = (count(tries, "time"), time(waited));
    match end {
        WaitEnd::CaptureEnded => format!(
            "the capture ends while the {by} has acknowledged nothing for {waited}: the {sender} has sent the data {tries}"
        ),
        WaitEnd::GaveUp | WaitEnd::Closed => {
            format!("the {by} acknowledged nothing more: the {sender} sent the same data {tries} in {waited}")
        }
    }
}

pub(super) fn request(request: &UnansweredRequest, waited: Nanos, end: WaitEnd) -> String {
    let UnansweredRequest { line, bytes } = request;
    let request = line.clone().unwrap_or_else(|| format!("a request of {} B", thousands(*bytes)));
    let waited = time(waited);
    match end {
        WaitEnd::CaptureEnded => {
            format!("the capture ends while the server has not responded for {waited}: {request}")
        }
        WaitEnd::GaveUp => format!("the client gave up after {waited} without a response to {request}"),
        WaitEnd::Closed => format!("the server closed after {waited} without a response to {request}"),
    }
}

pub(super) fn response_stopped(bytes: u64, waited: Nanos, end: WaitEnd) -> String {
    let (bytes, waited) = (thousands(bytes), time(waited));
    let end = match end {
        WaitEnd::CaptureEnded => "the capture ends",
        WaitEnd::GaveUp => "the client gave up",
        WaitEnd::Closed => "the server closed",
    };
    format!("the server's response stopped after {bytes} B, at a full segment: {end} {waited} later")
}
