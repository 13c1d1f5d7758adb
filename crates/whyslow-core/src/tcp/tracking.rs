//! Tracks a connection with a known vantage: each segment goes to both directions immediately.

use super::buffering::Buffering;
use super::connection::{Stage, Tracking};
use super::facts::{DirectionFacts, RttFacts};
use super::handshake::Negotiated;
use super::icmp_notices::ReportedMtu;
use super::segment::Seg;
use super::sender::pauses::mark_unseen_gaps;
use super::sender::{PathEstimate, SenderState};
use crate::wire::SackBlocks;
use whyslow_analysis::types::Side;
use whyslow_units::{Nanos, SeqNumber, Time};

impl Stage {
    /// Whether this packet is a duplicate frame.
    #[inline(always)]
    pub(super) fn is_recaptured(&mut self, seg: &Seg, sack: &SackBlocks) -> bool {
        match self {
            Self::Tracking(tracking) => tracking.is_recaptured(seg, sack),
            Self::Buffering(held) => held.is_recaptured(seg, sack),
        }
    }
}

impl Tracking {
    pub(super) fn new(
        mut held: Buffering,
        negotiated: &Negotiated,
        checksums_reliable: [bool; 2],
        lengths: &[Vec<ReportedMtu>; 2],
    ) -> Box<Self> {
        let segs = held.to_vec();
        let trace = held.trace.take();
        let begin = |shifts: [Option<u8>; 2]| {
            let mut tracking = Box::new(Self { checksums_reliable, ..Self::default() });
            for (place, (seg, _)) in segs.iter().enumerate() {
                if held.is_mss_known_at(place) {
                    tracking.estimator.on_mss_negotiated(negotiated.wire_mss);
                }
                if !(seg.has_bad_checksum() && checksums_reliable[seg.from()]) {
                    tracking.estimator.observe(seg);
                }
            }
            tracking.estimator.on_mss_negotiated(negotiated.wire_mss);
            tracking.apply_negotiated(negotiated);
            for ((sender, shift), lengths) in tracking.senders.iter_mut().zip(shifts).zip(lengths) {
                sender.assume_shift(shift);
                sender.reported_mtus.clone_from(lengths);
            }
            tracking.on_handshake_rtt(negotiated.rtt);
            tracking.refresh_paths();
            tracking
        };
        let mut tracking = begin([None; 2]);
        if negotiated.window_shift.contains(&None) {
            tracking.replay(&segs);
            // The window scale inferred from the first segments applies from the first one on.
            let taken = tracking.senders.each_ref().map(|sender| sender.facts.assumed_shift);
            tracking = begin(taken);
        }
        if let Some(trace) = trace {
            tracking.trace(trace);
        }
        tracking.replay(&segs);
        tracking
    }

    /// Replays the buffered segments once the vantage is known.
    fn replay(&mut self, segs: &[(Seg, SackBlocks)]) {
        for (seg, sack) in segs {
            if !(self.needs_check(seg) && self.defers_or_drops(seg, sack)) {
                self.track(seg, sack);
            }
        }
    }

    pub(super) fn apply_negotiated(&mut self, negotiated: &Negotiated) {
        for (sender, shift) in self.senders.iter_mut().zip(negotiated.window_shift) {
            sender.on_mss_negotiated(negotiated.mss);
            sender.sack_permitted = negotiated.sack;
            sender.window.scale = shift;
        }
    }

    pub(super) fn on_handshake_rtt(&mut self, rtt: Option<Nanos>) {
        for sender in &mut self.senders {
            rtt.into_iter().for_each(|rtt| sender.on_handshake_rtt(rtt));
        }
    }

    /// Processes the next segment. Returns whether it was not suspect.
    #[inline(always)]
    pub(super) fn push(&mut self, seg: &Seg, sack: &SackBlocks) -> bool {
        let is_odd = self.needs_check(seg);
        if is_odd && self.defers_or_drops(seg, sack) {
            return false;
        }
        self.observe_and_track(seg, sack);
        !is_odd
    }

    /// Processes a segment for the vantage and for both directions.
    #[inline(always)]
    pub(super) fn observe_and_track(&mut self, seg: &Seg, sack: &SackBlocks) {
        if self.estimator.observe(seg) {
            self.refresh_paths();
        }
        self.track(seg, sack);
    }

    /// Whether this packet is a duplicate frame.
    #[inline(always)]
    pub(super) fn is_recaptured(&self, seg: &Seg, sack: &SackBlocks) -> bool {
        !self.senders[seg.from()].ip_ids.is_next_of_run(seg) && self.recent[seg.from()].has(seg, sack)
    }

    /// Lowers the round trips to each side to these.
    pub(super) fn bound_loops(&mut self, loops: [Option<Nanos>; 2]) {
        if self.estimator.bound(loops) {
            self.refresh_paths();
        }
    }

    /// Updates the path estimates from the vantage.
    #[inline(never)]
    pub(super) fn refresh_paths(&mut self) {
        let toward = self.estimator.toward;
        let rtt = toward[0].zip(toward[1]).map(|(a, b)| a + b);
        self.paths = toward.map(|toward| PathEstimate::new(toward, rtt));
        self.senders.iter_mut().for_each(SenderState::forget_repeatable_ack);
    }

    /// Like [`push`](Self::push), with an up-to-date vantage.
    #[inline(always)]
    pub(super) fn track(&mut self, seg: &Seg, sack: &SackBlocks) {
        self.process(seg, sack);
        if self.trace.is_some() {
            self.trace_segment(seg, sack);
        }
    }

    #[inline(always)]
    pub(super) fn process(&mut self, seg: &Seg, sack: &SackBlocks) {
        let (from, to) = (seg.from(), !seg.from());
        self.senders[to].on_ack(seg, sack, &self.paths[to]);
        if self.senders[from].on_segment(seg, &self.paths[from]) {
            self.senders[to].on_peer_payload(seg);
        }
        self.recent[from].note(seg, sack);
    }

    /// Finishes both directions. `last`: the time of the connection's last packet; `origins`: the
    /// ISNs.
    pub(super) fn finish_directions(&mut self, last: Time, origins: &[Option<SeqNumber>; 2]) -> [DirectionFacts; 2] {
        let Self { senders: [a, b], paths, .. } = self;
        let mut directions = [a.finish(last, &paths[0]), b.finish(last, &paths[1])];
        // Credit of one side is not a message of the other.
        for (side, granted) in [(Side::B, &a.turns.credits), (Side::A, &b.turns.credits)] {
            if let Some(origin) = origins[side] {
                directions[side].transfers.iter_mut().for_each(|transfer| transfer.note_credit(granted, origin));
            }
        }
        mark_unseen_gaps(&mut directions);
        directions
    }

    /// RTTs of the whole path. The time from each direction's data to its ACK, plus the minimum
    /// round trip on the other side of the capture point, is a complete RTT. The direction on the
    /// longer part of the path is more precise. If only the other direction carried much data, the
    /// lengths of its rounds are the RTTs.
    pub(super) fn rtt(&self, handshake: Option<Nanos>) -> RttFacts {
        let toward = self.estimator.toward;
        let [a, b] = &self.senders;
        // Data of side A is acknowledged by side B.
        let far = if toward[1] >= toward[0] { a } else { b };
        let near = if toward[1] >= toward[0] { b } else { a };
        let chosen = if near.round_lengths.count() > far.rtt.count() {
            &near.round_lengths
        } else if far.rtt.count() > 0 {
            &far.rtt
        } else {
            &near.rtt
        };
        let least = [toward[0].zip(toward[1]).map(|(a, b)| a + b), handshake].into_iter().flatten().min();
        match chosen.at([0.5, 0.95]) {
            None => RttFacts {
                min: least.or(handshake),
                p50: handshake,
                p95: handshake,
                samples: u64::from(handshake.is_some()),
            },
            Some([p50, p95]) => RttFacts {
                min: least.into_iter().chain(chosen.least()).min(),
                p50: Some(p50),
                p95: Some(p95),
                samples: chosen.count(),
            },
        }
    }
}
