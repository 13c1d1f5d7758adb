//! Windows that are full, closed, or of unknown size.

use super::*;

#[test]
fn open_connection_has_windows_of_unknown_scale() {
    let mut script = Script::new();
    script.line(0.0, A, [501, 1], 100);
    script.line(1.0, B, [1, 601], MSS);
    let facts = script.run();
    assert_eq!(facts.client, A, "port 80 is the service's");
    assert_eq!(facts.directions[1].max_window, None);
    assert_eq!(facts.directions[1].bytes, 1000);
    assert_eq!(facts.directions[0].bytes, 100);
}

#[test]
fn full_receive_window_differs_from_a_small_congestion_window() {
    let mut script = Script::asked();
    for line in &mut script.lines {
        line.window = 3000;
    }
    script.window = 3000;
    for round in 0..4u32 {
        let ms = 200.0 + 100.0 * f64::from(round);
        for n in 0..3 {
            script.line(ms, B, [1 + (round * 3 + n) * MSS, 101], MSS);
        }
        script.line(ms + 100.0, A, [101, 1 + (round * 3 + 3) * MSS], 0);
    }
    let facts = script.run();
    assert_eq!(bulk(&facts).pauses.len(), 3);
    assert!(bulk(&facts).pauses.iter().all(|gap| gap.release == Release::WindowAck && gap.window_room == Some(0)));
    assert_eq!(facts.directions[1].max_window, Some(3000));
}

#[test]
fn zero_window_is_timed_and_its_probes_are_not_retransmissions() {
    let mut script = Script::asked();
    script.line(200.0, B, [1, 101], MSS);
    script.line(300.0, A, [101, 1001], 0).window = 0;
    script.line(600.0, B, [1000, 101], 0);
    script.line(700.0, A, [101, 1001], 0).window = 0;
    script.line(900.0, A, [101, 1001], 0);
    script.line(900.0, B, [1001, 101], MSS);
    let facts = script.run();
    let direction = &facts.directions[1];
    assert_eq!(
        (direction.zero_windows, direction.closings, direction.window_probes, direction.keep_alives),
        (2, 1, 1, 0)
    );
    assert_eq!(direction.zero_window, Nanos::from_millis(600));
    let gap = &bulk(&facts).pauses[0];
    assert_eq!(
        (gap.start, gap.closed.unwrap().1, gap.release),
        (Time::from_millis(200), Nanos::from_millis(600), Release::WindowAck)
    );
    assert_eq!(direction.retransmitted, Default::default());
}

#[test]
fn segment_beyond_a_closed_window_is_not_lost() {
    let retransmitted = |window: u16| {
        let mut script = Script::asked();
        script.line(200.0, B, [1, 101], MSS);
        script.line(200.0, B, [1001, 101], MSS);
        script.line(300.0, A, [101, 1001], 0).window = window;
        script.line(800.0, B, [1001, 101], MSS);
        script.line(900.0, A, [101, 2001], 0);
        script.line(900.0, B, [2001, 101], MSS);
        let facts = script.run();
        let (gap, again) = (bulk(&facts).pauses[0], facts.directions[1].retransmitted);
        (again.timeout + again.tail_probe, gap.closed.is_some(), gap.release)
    };
    assert_eq!(retransmitted(0), (0, true, Release::WindowUpdate), "its window ended before the segment");
    assert_eq!(retransmitted(4000), (1, false, Release::Timer));
}

#[test]
fn window_below_a_segment_stops_the_sender() {
    let released = |len: u32| {
        let mut script = Script::asked();
        script.line(200.0, B, [1, 101], MSS);
        script.line(300.0, A, [101, 1001], 0).window = 128;
        // Its timer sends what fits.
        script.line(600.0, B, [1001, 101], len);
        script.line(700.0, A, [101, 1001 + len], 0);
        script.line(700.0, B, [1001 + len, 101], MSS);
        let facts = script.run();
        bulk(&facts).pauses[0].release
    };
    assert_eq!(released(128), Release::WindowUpdate);
    assert_eq!(released(100), Release::Nothing, "there was room for so little");
}

#[test]
fn keep_alive_is_not_a_retransmission() {
    let mut script = Script::asked();
    script.line(200.0, B, [1, 101], MSS);
    script.line(300.0, A, [101, 1001], 0);
    script.line(60_000.0, B, [1000, 101], 0);
    script.line(60_100.0, A, [101, 1001], 0);
    script.line(90_000.0, B, [1000, 101], 1);
    script.line(90_100.0, A, [101, 1001], 0);
    let direction = &script.run().directions[1];
    assert_eq!((direction.keep_alives, direction.window_probes, direction.bytes), (2, 0, 1000));
    assert_eq!(direction.retransmitted, Default::default());
}

#[test]
fn window_below_half_of_its_size_is_timed() {
    let mut script = Script::asked();
    for line in &mut script.lines {
        line.window = 60_000;
    }
    script.line(200.0, B, [1, 101], MSS);
    script.line(300.0, A, [101, 1001], 0).window = 60_000;
    script.line(300.0, B, [1001, 101], MSS);
    script.line(400.0, A, [101, 2001], 0).window = 20_000;
    script.line(500.0, A, [101, 2001], 0).window = 25_000;
    script.line(650.0, A, [101, 2001], 0).window = 60_000;
    script.line(650.0, B, [2001, 101], MSS);
    script.line(750.0, A, [101, 3001], 0).window = 31_000;
    let facts = script.run();
    assert_eq!(bulk(&facts).window_low, Nanos::from_millis(250));
}
