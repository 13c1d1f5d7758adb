//! Compares the compact storage of pending ACKs with storing each one individually.

use super::*;
use crate::tcp::sender::{PathEstimate, SenderState};
use proptest::prelude::*;

/// A segment that follows the previous one.
#[derive(Clone, Copy, Debug)]
struct Next {
    from: Side,
    /// Microseconds after the previous one.
    later: i64,
    payload: bool,
    /// Distance from the end of the side's data.
    skip: i32,
    /// Number of additional segments of the other side that it acknowledges; may be negative.
    acks: i32,
    /// Change of the window.
    window: u16,
    flags: u16,
    ticks: u32,
    stamped: bool,
    moved: bool,
    sacks: bool,
}

fn next() -> impl Strategy<Value = Next> {
    let rare = |one: i32| prop_oneof![12 => Just(0), 1 => Just(one), 1 => Just(-one)];
    let flags = prop_oneof![
        20 => Just(Flags::ACK.0),
        4 => Just((Flags::ACK | Flags::PSH).0),
        1 => Just((Flags::ACK | Flags::ECE).0),
        1 => Just((Flags::ACK | Flags::FIN).0),
        1 => Just(0),
    ];
    let marks = (0..3u32, prop::bool::weighted(0.95), prop::bool::weighted(0.05), prop::bool::weighted(0.05));
    (
        (prop_oneof![3 => Just(A), 1 => Just(B)], prop_oneof![8 => 0..900i64, 1 => Just(1_500_000)]),
        (any::<bool>(), rare(1_000), prop_oneof![6 => Just(0), 2 => 1..4, 1 => Just(-1)]),
        (prop_oneof![20 => Just(0u16), 1 => 0..3u16], flags),
        marks,
    )
        .prop_map(|((from, later), (payload, skip, acks), (window, flags), (ticks, stamped, moved, sacks))| Next {
            from,
            later,
            payload: payload || from == A,
            skip,
            acks,
            window,
            flags,
            ticks,
            stamped,
            moved,
            sacks,
        })
}

/// A segment with these sequence and acknowledgment numbers, flags and window.
fn seg(from: Side, [seq, ack]: [u32; 2], len: u32, (flags, window): (u16, u16), stamps: Option<(u32, u32)>) -> Seg {
    let mut seg = Seg::example(from, SeqNumber(seq), SeqNumber(ack), len, stamps);
    (seg.flags, seg.window) = (Flags(flags), window);
    seg
}

/// The state of both directions after these segments, as text. `apart`: does not recognise repeated
/// ACKs.
fn after(all: &[Next], ways: [i64; 2], apart: bool) -> String {
    let toward = ways.map(|micros| Some(Nanos::from_micros(micros)));
    let paths = toward.map(|way| PathEstimate::new(way, toward[0].zip(toward[1]).map(|(a, b)| a + b)));
    let mut senders = [SenderState::default(), SenderState::default()];
    for direction in &mut senders {
        direction.on_mss_negotiated(Some(1_000));
        direction.window.scale = Some(2);
    }
    let (mut time, mut clock) = (Time::ZERO, [5u32, 7_000]);
    let (mut seq, mut window) = ([1u32, 1], [20_000u16; 2]);
    for (number, next) in (1..).zip(all) {
        let (from, to) = (next.from, !next.from);
        if !next.moved {
            time += Nanos::from_micros(next.later);
        }
        clock[from] += next.ticks;
        window[from] = [window[from], 0, window[from] ^ 1_024][usize::from(next.window)];
        let una = senders[to].snd_una.max(1) as u32;
        let ack = una.saturating_add_signed(next.acks * 1_000);
        let start = seq[from].saturating_add_signed(next.skip);
        let len = if next.payload { 1_000 } else { 0 };
        let stamps = next.stamped.then_some((clock[from], clock[to]));
        let mut seg = seg(from, [start, ack], len, (next.flags, window[from]), stamps);
        seg.time = time;
        seg.frame_ref = Frame { file: None, number }.into();
        seq[from] = seq[from].max(start.saturating_add(len));
        if next.moved {
            seg.clamp_time(time);
        }
        let mut sack = SackBlocks::default();
        if next.sacks {
            sack.push(SeqNumber(ack + 1_000), SeqNumber(ack + 2_000));
        }
        if apart {
            senders[to].repeatable_ack = None;
        }
        senders[to].on_ack(&seg, &sack, &paths[to]);
        if senders[from].on_segment(&seg, &paths[from]) {
            senders[to].on_peer_payload(&seg);
        }
    }
    let waited = senders.each_ref().map(|direction| direction.pending_acks.len());
    let facts = [0, 1].map(|side| senders[side].finish(time, &paths[side]));
    let rest = senders.each_ref().map(|direction| {
        let samples = (direction.rtt.count(), direction.rtt.least(), direction.round_lengths.count());
        (
            direction.snd_una,
            direction.window.right_edge,
            direction.recent_loop_to_sender,
            direction.newest_peer_tsval,
            direction.stray,
            samples,
        )
    });
    format!("{waited:?} {facts:?} {rest:?}")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn repeated_acks_agree_with_individual_ones(
        all in prop::collection::vec(next(), 1..120),
        far in prop_oneof![Just(150i64), Just(3_000), Just(40_000)],
        both in any::<bool>(),
    ) {
        let ways = [if both { far } else { 20 }, far];
        prop_assert_eq!(after(&all, ways, false), after(&all, ways, true));
    }
}

#[test]
fn repeated_acks_are_stored_once() {
    // Far from side B, of whose data only the first byte was captured so far.
    let (far, mut direction) = (PathEstimate::new(Some(Nanos::from_millis(50)), None), SenderState::default());
    let seg = |from, numbers, stamps, micros| {
        let mut seg = seg(from, numbers, 1_000, (Flags::ACK.0, 500), Some(stamps));
        seg.time = Time::from_micros(micros);
        seg
    };
    for number in 1..=10 {
        direction.on_ack(&seg(A, [1_000 * number, 77], (number, 9), i64::from(number)), &SackBlocks::NONE, &far);
    }
    assert_eq!((direction.pending_acks.len(), direction.pending_acks.distinct_len()), (10, 1));
    // It sends the data allowed by the first four, and then a bit more.
    direction.on_segment(&seg(B, [77, 4_000], (9, 4), 49_900 + 4), &far);
    assert_eq!((direction.pending_acks.len(), direction.pending_acks.distinct_len()), (6, 1));
    assert_eq!(direction.recent_loop_to_sender, Nanos::from_millis(50), "never less than the least");
}
