#![allow(clippy::unwrap_used)]

use super::*;
use whyslow_analysis::{End, Frame};
use whyslow_core::wire::Flags;
use whyslow_units::{Nanos, SeqNumber};

fn data(number: u64, micros: i64, seq: u64, len: u32, kind: Kind) -> Point {
    Point {
        time: Nanos::from_micros(micros),
        frame: Frame { file: None, number },
        from: End::Server,
        flags: Flags::ACK,
        len,
        seq: Some(seq),
        raw_seq: SeqNumber(seq as u32),
        ack: Some(1),
        raw_ack: Some(SeqNumber(1)),
        window: Some(1_000),
        raw_window: 1_000,
        kind,
        unseen_original: false,
        duplicate_ack: false,
        marked: false,
        sack: [(0, 0); 4],
        sacks: 0,
        dsack: false,
        in_flight: Some(u64::from(len)),
        applied: None,
        rtt: None,
    }
}

fn ack(number: u64, micros: i64, ack: u64) -> Point {
    let empty = data(number, micros, 1, 0, Kind::Empty);
    Point { from: End::Client, ack: Some(ack), in_flight: None, ..empty }
}

/// A bulk transfer of `count` segments, one per microsecond, each acknowledged; one in 10,000 is
/// retransmitted.
fn bulk(count: u64) -> Series {
    let end = Nanos::from_micros(count as i64);
    let mut builder = SeriesBuilder::new((Nanos::ZERO, end), 2 * count);
    builder.push(&ack(0, 0, 1));
    for n in 0..count {
        let kind = if n % 10_000 == 5_000 { Kind::Timeout } else { Kind::New };
        builder.push(&data(2 * n + 1, n as i64, 1 + 1_000 * n, 1_000, kind));
        builder.push(&ack(2 * n + 2, n as i64, 1 + 1_000 * (n + 1)));
    }
    builder.finish()
}

#[test]
fn many_packets_need_bounded_memory_and_keep_all_marks() {
    let series = bulk(500_000);
    assert!(series.points().is_none(), "a million segments are not kept one by one");
    let foot = &series.levels[0];
    assert!(foot.columns.len() <= MAX_COLUMNS);
    let all: usize = series.levels.iter().map(|level| level.columns.len()).sum();
    assert!(all < MAX_COLUMNS * 4 / 3 + 1_024, "{all}");
    for columns in [1, 100, 1_900, 100_000] {
        let (from, to) = series.range();
        let view = series.view(from, to, columns);
        let resent: u64 =
            view.marks.iter().filter(|sum| sum.mark == Mark::Segment(Kind::Timeout)).map(|sum| sum.count).sum();
        assert_eq!(resent, 50, "in {columns} columns");
        assert!(view.columns.len() <= columns.max(1) + 1);
        let bytes: u64 = view.columns.iter().map(|(_, column)| column.lanes[1].bytes).sum();
        assert_eq!(bytes, 500_000_000);
        let acked: u64 = view.columns.iter().map(|(_, column)| column.lanes[1].acked).sum();
        assert_eq!(acked, 500_000_000);
    }
}

#[test]
fn narrow_view_of_many_packets_is_not_exact() {
    let series = bulk(500_000);
    let narrow = |series: &Series| {
        let view = series.view(Nanos::from_micros(5_000), Nanos::from_micros(5_100), 1_000);
        (view.exact, view.points.map(<[Point]>::len))
    };
    assert_eq!(narrow(&series), (false, None));
    // A series of only that time range keeps its points.
    let mut builder = SeriesBuilder::new((Nanos::from_micros(5_000), Nanos::from_micros(5_100)), 1_000_000);
    for n in 0..10_000 {
        builder.push(&data(n, n as i64, 1 + 1_000 * n, 1_000, Kind::New));
    }
    let series = builder.finish();
    assert_eq!(narrow(&series), (true, Some(101)));
    assert_eq!(series.packets(), 101);
}

#[test]
fn columns_hold_the_extremes() {
    let mut builder = SeriesBuilder::new((Nanos::ZERO, Nanos::from_micros(10_000)), 4);
    builder.push(&data(1, 0, 1, 1_000, Kind::New));
    builder.push(&data(2, 10, 4_001, 1_000, Kind::New));
    let mut late = ack(3, 20, 5_001);
    (late.rtt, late.applied) = (Some(Nanos::from_micros(20)), Some((Nanos::from_micros(20), 77)));
    builder.push(&late);
    builder.push(&Point { window: Some(0), raw_window: 0, ..ack(4, 30, 5_001) });
    let series = builder.finish();
    let view = series.view(Nanos::ZERO, Nanos::from_micros(10_000), 1);
    let [(_, column)] = view.columns.as_slice() else { panic!("{:?}", view.columns) };
    let lane = &column.lanes[1];
    assert_eq!(lane.segments.get(), Some((1, 5_001)));
    assert_eq!(lane.in_flight.get(), Some((77, 1_000)));
    assert_eq!(lane.window.get(), Some((0, 1_000)));
    assert_eq!(lane.edge.get(), Some((5_001, 6_001)));
    assert_eq!(lane.rtt.get(), Some((20_000, 20_000)));
    assert_eq!(lane.packets, 2);
    let marks: Vec<_> = view.marks.iter().map(|sum| (sum.mark, sum.of, sum.count)).collect();
    assert_eq!(marks, [(Mark::ZeroWindow, End::Server, 1)]);
    assert_eq!(view.points.map(<[Point]>::len), Some(4));
}

#[test]
fn unknown_scale_is_reported() {
    let mut builder = SeriesBuilder::new((Nanos::ZERO, Nanos(1)), 1);
    builder.push(&Point { window: None, ..ack(1, 0, 1) });
    let series = builder.finish();
    assert_eq!(series.scale_known(), [true, false]);
    assert_eq!(series.view(Nanos::ZERO, Nanos(1), 1).columns[0].1.lanes[1].edge.get(), None);
}

#[test]
fn rates_are_bytes_over_the_window() {
    let series = bulk(100_000);
    // 1,000 bytes per microsecond.
    let (from, to) = series.range();
    let rates = series.rates(End::Server, (from, to), 10, Nanos::from_micros(5_000));
    assert_eq!(rates.len(), 10);
    assert!(rates.iter().all(|rate| (rate.throughput / 8e9 - 1.0).abs() < 0.01), "{rates:?}");
    assert!(rates.iter().all(|rate| (rate.goodput / 8e9 - 1.0).abs() < 0.01), "{rates:?}");
    assert!(series.rates(End::Client, (from, to), 10, Nanos::ZERO).iter().all(|rate| rate.throughput == 0.0));
}

#[test]
fn invalid_times_and_ranges_are_harmless() {
    let mut builder = SeriesBuilder::new((Nanos(i64::MAX), Nanos(i64::MIN)), u64::MAX);
    for time in [i64::MIN, -1, 0, i64::MAX] {
        let point = Point {
            time: Nanos(time),
            applied: Some((Nanos(i64::MAX), u64::MAX)),
            ..data(1, 0, u64::MAX / 2, 1, Kind::New)
        };
        builder.push(&point);
    }
    let series = builder.finish();
    for (from, to) in [(Nanos(i64::MIN), Nanos(i64::MAX)), (Nanos(5), Nanos(-5)), (Nanos::ZERO, Nanos::ZERO)] {
        for columns in [0, 1, 1_000] {
            let _ = series.view(from, to, columns);
            let _ = series.rates(End::Client, (from, to), columns, Nanos(1));
        }
    }
}
