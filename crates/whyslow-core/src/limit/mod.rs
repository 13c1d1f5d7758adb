//! `limit`: from what TCP did to what held it back.
//!
//! Cuts a transfer's time, from its first byte sent to the ACK of its last, into spans of one
//! [`Limit`] each. Spans meet without gap or overlap, so their shares sum to 1. A long pause is
//! judged by what ended it; the rest of a round by what the rounds around it show (`rounds`).

mod alike;
mod context;
mod full_link;
mod inter_loss;
mod overrun;
mod partition;
mod path;
mod pauses;
mod phases;
mod plateau;
mod rates;
mod reader;
mod rounds;
mod server_push;
mod slow_start;
mod span;
mod wait;
mod waits;

pub(crate) use alike::rises;
pub use context::Context;
pub use inter_loss::InterLossRate;
pub use overrun::Overrun;
pub use partition::{Partition, partition};
pub use path::{INITIAL_WINDOW, LARGEST_INITIAL_WINDOW, burst_rate, first_lossy_flight, least_rate, rounds_needed};
pub use pauses::DELAYED_ACK;
pub use phases::{handshake, phases_before, tls_handshake};
pub use plateau::Plateau;
pub use rates::queued_rtt;
#[cfg(feature = "unstable")]
pub use rounds::Shape;
pub use server_push::may_speak_unasked;
pub use span::{LimitTime, Span, sum_by_limit, without_idle_end};
pub(crate) use span::{SpanCutter, merge_runs};
pub use wait::{NOTICEABLE_WAIT, Wait};
pub use waits::waits;

use crate::tcp::facts::{Facts, Gap, Release, TransferFacts};
use crate::tcp::payload::Protocol;
use crate::types::{Limit, Near, Side};
use crate::units::{Nanos, Time};
use server_push::ServerPush;

/// What the path carries, payload bits per second, if the user said so.
pub fn seen_rate(transfer: &TransferFacts, partition: &Partition, context: &Context) -> Option<f64> {
    let held = partition.time(Limit::Bandwidth).0.saturating_mul(MIN_HELD_SHARE) >= transfer.duration().0;
    partition.shape.steady.filter(|_| held).or_else(|| burst_rate(transfer, context))
}

/// Of a transfer's time, what the path must have held it for to tell what it carries.
const MIN_HELD_SHARE: i64 = 4;

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
            encrypted: facts.quic.is_some(),
            near_receiver: facts.vantage.toward[sender] > facts.vantage.toward[!sender],
            has_timestamps: facts.handshake.offers.iter().all(|offer| offer.is_some_and(|offer| offer.timestamps)),
            next_to_receiver: facts.vantage.near == if sender == facts.client { Near::Server } else { Near::Client },
            opening_seen: facts.handshake.syn.is_some() || facts.handshake.syn_ack.is_some(),
            small_window: small_window(facts, sender),
            first_loss: time_of_first_loss(facts, sender),
            server_push: ServerPush::of(facts),
            is_multipath: facts.handshake.is_multipath(),
            path_rate: None,
            pooled_rate: None,
            announces_length: matches!(facts.content[sender].protocol, Some(Protocol::Http | Protocol::Tls)),
        };
        Self { pooled_rate: inter_loss::pooled_rate(&facts.directions[sender].transfers, &alone), ..alone }
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
    let used_up = |gap: &&Gap| {
        gap.release == Release::Ack
            && !gap.recovering
            && gap.after_len >= direction.mss
            && gap.in_flight > 0
            && gap.in_flight <= 3 * direction.mss
    };
    let firsts = direction.transfers.iter().take(FIRST_TRANSFERS).filter_map(|transfer| transfer.gaps.first());
    firsts.filter(used_up).map(|gap| gap.in_flight).min()
}

/// Transfers of a connection that are examined for the sender's initial window.
const FIRST_TRANSFERS: usize = 64;

#[cfg(test)]
pub(crate) mod tests;
