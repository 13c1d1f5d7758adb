//! How connections open.

use crate::words::quantity::{count, time};
use whyslow_analysis::{CloseKind, ClosedFirst, FirstReply, Opening};
use whyslow_units::Nanos;

pub(super) fn new_connections(
    connections: u64,
    server: &str,
    opening: Nanos,
    whole: Nanos,
    closed: ClosedFirst,
) -> String {
    format!(
        "{} to {server} one after the other; opening new ones took {} of {} ({})",
        count(connections, "connection"),
        time(opening),
        time(whole),
        closed_first(connections, closed),
    )
}

fn closed_first(all: u64, closed: ClosedFirst) -> String {
    let with = match closed.with {
        CloseKind::Fin => "FIN",
        CloseKind::Rst => "RST",
    };
    let share = |some: u64| if some == all { "all of them".to_owned() } else { format!("{some} of them") };
    match (closed.by_client, closed.by_server) {
        (0, 0) => "the capture shows no close".to_owned(),
        (client, 0) => format!("the client sent {with} first in {}", share(client)),
        (0, server) => format!("the server sent {with} first in {}", share(server)),
        (client, server) => format!("the client sent {with} first in {client}, the server in {server}"),
    }
}

pub(super) fn refused(server: &str, times: u64, waited: Nanos) -> String {
    let waited = time(waited);
    match times {
        0 | 1 => format!("{server} refused the connection: a RST arrived {waited} after the SYN"),
        _ => format!("{server} refused the connection {} in {waited}", count(times, "time")),
    }
}

pub(super) fn first_reply_slow(reply: FirstReply, took: Nanos, later: Nanos) -> String {
    let reply = match reply {
        FirstReply::SynAck => "the SYN-ACK",
        FirstReply::HandshakeAck => "the ACK of the SYN-ACK",
        FirstReply::Handshake => "the handshake",
        FirstReply::DataAck => "the ACK of the first data",
    };
    let (took, later) = (time(took), time(later));
    format!("{reply} took {took}, later round trips {later}: the network had to set something up for the first packet")
}

pub(super) fn retransmitted(syns: u64, syn_acks: u64, took: Nanos, opening: Opening) -> String {
    let what = match (syns, syn_acks) {
        (syns, 0) => format!("the SYN was retransmitted {}", times(syns)),
        (0, syn_acks) => format!("the SYN-ACK was retransmitted {}", times(syn_acks)),
        (syns, syn_acks) => format!("the SYN was retransmitted {} and the SYN-ACK {}", times(syns), times(syn_acks)),
    };
    match opening {
        Opening::Opened => format!("{what}: opening the connection took {}", time(took)),
        Opening::NeverOpened => format!("{what}: the connection never opened, in {}", time(took)),
    }
}

pub(super) fn initial_retransmitted(again: u64, took: Nanos, opening: Opening) -> String {
    let what = format!("the client sent the first packet of its QUIC handshake again, {}", times(again));
    match opening {
        Opening::Opened => format!("{what}: opening the connection took {}", time(took)),
        Opening::NeverOpened => format!("{what}: the connection never opened, in {}", time(took)),
    }
}

/// `once`, `3 times`.
fn times(number: u64) -> String {
    if number == 1 { "once".to_owned() } else { count(number, "time") }
}
