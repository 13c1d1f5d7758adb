//! The application's own protocol has a window: the sender waits for a message of the receiver's
//! application before it sends more.
//!
//! ## What it is
//! SSH channels, HTTP/2 and QUIC streams, SFTP and SMB reads keep a window above TCP's: the
//! receiving program grants bytes by small messages, and the sending program stops when its credit
//! is used up, however large TCP's windows are. The rate cannot exceed window / round trip.
//!
//! ## How it is recognised
//! Four rounds or more whose flights do not rise, with room in the receiver's window and nothing
//! lost; the sender spends most of their time waiting for the receiver; and small payload of the
//! receiver comes back with the ACKs that start the sender again, in seven of ten pauses or more.
//! The flights need not be equal as with `sender-cap`: credit comes in pieces, and one of them may
//! be under way. A plain download has no payload in that direction while it lasts.
//!
//! ## What it is confused with
//! - `sender-cap`: a full send buffer resumes on pure ACKs. If both ends send much at the same
//!   time, all ACKs carry payload, and the two cannot be distinguished.
//! - `turn-taking`: each request waits for the whole answer; there is no fixed quota in flight.
//! - `receive-window`: the flights reach the right edge of TCP's own window.
//!
//! ## The fix
//! Raise the protocol's window in the receiving program: HTTP/2 `SETTINGS_INITIAL_WINDOW_SIZE` and
//! WINDOW_UPDATE (nginx `http2_body_preread_size`, Envoy `initial_stream_window_size`, Go's and
//! gRPC's initial window sizes); HPN-SSH, or several connections at a time; more outstanding reads
//! for SFTP (`sftp -R`) and SMB.
//!
//! ## To see that it worked
//! In a new capture the sender no longer stops until a message of the receiver's program comes.
//!
//! ## References
//! RFC 9113 section 5.2, RFC 4254 section 5.2; Rapier and Bennett, "High Speed Bulk Data Transfer
//! Using the SSH Protocol", 2008.

use super::command;
use super::parts::{confirm, evidence, finding, remedy, window_rate};
use super::rule::{Check, Proof, Rule, Saving};
use super::rule_input::{ConnectionView, TransferView};
use super::turns::Turns;
use std::collections::BTreeMap;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{
    Actor, Amount, End, Finding, LimitingFactor, Measure, SendingAction, SendingQuestion, SendingStatement, Statement,
    Unit,
};
use whyslow_core::tcp::payload::UsedWindow;
use whyslow_units::Nanos;

pub(super) const RULE: Rule = Rule::new(Cause::ProtocolWindow, Check::TransferAndConnection(check, in_turns))
    .saves(Saving::Predicted)
    .proof(Proof::Model);

/// One byte of the receiver's messages for this number of the sender's is more than credit: a
/// WINDOW_UPDATE has 13 B (RFC 9113 section 6.9) for half of a window. Half and twice change none
/// of 2,061 captures.
const TALKS: u64 = 20;

fn check(view: &TransferView<'_>) -> Option<Finding> {
    let lost = view.time(LimitingFactor::ProtocolWindow);
    if !view.matters(lost, 0.2) {
        return None;
    }
    let plateau = view.plateau()?;
    let rtt = view.rtt()?;
    let predicted = window_rate(plateau.bytes, rtt);
    let closes = (0.8..=1.25).contains(&(view.rate_of(&plateau) / predicted));
    // If the receiver sends much itself, its ACKs carry payload whatever its content.
    let talks = view.facts.directions[!view.sender].bytes * TALKS > view.transfer.bytes();
    let confidence = match (talks, closes) {
        (true, _) => 0.5,
        (false, true) => 0.85,
        (false, false) => 0.7,
    };
    let grants = view.transfer.pauses.iter().filter(|gap| gap.with_peer_payload).count() as u64;
    let statement = SendingStatement::ProtocolWindow { bytes: plateau.bytes, rtt_s: rtt };
    let mut found = finding(Cause::ProtocolWindow, lost, view.trust(confidence), statement);
    let frames = view.frames_of(LimitingFactor::ProtocolWindow);
    found.evidence.push(evidence(Measure::MostInFlight, plateau.bytes as f64, Unit::Bytes, &frames));
    found.evidence.push(evidence(Measure::PausesEndedByMessage, grants as f64, Unit::Pauses, &frames));
    if let Some(window) = plateau.window {
        found.evidence.push(evidence(Measure::LeastWindowMeanwhile, window as f64, Unit::Bytes, &[]));
    }
    found.evidence.push(evidence(Measure::RoundTrip, rtt.as_millis_f64(), Unit::Milliseconds, &[]));
    found.evidence.push(evidence(Measure::MeasuredRate, view.rate(), Unit::BitsPerSecond, &[]));
    let action = SendingAction::RaiseProtocolWindow { at: None, need: command::buffer_for(view) };
    found.remedies = remedy(Actor::Receiver, action);
    found.details.extend(used_window(view));
    let segments = plateau.bytes.div_ceil(view.context.mss);
    found.to_confirm = confirm(SendingQuestion::WindowOrAnswers { after: Amount::Segments(segments) });
    Some(found)
}

/// The window of HTTP/2 that the transfer waited for longest, if its frames were read.
fn used_window(view: &TransferView<'_>) -> Option<Statement> {
    let waits = &view.facts.messages.as_ref()?.windows.as_ref()?[view.sender];
    let mut by_window: BTreeMap<UsedWindow, (u64, u64, Nanos)> = BTreeMap::new();
    for wait in waits.iter().filter(|wait| wait.until > view.transfer.start && wait.from < view.transfer.end) {
        let (bytes, times, waited) = by_window.entry(wait.window).or_default();
        *bytes = wait.size.max(*bytes);
        *times += 1;
        *waited += wait.until - wait.from;
    }
    let (window, (bytes, times, waited_s)) = by_window.into_iter().max_by_key(|(_, (.., waited))| *waited)?;
    let stream = match window {
        UsedWindow::Stream(stream) => Some(stream),
        UsedWindow::Connection => None,
    };
    let granted_by = view.facts.end_of(!view.sender);
    Some(SendingStatement::FlowControlWindow { stream, bytes, granted_by, times, waited_s }.into())
}

/// A window as large as the data sent for each grant: nothing is in flight when the next grant
/// comes, so that each piece looks like a request and the grant like its response.
fn in_turns(view: &ConnectionView<'_>) -> Option<Finding> {
    let turns = Turns::of(view).filter(|turns| turns.are_credited(view))?;
    let piece = turns.request();
    let statement = SendingStatement::ProtocolTurns {
        bytes: piece,
        times: turns.number(),
        cost_s: turns.lost,
        whole_s: turns.whole,
    };
    let mut found = finding(Cause::ProtocolWindow, turns.lost, view.trust(0.75), statement);
    found.evidence.push(evidence(Measure::BytesPerMessage, piece as f64, Unit::Bytes, &turns.frames()));
    found.evidence.push(evidence(Measure::RoundTrip, turns.rtt.as_millis_f64(), Unit::Milliseconds, &[]));
    let at = if view.facts.requester == view.facts.client { End::Server } else { End::Client };
    found.remedies = remedy(Actor::Application, SendingAction::RaiseProtocolWindow { at: Some(at), need: None });
    found.to_confirm = confirm(SendingQuestion::WindowOrAnswers { after: Amount::Bytes(piece) });
    found.promise(turns.in_one_go(view));
    Some(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::rules::synthetic_transfer::{MSS, SyntheticTransfer, ms};
    use whyslow_analysis::cause::Cause;
    use whyslow_analysis::types::RequestProtocol;
    use whyslow_analysis::{End, SendingStatement};
    use whyslow_core::tcp::payload::{MessageFacts, UsedWindow, WindowWait};

    /// 32,000 B a round trip, each flight set off by a message.
    fn credited() -> SyntheticTransfer {
        let mut scene = SyntheticTransfer::flights(&[32_000; 20]);
        scene.transfer.pauses.iter_mut().for_each(|gap| gap.with_peer_payload = true);
        scene.facts.directions[0].bytes = 1_000;
        scene
    }

    #[test]
    fn window_opened_by_messages_is_protocol_window() {
        let found = credited().finding(Cause::ProtocolWindow).unwrap();
        assert_eq!(found.confidence, 0.85);
        assert!(credited().finding(Cause::SenderCap).is_none());
    }

    #[test]
    fn http2_frames_name_the_window() {
        let mut scene = credited();
        assert!(scene.finding(Cause::ProtocolWindow).unwrap().details.is_empty());
        let (start, end) = (scene.transfer.start, scene.transfer.end);
        let wait = |window, length| WindowWait { window, size: 32_000, from: start, until: start + length };
        let of_stream = |length| wait(UsedWindow::Stream(5), length);
        let after = WindowWait { from: end, until: end + ms(9_000), ..wait(UsedWindow::Connection, ms(0)) };
        let waits = vec![wait(UsedWindow::Connection, ms(30)), of_stream(ms(20)), of_stream(ms(25)), after];
        let messages = MessageFacts {
            protocol: RequestProtocol::Http2,
            requests: Vec::new(),
            requests_total: 0,
            windows: Some([Vec::new(), waits]),
            heartbeats: Default::default(),
            is_whole: true,
        };
        scene.facts.messages = Some(Box::new(messages));
        let details = scene.finding(Cause::ProtocolWindow).unwrap().details;
        let granted_by = End::Client;
        let expected = SendingStatement::FlowControlWindow {
            stream: Some(5),
            bytes: 32_000,
            granted_by,
            times: 2,
            waited_s: ms(45),
        };
        assert_eq!(details, [expected.into()]);
    }

    #[test]
    fn receivers_own_data_is_not_credit() {
        let mut scene = credited();
        scene.facts.directions[0].bytes = 100_000;
        let found = scene.finding(Cause::ProtocolWindow).unwrap();
        assert!(found.confidence < 0.8 && !found.to_confirm.is_empty(), "{found:?}");
    }

    #[test]
    fn cap_with_some_messages_is_less_sure() {
        let mut scene = SyntheticTransfer::flights(&[32_000; 20]);
        assert_eq!(scene.finding(Cause::SenderCap).unwrap().confidence, 0.9);
        scene.transfer.pauses.iter_mut().step_by(3).for_each(|gap| gap.with_peer_payload = true);
        assert!(scene.finding(Cause::SenderCap).unwrap().confidence < 0.8);
    }

    #[test]
    fn capped_flights_are_not_slow_growth() {
        // Uneven, and by a segment larger at the end than at the beginning.
        let sizes: Vec<u64> = (0..20u64).map(|n| (26 + 6 * (n % 3 / 2) + n / 19) * MSS).collect();
        let scene = SyntheticTransfer::flights(&sizes);
        assert!(scene.finding(Cause::EarlySlowStartExit).is_none(), "{:?}", scene.findings());
    }
}
