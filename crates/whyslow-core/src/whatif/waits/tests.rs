#![allow(clippy::unwrap_used)]

use super::*;

fn ms(millis: i64) -> Nanos {
    Nanos::from_millis(millis)
}

pub(in super::super) fn finding(cause: &'static str, lost: i64) -> Finding {
    Finding {
        cause,
        seconds: ms(lost),
        confidence: 0.9,
        summary: String::new(),
        evidence: Vec::new(),
        fix: None,
        predicted_s: None,
        connections: Vec::new(),
        shared: false,
        settle: None,
    }
}

#[test]
fn what_was_waited_for_comes_out_of_the_time() {
    let promised = |cause, lost| saved(&finding(cause, lost), Some(ms(50))).and_then(|saved| without(ms(1_000), saved));
    assert_eq!(promised("syn-loss", 900), Some(ms(100)));
    assert_eq!(promised("nagle-delayed-ack", 400), Some(ms(600)));
    assert_eq!(promised("turn-taking", 500), Some(ms(550)), "one round trip stays");
    assert_eq!(promised("duplication", 400), None, "nobody waited for that");
}

#[test]
fn what_saves_next_to_nothing_is_no_promise() {
    assert_eq!(without(ms(1_000), ms(10)), None);
    assert_eq!(without(ms(1_000), ms(0)), None);
    assert_eq!(without(ms(100), ms(200)), Some(ms(0)), "a sum that is larger than the whole is all of it");
}
