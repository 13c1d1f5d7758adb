#![allow(clippy::unwrap_used)]

use super::*;

fn ms(millis: i64) -> Time {
    Time::from_millis(millis)
}

/// Known since then, and due at that time.
fn turn(since: i64, at: i64) -> DueTime {
    (ms(at), ms(since))
}

fn ack(next: usize) -> Ack {
    Ack { next, segment: next, right_edge: 0 }
}

/// All events, in order.
fn all(events: &mut EventQueue) -> Vec<(Time, String)> {
    std::iter::from_fn(|| events.next())
        .map(|(at, event)| {
            let name = match event {
                Event::Acked(ack) => format!("ack {}", ack.next),
                Event::AckDue(segment) => format!("due {segment}"),
                Event::Recheck => "recheck".into(),
                Event::Wakes(wake) => format!("{wake:?}"),
            };
            (at, name)
        })
        .collect()
}

#[test]
fn earliest_event_comes_first() {
    let mut events = EventQueue::new(1);
    events.schedule_ack(turn(0, 20), ack(1));
    events.schedule_ack(turn(1, 50), ack(2));
    events.schedule_delayed_ack(turn(2, 40), 7);
    events.schedule_recheck(turn(3, 45));
    events.schedule_recheck(turn(4, 30));
    events.schedule_wake(turn(5, 60), Wake::Timer);
    events.schedule_wake(turn(5, 10), Wake::Pace);
    events.schedule_wake(turn(5, 55), Wake::PauseEnds);
    let expected = [
        (10, "Pace"),
        (20, "ack 1"),
        (30, "recheck"),
        (40, "due 7"),
        (45, "recheck"),
        (50, "ack 2"),
        (55, "PauseEnds"),
        (60, "Timer"),
    ];
    assert_eq!(all(&mut events), expected.map(|(at, name)| (ms(at), name.to_string())));
}

#[test]
fn events_of_one_time_keep_their_order() {
    for (pause, expected) in [(1, ["PauseEnds", "ack 1"]), (3, ["ack 1", "PauseEnds"])] {
        let mut events = EventQueue::new(1);
        events.schedule_ack(turn(2, 10), ack(1));
        events.schedule_wake(turn(pause, 10), Wake::PauseEnds);
        assert_eq!(all(&mut events), expected.map(|name| (ms(10), name.to_string())));
    }
}

#[test]
fn restarted_timer_fires_once() {
    let mut events = EventQueue::new(1);
    events.schedule_wake(turn(0, 10), Wake::Timer);
    events.schedule_wake(turn(5, 30), Wake::Timer);
    events.schedule_wake(turn(6, 20), Wake::Pace);
    events.cancel_wake(Wake::Pace);
    assert_eq!(all(&mut events), [(ms(30), "Timer".to_string())]);
}

#[test]
fn deferred_event_is_taken_when_due() {
    let mut events = EventQueue::new(1);
    events.schedule_delayed_ack(turn(0, 40), 1);
    events.schedule_delayed_ack(turn(10, 50), 2);
    assert_eq!(events.due_before(turn(20, 39)), None);
    assert_eq!(events.due_before(turn(20, 40)), Some((ms(40), 1)), "known before");
    assert_eq!(events.due_before(turn(5, 50)), None, "known later");
    assert_eq!(all(&mut events), [(ms(50), "due 2".to_string())]);
}
