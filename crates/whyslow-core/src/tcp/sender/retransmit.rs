//! Segments that carry old bytes: whether they are retransmissions, and why they were sent.
//!
//! A copy of captured bytes is a retransmission, unless it probes a closed window or keeps an idle
//! connection alive; it is spurious if the bytes were acknowledged long before. Bytes that fill a
//! hole are either late (reordered) or retransmitted after the original was lost before the capture
//! point. The kind follows from what the sender knew then: SACKs or duplicate ACKs (fast), silence
//! as long as its timer (timeout), or half of that with the highest segment (tail loss probe).

use super::outstanding::{OutstandingSegment, Recovery, SequenceHole};
use super::retransmit_record::{Retransmit, RetransmitContext, RetransmitReason, counter};
use super::rtt::MIN_PROBE_TIMER;
use super::{PathEstimate, SenderState};
use crate::tcp::facts::{Loss, Retransmission, Retransmitted, TransferFacts};
use crate::tcp::segment::{Seg, tsval};
use crate::types::{MAX_RETRANSMISSIONS, RTO_MIN, RetransmissionKind};
use crate::units::Nanos;

/// Most retransmissions to remember until it is known whether they were spurious.
const MAX_RETRANSMITS: usize = 2048;
/// This many duplicate ACKs mean loss (RFC 5681).
const DUP_THRESH: u32 = 3;

/// The newest retransmissions among which the previous copy is looked for.
const RECENT_RETRANSMITS: usize = 256;
/// A segment of this many bytes passes any path (RFC 879: 536; some tunnels leave less than 1,200).
const MAX_SMALL_SEGMENT: u64 = 1_000;
/// Of this many timer waits the last one is longer than any sender's limit (RFC 6298 section 2.5:
/// 60 s at least; Linux 120 s).
const MAX_BACKOFFS: u32 = 10;
/// Most frames to remember of retransmissions that were lost.
const MAX_LOST_RETRANSMIT_FRAMES: usize = 6;
/// Most losses to remember of a transfer.
const MAX_LOSSES: usize = 2_048;

impl SenderState {
    /// Processes data at or below SND.MAX. Returns how it came to be sent; `None` if TCP did not
    /// retransmit it or it carries nothing.
    #[inline(never)]
    pub(super) fn on_retransmit(
        &mut self,
        seg: &Seg,
        start: u64,
        end: u64,
        path: &PathEstimate,
    ) -> Option<RetransmitContext> {
        if seg.len <= 1 && end <= self.snd_una.max(1) {
            // One byte that was acknowledged long ago is a keep-alive (RFC 9293 section 3.8.4).
            self.facts.keep_alives += 1;
            return None;
        }
        if seg.len <= 1 && self.is_window_closed() {
            self.facts.window_probes += 1;
            return None;
        }
        let hole = self.fill_hole(start, end);
        if let Some(hole) = hole
            && self.is_reordered(seg, &hole, path)
        {
            let late = (seg.time - hole.time).or_zero();
            self.facts.out_of_order += 1;
            self.facts.reorder_extent = self.facts.reorder_extent.max(late);
            self.insert_outstanding(seg, start, end);
            if let Some(transfer) = &mut self.transfer {
                transfer.facts().out_of_order += 1;
                transfer.facts().unseen = transfer.facts().unseen.saturating_sub(end - start);
            }
            return None;
        }
        if hole.is_none() && self.is_late_original(seg, start, end) {
            return None;
        }
        let (kind, waited) = self.reason_of(seg, start, end, path);
        if !self.reported_mtus.is_empty()
            && self.recovery == Recovery::None
            && let Some(fits) = self.exceeded_reported_mtu(seg, (start, end), waited, path)
        {
            self.on_mtu_retransmit(seg, start, end, fits.into());
            return None;
        }
        // The previous copy: an earlier retransmission or the original. One captured segment may be
        // several on the wire, each retransmitted by itself.
        let mut recent =
            self.retransmits.iter().rev().take(if self.retransmit_end > start { RECENT_RETRANSMITS } else { 0 });
        let earlier = recent.find(|r| r.start < end && r.end > start).copied();
        let (mut original, mut last_copy) =
            (None, hole.map(|hole| (hole.previous_time, hole.time, hole.passed_before)));
        last_copy = last_copy.or(earlier.map(|copy| (copy.time, copy.time, copy.passed_before)));
        let passes = end - start <= self.largest_acked_len.max(MAX_SMALL_SEGMENT);
        let lost_copy = earlier
            .filter(|copy| copy.reason == RetransmitReason::Fast && !copy.spurious && passes)
            .map(|copy| copy.time);
        // Outstanding segments rarely overlap, so they are in order.
        let first = if self.may_overlap { 0 } else { self.outstanding.partition_point(|sent| sent.end <= start) };
        let until = if self.may_overlap { u64::MAX } else { end };
        let those = self.outstanding.iter_mut().skip(first).take_while(|sent| sent.start() < until);
        for sent in those.filter(|sent| sent.start() < end && sent.end > start) {
            original = original.or(sent.tsval.tsval());
            last_copy = last_copy.or(Some((sent.time, sent.time, sent.passed_before)));
            sent.retransmitted = true;
            self.retransmit_end = self.retransmit_end.max(sent.end);
        }
        if hole.is_some() {
            self.insert_outstanding(seg, start, end);
        }
        let spurious = hole.is_none() && end <= self.snd_una;
        match self.recovery {
            _ if spurious => {}
            Recovery::None if kind == RetransmitReason::Fast => {
                self.recovery = Recovery::Fast(self.snd_max);
                self.recovery_start = seg.time;
            }
            _ if kind == RetransmitReason::Timeout => self.recovery = Recovery::Timeout(self.snd_max),
            _ => {}
        }
        self.retransmitted.insert(start, end);
        let stuck = !spurious
            && kind == RetransmitReason::Timeout
            && end - start > self.largest_acked_len.max(MAX_SMALL_SEGMENT);
        if let Some(transfer) = self.transfer.as_mut().filter(|_| !spurious) {
            let facts = transfer.facts();
            if let Some((time, until, sent)) = last_copy.filter(|_| facts.losses.len() < MAX_LOSSES) {
                facts.losses.push(Loss {
                    time,
                    until,
                    seq: start,
                    bytes: end - start,
                    passed_before: sent,
                    unseen: hole.is_some(),
                    spurious: false,
                });
            }
            if let Some(copied) = lost_copy {
                facts.lost_retransmits.count += 1;
                // Several may be pending at a time.
                facts.lost_retransmits.waited += (seg.time - self.lost_retransmit_counted_until.max(copied)).or_zero();
                self.lost_retransmit_counted_until = self.lost_retransmit_counted_until.max(seg.time);
                if facts.lost_retransmits.frames.len() < MAX_LOST_RETRANSMIT_FRAMES {
                    facts.lost_retransmits.frames.push(seg.frame());
                }
            }
            if stuck {
                facts.stuck_large += 1;
                facts.stuck_size = facts.stuck_size.max(end - start);
            }
        }
        self.count_retransmit(kind, end - start, hole.is_some(), spurious);
        let unseen = hole.is_some();
        let listed = self.list_retransmission(seg, start, kind.to_kind(spurious), unseen);
        let retransmit = Retransmit {
            start,
            end,
            time: seg.time,
            passed_before: self.passed,
            reason: kind,
            tsval: tsval(seg),
            previous_tsval: original,
            unseen,
            spurious,
            counted_stuck: stuck,
            dsacked: false,
            listed_at: listed,
        };
        self.keep_retransmit(retransmit);
        let tail = kind == RetransmitReason::TailProbe || (waited && end + 1 >= self.snd_max);
        Some(RetransmitContext { by_timer: waited, tail, lost_retransmit: lost_copy.is_some(), max_timer_wait: None })
    }

    /// Processes data that was too long for the path and comes again in segments of `fits` bytes.
    /// Nothing was lost, and the sender's window stays.
    #[cold]
    fn on_mtu_retransmit(&mut self, seg: &Seg, start: u64, end: u64, fits: u64) {
        if fits < self.mss() {
            self.on_mss_negotiated(Some(fits));
        }
        self.facts.retransmitted.fast += 1;
        self.list_retransmission(seg, start, RetransmissionKind::Fast, false);
        for sent in self.outstanding.iter_mut().filter(|sent| sent.start() < end && sent.end > start) {
            sent.retransmitted = true;
            self.retransmit_end = self.retransmit_end.max(sent.end);
        }
        self.retransmitted.insert(start, end);
    }

    /// Returns whether new bytes after a silence of an RTO are a retransmission whose original was
    /// never captured: by its IP IDs the sender has sent packets meanwhile that fit no hole.
    #[inline(always)]
    pub(super) fn as_unseen_retransmit(
        &mut self,
        seg: &Seg,
        start: u64,
        path: &PathEstimate,
    ) -> Option<RetransmitContext> {
        let (last, _) = self.last_send?;
        if seg.time.since(last) < MIN_PROBE_TIMER.since(Nanos::ZERO) {
            None
        } else {
            self.unseen_retransmit_after(seg, start, seg.time - last, path)
        }
    }

    #[inline(never)]
    fn unseen_retransmit_after(
        &mut self,
        seg: &Seg,
        start: u64,
        quiet: Nanos,
        path: &PathEstimate,
    ) -> Option<RetransmitContext> {
        let missing = self.missing_packets().filter(|&packets| packets > 0)?;
        let prompted = self.since_send.released_at.is_some_and(|at| seg.time - at <= path.epsilon);
        let closed = self.since_send.met_zero_window() && self.was_window_full();
        let together = || self.sender_time_since_last_send(seg).is_some_and(|apart| apart.0 < quiet.0 / 2);
        if prompted || closed || together() {
            return None;
        }
        // A probe waits for two current RTTs, queueing included.
        let rtt = self.round_lengths.at([0.5]).map(|[median]| median).max(path.rtt)?;
        // Other packets of the host in so short a time are told from probes only if no other
        // connection uses its IP IDs.
        let short = quiet < RTO_MIN.scale(0.95) && !self.ip_ids.are_exclusive();
        if short || quiet < rtt.scale(2.0) {
            return None;
        }
        // One packet: a probe of the highest segment, or the timer with the only one.
        let tail = missing == 1;
        let kind = if tail && self.is_tail_loss_probe(start, quiet, self.srtt.rto()) {
            RetransmitReason::TailProbe
        } else {
            RetransmitReason::Timeout
        };
        self.count_retransmit(kind, u64::from(seg.len), true, false);
        self.list_retransmission(seg, start, kind.to_kind(false), true);
        if kind == RetransmitReason::Timeout {
            // Until more is acknowledged. The next segment shows how much was given up.
            self.recovery = Recovery::Timeout(start + u64::from(seg.len) + 1);
        }
        if let Some(transfer) = &mut self.transfer {
            transfer.on_unseen_retransmit(seg.frame());
        }
        let most = Some(self.max_timer_wait(missing));
        Some(RetransmitContext { by_timer: true, tail, lost_retransmit: false, max_timer_wait: most })
    }

    /// Returns how long a sender waits at most while sending this many packets in vain: each wait
    /// doubles (RFC 6298 section 5.5), and the first packet left at once.
    pub(super) fn max_timer_wait(&self, packets: u32) -> Nanos {
        self.srtt.rto().scale(f64::from((1u32 << packets.min(MAX_BACKOFFS)) - 1))
    }

    /// Processes a retransmitted FIN without payload. It takes one number of the sequence space and
    /// no byte.
    pub(super) fn on_fin_retransmit(&mut self, seg: &Seg, start: u64) {
        let spurious = self.snd_una > start;
        let probe = self.is_tail_loss_probe(start, seg.time - self.fin_time, self.srtt.rto());
        let kind = if probe { RetransmitReason::TailProbe } else { RetransmitReason::Timeout };
        let kinds = &mut self.facts.retransmitted;
        *(if spurious { &mut kinds.spurious } else { counter(kinds, kind) }) += 1;
        self.retransmitted.insert(start, start + 1);
        let listed = self.list_retransmission(seg, start, kind.to_kind(spurious), false);
        self.keep_retransmit(Retransmit {
            start,
            end: start + 1,
            time: seg.time,
            passed_before: self.passed,
            reason: kind,
            tsval: tsval(seg),
            previous_tsval: None,
            unseen: false,
            spurious,
            counted_stuck: false,
            dsacked: false,
            listed_at: listed,
        });
    }

    fn list_retransmission(
        &mut self,
        seg: &Seg,
        start: u64,
        kind: RetransmissionKind,
        unseen_original: bool,
    ) -> Option<usize> {
        self.facts.retransmissions_total += 1;
        let place = self.facts.retransmissions.len();
        if place >= MAX_RETRANSMISSIONS {
            return None;
        }
        let bytes = u64::from(seg.len);
        let (frame, time) = (seg.frame(), seg.time);
        self.facts.retransmissions.push(Retransmission { frame, time, seq: start, bytes, kind, unseen_original });
        Some(place)
    }

    fn keep_retransmit(&mut self, retransmit: Retransmit) {
        if self.retransmits.len() == MAX_RETRANSMITS {
            self.retransmits.pop_front();
        }
        self.retransmit_end = self.retransmit_end.max(retransmit.end);
        if retransmit.unseen {
            self.unseen_retransmit_end = self.unseen_retransmit_end.max(retransmit.end);
        }
        self.retransmits.push_back(retransmit);
    }

    /// Returns whether this is the original, overtaken by its own retransmission: it is older than
    /// the copy that came in its place.
    fn is_late_original(&mut self, seg: &Seg, start: u64, end: u64) -> bool {
        let Some(value) = tsval(seg) else {
            return false;
        };
        if start >= self.unseen_retransmit_end {
            return false;
        }
        let overtook = |r: &&mut Retransmit| {
            r.unseen
                && r.start < end
                && r.end > start
                && r.tsval.is_some_and(|copy| copy.wrapping_sub(value) as i32 > 0)
        };
        let Some(copy) = self.retransmits.iter_mut().rev().take(64).find(overtook) else {
            return false;
        };
        copy.unseen = false;
        if let Some(listed) = copy.listed_at.and_then(|place| self.facts.retransmissions.get_mut(place)) {
            listed.unseen_original = false;
        }
        let recount = |kinds: &mut Retransmitted, out_of_order: &mut u64| {
            kinds.unseen_original = kinds.unseen_original.saturating_sub(1);
            *out_of_order += 1;
        };
        recount(&mut self.facts.retransmitted, &mut self.facts.out_of_order);
        if let Some(transfer) = &mut self.transfer {
            let facts = transfer.facts();
            recount(&mut facts.retransmitted, &mut facts.out_of_order);
        }
        true
    }

    fn is_window_closed(&self) -> bool {
        self.facts.zero_windows > 0 && self.snd_una + 1 >= self.snd_max
    }

    fn count_retransmit(&mut self, kind: RetransmitReason, bytes: u64, unseen_original: bool, spurious: bool) {
        let add = |kinds: &mut Retransmitted| {
            *(if spurious { &mut kinds.spurious } else { counter(kinds, kind) }) += 1;
            kinds.unseen_original += u64::from(unseen_original);
        };
        add(&mut self.facts.retransmitted);
        if let Some(transfer) = &mut self.transfer {
            add(&mut transfer.facts().retransmitted);
            transfer.facts().retransmitted_bytes += if spurious { 0 } else { bytes };
        }
    }

    /// Returns why a copy was sent, by the silence before it and what the sender knew; and whether
    /// the sender waited for a timer or probe.
    fn reason_of(&self, seg: &Seg, start: u64, end: u64, path: &PathEstimate) -> (RetransmitReason, bool) {
        let quiet = self.last_send.map_or(Nanos::ZERO, |(time, _)| seg.time - time);
        let rto = self.srtt.rto();
        // Whatever the silence: a copy right after an ACK was sent for that ACK.
        let prompted = self.since_send.released_at.is_some_and(|at| seg.time - at <= path.epsilon);
        let before_timer = prompted || quiet < rto.scale(0.9);
        // The RTO is unknown before the first RTT sample.
        let long = !prompted && quiet >= RTO_MIN.scale(0.95);
        let holes_known = self.scoreboard.highest().is_some_and(|top| top > end) || self.duplicate_acks > 0;
        let highest = self.snd_max.saturating_sub(end) <= 1;
        match self.recovery {
            // After an RTO everything outstanding is retransmitted as ACKs arrive (RFC 6298 section
            // 5.7).
            Recovery::Timeout(recover) if end <= recover && before_timer => (RetransmitReason::Timeout, long),
            // There is no probe during recovery (RFC 8985 section 7.2). Without SACK a partial ACK
            // tells of the next hole (RFC 6582), and RACK may mark a segment above all SACKs as
            // lost by time (RFC 8985 section 6.2).
            Recovery::Fast(recover) if end <= recover && before_timer => (RetransmitReason::Fast, false),
            _ if (self.duplicate_acks >= DUP_THRESH || holes_known) && before_timer => (RetransmitReason::Fast, false),
            _ if highest && self.is_tail_loss_probe(start, quiet, rto) => (RetransmitReason::TailProbe, true),
            _ if !before_timer || long => (RetransmitReason::Timeout, true),
            _ if highest && !prompted => (RetransmitReason::TailProbe, true),
            _ => (RetransmitReason::Fast, false),
        }
    }

    /// Returns whether this is a tail loss probe (RFC 8985 section 7.2). The probe comes after
    /// 2·SRTT, plus the longest ACK delay (200 ms) if only one segment is outstanding, and never
    /// later than the RTO. It needs SACK and is sent once, so the first copy of the highest segment
    /// after such a silence is the probe; after any silence if other segments are outstanding,
    /// because the timer sends the first of them. Without SACK it can only be one well before the
    /// RTO.
    fn is_tail_loss_probe(&self, start: u64, quiet: Nanos, rto: Nanos) -> bool {
        let again = self.retransmitted.covered(start, start + 1) > 0;
        let Some(srtt) = self.srtt.srtt() else {
            return false;
        };
        let alone = start <= self.snd_una;
        let probe = srtt.scale(2.0) + if alone { RTO_MIN } else { Nanos::ZERO };
        if self.sack_permitted {
            let in_time = !alone || quiet <= probe.max(rto).scale(1.25);
            !again && self.recovery == Recovery::None && in_time && quiet >= srtt.scale(1.2)
        } else {
            !alone && quiet < rto.scale(0.9)
        }
    }

    /// Removes `[start, end)` from the hole that it fills, and returns that hole.
    fn fill_hole(&mut self, start: u64, end: u64) -> Option<SequenceHole> {
        let index = self.holes.iter().position(|hole| hole.start < end && hole.end > start)?;
        let hole = self.holes[index];
        let before = SequenceHole { end: start, ..hole };
        let after = SequenceHole { start: end, ..hole };
        self.holes.remove(index);
        for rest in [after, before] {
            if rest.start < rest.end {
                self.holes.insert(index, rest);
            }
        }
        Some(hole)
    }

    /// Returns whether a segment is late and not retransmitted: its timestamp or IP ID is older
    /// than that of the segment that overtook it. Without these, time decides: a retransmission
    /// cannot come sooner than one RTT after the segment that overtook the lost one.
    fn is_reordered(&self, seg: &Seg, hole: &SequenceHole, path: &PathEstimate) -> bool {
        let late = seg.time - hole.time;
        let older_stamp = tsval(seg).zip(hole.tsval).map(|(this, next)| next.wrapping_sub(this) as i32);
        let older_id =
            seg.ip_id().zip(hole.ip_id).filter(|&(a, b)| a != 0 && b != 0).map(|(this, next)| next.wrapping_sub(this));
        let too_soon = late < path.rtt.unwrap_or(Nanos::from_millis(3)).scale(0.5);
        match older_stamp {
            Some(ticks) if ticks < 0 => false,
            Some(ticks) if ticks > 0 => true,
            // IP IDs of one flow rise by small steps on common stacks.
            _ => match older_id {
                Some(1..=64) => true,
                Some(65_472..=65_535) => false,
                _ => too_soon,
            },
        }
    }

    /// Inserts a late segment among those outstanding, so that its ACK is understood.
    fn insert_outstanding(&mut self, seg: &Seg, start: u64, end: u64) {
        let index = self.outstanding.partition_point(|sent| sent.start() < start);
        if index > 0 || self.outstanding.first().is_none_or(|front| front.start() > start) {
            let sent = OutstandingSegment { retransmitted: true, ..OutstandingSegment::new(seg, end, self.passed) };
            self.retransmit_end = self.retransmit_end.max(end);
            let before = index.checked_sub(1).and_then(|before| self.outstanding.get(before));
            let behind = self.outstanding.get(index);
            self.may_overlap |=
                before.is_some_and(|before| before.end > start) || behind.is_some_and(|next| next.start() < end);
            self.outstanding.insert(index, sent);
        }
    }

    /// Processes a D-SACK for `[left, right)` (RFC 2883). It reports the newest copy that has not
    /// been reported yet.
    pub(super) fn on_dsack(&mut self, left: u64, right: u64) {
        match self.retransmits.iter().rposition(|r| !r.dsacked && r.start < right && r.end > left) {
            Some(index) => {
                self.retransmits[index].dsacked = true;
                if !self.retransmits[index].spurious {
                    self.mark_spurious(index);
                }
            }
            None if self.retransmits.iter().any(|r| r.start < right && r.end > left) => {}
            None => self.facts.duplicated += 1,
        }
    }

    /// Eifel detection (RFC 3522): an ACK with a timestamp older than the retransmission's was sent
    /// for the original. Only for the first segment that it acknowledges, because the receiver
    /// echoes the first segment it had not yet acknowledged (RFC 7323 section 4.3), whichever came
    /// later.
    #[inline(never)]
    pub(super) fn check_eifel(&mut self, before: u64, ack: u64, echo: Option<u32>) {
        let Some(echo) = echo else {
            return;
        };
        for index in (0..self.retransmits.len()).rev().take(16) {
            let retransmit = self.retransmits[index];
            let Some((value, original)) = retransmit.tsval.zip(retransmit.previous_tsval) else {
                continue;
            };
            let told =
                !retransmit.spurious && retransmit.start <= before && (before + 1..=ack).contains(&retransmit.end);
            if told && echo == original && value.wrapping_sub(echo) as i32 > 0 {
                self.mark_spurious(index);
            }
        }
    }

    fn mark_spurious(&mut self, index: usize) {
        let Some(retransmit) = self.retransmits.get_mut(index) else {
            return;
        };
        retransmit.spurious = true;
        let (kind, bytes, stuck) = (retransmit.reason, retransmit.end - retransmit.start, retransmit.counted_stuck);
        if let Some(listed) = retransmit.listed_at.and_then(|place| self.facts.retransmissions.get_mut(place)) {
            listed.kind = RetransmissionKind::Spurious;
        }
        let recount = |kinds: &mut Retransmitted| {
            let count = counter(kinds, kind);
            if *count > 0 {
                *count -= 1;
                kinds.spurious += 1;
            }
        };
        recount(&mut self.facts.retransmitted);
        if let Some(transfer) = &mut self.transfer {
            recount(&mut transfer.facts().retransmitted);
            transfer.facts().spurious_fast += u64::from(kind == RetransmitReason::Fast);
            transfer.facts().stuck_large -= u64::from(stuck && transfer.facts().stuck_large > 0);
            let start = self.retransmits[index].start;
            if let Some(loss) = transfer.facts().losses.iter_mut().rev().find(|loss| loss.seq == start) {
                loss.spurious = true;
            }
            transfer.facts().retransmitted_bytes = transfer.facts().retransmitted_bytes.saturating_sub(bytes);
        }
    }

    /// Returns whether copies were sent after all of a transfer, and all of them were spurious.
    pub(super) fn is_tail_spurious(&self, transfer: &TransferFacts) -> bool {
        let whole = transfer.gaps.partition_point(|gap| gap.snd_max < transfer.seq.1);
        let Some(from) = transfer.gaps.get(whole).map(|gap| gap.start) else { return false };
        let mut copies = self
            .retransmits
            .iter()
            .filter(|retransmit| retransmit.time > from && retransmit.start < transfer.seq.1)
            .peekable();
        copies.peek().is_some() && copies.all(|retransmit| retransmit.spurious)
    }

    /// The spurious retransmissions remembered: when they were sent, and their first byte.
    pub(in crate::tcp) fn spurious_retransmits(&self) -> impl Iterator<Item = (Nanos, u64)> + '_ {
        self.retransmits
            .iter()
            .filter(|retransmit| retransmit.spurious)
            .map(|retransmit| (retransmit.time, retransmit.start))
    }
}
