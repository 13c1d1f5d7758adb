#![allow(clippy::unwrap_used)]
use super::*;
use crate::log::{Counts, Direction, Impairments, LatenessSummary, Meta, Record};

/// A packet that came in, was due, and left at these milliseconds.
fn record(at: u64, due: u64, out: u64) -> Record {
    Record {
        in_ns: at * 1_000_000,
        due_ns: due * 1_000_000,
        out_ns: out * 1_000_000,
        fate: Fate::Passed,
        touched: Impairments::default(),
        queue_bytes: 0,
        queue_packets: 0,
        meta: Meta::default(),
    }
}

fn link(records: Vec<Record>) -> LinkLog {
    LinkLog {
        link: 0,
        direction: Direction::Up,
        counts: Counts::default(),
        lateness: LatenessSummary::default(),
        unrecorded: 0,
        records,
    }
}

fn added_ms(links: &[LinkLog], from: u64, to: u64) -> u64 {
    Delays::new(links).added_ns(from * 1_000_000, to * 1_000_000) / 1_000_000
}

#[test]
fn packets_that_were_late_side_by_side_count_once() {
    let flight = link(vec![record(0, 10, 13), record(0, 10, 14), record(1, 11, 14)]);
    assert_eq!(added_ms(&[flight], 0, 100), 4);
}

#[test]
fn a_chain_of_packets_adds_up_over_both_directions() {
    let up = link(vec![record(0, 10, 12), record(25, 35, 36)]);
    let down = link(vec![record(12, 22, 25), record(11, 21, 29)]);
    // 2 + 3 + 1; packets that arrived before the first had left do not follow it.
    assert_eq!(added_ms(&[up.clone(), down.clone()], 0, 28), 5);
    assert_eq!(added_ms(&[up.clone(), down.clone()], 0, 100), 8, "one alone was later than all of the chain");
    assert_eq!(added_ms(&[up, down], 26, 100), 8);
    assert_eq!(added_ms(&[], 0, 100), 0);
}

#[test]
fn dropped_packets_and_those_outside_do_not_count() {
    let lost = Record { fate: Fate::Lost, ..record(0, 10, 50) };
    let links = [link(vec![lost, record(0, 10, 11), record(60, 70, 79)])];
    assert_eq!(added_ms(&links, 0, 55), 1);
    assert_eq!(added_ms(&links, 55, 100), 9);
}

#[test]
fn half_of_the_time_puts_the_cause_in_doubt() {
    let noise = |added: f64| Noise { added_s: added, late_s: added, time_s: 0.03, ..Noise::default() };
    assert!(noise(0.001).is_quiet() && noise(0.001).doubt().is_none());
    assert!(!noise(0.009).is_quiet() && noise(0.009).doubt().is_none());
    assert_eq!(noise(0.016).doubt().unwrap(), "packets that were late may have added 16.0 ms of 30.0 ms");
    let waited = Noise { late_s: 0.001, ..noise(0.02) };
    assert!(!waited.is_quiet() && waited.doubt().is_none(), "a program without a processor is no limit of TCP");
    assert_eq!(Noise::default().share(), 0.0, "nothing was moved, nothing was late");
}
