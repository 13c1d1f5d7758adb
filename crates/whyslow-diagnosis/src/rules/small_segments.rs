//! A large amount of data was sent in packets much smaller than the network carries.
//!
//! ## What it is
//! Every segment costs its headers (66 bytes with Ethernet and timestamps), the hosts' work for a
//! packet, and a place in the sender's window, which Linux counts in segments. An application that
//! writes a few bytes at a time with Nagle off, or a receiver whose buffer is so small that it can
//! only offer windows of less than a segment (the silly window syndrome), sends many small segments
//! instead of a few full ones.
//!
//! ## How it is recognised
//! The mean segment of a transfer of 20 segments or more is below half of the MSS, in flights of
//! more than one MSS (or as much as the window permits). The cost is the saving of full segments in
//! the time that was limited by segments or by bytes on the wire: in slow start a round trip for
//! each doubling that the mean falls short of the MSS; in congestion avoidance the empty share of
//! each segment; at a full link the headers. Under a receive window of less than two segments they
//! cost nothing: as many bytes pass in a round trip, in segments of any size, and the time belongs
//! to `receive-window`, which is reported with it.
//!
//! ## What it is confused with
//! - the messages of a program that has no more to send: time under `application` or `turn-taking`
//!   is not counted.
//! - a sender that bounds its segments to half of a small window (RFC 9293 section 3.8.6.2.1): the
//!   receiver causes that, and the finding names it.
//!
//! ## The fix
//! In the program: one write of all that is there (writev, a buffered writer, TCP_CORK, MSG_MORE),
//! and TCP_NODELAY only with that. At the receiver: a buffer of many segments (remove SO_RCVBUF,
//! `net.ipv4.tcp_rmem`).
//!
//! ## To see that it worked
//! `ss -tin` on the sender shows `bytes_sent` / `data_segs_out` near the `mss`.
//!
//! ## References
//! RFC 9293 section 3.8.6.2, RFC 896, RFC 813 (silly window).

use super::parts::{confirm, evidence, finding, remedy};
use super::rule::{Check, Rule};
use super::rule_input::TransferView;
use crate::estimate::HEADERS;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{
    Actor, Finding, LimitingFactor, Measure, Remedy, SendingAction, SendingQuestion, SendingStatement,
    SmallSegmentReason, Unit,
};
use whyslow_core::tcp::facts::RoundFacts;
use whyslow_units::Nanos;

pub(super) const RULE: Rule = Rule::new(Cause::SmallSegments, Check::Transfer(check));

/// Minimum number of segments of a bulk transfer: twice an initial window (RFC 6928). Half and
/// twice change none of 2,061 captures.
const MIN_SEGMENTS: u64 = 20;
/// Minimum number of bytes of a bulk transfer, in full segments: an initial window (RFC 6928).
const MIN_BULK: u64 = 10;
/// Mean segment over the MSS, below which it is small: half, as for silly windows (RFC 9293 section
/// 3.8.6.2.1). Half and twice change 2 and 1 of 2,061 captures.
const SMALL: f64 = 0.5;

fn check(view: &TransferView<'_>) -> Option<Finding> {
    let transfer = view.transfer;
    if transfer.segments < MIN_SEGMENTS || transfer.unseen * 10 > transfer.bytes() {
        return None;
    }
    let mss = view.context.mss as f64;
    let mean = (transfer.bytes() + transfer.retransmitted_bytes - transfer.unseen) as f64 / transfer.segments as f64;
    if mean >= SMALL * mss || mean < 1.0 {
        return None;
    }
    // A program that writes no faster has no more to fill them with.
    if view.attribution.shape.written.is_some() {
        return None;
    }
    // Messages that are sent one by one as they arise are not a bulk transfer: nothing waits behind
    // them.
    if transfer.bytes() < MIN_BULK * view.context.mss {
        return None;
    }
    // A window of less than two segments cannot hold a full one and leave the sender anything to
    // wait with.
    let window = transfer.rounds.iter().filter_map(|round| round.window).max();
    let silly = window.is_some_and(|window| (window as f64) < 2.0 * mss);
    let in_flight = |round: &&RoundFacts| round.in_flight >= view.context.mss;
    if !silly && transfer.rounds.iter().filter(in_flight).count() * 2 < transfer.rounds.len() {
        return None;
    }
    let empty = 1.0 - mean / mss;
    let doublings = libm::log2(mss / mean);
    let opening = view.rtt().map_or(Nanos::ZERO, |rtt| rtt.scale(doublings)).min(view.time(LimitingFactor::SlowStart));
    // A window that lets nothing else pass is the cause itself: its time is reported there.
    let by_window = silly && view.matters(view.time(LimitingFactor::ReceiveWindow), 0.2);
    let on_the_wire = 1.0 - ((mss + HEADERS) / mss) / ((mean + HEADERS) / mean);
    let lost = opening
        + (view.time(LimitingFactor::CongestionAvoidance) + view.time(LimitingFactor::LossRecovery)).scale(empty)
        + view.time(LimitingFactor::Bandwidth).scale(on_the_wire);
    let reason = match window.filter(|_| by_window) {
        Some(window) => SmallSegmentReason::Window { window },
        None if !view.matters(lost, 0.1) => return None,
        None => SmallSegmentReason::Writes { cost_s: lost, whole_s: view.duration() },
    };
    let statement = SendingStatement::SmallSegments { mean: mean.round() as u64, mss: view.context.mss, reason };
    let lost = if by_window { Nanos::ZERO } else { lost };
    let mut found = finding(Cause::SmallSegments, lost, view.trust(if silly { 0.75 } else { 0.6 }), statement);
    let frames = [transfer.frames.0, transfer.frames.1];
    found.evidence.push(evidence(Measure::MeanSegment, mean, Unit::Bytes, &frames));
    found.evidence.push(evidence(Measure::SegmentSize, mss, Unit::Bytes, &[]));
    found.evidence.push(evidence(Measure::Segments, transfer.segments as f64, Unit::Segments, &[]));
    found.evidence.push(evidence(Measure::HeaderShare, 100.0 * HEADERS / (mean + HEADERS), Unit::Percent, &[]));
    if silly && let Some(window) = window {
        found.evidence.push(evidence(Measure::LargestWindow, window as f64, Unit::Bytes, &[]));
    }
    found.remedies = fix_for(silly, view.context.mss);
    found.to_confirm = confirm(SendingQuestion::WindowInSegments);
    Some(found)
}

/// `silly`: the receiver's window lets no full segment pass.
fn fix_for(silly: bool, mss: u64) -> Vec<Remedy> {
    let bytes = 16 * mss;
    if silly {
        return remedy(Actor::Receiver, SendingAction::OfferLargerWindows { bytes });
    }
    remedy(Actor::Application, SendingAction::WriteLargerPieces { bytes })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::rules::synthetic_transfer::{SyntheticTransfer, gap, ms};
    use whyslow_analysis::cause::Cause;
    use whyslow_analysis::{Actor, SendingStatement, SmallSegmentReason};
    use whyslow_core::tcp::facts::Release;
    use whyslow_units::Nanos;

    #[test]
    fn quarter_size_segments_cost_slow_start_two_round_trips() {
        let mut scene = SyntheticTransfer::flights(&[2_500, 5_000, 10_000, 20_000, 40_000]);
        scene.transfer.segments = 310;
        let found = scene.finding(Cause::SmallSegments).unwrap();
        assert_eq!(found.cost_s, ms(200));
        scene.transfer.segments = 155;
        assert!(scene.finding(Cause::SmallSegments).is_none(), "half of the segment size");
    }

    #[test]
    fn windows_below_two_segments_are_the_receivers() {
        let mut scene = SyntheticTransfer::flights(&[500; 40]);
        for round in &mut scene.transfer.rounds {
            round.window = Some(600);
        }
        for pause in &mut scene.transfer.pauses {
            pause.release = Release::WindowAck;
        }
        scene.transfer.segments = 50;
        let found = scene.finding(Cause::SmallSegments).unwrap();
        assert_eq!(found.cost_s, Nanos::ZERO, "the time counts once");
        assert_eq!(scene.finding(Cause::ReceiveWindow).unwrap().cost_s, ms(3900));
        let expected = SendingStatement::SmallSegments {
            mean: 400,
            mss: 1_000,
            reason: SmallSegmentReason::Window { window: 600 },
        };
        assert_eq!(found.statement, expected.into());
        assert_eq!(found.remedy().unwrap().actor, Actor::Receiver);
    }

    #[test]
    fn single_messages_are_not_a_bulk_transfer() {
        let mut scene = SyntheticTransfer::flights(&[300; 40]);
        scene.transfer.segments = 40;
        assert!(scene.finding(Cause::SmallSegments).is_none());
        let mut few = SyntheticTransfer::flights(&[1_500; 6]);
        few.transfer.segments = 45;
        assert!(few.finding(Cause::SmallSegments).is_none());
    }

    #[test]
    fn application_writing_in_trickles_has_no_small_segments_cost() {
        let mut scene = SyntheticTransfer::flights(&[500; 40]);
        scene.transfer.segments = 80;
        for pause in &mut scene.transfer.pauses {
            *pause = gap(pause.start, pause.end, Release::Nothing);
            (pause.app_limited, pause.idle) = (true, true);
        }
        assert!(scene.finding(Cause::SmallSegments).is_none());
    }
}
