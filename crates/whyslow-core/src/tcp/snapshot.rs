//! A connection that goes on: which of its transfers have ended, what it was when they had, and how
//! it gives up what was said of them.
//!
//! A transfer has ended when something else has begun on its side, or when everything was
//! acknowledged and it was silent for longer than TCP itself is
//! ([`was_idle`](super::sender::SenderState)); and when the same time has passed after that, so
//! that what the receiver reports late (D-SACK) and copies under way are in. One whose bytes are
//! never acknowledged ends when nothing passed for [`STALLED`]. Within a TLS record or a body whose
//! end is known it has not ended.

use super::connection::{Connection, Stage, Tracking};
use super::facts::{Facts, TransferFacts};
use super::handshake::{JoinedHandshake, Negotiated};
use super::payload::ReaderPlace;
use super::sender::SenderState;
use super::sender::silence::CROWDED;
use super::sender::turns::MIN_IDLE;
use crate::types::Side;
use crate::units::{Nanos, Time};
use std::net::IpAddr;

/// A retransmission timer may wait for this long (Linux's RTO_MAX is 120 s, RFC 6298 section 2.5
/// asks for 60 s at least): nothing that TCP does by itself goes on after it.
const STALLED: Nanos = Nanos::from_millis(121_000);

/// Transfers whose account was given that stay for those after them: what a rule looks back at.
pub const EARLIER_TRANSFERS: u64 = 32;

/// A copy of a connection, finished as of a time.
pub struct Snapshot {
    /// What it did.
    pub facts: Facts,
    /// By sending side: transfers up to this sequence number, relative to the SYN, have ended.
    pub ended: [u64; 2],
    /// When another snapshot may tell more though no packet comes; none when there is nothing to
    /// come.
    pub again: Option<Time>,
}

impl Connection {
    /// When a transfer beyond `given` (by sending side) may have ended, if no more packets come;
    /// none without any. Costs little and is never too late.
    pub fn next_report_at(&self, given: [u64; 2]) -> Option<Time> {
        if self.has_ended() {
            return Some(self.last + MIN_IDLE);
        }
        let Stage::Tracking(tracking) = &self.stage else {
            return self.first_payload_side.map(|_| self.last + MIN_IDLE);
        };
        let due = |side: Side| tracking.senders[side].may_end_at(given[side]);
        Side::BOTH.into_iter().filter_map(due).min()
    }

    /// Whether it has so many transfers that what ends is told at once.
    pub fn is_crowded(&self) -> bool {
        let Stage::Tracking(tracking) = &self.stage else { return false };
        tracking.senders.iter().any(|sender| sender.facts.transfers.len() >= CROWDED)
    }

    /// Whether both sides have closed it, or one reset it, long enough ago.
    pub fn is_over(&self, now: Time) -> bool {
        self.has_ended() && now - self.last >= MIN_IDLE
    }

    /// Finishes a copy as of `now`. `endpoints` are the addresses and ports of sides A and B.
    pub fn snapshot(&self, endpoints: [(IpAddr, u16); 2], now: Time) -> Snapshot {
        let mut copy = self.clone();
        let is_over = copy.is_over(now) || now - copy.last >= STALLED;
        let within = copy.payload_streams.within_messages(&copy.isns, copy.rare.readers());
        let tracking = copy.start_tracking();
        let is_suspended = tracking.suspect.is_some() || tracking.early.is_waiting();
        let current = tracking.senders.each_ref().map(SenderState::first_open);
        let facts = copy.take_facts(endpoints);
        let Tracking { senders, paths, .. } = copy.start_tracking();
        let silent_from = Side::BOTH.map(|side| senders[side].is_silent_from(&paths[side]));
        let settling = Side::BOTH.map(|side| senders[side].longest_silence(&paths[side]));
        let mut again: Option<Time> = None;
        let ended = Side::BOTH.map(|side| {
            let transfers = &facts.directions[side].transfers;
            if is_over || transfers.is_empty() {
                return u64::MAX;
            }
            let at = silent_from[side].filter(|_| !within[side] && !is_suspended).unwrap_or(self.last + STALLED);
            if now > at {
                return u64::MAX;
            }
            let mut wait = |until: Time| again = Some(again.map_or(until, |again| again.min(until)));
            if current[side].is_some() {
                wait(at);
            }
            let closed = transfers.iter().take_while(|transfer| current[side].is_none_or(|open| transfer.seq.0 < open));
            let late = |transfer: &&TransferFacts| transfers.len() < CROWDED && transfer.end + settling[side] >= now;
            if let Some(first) = closed.clone().find(late) {
                wait(first.end + settling[side] + Nanos(1));
            }
            closed.take_while(|transfer| !late(transfer)).map(|transfer| transfer.seq.1).max().unwrap_or(0)
        });
        Snapshot { facts, ended, again: again.filter(|_| !is_over) }
    }

    /// Gives up what is kept of transfers up to `given` (by sending side), but for the last ones.
    /// Returns how many transfers of each side are gone by now.
    pub fn forget_transfers(&mut self, given: [u64; 2]) -> [u64; 2] {
        let Stage::Tracking(tracking) = &mut self.stage else { return [0; 2] };
        const EARLIER: usize = EARLIER_TRANSFERS as usize;
        let mut kept_from = [0; 2];
        for side in Side::BOTH {
            let transfers = &mut tracking.senders[side].facts.transfers;
            let told = transfers.partition_point(|transfer| transfer.seq.1 <= given[side]);
            // In one go now and then.
            if told >= 2 * EARLIER {
                transfers.drain(..told - EARLIER);
                kept_from[side] = transfers.first().map_or(0, |first| first.seq.0);
            }
        }
        if kept_from != [0; 2] {
            self.payload_streams.forget(kept_from);
            self.rare.readers().into_iter().for_each(|readers| readers.forget(kept_from));
        }
        tracking.senders.each_ref().map(|sender| sender.facts.transfers_forgotten())
    }

    /// How many transfers it holds.
    #[cfg(test)]
    pub fn held_transfers(&self) -> usize {
        let Stage::Tracking(tracking) = &self.stage else { return 0 };
        tracking.senders.iter().map(|sender| sender.facts.transfers.len()).sum()
    }

    /// Takes what the SYNs said from elsewhere, as if they had been captured; the RTT is that of
    /// the senders' timers. Only before the first segment counts anything: right after
    /// [`new`](Self::new).
    pub fn join(&mut self, joined: &JoinedHandshake) {
        self.opening.join(joined);
        self.rare.get_or_insert_default().joined = Some(*joined);
        self.apply_negotiated();
    }

    /// What the SYNs settle, wherever it is known from.
    pub(super) fn negotiated(&self) -> Negotiated {
        let captured = Negotiated::of(&self.opening.facts());
        let joined = self.rare.as_ref().and_then(|rare| rare.joined?.rtt);
        Negotiated { rtt: captured.rtt.or(joined), ..captured }
    }
}
