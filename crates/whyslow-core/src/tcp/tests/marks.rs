//! What IP numbers and timestamps tell of silences.

use super::*;
use crate::tcp::facts::Gap;

/// Next to the client: two flights of the server, the last segment of the second one short, then a silence of 400 ms and two
/// more segments. Numbers go up by one, but for `lost` ones in the silence.
fn pause(lost: u16, numbered: bool) -> Facts {
    let mut script = Script::new();
    script.line(0.0, 0, 0, 0, 0).flags = Flags::SYN;
    script.line(100.0, 1, 0, 1, 0).flags = Flags::SYN | Flags::ACK;
    script.line(100.0, 0, 1, 1, 0);
    script.line(100.0, 0, 1, 1, 100);
    let mut id = 40_000;
    let mut send = |script: &mut Script, ms: f64, n: u32, skipped: u16| {
        id += 1 + skipped;
        let len = if n == 5 { 500 } else { MSS };
        script.line(ms, 1, 1 + n * MSS, 101, len).ip_id = if numbered { id } else { 0 };
        script.line(ms, 0, 101, 1 + n * MSS + len, 0);
    };
    for n in 0..6 {
        send(&mut script, if n < 2 { 200.0 } else { 300.0 } + f64::from(n) * 0.1, n, 0);
    }
    id += 1 + lost;
    for (ms, seq) in [(700.5, 5501), (700.6, 6501)] {
        script.line(ms, 1, seq, 101, MSS).ip_id = if numbered { id } else { 0 };
        id += 1;
    }
    script.line(700.7, 0, 101, 7501, 0);
    script.run()
}

fn longest(facts: &Facts) -> Gap {
    *bulk(facts).gaps.iter().max_by_key(|gap| gap.end - gap.start).unwrap()
}

#[test]
fn a_silence_with_a_number_missing_is_a_lost_tail() {
    let facts = pause(1, true);
    let (gap, half) = (longest(&facts), &facts.halves[1]);
    assert_eq!((gap.release, gap.tail, gap.missing), (Release::Timer, true, Some(1)));
    assert_eq!((half.retransmitted.tail_probe, half.retransmitted.unseen_original), (1, 1));
}

#[test]
fn a_silence_with_many_numbers_missing_is_the_timers() {
    let facts = pause(5, true);
    let (gap, half) = (longest(&facts), &facts.halves[1]);
    assert_eq!((gap.release, gap.tail, gap.missing), (Release::Timer, false, Some(5)));
    assert_eq!((half.retransmitted.timeout, half.retransmitted.unseen_original), (1, 1));
}

#[test]
fn a_silence_with_no_number_missing_is_the_programs() {
    for (numbered, missing) in [(true, Some(0)), (false, None)] {
        let facts = pause(0, numbered);
        let gap = longest(&facts);
        assert_eq!((gap.release, gap.ran_dry, gap.missing), (Release::Nothing, true, missing));
        assert_eq!(facts.halves[1].retransmitted.unseen_original, 0);
    }
}

#[test]
fn segments_with_one_time_were_sent_together_however_late_the_second_came() {
    let mut script = Script::asked();
    for n in 0..10 {
        let ms = 200.0 + f64::from(n) * 30.0;
        // Two and two: each pair has one time.
        script.line(ms, 1, 1 + n * MSS, 101, MSS).stamps = Some((200 + n / 2 * 60, 100));
    }
    let facts = script.run();
    let apart: Vec<_> = bulk(&facts).gaps.iter().filter_map(|gap| gap.sent_apart).collect();
    assert_eq!(apart.len(), 6, "once the clock was watched for 100 ms");
    let together = apart.iter().filter(|apart| **apart < Nanos::from_millis(2)).count();
    assert_eq!(together, 3);
}

#[test]
fn a_fin_sent_again_is_counted() {
    let mut script = Script::asked();
    script.line(200.0, 1, 1, 101, MSS);
    script.line(300.0, 0, 101, 1001, 0);
    for ms in [300.1, 620.0] {
        script.line(ms, 1, 1001, 101, 0).flags = Flags::FIN | Flags::ACK;
    }
    script.line(720.0, 0, 101, 1002, 0);
    script.line(2_720.0, 1, 1001, 101, 0).flags = Flags::FIN | Flags::ACK;
    let half = &script.run().halves[1];
    let kinds = half.retransmitted;
    assert_eq!((kinds.tail_probe + kinds.timeout, kinds.spurious), (1, 1));
    assert_eq!(half.bytes, 1000);
}
