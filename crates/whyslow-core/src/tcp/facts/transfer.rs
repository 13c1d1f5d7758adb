//! One bulk of payload: its rounds, its pauses, what was lost of it, and the exchange that it is
//! part of.

use super::Retransmitted;
use crate::types::Frame;
use crate::units::{Nanos, SeqNumber, Time};

/// One contiguous bulk of payload.
#[derive(Clone, Debug, Default)]
pub struct TransferFacts {
    /// Sequence space, relative to the SYN (as Wireshark's relative numbers).
    pub seq: (u64, u64),
    /// First byte sent.
    pub start: Time,
    /// ACK of the last byte, as it reached the sender; the last segment where no ACK was seen.
    pub end: Time,
    /// Last segment that carried its bytes.
    pub last_send: Time,
    /// Of a text with packets left out: from where to where rounds and pauses are known; none where
    /// they all are.
    pub known_span: Option<(Time, Time)>,
    /// Whether its last byte was acknowledged in the capture.
    pub acknowledged: bool,
    /// First and last frame.
    pub frames: (Frame, Frame),
    /// Credit that a program of this side grants in mid-stream, what a server of TLS 1.3 sends
    /// unasked, or a farewell: it is no message, and told nowhere.
    pub is_housekeeping: bool,
    /// The other side's payload that it answers.
    pub answered: Option<PeerMessage>,
    /// Packets that its sender sent in the silence before it, as long as a timer's at least, and
    /// that never came to the capture point, by its IP numbers; 0 where they do not tell.
    pub missing_before: u32,
    /// Rounds, in order; far ones merged in pairs when there are very many.
    pub rounds: Vec<RoundFacts>,
    /// How many rounds there were before any merging.
    pub rounds_total: u64,
    /// Pauses longer than `gap_floor`, in order.
    pub gaps: Vec<Gap>,
    /// Pauses up to this long are counted in their rounds only.
    pub gap_floor: Nanos,
    /// Segments retransmitted during it.
    pub retransmitted: Retransmitted,
    /// Bytes in those of them that were needed.
    pub retransmitted_bytes: u64,
    /// Of the needless ones, those that answered SACKs: the receiver had reported a hole that
    /// closed by itself.
    pub spurious_fast: u64,
    /// Copies were sent when all of it had been sent, and the receiver had all that they carried.
    pub tail_is_spurious: bool,
    /// What had to be retransmitted: the first ones, in the order in which they were.
    pub losses: Vec<Loss>,
    /// Fast recoveries (RFC 6582) that came to their end.
    pub recoveries: Recoveries,
    /// Copies that answered duplicate ACKs and had to be sent once more.
    pub lost_retransmits: LostRetransmits,
    /// Segments as large as any that the timer retransmitted while none that large had ever been
    /// acknowledged.
    pub stuck_large: u64,
    /// Payload of the largest segment among those, bytes.
    pub stuck_size: u64,
    /// The first frames retransmitted.
    pub retransmitted_frames: Vec<Frame>,
    /// Segments that carried its payload.
    pub segments: u64,
    /// Late by reordering.
    pub out_of_order: u64,
    /// See [`DirectionFacts::healed_holes`](super::DirectionFacts::healed_holes).
    pub healed_holes: u64,
    /// Bytes never captured, though acknowledged or followed by later ones.
    pub unseen: u64,
    /// How often a small payload of the other side resumed it.
    pub peer_resumes: u64,
    /// Time in silences inside this message. That the parts around them are one message is inferred
    /// from their lengths.
    pub inferred_stalls: Nanos,
    /// The least time from the capture point to its sender and back that was known when it began.
    pub loop_at_start: Nanos,
    /// That was far from the truth: which ACKs the sender had, and how long round trips were, is in
    /// doubt.
    pub begun_blind: bool,
    /// ACKs that echoed congestion (ECE).
    pub ecn_echoes: u64,
    /// The first of them: when it reached the sender, and its frame.
    pub first_echo: Option<(Time, Frame)>,
    /// Segments by which the sender said that it had reduced its window (CWR), …
    pub reductions: u64,
    /// … and segments that passed the capture point with a congestion mark (CE).
    pub marked: u64,
    /// Time between ACKs that offered less than half of the largest window so far: the rest of the
    /// receiver's buffer held what its program had not read.
    pub window_low: Nanos,
    /// Most bytes in flight.
    pub max_in_flight: u64,
    /// Rates at which its segments passed the capture point.
    pub sent_rate: RateSpread,
    /// Rates at which it was acknowledged.
    pub acked_rate: RateSpread,
    /// The curve of what is known to have arrived: when (by the sender's clock), and how many bytes
    /// since its first point. At most 511 points, at equal distances in bytes.
    pub delivered: Vec<(Time, u64)>,
}

/// Fast recoveries of a transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recoveries {
    /// How many came to their end.
    pub count: u64,
    /// How long they took together.
    pub took: Nanos,
}

/// Copies of lost segments that were lost too.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LostRetransmits {
    /// How many.
    pub count: u64,
    /// What the waits for the next copies took.
    pub waited: Nanos,
    /// The first frames of these.
    pub frames: Vec<Frame>,
}

impl TransferFacts {
    /// Marks it as credit if it lies within what was `granted`, or as no message if it only answers
    /// that no more comes. `origin`: the number before its side's first byte.
    pub(in crate::tcp) fn note_credit(&mut self, granted: &[(SeqNumber, SeqNumber)], origin: SeqNumber) {
        let (start, end) = (origin + self.seq.0 as u32, origin + self.seq.1 as u32);
        self.is_housekeeping |= self.answered.is_some_and(|asked| asked.is_farewell)
            || granted.iter().any(|&(from, to)| start.distance(from) >= 0 && to.distance(end) >= 0);
    }

    /// Adds what was counted of the bytes behind it. Rounds, pauses, rates and the curve are the
    /// recorder's.
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

    /// The first copy of its first bytes never came to the capture point: it had begun before it
    /// seems to.
    pub fn begins_lost(&self) -> bool {
        self.losses.iter().any(|loss| loss.unseen && loss.seq <= self.seq.0)
    }

    /// Payload bytes.
    pub fn bytes(&self) -> u64 {
        self.seq.1.saturating_sub(self.seq.0)
    }

    /// When the last new bytes were sent, if all that was sent behind them was copies of what had
    /// arrived: these were waited for by nobody.
    pub fn spurious_tail_start(&self) -> Option<Time> {
        let first = self.gaps.partition_point(|gap| gap.snd_max < self.seq.1);
        self.gaps.get(first).filter(|gap| self.tail_is_spurious && gap.release == Release::Timer).map(|gap| gap.start)
    }

    /// Its first rounds are not known.
    pub fn is_start_unknown(&self) -> bool {
        self.known_span.is_some_and(|(from, _)| from > self.start)
    }

    /// For how long its rounds and pauses are known.
    pub fn known_for(&self) -> Nanos {
        self.known_span.map_or(self.duration(), |(from, until)| (until - from).or_zero())
    }

    /// Index of the round in which the byte before sequence number `seq` was first sent.
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

    /// Index of the first round in which something was retransmitted; behind the last where nothing
    /// was.
    pub fn first_retransmit_round(&self) -> usize {
        self.rounds.iter().position(|round| round.retransmitted > 0).unwrap_or(self.rounds.len())
    }

    /// From the message that it answers, or else from its first byte, to its end.
    pub fn waited(&self) -> Nanos {
        (self.end - self.answered.map_or(self.start, |asked| asked.first.min(self.start))).or_zero()
    }

    /// From its first byte to the ACK of its last.
    pub fn duration(&self) -> Nanos {
        (self.end - self.start).or_zero()
    }
}

/// A request and its answer, or a push. The transfers are told by their places in
/// [`DirectionFacts::transfers`](super::DirectionFacts::transfers); times are the client's, as what
/// it sends passes the capture point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExchangeFacts {
    /// The client's transfer; none where the server spoke unasked, or the request was part of an
    /// earlier one.
    pub request: Option<usize>,
    /// The server's transfer; none where there is none (yet).
    pub answer: Option<usize>,
    /// The first byte of the request, or else of the push.
    pub start: Time,
    /// When the client had all of the answer; without one, when its request was acknowledged.
    pub end: Time,
    /// What the client took before the request, since the exchange before it or the handshake; none
    /// where that is not known.
    pub before: Option<Nanos>,
    /// What the server took between request and answer, beside the path; none without both, or
    /// where the path is not known.
    pub server: Option<Nanos>,
}

impl ExchangeFacts {
    /// For how long its user waited.
    pub fn wait(&self) -> Nanos {
        (self.end - self.start).or_zero()
    }
}

/// A message of the other side's that was answered, as it passed the capture point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeerMessage {
    /// Its first segment.
    pub first: Time,
    /// Its last.
    pub last: Time,
    /// Payload bytes.
    pub bytes: u64,
    /// First and last frame.
    pub frames: (Frame, Frame),
    /// It said that no more comes.
    pub is_farewell: bool,
}

/// A segment, or a copy of one, that had to be retransmitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loss {
    /// When it passed; where it never came, the segment before it.
    pub time: Time,
    /// The same; where it never came, when the segment behind it passed.
    pub until: Time,
    /// Its place in the sequence space.
    pub seq: u64,
    /// Payload bytes.
    pub bytes: u64,
    /// Payload bytes that had passed before it, copies included.
    pub passed_before: u64,
    /// It never came to the capture point.
    pub unseen: bool,
    /// It had arrived, as the receiver said later.
    pub spurious: bool,
}

/// One packet-timed round (or several, merged).
#[derive(Clone, Copy, Debug, Default)]
pub struct RoundFacts {
    /// First segment.
    pub start: Time,
    /// Last segment.
    pub last_send: Time,
    /// First frame.
    pub first_frame: Frame,
    /// Last frame.
    pub last_frame: Frame,
    /// New bytes.
    pub bytes: u64,
    /// Most in flight.
    pub in_flight: u64,
    /// Largest window.
    pub window: Option<u64>,
    /// Short pauses (up to the transfer's `gap_floor`) by what held the sender: nothing else than
    /// the ACK clock, …
    pub flowing: Nanos,
    /// … a full receive window, …
    pub window_full: Nanos,
    /// … loss recovery.
    pub recovering: Nanos,
    /// Segments retransmitted in it.
    pub retransmitted: u32,
    /// Least round-trip time measured in it.
    pub rtt: Option<Nanos>,
    /// By how much the ACK in it that came soonest was later than the soonest of all.
    pub ack_late: Option<Nanos>,
    /// Round trips of what arrived while segments before it were missing, by SACKs: how many, and
    /// all of them together.
    pub sacked: (u32, Nanos),
    /// How many rounds were merged in this one.
    pub merged: u32,
}

/// How alike the rates over successive equal amounts of bytes are, bits per second.
#[derive(Clone, Copy, Debug, Default)]
pub struct RateSpread {
    /// A tenth of them lie below.
    pub p10: f64,
    /// Median.
    pub p50: f64,
    /// A tenth of them lie above.
    pub p90: f64,
    /// How many there are.
    pub bins: u64,
}

/// What ended a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// An ACK, and the right edge had been reached (A1).
    WindowAck,
    /// An ACK, and the right edge had not been reached (A2).
    Ack,
    /// A window update (W).
    WindowUpdate,
    /// Payload from the other side (P).
    Peer,
    /// A retransmission timer or tail loss probe (T).
    Timer,
    /// Nothing that was seen (N).
    Nothing,
}

impl Gap {
    /// How late the releasing ACK was, if it was for all that was in flight: only then can a
    /// receiver have held it back in the hope of more (RFC 1122 section 4.2.3.2).
    pub fn lone_ack_late(&self) -> Nanos {
        if self.last_ack { self.ack_late } else { Nanos::ZERO }
    }
}

/// A pause between two sends.
#[derive(Clone, Copy, Debug)]
pub struct Gap {
    /// The send before it.
    pub start: Time,
    /// The send that ended it.
    pub end: Time,
    /// What ended it.
    pub release: Release,
    /// The window was closed: from when on (it may have opened and closed again), and for how long
    /// in all.
    pub closed: Option<(Time, Nanos)>,
    /// In loss recovery.
    pub recovering: bool,
    /// How much later than the least the releasing ACK was (a delayed ACK, or a queue).
    pub ack_late: Nanos,
    /// What had been sent before it, in the same space as the transfer's `seq`.
    pub snd_max: u64,
    /// Bytes in flight during it.
    pub in_flight: u64,
    /// Least room to the right edge during it; none when the window is unknown.
    pub window_room: Option<u64>,
    /// Payload length of the segment before it.
    pub before_len: u64,
    /// The segment before it was shorter than the MSS, or pushed (PSH) and short of a whole number
    /// of segments: the sender's buffer had run empty.
    pub app_limited: bool,
    /// Payload of the other side came with what ended it, or shortly before.
    pub with_peer_payload: bool,
    /// When the last payload of the other side in it reached the sender, if any did.
    pub peer_payload_at: Option<Time>,
    /// A tail loss probe ended it, or the timer with the highest segment: the end of a burst was
    /// lost.
    pub tail: bool,
    /// What ended it had been retransmitted before, for duplicate ACKs.
    pub lost_retransmit: bool,
    /// What ended it was no new data: the sender had it all along.
    pub is_retransmit: bool,
    /// Nothing was in flight any more when it ended.
    pub idle: bool,
    /// It ended with credit or housekeeping of the protocol, and no message of the transfer
    /// followed.
    pub ends_in_credit: bool,
    /// Bytes of either side between the two sends are not in the capture: the pause may be none, or
    /// an answer.
    pub unseen: bool,
    /// Packets that the sender sent between the two and that never came to the capture point, by
    /// its IP numbers, beside those that a hole in the sequence space shows; none where they do not
    /// tell.
    pub missing: Option<u32>,
    /// The same while the connection had shown too few numbers to tell, until its end: 0 by then.
    pub unsettled_missing: u32,
    /// How far apart the two were sent, by the sender's timestamps, a tick at most added; none
    /// without them.
    pub sent_apart: Option<Nanos>,
    /// The ACK that ended it left nothing outstanding.
    pub last_ack: bool,
    /// Payload length of the segment that ended it.
    pub after_len: u64,
    /// Frame before, frame after.
    pub frames: (Frame, Frame),
    /// The ACK that ended it.
    pub ack_frame: Option<Frame>,
}

#[cfg(test)]
impl Gap {
    /// One of which nothing is known but its times, to be changed as a test needs it.
    pub(crate) fn example(start: Time, end: Time) -> Self {
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
            unsettled_missing: 0,
            sent_apart: None,
            last_ack: false,
            after_len: 0,
            frames: Default::default(),
            ack_frame: None,
        }
    }
}
