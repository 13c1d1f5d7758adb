#![allow(clippy::unwrap_used)]

use super::*;
use crate::compare::tests::{connection, transfer};
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Actor, LimitingFactor, Remedy, SendingAction, SendingStatement};

fn ms(millis: i64) -> Nanos {
    Nanos::from_millis(millis)
}

pub(in crate::conclude) fn finding(cause: Cause, lost: i64) -> Finding {
    let remedies = vec![Remedy::new(Actor::Network, SendingAction::WriteLargerPieces { bytes: 1 })];
    Finding {
        remedies,
        ..crate::rules::parts::finding(
            cause,
            ms(lost),
            0.9,
            SendingStatement::WindowClosed { closed_s: ms(1), whole_s: ms(1) },
        )
    }
}

fn promising(mut finding: Finding, time: Option<Nanos>) -> Finding {
    finding.promise(time);
    finding
}

#[test]
fn promised_time_is_without_the_wait() {
    let promised =
        |cause, lost| saved(&finding(cause, lost), ms(1_000), true).and_then(|saved| without(ms(1_000), saved));
    assert_eq!(promised(Cause::SynLoss, 900), Some(ms(100)));
    assert_eq!(promised(Cause::NagleDelayedAck, 400), Some(ms(600)));
    assert_eq!(promised(Cause::TurnTaking, 500), None, "the rule predicts the batch");
    let turns = promising(finding(Cause::TurnTaking, 500), Some(ms(550)));
    assert_eq!(saved(&turns, ms(1_000), true), Some(ms(450)));
    assert_eq!(promised(Cause::Duplication, 400), None, "not a wait");
}

#[test]
fn unopened_connection_gets_no_promise() {
    let opened = connection(1, 50, vec![transfer(50, LimitingFactor::SlowStart, &[10_000], None)]);
    let mut connections = [opened.clone(), Connection { transfers: Vec::new(), ..opened }];
    for connection in &mut connections {
        connection.duration_s = ms(1_000);
        connection.findings = vec![finding(Cause::SynLoss, 900)];
    }
    predict(&mut connections, &mut [], None);
    assert_eq!(connections.map(|connection| connection.findings[0].predicted()), [Some(ms(100)), None]);
}

#[test]
fn tiny_saving_is_not_promised() {
    assert_eq!(without(ms(1_000), ms(10)), None);
    assert_eq!(without(ms(1_000), ms(0)), None);
    assert_eq!(without(ms(100), ms(200)), Some(ms(0)), "a sum that is larger than the whole is all of it");
}

#[test]
fn sequential_connections_promise_the_rest_if_it_saves_time() {
    let mut connections: Vec<_> = [4, 2, 9, 1].map(|id| connection(id, 100, Vec::new())).into();
    let promised = |connections: &mut [Connection], lost, left| {
        let series = Finding { connections: vec![9, 1, 77], ..finding(Cause::NewConnectionEachTime, lost) };
        let mut findings = [promising(series, left)];
        predict(connections, &mut findings, None);
        findings[0].predicted()
    };
    assert_eq!(promised(&mut connections, 3_000, Some(ms(7_000))), Some(ms(7_000)));
    assert_eq!(promised(&mut connections, 100, Some(ms(9_900))), None);
    assert_eq!(promised(&mut connections, 3_000, None), None);
}

#[test]
fn promise_keeps_the_transmission_time() {
    let mut connections = [connection(1, 50, vec![transfer(50, LimitingFactor::SlowStart, &[10_000], None)])];
    connections[0].duration_s = ms(1_000);
    connections[0].directions[1].bytes = 100_000;
    connections[0].findings = vec![finding(Cause::TurnTaking, 900)];
    // 800,000 bits at 2 Mbit/s.
    for (rate, promised) in [(None, Some(ms(150))), (Some(2e6), Some(ms(400))), (Some(0.5e6), None)] {
        connections[0].findings[0].promise(Some(ms(150)));
        let series = Finding { connections: vec![1], ..finding(Cause::NewConnectionEachTime, 900) };
        let mut findings = [promising(series, Some(ms(100)))];
        predict(&mut connections, &mut findings, rate);
        assert_eq!(connections[0].findings[0].predicted(), promised);
        assert_eq!(findings[0].predicted(), rate.map_or(Some(ms(100)), |_| promised));
    }
}
