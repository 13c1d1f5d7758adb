#![allow(clippy::unwrap_used)]

use super::*;
use crate::tcp::facts::{PeerMessage, RoundFacts, SendPause};

fn ms(ms: i64) -> Nanos {
    Nanos::from_millis(ms)
}

/// The time `milliseconds` after the base time.
fn at_ms(milliseconds: i64) -> Time {
    Time::from_millis(milliseconds)
}

/// One round every 100 ms from 1 s on, each followed by a pause; the last ACK is 100 ms after the
/// last round.
fn transfer(rounds: i64) -> TransferFacts {
    let at = |round: i64| at_ms(1_000 + 100 * round);
    let round = |n: i64| RoundFacts {
        start: at(n),
        last_send: at(n) + ms(10),
        bytes: 1_000,
        in_flight: 1_000 * (n as u64 + 1),
        merged: 1,
        ..RoundFacts::default()
    };
    TransferFacts {
        seq: (1, 1 + 1_000 * rounds as u64),
        start: at(0),
        end: at(rounds),
        last_send: at(rounds - 1) + ms(10),
        rounds: (0..rounds).map(round).collect(),
        rounds_total: rounds as u64,
        pauses: (1..rounds).map(|n| SendPause::example(at(n - 1) + ms(10), at(n))).collect(),
        max_in_flight: 1_000 * rounds as u64,
        acknowledged: true,
        out_of_order: 2,
        ..TransferFacts::default()
    }
}

fn elided(from: i64, until: i64) -> TransferFacts {
    let mut transfer = transfer(5);
    transfer.elide(&[(at_ms(from), at_ms(until))]);
    transfer
}

fn known_part(from: i64, until: i64) -> (Option<(i64, i64)>, usize) {
    let transfer = elided(from, until);
    (transfer.known_span.map(|(from, until)| (from.0 / 1_000_000, until.0 / 1_000_000)), transfer.rounds.len())
}

#[test]
fn known_part_is_the_longest_run_of_complete_rounds() {
    // The round after a gap depends on the omitted packets.
    assert_eq!(known_part(1_010, 1_050), (Some((1_200, 1_500)), 3));
    assert_eq!(known_part(1_210, 1_300), (Some((1_000, 1_200)), 2));
    assert_eq!(known_part(1_110, 1_150), (Some((1_300, 1_500)), 2));
    assert_eq!(known_part(1_410, 1_500), (Some((1_000, 1_400)), 4));
    assert_eq!(known_part(1_010, 1_500), (Some((1_000, 1_000)), 0));
    // A gap that begins with a round's first segment is in that round, and one that ends with it is
    // in the round before.
    assert_eq!(known_part(1_200, 1_250), (Some((1_000, 1_200)), 2));
    assert_eq!(known_part(1_250, 1_400), (Some((1_000, 1_200)), 2));
}

#[test]
fn elided_transfer_keeps_only_the_known_rounds_and_pauses() {
    let first = elided(1_250, 1_300);
    assert_eq!((first.pauses.len(), first.max_in_flight, first.last_send), (2, 2_000, at_ms(1_410)));
    assert!(!first.is_start_unknown());
    // The totals do not change.
    assert_eq!((first.bytes(), first.duration(), first.out_of_order), (5_000, ms(500), 0));
    let last = elided(1_010, 1_050);
    assert_eq!((last.pauses.len(), last.max_in_flight, last.last_send), (2, 5_000, at_ms(1_410)));
    assert!(last.is_start_unknown() && last.known_for() == ms(300) && last.round_of(2_000).is_none());
}

#[test]
fn rounds_between_two_stretches_are_known() {
    let mut transfer = transfer(9);
    transfer.elide(&[(at_ms(1_010), at_ms(1_020)), (at_ms(1_610), at_ms(1_620))]);
    assert_eq!((transfer.known_span, transfer.rounds.len()), (Some((at_ms(1_200), at_ms(1_600))), 4));
}

#[test]
fn unacknowledged_transfer_may_continue_after_its_end() {
    let mut open = TransferFacts { acknowledged: false, end: at_ms(1_410), ..transfer(5) };
    open.elide(&[(at_ms(1_410), at_ms(3_000))]);
    assert_eq!((open.known_span, open.rounds.len()), (Some((at_ms(1_000), at_ms(1_400))), 4));
}

#[test]
fn stretch_outside_the_transfer_changes_nothing() {
    for (from, until) in [(500, 900), (500, 1_000), (1_500, 1_600), (1_500, 1_500)] {
        assert_eq!(known_part(from, until), (None, 5), "{from} to {until}");
    }
    // Packets with the same time.
    assert_eq!(known_part(1_000, 1_000), (Some((1_200, 1_500)), 3));
    assert_eq!(known_part(500, 1_700), (Some((1_000, 1_000)), 0));
}

#[test]
fn request_followed_by_missing_packets_has_no_wait() {
    let asked = |from: i64, until: i64| {
        let mut answer = TransferFacts {
            answered: Some(PeerMessage { first: at_ms(400), last: at_ms(500), ..PeerMessage::default() }),
            ..transfer(2)
        };
        answer.elide(&[(at_ms(from), at_ms(until))]);
        answer.answered.is_some()
    };
    assert!(asked(100, 300) && asked(400, 500) && asked(1_010, 1_100));
    assert!(!asked(500, 1_000) && !asked(700, 800) && !asked(100, 2_000));
}

#[test]
fn touching_stretches_are_merged_and_bounded() {
    let mut stretches = Vec::new();
    for (from, until) in [(1, 2), (2, 4), (3, 4), (6, 7)] {
        add(&mut stretches, (at_ms(from), at_ms(until)));
    }
    assert_eq!(stretches, [(at_ms(1), at_ms(4)), (at_ms(6), at_ms(7))]);
    for n in 0..10_000 {
        add(&mut stretches, (at_ms(10 * n), at_ms(10 * n + 1)));
    }
    assert_eq!((stretches.len(), stretches.last().unwrap().1), (MAX, at_ms(99_991)));
}

#[test]
fn marks_apply_to_one_connection_or_to_all() {
    let [a, b, c] = [1, 2, 3].map(|n| (IpAddr::from([192, 0, 2, n]), u16::from(n)));
    let mut marks = ElisionMarks::default();
    marks.add(Some([b, a]), (at_ms(1), at_ms(2)));
    marks.add(Some([a, b]), (at_ms(2), at_ms(3)));
    marks.add(None, (at_ms(5), at_ms(6)));
    assert_eq!(marks.of([a, b]).collect::<Vec<_>>(), [(at_ms(1), at_ms(3)), (at_ms(5), at_ms(6))]);
    assert_eq!(marks.of([a, c]).collect::<Vec<_>>(), [(at_ms(5), at_ms(6))]);
    for n in 0..10_000 {
        marks.add(Some([a, b]), (at_ms(10 * n), at_ms(10 * n + 1)));
    }
    assert_eq!((marks.0.len(), marks.of([a, c]).last()), (MAX_MARKS, marks.of([a, b]).last()));
}
