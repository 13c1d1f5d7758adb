#![allow(clippy::unwrap_used)]

use super::conclude;
use crate::together::synthetic_transfer::{connection, flow, found, ms, transfer};
use crate::together::{Flow, LargestFlows, MAX_FLOWS};
use whyslow_analysis::Statement;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{
    CommonEnds, CommonQuestion, CommonStatement, Connection, Excess, LimitingFactor, LinkQuestion, LinkStatement,
};

fn pair() -> LargestFlows {
    let one: Vec<f64> = (0..40).map(|n| 6.0 + (n % 12) as f64).collect();
    let two: Vec<f64> = one.iter().map(|rate| 20.0 - rate).collect();
    LargestFlows::of(vec![flow(1, 0, &one), flow(2, 0, &two)])
}

/// Each two seconds long, mostly in loss recovery.
fn downloads() -> Vec<Connection> {
    let limits = [
        (LimitingFactor::SlowStart, 100),
        (LimitingFactor::LossRecovery, 1_500),
        (LimitingFactor::CongestionAvoidance, 400),
    ];
    let download = |id| {
        let mut connection = connection(id, 1, 80, &[]);
        connection.transfers.push(transfer(0, &limits, Cause::Loss, 1_800));
        connection
    };
    vec![download(1), download(2)]
}

#[test]
fn findings_that_the_bottleneck_explains_are_removed() {
    let mut connections = downloads();
    connections[0].transfers[0].findings.push(found(Cause::Bufferbloat, 60));
    let joint = conclude(&pair(), &mut connections);
    let [over_all] = &joint.findings[..] else { panic!("{:?}", joint.findings) };
    assert_eq!(
        (over_all.cause, over_all.cost_s, &over_all.connections[..]),
        (Cause::Bandwidth, ms(2_000), &[1, 2][..])
    );
    assert!(over_all.shared);
    let Statement::Link(LinkStatement::SharedLinkOfAll { link, ends, rates_bps }) = &over_all.statement else {
        panic!("{over_all:?}")
    };
    assert_eq!((link.excess, link.transfers, link.connections), (Excess::Queued, 2, 2));
    assert!((link.payload_bps - 20e6).abs() < 0.1e6 && link.wire_bps > link.payload_bps, "{link:?}");
    let (sender, receiver) = ("198.51.100.1".to_owned(), "192.0.2.1".to_owned());
    assert_eq!((ends, rates_bps.len()), (&CommonEnds::Both { sender, receiver }, 2));
    assert_eq!(joint.unpredictable, [(1, ms(0)), (2, ms(0))], "nothing is promised of either");
    let first = &connections[0].transfers[0];
    assert_eq!(
        first.findings.iter().map(|finding| finding.cause).collect::<Vec<_>>(),
        [Cause::Bandwidth, Cause::Bufferbloat]
    );
    assert_eq!((first.findings[0].cost_s, first.findings[0].connections.len()), (ms(2_000), 2));
    assert_eq!(first.verdict, whyslow_analysis::Verdict::Cause);
    assert!(!first.model_skipped);
}

#[test]
fn limits_change_with_the_bottleneck_and_add_up() {
    let mut connections = downloads();
    conclude(&pair(), &mut connections);
    let transfer = &connections[1].transfers[0];
    let times: Vec<_> = transfer.limits.iter().map(|share| (share.limit, share.seconds)).collect();
    assert_eq!(times, [(LimitingFactor::Bandwidth, ms(1_900)), (LimitingFactor::SlowStart, ms(100))]);
    assert!((transfer.limits.iter().map(|share| share.share).sum::<f64>() - 1.0).abs() < 1e-9);
    let spans: Vec<_> = transfer.timeline.iter().map(|span| (span.limit, span.start_s, span.seconds)).collect();
    assert_eq!(spans, [(LimitingFactor::SlowStart, ms(0), ms(100)), (LimitingFactor::Bandwidth, ms(100), ms(1_900))]);
}

#[test]
fn partly_shared_transfer_is_partly_explained() {
    let mut connections = downloads();
    // The second one goes on alone for as long as it shared.
    connections[1].transfers[0] = transfer(0, &[(LimitingFactor::LossRecovery, 4_000)], Cause::Loss, 4_000);
    conclude(&pair(), &mut connections);
    let findings = &connections[1].transfers[0].findings;
    let found: Vec<_> = findings.iter().map(|finding| (finding.cause, finding.cost_s)).collect();
    assert_eq!(found, [(Cause::Bandwidth, ms(2_000)), (Cause::Loss, ms(2_000))]);
    assert_eq!(findings[1].details, [CommonStatement::CostWhileLinkFull { time_s: ms(2_000) }.into()]);
}

#[test]
fn limit_below_the_share_stays_with_an_unsure_fix() {
    let mut connections = downloads();
    connections[0].transfers[0] = transfer(0, &[(LimitingFactor::ReceiveWindow, 2_000)], Cause::ReceiveWindow, 1_900);
    let joint = conclude(&pair(), &mut connections);
    assert_eq!(joint.unpredictable.len(), 2);
    let [window] = &connections[0].transfers[0].findings[..] else { panic!() };
    assert_eq!((window.cause, window.cost_s, window.confidence), (Cause::ReceiveWindow, ms(1_900), 0.5));
    assert_eq!(window.to_confirm, [CommonQuestion::LinkShared.into()]);
}

#[test]
fn rate_kept_alone_is_the_senders_own() {
    let bulk = [vec![20.0; 15], vec![16.0; 30]].concat();
    let flows = LargestFlows::of(vec![flow(1, 0, &bulk), flow(2, 750, &[4.0; 60])]);
    let mut connections = downloads();
    connections[1].transfers[0] = transfer(750, &[(LimitingFactor::LossRecovery, 3_000)], Cause::Loss, 3_000);
    conclude(&flows, &mut connections);
    assert_eq!(connections[1].transfers[0].findings[0].cause, Cause::Loss);
    assert_eq!(connections[0].transfers[0].findings[0].cause, Cause::Bandwidth);
}

#[test]
fn largest_flows_are_kept_in_any_order() {
    let all: Vec<Flow> = (0..400).map(|n| flow(n, 0, &[1.0 + (n % 97) as f64; 10])).collect();
    let ids = |flows: LargestFlows| flows.iter().map(|flow| (flow.bytes, flow.connection)).collect::<Vec<_>>();
    let forward = ids(LargestFlows::of(all.clone()));
    let mut directions = LargestFlows::of(all[100..].iter().rev().cloned().collect());
    directions.merge(LargestFlows::of(all[..100].to_vec()));
    assert_eq!(directions.let_go(), 400 - MAX_FLOWS as u64);
    assert_eq!(forward.len(), MAX_FLOWS);
    assert_eq!(ids(directions), forward);
}

#[test]
fn flows_beyond_the_limit_are_reported() {
    let one: Vec<f64> = (0..40).map(|n| 6.0 + (n % 12) as f64).collect();
    let two: Vec<f64> = one.iter().map(|rate| 20.0 - rate).collect();
    let mut all = vec![flow(1, 0, &one), flow(2, 0, &two)];
    all.extend((3..400).map(|id| flow(id, 10_000 * id as i64, &[0.5; 10])));
    let joint = conclude(&LargestFlows::of(all), &mut downloads());
    let open = &joint.findings[0].to_confirm;
    assert_eq!(open.last(), Some(&LinkQuestion::NotCompared { transfers: 143 }.into()));
}

#[test]
fn transfer_alone_fills_the_whole_link() {
    // Two seconds next to the other transfer, and two alone at the same rate.
    let one: Vec<f64> = (0..80).map(|n| if n < 40 { 6.0 + (n % 12) as f64 } else { 20.0 }).collect();
    let two: Vec<f64> = one[..40].iter().map(|rate| 20.0 - rate).collect();
    let flows = LargestFlows::of(vec![flow(1, 0, &one), flow(2, 0, &two)]);
    let mut connections = downloads();
    connections[0].transfers[0] = transfer(0, &[(LimitingFactor::LossRecovery, 4_000)], Cause::Loss, 4_000);
    let joint = conclude(&flows, &mut connections);
    assert_eq!(joint.findings[0].cost_s, ms(2_000), "shared");
    let [found] = &connections[0].transfers[0].findings[..] else { panic!() };
    assert_eq!((found.cause, found.cost_s), (Cause::Bandwidth, ms(4_000)));
    assert_eq!(connections[0].transfers[0].limits[0].limit, LimitingFactor::Bandwidth);
}

#[test]
fn losses_without_a_queue_are_a_shared_policer() {
    let one: Vec<f64> = (0..40).map(|n| 6.0 + (n % 12) as f64).collect();
    let two: Vec<f64> = one.iter().map(|rate| 20.0 - rate).collect();
    let flow = |id, rates: &[f64], flat| Flow { queued: false, flat, lost: 40, ..flow(id, 0, rates) };
    let cause = |flat| {
        let mut connections = downloads();
        let joint = conclude(&LargestFlows::of(vec![flow(1, &one, flat), flow(2, &two, flat)]), &mut connections);
        let found = (joint.findings[0].cause, joint.findings[0].confidence);
        assert_eq!(connections[1].transfers[0].findings[0].cause, found.0);
        found
    };
    assert_eq!(cause(true), (Cause::Policer, 0.65));
    assert_eq!(cause(false), (Cause::Bandwidth, 0.85), "some queue stood, if not a long one");
}

#[test]
fn transfers_with_other_limits_share_nothing() {
    let mut connections = downloads();
    for connection in &mut connections {
        connection.transfers[0] = transfer(0, &[(LimitingFactor::ReceiveWindow, 2_000)], Cause::ReceiveWindow, 1_900);
    }
    let joint = conclude(&pair(), &mut connections);
    assert!(joint.findings.is_empty() && joint.unpredictable.is_empty());
    assert_eq!(connections[1].transfers[0].findings[0].confidence, 0.8);
}
