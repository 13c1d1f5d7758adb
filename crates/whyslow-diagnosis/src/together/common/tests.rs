#![allow(clippy::unwrap_used)]

use super::*;
use crate::together::synthetic_transfer::{connection, ms};
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{SpreadCost, Statement};

/// The connections that share the cause, all of the group, the group, and the cost.
fn parts(shared: &Finding) -> (u64, u64, Group, SpreadCost) {
    match &shared.statement {
        Statement::Common(CommonStatement::Shared { sharing, of, group, cost, .. }) => {
            (*sharing, *of, group.clone(), *cost)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn cause_of_most_connections_of_a_server_is_reported_once() {
    let mut all: Vec<_> = (1..=7)
        .map(|id| connection(id, id as u8, 80, &[(Cause::Loss, 100 * id as i64), (Cause::Timeout, 20)]))
        .collect();
    all.extend((8..=10).map(|id| connection(id, id as u8, 80, &[])));
    let [shared] = check(&all, &[]).try_into().unwrap();
    assert_eq!((shared.cause, shared.cost_s), (Cause::Loss, Nanos::from_millis(2_800)));
    assert_eq!(shared.connections, [1, 2, 3, 4, 5, 6, 7]);
    let (sharing, of, group, _) = parts(&shared);
    assert!(shared.shared);
    assert_eq!((sharing, of, group), (7, 10, Group::Server { server: "198.51.100.1:80".to_owned() }));
    // With one more that was not held back it is less than 70 %.
    all.push(connection(11, 1, 80, &[]));
    assert!(check(&all, &[]).is_empty());
}

#[test]
fn concurrent_costs_are_not_summed() {
    let mut all: Vec<_> = (1..=4).map(|id| connection(id, id as u8, 80, &[(Cause::Loss, 800)])).collect();
    let cost = |elapsed: i64, summed: i64| SpreadCost { elapsed_s: ms(elapsed), summed_s: ms(summed) };
    assert_eq!(parts(&check(&all, &[])[0]).3, cost(3_200, 3_200));
    all.iter_mut().for_each(|connection| connection.start_s = Nanos::from_millis(500));
    let [shared] = check(&all, &[]).try_into().unwrap();
    assert_eq!((shared.cost_s, parts(&shared).3), (ms(800), cost(800, 3_200)));
}

#[test]
fn two_connections_are_not_a_pattern() {
    let two = [connection(1, 1, 80, &[(Cause::Loss, 100)]), connection(2, 2, 80, &[(Cause::Loss, 100)])];
    assert!(check(&two, &[]).is_empty());
}

#[test]
fn servers_on_one_path_share_its_cause() {
    let all: Vec<_> = (1..=4).map(|id| connection(id, 9, 80 + id as u16, &[(Cause::Loss, 100)])).collect();
    let [shared] = check(&all, &[]).try_into().unwrap();
    let hosts = Group::Hosts { client: "192.0.2.9".to_owned(), server: "198.51.100.1".to_owned() };
    assert_eq!(parts(&shared).2, hosts);
    assert_eq!(shared.connections.len(), 4);
}

#[test]
fn slow_starts_of_new_connections_are_not_reported_again() {
    let all: Vec<_> = (1..=4).map(|id| connection(id, 1, 80, &[(Cause::SlowStart, 100)])).collect();
    let mut known = finding(
        Cause::NewConnectionEachTime,
        Nanos::from_millis(300),
        0.85,
        CommonStatement::CostWhileLinkFull { time_s: Nanos::ZERO },
    );
    known.connections = vec![1, 2, 3, 4];
    assert!(check(&all, &[known]).is_empty());
    assert_eq!(check(&all, &[]).len(), 1);
}
