//! The application's own protocol limits what may be on its way: the sender waits for a message of
//! the receiver's program.
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
//! - `sender-cap`: a full send buffer is started again by pure ACKs. Where both ends send much at
//!   the same time all ACKs come with payload, and the two cannot be told apart.
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

use super::case::{ConnectionCase, TransferCase};
use super::command;
use super::rule::{Check, Rule, Saving};
use super::say::{count, evidence, finding, fix, rate, thousands, time, window_rate};
use super::turns::Turns;
use crate::analysis::{Actor, Finding, Limit};
use crate::cause::Cause;
use crate::types::ModelChange;

pub(super) const RULE: Rule = Rule::new(Cause::ProtocolWindow, Check::TransferAndConnection(check, in_turns))
    .remedied_by(&[
        ModelChange::NoSenderCap,
        ModelChange::GrowingReceiveWindow,
        ModelChange::NoSilence(Limit::ProtocolWindow),
    ])
    .inferred()
    .saves(Saving::Predicted);

/// Credit is a small part of what it is given for: messages of the receiver with more than one byte
/// for so many are something else too.
const TALKS: u64 = 20;

fn check(case: &TransferCase<'_>) -> Option<Finding> {
    let lost = case.time(Limit::ProtocolWindow);
    if !case.matters(lost, 0.2) {
        return None;
    }
    let plateau = case.plateau()?;
    let rtt = case.rtt()?;
    let predicted = window_rate(plateau.bytes, rtt);
    let closes = (0.8..=1.25).contains(&(case.rate_of(&plateau) / predicted));
    // Where the receiver sends much itself, its ACKs come with payload whatever that says.
    let talks = case.facts.directions[!case.sender].bytes * TALKS > case.transfer.bytes();
    let confidence = match (talks, closes) {
        (true, _) => 0.5,
        (false, true) => 0.85,
        (false, false) => 0.7,
    };
    let grants = case.transfer.gaps.iter().filter(|gap| gap.with_peer_payload).count() as u64;
    let summary = format!(
        "the sender stopped at {} B in flight and went on when a message of the receiver's program came: {} B / {} = {}",
        thousands(plateau.bytes),
        thousands(plateau.bytes),
        time(rtt),
        rate(predicted),
    );
    let mut found = finding(Cause::ProtocolWindow, lost, case.trust(confidence), summary);
    let frames = case.frames_of(Limit::ProtocolWindow);
    found.evidence.push(evidence("most in flight", plateau.bytes as f64, "B", &frames));
    found.evidence.push(evidence("pauses that a message ended", grants as f64, "pauses", &frames));
    if let Some(window) = plateau.window {
        found.evidence.push(evidence("least TCP window of the receiver meanwhile", window as f64, "B", &[]));
    }
    found.evidence.push(evidence("round trip", rtt.as_millis_f64(), "ms", &[]));
    found.evidence.push(evidence("measured rate", case.rate(), "bit/s", &[]));
    let needed = command::buffer_for(case).map_or(String::new(), |(_, why)| format!(": {why}"));
    found.fix = fix(Actor::Receiver, format!("{RAISE}{needed}"), None);
    found.settle = Some(format!(
        "a program that answers each of {} with a message looks the same: see which program keeps the window, at either end",
        count(plateau.bytes.div_ceil(case.context.mss), "segment")
    ));
    Some(found)
}

const RAISE: &str = "raise the window of the application's protocol (HTTP/2 stream and connection window, SSH channel, outstanding reads)";

/// A window that is as large as what is sent for each grant: nothing is in flight when the next one
/// comes, so that each piece looks like a request and the grant like its answer.
fn in_turns(case: &ConnectionCase<'_>) -> Option<Finding> {
    let turns = Turns::of(case).filter(|turns| turns.are_credited(case))?;
    let piece = turns.request();
    let summary = format!(
        "the sender stopped after each {} B until a message of the receiver's program came, {}: {} of {}",
        thousands(piece),
        count(turns.number(), "time"),
        time(turns.lost),
        time(turns.whole),
    );
    let mut found = finding(Cause::ProtocolWindow, turns.lost, case.trust(0.75), summary);
    found.evidence.push(evidence("bytes for each message", piece as f64, "B", &turns.frames()));
    found.evidence.push(evidence("round trip", turns.rtt.as_millis_f64(), "ms", &[]));
    let receiver = if case.facts.requester == case.facts.client { "server" } else { "client" };
    found.fix = fix(Actor::Application, format!("on the {receiver}, {RAISE}"), None);
    found.settle = Some(format!(
        "a program that answers each {} B looks the same: see which program keeps the window, at either end",
        thousands(piece)
    ));
    found.predicted_s = turns.in_one_go(case);
    Some(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::cause::Cause;
    use crate::rules::scene::{MSS, Scene};

    /// 32,000 B a round trip, each flight set off by a message.
    fn credited() -> Scene {
        let mut scene = Scene::flights(&[32_000; 20]);
        scene.transfer.gaps.iter_mut().for_each(|gap| gap.with_peer_payload = true);
        scene.facts.directions[0].bytes = 1_000;
        scene
    }

    #[test]
    fn a_window_that_messages_open() {
        let found = credited().finding(Cause::ProtocolWindow).unwrap();
        assert_eq!(found.confidence, 0.85);
        assert!(credited().finding(Cause::SenderCap).is_none());
    }

    #[test]
    fn what_the_receiver_sends_itself_proves_no_credit() {
        let mut scene = credited();
        scene.facts.directions[0].bytes = 100_000;
        let found = scene.finding(Cause::ProtocolWindow).unwrap();
        assert!(found.confidence < 0.8 && found.settle.is_some(), "{found:?}");
    }

    #[test]
    fn a_cap_that_some_messages_follow_is_less_sure() {
        let mut scene = Scene::flights(&[32_000; 20]);
        assert_eq!(scene.finding(Cause::SenderCap).unwrap().confidence, 0.9);
        scene.transfer.gaps.iter_mut().step_by(3).for_each(|gap| gap.with_peer_payload = true);
        assert!(scene.finding(Cause::SenderCap).unwrap().confidence < 0.8);
    }

    #[test]
    fn flights_held_down_are_no_slow_opening_of_the_window() {
        // Uneven, and by a segment larger at the end than at the beginning.
        let sizes: Vec<u64> = (0..20u64).map(|n| (26 + 6 * (n % 3 / 2) + n / 19) * MSS).collect();
        let scene = Scene::flights(&sizes);
        assert!(scene.finding(Cause::EarlySlowStartExit).is_none(), "{:?}", scene.findings());
    }
}
