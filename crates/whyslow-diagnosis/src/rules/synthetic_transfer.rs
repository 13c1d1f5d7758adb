//! Synthetic transfers for the tests of the rules: the facts that the `tcp` stage would give.

use super::{ConnectionView, TransferView, awaited_until, check_connection, check_transfer, verdict};
use crate::estimate::Context;
use crate::limit;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::types::Side;
use whyslow_analysis::{Finding, Frame, State};
use whyslow_core::tcp::facts::{
    CaptureDefects, DirectionFacts, Facts, HandshakeFacts, Offer, PeerMessage, Release, RoundFacts, RttFacts,
    SendPause, TransferFacts, Vantage,
};
use whyslow_units::{Nanos, Time};

/// Segment size, bytes.
pub(super) const MSS: u64 = 1000;

/// A download: side A asked, side B answers.
#[derive(Clone, Debug)]
pub(super) struct SyntheticTransfer {
    pub facts: Facts,
    pub transfer: TransferFacts,
}

pub(super) fn ms(milliseconds: i64) -> Nanos {
    Nanos::from_millis(milliseconds)
}

/// The instant `milliseconds` after the origin of times.
pub(super) fn at_ms(milliseconds: i64) -> Time {
    Time::from_millis(milliseconds)
}

/// A pause within a transfer.
pub(super) fn gap(start: Time, end: Time, release: Release) -> SendPause {
    SendPause { last_ack: false, ..crate::estimate::synthetic_transfer::gap(start, end, release) }
}

/// Flights of these sizes, a round trip of 100 ms apart, each but the last followed by a wait for
/// an ACK.
fn transfer_of(sizes: &[u64]) -> TransferFacts {
    let at = |index: usize| at_ms(1000 + 100 * index as i64);
    let frame = |number: usize| Frame { file: None, number: number as u64 + 10 };
    let rounds: Vec<RoundFacts> = sizes
        .iter()
        .enumerate()
        .map(|(index, &bytes)| RoundFacts {
            start: at(index),
            last_send: at(index),
            first_frame: frame(index),
            last_frame: frame(index),
            bytes,
            in_flight: bytes,
            window: Some(1_000_000),
            rtt: Some(ms(100)),
            merged: 1,
            ..RoundFacts::default()
        })
        .collect();
    let bytes = sizes.iter().sum::<u64>();
    TransferFacts {
        seq: (1, 1 + bytes),
        start: at(0),
        end: at(sizes.len()),
        last_send: at(sizes.len() - 1),
        acknowledged: true,
        answered: Some(PeerMessage { first: at_ms(900), last: at_ms(900), bytes: 100, ..PeerMessage::default() }),
        rounds_total: sizes.len() as u64,
        segments: bytes.div_ceil(MSS),
        max_in_flight: sizes.iter().copied().max().unwrap_or(0),
        pauses: (1..sizes.len()).map(|index| gap(at(index - 1), at(index), Release::Ack)).collect(),
        rounds,
        ..TransferFacts::default()
    }
}

/// A connection that is captured next to the sender, and its request.
fn facts_until(end: Time) -> Facts {
    let offer = Offer {
        mss: Some(1012),
        window_scale: Some(7),
        sack: true,
        timestamps: true,
        multipath: Default::default(),
        window: 64_000,
        ecn: 0,
    };
    let request = TransferFacts {
        seq: (1, 101),
        start: at_ms(900),
        last_send: at_ms(900),
        end: at_ms(1000),
        acknowledged: true,
        rounds_total: 1,
        ..TransferFacts::default()
    };
    let client = DirectionFacts { mss: MSS, transfers: vec![request], ..DirectionFacts::default() };
    Facts {
        endpoints: [([192, 0, 2, 1].into(), 40_000), ([192, 0, 2, 2].into(), 443)],
        client: Side::A,
        requester: Side::A,
        first: at_ms(800),
        last: end,
        until: end,
        first_frame: Frame { file: None, number: 1 },
        handshake: HandshakeFacts { offers: [Some(offer); 2], ..HandshakeFacts::default() },
        origins: [None; 2],
        ttl: [(None, None); 2],
        state: State::Open,
        closed_by: None,
        closing: [None; 2],
        fins: [false; 2],
        reset: None,
        vantage: Vantage { toward: [Some(ms(100)), Some(Nanos::ZERO)], ..Vantage::default() },
        rtt: RttFacts { min: Some(ms(100)), p50: Some(ms(100)), p95: Some(ms(100)), samples: 10 },
        directions: [client, DirectionFacts { mss: MSS, ..DirectionFacts::default() }],
        exchanges: Vec::new(),
        exchanges_total: 0,
        content: Default::default(),
        begins_with_text: [false; 2],
        capture_defects: CaptureDefects::default(),
        quic: None,
        lookup: None,
        decryption: None,
        messages: None,
        is_text: false,
        notices: Default::default(),
        elided: Vec::new(),
        timeless: false,
    }
}

impl SyntheticTransfer {
    /// Flights of these sizes, a round trip of 100 ms apart, each but the last followed by a wait
    /// for an ACK; captured next to the sender.
    pub fn flights(sizes: &[u64]) -> Self {
        let transfer = transfer_of(sizes);
        Self { facts: facts_until(transfer.end), transfer }
    }

    /// Findings of the rules.
    pub fn findings(&self) -> Vec<Finding> {
        self.judge(check_transfer)
    }

    /// The verdict on it.
    pub fn verdict(&self) -> whyslow_analysis::Verdict {
        self.judge(|view| verdict(view, &check_transfer(view)))
    }

    /// Applies `by` to this transfer as a case.
    pub fn judge<T>(&self, by: impl Fn(&TransferView<'_>) -> T) -> T {
        let context = Context::new(&self.facts, Side::B);
        let attribution = limit::attribute_time(&self.transfer, &context);
        let whole: Nanos = attribution.spans.iter().map(limit::Span::length).sum();
        assert_eq!(whole, self.transfer.duration(), "the limits partition the time");
        by(&TransferView {
            facts: &self.facts,
            first: Time::ZERO,
            sender: Side::B,
            transfer: &self.transfer,
            attribution: &attribution,
            before: &[],
            context,
            earlier: &[],
        })
    }

    /// The finding of this cause over the connection, which has the transfer after those that its
    /// sides have already, all of them acknowledged.
    pub fn finding_over_connection(&self, cause: Cause) -> Option<Finding> {
        let mut facts = self.facts.clone();
        facts.directions[1].transfers.push(self.transfer.clone());
        judge_connection(&facts, cause)
    }

    /// As [`finding_over_connection`](Self::finding_over_connection), without the transfer.
    pub fn finding_without_answer(&self, cause: Cause) -> Option<Finding> {
        judge_connection(&self.facts, cause)
    }

    /// Until when an answer is waited for.
    pub fn awaited_until(&self) -> Option<Time> {
        with_connection(&self.facts, |view| awaited_until(view, &check_connection(view)))
    }

    /// The finding of this cause.
    pub fn finding(&self, cause: Cause) -> Option<Finding> {
        self.findings().into_iter().find(|finding| finding.cause == cause)
    }
}

fn judge_connection(facts: &Facts, cause: Cause) -> Option<Finding> {
    with_connection(facts, |view| check_connection(view).into_iter().find(|finding| finding.cause == cause))
}

fn with_connection<T>(facts: &Facts, by: impl Fn(&ConnectionView<'_>) -> T) -> T {
    let mut facts = facts.clone();
    for direction in &mut facts.directions {
        direction.transfers_total = direction.transfers.len() as u64;
        if let Some(last) = direction.transfers.last() {
            direction.last_payload = Some((last.last_send, last.frames.1));
            direction.bytes = last.seq.1 - 1;
        }
    }
    by(&ConnectionView { facts: &facts, transfers: [&[], &[]], waits: &whyslow_core::message::waits(&facts) })
}
