//! One direction's data as its sender sees it: bytes in flight, windows, recovery, rounds and
//! pauses.
//!
//! An ACK is *received* when it passes the capture point, and *applied* when the sender can have
//! it: one loop from the capture point to the sender and back (`PathEstimate::loop_to_sender`)
//! later, or as soon as a segment's TSecr shows that the sender had it (RFC 7323 section 4.3: TSecr
//! names the newest in-order segment received). Next to the sender both happen at once.

pub(in crate::tcp) mod acks;
mod ip_id;
mod missing;
pub(in crate::tcp) mod outstanding;
pub(in crate::tcp) mod pauses;
pub(in crate::tcp) mod peer_payload;
mod pending_acks;
mod range_set;
mod retransmit;
mod retransmit_record;
mod rounds;
pub(in crate::tcp) mod rtt;
mod slice_queue;
mod transfer_recorder;
pub(in crate::tcp) mod turns;
mod window_scale;

use super::elided;
use super::facts::{DirectionFacts, TransferFacts};
use super::icmp_notices::ReportedMtu;
use super::segment::{FrameRef, Seg, TsvalSample, tsval};
use super::trace::TraceNotes;
use ip_id::{IpIdTracker, TsvalClock};
use outstanding::{OutstandingSegment, Recovery, SequenceHole, SinceSend};
use peer_payload::{PeerPayload, TurnTracker};
use range_set::RangeSet;
use retransmit_record::Retransmit;
use rtt::{Quantiles, SmoothedRtt};
use slice_queue::SliceQueue;
use transfer_recorder::TransferRecorder;
use window_scale::InferredScale;

use crate::types::Frame;
use crate::units::{Nanos, SeqNumber};
use crate::wire::Flags;
use pending_acks::{AckHeaderKey, PendingAcks};
use std::collections::VecDeque;

/// Most outstanding segments to remember (at 1,448 B more than 90 MB in flight).
const MAX_OUTSTANDING: usize = 65_536;
/// Most finished transfers to keep. Beyond that, the half that users waited for least is dropped.
const MAX_TRANSFERS: usize = 1024;
/// ECN bits of a packet with a congestion mark (RFC 3168 section 5).
const CONGESTION_EXPERIENCED: u8 = 0b11;
/// Every path carries segments of this size (RFC 9293 section 3.7.1). Where no MSS is negotiated, a
/// shorter segment holds all that its program wrote.
const DEFAULT_MSS: u64 = 536;
/// Paths that carry less than this are rare (IPv6 requires packets of 1,280 bytes, RFC 8200 section
/// 5). Where no MSS is negotiated, a shorter pushed segment is a message, even if no longer one was
/// seen.
const MIN_USUAL_MSS: u64 = 1_200;
/// Fewest RTT samples for a meaningful median of ACK delays.
const MIN_DELAYS: u64 = 50;
/// A sequence number farther than this from SND.MAX does not belong to the connection.
pub(super) const MAX_SEQ_DISTANCE: u32 = 1 << 30;

/// What is known of the path when a segment is processed.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PathEstimate {
    /// From the capture point to the data's sender and back.
    pub loop_to_sender: Nanos,
    /// "At once": max(1 ms, RTT/10).
    pub epsilon: Nanos,
    /// Minimum RTT of the whole path.
    pub rtt: Option<Nanos>,
    /// The sender is next to the capture point.
    pub near: bool,
    /// A sender that sends now has all ACKs that passed the capture point this long ago (the loop,
    /// less a small tolerance).
    pub ack_lag: Nanos,
}

impl PathEstimate {
    /// `toward` is the loop from the capture point to the data's sender; `rtt` is the RTT of the
    /// whole path.
    pub fn new(toward: Option<Nanos>, rtt: Option<Nanos>) -> Self {
        let toward_sender = toward.unwrap_or_default();
        let epsilon = Nanos::from_millis(1).max(rtt.unwrap_or_default().scale(0.1));
        let near = toward_sender <= epsilon && toward_sender <= Nanos::from_millis(1);
        let ago = toward_sender - (Nanos(toward_sender.0 / 50) + Nanos::from_micros(100));
        Self { loop_to_sender: toward_sender, epsilon, rtt, near, ack_lag: ago }
    }
}

/// One direction of a connection.
#[derive(Debug)]
pub(crate) struct SenderState {
    pub(super) isn: Option<SeqNumber>,
    /// Shift of the windows offered to this sender; `None` while unknown.
    pub snd_wscale: Option<u8>,
    /// What the windows themselves tell of the shift, if no SYN does.
    pub(super) inferred_scale: InferredScale,
    /// The negotiated MSS, once known, less 12 bytes if timestamps are in use.
    pub(super) negotiated_mss: Option<u64>,
    /// See [`mss`](Self::mss).
    effective_mss: u64,
    /// Both ends permit SACK.
    pub sack_permitted: bool,
    pub(super) largest_len: u64,
    pub facts: DirectionFacts,

    pub(super) snd_max: u64,
    /// Payload bytes that passed, retransmissions included.
    pub(super) passed: u64,
    pub(super) snd_una: u64,
    pub(super) snd_right_edge: Option<u64>,
    pub(super) snd_wnd: Option<u64>,
    pub(super) outstanding: SliceQueue<OutstandingSegment>,
    /// Whether outstanding segments may overlap.
    pub(super) may_overlap: bool,
    pub(super) holes: Vec<SequenceHole>,
    pub(super) scoreboard: RangeSet,
    pub(super) retransmitted: RangeSet,
    pub(super) retransmits: VecDeque<Retransmit>,
    /// End of the highest retransmission, or of the highest outstanding segment that was sent more
    /// than once or came late.
    pub(super) retransmit_end: u64,
    /// The same, of retransmissions whose original was not captured before them.
    pub(super) unseen_retransmit_end: u64,
    /// Waits for lost retransmissions are counted up to here.
    pub(super) lost_retransmit_counted_until: Nanos,
    pub(super) recovery: Recovery,
    pub(super) recovery_start: Nanos,
    pub(super) duplicate_acks: u32,
    pub(super) pending_acks: PendingAcks,
    /// The last ACK received, if it is pending, the next one may repeat it, and only plain segments
    /// were sent since.
    pub(super) repeatable_ack: Option<AckHeaderKey>,
    pub(super) last_send: Option<(Nanos, FrameRef)>,
    pub(super) last_send_len: u64,
    pub(super) app_limited: bool,
    /// The last send had PSH set.
    pub(super) last_send_pushed: bool,
    pub(super) flight_at_send: u64,
    pub(super) since_send: SinceSend,
    /// A pause shorter than this, in nanoseconds, needs no attention, because only plain sends of
    /// the next bytes have happened since [`update_on_send`](Self::update_on_send). Zero if
    /// anything else has.
    pub(super) short_gap_limit: u64,
    pub(super) zero_window_since: Option<Nanos>,
    /// Payload of the largest segment known to have arrived.
    pub(super) largest_acked_len: u64,
    pub(super) srtt: SmoothedRtt,
    /// RTT samples of the whole path from this direction's data.
    pub rtt: Quantiles,
    /// Lengths of rounds that an ACK ended at once: RTTs as the receiver's side sees them.
    pub round_lengths: Quantiles,
    /// How long recent ACKs took to reach the sender, where TSecr tells.
    pub(super) recent_loop_to_sender: Nanos,
    pub(super) fin_sent: Option<u64>,
    pub(super) fin_time: Nanos,
    pub fin_acked: bool,

    pub(super) ip_ids: IpIdTracker,
    pub(super) tsval_clock: TsvalClock,
    pub(super) last_tsval: TsvalSample,
    pub(super) transfer: Option<TransferRecorder>,
    pub(super) round_first_end: u64,
    pub(super) round_end: u64,
    pub(super) round_due: bool,
    /// The receiver's newest TSval captured so far.
    pub(super) newest_peer_tsval: Option<u32>,
    pub(super) round_start: Nanos,
    /// See [`Seg::time_clamped`].
    pub(super) round_start_clamped: bool,
    /// The peer's payload since this side's last send.
    pub(super) peer_payload: Option<PeerPayload>,
    /// SND.MAX when an ACK first covered all of it, and when that ACK passed the capture point.
    pub(super) all_acked_at: (u64, Nanos),
    pub(super) turns: TurnTracker,
    /// Bytes that were never captured, although they were acknowledged or followed by later ones.
    pub unseen_bytes: u64,
    pub unseen_stretches: u64,
    pub first_unseen: Option<Frame>,
    pub stray: u64,
    /// Packet sizes reported by ICMP errors.
    pub(super) reported_mtus: Vec<ReportedMtu>,
    /// Notes on each segment, if tracing is on.
    pub(super) trace_notes: Option<Box<TraceNotes>>,
}

impl Default for SenderState {
    fn default() -> Self {
        Self {
            isn: None,
            snd_wscale: None,
            inferred_scale: InferredScale::default(),
            negotiated_mss: None,
            effective_mss: DEFAULT_MSS,
            largest_len: 0,
            facts: DirectionFacts::default(),
            snd_max: 0,
            passed: 0,
            snd_una: 0,
            snd_right_edge: None,
            snd_wnd: None,
            outstanding: SliceQueue::default(),
            may_overlap: false,
            holes: Vec::new(),
            scoreboard: RangeSet::default(),
            retransmitted: RangeSet::default(),
            retransmits: VecDeque::new(),
            retransmit_end: 0,
            unseen_retransmit_end: 0,
            lost_retransmit_counted_until: Nanos::ZERO,
            recovery: Recovery::None,
            recovery_start: Nanos::ZERO,
            duplicate_acks: 0,
            pending_acks: PendingAcks::default(),
            repeatable_ack: None,
            last_send: None,
            last_send_len: 0,
            app_limited: false,
            last_send_pushed: false,
            flight_at_send: 0,
            since_send: SinceSend::default(),
            short_gap_limit: 0,
            zero_window_since: None,
            largest_acked_len: 0,
            srtt: SmoothedRtt::default(),
            rtt: Quantiles::default(),
            round_lengths: Quantiles::default(),
            recent_loop_to_sender: Nanos::ZERO,
            fin_sent: None,
            fin_time: Nanos::ZERO,
            fin_acked: false,
            ip_ids: IpIdTracker::default(),
            tsval_clock: TsvalClock::default(),
            last_tsval: TsvalSample::default(),
            transfer: None,
            round_first_end: 0,
            round_end: 0,
            round_due: false,
            newest_peer_tsval: None,
            sack_permitted: false,
            round_start: Nanos::ZERO,
            round_start_clamped: false,
            peer_payload: None,
            all_acked_at: (0, Nanos::ZERO),
            turns: TurnTracker::default(),
            unseen_bytes: 0,
            unseen_stretches: 0,
            first_unseen: None,
            stray: 0,
            reported_mtus: Vec::new(),
            trace_notes: None,
        }
    }
}

impl SenderState {
    /// The sender has measured its first RTT.
    pub fn on_handshake_rtt(&mut self, rtt: Nanos) {
        self.srtt.on_sample(rtt);
    }

    /// The MSS to count in: negotiated, or else the largest payload seen, between the default and
    /// Ethernet's.
    #[inline(always)]
    pub fn mss(&self) -> u64 {
        self.effective_mss
    }

    /// Something about the path has changed: pending ACKs may not have to wait any more.
    pub fn forget_repeatable_ack(&mut self) {
        self.repeatable_ack = None;
    }

    /// Sets the MSS that the SYNs, or later the path, have settled.
    pub fn on_mss_negotiated(&mut self, mss: Option<u64>) {
        self.repeatable_ack = None;
        self.negotiated_mss = mss;
        self.update_effective_mss();
        let bin = self.rate_bin();
        if let Some(transfer) = &mut self.transfer {
            transfer.set_rate_bin(bin);
        }
    }

    fn update_effective_mss(&mut self) {
        self.effective_mss = self.negotiated_mss.unwrap_or(self.largest_len.clamp(DEFAULT_MSS, 1460)).max(1);
    }

    #[inline(always)]
    fn note_segment_len(&mut self, len: u64) {
        if len > self.largest_len {
            self.largest_len = len;
            self.update_effective_mss();
        }
    }

    /// The bytes in one rate sample.
    #[inline(always)]
    pub(super) fn rate_bin(&self) -> u64 {
        10 * self.negotiated_mss.unwrap_or(1460)
    }

    /// Bytes in flight, as the sender counts them (RFC 6675's pipe).
    #[inline(always)]
    pub(super) fn in_flight(&self) -> u64 {
        let all = self.snd_max.saturating_sub(self.snd_una);
        if self.scoreboard.is_empty() && self.recovery == Recovery::None { all } else { self.pipe(all) }
    }

    #[inline(never)]
    fn pipe(&self, all: u64) -> u64 {
        let sacked = self.scoreboard.covered(self.snd_una, self.snd_max);
        let lost_below = match self.recovery {
            Recovery::Timeout(recover) => recover,
            _ => self.scoreboard.highest().unwrap_or(0).saturating_sub(3 * self.mss()),
        };
        let lost = if lost_below > self.snd_una {
            (lost_below - self.snd_una).saturating_sub(self.scoreboard.covered(self.snd_una, lost_below))
        } else {
            0
        };
        let resent = self.retransmitted.covered(self.snd_una, lost_below.max(self.snd_una)).min(lost);
        all.saturating_sub(sacked).saturating_sub(lost) + resent
    }

    /// Returns the least room to the right edge since the last send, including right after it;
    /// `None` while the edge is unknown.
    #[inline(always)]
    pub(super) fn min_window_room(&self) -> Option<u64> {
        self.since_send.min_right_edge.map(|edge| edge.saturating_sub(self.snd_max))
    }

    /// Returns the most bytes in flight so far.
    pub(super) fn max_in_flight(&self) -> u64 {
        self.transfer.as_ref().map_or(0, TransferRecorder::max_in_flight).max(self.facts.max_in_flight)
    }

    /// Moves SND.MAX to `end` without a captured send: for a FIN, or for bytes that were never
    /// captured. The room since the last send stays as it was.
    pub(super) fn advance_snd_max(&mut self, end: u64) {
        let more = end.saturating_sub(self.snd_max);
        self.snd_max += more;
        self.since_send.min_right_edge = self.since_send.min_right_edge.map(|edge| edge.saturating_add(more));
        self.short_gap_limit = 0;
    }

    pub(super) fn unwrap_seq(&self, number: SeqNumber) -> Option<u64> {
        let origin = self.isn?;
        let distance = number.distance(origin + self.snd_max as u32);
        if distance.unsigned_abs() > MAX_SEQ_DISTANCE {
            return None;
        }
        let place = self.snd_max.checked_add_signed(i64::from(distance));
        // One below the origin: the probe or keep-alive of a connection whose beginning was not
        // captured.
        Some(place.unwrap_or(0))
    }

    /// Processes a segment of the sender.
    #[inline(always)]
    pub fn on_segment(&mut self, seg: &Seg, path: &PathEstimate) -> bool {
        self.facts.packets += 1;
        let is_next = self.isn.is_some_and(|origin| seg.seq == origin + self.snd_max as u32);
        let is_plain = seg.flags.0 & (Flags::SYN | Flags::FIN | Flags::RST | Flags::CWR).0 == 0;
        if !(is_next && is_plain && self.trace_notes.is_none()) {
            return self.on_unusual_segment(seg, path);
        }
        // What nearly all segments are: what follows those before them.
        self.apply_acks(Some(seg), path);
        let start = self.snd_max;
        self.note_ip_id_and_tsval(seg, 0);
        let len = u64::from(seg.len);
        if len > 0 {
            self.note_segment_len(len);
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
            // Fast Open data (RFC 7413) follows the SYN's own number.
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
        self.note_segment_len(u64::from(seg.len));
        if seg.flags.has(Flags::FIN) {
            (self.fin_sent, self.fin_time) = (Some(end), seg.time);
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
            if self.fin_sent == Some(start) {
                self.on_fin_retransmit(seg, start);
            }
            (self.fin_sent, self.fin_time) = (Some(start), seg.time);
            self.advance_snd_max(start + 1);
        } else if start + 1 == self.snd_max && start < self.snd_una && seg.flags.has(Flags::ACK) {
            if self.snd_wnd == Some(0) {
                self.facts.window_probes += 1;
            } else {
                self.facts.keep_alives += 1;
            }
        }
    }

    #[inline(always)]
    fn on_new_data(&mut self, seg: &Seg, start: u64, end: u64, path: &PathEstimate) {
        if self.sent_plainly_since_update(seg) {
            self.snd_max = end;
            self.flight_at_send += end - start;
        } else {
            self.update_on_send(seg, start, end, path);
        }
        self.outstanding.push(OutstandingSegment::new(seg, end, self.passed));
        if self.outstanding.len() > MAX_OUTSTANDING {
            self.outstanding.drop_first(1);
        }
        if let Some(transfer) = &mut self.transfer {
            transfer.on_send(end, seg.time, self.flight_at_send);
        }
        if seg.flags.has(Flags::CWR) || seg.ecn == CONGESTION_EXPERIENCED {
            self.note_congestion(seg);
        }
        self.note_send(seg);
    }

    /// Whether nothing has come to pass since stock was taken but plain sends of the next bytes,
    /// this one included: the transfer and its round go on, in flight is what was sent since, the
    /// window is what it was.
    #[inline(always)]
    fn sent_plainly_since_update(&self, seg: &Seg) -> bool {
        self.last_send.is_some_and(|(last, _)| seg.time.since(last) < self.short_gap_limit)
            && !is_newer(seg, self.newest_peer_tsval)
    }

    #[cold]
    fn note_congestion(&mut self, seg: &Seg) {
        if let Some(transfer) = &mut self.transfer {
            transfer.facts().reductions += u64::from(seg.flags.has(Flags::CWR));
            transfer.facts().marked += u64::from(seg.ecn == CONGESTION_EXPERIENCED);
        }
    }

    /// New data begins at `start`, and not where what was sent before ends.
    #[inline(never)]
    pub(super) fn note_sequence_jump(&mut self, seg: &Seg, start: u64) {
        if start < self.snd_max {
            // Old bytes with new ones behind them: a retransmission that took more along.
            self.retransmitted.insert(start, self.snd_max);
            self.may_overlap = true;
            return;
        }
        if self.holes.len() < 4096 {
            let hole = SequenceHole {
                start: self.snd_max,
                end: start,
                time: seg.time,
                tsval: tsval(seg),
                ip_id: seg.ip_id(),
                previous_time: self.last_send.map_or(seg.time, |(time, _)| time),
                passed_before: self.passed,
            };
            self.holes.push(hole);
        }
        if let Some(transfer) = &mut self.transfer {
            transfer.facts().unseen += start - self.snd_max;
        }
        if let Recovery::Timeout(recover) = self.recovery {
            // What the timer has given up reaches as far: new bytes follow all of it (RFC 5682
            // section 2.1).
            self.recovery = Recovery::Timeout(recover.max(start));
        }
    }

    fn on_old_data(&mut self, seg: &Seg, start: u64, end: u64, path: &PathEstimate) {
        let Some(again) = self.on_retransmit(seg, start, end, path) else {
            return;
        };
        if self.transfer.is_none() {
            return;
        }
        if self.round_due {
            self.begin_round(seg, end);
            if let Some(transfer) = &mut self.transfer {
                transfer.next_round(seg.time, seg.frame(), self.last_send);
            }
        }
        self.end_gap(seg, false, Some(again), path);
        if let Some(transfer) = &mut self.transfer {
            transfer.on_retransmit(seg.time, seg.frame(), end - start);
        }
        self.reset_since_send();
        self.note_send(seg);
        // Of where the data ends it says nothing.
        self.last_send_pushed = true;
    }

    /// The other side sent new payload.
    #[inline(always)]
    pub fn on_peer_payload(&mut self, seg: &Seg) {
        self.short_gap_limit = 0;
        let (reached, since) = self.all_acked_at;
        let quiet = if reached == self.snd_max { seg.time - since } else { Nanos::ZERO };
        PeerPayload::add(&mut self.peer_payload, seg, || match (seg.ack(), self.isn) {
            (Some(ack), Some(origin)) => (ack.distance(origin + self.snd_max as u32) >= 0, quiet),
            _ => (true, quiet),
        });
    }

    #[inline(always)]
    fn note_send(&mut self, seg: &Seg) {
        self.ip_ids.reset_missing();
        self.last_tsval = seg.tsval_sample();
        self.last_send = Some((seg.time, seg.frame_ref));
        self.last_send_len = u64::from(seg.len);
        let mss = self.mss();
        let len = u64::from(seg.len);
        self.last_send_pushed = seg.flags.has(Flags::PSH);
        // Most are full segments.
        self.app_limited = if len == mss {
            self.last_send_pushed && self.negotiated_mss.is_none() && len < MIN_USUAL_MSS
        } else {
            len < mss || (self.last_send_pushed && !len.is_multiple_of(mss))
        };
    }

    /// Something was sent: what ACKs do from now on is told of the pause behind it.
    pub(super) fn reset_since_send(&mut self) {
        self.since_send = SinceSend {
            min_right_edge: self.snd_right_edge,
            closed_at: self.zero_window_since,
            ..SinceSend::default()
        };
    }

    /// Little more comes: what is in flight or waits at times needs no room for more of it.
    pub fn shrink_buffers(&mut self) {
        self.outstanding.shrink_to_fit();
        self.pending_acks.shrink_to_fit();
        self.retransmits.shrink_to_fit();
    }

    /// The transfer that goes on is over.
    pub(super) fn finish_transfer(&mut self) {
        self.close_open_transfers();
        if let Some(transfer) = self.transfer.take() {
            self.push_transfer(transfer, self.last_send);
        }
    }

    /// A transfer is over; `last` was its last segment.
    pub(super) fn push_transfer(&mut self, transfer: TransferRecorder, last: Option<(Nanos, FrameRef)>) {
        self.facts.transfers_total += 1;
        let mut transfer = transfer.finish(last);
        transfer.tail_is_spurious = self.is_tail_spurious(&transfer);
        self.facts.max_in_flight = self.facts.max_in_flight.max(transfer.max_in_flight);
        self.facts.transfers.push(transfer);
        if self.facts.transfers.len() > MAX_TRANSFERS {
            let mut lengths: Vec<_> = self.facts.transfers.iter().map(TransferFacts::waited).collect();
            let middle = lengths.len() / 2;
            let (_, &mut floor, _) = lengths.select_nth_unstable(middle);
            let mut spare = middle;
            self.facts.transfers.retain(|t| {
                let keep = t.waited() > floor || spare == 0;
                spare -= usize::from(!keep);
                keep
            });
        }
    }

    /// Nothing more comes: applies what is left and gives the account. `last`: the connection's
    /// last packet.
    pub fn finish(&mut self, last: Nanos, path: &PathEstimate) -> DirectionFacts {
        self.apply_acks(None, path);
        if let Some(since) = self.zero_window_since.take() {
            self.facts.zero_window += (last - since).or_zero();
        }
        self.end_turns();
        self.finish_transfer();
        // What the receiver waits for, or reports missing, was lost on the way.
        let reported = self.scoreboard.highest().unwrap_or(0);
        for hole in self.holes.iter().filter(|hole| hole.start != self.snd_una && hole.start >= reported) {
            elided::add(&mut self.facts.missing, (hole.previous_time, hole.time));
        }
        self.finalize_missing();
        let mut facts = std::mem::take(&mut self.facts);
        let top = self.snd_max.min(self.fin_sent.unwrap_or(u64::MAX));
        facts.bytes = top.saturating_sub(1);
        facts.unacknowledged = top.saturating_sub(self.snd_una.max(1));
        facts.mss = self.mss();
        (facts.largest_len, facts.largest_acked_len) = (self.largest_len, self.largest_acked_len);
        (facts.last_len, facts.last_unpushed) = (self.last_send_len, self.last_send_len > 0 && !self.last_send_pushed);
        facts.last_payload = self.last_send.map(|(time, place)| (time, place.frame()));
        if self.rtt.count() >= MIN_DELAYS {
            facts.ack_delay_p50 = self.rtt.at([0.5]).map(|[rtt]| (rtt - path.loop_to_sender).or_zero());
        }
        facts.scale_known = self.snd_wscale.is_some();
        facts
    }
}

/// Whether a segment echoes a newer timestamp than the newest that was captured.
#[inline(always)]
pub(super) fn is_newer(seg: &Seg, newest: Option<u32>) -> bool {
    match (newest, seg.timestamps()) {
        (Some(newest), Some((_, echo))) => echo.wrapping_sub(newest) as i32 > 0,
        _ => false,
    }
}
