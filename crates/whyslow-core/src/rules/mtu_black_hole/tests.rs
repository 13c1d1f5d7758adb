#![allow(clippy::unwrap_used)]

use super::*;
use crate::analysis::Near;
use crate::cause::Cause;
use crate::rules::icmp::tests::notice;
use crate::rules::scene::{MSS, Scene, at_ms, gap, ms};
use crate::tcp::facts::Release;
use crate::types::Side;

/// The first segment of the second flight is retransmitted by the timer after 0.3 and 0.6 s, and
/// goes no farther.
fn stuck() -> Scene {
    let mut scene = Scene::flights(&[8 * MSS, 8 * MSS]);
    let mut at = scene.transfer.last_send;
    for wait in [300, 600] {
        scene.transfer.gaps.push(gap(at, at + ms(wait), Release::Timer));
        at += ms(wait);
    }
    (scene.transfer.stuck_large, scene.transfer.stuck_size) = (2, MSS);
    scene.transfer.rounds[1].last_send = at;
    (scene.transfer.last_send, scene.transfer.end, scene.facts.last) = (at, at + ms(100), at + ms(100));
    scene.facts.vantage.near = Near::Server;
    scene
}

#[test]
fn without_an_error_the_path_is_to_let_errors_pass() {
    let found = stuck().finding(Cause::MtuBlackHole).unwrap();
    assert_eq!((found.cost_s, found.confidence), (ms(900), 0.75));
    assert!(!found.unconverted_summary().contains("ICMP"), "{}", found.unconverted_summary());
    assert_eq!(found.unconverted_fix().unwrap().who, Actor::Network);
    // 1,000 B of payload, 52 B of headers, less the ping's own 28.
    assert!(found.unconverted_settle().unwrap().contains("`ping -M do -s 1024` must fail"));
}

#[test]
fn an_error_that_the_sender_does_not_heed_names_the_size_and_the_router() {
    let mut scene = stuck();
    let error = notice(Fate::TooBig(Some(852)), Side::B, 1_100);
    scene.facts.notices.list = vec![Notice { last: at_ms(2_000), count: 3, ..error }];
    let found = scene.finding(Cause::MtuBlackHole).unwrap();
    assert!(
        found
            .unconverted_summary()
            .ends_with("192.0.2.9 says by ICMP that packets of 852 B pass, and the sender does not heed it"),
        "{}",
        found.unconverted_summary()
    );
    assert_eq!(found.confidence, 0.95);
    assert!(found.evidence.iter().any(|evidence| (evidence.value, evidence.unit) == (852.0, Unit::Bytes)));
    let fix = found.unconverted_fix().unwrap();
    assert_eq!(fix.who, Actor::Sender, "it came as far as the sender's own device");
    assert!(fix.what.contains("clamp the MSS to 812 B"), "{}", fix.what);
    assert!(
        found
            .unconverted_settle()
            .unwrap()
            .contains("`ping -M do -s 824` must pass, and `ping -M do -s 825` must fail")
    );
    // Elsewhere it may be dropped on the rest of the way.
    scene.facts.vantage.near = Near::Middle;
    assert_eq!(scene.finding(Cause::MtuBlackHole).unwrap().unconverted_fix().unwrap().who, Actor::Network);
    // What is said of the other side's packets is no evidence.
    scene.facts.notices.list[0].about = Side::A;
    assert!(!scene.finding(Cause::MtuBlackHole).unwrap().unconverted_summary().contains("ICMP"));
}

/// A first segment that the timer sends again so often, and what passed at most in the end.
fn found(copies: u64, passed: u64) -> Option<u64> {
    let mut scene = Scene::flights(&[8 * MSS, 8 * MSS]);
    let start = scene.transfer.rounds[0].last_send;
    scene.transfer.gaps = vec![gap(start, start + ms(90), Release::Timer)];
    (scene.transfer.stuck_large, scene.transfer.stuck_size) = (copies, MSS);
    scene.facts.directions[1].largest_acked_len = passed;
    scene.finding(Cause::MtuBlackHole).map(|found| found.evidence[1].value as u64)
}

#[test]
fn what_passes_the_second_time_was_lost_by_chance() {
    assert_eq!([found(2, 500), found(2, 0)], [Some(2); 2], "smaller ones pass, or nothing else was tried");
    assert_eq!((found(1, 500), found(2, MSS), found(3, MSS)), (None, None, Some(3)));
}
