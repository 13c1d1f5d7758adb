#![allow(clippy::unwrap_used)]

use super::*;
use crate::rules::synthetic_transfer::{MSS, SyntheticTransfer, at_ms, ms};
use whyslow_analysis::End;
use whyslow_analysis::types::{Frame, RetransmissionKind};
use whyslow_core::tcp::facts::Retransmission;

/// A router at 192.0.2.9 sends one error about this side's packets of 1,052 B.
pub(in crate::rules) fn notice(fate: Fate, about: Side, time: i64) -> Notice {
    Notice {
        fate,
        kind: (3, 1),
        by: [192, 0, 2, 9].into(),
        about,
        size: Some(1052),
        time: at_ms(time),
        frame: Frame { file: None, number: 77 },
        last: at_ms(time),
        count: 1,
    }
}

fn copy(scene: &mut SyntheticTransfer, time: i64, bytes: u64) {
    let (frame, kind) = (Frame::default(), RetransmissionKind::Fast);
    let copy = Retransmission { frame, time: at_ms(time), seq: 1, bytes, kind, unseen_original: false };
    scene.facts.directions[1].retransmissions.push(copy);
}

/// An ICMP error at 1.0 s reports to the server that 852 bytes pass, 800 of them payload.
fn scene_with_notice() -> (SyntheticTransfer, Notice) {
    (SyntheticTransfer::flights(&[8 * MSS, 8 * MSS]), notice(Fate::TooBig(Some(852)), Side::B, 1_000))
}

#[test]
fn retransmission_sizes_show_whether_a_sender_heeds_the_error() {
    let (mut scene, notice) = scene_with_notice();
    assert_eq!(was_heeded(&scene.facts, &notice), None, "nothing was retransmitted");
    copy(&mut scene, 1_010, 800);
    copy(&mut scene, 1_010, 200);
    assert_eq!(was_heeded(&scene.facts, &notice), Some(true));
    copy(&mut scene, 1_300, MSS);
    assert_eq!(was_heeded(&scene.facts, &notice), Some(false));
    // Other errors carry no size.
    let other = Notice { fate: Fate::HostUnreachable, ..notice };
    assert_eq!(was_heeded(&scene.facts, &other), None);
    assert_eq!(was_heeded(&scene.facts, &Notice { fate: Fate::TooBig(None), ..notice }), None);
}

#[test]
fn packets_before_the_error_or_after_its_expiry_do_not_count() {
    let (mut scene, notice) = scene_with_notice();
    scene.facts.vantage.toward[1] = Some(ms(60));
    copy(&mut scene, 990, MSS);
    copy(&mut scene, 1_050, MSS);
    assert_eq!(was_heeded(&scene.facts, &notice), None);
    // Long packets are tried again after some minutes.
    copy(&mut scene, 500_000, MSS);
    assert_eq!(was_heeded(&scene.facts, &notice), None);
    copy(&mut scene, 1_070, 800);
    assert_eq!(was_heeded(&scene.facts, &notice), Some(true));
}

#[test]
fn repeated_errors_were_not_heeded() {
    let (scene, notice) = scene_with_notice();
    let until = |time| was_heeded(&scene.facts, &Notice { last: at_ms(time), count: 9, ..notice });
    assert_eq!(until(1_120), None, "the flight that was on its way");
    assert_eq!(until(1_600), Some(false));
    assert_eq!(until(1_601_000), None, "tried again");
}

#[test]
fn segments_split_after_the_capture_point_are_not_long_packets() {
    let (mut scene, notice) = scene_with_notice();
    scene.facts.capture_defects.larger_than_mss = 3;
    copy(&mut scene, 1_010, 5 * 800);
    assert_eq!(was_heeded(&scene.facts, &notice), Some(true), "five segments in one");
    // Two of 400 are as long as one of 800.
    let short = Notice { fate: Fate::TooBig(Some(452)), ..notice };
    copy(&mut scene, 1_010, 800);
    assert_eq!(was_heeded(&scene.facts, &short), None);
}

#[test]
fn icmp_errors_of_both_sides_are_listed() {
    let (mut scene, notice) = scene_with_notice();
    copy(&mut scene, 1_010, MSS);
    scene.facts.notices.list = vec![notice, self::notice(Fate::Prohibited, Side::A, 1_500)];
    let listed = super::describe_all(&scene.facts, Time::ZERO);
    let [too_big, prohibited] = &listed[..] else { panic!("{listed:?}") };
    assert_eq!((too_big.kind, too_big.about, too_big.by.as_str()), (Fate::TooBig(Some(852)), End::Server, "192.0.2.9"));
    assert_eq!((too_big.size, too_big.mtu, too_big.obeyed), (Some(1_052), Some(852), Some(false)));
    assert_eq!((prohibited.kind, prohibited.about), (Fate::Prohibited, End::Client));
    assert_eq!((prohibited.mtu, prohibited.obeyed), (None, None));
}
