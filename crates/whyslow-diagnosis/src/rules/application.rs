//! The sending application had no data ready to send.
//!
//! ## What it is
//! TCP can only send the data that it is given. An application that reads a slow disk, computes,
//! waits for another service or writes in small pieces leaves the connection idle although every
//! window has room.
//!
//! ## How it is recognised
//! Pauses that nothing in the capture ended: no ACK, no window update, no timer. Before them the
//! sender's buffer was empty: everything was acknowledged, or the last segment was shorter than the
//! MSS. Not counted are pauses that a retransmission ended, in which a lost segment was
//! outstanding, or around which packets were not captured; pauses between small messages without a
//! request; all pauses of Multipath TCP, where the data may use another subflow; and pauses between
//! the messages of an SSH login, in which both ends compute keys (an SSH connection is not a bulk
//! transfer before it fills an initial window). Next to the receiver, without timestamps, data
//! within a second of a full segment may have stood in a queue, and is not counted. Away from the
//! sender its IPv4 identification numbers, which Linux increments for each packet, show that it
//! sent nothing in the pause. If there are none and the pauses are as long as the sender's timers,
//! the cause is only possible, and no fix is named: segments may have been lost before the capture
//! point and retransmitted. A silence of more than a second is a pause if the message is known to
//! be incomplete, or if more than an initial window follows it without another request: then it is
//! likely, not certain.
//!
//! Or segments that are short on average pass at one rate, though the sender waits for no ACK and
//! no queue stands: a program that writes a little every moment. A sender that has more to send
//! than it may fills its segments.
//!
//! ## What it is confused with
//! - `receive-window`, `sender-cap`: the pause ends with an ACK.
//! - `tail-loss`, `timeout`: a number is missing before the segment that ends the pause. A capture
//!   at the sender settles it.
//! - `host-cpu`: the host was too busy to send; no short segment before the pause. A capture cannot
//!   prove it.
//! - `proxy-split`: the pauses have the rhythm of another connection's slow start. A proxy whose
//!   far connection has no such rhythm (it is paced, or open for long) looks like an application
//!   that writes in pieces: a capture behind it shows which.
//! - `pacing`: even spacing by a rate limit.
//!
//! ## The fix
//! Look at the sending application: read ahead, write larger pieces, do the slow part in parallel
//! with the sending. A proxy waits for its own upstream: nginx `proxy_buffers`, `proxy_buffering
//! on`, `output_buffers` and `aio threads` for slow disks; HAProxy `tune.bufsize`; Envoy
//! `per_connection_buffer_limit_bytes`. A client that uploads: read the file ahead of the socket.
//!
//! ## To see that it worked
//! `ss -tin` on the sender no longer shows `app_limited` while the transfer runs.
//!
//! ## References
//! Araujo et al. 2016, "A longitudinal analysis of Internet rate limitations"; RFC 7661.

use super::parts::{confirm, evidence, finding, remedy};
use super::proxy_evidence::is_relayed;
use super::requests;
use super::rule::{Check, Evidence, Rule};
use super::rule_input::{TransferView, has_unread_tls};
use crate::limit::Span;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::types::RTO_MIN;
use whyslow_analysis::{
    Actor, ExchangeAction, ExchangeQuestion, ExchangeStatement, Finding, LimitingFactor, Measure, Unit,
};
use whyslow_core::tcp::facts::{Release, SendPause};
use whyslow_units::Nanos;

pub(super) const RULE: Rule =
    Rule::new(Cause::Application, Check::Transfer(check)).certain_with(&[Evidence::Opening, Evidence::Protocol]);

/// Largest data that a server of TLS 1.3 sends unrequested, bytes: two session tickets (RFC 8446
/// section 4.6.1) and the settings of HTTP/2. Half and twice change none of 2,061 captures.
const GREETING_MOST: u64 = 2_100;

/// Whether all data before a pause may be unrequested data of a TLS 1.3 server, because the records
/// cannot be read.
fn may_follow_greeting(view: &TransferView<'_>, pause: &SendPause) -> bool {
    let first = view.transfer.rounds.first();
    let is_behind = first.is_some_and(|first| first.bytes <= GREETING_MOST && first.last_frame == pause.frames.0);
    is_behind && view.sender != view.facts.client && has_unread_tls(view.facts)
}

/// Whether a part of a pause is the sending program's.
fn is_the_programs(view: &TransferView<'_>, pause: &SendPause) -> bool {
    let spans = &view.attribution.spans;
    let from = spans.partition_point(|span| span.end <= pause.start);
    let during = spans[from..].iter().take_while(|span| span.start < pause.end);
    during.into_iter().any(|span| span.limit == LimitingFactor::Application)
}

fn check(view: &TransferView<'_>) -> Option<Finding> {
    if view.is_ssh_message() {
        return None;
    }
    if let Some(rate) = view.attribution.shape.written {
        return in_trickles(view, rate);
    }
    let lost = silent(view);
    // Pauses in the rhythm of another connection are of that.
    if !view.matters(lost, 0.15) || is_relayed(view) {
        return None;
    }
    let by_nothing = view.transfer.pauses.iter().filter(|gap| gap.release == Release::Nothing);
    let pauses = by_nothing.filter(|gap| gap.app_limited || gap.idle).filter(|pause| is_the_programs(view, pause));
    let longest = pauses.clone().max_by_key(|gap| gap.end - gap.start)?;
    let number = pauses.clone().count() as u64;
    let sure = if view.share(lost) >= 0.5 { 0.9 } else { 0.7 };
    // Next to the sender a lost segment would be in the capture.
    let doubtful: Nanos = pauses.clone().filter(|gap| may_be_timer(view, gap)).map(|gap| gap.end - gap.start).sum();
    let doubtful = !view.near_sender() && doubtful.0 >= lost.0 / 2;
    let is_unread = may_follow_greeting(view, longest);
    let is_inferred = view.transfer.inferred_stalls.0 >= lost.0 / 2;
    let confidence = if is_unread || doubtful {
        0.5
    } else if is_inferred {
        0.7
    } else {
        sure
    };
    let (paused_s, whole_s) = (lost, view.duration());
    let statement = if doubtful {
        ExchangeStatement::NothingArrived { paused_s, whole_s, pauses: number }
    } else {
        ExchangeStatement::NothingToSend { paused_s, whole_s, pauses: number }
    };
    let mut found = finding(Cause::Application, lost, view.trust(confidence), statement);
    found.spans = view.spans_at(silences(view));
    let length: Nanos = longest.end - longest.start;
    let frames = [longest.frames.0, longest.frames.1];
    found.evidence.push(evidence(Measure::Pauses, number as f64, Unit::Pauses, &[]));
    found.evidence.push(evidence(Measure::LongestPause, length.as_secs_f64(), Unit::Seconds, &frames));
    found.evidence.push(evidence(Measure::SegmentBeforePause, longest.before_len as f64, Unit::Bytes, &frames[..1]));
    found.details.extend(requests::behind_pause(view, longest));
    if !doubtful {
        found.remedies = remedy(Actor::Application, ExchangeAction::KeepDataReady);
    }
    // Its upstream is not in this capture: if only the server's end of a path is known, it may be
    // another path.
    found.to_confirm = confirm(if is_unread {
        ExchangeQuestion::SessionTickets
    } else if doubtful {
        ExchangeQuestion::PausesLikeTimers
    } else if is_inferred {
        ExchangeQuestion::OneMessage
    } else {
        ExchangeQuestion::MayBeProxy { end: view.facts.end_of(view.sender) }
    });
    Some(found)
}

/// An application that writes little at a time, and evenly: its single pauses may be too short to
/// detect.
fn in_trickles(view: &TransferView<'_>, written: f64) -> Option<Finding> {
    let lost = view.time(LimitingFactor::Application);
    if !view.matters(lost, 0.15) {
        return None;
    }
    let transfer = view.transfer;
    let mean = transfer.bytes() / transfer.segments.max(1);
    let statement =
        ExchangeStatement::SmallWrites { rate_bps: written, segment: mean, spent_s: lost, whole_s: view.duration() };
    let confidence = if view.share(lost) >= 0.5 { 0.85 } else { 0.7 };
    let mut found = finding(Cause::Application, lost, view.trust(confidence), statement);
    let frames = [transfer.frames.0, transfer.frames.1];
    found.evidence.push(evidence(Measure::WriteRate, written, Unit::BitsPerSecond, &frames));
    found.evidence.push(evidence(Measure::MeanSegment, mean as f64, Unit::Bytes, &[]));
    found.evidence.push(evidence(Measure::SegmentSize, view.context.mss as f64, Unit::Bytes, &[]));
    found.evidence.push(evidence(Measure::MaxInFlight, transfer.max_in_flight as f64, Unit::Bytes, &[]));
    found.remedies = remedy(Actor::Application, ExchangeAction::WriteLargerPieces);
    found.to_confirm = confirm(ExchangeQuestion::AppLimited);
    Some(found)
}

/// Time of the program's pauses, less that between messages which follow each other as the other
/// side's do.
fn silent(view: &TransferView<'_>) -> Nanos {
    silences(view).map(Span::length).sum()
}

fn silences<'a>(view: &'a TransferView<'_>) -> impl Iterator<Item = &'a Span> {
    let mut silences = view.transfer.pauses.iter().filter(|gap| gap.release == Release::Nothing).peekable();
    let spans = view.attribution.spans.iter().filter(|span| span.limit == LimitingFactor::Application);
    let of_silence = move |span: &&Span| {
        while silences.next_if(|gap| gap.end <= span.start).is_some() {}
        silences.peek().is_some_and(|gap| gap.start < span.end)
    };
    spans.filter(of_silence)
}

/// Whether a silence is as long as one of the sender's timers would make it, and nothing shows that
/// it sent nothing: a probe (RFC 8985 section 7.2: two round trips, and 200 ms with one segment
/// outstanding), or the retransmission timer (Linux: a round trip and 200 ms, RFC 6298: 1 s) after
/// some back-offs.
fn may_be_timer(view: &TransferView<'_>, gap: &SendPause) -> bool {
    let (Some(rtt), None) = (view.rtt(), gap.missing) else {
        return false;
    };
    let length = gap.end - gap.start;
    let timer = rtt + RTO_MIN;
    // Each back-off doubles, up to two minutes: the waits add up to 1, 3, 7, … timers.
    let waits = [1.0, 3.0, 7.0, 15.0, 31.0, 63.0, 127.0, 255.0, 511.0].map(|times| timer.scale(times));
    let probes = [rtt.scale(2.0).max(Nanos::from_millis(8)), rtt.scale(2.0) + RTO_MIN];
    waits.into_iter().chain(probes).any(|wait| length >= wait.scale(0.95) && length <= wait.scale(1.25))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::rules::synthetic_transfer::{MSS, SyntheticTransfer, ms};
    use whyslow_analysis::cause::Cause;
    use whyslow_analysis::{ExchangeQuestion, ExchangeStatement, Near, Statement};
    use whyslow_core::tcp::facts::{RateSpread, Release};
    use whyslow_core::tcp::payload::Protocol;

    /// 20,000 B a round trip of 100 ms, in segments of a fifth of the MSS.
    fn trickle() -> SyntheticTransfer {
        let mut scene = SyntheticTransfer::flights(&[20_000; 20]);
        let rate = RateSpread { p10: 1.55e6, p50: 1.6e6, p90: 1.65e6, bins: 40 };
        (scene.transfer.sent_rate, scene.transfer.acked_rate) = (rate, rate);
        scene.transfer.segments = scene.transfer.bytes() / (MSS / 5);
        scene.transfer.pauses.clear();
        scene
    }

    #[test]
    fn application_writing_in_trickles_has_its_own_rate() {
        let found = trickle().finding(Cause::Application).unwrap();
        let is_small = matches!(
            found.statement,
            Statement::Exchange(ExchangeStatement::SmallWrites { segment: 200, rate_bps: 1.6e6, .. })
        );
        assert!(is_small, "{:?}", found.statement);
        assert!(trickle().finding(Cause::Bandwidth).is_none() && trickle().finding(Cause::SmallSegments).is_none());
        // One lost segment does not show a full path.
        let mut lossy = trickle();
        lossy.transfer.losses.push(Default::default());
        assert!(lossy.finding(Cause::Application).is_some() && lossy.finding(Cause::Bandwidth).is_none());
    }

    #[test]
    fn silence_of_timer_length_without_ip_numbers_is_possible() {
        let found = |silence: i64, missing, near| {
            let mut scene = SyntheticTransfer::flights(&[15_000, 15_000]);
            let gap = &mut scene.transfer.pauses[0];
            (gap.release, gap.app_limited, gap.missing) = (Release::Nothing, true, missing);
            gap.end += ms(silence - 100);
            let round = &mut scene.transfer.rounds[1];
            (round.start, round.last_send) = (gap.end, gap.end);
            (scene.transfer.last_send, scene.transfer.end) = (gap.end, gap.end + ms(100));
            scene.facts.last = scene.transfer.end;
            scene.facts.vantage.near = near;
            scene.finding(Cause::Application).unwrap()
        };
        // The timer is 300 ms: 31 of them add up to 9.3 s.
        let doubted = found(9_700, None, Near::Client);
        assert!(doubted.confidence <= 0.5 && doubted.remedies.is_empty(), "{doubted:?}");
        assert_eq!(doubted.to_confirm, [ExchangeQuestion::PausesLikeTimers.into()]);
        for sure in
            [found(9_700, Some(0), Near::Client), found(9_700, None, Near::Server), found(7_000, None, Near::Client)]
        {
            assert!(sure.confidence > 0.8 && sure.remedy().is_some(), "{sure:?}");
        }
    }

    #[test]
    fn ssh_login_messages_are_not_application_pauses() {
        let paused = |size: u64, protocol| {
            let mut scene = SyntheticTransfer::flights(&[size, size]);
            (scene.transfer.pauses[0].release, scene.transfer.pauses[0].app_limited) = (Release::Nothing, true);
            scene.facts.content[1].protocol = protocol;
            scene.finding(Cause::Application)
        };
        assert!(paused(1_500, None).is_some());
        assert!(paused(1_500, Some(Protocol::Ssh)).is_none());
        assert!(paused(15_000, Some(Protocol::Ssh)).is_some(), "a file");
    }

    #[test]
    fn short_segments_in_a_queue_are_limited_by_the_path() {
        let mut scene = trickle();
        for round in &mut scene.transfer.rounds {
            (round.in_flight, round.rtt) = (40_000, Some(ms(200)));
        }
        assert!(scene.finding(Cause::Application).is_none());
        assert!(scene.finding(Cause::Bandwidth).is_some());
    }
}
