//! The points of a traced connection: assigns each direction's notes to the points of their
//! segments.

use super::connection::{Connection, Stage, Tracking};
use super::segment::{FrameRef, Seg};
use super::sender::SenderState;
use super::sender::apply_acks::reports_duplicate;
use super::trace::{Kind, Note, Point, SegmentCounters, Trace};
use crate::wire::{Flags, SackBlocks};
use std::collections::VecDeque;
use whyslow_analysis::types::{End, Side};
use whyslow_units::{Nanos, Time};

impl SenderState {
    /// The counters before a segment, if tracing is on.
    pub(super) fn tally(&self) -> Option<SegmentCounters> {
        self.trace_notes.is_some().then(|| SegmentCounters::of(&self.facts))
    }

    /// Notes the verdict on a segment; `before`: the counters before it.
    pub(super) fn note_sent(&mut self, before: Option<SegmentCounters>) {
        let Some(before) = before else { return };
        let now = SegmentCounters::of(&self.facts);
        let unseen = now.retransmitted.unseen_original > before.retransmitted.unseen_original;
        let in_flight = self.in_flight();
        if let Some(notes) = &mut self.trace_notes {
            notes.new.push(Note::Sent { kind: before.kind(&now), unseen, in_flight });
        }
    }

    /// Notes that an ACK was applied; `before`: the counters of duplicate ACKs and spurious
    /// retransmissions before it.
    pub(super) fn note_ack_applied(&mut self, place: FrameRef, at: Time, rtt: Option<Nanos>, before: (u64, u64)) {
        let (duplicates, spurious) = (self.facts.duplicate_acks, self.facts.retransmitted.spurious);
        let in_flight = self.in_flight();
        let Some(mut notes) = self.trace_notes.take() else { return };
        let duplicate = duplicates > before.0;
        notes.new.push(Note::AckApplied { frame: place.frame(), at, rtt, duplicate, in_flight });
        if spurious > before.1 {
            if notes.spurious_noted.len() > MAX_SPURIOUS_NOTED {
                notes.spurious_noted.clear();
            }
            for (time, start) in self.spurious_retransmits() {
                if notes.spurious_noted.insert((time, start)) {
                    notes.new.push(Note::Spurious { time, start });
                }
            }
        }
        self.trace_notes = Some(notes);
    }
}

impl Connection {
    /// From here on each segment gives a point. `client`: the side shown as the client; times are
    /// relative to `origin`.
    pub fn trace(&mut self, client: Side, origin: Time) {
        let trace = Box::new(Trace { client, origin, pending: VecDeque::new(), late_verdicts: 0, syn: [false; 2] });
        match &mut self.stage {
            Stage::Buffering(held) => held.trace = Some(trace),
            Stage::Tracking(tracking) => tracking.trace(trace),
        }
        self.update_fast_path();
    }

    /// The next point that need not wait for more verdicts; `waiting`: number of points that may
    /// wait.
    pub fn next_point(&mut self, waiting: usize) -> Option<Point> {
        let Stage::Tracking(tracking) = &mut self.stage else { return None };
        let trace = tracking.trace.as_mut()?;
        if trace.pending.len() > waiting { trace.pending.pop_front() } else { None }
    }

    /// Points of segments captured before `time`, even if verdicts are missing.
    pub fn points_before(&mut self, time: Time) -> Vec<Point> {
        let Stage::Tracking(tracking) = &mut self.stage else { return Vec::new() };
        let Some(trace) = tracking.trace.as_mut() else { return Vec::new() };
        let until = time - trace.origin;
        let count = trace.pending.partition_point(|point| point.time < until);
        trace.pending.drain(..count).collect()
    }

    /// Ends the trace: returns the remaining points.
    pub fn finish_trace(&mut self) -> impl Iterator<Item = Point> + use<> {
        let tracking = self.start_tracking();
        tracking.finish_suspect();
        for side in Side::BOTH {
            let path = tracking.paths[side];
            tracking.senders[side].apply_acks(None, &path);
            tracking.take_notes(side, None);
        }
        tracking.trace.as_mut().map(|trace| std::mem::take(&mut trace.pending)).unwrap_or_default().into_iter()
    }

    /// Number of verdicts that came after their points had been removed.
    pub fn late_verdicts(&self) -> u64 {
        let Stage::Tracking(tracking) = &self.stage else { return 0 };
        tracking.trace.as_ref().map_or(0, |trace| trace.late_verdicts)
    }
}

impl Tracking {
    pub(super) fn trace(&mut self, trace: Box<Trace>) {
        self.trace = Some(trace);
        for sender in &mut self.senders {
            sender.trace_notes = Some(Box::default());
        }
    }

    /// Adds the point of a processed segment.
    pub(super) fn trace_segment(&mut self, seg: &Seg, sack: &SackBlocks) {
        let Some(point) = self.point(seg, sack) else { return };
        let at = self.trace.as_mut().map(|trace| trace.add(point));
        self.take_notes(!seg.from(), None);
        self.take_notes(seg.from(), at);
    }

    /// A point with the header fields.
    fn point(&mut self, seg: &Seg, blocks: &SackBlocks) -> Option<Point> {
        let (from, to) = (seg.from(), !seg.from());
        let syn = seg.flags.has(Flags::SYN);
        let trace = self.trace.as_mut()?;
        let client = trace.client;
        // A SYN is retransmitted only after a timeout (RFC 6298 section 5.7).
        let syn_again = syn && std::mem::replace(&mut trace.syn[from], true);
        let shift = if syn { Some(0) } else { self.senders[to].window.scale };
        let (mut sack, mut sacks) = ([(0, 0); 4], 0_u8);
        for &(left, right) in blocks.as_slice() {
            let ends = (self.senders[to].unwrap_seq(left), self.senders[to].unwrap_seq(right));
            if let (Some(slot), (Some(left), Some(right))) = (sack.get_mut(usize::from(sacks)), ends) {
                *slot = (left, right);
                sacks += 1;
            }
        }
        let ack = seg.ack().and_then(|ack| self.senders[to].unwrap_seq(ack));
        let data = seg.len > 0 || syn || seg.flags.has(Flags::FIN);
        Some(Point {
            time: seg.time - trace.origin,
            frame: seg.frame(),
            from: if from == client { End::Client } else { End::Server },
            flags: seg.flags,
            len: seg.len,
            seq: self.senders[from].unwrap_seq(seg.seq),
            raw_seq: seg.seq,
            ack,
            raw_ack: seg.ack(),
            window: shift.map(|shift| u64::from(seg.window) << shift.min(14)),
            raw_window: seg.window,
            kind: match (data, syn_again) {
                (_, true) => Kind::Timeout,
                (true, false) => Kind::New,
                (false, false) => Kind::Empty,
            },
            unseen_original: false,
            duplicate_ack: false,
            marked: seg.ecn == 0b11,
            sack,
            sacks,
            dsack: ack.is_some_and(|ack| sacks > 0 && reports_duplicate(sack[0], (sacks > 1).then_some(sack[1]), ack)),
            in_flight: None,
            applied: None,
            rtt: None,
        })
    }

    /// Adds the notes of a direction to their points; `now`: position of the current segment.
    fn take_notes(&mut self, side: Side, now: Option<usize>) {
        let Some(trace) = &mut self.trace else { return };
        let Some(notes) = &mut self.senders[side].trace_notes else { return };
        for note in notes.new.drain(..) {
            let place = match note {
                Note::Sent { .. } => now,
                Note::AckApplied { frame, .. } => trace.position_of_frame(frame),
                Note::Spurious { time, start } => trace.sent_at(time, start),
            };
            let Some(point) = place.and_then(|at| trace.pending.get_mut(at)) else {
                trace.late_verdicts += 1;
                continue;
            };
            match note {
                Note::Sent { kind, unseen, in_flight } => {
                    point.kind = kind.unwrap_or(point.kind);
                    point.unseen_original = unseen;
                    point.in_flight = (point.len > 0).then_some(in_flight);
                }
                Note::AckApplied { at, rtt, duplicate, in_flight, .. } => {
                    (point.applied, point.rtt, point.duplicate_ack) =
                        (Some((at - trace.origin, in_flight)), rtt, duplicate);
                }
                Note::Spurious { .. } => point.kind = Kind::Spurious,
            }
        }
    }
}

/// Maximum number of remembered spurious retransmissions.
const MAX_SPURIOUS_NOTED: usize = 8_192;
