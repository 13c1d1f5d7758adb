//! Windows without a captured window scale option.

use super::*;

/// A download in flights of `flight` segments, captured next to the server without the handshake.
/// Each ACK offers `window`, as a header field.
fn download(flight: u32, flights: u32, window: impl Fn(u32) -> u16) -> Script {
    let mut script = Script::new();
    // Side A sends first.
    script.line(0.0, A, [1, 1], 0).window = window(0);
    for n in 0..flights {
        let (ms, seq) = (100.0 * f64::from(n), 1 + flight * MSS * n);
        for segment in 0..flight {
            script.line(ms + 0.1 * f64::from(segment), B, [seq + segment * MSS, 1], MSS);
        }
        script.line(ms + 100.0, A, [1, seq + flight * MSS], 0).window = window(n + 1);
    }
    script
}

#[test]
fn scale_is_inferred_from_repeatedly_full_windows() {
    for (shift, raw) in [(0u8, 10_000u16), (2, 2_500), (4, 625)] {
        let facts = download(10, 20, |_| raw).run();
        assert_eq!((facts.directions[1].assumed_shift, facts.directions[1].max_window), (Some(shift), Some(10_000)));
        // From the first one on, although the scale was known only later.
        assert!(bulk(&facts).rounds[1..].iter().all(|round| round.window == Some(10_000)), "{shift}");
        assert!(bulk(&facts).pauses[1..].iter().all(|gap| gap.release == Release::WindowAck));
    }
}

#[test]
fn stops_below_the_window_leave_the_scale_unknown() {
    // Room for a segment or more, under the smallest shift that allows the bytes in flight.
    for raw in [11_500, 6_000, 3_000, 900, 60_000] {
        let facts = download(10, 20, |_| raw).run();
        assert_eq!((facts.directions[1].assumed_shift, facts.directions[1].max_window), (None, None), "{raw}");
        assert!(bulk(&facts).pauses.iter().all(|gap| gap.release == Release::Ack && gap.window_room.is_none()));
    }
    // Sometimes full.
    let facts = download(10, 40, |n| if n % 2 == 0 { 10_000 } else { 13_000 }).run();
    assert_eq!(facts.directions[1].assumed_shift, None);
}

#[test]
fn assumed_scale_is_rejected_if_more_is_in_flight() {
    let mut script = download(10, 60, |_| 10_000);
    let (ms, seq) = (100.0 * 60.0, 1 + 10 * MSS * 60);
    for segment in 0..30 {
        script.line(ms + 0.1 * f64::from(segment), B, [seq + segment * MSS, 1], MSS);
    }
    script.line(ms + 100.0, A, [1, seq + 30 * MSS], 0).window = 10_000;
    script.line(ms + 100.0, B, [seq + 30 * MSS, 1], MSS);
    script.line(ms + 200.0, A, [1, seq + 31 * MSS], 0).window = 10_000;
    let facts = script.run();
    assert_eq!((facts.directions[1].assumed_shift, facts.directions[1].max_window), (None, None));
}

#[test]
fn zero_window_is_closed_at_any_scale() {
    let mut script = download(2, 30, |_| 900);
    let (ms, seq) = (100.0 * 30.0, 1 + 2 * MSS * 30);
    script.line(ms, B, [seq, 1], MSS);
    script.line(ms + 100.0, A, [1, seq + MSS], 0).window = 0;
    for (n, wait) in [300.0, 700.0, 1500.0].into_iter().enumerate() {
        // Like Linux's probes: one sequence number that was already acknowledged.
        script.line(ms + 100.0 + wait, B, [seq + MSS - 1, 1], 0);
        script.line(ms + 200.0 + wait, A, [1, seq + MSS], 0).window = if n == 2 { 900 } else { 0 };
    }
    script.line(ms + 1700.0, B, [seq + MSS, 1], MSS);
    script.line(ms + 1800.0, A, [1, seq + 2 * MSS], 0).window = 900;
    let facts = script.run();
    let direction = &facts.directions[1];
    assert_eq!((direction.closings, direction.zero_windows, direction.window_probes), (1, 3, 3));
    assert_eq!(direction.zero_window, Nanos::from_millis(1600));
    assert_eq!((direction.max_window, direction.keep_alives), (None, 0));
    let shut: Vec<_> = bulk(&facts).pauses.iter().filter(|gap| gap.closed.is_some()).collect();
    assert_eq!(shut.len(), 1);
    assert_eq!(shut[0].end - shut[0].start, Nanos::from_millis(1700));
    assert_eq!(facts.rtt.min, Some(Nanos::from_micros(99_900)));
}

#[test]
fn window_probes_are_not_rtt_samples() {
    // The capture begins while the window is closed: the sender sends only probes, each with a
    // newer timestamp. That is echoed 100 ms later, and the next probe acknowledges the echo.
    let mut script = Script::new();
    script.line(0.0, A, [1, 1], 0).window = 0;
    let mut ms = 0.0;
    for n in 0..6u32 {
        let (stamp, wait) = (1000 * n, 400.0 * f64::from(1u32 << n));
        ms += wait;
        script.line(ms, B, [0, 1], 0).stamps = Some((stamp + 50, stamp));
        let answer = script.line(ms + 100.0, A, [1, 1], 0);
        (answer.window, answer.stamps) = (0, Some((stamp + 1000, stamp + 50)));
    }
    let facts = script.run();
    assert_eq!(facts.vantage.toward, [Some(Nanos::from_millis(100)), None]);
    assert_eq!(facts.rtt.min, None);
    assert_eq!((facts.directions[1].closings, facts.directions[1].window_probes), (1, 6));
}
