//! ACKs: received at the capture point, applied when the sender has them.

use super::pending_acks::{Ack, AckArrival, AckHeaderKey};
use super::transfer_recorder::TransferRecorder;
use super::{MAX_SEQ_DISTANCE, PathEstimate, SenderState};
use crate::tcp::elided;
use crate::tcp::segment::Seg;
use crate::wire::{Flags, SackBlocks};
use whyslow_units::{Nanos, SeqNumber, Time};

/// Maximum number of ACKs that wait to be applied.
const MAX_PENDING_ACKS: usize = 65_536;
/// Within this round trip to the sender, ACKs are applied immediately.
const NO_WAIT_WITHIN: Nanos = Nanos::from_micros(100);
/// An ACK is not overdue before it has waited this long.
const MIN_ACK_TIMEOUT: Nanos = Nanos::from_millis(1000);

impl SenderState {
    /// Processes an ACK for this data at the capture point.
    #[inline(always)]
    pub fn on_ack(&mut self, seg: &Seg, sack: &SackBlocks, path: &PathEstimate) {
        // Segments of the peer's bulk data repeat one ACK; far from the sender all of them wait.
        if self.repeats_last_ack(seg, sack) {
            self.note_peer_tsval(seg);
            self.pending_acks.push_repeat(AckArrival::of(seg));
            if seg.time > self.pending_acks.none_overdue_until || self.pending_acks.len() > MAX_PENDING_ACKS {
                self.flush_overdue_acks(seg.time, path);
            }
            return;
        }
        self.receive_ack(seg, sack, path);
    }

    #[inline(never)]
    fn receive_ack(&mut self, seg: &Seg, sack: &SackBlocks, path: &PathEstimate) {
        let Some(number) = seg.ack() else {
            return;
        };
        let Some(ack) = self.unwrap_ack(number) else {
            return;
        };
        let window = if seg.flags.has(Flags::SYN) { Some(u32::from(seg.window)) } else { self.window.offered(seg) };
        if self.outstanding.has_holes() || ack > self.snd_max + 1 {
            self.note_unseen_bytes(ack, seg);
        }
        self.note_peer_tsval(seg);
        self.note_all_acked(ack, seg.time);
        if self.pending_acks.is_empty() && path.loop_to_sender <= NO_WAIT_WITHIN {
            let ack = Ack::new(seg, ack, window, !sack.is_empty());
            self.apply_ack(&ack, sack, seg.time + path.loop_to_sender, path);
        } else {
            self.repeatable_ack = if ack <= self.snd_max { AckHeaderKey::of(seg, sack, ack) } else { None };
            self.enqueue_ack(Ack::new(seg, ack, window, !sack.is_empty()), sack, path);
        }
    }

    /// Returns whether this ACK repeats the last one received, so that all checks of that one have
    /// the same result: it left no hole below it, and the plain segments sent since are above it.
    #[inline(always)]
    fn repeats_last_ack(&self, seg: &Seg, sack: &SackBlocks) -> bool {
        self.repeatable_ack.is_some_and(|last| {
            last.matches(seg, sack) && self.snd_max.wrapping_sub(last.ack) <= u64::from(MAX_SEQ_DISTANCE)
        })
    }

    /// Records that an ACK of everything sent passes the capture point.
    #[inline(always)]
    fn note_all_acked(&mut self, ack: u64, time: Time) {
        if ack >= self.snd_max && self.all_acked_at.0 != self.snd_max {
            self.all_acked_at = (self.snd_max, time);
        }
    }

    #[inline(always)]
    fn note_peer_tsval(&mut self, seg: &Seg) {
        if let Some((value, _)) = seg.timestamps()
            && self.newest_peer_tsval.is_none_or(|newest| value.wrapping_sub(newest) as i32 > 0)
        {
            self.newest_peer_tsval = Some(value);
        }
    }

    /// Maps an ACK number to sequence space; `None` if it does not belong to the connection.
    #[inline(always)]
    fn unwrap_ack(&mut self, number: SeqNumber) -> Option<u64> {
        self.unwrap_ack_of_sent(number).or_else(|| self.unwrap_any_ack(number))
    }

    /// Whether packets of this side were captured.
    pub(in crate::tcp) fn is_captured(&self) -> bool {
        self.facts.packets > 0
    }

    /// Like [`unwrap_ack`](Self::unwrap_ack), only for numbers up to SND.MAX.
    #[inline(always)]
    pub(in crate::tcp) fn unwrap_ack_of_sent(&self, number: SeqNumber) -> Option<u64> {
        let below = (self.isn? + self.snd_max as u32).0.wrapping_sub(number.0);
        if below <= MAX_SEQ_DISTANCE { self.snd_max.checked_sub(below.into()) } else { None }
    }

    #[inline(never)]
    fn unwrap_any_ack(&mut self, number: SeqNumber) -> Option<u64> {
        if self.isn.is_none() {
            self.isn = Some(SeqNumber(number.0.wrapping_sub(1)));
            self.snd_max = 1;
            self.snd_una = 1;
        }
        let place = self.unwrap_seq(number);
        self.stray += u64::from(place.is_none());
        place
    }

    /// Queues an ACK that has not reached the sender yet.
    #[inline(never)]
    fn enqueue_ack(&mut self, ack: Ack, sack: &SackBlocks, path: &PathEstimate) {
        self.pending_acks.push(&ack, sack);
        self.flush_overdue_acks(ack.arrival.time, path);
        if path.loop_to_sender <= NO_WAIT_WITHIN {
            self.apply_acks(None, path);
        }
    }

    /// Drops the repeatable ACK once none is pending.
    #[inline(always)]
    pub(super) fn end_ack_repeats(&mut self) {
        if self.pending_acks.is_empty() {
            self.repeatable_ack = None;
        }
    }

    /// Applies pending ACKs if there are too many or they are too old. Without data from the sender
    /// nothing else would apply them.
    #[inline(never)]
    fn flush_overdue_acks(&mut self, now: Time, path: &PathEstimate) {
        let patience = path.rtt.unwrap_or_default().max(MIN_ACK_TIMEOUT);
        while let Some(first) = self.pending_acks.arrivals().first() {
            if now - first.time <= patience && self.pending_acks.len() <= MAX_PENDING_ACKS {
                self.pending_acks.none_overdue_until = first.time + MIN_ACK_TIMEOUT;
                break;
            }
            let Some((ack, sack)) = self.pending_acks.pop() else { break };
            self.apply_pending_ack(&ack, &sack, ack.arrival.time + path.loop_to_sender, path);
        }
        self.end_ack_repeats();
    }

    /// Counts bytes below `ack` that were not captured: they arrived, so the capture lost them.
    #[inline(never)]
    fn note_unseen_bytes(&mut self, ack: u64, seg: &Seg) {
        let mut unseen = 0;
        let mut stretches = 0;
        self.outstanding.take_holes_below(ack, |hole| {
            unseen += hole.end - hole.start;
            stretches += 1;
            elided::add(&mut self.facts.missing, (hole.previous_time, hole.time));
        });
        // An ACK for a FIN that was not captured covers one more number.
        if ack > self.snd_max + 1 {
            let first = self.snd_max;
            unseen += ack - first;
            stretches += 1;
            elided::add(&mut self.facts.missing, (self.last_send.at.map_or(seg.time, |(last, _)| last), seg.time));
            self.advance_snd_max(ack);
            let bin = self.rate_bin();
            let begin = || TransferRecorder::new(first, seg.time, seg.frame(), Nanos::from_millis(1), bin);
            let transfer = self.transfer.get_or_insert_with(begin);
            transfer.extend(ack);
            transfer.facts().unseen += ack - first;
        }
        if unseen > 0 {
            self.ip_ids.excuse_missing();
            self.unseen.bytes += unseen;
            self.unseen.stretches += stretches;
            self.unseen.first.get_or_insert(seg.frame());
        }
    }
}
