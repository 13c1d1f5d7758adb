use super::conclude;
use crate::together::LargestFlows;
use crate::together::synthetic_transfer::{connection, ms, transfer};
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Connection, LimitShare, LimitingFactor};

/// A control connection that sends a message at 0, waits for 2 s, and sends another; and a second
/// connection of the same hosts that works from `from` to `to` (ms).
fn control_and_data(from: i64, to: i64) -> Vec<Connection> {
    let mut control = connection(1, 1, 21, &[]);
    let limits =
        [(LimitingFactor::RoundTrip, 30), (LimitingFactor::Application, 2_000), (LimitingFactor::RoundTrip, 30)];
    control.start_s = ms(-100);
    control.transfers.push(transfer(0, &limits, Cause::Application, 2_000));
    let mut data = connection(2, 1, 20, &[]);
    data.start_s = ms(from);
    data.transfers.push(transfer(from + 20, &[(LimitingFactor::Bandwidth, to - from - 20)], Cause::Bandwidth, 1_000));
    vec![control, data]
}

fn waits(connections: &mut [Connection]) -> Vec<Cause> {
    conclude(&LargestFlows::default(), connections);
    connections[0].transfers[0].findings.iter().map(|finding| finding.cause).collect()
}

#[test]
fn wait_for_another_connections_work_costs_nothing() {
    let mut connections = control_and_data(60, 1_980);
    assert_eq!(waits(&mut connections), []);
    assert_eq!(connections[0].transfers[0].verdict, whyslow_analysis::Verdict::WaitedForOther);
    assert_eq!(connections[1].transfers[0].findings.len(), 1, "the cost of the other one stays there");
}

#[test]
fn unrelated_concurrent_work_keeps_the_wait() {
    assert_eq!(waits(&mut control_and_data(-3_000, 4_000)), [Cause::Application]);
    assert_eq!(waits(&mut control_and_data(60, 700)), [Cause::Application], "a third of the wait");
    assert_eq!(waits(&mut control_and_data(60, 1_500)), [Cause::Application], "it had ended when the wait did not");
    assert_eq!(waits(&mut control_and_data(60, 2_600)), [Cause::Application], "it went on when the wait was over");
    let mut elsewhere = control_and_data(60, 1_980);
    elsewhere[1].server.address = "198.51.100.9".into();
    assert_eq!(waits(&mut elsewhere), [Cause::Application], "another host");
    let mut alone = control_and_data(60, 1_980);
    alone.pop();
    assert_eq!(waits(&mut alone), [Cause::Application]);
}

#[test]
fn other_waits_keep_their_cost() {
    let mut connections = control_and_data(60, 1_980);
    let limits =
        [(LimitingFactor::Application, 2_000), (LimitingFactor::RoundTrip, 30), (LimitingFactor::Application, 1_500)];
    connections[0].transfers[0] = transfer(0, &limits, Cause::Application, 3_500);
    conclude(&LargestFlows::default(), &mut connections);
    assert_eq!(connections[0].transfers[0].findings[0].cost_s, ms(1_500));
}

#[test]
fn response_that_waits_for_another_connection_costs_nothing() {
    let mut connections = control_and_data(-1_900, -30);
    let mut answer = transfer(0, &[(LimitingFactor::RoundTrip, 30)], Cause::ServerThink, 2_000);
    answer.before = vec![LimitShare { limit: LimitingFactor::ServerThink, seconds: ms(2_000), share: 1.0 }];
    connections[0].start_s = ms(-4_000);
    connections[0].transfers = vec![transfer(-3_000, &[(LimitingFactor::RoundTrip, 30)], Cause::SlowStart, 1), answer];
    conclude(&LargestFlows::default(), &mut connections);
    assert!(connections[0].transfers[1].findings.is_empty());
    assert_eq!(connections[0].transfers[0].findings.len(), 1);
}

#[test]
fn request_for_other_work_counts_its_round_trip() {
    // An iperf server, whose client opens the other connection when it has heard the word: seen
    // there, half of the time goes before it.
    let mut control = connection(1, 1, 5201, &[]);
    control.start_s = ms(-100);
    control.transfers.push(transfer(
        0,
        &[(LimitingFactor::Application, 44), (LimitingFactor::RoundTrip, 20)],
        Cause::Application,
        44,
    ));
    let mut data = connection(2, 1, 5201, &[]);
    data.start_s = ms(22);
    data.transfers.push(transfer(43, &[(LimitingFactor::Bandwidth, 5_000)], Cause::Bandwidth, 4_000));
    assert_eq!(waits(&mut [control, data]), []);
}
