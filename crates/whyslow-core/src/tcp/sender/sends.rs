//! The sender's segments at the capture point: new data, old data, and segments without data.

use super::last_send::SinceSend;
use super::outstanding::{OutstandingSegment, SequenceHole};
use super::peer_payload::PeerPayload;
use super::scoreboard::Recovery;
use super::{PathEstimate, SenderState};
use crate::tcp::payload::PayloadKind;
use crate::tcp::segment::{Seg, tsval};
use crate::wire::Flags;
use whyslow_units::{Nanos, SeqNumber};

/// ECN bits of a packet with a congestion mark (RFC 3168 section 5).
const CONGESTION_EXPERIENCED: u8 = 0b11;

impl SenderState {
    /// Processes a segment of the sender.
    #[inline(always)]
    pub fn on_segment(&mut self, seg: &Seg, path: &PathEstimate) -> bool {
        self.facts.packets += 1;
        let is_next = self.isn.is_some_and(|origin| seg.seq == origin + self.snd_max as u32);
        let is_plain = seg.flags.0 & (Flags::SYN | Flags::FIN | Flags::RST | Flags::CWR).0 == 0;
        if !(is_next && is_plain && self.trace_notes.is_none()) {
            return self.on_unusual_segment(seg, path);
        }
        // The common case: the segment directly follows the previous ones.
        self.apply_acks(Some(seg), path);
        let start = self.snd_max;
        self.note_ip_id_and_tsval(seg, 0);
        let len = u64::from(seg.len);
        if len > 0 {
            self.segment_size.note_sent(len);
            self.on_new_data(seg, start, start + len, path);
            self.passed += len;
        }
        len > 0
    }

    #[inline(never)]
    fn on_unusual_segment(&mut self, seg: &Seg, path: &PathEstimate) -> bool {
        self.short_gap_limit = 0;
        self.repeatable_ack = None;
        self.ip_ids.end_run();
        if seg.flags.has(Flags::RST) {
            return false;
        }
        if self.isn.is_none() {
            let syn = seg.flags.has(Flags::SYN);
            self.isn = Some(if syn { seg.seq } else { SeqNumber(seg.seq.0.wrapping_sub(1)) });
            self.snd_max = u64::from(!syn);
            self.snd_una = self.snd_max;
        }
        let Some(start) = self.unwrap_seq(seg.seq) else {
            self.stray += 1;
            return false;
        };
        if seg.flags.has(Flags::SYN) {
            // Fast Open data (RFC 7413) follows the SYN's sequence number.
            self.advance_snd_max(1);
            if seg.len == 0 {
                return false;
            }
        }
        let start = start + u64::from(seg.flags.has(Flags::SYN));
        self.apply_acks(Some(seg), path);
        self.note_ip_id_and_tsval(seg, start.saturating_sub(self.snd_max));
        let before = self.tally();
        if seg.len == 0 {
            self.on_empty_segment(seg, start);
            self.note_sent(before);
            return false;
        }
        let end = start + u64::from(seg.len);
        self.segment_size.note_sent(u64::from(seg.len));
        if seg.flags.has(Flags::FIN) {
            (self.fin.sent, self.fin.time) = (Some(end), seg.time);
        }
        let new = end > self.snd_max;
        if new {
            self.on_new_data(seg, start, end, path);
        } else {
            self.on_old_data(seg, start, end, path);
        }
        self.note_sent(before);
        if seg.flags.has(Flags::FIN) {
            self.advance_snd_max(end + 1);
        }
        self.passed += u64::from(seg.len);
        new
    }

    fn on_empty_segment(&mut self, seg: &Seg, start: u64) {
        if seg.flags.has(Flags::FIN) {
            if self.fin.sent == Some(start) {
                self.on_fin_retransmit(seg, start);
            }
            (self.fin.sent, self.fin.time) = (Some(start), seg.time);
            self.advance_snd_max(start + 1);
        } else if start + 1 == self.snd_max && start < self.snd_una && seg.flags.has(Flags::ACK) {
            if self.window.wnd == Some(0) {
                self.facts.window_probes += 1;
            } else {
                self.facts.keep_alives += 1;
            }
        }
    }

    #[inline(always)]
    fn on_new_data(&mut self, seg: &Seg, start: u64, end: u64, path: &PathEstimate) {
        if self.only_plain_sends_since_update(seg) {
            self.snd_max = end;
            self.last_send.flight += end - start;
        } else {
            self.update_on_send(seg, start, end, path);
        }
        if seg.kind == PayloadKind::Credit {
            self.note_credit_sent(start, end);
        } else if start == self.last_credit.1 && start > 0 {
            self.continue_after_credit();
        }
        self.outstanding.push(OutstandingSegment::new(seg, end, self.passed));
        if let Some(transfer) = &mut self.transfer {
            transfer.on_send(end, seg.time, self.last_send.flight);
        }
        if seg.flags.has(Flags::CWR) || seg.ecn == CONGESTION_EXPERIENCED {
            self.note_congestion(seg);
        }
        self.note_send(seg);
    }

    /// Whether only plain sends of consecutive bytes happened since the last update, this one
    /// included: the transfer and its round continue, bytes in flight increased only by these
    /// sends, and the window did not change.
    #[inline(always)]
    fn only_plain_sends_since_update(&self, seg: &Seg) -> bool {
        self.last_send.at.is_some_and(|(last, _)| seg.time.since(last) < self.short_gap_limit)
            && !is_newer(seg, self.newest_peer_tsval)
    }

    #[cold]
    fn note_congestion(&mut self, seg: &Seg) {
        if let Some(transfer) = &mut self.transfer {
            transfer.facts().reductions += u64::from(seg.flags.has(Flags::CWR));
            transfer.facts().marked += u64::from(seg.ecn == CONGESTION_EXPERIENCED);
        }
    }

    /// Processes new data that begins at `start`, which is not the end of the previous data.
    #[inline(never)]
    pub(super) fn note_sequence_jump(&mut self, seg: &Seg, start: u64) {
        if start < self.snd_max {
            // Old bytes followed by new ones: a retransmission with additional data.
            self.scoreboard.retransmitted.insert(start, self.snd_max);
            self.outstanding.may_overlap = true;
            return;
        }
        self.outstanding.push_hole(SequenceHole {
            start: self.snd_max,
            end: start,
            time: seg.time,
            tsval: tsval(seg),
            ip_id: seg.ip_id(),
            previous_time: self.last_send.at.map_or(seg.time, |(time, _)| time),
            passed_before: self.passed,
        });
        if let Some(transfer) = &mut self.transfer {
            transfer.facts().unseen += start - self.snd_max;
        }
        if let Recovery::Timeout(recover) = self.scoreboard.recovery {
            // The data considered lost after the timeout extends up to here: new bytes follow it
            // (RFC 5682 section 2.1).
            self.scoreboard.recovery = Recovery::Timeout(recover.max(start));
        }
    }

    fn on_old_data(&mut self, seg: &Seg, start: u64, end: u64, path: &PathEstimate) {
        let Some(again) = self.on_retransmit(seg, start, end, path) else {
            return;
        };
        if self.transfer.is_none() {
            return;
        }
        if self.round.due {
            self.begin_round(seg, start);
            if let Some(transfer) = &mut self.transfer {
                transfer.next_round(seg.time, seg.frame(), self.last_send.at);
            }
        }
        self.end_gap(seg, false, Some(again), path);
        if let Some(transfer) = &mut self.transfer {
            transfer.on_retransmit(seg.time, seg.frame(), end - start);
        }
        self.reset_since_send();
        self.note_send(seg);
        // Whether the data ends here is unknown.
        self.last_send.pushed = true;
    }

    /// Records new payload of the other side.
    #[inline(always)]
    pub fn on_peer_payload(&mut self, seg: &Seg) {
        self.short_gap_limit = 0;
        let (reached, since) = self.all_acked_at;
        let quiet = if reached == self.snd_max { seg.time - since } else { Nanos::ZERO };
        let (until, isn) = (self.end_of_messages(), self.isn);
        PeerPayload::add(&mut self.peer_payload, seg, || match (seg.ack(), isn) {
            (Some(ack), Some(origin)) => (ack.distance(origin + until as u32) >= 0, quiet),
            _ => (true, quiet),
        });
    }

    /// SND.MAX without the credit after the last message, for which nothing waits.
    #[inline]
    fn end_of_messages(&self) -> u64 {
        let (start, end) = self.last_credit;
        if end == self.snd_max { start } else { self.snd_max }
    }

    /// Records that credit or housekeeping was sent.
    #[cold]
    fn note_credit_sent(&mut self, start: u64, end: u64) {
        let follows = self.last_credit.1 == start && start > 0;
        self.last_credit = (if follows { self.last_credit.0 } else { start }, end);
    }

    /// A message follows credit: if it belongs to the same transfer, the peer waited for it.
    #[cold]
    fn continue_after_credit(&mut self) {
        if let Some(transfer) = &mut self.transfer {
            transfer.facts().is_housekeeping = false;
            let gaps = transfer.facts().pauses.iter_mut().rev();
            gaps.take_while(|gap| gap.ends_in_credit).for_each(|gap| gap.ends_in_credit = false);
        }
    }

    #[inline(always)]
    fn note_send(&mut self, seg: &Seg) {
        self.ip_ids.reset_missing();
        self.last_send.record(seg, self.mss(), self.segment_size.negotiated().is_some());
    }

    /// Starts a new pause after a send: later effects of ACKs belong to it.
    pub(super) fn reset_since_send(&mut self) {
        self.since_send = SinceSend {
            min_right_edge: self.window.right_edge,
            closed_at: self.window.closed_since,
            ..SinceSend::default()
        };
    }
}

/// Whether a segment echoes a newer timestamp than the newest captured one.
#[inline(always)]
pub(super) fn is_newer(seg: &Seg, newest: Option<u32>) -> bool {
    match (newest, seg.timestamps()) {
        (Some(newest), Some((_, echo))) => echo.wrapping_sub(newest) as i32 > 0,
        _ => false,
    }
}
