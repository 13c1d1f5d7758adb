//! Segments with old bytes: whether they are retransmissions, and why they were sent.
//!
//! A copy of captured bytes is a retransmission, unless it is a window probe or a keep-alive; it is
//! spurious if the bytes were acknowledged long before. Bytes that fill a hole are either late
//! (reordered), or retransmitted after the original was lost before the capture point. The kind
//! depends on the sender's knowledge at that time: SACKs or duplicate ACKs (fast), silence as long
//! as its timer (timeout), or half of that for the highest segment (tail loss probe).

use super::outstanding::{OutstandingSegment, SequenceHole};
use super::retransmits::{Retransmit, RetransmitContext, RetransmitReason, counter};
use super::rtt::MIN_PROBE_TIMER;
use super::scoreboard::Recovery;
use super::{PathEstimate, SenderState};
use crate::tcp::facts::{Loss, Retransmission, Retransmitted};
use crate::tcp::segment::{Seg, tsval};
use whyslow_analysis::types::{Frame, MAX_RETRANSMISSIONS, RTO_MIN, RetransmissionKind};
use whyslow_units::{Nanos, Time};

/// This many duplicate ACKs indicate a loss (RFC 5681).
const DUP_THRESH: u32 = 3;

/// A segment of this size fits every path (RFC 879: 536; some tunnels allow less than 1,200).
const MAX_SMALL_SEGMENT: u64 = 1_000;
/// After this many timeouts, the last wait is longer than any sender's limit (RFC 6298 section 2.5:
/// at least 60 s; Linux 120 s).
const MAX_BACKOFFS: u32 = 10;
/// Maximum number of stored frames of lost retransmissions.
const MAX_LOST_RETRANSMIT_FRAMES: usize = 6;
/// Maximum number of stored losses of a transfer.
const MAX_LOSSES: usize = 2_048;

/// The previous copy of retransmitted bytes.
#[derive(Clone, Copy)]
struct PreviousCopy {
    /// Send time; or between this time and `until`.
    time: Time,
    until: Time,
    /// Payload bytes captured before it.
    passed_before: u64,
}

impl PreviousCopy {
    /// The uncaptured copy whose place is a hole.
    fn before(hole: &SequenceHole) -> Self {
        Self { time: hole.previous_time, until: hole.time, passed_before: hole.passed_before }
    }

    fn of(copy: &Retransmit) -> Self {
        Self { time: copy.time, until: copy.time, passed_before: copy.passed_before }
    }
}

impl SenderState {
    /// Processes data at or below SND.MAX. Returns the circumstances of the retransmission; `None`
    /// if it is not a retransmission or has no data.
    #[inline(never)]
    pub(super) fn on_retransmit(
        &mut self,
        seg: &Seg,
        start: u64,
        end: u64,
        path: &PathEstimate,
    ) -> Option<RetransmitContext> {
        if self.is_probe(seg, end) {
            return None;
        }
        let hole = self.outstanding.fill_hole(start, end);
        if hole.is_none() && self.had_no_room(start) {
            return Some(self.on_discarded(start, end));
        }
        if let Some(hole) = hole
            && self.is_reordered(seg, &hole, path)
        {
            self.on_reordered(seg, start, end, &hole);
            return None;
        }
        if hole.is_none() && self.is_late_original(seg, start, end) {
            return None;
        }
        let (reason, waited) = self.reason_of(seg, start, end, path);
        if self.is_for_reported_mtu(seg, (start, end), waited, path) {
            return None;
        }
        let earlier = self.retransmits.previous(start, end);
        let passes = end - start <= self.segment_size.largest_acked().max(MAX_SMALL_SEGMENT);
        let lost_copy = earlier.filter(|copy| copy.reason == RetransmitReason::Fast && !copy.spurious && passes);
        let (original, sent) = self.mark_retransmitted(start, end);
        let previous = hole.as_ref().map(PreviousCopy::before).or(earlier.as_ref().map(PreviousCopy::of)).or(sent);
        if hole.is_some() {
            self.insert_outstanding(seg, end);
        }
        let spurious = hole.is_none() && end <= self.snd_una;
        if !spurious {
            self.enter_recovery(reason, seg.time);
        }
        self.scoreboard.retransmitted.insert(start, end);
        let unseen = hole.is_some();
        let retransmit = Retransmit {
            start,
            end,
            time: seg.time,
            passed_before: self.passed,
            reason,
            tsval: tsval(seg),
            previous_tsval: original,
            unseen,
            spurious,
            counted_stuck: !spurious && !passes && reason == RetransmitReason::Timeout,
            dsacked: false,
            listed_at: self.list_retransmission(seg, start, reason.to_kind(spurious), unseen),
        };
        if !spurious {
            self.record_loss(&retransmit, previous, lost_copy.map(|copy| copy.time), seg.frame());
        }
        self.count_retransmit(reason, end - start, unseen, spurious);
        self.retransmits.push(retransmit);
        let tail = reason == RetransmitReason::TailProbe || (waited && end + 1 >= self.snd_max);
        Some(RetransmitContext {
            by_timer: waited,
            tail,
            lost_retransmit: lost_copy.is_some(),
            ..RetransmitContext::default()
        })
    }

    /// Returns whether the receiver had no room for the bytes from `start` on: since they were
    /// sent, its window has closed before them. A receiver discards data beyond its window (RFC
    /// 9293 section 3.10.7.4), so nothing was lost in the network.
    fn had_no_room(&self, start: u64) -> bool {
        let is_closed = self.window.wnd == Some(0) && self.window.closed_since.is_some();
        is_closed && start == self.snd_una && self.window.right_edge == Some(start)
    }

    /// Returns whether the sender retransmits these bytes in shorter segments because a router
    /// reported its MTU; then processes them.
    fn is_for_reported_mtu(&mut self, seg: &Seg, (start, end): (u64, u64), waited: bool, path: &PathEstimate) -> bool {
        if self.reported_mtus.is_empty() || self.scoreboard.recovery != Recovery::None {
            return false;
        }
        let Some(fits) = self.exceeded_reported_mtu(seg, (start, end), waited, path) else {
            return false;
        };
        self.on_mtu_retransmit(seg, start, end, fits.into());
        true
    }

    /// Processes a copy of bytes for which the receiver had no room: it is a window probe.
    fn on_discarded(&mut self, start: u64, end: u64) -> RetransmitContext {
        self.facts.window_probes += 1;
        self.mark_retransmitted(start, end);
        self.scoreboard.retransmitted.insert(start, end);
        RetransmitContext { no_room: true, ..RetransmitContext::default() }
    }

    /// Returns whether this is a window probe or a keep-alive; counts it.
    fn is_probe(&mut self, seg: &Seg, end: u64) -> bool {
        if seg.len > 1 {
            return false;
        }
        if end <= self.snd_una.max(1) {
            // One byte that was acknowledged long ago is a keep-alive (RFC 9293 section 3.8.4).
            self.facts.keep_alives += 1;
            return true;
        }
        let is_probe = self.is_window_closed();
        self.facts.window_probes += u64::from(is_probe);
        is_probe
    }

    /// Processes a reordered segment that fills `hole`.
    fn on_reordered(&mut self, seg: &Seg, start: u64, end: u64, hole: &SequenceHole) {
        let late = (seg.time - hole.time).or_zero();
        self.facts.out_of_order += 1;
        self.facts.reorder_extent = self.facts.reorder_extent.max(late);
        self.insert_outstanding(seg, end);
        if let Some(transfer) = &mut self.transfer {
            transfer.facts().out_of_order += 1;
            transfer.facts().unseen = transfer.facts().unseen.saturating_sub(end - start);
        }
    }

    /// Marks the outstanding segments that are retransmitted. Returns the first TSval of them, and
    /// the first segment.
    fn mark_retransmitted(&mut self, start: u64, end: u64) -> (Option<u32>, Option<PreviousCopy>) {
        let repeated = self.outstanding.mark_retransmitted(start, end);
        self.retransmits.raise_end(repeated.end);
        let copy = |sent: OutstandingSegment| PreviousCopy {
            time: sent.time,
            until: sent.time,
            passed_before: sent.passed_before,
        };
        (repeated.tsval, repeated.first.map(copy))
    }

    fn enter_recovery(&mut self, reason: RetransmitReason, time: Time) {
        match self.scoreboard.recovery {
            Recovery::None if reason == RetransmitReason::Fast => {
                self.scoreboard.recovery = Recovery::Fast(self.snd_max);
                self.scoreboard.recovery_start = time;
            }
            _ if reason == RetransmitReason::Timeout => self.scoreboard.recovery = Recovery::Timeout(self.snd_max),
            _ => {}
        }
    }

    /// Records that the previous copy of these bytes was lost; `lost_copy`: its send time, if it
    /// was a retransmission itself.
    fn record_loss(
        &mut self,
        copy: &Retransmit,
        previous: Option<PreviousCopy>,
        lost_copy: Option<Time>,
        frame: Frame,
    ) {
        let Some(transfer) = &mut self.transfer else { return };
        let facts = transfer.facts();
        let bytes = copy.end - copy.start;
        if let Some(PreviousCopy { time, until, passed_before }) = previous.filter(|_| facts.losses.len() < MAX_LOSSES)
        {
            let loss =
                Loss { time, until, seq: copy.start, bytes, passed_before, unseen: copy.unseen, spurious: false };
            facts.losses.push(loss);
        }
        if let Some(copied) = lost_copy {
            facts.lost_retransmits.count += 1;
            // Several waits may overlap.
            let since = self.retransmits.lost_counted_until.max(copied);
            facts.lost_retransmits.waited += (copy.time - since).or_zero();
            self.retransmits.lost_counted_until = self.retransmits.lost_counted_until.max(copy.time);
            if facts.lost_retransmits.frames.len() < MAX_LOST_RETRANSMIT_FRAMES {
                facts.lost_retransmits.frames.push(frame);
            }
        }
        if copy.counted_stuck {
            facts.stuck_large += 1;
            facts.stuck_size = facts.stuck_size.max(bytes);
        }
    }

    /// Processes data that was too long for the path and is sent again in segments of `fits` bytes.
    /// Nothing was lost, and the sender's window stays the same.
    #[cold]
    fn on_mtu_retransmit(&mut self, seg: &Seg, start: u64, end: u64, fits: u64) {
        if fits < self.mss() {
            self.on_mss_negotiated(Some(fits));
        }
        self.facts.retransmitted.fast += 1;
        self.list_retransmission(seg, start, RetransmissionKind::Fast, false);
        self.mark_retransmitted(start, end);
        self.scoreboard.retransmitted.insert(start, end);
    }

    /// Returns whether new bytes after a silence of an RTO are a retransmission whose original was
    /// not captured: IP IDs show that the sender has sent packets in between that fit no hole.
    #[inline]
    pub(super) fn as_unseen_retransmit(
        &mut self,
        seg: &Seg,
        start: u64,
        path: &PathEstimate,
    ) -> Option<RetransmitContext> {
        let (last, _) = self.last_send.at?;
        if seg.time.since(last) < MIN_PROBE_TIMER.0.cast_unsigned() {
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
        // A probe waits for two current RTTs, including queueing delay.
        let rtt = self.round_lengths.at([0.5]).map(|[median]| median).max(path.rtt)?;
        // In such a short time, IP IDs distinguish probes from other packets of the host only if no
        // other connection uses the same IDs.
        let short = quiet < RTO_MIN.scale(0.95) && !self.ip_ids.are_exclusive();
        if short || quiet < rtt.scale(2.0) {
            return None;
        }
        // One packet: a probe of the highest segment, or a timeout of the only one.
        let tail = missing == 1;
        let kind = if tail && self.is_tail_loss_probe(start, quiet, self.srtt.rto()) {
            RetransmitReason::TailProbe
        } else {
            RetransmitReason::Timeout
        };
        self.count_retransmit(kind, u64::from(seg.len), true, false);
        self.list_retransmission(seg, start, kind.to_kind(false), true);
        if kind == RetransmitReason::Timeout {
            // Until more is acknowledged. The next segment shows how much the sender considers
            // lost.
            self.scoreboard.recovery = Recovery::Timeout(start + u64::from(seg.len) + 1);
        }
        if let Some(transfer) = &mut self.transfer {
            transfer.on_unseen_retransmit(seg.frame());
        }
        let most = Some(self.max_timer_wait(missing));
        Some(RetransmitContext { by_timer: true, tail, max_timer_wait: most, ..RetransmitContext::default() })
    }

    /// Returns the longest time that a sender waits while it sends this many packets without
    /// success.
    pub(super) fn max_timer_wait(&self, packets: u32) -> Nanos {
        longest_wait(self.srtt.rto(), packets)
    }

    /// Processes a retransmitted FIN without payload. It occupies one sequence number and has no
    /// byte.
    pub(super) fn on_fin_retransmit(&mut self, seg: &Seg, start: u64) {
        let spurious = self.snd_una > start;
        let probe = self.is_tail_loss_probe(start, seg.time - self.fin.time, self.srtt.rto());
        let kind = if probe { RetransmitReason::TailProbe } else { RetransmitReason::Timeout };
        let kinds = &mut self.facts.retransmitted;
        *(if spurious { &mut kinds.spurious } else { counter(kinds, kind) }) += 1;
        self.scoreboard.retransmitted.insert(start, start + 1);
        let listed = self.list_retransmission(seg, start, kind.to_kind(spurious), false);
        self.retransmits.push(Retransmit {
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

    /// Returns whether this is the original, overtaken by its own retransmission: it is older than
    /// the captured copy.
    fn is_late_original(&mut self, seg: &Seg, start: u64, end: u64) -> bool {
        let Some(value) = tsval(seg) else {
            return false;
        };
        if start >= self.retransmits.unseen_end {
            return false;
        }
        let overtook = |r: &&mut Retransmit| {
            r.unseen
                && r.start < end
                && r.end > start
                && r.tsval.is_some_and(|copy| copy.wrapping_sub(value) as i32 > 0)
        };
        let Some(copy) = self.retransmits.list.iter_mut().rev().take(64).find(overtook) else {
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

    /// Returns why a copy was sent, by the silence before it and by the sender's knowledge; and
    /// whether the sender waited for a timer or probe.
    fn reason_of(&self, seg: &Seg, start: u64, end: u64, path: &PathEstimate) -> (RetransmitReason, bool) {
        let quiet = self.last_send.at.map_or(Nanos::ZERO, |(time, _)| seg.time - time);
        let rto = self.srtt.rto();
        // After any silence, a copy immediately after an ACK was triggered by that ACK.
        let prompted = self.since_send.released_at.is_some_and(|at| seg.time - at <= path.epsilon);
        let before_timer = prompted || quiet < rto.scale(0.9);
        // The RTO is unknown before the first RTT sample.
        let long = !prompted && quiet >= RTO_MIN.scale(0.95);
        let holes_known =
            self.scoreboard.sacked.highest().is_some_and(|top| top > end) || self.scoreboard.duplicate_acks > 0;
        let highest = self.snd_max.saturating_sub(end) <= 1;
        match self.scoreboard.recovery {
            // After an RTO everything outstanding is retransmitted as ACKs arrive (RFC 6298 section
            // 5.7).
            Recovery::Timeout(recover) if end <= recover && before_timer => (RetransmitReason::Timeout, long),
            // There is no probe during recovery (RFC 8985 section 7.2). Without SACK a partial ACK
            // indicates the next hole (RFC 6582), and RACK may mark a segment above all SACKs as
            // lost by time (RFC 8985 section 6.2).
            Recovery::Fast(recover) if end <= recover && before_timer => (RetransmitReason::Fast, false),
            _ if (self.scoreboard.duplicate_acks >= DUP_THRESH || holes_known) && before_timer => {
                (RetransmitReason::Fast, false)
            }
            _ if highest && self.is_tail_loss_probe(start, quiet, rto) => (RetransmitReason::TailProbe, true),
            _ if !before_timer || long => (RetransmitReason::Timeout, true),
            _ if highest && !prompted => (RetransmitReason::TailProbe, true),
            _ => (RetransmitReason::Fast, false),
        }
    }

    /// Returns whether this is a tail loss probe (RFC 8985 section 7.2). The probe comes after
    /// 2·SRTT, plus the longest ACK delay (200 ms) if only one segment is outstanding, and never
    /// later than the RTO. It needs SACK and is sent once, so the first copy of the highest segment
    /// after such a silence is the probe. This holds for any silence if other segments are
    /// outstanding, because the timer sends the first of them. Without SACK it can be a probe only
    /// if it comes well before the RTO.
    fn is_tail_loss_probe(&self, start: u64, quiet: Nanos, rto: Nanos) -> bool {
        let again = self.scoreboard.retransmitted.covered(start, start + 1) > 0;
        let Some(srtt) = self.srtt.srtt() else {
            return false;
        };
        let alone = start <= self.snd_una;
        let probe = srtt.scale(2.0) + if alone { RTO_MIN } else { Nanos::ZERO };
        if self.sack_permitted {
            let in_time = !alone || quiet <= probe.max(rto).scale(1.25);
            !again && self.scoreboard.recovery == Recovery::None && in_time && quiet >= srtt.scale(1.2)
        } else {
            !alone && quiet < rto.scale(0.9)
        }
    }

    /// Returns whether a segment is reordered and not retransmitted: its timestamp or IP ID is
    /// older than that of the segment that overtook it. Without these, time decides: a
    /// retransmission cannot come sooner than one RTT after the segment that overtook the lost one.
    fn is_reordered(&self, seg: &Seg, hole: &SequenceHole, path: &PathEstimate) -> bool {
        let late = seg.time - hole.time;
        let older_stamp = tsval(seg).zip(hole.tsval).map(|(this, next)| next.wrapping_sub(this) as i32);
        let older_id =
            seg.ip_id().zip(hole.ip_id).filter(|&(a, b)| a != 0 && b != 0).map(|(this, next)| next.wrapping_sub(this));
        let too_soon = late < path.rtt.unwrap_or(Nanos::from_millis(3)).scale(0.5);
        match older_stamp {
            Some(ticks) if ticks < 0 => false,
            Some(ticks) if ticks > 0 => true,
            // IP IDs of one flow increase by small steps on common stacks.
            _ => match older_id {
                Some(1..=64) => true,
                Some(65_472..=65_535) => false,
                _ => too_soon,
            },
        }
    }

    /// Inserts a late segment that ends at `end` into the outstanding ones.
    fn insert_outstanding(&mut self, seg: &Seg, end: u64) {
        if self.outstanding.insert(OutstandingSegment::new(seg, end, self.passed)) {
            self.retransmits.raise_end(end);
        }
    }
}

/// Returns the longest time in which a timer of `rto` sends this many packets without success: each
/// wait doubles (RFC 6298 section 5.5), and the first packet was sent immediately.
pub(super) fn longest_wait(rto: Nanos, packets: u32) -> Nanos {
    rto.scale(f64::from((1u32 << packets.min(MAX_BACKOFFS)) - 1))
}
