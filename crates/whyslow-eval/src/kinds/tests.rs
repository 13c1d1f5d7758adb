#![allow(clippy::unwrap_used)]

use super::*;
use whyslow_analysis::{Frame, Retransmitted};
use whyslow_units::Nanos;

fn retransmission(frame: u64, ms: i64, seq: u64, bytes: u64, kind: RetransmissionKind) -> Retransmission {
    let frame = Frame { file: None, number: frame };
    Retransmission { frame, time_s: Nanos::from_millis(ms), seq, bytes, kind, unseen_original: false }
}

fn direction(retransmissions: Vec<Retransmission>) -> Direction {
    Direction {
        from: End::Server,
        bytes: 0,
        packets: 0,
        retransmitted: Retransmitted::default(),
        retransmissions_total: retransmissions.len() as u64,
        retransmissions,
        out_of_order: 0,
        duplicate_acks: 0,
        window_probes: 0,
        keep_alives: 0,
        duplicated: 0,
        zero_windows: 0,
        window_full: 0,
        zero_window_s: Nanos::ZERO,
        max_in_flight: 0,
        max_window: None,
        largest_record: None,
    }
}

fn was(seq: u32, why: Option<Why>) -> WireRetransmission {
    WireRetransmission {
        client_port: 40_000,
        direction: Way::Down,
        seq,
        space: 1000,
        sent: 0,
        arrived: None,
        needless: false,
        reported: false,
        first_to_arrive: false,
        doubled: false,
        why,
    }
}

fn counts(tally: &Tally, kind: usize) -> (u64, u64, u64) {
    let count = tally.kinds[kind];
    (count.truth, count.found, count.right)
}

#[test]
fn a_wrong_kind_costs_both_kinds() {
    let truth = [was(1, Some(Why::Fast)), was(1001, Some(Why::Timeout)), was(2001, Some(Why::Timeout))];
    let placed = [(&truth[0], 0.1), (&truth[1], 0.2), (&truth[2], 0.3)];
    let kinds = [RetransmissionKind::Fast, RetransmissionKind::Fast, RetransmissionKind::Timeout];
    let all =
        (0..3).map(|n| retransmission(n + 7, 100 * (n as i64 + 1), 1 + 1000 * n, 1000, kinds[n as usize])).collect();
    let tally = one_direction("here", &direction(all), &placed);
    assert_eq!((counts(&tally, 0), counts(&tally, 1)), ((1, 2, 1), (2, 1, 1)));
    assert_eq!(tally.wrong, ["here frame 8 (bytes 1001 to 2001, 0.200000 s): `timeout` was called `fast`"]);
    let page = table(&[tally, Tally::default()]);
    assert!(page.contains("| fast | 1 | 2 | 0.500 | 1.000 |\n| timeout | 2 | 1 | 1.000 | 0.500 |"), "{page}");
}

#[test]
fn what_is_missed_costs_recall_and_what_is_made_up_precision() {
    let truth = [was(1, Some(Why::TailProbe)), was(1001, Some(Why::TailProbe))];
    // The same bytes at another time are another copy.
    let listed = vec![
        retransmission(7, 100, 1, 1000, RetransmissionKind::TailProbe),
        retransmission(9, 500, 1, 1000, RetransmissionKind::TailProbe),
    ];
    let tally = one_direction("here", &direction(listed), &[(&truth[0], 0.1), (&truth[1], 0.2)]);
    assert_eq!(counts(&tally, 2), (2, 2, 1));
    assert_eq!(tally.wrong.len(), 2);
}

#[test]
fn a_needless_copy_is_spurious_and_an_unknown_one_is_not_judged() {
    let needless = WireRetransmission { needless: true, reported: true, ..was(1, None) };
    let unknown = [was(1001, None), WireRetransmission { doubled: true, ..was(2001, Some(Why::Timeout)) }];
    let listed = vec![
        retransmission(7, 100, 1, 1000, RetransmissionKind::Spurious),
        retransmission(8, 200, 1001, 1000, RetransmissionKind::Fast),
        retransmission(9, 200, 2001, 1000, RetransmissionKind::Fast),
    ];
    let tally = one_direction("here", &direction(listed), &[(&needless, 0.1), (&unknown[0], 0.2), (&unknown[1], 0.2)]);
    assert_eq!((counts(&tally, 3), counts(&tally, 0)), ((1, 1, 1), (0, 0, 0)));
    assert_eq!((tally.unknown, tally.wrong.len()), (2, 0));
}

#[test]
fn what_was_needless_without_a_report_may_go_by_its_mechanism() {
    let silent = [1, 1001, 2001].map(|seq| WireRetransmission { needless: true, ..was(seq, Some(Why::Timeout)) });
    let kinds = [RetransmissionKind::Timeout, RetransmissionKind::Spurious, RetransmissionKind::Fast];
    let listed = (0..3).map(|n| retransmission(n + 7, 100, 1 + 1000 * n, 1000, kinds[n as usize])).collect();
    let placed: Vec<_> = silent.iter().map(|segment| (segment, 0.1)).collect();
    let tally = one_direction("here", &direction(listed), &placed);
    assert_eq!([1, 3, 0].map(|kind| counts(&tally, kind)), [(2, 1, 1), (1, 1, 1), (0, 1, 0)]);
    assert_eq!((tally.unreported, tally.wrong.len()), (3, 1));
}

#[test]
fn a_large_segment_of_a_capture_is_as_many_as_there_were_on_the_wire() {
    let truth = [was(1, Some(Why::Timeout)), was(1001, Some(Why::Timeout))];
    let listed = vec![retransmission(7, 100, 1, 2000, RetransmissionKind::Timeout)];
    let tally = one_direction("here", &direction(listed), &[(&truth[0], 0.1), (&truth[1], 0.1001)]);
    assert_eq!(counts(&tally, 1), (2, 2, 2));
}

#[test]
fn losses_before_the_capture_are_judged_one_by_one() {
    let lost = [WireRetransmission { first_to_arrive: true, ..was(1, Some(Why::Fast)) }, was(1001, Some(Why::Fast))];
    let unseen = |class: Retransmission| Retransmission { unseen_original: true, ..class };
    let (one, two) = (
        retransmission(7, 100, 1, 1000, RetransmissionKind::Fast),
        retransmission(8, 100, 1001, 1000, RetransmissionKind::Fast),
    );
    let judged = |listed| one_direction("here", &direction(listed), &[(&lost[0], 0.1), (&lost[1], 0.1)]).unseen;
    assert_eq!(judged(vec![unseen(one), two]), Count { truth: 1, found: 1, right: 1 });
    assert_eq!(judged(vec![one, unseen(two)]), Count { truth: 1, found: 1, right: 0 });
}

#[test]
fn nothing_is_missed_behind_the_end_of_a_list() {
    let truth = [was(1, Some(Why::Fast)), was(1001, Some(Why::Fast))];
    let listed = vec![retransmission(7, 100, 1, 1000, RetransmissionKind::Fast)];
    let cut = Direction { retransmissions_total: 2, ..direction(listed) };
    let tally = one_direction("here", &cut, &[(&truth[0], 0.1), (&truth[1], 0.2)]);
    assert_eq!((counts(&tally, 0), tally.unlisted), ((1, 1, 1), 1));
}
