//! Applies ACKs to the state of the sender that has received them.

use super::last_send::ReleasingAck;
use super::pending_acks::{Ack, AckArrival, AckFields};
use super::rtt::{FIRST_RTO, update_min};
use super::scoreboard::Recovery;
use super::transfer_recorder::AckOutcome;
use super::{PathEstimate, SenderState};
use crate::tcp::segment::{FrameRef, Seg};
use crate::wire::{Flags, SackBlocks};
use whyslow_units::{Nanos, Time};

/// The longest delay of an ACK (RFC 1122 section 4.2.3.2).
const PROMPT_ACK: Nanos = Nanos::from_millis(500);

/// Time from a segment to the ACK that covers it.
#[derive(Clone, Copy, Debug)]
enum AckDelay {
    Unknown,
    Exact(Nanos),
    /// The segment was recorded out of order, and its time was set to that of a later packet.
    AtLeast(Nanos),
}

impl SenderState {
    /// Applies the ACKs that the sender had when it sent `seg`. Next to the sender, these are all
    /// ACKs so far.
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
        let latest = seg.map_or(Time::MAX, |seg| seg.time);
        while let Some((first, fields)) = self.pending_acks.first() {
            let stamp = by.tsecr.filter(|_| first.has_timestamps);
            if !by.includes(first, stamp) {
                break;
            }
            // If several repeated ACKs are applied together, only the last one matters.
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

    /// Measures the round trip to the sender: it had the first `count` pending ACKs when it sent
    /// `seg`, and its TSecr identifies the last of them.
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
    pub(super) fn apply_pending_ack(&mut self, ack: &Ack, sack: &SackBlocks, at: Time, path: &PathEstimate) {
        self.apply_ack(ack, sack, at, path);
    }

    /// Applies one or several ACKs that repeat the state, the first at `since` and the last at
    /// `at`.
    #[inline(always)]
    pub(super) fn apply_repeated_ack(&mut self, since: Time, at: Time, place: FrameRef) {
        self.short_gap_limit = 0;
        self.round.on_ack(self.snd_una);
        self.since_send.emptied = self.snd_una >= self.snd_max;
        let release = ReleasingAck { frame: place, at, is_new: false, with_payload: true };
        self.since_send.on_release(release, self.window.right_edge);
        if let Some(transfer) = &mut self.transfer {
            transfer.on_acked_up_to(since, self.snd_una);
        }
    }

    /// Applies an ACK that reached the sender at time `at`.
    #[inline(always)]
    pub(super) fn apply_ack(&mut self, ack: &Ack, sack: &SackBlocks, at: Time, path: &PathEstimate) {
        let is_new = ack.fields.ack > self.snd_una;
        if !is_new && self.is_bulk_payload_ack(&ack.fields) {
            self.apply_repeated_ack(at, at, ack.arrival.frame_ref);
            return;
        }
        self.short_gap_limit = 0;
        let before =
            self.trace_notes.is_some().then_some((self.facts.duplicate_acks, self.facts.retransmitted.spurious));
        let rtt = if is_new {
            self.apply_new_ack(ack, sack, at, path)
        } else {
            self.apply_old_ack(*ack, sack, at);
            None
        };
        if let Some(before) = before {
            self.note_ack_applied(ack.arrival.frame_ref, at, rtt, before);
        }
    }

    /// Applies an ACK for new data and returns the RTT that it measures.
    #[inline(always)]
    fn apply_new_ack(&mut self, ack: &Ack, sack: &SackBlocks, at: Time, path: &PathEstimate) -> Option<Nanos> {
        let Ack { arrival, fields } = ack;
        let release = ReleasingAck { frame: arrival.frame_ref, at, is_new: true, with_payload: fields.with_payload };
        // The receiver cannot have delayed an ACK for longer than the time since the previous one;
        // before that, the network spaced the segments.
        let since_last = self.since_send.acked_at().map_or(Nanos(i64::MAX), |last| at - last);
        self.since_send.on_release(release, self.window.right_edge);
        if !self.scoreboard.sacked.is_empty() {
            // Before this ACK's own SACK blocks are recorded: they are above a hole that was not
            // reported before.
            self.note_healed_hole(fields.ack);
        }
        let mut delivered = fields.ack.saturating_sub(self.snd_una);
        if fields.sacks {
            delivered += self.update_scoreboard(fields.ack, sack, at);
        }
        let (delay, known) = self.advance_snd_una(ack, at);
        delivered -= known.min(delivered);
        let (rtt, late) = match delay {
            AckDelay::Exact(delay) if self.is_round_trip(delay, fields.with_payload, path) => {
                self.rtt_sample(delay, path)
            }
            AckDelay::AtLeast(delay) if self.is_round_trip(delay, fields.with_payload, path) => {
                (None, self.facts.ack_delay_min.map_or(Nanos::ZERO, |least| (delay - least).or_zero()))
            }
            _ => (None, Nanos::ZERO),
        };
        self.since_send.ack_late = late.min(since_last);
        self.since_send.emptied = self.snd_una >= self.snd_max;
        self.update_snd_wnd(fields, at);
        self.record_ack(ack, at, AckOutcome { delivered, rtt, late });
        rtt
    }

    /// Applies an ACK that covers no new data.
    #[inline(never)]
    fn apply_old_ack(&mut self, ack: Ack, sack: &SackBlocks, at: Time) {
        let Ack { arrival, fields } = ack;
        let edge = self.window.right_edge;
        let delivered = if fields.sacks { self.update_scoreboard(fields.ack, sack, at) } else { 0 };
        if !fields.with_payload {
            self.count_duplicate_ack(&fields);
        }
        let opened = self.update_snd_wnd(&fields, at);
        if opened || fields.with_payload || fields.sacks {
            self.since_send.window_update |= opened;
            self.since_send.emptied = self.snd_una >= self.snd_max;
            let release =
                ReleasingAck { frame: arrival.frame_ref, at, is_new: false, with_payload: fields.with_payload };
            self.since_send.on_release(release, edge);
        }
        self.record_ack(&ack, at, AckOutcome { delivered, ..AckOutcome::default() });
    }

    /// Records an ACK in the round and the transfer.
    #[inline(always)]
    fn record_ack(&mut self, ack: &Ack, at: Time, outcome: AckOutcome) {
        let Ack { arrival, fields } = ack;
        if fields.flags.0 & (Flags::ECE | Flags::SYN).0 == Flags::ECE.0 {
            self.note_ecn_echo(arrival.frame_ref, at);
        }
        self.round.on_ack(self.snd_una);
        if let Some(top) = self.scoreboard.sacked.highest() {
            self.round.on_sack(top);
        }
        if let Some(transfer) = &mut self.transfer {
            transfer.on_ack(at, fields.ack, outcome);
        }
    }

    /// Returns whether this is payload whose ACK repeats the state, as in the peer's bulk data.
    #[inline(always)]
    pub(super) fn is_bulk_payload_ack(&self, fields: &AckFields) -> bool {
        let same = fields.ack == self.snd_una
            && fields.window() == self.window.wnd
            && fields.window().map(|window| fields.ack + window) == self.window.right_edge;
        let plain = fields.flags.0 & (Flags::SYN | Flags::RST | Flags::ECE).0 == 0;
        same && plain
            && fields.with_payload
            && !fields.sacks
            && fields.window() != Some(0)
            && self.window.closed_since.is_none()
            && self.scoreboard.sacked.is_empty()
            && self.trace_notes.is_none()
    }

    #[inline(never)]
    fn note_ecn_echo(&mut self, place: FrameRef, at: Time) {
        self.facts.ecn_echoes += 1;
        if let Some(transfer) = &mut self.transfer {
            let facts = transfer.facts();
            facts.ecn_echoes += 1;
            facts.first_echo.get_or_insert((at, place.frame()));
        }
    }

    /// Returns whether the time from a segment to its ACK can be a round trip.
    ///
    /// A sender without an ACK retransmits when its timer expires (RFC 6298). So an ACK that comes
    /// later than that, for a segment that was sent once, followed another ACK that the capture
    /// lacks. An ACK with payload may have waited for its sender's next message; without payload,
    /// receivers delay ACKs by at most half a second (RFC 1122 section 4.2.3.2).
    #[inline(always)]
    fn is_round_trip(&self, delay: Nanos, with_payload: bool, path: &PathEstimate) -> bool {
        delay <= PROMPT_ACK || self.is_late_round_trip(delay, with_payload, path)
    }

    #[inline(never)]
    fn is_late_round_trip(&self, delay: Nanos, with_payload: bool, path: &PathEstimate) -> bool {
        if delay > self.srtt.longest_rto() {
            return false;
        }
        let least = self.facts.ack_delay_min.or_else(|| path.rtt.map(|rtt| (rtt - path.loop_to_sender).or_zero()));
        let delayed = least.map_or(FIRST_RTO, |least| least + PROMPT_ACK);
        !with_payload || delay <= delayed.max(self.srtt.rto())
    }

    /// Takes an RTT sample from an ACK that came `delay` after its segment. Returns the RTT, and
    /// the ACK's delay over the lowest one.
    #[inline(always)]
    fn rtt_sample(&mut self, delay: Nanos, path: &PathEstimate) -> (Option<Nanos>, Nanos) {
        let least = update_min(&mut self.facts.ack_delay_min, delay);
        let whole = delay + path.loop_to_sender;
        self.srtt.on_sample(whole);
        self.rtt.push(whole);
        (Some(whole), delay - least)
    }

    /// Advances SND.UNA. Returns the time from the newest covered segment to this ACK if it was
    /// sent only once (Karn's algorithm, RFC 6298 section 3), and how many of the bytes were
    /// already SACKed.
    #[inline(always)]
    fn advance_snd_una(&mut self, ack: &Ack, at: Time) -> (AckDelay, u64) {
        let Ack { arrival, fields } = ack;
        let before = std::mem::replace(&mut self.snd_una, fields.ack);
        self.scoreboard.duplicate_acks = 0;
        let known = self.scoreboard.acknowledge(fields.ack);
        let awaits_larger = self.segment_size.awaits_larger();
        let acknowledged = self.outstanding.acknowledge(fields.ack, awaits_larger);
        if awaits_larger {
            self.segment_size.note_acked(acknowledged.largest);
        }
        if self.retransmits.end > before {
            self.check_eifel(before, fields.ack, fields.tsecr);
        }
        let recovering = self.scoreboard.recovery != Recovery::None;
        if recovering {
            self.exit_recovery(fields.ack, at);
        }
        // While holes are filled, a cumulative ACK has the time when a hole was filled, and not
        // when its last byte arrived.
        let timed = !acknowledged.any_resent && !recovering && !arrival.time_clamped;
        let delay = acknowledged.newest.filter(|_| timed).map(|time| arrival.time.after(time));
        let delay = match delay {
            Some(delay) if acknowledged.is_clamped => AckDelay::AtLeast(delay),
            Some(delay) => AckDelay::Exact(delay),
            None => AckDelay::Unknown,
        };
        (delay, known)
    }

    /// Leaves recovery once everything that was outstanding at its start is acknowledged.
    #[inline(never)]
    fn exit_recovery(&mut self, ack: u64, at: Time) {
        match self.scoreboard.recovery {
            Recovery::Fast(recover) | Recovery::Timeout(recover) if ack >= recover => {
                if let (Recovery::Fast(_), Some(transfer)) = (self.scoreboard.recovery, &mut self.transfer) {
                    let recoveries = &mut transfer.facts().recoveries;
                    recoveries.count += 1;
                    recoveries.took += (at - self.scoreboard.recovery_start).or_zero();
                }
                self.scoreboard.recovery = Recovery::None;
                self.outstanding.may_overlap &= !self.outstanding.is_empty();
            }
            _ => {}
        }
    }

    /// Counts a SACK hole that closes up to `ack` without a retransmission.
    #[inline(never)]
    fn note_healed_hole(&mut self, ack: u64) {
        if self.scoreboard.heals(self.snd_una, ack) {
            self.facts.healed_holes += 1;
            if let Some(transfer) = &mut self.transfer {
                transfer.facts().healed_holes += 1;
            }
        }
    }

    /// Adds SACK blocks that reach the sender at time `at`. Returns the number of newly reported
    /// bytes.
    #[inline(never)]
    fn update_scoreboard(&mut self, ack: u64, blocks: &SackBlocks, at: Time) -> u64 {
        let mut new_bytes = 0;
        let highest = self.scoreboard.sacked.highest().unwrap_or(ack);
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
                self.segment_size.note_acked((right - left).min(self.mss()));
                new_bytes += self.scoreboard.sacked.insert(left, right);
            }
        }
        if let Some(top) = self.scoreboard.sacked.highest().filter(|top| *top > highest)
            && let Some(sent) = self.outstanding.send_time_of(top)
            && let Some(transfer) = &mut self.transfer
        {
            transfer.on_sack(at.after(sent));
        }
        new_bytes
    }

    /// Counts a duplicate ACK (RFC 5681 section 2): nothing new, no payload, same window, data
    /// outstanding.
    #[inline(never)]
    fn count_duplicate_ack(&mut self, fields: &AckFields) {
        let same_window = fields.window().is_none() || fields.window() == self.window.wnd;
        if fields.ack == self.snd_una
            && !fields.with_payload
            && !fields.flags.has(Flags::SYN)
            && !fields.flags.has(Flags::FIN)
            && self.snd_max > self.snd_una
            && (same_window || fields.sacks)
        {
            self.scoreboard.duplicate_acks += 1;
            self.facts.duplicate_acks += 1;
        }
    }
}

/// The ACKs that the sender had when it sent a segment; without a segment, all captured so far.
struct SenderKnowledge {
    /// The TSecr of the segment.
    tsecr: Option<u32>,
    /// Without timestamps: ACKs captured up to this time.
    until: Time,
}

impl SenderKnowledge {
    #[inline(always)]
    fn new(seg: Option<&Seg>, path: &PathEstimate) -> Self {
        match seg.filter(|_| !path.near) {
            None => Self { tsecr: None, until: Time::MAX },
            Some(seg) => Self { tsecr: seg.timestamps().map(|(_, echo)| echo), until: seg.time - path.ack_lag },
        }
    }

    /// Returns whether the sender had this ACK: the segment echoes the same or a newer timestamp,
    /// or otherwise the ACK is old enough. `stamp` is the ACK's timestamp, if both have timestamps.
    #[inline(always)]
    fn includes(&self, arrival: &AckArrival, stamp: Option<u32>) -> bool {
        let newer = stamp.map_or(0, |echo| arrival.tsval.wrapping_sub(echo) as i32);
        newer < 0 || (newer == 0 && arrival.time <= self.until)
    }
}

/// Returns whether the first SACK block is a D-SACK: it is below the ACK or inside the second block
/// (RFC 2883 section 4).
pub(in crate::tcp) fn reports_duplicate(first: (u64, u64), second: Option<(u64, u64)>, ack: u64) -> bool {
    first.1 <= ack || second.is_some_and(|second| second.0 <= first.0 && first.1 <= second.1)
}
