//! Fast paths for plain segments, which are nearly all segments.
//!
//! Each fast path tests one condition and gives the same result as the general code, which the
//! tests in `tests/fast_path/` verify. A fast path is kept only if a benchmark is 5 % slower
//! without it.
//!
//! - A plain segment of a connection whose opening state is complete (this file).
//! - Only new bytes since the last event: `SenderState::short_gap_limit`.
//! - An ACK that repeats the previous, still pending one: `SenderState::repeatable_ack`.
//! - Payload that continues a record or a body: `ExpectedPayload`.
//!
//! The first one depends on a flag: the connection is tracked and not traced, plain segments of
//! this side cannot change its opening or closing state, and its correct checksums need no count
//! ([`Connection::update_fast_path`] maintains it). Plain segments of such a side go directly to
//! the state of both directions. All others join [`Connection::push`] at the point where they
//! differ.

use super::FrameRef;
use super::connection::{Connection, Stage, Tracking, note_payload};
use super::segment::Seg;

use crate::wire::{PlainSegment, SackBlocks};
use whyslow_analysis::types::Side;
use whyslow_units::Time;

impl Connection {
    /// Like [`push`](Self::push), for a plain segment.
    #[inline(always)]
    pub fn push_plain(&mut self, plain: &PlainSegment<'_>, from: Side, time: Time, place: FrameRef) {
        // Assembled here so that the fields are written only once.
        let mut seg = Seg::plain(plain, from, time, place);
        self.clamp_time(&mut seg);
        self.push_plain_seg(&mut seg, plain.rest());
    }

    /// `rest`: the captured bytes after the headers.
    #[inline(never)]
    pub(super) fn push_plain_seg(&mut self, seg: &mut Seg, rest: &[u8]) {
        let from = seg.from();
        match &mut self.stage {
            Stage::Tracking(tracking) if self.uses_fast_path[from] && seg.is_plain_ack() => {
                if tracking.is_recaptured(seg, &SackBlocks::NONE) {
                    return self.note_duplicate_frame();
                }
                self.last = seg.time;
                if self.payload_streams.on_segment(seg, rest, (&self.isns, self.ports), &mut self.rare) {
                    // All other state of such a side is final.
                    note_payload(seg, &mut self.ttl[from][1], &mut self.first_payload_side);
                }
                if !tracking.push_untraced(seg, &SackBlocks::NONE) {
                    self.undo_dropped();
                }
            }
            _ => self.track_plain(seg, rest),
        }
    }

    #[inline(never)]
    fn track_plain(&mut self, seg: &mut Seg, rest: &[u8]) {
        let sack = &SackBlocks::NONE;
        self.note_good_checksum(seg);
        if self.is_recaptured(seg, sack) {
            return;
        }
        let ends = !self.is_past_opening[seg.from()] && self.note(seg);
        self.track(seg, sack, rest);
        if ends {
            self.shrink_buffers();
        }
    }

    /// Counts the correct checksum of a plain segment without payload, if it was verified.
    #[inline(always)]
    fn note_good_checksum(&mut self, seg: &Seg) {
        if seg.len == 0 {
            self.checksums[seg.from()].note(true);
        }
    }

    /// Must be called whenever one of the conditions may have changed.
    pub(super) fn update_fast_path(&mut self) {
        if let Stage::Tracking(tracking) = &self.stage {
            let is_traced = tracking.trace.is_some();
            let checks_sums = tracking.checksums_reliable[0] || tracking.checksums_reliable[1];
            self.uses_fast_path = self.is_past_opening.map(|is_known| is_known && !is_traced && !checks_sums);
        }
    }
}

impl Tracking {
    /// Like [`push`](Self::push), without tracing.
    #[inline(always)]
    fn push_untraced(&mut self, seg: &Seg, sack: &SackBlocks) -> bool {
        let is_odd = self.needs_check(seg);
        if is_odd && self.defers_or_drops(seg, sack) {
            return false;
        }
        if self.estimator.observe(seg) {
            self.refresh_paths();
        }
        self.process(seg, sack);
        !is_odd
    }
}
