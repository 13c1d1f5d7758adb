//! Properties of the path and the hosts for one side's data.

use super::context::Context;
use super::rate_between_losses;
use whyslow_analysis::types::{Near, Side};
use whyslow_core::message::ServerPush;
use whyslow_core::tcp::facts::{Facts, Release, SendPause};
use whyslow_core::tcp::payload::Protocol;
use whyslow_units::{Nanos, Time};

impl Context {
    /// The context of transfers that `sender` sends.
    pub fn new(facts: &Facts, sender: Side) -> Self {
        let rtt = facts.min_rtt();
        let alone = Self {
            mss: facts.directions[sender].mss,
            rtt,
            epsilon: Nanos::from_millis(1).max(rtt.unwrap_or_default().scale(0.1)),
            one_direction: facts.capture_defects.one_direction,
            elided: !facts.elided.is_empty(),
            encrypted: facts.hides_packets(),
            is_quic: facts.quic.is_some(),
            near_receiver: facts.vantage.toward[sender] > facts.vantage.toward[!sender],
            has_timestamps: facts.handshake.offers.iter().all(|offer| offer.is_some_and(|offer| offer.timestamps)),
            next_to_receiver: facts.vantage.near == if sender == facts.client { Near::Server } else { Near::Client },
            opening_seen: facts.handshake.syn.is_some() || facts.handshake.syn_ack.is_some(),
            small_window: small_window(facts, sender),
            first_loss: time_of_first_loss(facts, sender),
            largest_flight: facts.directions[sender]
                .transfers
                .iter()
                .map(|one| one.max_in_flight)
                .max()
                .unwrap_or_default(),
            server_push: ServerPush::of(facts),
            is_multipath: facts.handshake.is_multipath(),
            path_rate: None,
            pooled_rate: None,
            is_announced: false,
            is_http2: facts.content[facts.client].is_http2,
            announces_length: matches!(facts.content[sender].protocol, Some(Protocol::Http | Protocol::Tls)),
        };
        Self { pooled_rate: rate_between_losses::pooled_rate(&facts.directions[sender].transfers, &alone), ..alone }
    }
}

/// Returns when the first transfer with a retransmission began.
fn time_of_first_loss(facts: &Facts, sender: Side) -> Option<Time> {
    facts.directions[sender]
        .transfers
        .iter()
        .find(|transfer| transfer.retransmitted_bytes > 0)
        .map(|transfer| transfer.start)
}

/// Returns the smallest initial window that the sender has shown, if less than four segments: full
/// segments, which Nagle never holds, waited for the ACK of a first flight this small. A
/// retransmitted SYN or SYN-ACK leaves a window of one (RFC 5681 section 3.1).
fn small_window(facts: &Facts, sender: Side) -> Option<u64> {
    let direction = &facts.directions[sender];
    if facts.handshake.retries[sender] > 0 {
        return Some(direction.mss);
    }
    let used_up = |gap: &&SendPause| {
        gap.release == Release::Ack
            && !gap.recovering
            && gap.after_len >= direction.mss
            && gap.in_flight > 0
            && gap.in_flight <= 3 * direction.mss
    };
    let firsts = direction.transfers.iter().take(FIRST_TRANSFERS).filter_map(|transfer| transfer.pauses.first());
    firsts.filter(used_up).map(|gap| gap.in_flight).min()
}

/// Transfers of a connection that are examined for the sender's initial window. Follows from the
/// bound on work: one look at each of the first rounds. Half and twice change none of 2,061
/// captures.
const FIRST_TRANSFERS: usize = 64;
