#![allow(clippy::unwrap_used)]

use super::scene::connection;
use super::*;
use crate::analysis::{SpreadCost, Statement};
use crate::cause::Cause;

#[test]
fn what_most_connections_of_a_server_share_is_said_once() {
    let mut all: Vec<_> = (1..=7)
        .map(|id| connection(id, id as u8, 80, &[(Cause::Loss, 100 * id as i64), (Cause::Timeout, 20)]))
        .collect();
    all.extend((8..=10).map(|id| connection(id, id as u8, 80, &[])));
    let [shared] = check(&all, &[]).try_into().unwrap();
    assert_eq!((shared.cause, shared.cost_s), (Cause::Loss, Nanos::from_millis(2_800)));
    assert_eq!(shared.connections, [1, 2, 3, 4, 5, 6, 7]);
    assert!(
        shared.shared && shared.unconverted_summary().starts_with("7 of 10 connections to 198.51.100.1:80"),
        "{}",
        shared.unconverted_summary()
    );
    // With one more that was not held back it is less than 70 %.
    all.push(connection(11, 1, 80, &[]));
    assert!(check(&all, &[]).is_empty());
}

#[test]
fn what_ran_at_the_same_time_is_not_added_up() {
    let mut all: Vec<_> = (1..=4).map(|id| connection(id, id as u8, 80, &[(Cause::Loss, 800)])).collect();
    assert!(check(&all, &[])[0].unconverted_summary().contains("share this cause, 3.20 s in all; at its worst"));
    all.iter_mut().for_each(|connection| connection.start_s = Nanos::from_millis(500));
    let [shared] = check(&all, &[]).try_into().unwrap();
    assert_eq!(shared.cost_s, Nanos::from_millis(800));
    let cost = SpreadCost { elapsed_s: Nanos::from_millis(800), summed_s: Nanos::from_millis(3_200) };
    assert!(
        matches!(&shared.statement, Statement::Common(CommonStatement::Shared { cost: found, .. }) if *found == cost)
    );
}

#[test]
fn two_connections_are_no_pattern() {
    let two = [connection(1, 1, 80, &[(Cause::Loss, 100)]), connection(2, 2, 80, &[(Cause::Loss, 100)])];
    assert!(check(&two, &[]).is_empty());
}

#[test]
fn servers_on_one_path_share_what_the_path_does() {
    let all: Vec<_> = (1..=4).map(|id| connection(id, 9, 80 + id as u16, &[(Cause::Loss, 100)])).collect();
    let [shared] = check(&all, &[]).try_into().unwrap();
    assert!(
        shared.unconverted_summary().contains("between 192.0.2.9 and 198.51.100.1"),
        "{}",
        shared.unconverted_summary()
    );
    assert_eq!(shared.connections.len(), 4);
}

#[test]
fn slow_starts_that_new_connections_explain_are_not_said_again() {
    let all: Vec<_> = (1..=4).map(|id| connection(id, 1, 80, &[(Cause::SlowStart, 100)])).collect();
    let mut known = finding(Cause::NewConnectionEachTime, Nanos::from_millis(300), 0.85, String::new());
    known.connections = vec![1, 2, 3, 4];
    assert!(check(&all, &[known]).is_empty());
    assert_eq!(check(&all, &[]).len(), 1);
}
