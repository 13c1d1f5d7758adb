//! One direction's data from its sender's view: bytes in flight, windows, recovery, rounds and
//! pauses.
//!
//! An ACK is *received* when it passes the capture point, and *applied* when it has reached the
//! sender: one round trip from the capture point to the sender later
//! (`PathEstimate::loop_to_sender`), or as soon as a segment's TSecr shows that the sender had it
//! (RFC 7323 section 4.3: TSecr echoes the newest in-order segment received). Next to the sender
//! both times are equal.

pub(in crate::tcp) mod acks;
pub(super) mod apply_acks;
mod ip_id;
mod last_send;
mod missing;
pub(in crate::tcp) mod outstanding;
pub(in crate::tcp) mod pauses;
pub(in crate::tcp) mod peer_payload;
mod pending_acks;
mod range_set;
mod rate_meter;
mod retransmit;
mod retransmits;
mod round_clock;
mod rounds;
pub(in crate::tcp) mod rtt;
mod scoreboard;
mod segment_size;
mod sends;
pub(in crate::tcp) mod silence;
mod slice_queue;
mod snd_window;
mod spurious;
mod stalls;
mod transfer_recorder;
pub(in crate::tcp) mod turns;
mod window_scale;
mod window_updates;

use super::elided;
use super::facts::{DirectionFacts, ResponseFacts, TransferFacts};
use super::icmp_notices::ReportedMtu;
use super::segment::FrameRef;
use super::trace::TraceNotes;
use ip_id::{IpIdTracker, TsvalClock};
use last_send::{LastSend, SinceSend};
use outstanding::Outstanding;
use peer_payload::{PeerPayload, TurnTracker};
use pending_acks::{AckHeaderKey, PendingAcks};
use retransmits::Retransmits;
use round_clock::RoundClock;
use rtt::{Quantiles, SmoothedRtt};
use scoreboard::Scoreboard;
use segment_size::SegmentSize;
use snd_window::SndWindow;
use transfer_recorder::TransferRecorder;
use whyslow_analysis::types::Frame;
use whyslow_units::{Nanos, SeqNumber, Time};

/// Maximum number of stored finished transfers. Beyond that, the half with the shortest waits is
/// dropped.
const MAX_TRANSFERS: usize = 1024;
/// If the measured round trip to the sender later proves to be shorter by more than this factor, it
/// was not that of the path: without a full queue, a path's round trip varies less.
const BLIND_FACTOR: f64 = 2.0;
const BLIND_MARGIN: Nanos = Nanos::from_millis(5);
/// Minimum number of RTT samples for a meaningful median of ACK delays.
const MIN_DELAYS: u64 = 50;
/// A sequence number farther than this from SND.MAX does not belong to the connection.
pub(super) const MAX_SEQ_DISTANCE: u32 = 1 << 30;

/// Estimates of the path when a segment is processed.
#[derive(Clone, Copy, Debug, Default)]
pub struct PathEstimate {
    /// Round trip from the capture point to the data's sender.
    pub loop_to_sender: Nanos,
    /// Times up to this count as immediate: max(1 ms, RTT/10).
    pub epsilon: Nanos,
    /// Minimum RTT of the whole path.
    pub rtt: Option<Nanos>,
    /// Whether the sender is next to the capture point.
    pub near: bool,
    /// A sender that sends now has all ACKs that passed the capture point at least this long ago
    /// (the round trip minus a small tolerance).
    pub ack_lag: Nanos,
}

impl PathEstimate {
    /// `toward`: the round trip from the capture point to the data's sender; `rtt`: the RTT of the
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
#[derive(Clone, Debug, Default)]
pub struct SenderState {
    pub facts: DirectionFacts,

    // Unwrapped sequence numbers, in which the ISN is 0 and the first byte is 1.
    pub(in crate::tcp) isn: Option<SeqNumber>,
    pub(in crate::tcp) snd_max: u64,
    pub(in crate::tcp) snd_una: u64,
    /// Captured payload bytes, retransmissions included.
    pub(in crate::tcp) passed: u64,
    segment_size: SegmentSize,
    fin: Fin,

    pub(in crate::tcp) window: SndWindow,
    pub(in crate::tcp) outstanding: Outstanding,
    scoreboard: Scoreboard,
    pub(in crate::tcp) retransmits: Retransmits,
    /// Whether both ends permit SACK.
    pub sack_permitted: bool,
    pub(in crate::tcp) pending_acks: PendingAcks,
    /// The last ACK received, if it is pending, the next one may repeat it, and only plain segments
    /// were sent since.
    pub(in crate::tcp) repeatable_ack: Option<AckHeaderKey>,

    last_send: LastSend,
    since_send: SinceSend,
    /// A pause shorter than this, in nanoseconds, needs no processing, because only plain sends of
    /// consecutive bytes happened since [`update_on_send`](Self::update_on_send). Zero otherwise.
    pub(in crate::tcp) short_gap_limit: u64,
    round: RoundClock,
    pub(in crate::tcp) transfer: Option<TransferRecorder>,

    srtt: SmoothedRtt,
    /// RTT samples of the whole path, from this direction's data.
    pub rtt: Quantiles,
    /// Times from a request's first byte to the last byte of this direction's response.
    response_times: Option<Box<Quantiles>>,
    /// Lengths of rounds that an ACK ended immediately: RTTs as seen by the receiver's side.
    pub round_lengths: Quantiles,
    /// How long recent ACKs took to reach the sender, if TSecr shows it.
    pub(in crate::tcp) recent_loop_to_sender: Nanos,
    /// The receiver's newest captured TSval.
    pub(in crate::tcp) newest_peer_tsval: Option<u32>,
    pub(in crate::tcp) ip_ids: IpIdTracker,
    tsval_clock: TsvalClock,

    /// The peer's payload since this side's last send.
    peer_payload: Option<PeerPayload>,
    /// SND.MAX when an ACK first covered all of it, and the capture time of that ACK.
    all_acked_at: (u64, Time),
    /// Start and end of the last credit that this side sent.
    last_credit: (u64, u64),
    pub(in crate::tcp) turns: TurnTracker,

    pub unseen: UnseenBytes,
    /// Segments whose sequence numbers do not belong to the connection.
    pub stray: u64,
    /// Packet sizes reported by ICMP errors.
    pub(in crate::tcp) reported_mtus: Vec<ReportedMtu>,
    /// Notes on each segment, if tracing is on.
    pub(in crate::tcp) trace_notes: Option<Box<TraceNotes>>,
}

/// The sender's FIN.
#[derive(Clone, Debug, Default)]
struct Fin {
    /// Its sequence number.
    sent: Option<u64>,
    /// Time of its last copy.
    time: Time,
}

/// Bytes that were not captured, although they were acknowledged or followed by later ones.
#[derive(Clone, Debug, Default)]
pub struct UnseenBytes {
    pub bytes: u64,
    pub stretches: u64,
    pub first: Option<Frame>,
}

impl SenderState {
    /// Records the sender's first RTT sample.
    pub fn on_handshake_rtt(&mut self, rtt: Nanos) {
        self.srtt.on_sample(rtt);
    }

    /// The MSS for calculations: negotiated, otherwise the largest captured payload, between the
    /// default and Ethernet's.
    #[inline(always)]
    pub fn mss(&self) -> u64 {
        self.segment_size.mss()
    }

    /// Ends repeats after the path estimate has changed: pending ACKs may be due now.
    pub fn forget_repeatable_ack(&mut self) {
        self.repeatable_ack = None;
    }

    /// Sets the MSS that the SYNs, or later path MTU discovery, have determined.
    pub fn on_mss_negotiated(&mut self, mss: Option<u64>) {
        self.repeatable_ack = None;
        self.segment_size.negotiate(mss);
        let bin = self.rate_bin();
        if let Some(transfer) = &mut self.transfer {
            transfer.set_rate_bin(bin);
        }
    }

    /// Bytes per rate sample.
    #[inline(always)]
    pub(super) fn rate_bin(&self) -> u64 {
        10 * self.segment_size.negotiated_or_usual()
    }

    /// Bytes in flight from the sender's view (RFC 6675's pipe).
    #[inline(always)]
    pub(super) fn in_flight(&self) -> u64 {
        self.scoreboard.pipe(self.snd_una, self.snd_max, self.mss())
    }

    /// Returns the least distance to the right edge since the last send, including immediately
    /// after it; `None` if the edge is unknown.
    #[inline(always)]
    pub(super) fn min_window_room(&self) -> Option<u64> {
        self.since_send.min_right_edge.map(|edge| edge.saturating_sub(self.snd_max))
    }

    /// Returns the most bytes in flight so far.
    pub(super) fn max_in_flight(&self) -> u64 {
        self.transfer.as_ref().map_or(0, TransferRecorder::max_in_flight).max(self.facts.max_in_flight)
    }

    /// Moves SND.MAX to `end` without a captured send: for a FIN, or for uncaptured bytes. Keeps
    /// the room since the last send.
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
        // One below the origin: a probe or keep-alive of a connection whose start was not captured.
        Some(place.unwrap_or(0))
    }

    /// Releases unused memory when little more data is expected.
    pub fn shrink_buffers(&mut self) {
        self.outstanding.shrink_to_fit();
        self.pending_acks.shrink_to_fit();
        self.retransmits.list.shrink_to_fit();
    }

    /// Finishes the current transfer.
    pub(super) fn finish_transfer(&mut self) {
        self.join_over_silences(false);
        self.close_open_transfers();
        if let Some(transfer) = self.transfer.take() {
            self.push_transfer(transfer, self.last_send.at);
        }
    }

    /// Stores a finished transfer; `last` was its last segment.
    pub(super) fn push_transfer(&mut self, transfer: TransferRecorder, last: Option<(Time, FrameRef)>) {
        self.facts.transfers_total += 1;
        let mut transfer = transfer.finish(last);
        transfer.tail_is_spurious = self.is_tail_spurious(&transfer);
        self.facts.max_in_flight = self.facts.max_in_flight.max(transfer.max_in_flight);
        if let Some(asked) = transfer.answered.filter(|_| !transfer.is_housekeeping) {
            let times = self.response_times.get_or_insert_default();
            times.push((transfer.last_send - asked.first).or_zero());
        }
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

    /// Ends the direction: applies the remaining ACKs and returns the facts. `last`: the
    /// connection's last packet.
    pub fn finish(&mut self, last: Time, path: &PathEstimate) -> DirectionFacts {
        self.apply_acks(None, path);
        if let Some(since) = self.window.closed_since.take() {
            self.facts.zero_window += (last - since).or_zero();
        }
        self.end_turns();
        self.finish_transfer();
        // Data that the receiver waits for, or reports missing, was lost in the network.
        let reported = self.scoreboard.sacked.highest().unwrap_or(0);
        for hole in self.outstanding.holes().filter(|hole| hole.start != self.snd_una && hole.start >= reported) {
            elided::add(&mut self.facts.missing, (hole.previous_time, hole.time));
        }
        self.finalize_missing(path);
        let most = path.loop_to_sender.scale(BLIND_FACTOR) + BLIND_MARGIN;
        for transfer in &mut self.facts.transfers {
            transfer.begun_blind = transfer.loop_at_start > most;
        }
        let mut facts = std::mem::take(&mut self.facts);
        let top = self.snd_max.min(self.fin.sent.unwrap_or(u64::MAX));
        facts.bytes = top.saturating_sub(1);
        facts.unacknowledged = top.saturating_sub(self.snd_una.max(1));
        facts.mss = self.mss();
        (facts.largest_len, facts.largest_acked_len) = (self.segment_size.largest(), self.segment_size.largest_acked());
        (facts.last_len, facts.last_unpushed) = (self.last_send.len, self.last_send.len > 0 && !self.last_send.pushed);
        facts.last_payload = self.last_send.at.map(|(time, place)| (time, place.frame()));
        if self.rtt.count() >= MIN_DELAYS {
            facts.ack_delay_p50 = self.rtt.at([0.5]).map(|[rtt]| (rtt - path.loop_to_sender).or_zero());
        }
        facts.response_times = self.response_times.as_ref().and_then(|times| {
            let [p50, p95] = times.at([0.5, 0.95])?;
            Some(ResponseFacts { count: times.count(), p50, p95 })
        });
        facts.scale_known = self.window.scale.is_some();
        facts
    }
}
