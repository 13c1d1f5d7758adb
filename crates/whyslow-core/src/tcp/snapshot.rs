//! Snapshots of an open connection: which of its transfers have ended, their facts at that time,
//! and the release of reported transfers.
//!
//! A transfer has ended when another one has begun on its side, or when everything was acknowledged
//! and it was silent for longer than TCP itself is ([`was_idle`](super::sender::SenderState)). In
//! both cases the same time must pass again, so that late reports of the receiver (D-SACK) and
//! retransmissions are included. A transfer whose bytes are never acknowledged ends after
//! [`STALLED`] without packets. Within a TLS record, or a body with a known end, it has not ended.

use super::connection::{Connection, Stage, Tracking};
use super::facts::{Facts, TransferFacts};
use super::handshake::{JoinedHandshake, Negotiated};
use super::payload::ReaderPlace;
use super::sender::SenderState;
use super::sender::silence::CROWDED;
use super::sender::turns::MIN_IDLE;
use crate::dns::LookupFacts;
use std::net::IpAddr;
use whyslow_analysis::types::Side;
use whyslow_units::{Nanos, Time};

/// Longest wait of a retransmission timer (Linux's RTO_MAX is 120 s, RFC 6298 section 2.5 asks for
/// at least 60 s): after it TCP itself sends no more.
const STALLED: Nanos = Nanos::from_millis(121_000);

/// Reported transfers that are kept, because rules look at earlier transfers.
pub const EARLIER_TRANSFERS: u64 = 32;

/// The facts of a connection as of some time.
pub struct Snapshot {
    /// The facts.
    pub facts: Facts,
    /// By sending side: the relative sequence number up to which transfers have ended.
    pub ended: [u64; 2],
    /// Time when another snapshot may show more without new packets; `None` if it cannot.
    pub again: Option<Time>,
}

impl Connection {
    /// Time when a transfer beyond `given` (by sending side) may have ended, if no more packets
    /// follow; `None` if there is no such transfer. It is cheap and never too late.
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

    /// Whether it has too many transfers to hold ended ones back; then they are reported at once.
    pub fn is_crowded(&self) -> bool {
        let Stage::Tracking(tracking) = &self.stage else { return false };
        tracking.senders.iter().any(|sender| sender.facts.transfers.len() >= CROWDED)
    }

    /// Whether both sides have closed it, or one has reset it, long enough ago.
    pub fn is_over(&self, now: Time) -> bool {
        self.has_ended() && now - self.last >= MIN_IDLE
    }

    /// Finishes a copy as of `now`. `endpoints`: addresses and ports of sides A and B.
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

    /// Drops reported transfers up to `given` (by sending side), except the last ones. Returns the
    /// total number of dropped transfers of each side.
    pub fn forget_transfers(&mut self, given: [u64; 2]) -> [u64; 2] {
        let Stage::Tracking(tracking) = &mut self.stage else { return [0; 2] };
        const EARLIER: usize = EARLIER_TRANSFERS as usize;
        let mut first_kept = [0; 2];
        for side in Side::BOTH {
            let transfers = &mut tracking.senders[side].facts.transfers;
            let reported = transfers.partition_point(|transfer| transfer.seq.1 <= given[side]);
            // Drops many at once, which is cheaper.
            if reported >= 2 * EARLIER {
                transfers.drain(..reported - EARLIER);
                first_kept[side] = transfers.first().map_or(0, |first| first.seq.0);
            }
        }
        if first_kept != [0; 2] {
            self.payload_streams.forget(first_kept);
            self.rare.readers().into_iter().for_each(|readers| readers.forget(first_kept));
        }
        tracking.senders.each_ref().map(|sender| sender.facts.transfers_forgotten())
    }

    /// Number of stored transfers.
    #[cfg(any(test, feature = "unstable"))]
    pub fn held_transfers(&self) -> usize {
        let Stage::Tracking(tracking) = &self.stage else { return 0 };
        tracking.senders.iter().map(|sender| sender.facts.transfers.len()).sum()
    }

    /// Takes the offers of the SYNs from another source, as if they had been captured; the RTT is
    /// that of the senders' timers. Must be called immediately after [`new`](Self::new).
    pub fn join(&mut self, joined: &JoinedHandshake) {
        self.opening.join(joined);
        self.rare.get_or_insert_default().joined = Some(*joined);
        self.apply_negotiated();
    }

    /// Records the lookup of the server's name that the connection waited for.
    pub fn note_lookup(&mut self, lookup: LookupFacts) {
        self.rare.get_or_insert_default().lookup = Some(Box::new(lookup));
    }

    /// The negotiated parameters, from the SYNs or from another source.
    pub(super) fn negotiated(&self) -> Negotiated {
        let captured = Negotiated::of(&self.opening.facts());
        let joined = self.rare.as_ref().and_then(|rare| rare.joined?.rtt);
        let negotiated = Negotiated { rtt: captured.rtt.or(joined), ..captured };
        match self.rare.as_ref().and_then(|rare| rare.quic.as_ref()).is_some_and(|notes| notes.is_opened()) {
            // QUIC agrees on no segment size, and 536 bytes would be TCP's default.
            true => Negotiated { wire_mss: None, mss: None, ..negotiated },
            false => negotiated,
        }
    }
}
