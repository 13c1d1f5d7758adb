//! Synthetic flows and connections for the tests of their effects on each other.

use super::flows::Flow;
use crate::rules::parts::finding;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{
    Connection, End, Endpoint, Finding, Frame, LimitShare, LimitSpan, LimitingFactor, LossStatement, Near, Origin, Rtt,
    State, Transfer,
};
use whyslow_units::Nanos;

pub(crate) fn ms(milliseconds: i64) -> Nanos {
    Nanos::from_millis(milliseconds)
}

/// A download of connection `id` that begins at `start` (ms) and has these rates, megabits per
/// second, for 50 ms each; with a queue.
pub(crate) fn flow(id: u64, start: i64, rates: &[f64]) -> Flow {
    let mut curve = vec![(ms(start), 0)];
    let mut bytes = 0.0;
    for (n, rate) in (1..).zip(rates) {
        bytes += rate * 1e6 / 8.0 * 0.05;
        curve.push((ms(start + 50 * n), bytes as u64));
    }
    Flow {
        connection: id,
        start: ms(start),
        from: End::Server,
        sender: [198, 51, 100, 1].into(),
        receiver: [192, 0, 2, 1].into(),
        near: Near::Client,
        bytes: bytes as u64,
        mss: 1448,
        rtt: ms(50),
        delay: ms(30),
        queued: true,
        flat: false,
        steady: false,
        lost: 3,
        frames: (Frame::default(), Frame::default()),
        curve,
    }
}

/// A connection of one of some clients to a port of one server, with findings of these causes and
/// milliseconds.
pub(crate) fn connection(id: u64, client: u8, port: u16, findings: &[(Cause, i64)]) -> Connection {
    let end = |address: String, port: u16| Endpoint { address, port, name: None };
    Connection {
        id,
        capture: 0,
        client: end(format!("192.0.2.{client}"), 40_000 + id as u16),
        server: end("198.51.100.1".into(), port),
        start_s: ms(1_000 * id as i64),
        duration_s: ms(1_000),
        state: State::Closed,
        closed_by: None,
        near: Near::Client,
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
        rtt_ms: Rtt { min: Some(20.0), p50: Some(20.0), p95: Some(20.0), samples: 9 },
        handshake: None,
        icmp: Vec::new(),
        icmp_total: 0,
        elided: Vec::new(),
        problems: Vec::new(),
        directions: Vec::new(),
        transfers: Vec::new(),
        exchanges: Vec::new(),
        exchanges_total: 0,
        response_times: None,
        transfers_total: 1,
        findings: findings.iter().map(|&(cause, cost)| found(cause, cost)).collect(),
    }
}

pub(crate) fn found(cause: Cause, cost: i64) -> Finding {
    finding(cause, ms(cost), 0.8, LossStatement::TimerWaits { times: 1, cost_s: ms(cost), whole_s: ms(cost) })
}

/// A download that began at `start` (ms) under these limits, each for its milliseconds, with a
/// finding of a cause.
pub(crate) fn transfer(start: i64, limits: &[(LimitingFactor, i64)], cause: Cause, cost: i64) -> Transfer {
    let mut at = ms(start);
    let mut timeline = Vec::new();
    for &(limit, length) in limits {
        timeline.push(LimitSpan { limit, start_s: at, seconds: ms(length) });
        at += ms(length);
    }
    let duration_s = at - ms(start);
    let share = |&(limit, length): &(LimitingFactor, i64)| LimitShare {
        limit,
        seconds: ms(length),
        share: ms(length).0 as f64 / duration_s.0 as f64,
    };
    Transfer {
        from: End::Server,
        bytes: 1_000_000,
        start_s: ms(start),
        duration_s,
        rate_bps: None,
        label: None,
        elided: false,
        before: Vec::new(),
        first_byte_s: None,
        first_record: None,
        rounds: Vec::new(),
        rounds_total: 0,
        path: Default::default(),
        model_s: None,
        model_skipped: true,
        limits: limits.iter().map(share).collect(),
        timeline,
        findings: vec![found(cause, cost)],
        verdict: whyslow_analysis::Verdict::Cause,
    }
}
