//! Upper bounds for the time that any cause can have cost a short connection, without tracking its
//! segments as [`sender`](super::sender) does.
//!
//! Most connections of a large capture are of this kind and have nothing to report: a request and a
//! response in one flight, captured completely and in order, or only one side of that. No bound is
//! lower than the result of tracking the segments; other connections have no bounds.

use super::buffering::Buffering;
use super::connection::{Connection, Stage};
use super::exchanges;
use super::handshake::Negotiated;
use super::payload::PayloadKind;
use super::segment::Seg;
use super::sender::MAX_SEQ_DISTANCE;
use super::sender::peer_payload::{PeerPayload, PreviousTransfer, TurnOutcome};
use super::sender::rtt::{FIRST_RTO, OLD_FIRST_RTO};
use super::vantage::VantageEstimator;
use crate::wire::Flags;
use std::net::IpAddr;
use whyslow_analysis::types::Side;
use whyslow_units::{Nanos, SeqNumber, Time};

/// Shorter pauses are ignored: times up to a millisecond count as immediate.
const MIN_PAUSE: Nanos = Nanos::from_millis(1);

/// Bounds for a connection whose payload was sent once and in order, each transfer in a single
/// round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShortConnectionBounds {
    /// Only one side was captured, so the reason for its waits is unknown.
    pub one_direction: bool,
    /// Longest time from a transfer's first segment to its last.
    pub max_sending: Nanos,
    /// Number of pauses between its segments.
    pub pauses: u64,
    /// Upper bound for the delay of the ACK of a transfer's last byte over the minimum RTT.
    pub max_ack_late: Nanos,
    /// Longest time from the end of a request to its response, at the capture point.
    pub max_answer: Nanos,
    /// Number of transfers of the side that has more.
    pub transfers: u64,
    /// Largest payload of a transfer, in segments of the negotiated MSS, rounded up.
    pub largest_transfer_segments: u64,
    /// Time of the handshake beyond the minimum RTT.
    pub handshake_late: Nanos,
    /// Whether an end may have been waiting when the capture ended: the requester sent last, some
    /// data was not acknowledged, the server sent RST before any payload, or the SYN was refused,
    /// or it was unanswered for as long as its sender would wait.
    pub may_be_awaited: bool,
}

/// A client that has not retransmitted its SYN by then has given up: the first timeout is one
/// second (RFC 6298 section 2.1), three on older systems (RFC 1122 section 4.2.3.1).
pub const INITIAL_SYN_TIMERS: [Nanos; 2] = [FIRST_RTO, OLD_FIRST_RTO];

impl Connection {
    /// Returns the bounds, if it is a connection of this kind. It has no more packets before
    /// `until`. The endpoints are those of side A and side B.
    pub fn short_connection_bounds(
        &self,
        until: Time,
        endpoints: &[(IpAddr, u16); 2],
    ) -> Option<ShortConnectionBounds> {
        let Stage::Buffering(held) = &self.stage else { return None };
        let handshake = self.opening.facts();
        let has_notices = self.rare.as_ref().is_some_and(|rare| rare.notices.total > 0);
        if handshake.retries != [0, 0]
            || held.has_zero_window
            || has_notices
            || self.bad_checksums_mean_damage() != [false; 2]
        {
            return None;
        }
        let negotiated = Negotiated::of(&handshake);
        let client = self.client();
        let requester = exchanges::requester(client, endpoints[!client].1);
        let mut scan = ShortConnectionScan::new(negotiated.mss.unwrap_or(1460), requester);
        scan.scan(held)?;
        let brief = scan.bounds(handshake.rtt());
        let waits = brief.may_be_awaited || (brief.transfers == 0 && self.waits_for_opening(until));
        Some(ShortConnectionBounds { one_direction: self.is_one_direction(), may_be_awaited: waits, ..brief })
    }

    /// Returns whether a connection without payload, except on a RST (RFC 9293 section 3.5.3), was
    /// reset by the server or has an unanswered SYN.
    fn waits_for_opening(&self, until: Time) -> bool {
        let opened = !self.opening.has_syn() || self.opening.syn_ack.is_some();
        let silence = until - self.last;
        let awaited = !opened && INITIAL_SYN_TIMERS[0] < silence && silence <= INITIAL_SYN_TIMERS[1];
        let refused = self.reset.is_some_and(|reset| reset.from != self.client());
        awaited || refused
    }
}

/// State of one pass over a connection.
struct ShortConnectionScan {
    mss: u64,
    /// The side that sends requests: the other side's time before a response counts.
    requester: Side,
    estimator: VantageEstimator,
    senders: [DirectionScan; 2],
    /// Payload of the largest transfer.
    largest: u64,
    bounds: ShortConnectionBounds,
}

/// State of one direction's data.
#[derive(Clone, Copy, Default)]
struct DirectionScan {
    /// SND.NXT.
    next: Option<SeqNumber>,
    acked: Option<SeqNumber>,
    /// The receiver's newest timestamp.
    newest_peer_tsval: Option<u32>,
    last_send: Option<Time>,
    /// Minimum time from the last segment sent to an ACK of new bytes.
    min_delay: Option<Nanos>,
    /// Longest time from a transfer's last segment to the ACK of all of it.
    max_ack_wait: Nanos,
    transfers: u64,
    transfer: Option<TransferScan>,
    peer_payload: Option<PeerPayload>,
}

/// The current transfer.
#[derive(Clone, Copy)]
struct TransferScan {
    start: Time,
    first: SeqNumber,
    bytes: u64,
    /// Whether some of it was acknowledged, and whether all of it was.
    acked: (bool, bool),
}

impl ShortConnectionScan {
    fn new(mss: u64, requester: Side) -> Self {
        Self {
            mss,
            requester,
            estimator: VantageEstimator::default(),
            senders: [DirectionScan::default(); 2],
            largest: 0,
            bounds: ShortConnectionBounds::default(),
        }
    }

    /// Returns `None` for other kinds of connections.
    fn scan(&mut self, held: &Buffering) -> Option<()> {
        let mut steps = held.advances();
        while let Some((seg, has_sack)) = steps.next() {
            if seg.time_clamped() || has_sack {
                return None;
            }
            self.estimator.observe_times(&seg);
            if let Some(ack) = seg.ack() {
                self.senders[!seg.from()].acked(&seg, ack)?;
            }
            if !seg.flags.has(Flags::RST) {
                self.sent(&seg)?;
            }
        }
        Some(())
    }

    fn sent(&mut self, seg: &Seg) -> Option<()> {
        let sender = &mut self.senders[seg.from()];
        let syn = seg.flags.has(Flags::SYN);
        // Whether a response after a greeting is another transfer is not examined here.
        if (syn && (seg.len > 0 || seg.flags.has(Flags::FIN))) || seg.kind == PayloadKind::BehindGreeting {
            return None;
        }
        let next = *sender.next.get_or_insert(seg.seq);
        if seg.seq_len() == 0 {
            return Some(());
        }
        // A SYN that an earlier ACK revealed has a lower sequence number than expected.
        let expected = seg.seq == next || (syn && seg.seq + 1 == next);
        if !expected {
            return None;
        }
        sender.next = Some(seg.seq + seg.seq_len());
        if seg.len == 0 {
            return Some(());
        }
        // It echoes an ACK that was not captured.
        let unseen =
            seg.timestamps().zip(sender.newest_peer_tsval).is_some_and(|((_, echo), newest)| is_newer(echo, newest));
        if unseen {
            return None;
        }
        let turn = sender.begin_transfer(seg, self.mss)?;
        match &mut sender.transfer {
            Some(transfer) if turn.is_none() => {
                if transfer.acked.0 {
                    return None;
                }
                transfer.bytes += u64::from(seg.len);
                self.bounds.max_sending = self.bounds.max_sending.max(seg.time - transfer.start);
                let paused = sender.last_send.is_some_and(|last| seg.time - last > MIN_PAUSE);
                self.bounds.pauses += u64::from(paused);
            }
            transfer => {
                let bytes = u64::from(seg.len);
                *transfer = Some(TransferScan { start: seg.time, first: seg.seq, bytes, acked: (false, false) });
                sender.transfers += 1;
                self.bounds.transfers = self.bounds.transfers.max(sender.transfers);
                if let Some(asked) = turn.filter(|_| seg.from() != self.requester) {
                    self.bounds.max_answer = self.bounds.max_answer.max(seg.time - asked);
                }
            }
        }
        self.largest = self.largest.max(sender.transfer.map_or(0, |transfer| transfer.bytes));
        sender.last_send = Some(seg.time);
        self.senders[!seg.from()].peer_payload(seg);
        Some(())
    }

    fn bounds(&self, handshake: Option<Nanos>) -> ShortConnectionBounds {
        let toward = self.estimator.toward;
        let there_and_back = toward[0].zip(toward[1]).map(|(one, two)| one + two);
        let to_sender = |side: Side| toward[side].unwrap_or_default();
        let measured = |side: Side| Some(self.senders[side].min_delay? + to_sender(side));
        let round_trips = [there_and_back, handshake, measured(Side::A), measured(Side::B)];
        let least = round_trips.map(|time| time.unwrap_or(Nanos::MAX)).into_iter().fold(Nanos::MAX, Nanos::min);
        let late = |side: Side| self.senders[side].max_ack_wait + to_sender(side) - least;
        let largest = self.largest.div_ceil(self.mss);
        let late_ack = late(Side::A).max(late(Side::B)).or_zero();
        let late_handshake = handshake.map_or(Nanos::ZERO, |handshake| handshake - least);
        let [asking, answering] = [self.requester, !self.requester].map(|side| &self.senders[side]);
        let unsettled = |sender: &DirectionScan| sender.transfer.is_some_and(|transfer| !transfer.acked.1);
        let waits = asking.last_send > answering.last_send || unsettled(asking) || unsettled(answering);
        ShortConnectionBounds {
            max_ack_late: late_ack,
            largest_transfer_segments: largest,
            handshake_late: late_handshake,
            may_be_awaited: waits,
            ..self.bounds
        }
    }
}

impl DirectionScan {
    /// Processes an ACK of these bytes; `None` if it covers bytes that were not captured.
    fn acked(&mut self, seg: &Seg, ack: SeqNumber) -> Option<()> {
        let next = *self.next.get_or_insert(ack);
        // Beyond SND.MAX, or too far below it.
        if next.distance(ack).cast_unsigned() > MAX_SEQ_DISTANCE {
            return None;
        }
        if let Some((value, _)) = seg.timestamps()
            && self.newest_peer_tsval.is_none_or(|newest| is_newer(value, newest))
        {
            self.newest_peer_tsval = Some(value);
        }
        if self.acked.is_some_and(|acked| ack.distance(acked) <= 0) {
            return Some(());
        }
        self.acked = Some(ack);
        let Some(last) = self.last_send else { return Some(()) };
        let delay = seg.time - last;
        self.min_delay = Some(self.min_delay.map_or(delay, |least| least.min(delay)));
        if let Some(transfer) = &mut self.transfer {
            let past = ack.distance(transfer.first);
            transfer.acked.0 |= past > 0;
            if i64::from(past) >= transfer.bytes as i64 && !transfer.acked.1 {
                transfer.acked.1 = true;
                self.max_ack_wait = self.max_ack_wait.max(delay);
            }
        }
        Some(())
    }

    /// Returns the end of the payload that this segment answers, if it begins another transfer;
    /// `None` if that cannot be decided here.
    fn begin_transfer(&mut self, seg: &Seg, mss: u64) -> Option<Option<Time>> {
        let Some(received) = self.peer_payload.take() else { return Some(None) };
        // The role of the request and the delay of its response are unknown here.
        let way = Nanos::MAX;
        let before = self.transfer.map(|transfer| PreviousTransfer {
            bytes: transfer.bytes,
            request: None,
            mss,
            rtt: None,
            loop_to_sender: way,
        });
        match received.turn_outcome(seg, before) {
            TurnOutcome::Turn => Some(Some(received.last)),
            TurnOutcome::Continues { resumed: false } => Some(None),
            TurnOutcome::Ambiguous | TurnOutcome::Continues { resumed: true } => None,
        }
    }

    /// Processes payload from the other side.
    fn peer_payload(&mut self, seg: &Seg) {
        let acked_all = seg.ack().zip(self.next).is_none_or(|(ack, next)| ack.distance(next) >= 0);
        PeerPayload::add(&mut self.peer_payload, seg, || (acked_all, Nanos::ZERO));
    }
}

fn is_newer(stamp: u32, than: u32) -> bool {
    stamp.wrapping_sub(than) as i32 > 0
}
