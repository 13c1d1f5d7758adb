//! ACKs: received when they pass the capture point, applied when the sender can have them.

use super::outstanding::Recovery;
use super::pending_acks::{Ack, AckArrival, AckFields, AckHeaderKey, SPECIAL_FLAGS};
use super::rtt::update_min;
use super::transfer_recorder::TransferRecorder;
use super::{MAX_SEQ_DISTANCE, PathEstimate, SenderState};
use crate::tcp::elided;
use crate::tcp::segment::{FrameRef, Seg};
use crate::units::{Nanos, SeqNumber};
use crate::wire::{Flags, SackBlocks};

/// Most ACKs waiting to be applied.
const MAX_PENDING_ACKS: usize = 65_536;
/// This close to the sender no ACK waits.
const NO_WAIT_WITHIN: Nanos = Nanos::from_micros(100);
/// An ACK that waits less than this is never overdue.
const MIN_ACK_TIMEOUT: Nanos = Nanos::from_millis(1000);

impl SenderState {
    /// Processes an ACK for this data at the capture point.
    #[inline(always)]
    pub fn on_ack(&mut self, seg: &Seg, sack: &SackBlocks, path: &PathEstimate) {
        // The peer's bulk data repeats one ACK in many segments; far from the sender they all wait.
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
        match self.as_simple_ack(seg, sack, path) {
            Some(ack) if ack.fields.ack > self.snd_una => {
                self.note_peer_tsval(seg);
                self.note_all_acked(ack.fields.ack, seg.time);
                self.short_gap_limit = 0;
                self.apply_new_ack::<true>(&ack, sack, seg.time + path.loop_to_sender, path);
            }
            Some(ack) if self.is_bulk_payload_ack(&ack.fields) => {
                self.note_peer_tsval(seg);
                let at = seg.time + path.loop_to_sender;
                self.apply_repeated_ack(at, at, seg.frame_ref);
            }
            _ => self.receive_any_ack(seg, sack, path),
        }
    }

    /// Returns the ACK if it is what nearly all ACKs next to the sender are: it covers data that
    /// was sent, leaves the window open, and carries nothing else. Rare cases need no check then.
    #[inline(always)]
    fn as_simple_ack(&self, seg: &Seg, sack: &SackBlocks, path: &PathEstimate) -> Option<Ack> {
        let is_plain = seg.flags.0 & (Flags::ACK.0 | SPECIAL_FLAGS) == Flags::ACK.0 && sack.is_empty();
        let is_at_once = path.loop_to_sender <= NO_WAIT_WITHIN && self.pending_acks.is_empty();
        if !(is_plain && is_at_once && self.is_loss_free()) {
            return None;
        }
        let (ack, window) = (self.unwrap_ack_of_sent(seg.ack()?)?, self.offered_window(seg)?);
        (window > 0).then(|| Ack::new(seg, ack, Some(window), false))
    }

    /// Returns whether no data is missing from the capture, SACKed or retransmitted, and the window
    /// is open.
    #[inline(always)]
    fn is_loss_free(&self) -> bool {
        // One combined test: none of these is likely.
        self.holes.is_empty()
            & self.scoreboard.is_empty()
            & self.retransmitted.is_empty()
            & self.trace_notes.is_none()
            & self.zero_window_since.is_none()
            & self.fin_sent.is_none()
            & (self.recovery == Recovery::None)
            && self.retransmit_end <= self.snd_una
    }

    /// Any ACK.
    #[inline(never)]
    fn receive_any_ack(&mut self, seg: &Seg, sack: &SackBlocks, path: &PathEstimate) {
        let Some(number) = seg.ack() else {
            return;
        };
        let Some(ack) = self.unwrap_ack(number) else {
            return;
        };
        let window = if seg.flags.has(Flags::SYN) { Some(u32::from(seg.window)) } else { self.offered_window(seg) };
        if !self.holes.is_empty() || ack > self.snd_max + 1 {
            self.note_unseen_bytes(ack, seg);
        }
        self.note_peer_tsval(seg);
        self.note_all_acked(ack, seg.time);
        self.fin_acked |= self.fin_sent.is_some_and(|fin| ack > fin);
        if self.pending_acks.is_empty() && path.loop_to_sender <= NO_WAIT_WITHIN {
            let ack = Ack::new(seg, ack, window, !sack.is_empty());
            self.apply_ack(&ack, sack, seg.time + path.loop_to_sender, path);
        } else {
            self.repeatable_ack = if ack <= self.snd_max { AckHeaderKey::of(seg, sack, ack) } else { None };
            self.enqueue_ack(Ack::new(seg, ack, window, !sack.is_empty()), sack, path);
        }
    }

    /// Returns the window offered by a segment without SYN, in bytes; `None` while the scale is
    /// unknown, except that zero is zero at any scale.
    #[inline(always)]
    fn offered_window(&self, seg: &Seg) -> Option<u32> {
        match self.snd_wscale {
            Some(shift) => Some(u32::from(seg.window) << shift.min(14)),
            None => (seg.window == 0).then_some(0),
        }
    }

    /// Returns whether this ACK repeats the last one received. All questions asked of that one then
    /// have the same answers: it left no hole below it, and the plain segments sent since lie above
    /// it.
    #[inline(always)]
    fn repeats_last_ack(&self, seg: &Seg, sack: &SackBlocks) -> bool {
        self.repeatable_ack.is_some_and(|said| {
            said.matches(seg, sack) && self.snd_max.wrapping_sub(said.ack) <= u64::from(MAX_SEQ_DISTANCE)
        })
    }

    /// An ACK up to here passes the capture point.
    #[inline(always)]
    fn note_all_acked(&mut self, ack: u64, time: Nanos) {
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

    /// The same, for numbers up to SND.MAX.
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

    /// Queues an ACK that the sender does not have yet.
    #[inline(never)]
    fn enqueue_ack(&mut self, ack: Ack, sack: &SackBlocks, path: &PathEstimate) {
        self.pending_acks.push(&ack, sack);
        self.flush_overdue_acks(ack.arrival.time, path);
        if path.loop_to_sender <= NO_WAIT_WITHIN {
            self.apply_acks(None, path);
        }
    }

    /// Forgets the repeatable ACK once none is pending.
    #[inline(always)]
    fn end_ack_repeats(&mut self) {
        if self.pending_acks.is_empty() {
            self.repeatable_ack = None;
        }
    }

    /// Applies pending ACKs that are too many or too old. Without data from the sender nothing else
    /// would.
    #[inline(never)]
    fn flush_overdue_acks(&mut self, now: Nanos, path: &PathEstimate) {
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

    /// Counts bytes below `ack` that were never captured: they arrived, so the capture lost them.
    #[inline(never)]
    fn note_unseen_bytes(&mut self, ack: u64, seg: &Seg) {
        let mut unseen = 0;
        let mut stretches = 0;
        self.holes.retain_mut(|hole| {
            if hole.start >= ack {
                return true;
            }
            unseen += hole.end.min(ack) - hole.start;
            stretches += 1;
            elided::add(&mut self.facts.missing, (hole.previous_time, hole.time));
            hole.start = hole.end.min(ack);
            hole.start < hole.end
        });
        // An ACK for a FIN that was not captured covers one more number.
        if ack > self.snd_max + 1 {
            let first = self.snd_max;
            unseen += ack - first;
            stretches += 1;
            elided::add(&mut self.facts.missing, (self.last_send.map_or(seg.time, |(last, _)| last), seg.time));
            self.advance_snd_max(ack);
            let bin = self.rate_bin();
            let begin = || TransferRecorder::new(first, seg.time, seg.frame(), Nanos::from_millis(1), bin);
            let transfer = self.transfer.get_or_insert_with(begin);
            transfer.extend(ack);
            transfer.facts().unseen += ack - first;
        }
        if unseen > 0 {
            self.ip_ids.excuse_missing();
            self.unseen_bytes += unseen;
            self.unseen_stretches += stretches;
            self.first_unseen.get_or_insert(seg.frame());
        }
    }

    /// Applies the ACKs that the sender had when it sent `seg`; next to the sender, all ACKs so
    /// far.
    #[inline(always)]
    pub(in crate::tcp) fn apply_acks(&mut self, seg: Option<&Seg>, path: &PathEstimate) {
        let Some(first) = self.pending_acks.first_arrival() else {
            return;
        };
        let by = SenderKnowledge::new(seg, path);
        if by.includes(first, by.tsecr.filter(|_| first.has_timestamps)) {
            self.apply_pending_acks(seg, path);
        }
    }

    #[inline(never)]
    fn apply_pending_acks(&mut self, seg: Option<&Seg>, path: &PathEstimate) {
        let way = path.loop_to_sender;
        let by = SenderKnowledge::new(seg, path);
        let latest = seg.map_or(Nanos::MAX, |seg| seg.time);
        while let Some((first, fields)) = self.pending_acks.first() {
            let stamp = by.tsecr.filter(|_| first.has_timestamps);
            if !by.includes(first, stamp) {
                break;
            }
            // Of several repeats applied together only the last one matters.
            let known = self.is_bulk_payload_ack(fields);
            let behind = if known { self.pending_acks.arrivals_after_first() } else { &[] };
            let more =
                behind.iter().take_while(|arrival| arrival.repeats_previous && by.includes(arrival, stamp)).count();
            let last = more.checked_sub(1).and_then(|more| behind.get(more)).unwrap_or(first);
            let (since, at, place) = ((first.time + way).min(latest), (last.time + way).min(latest), last.frame_ref);
            if let (Some(seg), Some(echo)) = (seg, stamp) {
                self.note_loop_to_sender(seg, echo, more + 1, way);
            }
            if known {
                let is_next_late = self.pending_acks.drop_repeats(more + 1);
                self.apply_repeated_ack(since, at, place);
                if is_next_late {
                    break;
                }
            } else if let Some((ack, sack)) = self.pending_acks.pop() {
                self.apply_pending_ack(&ack, &sack, at, path);
            }
        }
        self.end_ack_repeats();
    }

    /// Measures the loop: the sender had the first `count` pending ACKs when it sent `seg`, and its
    /// TSecr names the last of them.
    #[inline(always)]
    fn note_loop_to_sender(&mut self, seg: &Seg, echo: u32, count: usize, least: Nanos) {
        let had = self.pending_acks.arrivals().iter().take(count);
        if !seg.time_clamped()
            && let Some(arrival) = had.rev().find(|arrival| arrival.tsval == echo && !arrival.time_clamped)
        {
            self.recent_loop_to_sender = (seg.time - arrival.time).max(least);
        }
    }

    #[inline(never)]
    fn apply_pending_ack(&mut self, ack: &Ack, sack: &SackBlocks, at: Nanos, path: &PathEstimate) {
        self.apply_ack(ack, sack, at, path);
    }

    /// Applies an ACK without news at time `at`, or several, the first of them at `since`.
    #[inline(always)]
    fn apply_repeated_ack(&mut self, since: Nanos, at: Nanos, place: FrameRef) {
        self.short_gap_limit = 0;
        self.round_due |= self.snd_una >= self.round_first_end;
        self.since_send.emptied = self.snd_una >= self.snd_max;
        self.since_send.on_release(place, at, false, true, self.snd_right_edge);
        if let Some(transfer) = &mut self.transfer {
            transfer.on_acked_up_to(since, self.snd_una);
        }
    }

    /// Applies an ACK that the sender has at time `at`.
    #[inline(always)]
    fn apply_ack(&mut self, ack: &Ack, sack: &SackBlocks, at: Nanos, path: &PathEstimate) {
        let is_new = ack.fields.ack > self.snd_una;
        if !is_new && self.is_bulk_payload_ack(&ack.fields) {
            self.apply_repeated_ack(at, at, ack.arrival.frame_ref);
            return;
        }
        self.short_gap_limit = 0;
        let before =
            self.trace_notes.is_some().then_some((self.facts.duplicate_acks, self.facts.retransmitted.spurious));
        let rtt = if is_new {
            self.apply_new_ack::<false>(ack, sack, at, path)
        } else {
            self.apply_old_ack(*ack, sack, at);
            None
        };
        if let Some(before) = before {
            self.note_ack_applied(ack.arrival.frame_ref, at, rtt, before);
        }
    }

    /// Applies an ACK for new data and returns the RTT that it measures. `LOSS_FREE` means that it
    /// came from [`as_simple_ack`](Self::as_simple_ack), so that no step checks for rare cases.
    #[inline(always)]
    fn apply_new_ack<const LOSS_FREE: bool>(
        &mut self,
        ack: &Ack,
        sack: &SackBlocks,
        at: Nanos,
        path: &PathEstimate,
    ) -> Option<Nanos> {
        let Ack { arrival, fields } = ack;
        self.since_send.on_release(arrival.frame_ref, at, true, fields.with_payload, self.snd_right_edge);
        if !LOSS_FREE && !self.scoreboard.is_empty() {
            // Before this ACK's own SACKs are noted: they lie above a hole that nobody had
            // reported.
            self.note_healed_hole(self.snd_una, fields.ack);
        }
        let mut delivered = fields.ack.saturating_sub(self.snd_una);
        if !LOSS_FREE && fields.sacks {
            delivered += self.update_scoreboard(fields.ack, sack, at);
        }
        let (delay, known) = self.advance_snd_una::<LOSS_FREE>(ack, at);
        delivered -= known.min(delivered);
        let (rtt, late) = match delay {
            Some(delay) => self.rtt_sample(delay, path),
            None => (None, Nanos::ZERO),
        };
        self.since_send.ack_late = late;
        self.since_send.emptied = self.snd_una >= self.snd_max;
        self.update_snd_wnd::<LOSS_FREE>(fields, at);
        self.record_ack::<LOSS_FREE>(ack, at, delivered, rtt, late);
        rtt
    }

    /// Applies an ACK that covers no new data.
    #[inline(never)]
    fn apply_old_ack(&mut self, ack: Ack, sack: &SackBlocks, at: Nanos) {
        let Ack { arrival, fields } = ack;
        let edge = self.snd_right_edge;
        let delivered = if fields.sacks { self.update_scoreboard(fields.ack, sack, at) } else { 0 };
        if !fields.with_payload {
            self.count_duplicate_ack(&fields);
        }
        let opened = self.update_snd_wnd::<false>(&fields, at);
        if opened || fields.with_payload || fields.sacks {
            self.since_send.window_update |= opened;
            self.since_send.emptied = self.snd_una >= self.snd_max;
            self.since_send.on_release(arrival.frame_ref, at, false, fields.with_payload, edge);
        }
        self.record_ack::<false>(&ack, at, delivered, None, Nanos::ZERO);
    }

    /// Records an ACK in the round and the transfer: `delivered` more bytes have arrived, with the
    /// result of [`rtt_sample`](Self::rtt_sample).
    #[inline(always)]
    fn record_ack<const LOSS_FREE: bool>(
        &mut self,
        ack: &Ack,
        at: Nanos,
        delivered: u64,
        rtt: Option<Nanos>,
        late: Nanos,
    ) {
        let Ack { arrival, fields } = ack;
        if !LOSS_FREE && fields.flags.0 & (Flags::ECE | Flags::SYN).0 == Flags::ECE.0 {
            self.note_ecn_echo(arrival.frame_ref, at);
        }
        self.round_due |= self.snd_una >= self.round_first_end
            || (!LOSS_FREE && self.scoreboard.highest().is_some_and(|top| top > self.round_end));
        if let Some(transfer) = &mut self.transfer {
            transfer.on_ack(at, fields.ack, delivered, rtt, late);
        }
    }

    /// Returns whether this is payload with an ACK without news, as in the peer's bulk data.
    #[inline(always)]
    fn is_bulk_payload_ack(&self, fields: &AckFields) -> bool {
        let same = fields.ack == self.snd_una
            && fields.window() == self.snd_wnd
            && fields.window().map(|window| fields.ack + window) == self.snd_right_edge;
        let plain = fields.flags.0 & (Flags::SYN | Flags::RST | Flags::ECE).0 == 0;
        same && plain
            && fields.with_payload
            && !fields.sacks
            && fields.window() != Some(0)
            && self.zero_window_since.is_none()
            && self.scoreboard.is_empty()
            && self.trace_notes.is_none()
    }

    #[inline(never)]
    fn note_ecn_echo(&mut self, place: FrameRef, at: Nanos) {
        self.facts.ecn_echoes += 1;
        if let Some(transfer) = &mut self.transfer {
            let facts = transfer.facts();
            facts.ecn_echoes += 1;
            facts.first_echo.get_or_insert((at, place.frame()));
        }
    }

    /// Takes an RTT sample from an ACK that came `delay` after its segment. Returns the RTT, and by
    /// how much the ACK was later than the earliest.
    #[inline(always)]
    fn rtt_sample(&mut self, delay: Nanos, path: &PathEstimate) -> (Option<Nanos>, Nanos) {
        let least = update_min(&mut self.facts.ack_delay_min, delay);
        let whole = delay + path.loop_to_sender;
        self.srtt.on_sample(whole);
        self.rtt.push(whole);
        (Some(whole), delay.after(least))
    }

    /// Advances SND.UNA. Returns the time from the newest covered segment, if that was sent only
    /// once, to this ACK (Karn's algorithm, RFC 6298 section 3), and how many of the bytes were
    /// already SACKed.
    #[inline(always)]
    fn advance_snd_una<const LOSS_FREE: bool>(&mut self, ack: &Ack, at: Nanos) -> (Option<Nanos>, u64) {
        let Ack { arrival, fields } = ack;
        let before = std::mem::replace(&mut self.snd_una, fields.ack);
        self.duplicate_acks = 0;
        if !LOSS_FREE && !self.retransmitted.is_empty() {
            self.retransmitted.remove(0, fields.ack);
        }
        let known = if LOSS_FREE || self.scoreboard.is_empty() { 0 } else { self.scoreboard.remove(0, fields.ack) };
        let (newest, any_resent) = self.remove_acknowledged::<LOSS_FREE>(fields.ack);
        if !LOSS_FREE && self.retransmit_end > before {
            self.check_eifel(before, fields.ack, fields.tsecr);
        }
        let recovering = !LOSS_FREE && self.recovery != Recovery::None;
        if recovering {
            self.exit_recovery(fields.ack, at);
        }
        // While holes are being filled, a cumulative ACK tells when the hole was filled, not when
        // its last byte arrived.
        let timed = !any_resent && !recovering && !arrival.time_clamped;
        (newest.filter(|_| timed).map(|time| arrival.time.after(time)), known)
    }

    /// Leaves recovery once everything that was outstanding at its start is acknowledged.
    #[inline(never)]
    fn exit_recovery(&mut self, ack: u64, at: Nanos) {
        match self.recovery {
            Recovery::Fast(recover) | Recovery::Timeout(recover) if ack >= recover => {
                if let (Recovery::Fast(_), Some(transfer)) = (self.recovery, &mut self.transfer) {
                    let recoveries = &mut transfer.facts().recoveries;
                    recoveries.count += 1;
                    recoveries.took += (at - self.recovery_start).or_zero();
                }
                self.recovery = Recovery::None;
                self.may_overlap &= !self.outstanding.is_empty();
            }
            _ => {}
        }
    }

    /// Removes acknowledged segments. Returns when the newest of them was sent, if known, and
    /// whether any was retransmitted.
    #[inline(always)]
    fn remove_acknowledged<const LOSS_FREE: bool>(&mut self, ack: u64) -> (Option<Nanos>, bool) {
        let all = &self.outstanding[..];
        let count = all.iter().position(|sent| sent.end > ack).unwrap_or(all.len());
        let those = all.get(..count).unwrap_or_default();
        if self.largest_acked_len < self.largest_len {
            let largest = those.iter().map(|sent| u64::from(sent.len)).max();
            self.largest_acked_len = self.largest_acked_len.max(largest.unwrap_or(0));
        }
        let any_resent = !LOSS_FREE && those.iter().any(|sent| sent.retransmitted);
        let newest = those.last().filter(|sent| !sent.tsval.time_clamped()).map(|sent| sent.time);
        self.outstanding.drop_first(count);
        (newest, any_resent)
    }

    /// Counts a SACK hole that closed without a retransmission: reordering beyond the capture
    /// point.
    #[inline(never)]
    fn note_healed_hole(&mut self, before: u64, ack: u64) {
        let Some(top) = self.scoreboard.highest() else {
            return;
        };
        let end = ack.min(top);
        let filled = self.scoreboard.covered(before, end) + self.retransmitted.covered(before, end);
        if end > before && filled == self.scoreboard.covered(before, end) && filled < end - before {
            self.facts.healed_holes += 1;
            if let Some(transfer) = &mut self.transfer {
                transfer.facts().healed_holes += 1;
            }
        }
    }

    /// Adds SACK blocks that reach the sender at time `at`. Returns how many bytes they report for
    /// the first time.
    #[inline(never)]
    fn update_scoreboard(&mut self, ack: u64, blocks: &SackBlocks, at: Nanos) -> u64 {
        let mut news = 0;
        let highest = self.scoreboard.highest().unwrap_or(ack);
        for (index, &(left, right)) in blocks.as_slice().iter().enumerate() {
            let (Some(left), Some(right)) = (self.unwrap_seq(left), self.unwrap_seq(right)) else {
                continue;
            };
            if left >= right || right > self.snd_max.max(ack) {
                continue;
            }
            let second =
                || blocks.as_slice().get(1).and_then(|&(l, r)| Some((self.unwrap_seq(l)?, self.unwrap_seq(r)?)));
            if index == 0 && reports_duplicate((left, right), second(), ack) {
                self.on_dsack(left, right);
            } else if left >= ack {
                self.largest_acked_len = self.largest_acked_len.max((right - left).min(self.mss()));
                news += self.scoreboard.insert(left, right);
            }
        }
        if let Some(top) = self.scoreboard.highest().filter(|top| *top > highest)
            && let Some(sent) = self.send_time_of(top)
            && let Some(transfer) = &mut self.transfer
        {
            transfer.on_sack(at.after(sent));
        }
        news
    }

    /// Returns when the segment that ends at `end` was sent, if it was sent only once.
    fn send_time_of(&self, end: u64) -> Option<Nanos> {
        let index = self.outstanding.partition_point(|sent| sent.end < end);
        let sent = self.outstanding.get(index).filter(|_| !self.may_overlap)?;
        (sent.start() < end && !sent.retransmitted && !sent.tsval.time_clamped()).then_some(sent.time)
    }

    /// Counts a duplicate ACK (RFC 5681 section 2): nothing new, no payload, same window, data
    /// outstanding.
    #[inline(never)]
    fn count_duplicate_ack(&mut self, fields: &AckFields) {
        let same_window = fields.window().is_none() || fields.window() == self.snd_wnd;
        if fields.ack == self.snd_una
            && !fields.with_payload
            && !fields.flags.has(Flags::SYN)
            && !fields.flags.has(Flags::FIN)
            && self.snd_max > self.snd_una
            && (same_window || fields.sacks)
        {
            self.duplicate_acks += 1;
            self.facts.duplicate_acks += 1;
        }
    }

    /// Updates the send window. Returns whether the right edge moved up.
    #[inline(always)]
    fn update_snd_wnd<const LOSS_FREE: bool>(&mut self, fields: &AckFields, at: Nanos) -> bool {
        let Some(window) = fields.window() else {
            return self.update_unscaled_window(fields, at);
        };
        // RFC 9293 section 3.10.7.4: an older ACK must not set the window back.
        if fields.ack < self.snd_una {
            return false;
        }
        if self.facts.assumed_shift.is_some()
            && self.snd_right_edge.is_some_and(|edge| edge < self.snd_max)
            && !self.is_window_probe()
        {
            self.reject_assumed_shift();
            return false;
        }
        let edge = fields.ack + window;
        let opened = self.snd_right_edge.is_none_or(|before| edge > before);
        self.facts.window_full += u64::from(opened && self.snd_right_edge == Some(self.snd_max));
        self.snd_wnd = Some(window);
        self.snd_right_edge = Some(edge);
        if (LOSS_FREE || self.snd_wscale.is_some()) && self.facts.max_window.is_none_or(|most| window > most) {
            self.facts.max_window = Some(window);
        }
        let is_closure = !LOSS_FREE && (window == 0 || self.zero_window_since.is_some());
        if is_closure && fields.flags.0 & (Flags::RST | Flags::SYN).0 == 0 {
            self.note_zero_window(window, at);
        }
        opened
    }

    /// Returns whether at most one byte was sent beyond the window, as a window probe is.
    fn is_window_probe(&self) -> bool {
        self.snd_right_edge.is_some_and(|edge| self.snd_max <= edge + 1)
    }

    /// Takes this for the scale of windows, if it is one, and no SYN tells another.
    pub(in crate::tcp) fn assume_shift(&mut self, shift: Option<u8>) {
        if let Some(shift) = shift.filter(|_| self.snd_wscale.is_none()) {
            (self.snd_wscale, self.facts.assumed_shift) = (Some(shift), Some(shift));
            self.inferred_scale.assume(shift);
            self.repeatable_ack = None;
        }
    }

    /// The scale that was taken for the true one does not allow what is in flight: it is not known
    /// after all.
    #[inline(never)]
    fn reject_assumed_shift(&mut self) {
        self.snd_wscale = None;
        self.facts.assumed_shift = None;
        (self.snd_wnd, self.snd_right_edge, self.facts.max_window) = (None, None, None);
        self.inferred_scale.reject_assumed();
        self.repeatable_ack = None;
    }

    /// Handles an open window of unknown scale. Returns whether the window was closed before.
    #[inline(never)]
    fn update_unscaled_window(&mut self, fields: &AckFields, at: Nanos) -> bool {
        let shift = self.inferred_scale.infer(fields, (self.snd_max, self.mss()), self.app_limited);
        self.assume_shift(shift);
        if self.zero_window_since.is_none() || fields.ack < self.snd_una {
            return false;
        }
        (self.snd_wnd, self.snd_right_edge) = (None, None);
        if fields.flags.0 & (Flags::RST | Flags::SYN).0 == 0 {
            self.note_zero_window(1, at);
        }
        true
    }

    /// Records that the window has closed or opened again.
    #[inline(never)]
    fn note_zero_window(&mut self, window: u64, at: Nanos) {
        self.facts.zero_windows += u64::from(window == 0);
        match (window == 0, self.zero_window_since) {
            (true, None) => {
                self.zero_window_since = Some(at);
                self.facts.closings += 1;
                self.since_send.closed_at.get_or_insert(at);
            }
            (false, Some(since)) => {
                self.facts.zero_window += (at - since).or_zero();
                let paused = self.last_send.map_or(since, |(last, _)| last.max(since));
                self.since_send.closed_for += (at - paused).or_zero();
                self.zero_window_since = None;
            }
            _ => {}
        }
    }
}

/// Which ACKs the sender had when it sent a segment; all captured so far, if there is no segment.
struct SenderKnowledge {
    /// The TSecr of the segment.
    tsecr: Option<u32>,
    /// Without timestamps: ACKs captured up to here.
    until: Nanos,
}

impl SenderKnowledge {
    #[inline(always)]
    fn new(seg: Option<&Seg>, path: &PathEstimate) -> Self {
        match seg.filter(|_| !path.near) {
            None => Self { tsecr: None, until: Nanos::MAX },
            Some(seg) => Self { tsecr: seg.timestamps().map(|(_, echo)| echo), until: seg.time - path.ack_lag },
        }
    }

    /// Returns whether the sender had this ACK: the segment echoes a newer timestamp, or else the
    /// ACK is old enough. `stamp` is the echoed timestamp, if these ACKs have timestamps too.
    #[inline(always)]
    fn includes(&self, arrival: &AckArrival, stamp: Option<u32>) -> bool {
        let newer = stamp.map_or(0, |echo| arrival.tsval.wrapping_sub(echo) as i32);
        newer < 0 || (newer == 0 && arrival.time <= self.until)
    }
}

/// Returns whether the first SACK block reports a duplicate: it lies below the ACK or inside the
/// second block (RFC 2883 section 4).
pub(in crate::tcp) fn reports_duplicate(first: (u64, u64), second: Option<(u64, u64)>, ack: u64) -> bool {
    first.1 <= ack || second.is_some_and(|second| second.0 <= first.0 && first.1 <= second.1)
}
