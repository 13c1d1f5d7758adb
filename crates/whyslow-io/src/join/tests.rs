#![allow(clippy::unwrap_used)]

use super::*;
use whyslow_analysis::*;
use whyslow_units::Nanos;

fn frame(number: u64) -> Frame {
    Frame { file: None, number }
}

fn finding(seconds: i64, connections: &[u64]) -> Finding {
    let statement = SendingStatement::WindowClosed { closed_s: Nanos::ZERO, whole_s: Nanos::ZERO };
    Finding {
        evidence: vec![Measurement { frames: vec![frame(3)], kind: Measure::Silence, value: 0.0, unit: Unit::One }],
        connections: connections.to_vec(),
        ..Finding::new(Cause::ZeroWindow, Nanos::from_millis(seconds), 1.0, statement)
    }
}

fn round() -> Round {
    Round {
        start_s: Nanos::ZERO,
        duration_s: Nanos::ZERO,
        sending_s: Nanos::ZERO,
        bytes: 1,
        first_frame: frame(1),
        last_frame: frame(2),
        in_flight: 1,
        window: None,
        limit: LimitingFactor::Unknown,
    }
}

fn transfer() -> Transfer {
    Transfer {
        from: End::Client,
        bytes: 1,
        start_s: Nanos::ZERO,
        duration_s: Nanos::ZERO,
        rate_bps: None,
        label: None,
        before: vec![],
        first_byte_s: None,
        first_record: None,
        rounds: vec![round()],
        rounds_total: 1,
        elided: false,
        path: Default::default(),
        model_s: None,
        model_skipped: false,
        limits: vec![],
        timeline: vec![],
        findings: vec![finding(1, &[])],
        verdict: Verdict::Healthy,
    }
}

fn connection() -> Connection {
    let end = Endpoint { address: "192.0.2.1".into(), port: 1, name: None };
    Connection {
        id: 1,
        capture: 0,
        client: end.clone(),
        server: end,
        start_s: Nanos::ZERO,
        duration_s: Nanos::ZERO,
        state: State::Open,
        closed_by: None,
        near: Near::Unknown,
        near_reason: Default::default(),
        stacks: [whyslow_analysis::Stack::UNKNOWN; 2],
        products: [None; 2],
        application: None,
        application_is_shown: false,
        quic: None,
        lookup: None,
        decryption: None,
        requests: Vec::new(),
        requests_total: 0,
        origin: Origin::default(),
        rtt_ms: Rtt::default(),
        handshake: None,
        problems: vec![],
        icmp: vec![],
        icmp_total: 0,
        elided: vec![],
        directions: vec![],
        exchanges: vec![],
        exchanges_total: 0,
        response_times: None,
        transfers: vec![transfer()],
        transfers_total: 1,
        findings: vec![finding(1, &[])],
    }
}

fn analysis(path: &str, seconds: i64) -> Analysis {
    let capture = Capture {
        path: path.into(),
        format: "pcap".into(),
        link_types: vec![],
        packets: 3,
        tcp_packets: 3,
        first_time: None,
        duration_s: None,
        problems: vec![],
        pings: vec![],
        lookups: vec![],
    };
    Analysis {
        schema: SCHEMA,
        partial: false,
        threshold_s: whyslow_diagnosis::ranking::DEFAULT_THRESHOLD,
        captures: vec![capture],
        connections: vec![connection()],
        findings: vec![finding(seconds, &[1])],
        pairs: vec![],
        pairs_total: 0,
    }
}

#[test]
fn one_analysis_stays_as_it_is() {
    let one = join([analysis("a", 1)].into_iter());
    assert_eq!(one.connections[0].transfers[0].rounds[0].first_frame, frame(1));
}

#[test]
fn names_are_unique_over_all() {
    let mut set = analysis("b1", 9);
    set.captures.push(analysis("b2", 0).captures.remove(0));
    set.connections[0].transfers[0].rounds[0].last_frame.file = Some(1);
    let joined = join([analysis("a", 5), set, analysis("c", 7)].into_iter());
    let paths: Vec<_> = joined.captures.iter().map(|capture| capture.path.as_str()).collect();
    assert_eq!(paths, ["a", "b1", "b2", "c"]);
    let ids: Vec<_> = joined.connections.iter().map(|connection| (connection.id, connection.capture)).collect();
    assert_eq!(ids, [(1, 0), (2, 1), (3, 3)]);
    let frames: Vec<_> = joined
        .connections
        .iter()
        .map(|connection| {
            let round = &connection.transfers[0].rounds[0];
            [round.first_frame, round.last_frame, connection.transfers[0].findings[0].evidence[0].frames[0]]
                .map(|frame| frame.to_string())
        })
        .collect();
    assert_eq!(frames, [["1:1", "1:2", "1:3"], ["2:1", "3:2", "2:3"], ["4:1", "4:2", "4:3"]]);
    // The costliest first, each with the connection and the frames that it had.
    let spanning: Vec<_> =
        joined.findings.iter().map(|f| (f.connections[0], f.evidence[0].frames[0].to_string())).collect();
    assert_eq!(spanning, [(2, "2:3".to_owned()), (3, "4:3".to_owned()), (1, "1:3".to_owned())]);
}
