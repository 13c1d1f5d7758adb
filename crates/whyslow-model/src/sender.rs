//! The sending host: outstanding and lost segments, and the segments that may be sent next.
//!
//! Its methods are in the files below: sending, ACK processing, loss detection, and the timer.

mod acks;
mod loss_detection;
mod sending;
mod timer;

use super::Scenario;
use super::buffer::SendBuffer;
use super::congestion::CongestionController;
use super::deliveries::Deliveries;
use super::recovery::Recovery;
use super::ring::Ring;
use super::rtt::{RttEstimator, times};
use std::collections::{BTreeSet, VecDeque};
use whyslow_units::{Nanos, Time};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    InFlight,
    Lost,
    /// The receiver has reported it.
    Arrived,
}

#[derive(Clone, Copy, Debug, Default)]
struct Segment {
    end: u64,
    sent: Time,
    /// Packets sent before its latest copy.
    order: u64,
    /// Bytes: a segment has a megabyte at most.
    size: u32,
    state: State,
    retransmitted: bool,
}

/// Why nothing can be sent now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blocked {
    /// Everything was sent.
    Done,
    /// The program has nothing more yet.
    Program,
    /// Limited by the congestion window.
    Congestion,
    /// Limited by the receiver's window.
    Receiver,
    /// Limited by the cap in the sender.
    Cap,
    /// Limited by its own pace, until this time.
    Pace(Time),
}

/// A packet to put on the path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    pub(super) segment: usize,
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) first_copy: bool,
}

#[derive(Debug)]
pub(super) struct Sender<C> {
    mss: u64,
    cap: u64,
    buffer: Option<SendBuffer>,
    pacing: Option<f64>,
    /// Segments that an ACK may still cover.
    segments: Ring<Segment>,
    /// Whether an ACK may refer to an acknowledged segment, because the receiver delays ACKs.
    keeps: bool,
    /// All segments before this one are acknowledged.
    snd_una: usize,
    acked_bytes: u64,
    sent_bytes: u64,
    /// Bytes written by the program.
    available: u64,
    snd_right_edge: u64,
    in_flight: u32,
    /// Segments that arrived beyond a hole.
    sacked_out: u32,
    lost: BTreeSet<usize>,
    /// Originals before this one have been checked for loss; the few retransmissions are queued
    /// with their order.
    checked_until: usize,
    retransmit_queue: VecDeque<(usize, u64)>,
    packets_sent: u64,
    /// Segments that timers looked at.
    scanned: u64,
    /// The latest copy known to have arrived.
    newest_delivered: (u64, Time),
    control: C,
    recovery: Option<Recovery>,
    round_end: usize,
    /// Maximum in flight in this round and the previous one.
    max_in_flight: (u32, u32),
    held_by_window: (bool, bool),
    rtt: RttEstimator,
    backoff: u32,
    probed: bool,
    pace_at: Time,
    deliveries: Deliveries,
    pub(super) retransmitted: u64,
    rto_timer: Option<Time>,
    /// The timer restarts at this time.
    rearm_at: Option<Time>,
    pub(super) recheck: Option<Time>,
}

impl<C: CongestionController> Sender<C> {
    /// Creates a sender before its first byte; the receiver lets it send up to `snd_right_edge`.
    pub(super) fn new(scenario: &Scenario, bytes: u64, edge: u64) -> Self {
        Self {
            mss: scenario.mss,
            cap: scenario.sender.cap.unwrap_or(u64::MAX),
            buffer: scenario.sender.buffer.map(|room| SendBuffer::new(room, scenario.bytes)),
            pacing: scenario.sender.pacing.filter(|rate| *rate > 0.0).map(|rate| rate / 8e9 / scenario.mss as f64),
            segments: Ring::new(bytes / scenario.mss),
            keeps: scenario.receiver.ack_delay > Nanos::ZERO,
            snd_una: 0,
            acked_bytes: 0,
            sent_bytes: 0,
            available: 0,
            snd_right_edge: edge,
            in_flight: 0,
            sacked_out: 0,
            lost: BTreeSet::new(),
            checked_until: 0,
            retransmit_queue: VecDeque::new(),
            packets_sent: 0,
            scanned: 0,
            newest_delivered: (0, Time::ZERO),
            control: C::new(&scenario.sender, scenario.rtt),
            recovery: None,
            round_end: 0,
            max_in_flight: (0, 0),
            held_by_window: (false, false),
            rtt: RttEstimator::new(scenario.rtt),
            backoff: 0,
            probed: false,
            pace_at: Time::ZERO,
            deliveries: Deliveries::new(),
            retransmitted: 0,
            rto_timer: None,
            rearm_at: None,
            recheck: None,
        }
    }

    /// Sets the number of bytes that the application has written.
    pub(super) fn offer(&mut self, available: u64) {
        self.available = available;
    }

    /// Returns the work so far: packets sent, and segments that timers looked at.
    #[inline]
    pub(super) fn steps(&self) -> u64 {
        self.packets_sent + self.scanned
    }

    pub(super) fn sent_bytes(&self) -> u64 {
        self.sent_bytes
    }

    pub(super) fn acked_bytes(&self) -> u64 {
        self.acked_bytes
    }

    pub(super) fn end_of(&self, segment: usize) -> u64 {
        self.get(segment).map_or(self.sent_bytes, |segment| segment.end)
    }

    /// Returns the number of segments so far.
    fn count(&self) -> usize {
        self.segments.end()
    }

    fn get(&self, segment: usize) -> Option<&Segment> {
        self.segments.get(segment)
    }

    pub(super) fn cwnd(&self) -> f64 {
        self.control.cwnd()
    }

    pub(super) fn ssthresh(&self) -> f64 {
        self.control.ssthresh()
    }

    pub(super) fn is_recovering(&self) -> bool {
        self.recovery.is_some()
    }

    pub(super) fn in_slow_start(&self) -> bool {
        self.control.cwnd() < self.control.ssthresh()
    }

    /// Returns the RTO, doubled for each back-off.
    pub(super) fn rto(&self) -> Nanos {
        times(self.rtt.rto(), 1 << self.backoff.min(8))
    }

    fn max_in_flight_now(&self) -> f64 {
        match &self.recovery {
            Some(recovery) if !recovery.by_timer && self.control.uses_prr() => recovery.cwnd,
            _ => self.control.cwnd(),
        }
    }

    pub(super) fn buffer(&self) -> Option<u64> {
        self.buffer.as_ref().map(|buffer| buffer.room)
    }

    fn is_in_flight(&self, segment: usize) -> bool {
        self.get(segment).is_some_and(|it| it.state == State::InFlight)
    }
}
