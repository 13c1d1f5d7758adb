//! The bounds of a short connection must not be lower than the result of tracking its segments.

use super::*;
use proptest::prelude::*;

fn ms(milliseconds: i64) -> Nanos {
    Nanos::from_millis(milliseconds)
}

/// The time `milliseconds` after the base time.
fn at_ms(milliseconds: i64) -> Time {
    Time::from_millis(milliseconds)
}

/// Captured next to side B: a response of three segments, 20 ms after the request.
fn answered() -> Script {
    let mut script = Script::asked();
    for n in 0..3 {
        script.line(120.0 + f64::from(n), B, [1 + n * MSS, 101], MSS);
    }
    script
}

#[test]
fn request_and_response_have_exact_bounds() {
    let mut script = answered();
    script.line(225.0, A, [101, 3001], 0);
    let brief = script.connection().short_connection_bounds(at_ms(0), &[end(A), end(B)]).unwrap();
    // The round trip is 100 ms; the ACK came 103 ms after the last segment, and the ACK of the
    // request came with the response.
    let expected = ShortConnectionBounds {
        max_sending: ms(2),
        pauses: 0,
        max_ack_late: ms(20),
        max_answer: ms(20),
        transfers: 1,
        largest_transfer_segments: 3,
        ..ShortConnectionBounds::default()
    };
    assert_eq!(brief, expected);
}

#[test]
fn unusual_connection_has_no_bounds() {
    let after = |change: fn(&mut Script)| {
        let mut script = answered();
        change(&mut script);
        script.connection().short_connection_bounds(at_ms(0), &[end(A), end(B)])
    };
    assert!(after(|_| {}).is_some());
    assert_eq!(after(|script| _ = script.line(320.0, B, [2001, 101], MSS)), None, "retransmitted");
    assert_eq!(after(|script| _ = script.line(320.0, B, [4001, 101], MSS)), None, "a hole");
    assert_eq!(after(|script| _ = script.line(320.0, A, [101, 5001], 0)), None, "an ACK of uncaptured data");
    assert_eq!(after(|script| script.line(320.0, A, [101, 1], 0).sack = &[(1001, 3001)]), None, "a SACK");
    assert_eq!(after(|script| script.line(320.0, A, [0, 0], 0).flags = Flags::SYN), None, "a second SYN");
    let second_round = |script: &mut Script| {
        script.line(221.0, A, [101, 1001], 0);
        script.line(221.0, B, [3001, 101], MSS);
    };
    assert_eq!(after(second_round), None, "a second round");
    let many = |script: &mut Script| (0..130).for_each(|n| _ = script.line(400.0, B, [3001 + n * MSS, 101], MSS));
    assert_eq!(after(many), None, "more than are buffered");
}

#[test]
fn reset_with_payload_before_any_data_may_be_awaited() {
    let mut script = Script::new();
    script.line(0.0, A, [0, 0], 0).flags = Flags::SYN;
    script.line(20.0, B, [0, 1], 0).flags = Flags::SYN | Flags::ACK;
    script.line(40.0, A, [1, 1], 0);
    script.line(60.0, B, [1, 1], 12).flags = Flags::RST | Flags::ACK;
    let brief = script.connection().short_connection_bounds(at_ms(60), &[end(A), end(B)]).unwrap();
    assert!(brief.may_be_awaited && brief.transfers == 0, "{brief:?}");
}

#[test]
fn one_direction_is_marked() {
    let of = |sides: &[Side], step: u32| {
        let mut script = Script::new();
        for (n, &side) in (0..).zip(sides) {
            script.line(f64::from(n) * 2_000.0, side, [1 + step * n, 1], MSS);
        }
        let brief = script.connection().short_connection_bounds(at_ms(0), &[end(A), end(B)]);
        (brief.map(|brief| brief.one_direction), script.run().capture_defects.one_direction)
    };
    assert_eq!(of(&[A], MSS), (Some(true), true));
    assert_eq!(of(&[A, A, A], MSS), (Some(true), true));
    assert_eq!(of(&[A, A, A], 0), (None, true), "retransmissions need tracking");
    assert_eq!(of(&Side::BOTH, 0), (Some(false), false));
    let mut opening = Script::new();
    opening.line(0.0, A, [0, 0], 0).flags = Flags::SYN;
    let asked = opening.connection().short_connection_bounds(at_ms(2_000), &[end(A), end(B)]).unwrap();
    assert!(asked.may_be_awaited && !asked.one_direction, "a SYN without an answer is no such case");
}

/// Sender, payload length, delay, and whether it acknowledges everything captured before.
fn steps() -> impl Strategy<Value = Vec<(Side, u32, u32, bool)>> {
    let after = prop_oneof![4 => Just(0u32), 3 => 0u32..3, 2 => 0u32..60, 1 => 0u32..600];
    let len = prop_oneof![4 => Just(0u32), 2 => Just(MSS), 2 => 1u32..200, 1 => 200u32..40_000];
    prop::collection::vec((prop::sample::select(&Side::BOTH), len, after, prop::bool::weighted(0.8)), 1..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn bounds_are_never_below_the_tracked_values(
        steps in steps(),
        (toward, stamped) in ((0u32..80, 0u32..80), any::<bool>()),
        (again, fin, calls) in (prop::option::weighted(0.1, 0usize..60), any::<bool>(), any::<bool>()),
    ) {
        let mut script = Script::new();
        script.line(0.0, A, [0, 0], 0).flags = Flags::SYN;
        script.line(toward.1.into(), B, [0, 1], 0).flags = Flags::SYN | Flags::ACK;
        script.line((toward.0 + toward.1).into(), A, [1, 1], 0);
        let (mut next, mut acked, mut at) = ([1u32; 2], [1u32; 2], toward.0 + toward.1);
        for (n, &(from, len, after, acks)) in steps.iter().enumerate() {
            at += after;
            if acks {
                acked[from] = next[!from];
            }
            let back = if again == Some(n) { len } else { 0 };
            script.line(at.into(), from, [next[from].saturating_sub(back), acked[from]], len);
            next[from] += len - back;
        }
        if fin {
            script.line(at.into(), B, [next[1], acked[1]], 0).flags = Flags::FIN | Flags::ACK;
            script.line((at + 30).into(), A, [next[0], next[1] + 1], 0);
        }
        if stamped {
            let mut newest = [0; 2];
            for line in &mut script.lines {
                line.stamps = Some((line.ms as u32 + 7, newest[!line.from]));
                newest[line.from] = line.ms as u32 + 7;
            }
        }
        let ends = [end(A), (end(B).0, if calls { 6653 } else { 80 })];
        let Some(brief) = script.connection().short_connection_bounds(at_ms(0), &ends) else { return Ok(()) };
        let facts = script.connection().finish(ends);
        prop_assert_eq!(brief.one_direction, facts.capture_defects.one_direction);
        let (mut pauses, mut largest) = (0, 0);
        for (side, direction) in Side::BOTH.into_iter().zip(&facts.directions) {
            prop_assert!(direction.transfers_total <= brief.transfers);
            prop_assert_eq!(direction.retransmitted, Default::default());
            for transfer in &direction.transfers {
                prop_assert_eq!(transfer.rounds_total, 1);
                prop_assert!(transfer.last_send - transfer.start <= brief.max_sending);
                let least = facts.min_rtt().unwrap_or(Nanos::MAX);
                prop_assert!(transfer.end - transfer.last_send - least <= brief.max_ack_late, "{:?} {:?}", transfer, brief);
                if let Some(asked) = transfer.answered.filter(|_| side != facts.requester) {
                    prop_assert!(transfer.start - asked.last <= brief.max_answer);
                }
                pauses += transfer.pauses.len() as u64;
                largest = largest.max(transfer.bytes().div_ceil(u64::from(MSS)));
            }
        }
        prop_assert!(pauses <= brief.pauses);
        prop_assert!(largest <= brief.largest_transfer_segments);
    }
}
