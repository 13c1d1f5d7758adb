//! IP IDs and timestamps show the reason for silences.

use super::*;
use crate::tcp::facts::SendPause;

/// Captured next to the client: two flights of the server, the last segment of the second one
/// short, then a silence of 400 ms and two more segments. IP IDs increase by one, except for `lost`
/// missing ones in the silence.
fn pause(lost: u16, numbered: bool) -> Facts {
    let mut script = Script::new();
    script.line(0.0, A, [0, 0], 0).flags = Flags::SYN;
    script.line(100.0, B, [0, 1], 0).flags = Flags::SYN | Flags::ACK;
    script.line(100.0, A, [1, 1], 0);
    script.line(100.0, A, [1, 1], 100);
    let mut id = 40_000;
    let mut send = |script: &mut Script, ms: f64, n: u32, skipped: u16| {
        id += 1 + skipped;
        let len = if n == 5 { 500 } else { MSS };
        script.line(ms, B, [1 + n * MSS, 101], len).ip_id = if numbered { id } else { 0 };
        script.line(ms, A, [101, 1 + n * MSS + len], 0);
    };
    for n in 0..6 {
        send(&mut script, if n < 2 { 200.0 } else { 300.0 } + f64::from(n) * 0.1, n, 0);
    }
    id += 1 + lost;
    for (ms, seq) in [(700.5, 5501), (700.6, 6501)] {
        script.line(ms, B, [seq, 101], MSS).ip_id = if numbered { id } else { 0 };
        id += 1;
    }
    script.line(700.7, A, [101, 7501], 0);
    script.run()
}

fn longest(facts: &Facts) -> SendPause {
    *bulk(facts).pauses.iter().max_by_key(|gap| gap.end - gap.start).unwrap()
}

#[test]
fn silence_with_one_missing_id_is_a_lost_tail() {
    let facts = pause(1, true);
    let (gap, direction) = (longest(&facts), &facts.directions[1]);
    assert_eq!((gap.release, gap.tail, gap.missing), (Release::Timer, true, Some(1)));
    assert_eq!((direction.retransmitted.tail_probe, direction.retransmitted.unseen_original), (1, 1));
}

#[test]
fn silence_with_many_missing_ids_is_a_timeout() {
    let facts = pause(5, true);
    let (gap, direction) = (longest(&facts), &facts.directions[1]);
    assert_eq!((gap.release, gap.tail, gap.missing), (Release::Timer, false, Some(5)));
    assert_eq!((direction.retransmitted.timeout, direction.retransmitted.unseen_original), (1, 1));
}

#[test]
fn silence_without_missing_ids_is_the_applications() {
    for (numbered, missing) in [(true, Some(0)), (false, None)] {
        let facts = pause(0, numbered);
        let gap = longest(&facts);
        assert_eq!((gap.release, gap.app_limited, gap.missing), (Release::Nothing, true, missing));
        assert_eq!(facts.directions[1].retransmitted.unseen_original, 0);
    }
}

/// Captured next to the client: the head of a response, then a silence of 900 ms, and the rest of
/// it. IP IDs increase by one from the server's first ACK on, except for `lost` missing ones in the
/// silence.
fn silence_behind_the_head(lost: u16) -> Facts {
    let mut script = Script::new();
    script.line(0.0, A, [0, 0], 0).flags = Flags::SYN;
    script.line(100.0, B, [0, 1], 0).flags = Flags::SYN | Flags::ACK;
    script.line(100.0, A, [1, 1], 0);
    script.line(100.0, A, [1, 1], 100);
    script.line(200.0, B, [1, 101], 0).ip_id = 40_000;
    script.line(200.5, B, [1, 101], 250).ip_id = 40_001;
    script.line(200.5, A, [101, 251], 0);
    for n in 0..12u16 {
        let (ms, seq) = (1_100.0 + f64::from(n), 251 + MSS * u32::from(n));
        script.line(ms, B, [seq, 101], MSS).ip_id = 40_002 + lost + n;
        script.line(ms, A, [101, seq + MSS], 0);
    }
    script.run()
}

#[test]
fn ids_found_reliable_later_apply_to_earlier_pauses() {
    let gap = |lost: u16| longest(&silence_behind_the_head(lost));
    assert_eq!((gap(9).release, gap(9).missing), (Release::Timer, Some(9)));
    assert_eq!(gap(0).release, Release::Nothing);
    assert_eq!(gap(1).release, Release::Nothing, "an ACK, maybe");
    assert_eq!(gap(900).release, Release::Nothing, "others have used them");
}

#[test]
fn last_ack_restarts_the_timer() {
    // The silence of 400 ms is a round trip and a timeout of 300 ms.
    let releases: Vec<_> = bulk(&pause(1, true)).pauses.iter().map(|gap| gap.release).collect();
    assert_eq!(releases.last(), Some(&Release::Timer));
    assert!(!releases.contains(&Release::Nothing), "{releases:?}");
}

#[test]
fn segments_with_equal_tsval_were_sent_together() {
    let mut script = Script::asked();
    for n in 0..10 {
        let ms = 200.0 + f64::from(n) * 30.0;
        // Two pairs; the segments of each pair have the same timestamp.
        script.line(ms, B, [1 + n * MSS, 101], MSS).stamps = Some((200 + n / 2 * 60, 100));
    }
    let facts = script.run();
    let apart: Vec<_> = bulk(&facts).pauses.iter().filter_map(|gap| gap.sent_apart).collect();
    assert_eq!(apart.len(), 6, "once the clock was watched for 100 ms");
    let together = apart.iter().filter(|apart| **apart < Nanos::from_millis(2)).count();
    assert_eq!(together, 3);
}

#[test]
fn retransmitted_fin_is_counted() {
    let mut script = Script::asked();
    script.line(200.0, B, [1, 101], MSS);
    script.line(300.0, A, [101, 1001], 0);
    for ms in [300.1, 620.0] {
        script.line(ms, B, [1001, 101], 0).flags = Flags::FIN | Flags::ACK;
    }
    script.line(720.0, A, [101, 1002], 0);
    script.line(2_720.0, B, [1001, 101], 0).flags = Flags::FIN | Flags::ACK;
    let direction = &script.run().directions[1];
    let kinds = direction.retransmitted;
    assert_eq!((kinds.tail_probe + kinds.timeout, kinds.spurious), (1, 1));
    assert_eq!(direction.bytes, 1000);
}

/// The server acknowledges a request, and its response comes 900 ms later, captured next to the
/// client; `numbers`: the IP IDs of that ACK and of the first segment of the response; later ones
/// increase by one.
fn late_answer(ack: Option<u16>, first: u16) -> Facts {
    let mut script = Script::new();
    script.line(0.0, A, [0, 0], 0).flags = Flags::SYN;
    script.line(100.0, B, [0, 1], 0).flags = Flags::SYN | Flags::ACK;
    script.line(100.0, A, [1, 1], 0);
    script.line(100.0, A, [1, 1], 100);
    if let Some(id) = ack {
        script.line(200.0, B, [1, 101], 0).ip_id = id;
    }
    for n in 0..12u16 {
        let (ms, seq) = (1100.0 + f64::from(n), 1 + 500 * u32::from(n));
        script.line(ms, B, [seq, 101], 500).ip_id = first + n;
        script.line(ms, A, [101, seq + 500], 0);
    }
    script.run()
}

#[test]
fn ids_missing_before_a_response_are_its_first_copies() {
    let missing = |ack, first| bulk(&late_answer(ack, first)).missing_before;
    assert_eq!(missing(Some(700), 701), 0, "it thought");
    assert_eq!(missing(Some(700), 706), 5, "it had sent five");
    assert_eq!(missing(Some(700), 702), 1);
    assert_eq!(missing(Some(700), 1600), 0, "more than it can have had in flight: others have used them");
    assert_eq!(missing(None, 706), 0, "their first ID is unknown");
    assert_eq!(bulk(&late_answer(Some(700), 706)).start, Time::from_millis(1100));
}

/// Captured next to the server: everything is acknowledged, and after a silence of 1.7 s the next
/// bytes are sent. IP IDs increase by one, except for `lost` missing ones in the silence, and two
/// earlier ones used by other connections.
fn idle(lost: u16) -> Facts {
    let mut script = Script::asked();
    let mut id = 40_000;
    let mut send = |script: &mut Script, ms: f64, n: u32, skipped: u16| {
        id += 1 + skipped;
        script.line(ms, B, [1 + n * MSS, 101], MSS).ip_id = id;
        script.line(ms + 100.0, A, [101, 1 + (n + 1) * MSS], 0);
    };
    for n in 0..70 {
        send(&mut script, 100.0 + 100.0 * f64::from(n), n, u16::from(n == 13 || n == 35));
    }
    send(&mut script, 8_700.0, 70, lost);
    send(&mut script, 8_800.0, 71, 0);
    script.run()
}

#[test]
fn silence_with_lost_retransmissions_does_not_end_a_transfer() {
    let transfers = |lost: u16| idle(lost).directions[1].transfers.len();
    assert_eq!(transfers(0), 2, "the application paused, and then sent another message");
    assert_eq!(transfers(4), 1);
    assert_eq!(idle(4).directions[1].retransmitted.unseen_original, 1);
    assert_eq!(transfers(1), 2, "one timer is not as long, so that another connection may have used the number");
}

#[test]
fn short_pushed_segments_without_an_mss_are_messages() {
    for (len, dry) in [(184, true), (900, true), (1_448, false)] {
        let mut script = Script::new();
        for (n, ms) in [(0, 0.0), (1, 100.0)] {
            script.line(ms, A, [1 + n * len, 1], len).flags = Flags::ACK | Flags::PSH;
            script.line(ms + 20.0, B, [1, 1 + (n + 1) * len], 0);
        }
        let facts = script.run();
        assert_eq!(facts.directions[0].transfers[0].pauses[0].app_limited, dry, "{len} B");
    }
}

#[test]
fn uncaptured_packets_make_a_pause_uncertain() {
    let pause = |acked: u32| {
        let mut script = Script::asked();
        script.line(100.0, B, [1, 101], 500);
        script.line(200.0, A, [101, 501], 0);
        script.line(600.0, B, [501, 101 + acked], 500);
        script.line(700.0, A, [101 + acked, 1_001], 0);
        longest(&script.run()).unseen
    };
    assert!(!pause(0));
    assert!(pause(50), "50 bytes of the other side came in it, unseen");
}

#[test]
fn pause_before_a_lost_message_excludes_the_timeout() {
    let gaps = |pause: f64| {
        let mut script = Script::new();
        script.line(0.0, A, [0, 0], 0).flags = Flags::SYN;
        script.line(60.0, B, [0, 1], 0).flags = Flags::SYN | Flags::ACK;
        script.line(60.0, A, [1, 1], 0);
        script.line(60.0, A, [1, 1], 100);
        let mut ms = 120.0;
        for n in 0..6 {
            ms += 1.0;
            script.line(ms, B, [1 + 35 * n, 101], 35).ip_id = 500 + n as u16;
            script.line(ms, A, [101, 36 + 35 * n], 0);
        }
        script.line(ms + pause, B, [211, 101], 35).ip_id = 507;
        script.line(ms + pause, A, [101, 246], 0);
        let facts = script.run();
        let long = |gap: &&SendPause| gap.end - gap.start > Nanos::from_millis(50);
        let ended_by = |gap: &SendPause| (gap.release, (gap.end - gap.start).0 / 1_000_000);
        bulk(&facts).pauses.iter().filter(long).map(ended_by).collect::<Vec<_>>()
    };
    assert_eq!(gaps(280.0), [(Release::Timer, 280)]);
    let parts = gaps(900.0);
    assert_eq!(parts.iter().map(|part| part.0).collect::<Vec<_>>(), [Release::Nothing, Release::Timer]);
    assert!((200..400).contains(&parts[1].1), "no longer than its timer: {parts:?}");
    assert!((899..=900).contains(&(parts[0].1 + parts[1].1)), "and together the pause: {parts:?}");
}
