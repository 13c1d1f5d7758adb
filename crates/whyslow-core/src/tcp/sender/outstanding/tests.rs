//! Compares outstanding segments with a plain list, and counts the steps for hostile sequences.
#![allow(clippy::unwrap_used)]

use super::*;
use proptest::prelude::*;

/// A segment, and whether it was sent more than once or came late.
type Listed = (OutstandingSegment, bool);

fn segment(start: u64, len: u32) -> OutstandingSegment {
    let time = Time(start as i64 * 10);
    OutstandingSegment { end: start + u64::from(len), time, passed_before: start, len, tsval: TsvalSample::default() }
}

fn hole(start: u64, end: u64) -> SequenceHole {
    let time = Time(0);
    SequenceHole { start, end, time, tsval: None, ip_id: None, previous_time: time, passed_before: 0 }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// `len` bytes of new data, `skip` bytes after the last byte.
    Send {
        skip: u64,
        len: u32,
    },
    /// Fills a part of the first hole: offset and length within the hole.
    Fill(prop::sample::Index, prop::sample::Index),
    /// Retransmits bytes.
    Repeat(prop::sample::Index, u64),
    Ack(prop::sample::Index),
}

fn step() -> impl Strategy<Value = Step> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        4 => (prop_oneof![3 => Just(0u64), 1 => 1u64..40], 1u32..20).prop_map(|(skip, len)| Step::Send { skip, len }),
        3 => (index(), index()).prop_map(|(at, len)| Step::Fill(at, len)),
        2 => (index(), 1u64..60).prop_map(|(at, len)| Step::Repeat(at, len)),
        2 => index().prop_map(Step::Ack),
    ]
}

proptest! {
    #[test]
    fn outstanding_agrees_with_a_list(steps in prop::collection::vec(step(), 1..120)) {
        let mut out = Outstanding::default();
        let (mut list, mut holes, mut top): (Vec<Listed>, Vec<(u64, u64)>, u64) = (Vec::new(), Vec::new(), 1);
        for step in steps {
            match step {
                Step::Send { skip, len } => {
                    if skip > 0 {
                        out.push_hole(hole(top, top + skip));
                        holes.push((top, top + skip));
                    }
                    let sent = segment(top + skip, len);
                    out.push(sent);
                    list.push((sent, false));
                    top = sent.end;
                }
                Step::Fill(at, len) => {
                    let Some(&(low, high)) = holes.first() else { continue };
                    let start = low + at.index((high - low) as usize) as u64;
                    let end = start + 1 + len.index((high - start) as usize) as u64;
                    let found = out.fill_hole(start, end).unwrap();
                    prop_assert_eq!((found.start, found.end), (low, high));
                    holes.splice(..1, [(low, start), (end, high)].into_iter().filter(|(low, high)| low < high));
                    let late = segment(start, (end - start) as u32);
                    let place = list.partition_point(|(sent, _)| sent.start() < start);
                    prop_assert_eq!(out.insert(late), true);
                    list.insert(place, (late, true));
                }
                Step::Repeat(at, len) => {
                    let start = at.index(top as usize) as u64;
                    let repeated = out.mark_retransmitted(start, start + len);
                    let those = list.iter_mut().filter(|(sent, _)| sent.start() < start + len && sent.end > start);
                    let ends: Vec<_> = those.map(|(sent, resent)| { *resent = true; (sent.start(), sent.end) }).collect();
                    prop_assert_eq!(repeated.first.map(|first| (first.start(), first.end)), ends.first().copied());
                    prop_assert_eq!(repeated.end, ends.last().map_or(0, |last| last.1));
                }
                Step::Ack(at) => {
                    let ack = at.index(top as usize + 1) as u64;
                    let count = list.iter().position(|(sent, _)| sent.end > ack).unwrap_or(list.len());
                    let gone: Vec<_> = list.drain(..count).collect();
                    let found = out.acknowledge(ack, true);
                    prop_assert_eq!(found.any_resent, gone.iter().any(|(_, resent)| *resent));
                    prop_assert_eq!(found.largest, gone.iter().map(|(sent, _)| u64::from(sent.len)).max().unwrap_or(0));
                    if !found.any_resent {
                        prop_assert_eq!(found.newest, gone.last().map(|(sent, _)| sent.time));
                    }
                    let mut below: Vec<_> = holes.iter().filter(|hole| hole.0 < ack).map(|hole| (hole.0, hole.1.min(ack))).collect();
                    out.take_holes_below(ack, |hole| assert_eq!((hole.start, hole.end), below.remove(0)));
                    prop_assert!(below.is_empty());
                    holes = holes.iter().map(|hole| (hole.0.max(ack), hole.1)).filter(|hole| hole.0 < hole.1).collect();
                }
            }
            for (sent, resent) in &list {
                let known = out.send_time_of(sent.end);
                prop_assert!(known.is_none() || (!resent && known == Some(sent.time)), "{sent:?} {resent} {known:?}");
            }
            prop_assert_eq!(out.holes().map(|hole| (hole.start, hole.end)).collect::<Vec<_>>(), holes.clone());
            prop_assert_eq!((out.is_empty(), out.forgotten()), (list.is_empty(), 0));
        }
    }
}

/// Steps for a hole of `bytes` that is filled byte by byte, from its upper or its lower end.
fn steps_to_fill(bytes: u64, falling: bool) -> u64 {
    steps::steps_during(|| {
        let mut out = Outstanding::default();
        out.push(segment(1, 1_000));
        out.push_hole(hole(1_001, 1_001 + bytes));
        out.push(segment(1_001 + bytes, 1_000));
        for i in 0..bytes {
            let start = 1_001 + if falling { bytes - 1 - i } else { i };
            assert!(out.fill_hole(start, start + 1).is_some());
            assert!(out.mark_retransmitted(start, start + 1).first.is_none());
            assert!(out.insert(segment(start, 1)));
        }
        assert!(out.acknowledge(2_001 + bytes, false).any_resent);
        assert!(out.is_empty());
    })
    .1
}

#[test]
fn steps_to_fill_a_hole_are_linear() {
    for falling in [false, true] {
        let [one, four] = [10_000, 40_000].map(|bytes| steps_to_fill(bytes, falling));
        assert!(one > 10_000 && four <= 4 * one + 100, "{one} {four}");
    }
}

#[test]
fn retransmission_of_many_segments_takes_few_steps() {
    for may_overlap in [false, true] {
        let mut out = Outstanding { may_overlap, ..Outstanding::default() };
        (0..60_000).for_each(|i| out.push(segment(1 + i, 1)));
        let steps = steps::steps_during(|| {
            let repeated = out.mark_retransmitted(100, 50_000);
            assert_eq!((repeated.first.unwrap().end, repeated.end), (101, 50_000));
        })
        .1;
        assert!(steps <= 4 * MAX_COMPARED as u64, "{steps}");
        assert!(out.acknowledge(50_000, false).any_resent);
        assert!(!out.acknowledge(60_001, false).any_resent);
    }
}

#[test]
fn segments_and_holes_beyond_the_limits_are_counted() {
    let mut out = Outstanding::default();
    for i in 0..MAX_HOLES as u64 + 10 {
        out.push_hole(hole(2 * i + 1, 2 * i + 2));
    }
    assert_eq!((out.holes().count(), out.forgotten()), (MAX_HOLES, 10));
    // Only one of the two remaining parts of a hole that is filled in its middle fits.
    let mut out = Outstanding::default();
    out.push_hole(hole(1, 1_000_001));
    for i in 0..MAX_HOLES as u64 + 10 {
        assert!(out.fill_hole(2 * i + 2, 2 * i + 3).is_some() || i >= MAX_HOLES as u64);
    }
    assert!(out.holes().count() <= MAX_HOLES && out.forgotten() > 0);
    let mut out = Outstanding::default();
    (0..MAX_OUTSTANDING as u64 + 10).for_each(|i| out.push(segment(1 + i, 1)));
    assert_eq!(out.forgotten(), 10);
    assert_eq!(out.acknowledge(11, false).newest, None);
    assert_eq!(out.acknowledge(12, false).newest, Some(Time(110)));
}
