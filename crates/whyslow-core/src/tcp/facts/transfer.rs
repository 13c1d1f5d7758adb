//! A bulk of payload: its rounds, pauses and losses, and its exchange.

use super::Retransmitted;
use whyslow_analysis::types::Frame;
use whyslow_units::{Nanos, SeqNumber, Time};

/// One contiguous bulk of payload.
#[derive(Clone, Debug, Default)]
pub struct TransferFacts {
    /// Relative sequence numbers of its start and end (as in Wireshark).
    pub seq: (u64, u64),
    /// Time of the first byte.
    pub start: Time,
    /// Time when the ACK of the last byte reached the sender; without an ACK, time of the last
    /// segment.
    pub end: Time,
    /// Time of the last segment with its bytes.
    pub last_send: Time,
    /// For a text with omitted packets: the time range in which rounds and pauses are known; `None`
    /// if all are known.
    pub known_span: Option<(Time, Time)>,
    /// Whether its last byte was acknowledged in the capture.
    pub acknowledged: bool,
    /// First and last frame.
    pub frames: (Frame, Frame),
    /// The transfer is not a message and not reported: flow-control credit in mid-stream, session
    /// tickets of a TLS 1.3 server, or a closing message.
    pub is_housekeeping: bool,
    /// The other side's message that it answers.
    pub answered: Option<PeerMessage>,
    /// Packets that the sender sent during a long silence before the transfer (at least a
    /// retransmission timeout) and that did not reach the capture point, by IP IDs; 0 if these do
    /// not show it.
    pub missing_before: u32,
    /// Rounds, in order; merged in pairs if there are very many.
    pub rounds: Vec<RoundFacts>,
    /// Number of rounds before merging.
    pub rounds_total: u64,
    /// Pauses longer than `gap_floor`, in order.
    pub pauses: Vec<SendPause>,
    /// Pauses up to this length are only counted in their rounds.
    pub gap_floor: Nanos,
    /// Retransmissions during the transfer.
    pub retransmitted: Retransmitted,
    /// Bytes of the necessary retransmissions.
    pub retransmitted_bytes: u64,
    /// Spurious retransmissions that were sent after SACKs: the receiver had reported a hole that
    /// closed without them.
    pub spurious_fast: u64,
    /// Whether segments were retransmitted after all new data, although the receiver had
    /// everything.
    pub tail_is_spurious: bool,
    /// Lost segments: the first ones, in the order of retransmission.
    pub losses: Vec<Loss>,
    /// Completed fast recoveries (RFC 6582).
    pub recoveries: Recoveries,
    /// Retransmissions after duplicate ACKs that had to be repeated.
    pub lost_retransmits: LostRetransmits,
    /// Timeouts of segments with the largest size, while no segment of this size had been
    /// acknowledged.
    pub stuck_large: u64,
    /// Largest payload of these segments, bytes.
    pub stuck_size: u64,
    /// Frames of the first retransmissions.
    pub retransmitted_frames: Vec<Frame>,
    /// Segments with its payload.
    pub segments: u64,
    /// Segments that were reordered.
    pub out_of_order: u64,
    /// See [`DirectionFacts::healed_holes`](super::DirectionFacts::healed_holes).
    pub healed_holes: u64,
    /// Bytes that were not captured, although acknowledged or followed by later ones.
    pub unseen: u64,
    /// Number of times that a small payload of the other side resumed the transfer.
    pub peer_resumes: u64,
    /// Total silence inside this message, if only lengths suggest that the parts around them are
    /// one message.
    pub inferred_stalls: Nanos,
    /// Lowest round trip from the capture point to its sender that was known at its start.
    pub loop_at_start: Nanos,
    /// That value was far too low: it is uncertain which ACKs the sender had, and how long the
    /// round trips were.
    pub begun_blind: bool,
    /// ACKs with an ECN echo (ECE).
    pub ecn_echoes: u64,
    /// The first of them: the time when it reached the sender, and its frame.
    pub first_echo: Option<(Time, Frame)>,
    /// Segments in which the sender signalled a reduced window (CWR), …
    pub reductions: u64,
    /// … and segments that passed the capture point with a congestion mark (CE).
    pub marked: u64,
    /// Time between ACKs that offered less than half of the largest window so far: the receiving
    /// application had not read the rest of the buffer.
    pub window_low: Nanos,
    /// Maximum bytes in flight.
    pub max_in_flight: u64,
    /// Rates at which its segments passed the capture point.
    pub sent_rate: RateSpread,
    /// Rates at which ACKs covered it.
    pub acked_rate: RateSpread,
    /// The delivery curve: times by the sender's clock, and the delivered bytes since the first
    /// point. At most 511 points, at equal distances in bytes.
    pub delivered: Vec<(Time, u64)>,
}

/// Fast recoveries of a transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recoveries {
    /// Number of completed ones.
    pub count: u64,
    /// Their total duration.
    pub took: Nanos,
}

/// Retransmissions that were lost too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LostRetransmits {
    /// Their number.
    pub count: u64,
    /// Total wait for the next copies.
    pub waited: Nanos,
    /// Frames of the first ones.
    pub frames: Vec<Frame>,
}

impl TransferFacts {
    /// Marks the transfer as flow-control credit if it lies within `granted`, or as a closing
    /// message. `origin`: the sequence number before its side's first byte.
    pub(in crate::tcp) fn note_credit(&mut self, granted: &[(SeqNumber, SeqNumber)], origin: SeqNumber) {
        let (start, end) = (origin + self.seq.0 as u32, origin + self.seq.1 as u32);
        self.is_housekeeping |= self.answered.is_some_and(|request| request.is_close_notify)
            || granted.iter().any(|&(from, to)| start.distance(from) >= 0 && to.distance(end) >= 0);
    }

    /// Adds the counters of the bytes that follow. The recorder merges rounds, pauses, rates and
    /// the curve.
    pub(in crate::tcp) fn absorb(&mut self, more: Self) {
        self.seq.1 = more.seq.1;
        self.end = self.end.max(more.end);
        (self.last_send, self.acknowledged) = (more.last_send, more.acknowledged);
        self.frames.1 = more.frames.1;
        self.retransmitted.add(&more.retransmitted);
        self.retransmitted_bytes += more.retransmitted_bytes;
        self.spurious_fast += more.spurious_fast;
        self.losses.extend(more.losses);
        self.recoveries.count += more.recoveries.count;
        self.recoveries.took += more.recoveries.took;
        self.lost_retransmits.count += more.lost_retransmits.count;
        self.lost_retransmits.waited += more.lost_retransmits.waited;
        self.lost_retransmits.frames.extend(more.lost_retransmits.frames);
        self.tail_is_spurious = more.tail_is_spurious;
        self.stuck_large += more.stuck_large;
        self.stuck_size = self.stuck_size.max(more.stuck_size);
        self.retransmitted_frames.extend(more.retransmitted_frames);
        self.segments += more.segments;
        self.out_of_order += more.out_of_order;
        self.healed_holes += more.healed_holes;
        self.unseen += more.unseen;
        self.peer_resumes += more.peer_resumes;
        self.inferred_stalls += more.inferred_stalls;
        self.ecn_echoes += more.ecn_echoes;
        self.first_echo = self.first_echo.or(more.first_echo);
        self.reductions += more.reductions;
        self.marked += more.marked;
        self.window_low += more.window_low;
        self.max_in_flight = self.max_in_flight.max(more.max_in_flight);
    }

    /// Whether the first copy of its first bytes did not reach the capture point, so that it began
    /// earlier than captured.
    pub fn begins_lost(&self) -> bool {
        self.losses.iter().any(|loss| loss.unseen && loss.seq <= self.seq.0)
    }

    /// Payload bytes.
    pub fn bytes(&self) -> u64 {
        self.seq.1.saturating_sub(self.seq.0)
    }

    /// Time of the last new bytes, if everything sent after them was spurious retransmissions. No
    /// side waited for these.
    pub fn spurious_tail_start(&self) -> Option<Time> {
        let first = self.pauses.partition_point(|gap| gap.snd_max < self.seq.1);
        self.pauses.get(first).filter(|gap| self.tail_is_spurious && gap.release == Release::Timer).map(|gap| gap.start)
    }

    /// Whether its first rounds are unknown.
    pub fn is_start_unknown(&self) -> bool {
        self.known_span.is_some_and(|(from, _)| from > self.start)
    }

    /// Length of the time range in which its rounds and pauses are known.
    pub fn known_for(&self) -> Nanos {
        self.known_span.map_or(self.duration(), |(from, until)| (until - from).or_zero())
    }

    /// Index of the round in which the byte before `seq` was first sent.
    pub fn round_of(&self, seq: u64) -> Option<usize> {
        if self.is_start_unknown() {
            return None;
        }
        let mut sent = self.seq.0;
        self.rounds.iter().position(|round| {
            sent += round.bytes;
            seq <= sent
        })
    }

    /// Index of the first round with a retransmission; the number of rounds if there is none.
    pub fn first_retransmit_round(&self) -> usize {
        self.rounds.iter().position(|round| round.retransmitted > 0).unwrap_or(self.rounds.len())
    }

    /// Time from the message that it answers, or from its first byte, to its end.
    pub fn waited(&self) -> Nanos {
        (self.end - self.answered.map_or(self.start, |request| request.first.min(self.start))).or_zero()
    }

    /// Time from its first byte to the ACK of its last.
    pub fn duration(&self) -> Nanos {
        (self.end - self.start).or_zero()
    }
}

/// A request and its response, or a push. Transfers are given as indices in
/// [`DirectionFacts::transfers`](super::DirectionFacts::transfers). Times are the client's: packets
/// that it sends have their capture times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExchangeFacts {
    /// The client's transfer; `None` if the server sent unrequested data, or if the request was
    /// part of an earlier transfer.
    pub request: Option<usize>,
    /// The server's transfer; `None` if there is none so far.
    pub answer: Option<usize>,
    /// Time of the first byte of the request, or of the push.
    pub start: Time,
    /// Time when the client had the complete response; without one, when its request was
    /// acknowledged.
    pub end: Time,
    /// Client time before the request, since the previous exchange or the handshake; `None` if
    /// unknown.
    pub before: Option<Nanos>,
    /// Server time between request and response, without the network; `None` without both, or if
    /// the round trip is unknown.
    pub server: Option<Nanos>,
}

impl ExchangeFacts {
    /// How long the user waited.
    pub fn wait(&self) -> Nanos {
        (self.end - self.start).or_zero()
    }
}

/// The other side's message that a transfer answers, with capture times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeerMessage {
    /// Time of its first segment.
    pub first: Time,
    /// Time of its last segment.
    pub last: Time,
    /// Payload bytes.
    pub bytes: u64,
    /// First and last frame.
    pub frames: (Frame, Frame),
    /// Whether it announced that no more data follows.
    pub is_close_notify: bool,
}

/// A segment, or a copy of one, that had to be retransmitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loss {
    /// Its capture time; if it was not captured, that of the segment before it.
    pub time: Time,
    /// Its capture time; if it was not captured, that of the segment after it.
    pub until: Time,
    /// Its relative sequence number.
    pub seq: u64,
    /// Payload bytes.
    pub bytes: u64,
    /// Payload bytes captured before it, retransmissions included.
    pub passed_before: u64,
    /// Whether it did not reach the capture point.
    pub unseen: bool,
    /// Whether it had arrived, as the receiver reported later.
    pub spurious: bool,
}

/// A round that begins when the ACK of the first segment of the previous one arrives (or several
/// such rounds, merged).
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundFacts {
    /// Time of the first segment.
    pub start: Time,
    /// Time of the last segment.
    pub last_send: Time,
    /// First frame.
    pub first_frame: Frame,
    /// Last frame.
    pub last_frame: Frame,
    /// New bytes.
    pub bytes: u64,
    /// Maximum bytes in flight.
    pub in_flight: u64,
    /// Largest receive window.
    pub window: Option<u64>,
    /// Short pauses (up to the transfer's `gap_floor`), by the reason why the sender waited: only
    /// for ACKs, …
    pub flowing: Nanos,
    /// … for a larger receive window, …
    pub window_full: Nanos,
    /// … or in loss recovery.
    pub recovering: Nanos,
    /// Segments retransmitted in it.
    pub retransmitted: u32,
    /// Lowest round-trip time measured in it.
    pub rtt: Option<Nanos>,
    /// Delay of its least delayed ACK, compared with the least delayed of all.
    pub ack_late: Option<Nanos>,
    /// Round trips measured by SACKs of segments that arrived after a hole: number, and sum.
    pub sacked: (u32, Nanos),
    /// Number of merged rounds.
    pub merged: u32,
}

/// Distribution of the rates over successive equal amounts of bytes, bits per second.
#[derive(Clone, Copy, Debug, Default)]
pub struct RateSpread {
    /// 10th percentile.
    pub p10: f64,
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// Number of rates.
    pub bins: u64,
}

/// The event that ended a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// An ACK; the sender had reached the right edge of the window (A1).
    WindowAck,
    /// An ACK; the sender had not reached the right edge of the window (A2).
    Ack,
    /// A window update (W).
    WindowUpdate,
    /// Payload from the other side (P).
    Peer,
    /// A retransmission timer or tail loss probe (T).
    Timer,
    /// No captured event (N).
    Nothing,
}

impl SendPause {
    /// Delay of the releasing ACK, if it covered all data in flight: only then the receiver may
    /// have delayed it (RFC 1122 section 4.2.3.2).
    pub fn lone_ack_late(&self) -> Nanos {
        if self.last_ack { self.ack_late } else { Nanos::ZERO }
    }
}

/// A pause between two sends.
#[derive(Clone, Copy, Debug)]
pub struct SendPause {
    /// Time of the send before it.
    pub start: Time,
    /// Time of the send that ended it.
    pub end: Time,
    /// The event that ended it.
    pub release: Release,
    /// The window was closed: since when (it may have opened in between), and for how long in
    /// total.
    pub closed: Option<(Time, Nanos)>,
    /// Whether it was in loss recovery.
    pub recovering: bool,
    /// Delay of the releasing ACK over the lowest round trip (a delayed ACK, or a queue).
    pub ack_late: Nanos,
    /// Highest sequence number sent before it, like the transfer's `seq`.
    pub snd_max: u64,
    /// Bytes in flight during it.
    pub in_flight: u64,
    /// Minimum distance to the window's right edge during it; `None` if the window is unknown.
    pub window_room: Option<u64>,
    /// Payload length of the segment before it.
    pub before_len: u64,
    /// The send buffer had run empty: the segment before it was shorter than the MSS, or it had PSH
    /// and was not a multiple of the MSS.
    pub app_limited: bool,
    /// Payload of the other side came with the releasing packet, or shortly before.
    pub with_peer_payload: bool,
    /// Time when the last payload of the other side within the pause reached the sender, if any.
    pub peer_payload_at: Option<Time>,
    /// A tail loss probe ended it, or a timeout of the highest segment: the end of a burst was
    /// lost.
    pub tail: bool,
    /// The segment that ended it had been retransmitted before, after duplicate ACKs.
    pub lost_retransmit: bool,
    /// A retransmission ended it: the sender already had the data.
    pub is_retransmit: bool,
    /// Nothing was in flight when it ended.
    pub idle: bool,
    /// It ended with flow-control credit or housekeeping, and no message of the transfer followed.
    pub ends_in_credit: bool,
    /// Bytes of either side between the two sends were not captured: they may include other sends
    /// or a response.
    pub unseen: bool,
    /// Packets that the sender sent between the two sends and that did not reach the capture point,
    /// by IP IDs. Does not include those that a hole in the sequence numbers shows. `None` if
    /// unknown.
    pub missing: Option<u32>,
    /// The same while too few IP IDs of the connection were known to rely on them; 0 at its end.
    pub missing_while_unproven: u32,
    /// Time between the two sends by the sender's timestamps, plus at most a tick; `None` without
    /// timestamps.
    pub sent_apart: Option<Nanos>,
    /// The ACK that ended it acknowledged everything outstanding.
    pub last_ack: bool,
    /// Payload length of the segment that ended it.
    pub after_len: u64,
    /// Frames of the two sends.
    pub frames: (Frame, Frame),
    /// Frame of the ACK that ended it.
    pub ack_frame: Option<Frame>,
}

#[cfg(any(test, feature = "unstable"))]
impl SendPause {
    /// A pause with only times, to be changed as a test needs it.
    pub fn example(start: Time, end: Time) -> Self {
        Self {
            start,
            end,
            release: Release::Nothing,
            closed: None,
            recovering: false,
            ack_late: Nanos::ZERO,
            snd_max: 0,
            in_flight: 0,
            window_room: None,
            before_len: 0,
            app_limited: false,
            with_peer_payload: false,
            peer_payload_at: None,
            tail: false,
            lost_retransmit: false,
            is_retransmit: false,
            idle: false,
            ends_in_credit: false,
            unseen: false,
            missing: None,
            missing_while_unproven: 0,
            sent_apart: None,
            last_ack: false,
            after_len: 0,
            frames: Default::default(),
            ack_frame: None,
        }
    }
}
