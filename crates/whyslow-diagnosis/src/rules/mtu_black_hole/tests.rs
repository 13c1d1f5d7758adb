#![allow(clippy::unwrap_used)]

use super::*;
use crate::rules::icmp::tests::notice;
use crate::rules::synthetic_transfer::{MSS, SyntheticTransfer, at_ms, gap, ms};
use whyslow_analysis::cause::Cause;
use whyslow_analysis::types::Side;
use whyslow_analysis::{End, Near};
use whyslow_core::tcp::facts::Release;

/// The first segment of the second flight is retransmitted by the timer after 0.3 and 0.6 s, and
/// goes no farther.
fn stuck() -> SyntheticTransfer {
    let mut scene = SyntheticTransfer::flights(&[8 * MSS, 8 * MSS]);
    let mut at = scene.transfer.last_send;
    for wait in [300, 600] {
        scene.transfer.pauses.push(gap(at, at + ms(wait), Release::Timer));
        at += ms(wait);
    }
    (scene.transfer.stuck_large, scene.transfer.stuck_size) = (2, MSS);
    scene.transfer.rounds[1].last_send = at;
    (scene.transfer.last_send, scene.transfer.end, scene.facts.last) = (at, at + ms(100), at + ms(100));
    scene.facts.vantage.near = Near::Server;
    scene
}

#[test]
fn black_hole_without_an_icmp_error_advises_to_pass_errors() {
    let found = stuck().finding(Cause::MtuBlackHole).unwrap();
    assert_eq!((found.cost_s, found.confidence), (ms(900), 0.75));
    assert_eq!(found.details, []);
    assert_eq!(found.remedy(), Some(&Remedy::new(Actor::Network, LossAction::PassIcmp)));
    // 1,000 B of payload, 52 B of headers, less the ping's own 28.
    assert_eq!(found.to_confirm, confirm(LossQuestion::PingLarge { fails: 1024 }));
}

#[test]
fn ignored_icmp_error_names_size_and_router() {
    let mut scene = stuck();
    let error = notice(Fate::TooBig(Some(852)), Side::B, 1_100);
    scene.facts.notices.list = vec![Notice { last: at_ms(2_000), count: 3, ..error }];
    let found = scene.finding(Cause::MtuBlackHole).unwrap();
    let by = "192.0.2.9".to_owned();
    assert_eq!(found.details, [LossStatement::SizeIgnored { by: by.clone(), mtu: 852 }.into()]);
    assert_eq!(found.confidence, 0.95);
    assert!(found.evidence.iter().any(|evidence| (evidence.value, evidence.unit) == (852.0, Unit::Bytes)));
    let accept = LossAction::AcceptIcmp { from: by.clone(), on: End::Server };
    assert_eq!(found.remedies[0], Remedy::new(Actor::Sender, accept), "it came as far as the sender's own device");
    assert_eq!(found.remedies[1], Remedy::new(Actor::Network, LossAction::ClampMss { to: Some(812) }));
    assert_eq!(found.to_confirm, confirm(LossQuestion::PingReportedSize { from: End::Server, passes: 824 }));
    // Elsewhere it may be dropped on the rest of the way.
    scene.facts.vantage.near = Near::Middle;
    let pass = LossAction::PassIcmpOf { from: by, to: End::Server };
    let found = scene.finding(Cause::MtuBlackHole).unwrap();
    assert_eq!(found.remedy(), Some(&Remedy::new(Actor::Network, pass)));
    // Errors about the other side's packets are not evidence.
    scene.facts.notices.list[0].about = Side::A;
    assert_eq!(scene.finding(Cause::MtuBlackHole).unwrap().details, []);
}

/// A first segment that the timer retransmits `copies` times, and the largest size that passed in
/// the end.
fn found(copies: u64, passed: u64) -> Option<u64> {
    let mut scene = SyntheticTransfer::flights(&[8 * MSS, 8 * MSS]);
    let start = scene.transfer.rounds[0].last_send;
    scene.transfer.pauses = vec![gap(start, start + ms(90), Release::Timer)];
    (scene.transfer.stuck_large, scene.transfer.stuck_size) = (copies, MSS);
    scene.facts.directions[1].largest_acked_len = passed;
    scene.finding(Cause::MtuBlackHole).map(|found| found.evidence[1].value as u64)
}

#[test]
fn segment_that_passes_the_second_time_is_not_a_black_hole() {
    assert_eq!([found(2, 500), found(2, 0)], [Some(2); 2], "smaller ones pass, or nothing else was tried");
    assert_eq!((found(1, 500), found(2, MSS), found(3, MSS)), (None, None, Some(3)));
}

#[test]
fn an_error_that_is_not_heeded_stands_for_the_handshake() {
    let mut scene = stuck();
    scene.facts.handshake = Default::default();
    scene.transfer.acknowledged = false;
    assert!(scene.finding(Cause::MtuBlackHole).is_none());
    let error = notice(Fate::TooBig(Some(852)), Side::B, 1_100);
    scene.facts.notices.list = vec![Notice { last: at_ms(2_000), count: 3, ..error }];
    assert!(scene.finding(Cause::MtuBlackHole).is_some());
    // Large packets that pass do not explain it.
    scene.facts.notices.list[0].fate = Fate::TooBig(Some(1_500));
    assert!(scene.finding(Cause::MtuBlackHole).is_none());
}
