//! Made-up analyses for the renderers' tests.

#[path = "example_points.rs"]
pub mod points;
#[path = "example_several.rs"]
mod several;

pub use several::*;

use whyslow_analysis::*;
use whyslow_units::Nanos;

pub const ALL_LIMITS: [LimitingFactor; 21] = [
    LimitingFactor::Handshake,
    LimitingFactor::TlsHandshake,
    LimitingFactor::RequestWait,
    LimitingFactor::ServerThink,
    LimitingFactor::ClientThink,
    LimitingFactor::Idle,
    LimitingFactor::SlowStart,
    LimitingFactor::CongestionAvoidance,
    LimitingFactor::ReceiveWindow,
    LimitingFactor::ZeroWindow,
    LimitingFactor::SenderCap,
    LimitingFactor::ProtocolWindow,
    LimitingFactor::Application,
    LimitingFactor::Pacing,
    LimitingFactor::NagleDelayedAck,
    LimitingFactor::AckDelay,
    LimitingFactor::LossRecovery,
    LimitingFactor::Timeout,
    LimitingFactor::Bandwidth,
    LimitingFactor::RoundTrip,
    LimitingFactor::Unknown,
];

pub fn ms(value: f64) -> Nanos {
    Nanos::from_secs_f64(value / 1e3)
}

pub fn frame(number: u64) -> Frame {
    Frame { file: None, number }
}

/// Shares of consecutive limits, and the spans that they make from `start` on.
pub fn limits(start: Nanos, parts: &[(LimitingFactor, f64)]) -> (Vec<LimitShare>, Vec<LimitSpan>) {
    let whole: f64 = parts.iter().map(|part| part.1).sum();
    let mut at = start;
    parts
        .iter()
        .map(|&(limit, millis)| {
            let (start_s, seconds) = (at, ms(millis));
            at += seconds;
            (LimitShare { limit, seconds, share: millis / whole }, LimitSpan { limit, start_s, seconds })
        })
        .unzip()
}

pub fn endpoint(address: &str, port: u16, name: Option<&str>) -> Endpoint {
    Endpoint { address: address.into(), port, name: name.map(Into::into) }
}

pub fn finding(cause: Cause, millis: f64, statement: impl Into<Statement>) -> Finding {
    Finding::new(cause, ms(millis), 0.9, statement)
}

/// What a finding of this cause and cost states.
fn statement(cause: Cause, millis: f64) -> Statement {
    let cost_s = ms(millis);
    match cause {
        Cause::Bufferbloat => LinkStatement::QueueGrew { least_s: ms(26.0), most_s: ms(26.0 + millis) }.into(),
        Cause::Ecn => {
            LinkStatement::Marked { echoes: 3, before: 65_535, after: 45_000, cost_s, whole_s: cost_s }.into()
        }
        Cause::Loss => LossStatement::Lost { share: 0.014, segments: 12, cost_s, whole_s: ms(millis * 4.0) }.into(),
        Cause::NewConnectionEachTime => ExchangeStatement::NewConnections {
            connections: 40,
            server: "files.example.org:80".into(),
            opening_s: cost_s,
            whole_s: ms(millis * 40.0),
            closed: ClosedFirst { with: CloseKind::Fin, by_client: 0, by_server: 40 },
        }
        .into(),
        Cause::ReceiveWindow => {
            SendingStatement::ReceiveWindowFull { window: 65_535, full_s: cost_s, whole_s: cost_s, rtt_s: ms(26.0) }
                .into()
        }
        Cause::ServerThink => {
            ExchangeStatement::ResponseLate { by: End::Server, took_s: cost_s, rtt_s: ms(26.0) }.into()
        }
        Cause::SynLoss => ExchangeStatement::SynUnanswered {
            server: "files.example.org:80".into(),
            syns: 4,
            waited_s: cost_s,
            end: WaitEnd::GaveUp,
        }
        .into(),
        Cause::TurnTaking => ExchangeStatement::RequestsOneByOne {
            requests: 5,
            rtt_s: ms(millis / 4.0),
            spent_s: cost_s,
            whole_s: ms(millis * 2.0),
        }
        .into(),
        other => panic!("no example states {other}"),
    }
}

/// A finding with the statement that is usual for its cause.
fn usual(cause: Cause, millis: f64) -> Finding {
    finding(cause, millis, statement(cause, millis))
}

pub fn measured(kind: Measure, value: f64, unit: Unit, frames: Vec<Frame>) -> Measurement {
    Measurement { frames, kind, value, unit }
}

pub fn transfer(bytes: u64, start: f64, before: &[(LimitingFactor, f64)], parts: &[(LimitingFactor, f64)]) -> Transfer {
    let duration: f64 = parts.iter().map(|part| part.1).sum();
    let (limits, timeline) = self::limits(ms(start), parts);
    Transfer {
        from: End::Server,
        bytes,
        start_s: ms(start),
        duration_s: ms(duration),
        rate_bps: (duration > 0.0).then(|| bytes as f64 * 8e3 / duration),
        label: None,
        before: self::limits(Nanos::ZERO, before).0,
        first_byte_s: None,
        first_record: None,
        rounds: Vec::new(),
        rounds_total: 0,
        elided: false,
        path: Default::default(),
        model_s: None,
        model_skipped: false,
        limits,
        timeline,
        findings: Vec::new(),
        verdict: Verdict::Healthy,
    }
}

fn retransmission() -> Retransmission {
    Retransmission {
        frame: frame(27),
        time_s: Nanos::from_millis(95),
        seq: 14_281,
        bytes: 1428,
        kind: RetransmissionKind::Fast,
        unseen_original: true,
    }
}

pub fn connection(id: u64, transfers: Vec<Transfer>) -> Connection {
    let direction = |from, bytes, packets, window| Direction {
        from,
        bytes,
        packets,
        retransmitted: Retransmitted { fast: 4, timeout: 0, tail_probe: 1, spurious: 0, unseen_original: 2 },
        retransmissions: vec![retransmission()],
        retransmissions_total: 5,
        out_of_order: 0,
        duplicate_acks: 0,
        window_probes: 0,
        keep_alives: 1,
        duplicated: 0,
        zero_windows: 0,
        window_full: 0,
        zero_window_s: Nanos::ZERO,
        max_in_flight: bytes.min(65_535),
        max_window: window,
        largest_record: None,
    };
    Connection {
        id,
        capture: 0,
        client: endpoint("192.0.2.7", 50_000 + id as u16, None),
        server: endpoint("198.51.100.20", 443, Some("files.example.org")),
        start_s: Nanos::ZERO,
        duration_s: transfers.iter().map(|t| t.start_s + t.duration_s).max().unwrap_or(ms(80.0)),
        state: State::Closed,
        closed_by: Some(End::Client),
        near: Near::Client,
        near_reason: VantageReason::ResponseTimes { near_s: Nanos::from_micros(100), far_s: Nanos::from_millis(25) },
        stacks: [linux(64_240), linux(65_160)],
        products: [None; 2],
        application: None,
        application_is_shown: false,
        quic: None,
        decryption: None,
        requests: Vec::new(),
        requests_total: 0,
        origin: Origin { stream: Some(0), ..Origin::default() },
        rtt_ms: Rtt { min: Some(25.2), p50: Some(25.8), p95: Some(27.1), samples: 212 },
        lookup: None,
        handshake: Some(handshake()),
        problems: Vec::new(),
        icmp: Vec::new(),
        icmp_total: 0,
        elided: Vec::new(),
        directions: vec![
            direction(End::Client, 2_010, 180, Some(65_535)),
            direction(End::Server, transfers.iter().map(|t| t.bytes).sum(), 535, Some(241_088)),
        ],
        exchanges: Vec::new(),
        exchanges_total: 0,
        response_times: None,
        transfers_total: transfers.len() as u64,
        transfers,
        findings: Vec::new(),
    }
}

/// Both ends offer all options; only the client has timestamps.
fn handshake() -> Handshake {
    Handshake {
        rtt_ms: Some(25.9),
        mss: [Some(1_440), Some(1_440)],
        window_scale: [Some(6), Some(7)],
        sack: [Some(true), Some(true)],
        timestamps: [Some(true), Some(false)],
        retries: [0, 0],
    }
}

/// A second request, small, and slow to be answered; and a push.
pub fn exchanges(transfers: usize) -> Vec<Exchange> {
    let message = |from, bytes, start: f64, took: f64, label: Option<&str>| {
        Some(Message { from, bytes, start_s: ms(start), duration_s: ms(took), label: label.map(Into::into) })
    };
    let exchange = |start: f64, request, answer, client: f64, idle: f64, server: Option<f64>, wait: f64| Exchange {
        start_s: ms(start),
        request,
        answer,
        client_s: ms(client),
        idle_s: ms(idle),
        server_s: server.map(ms),
        wait_s: ms(wait),
        spans: Vec::new(),
        spans_total: None,
        transfers: Vec::new(),
    };
    let mut all = vec![
        exchange(
            80.0,
            message(End::Client, 74, 80.0, 0.0, Some("HTTP GET /2024/photo-album/index.html")),
            message(End::Server, 562_687, 106.2, 158.4, Some("HTTP 200 OK")),
            0.8,
            0.0,
            Some(0.4),
            210.1,
        ),
        exchange(
            3_264.6,
            message(End::Client, 59, 3_264.6, 0.0, None),
            message(End::Server, 1_448, 4_270.2, 0.0, None),
            0.0,
            3_000.0,
            Some(979.8),
            1_031.4,
        ),
        exchange(9_000.0, None, message(End::Server, 31, 9_000.0, 0.0, None), 0.0, 0.0, None, 26.0),
        exchange(9_100.0, message(End::Client, 120, 9_100.0, 0.0, None), None, 74.0, 0.0, None, 26.0),
    ];
    all[0].transfers = (0..transfers.min(2)).collect();
    let span = |start: f64, took: f64, party, reason, grade| WaitSpan {
        start_s: ms(start),
        seconds: ms(took),
        party,
        reason,
        grade,
    };
    all[0].spans = vec![
        span(80.0, 25.8, Party::Network, LimitingFactor::RequestWait, Grade::Shown),
        span(105.8, 0.4, Party::Server, LimitingFactor::ServerThink, Grade::Shown),
        span(106.2, 183.9, Party::Server, LimitingFactor::SlowStart, Grade::Inferred),
    ];
    all
}

/// Response times of `count` exchanges with this median, milliseconds.
pub fn response_times(count: u64, median: i64) -> ResponseTimes {
    let [p50_s, p95_s, max_s] = [median, 980, 1_031].map(Nanos::from_millis);
    ResponseTimes { count, p50_s, p95_s, max_s }
}

pub fn analysis(connections: Vec<Connection>) -> Analysis {
    Analysis {
        schema: SCHEMA,
        partial: false,
        threshold_s: whyslow_diagnosis::ranking::DEFAULT_THRESHOLD,
        captures: vec![Capture {
            path: "slow.pcap".into(),
            format: "pcap".into(),
            link_types: vec!["Ethernet".into()],
            packets: 715,
            tcp_packets: 715,
            first_time: Some("2024-02-29T12:34:56.789012345Z".into()),
            duration_s: Some(ms(316.4)),
            problems: Vec::new(),
            pings: Vec::new(),
            lookups: Vec::new(),
        }],
        connections,
        findings: Vec::new(),
        pairs: Vec::new(),
        pairs_total: 0,
    }
}

pub fn problem(slug: &str, count: u64, detail: &str) -> Problem {
    Problem::new(slug, count, detail)
}

/// A download whose sender spent its time in slow start.
pub fn slow_start() -> Analysis {
    let before =
        [(LimitingFactor::Handshake, 25.9), (LimitingFactor::TlsHandshake, 54.1), (LimitingFactor::RequestWait, 26.2)];
    let mut one =
        transfer(562_687, 106.2, &before, &[(LimitingFactor::SlowStart, 158.0), (LimitingFactor::Bandwidth, 26.0)]);
    let sent = [14_280, 18_564, 34_272, 55_692, 85_680, 125_664, 161_130, 67_405];
    let mut first = 13;
    one.label = Some("HTTP GET /2024/photo-album/index.html → 200".into());
    one.first_byte_s = Some(ms(25.9));
    one.first_record = Some(16_413);
    one.rounds_total = 8;
    one.rounds = sent
        .iter()
        .enumerate()
        .map(|(index, &bytes)| {
            let last = first + bytes / 1_000;
            let round = Round {
                start_s: ms(106.2 + 25.0 * index as f64),
                duration_s: ms(24.8 + index as f64 / 10.0),
                sending_s: ms(1.0 + index as f64),
                bytes,
                first_frame: frame(first),
                last_frame: frame(last),
                in_flight: bytes,
                window: Some(131_072),
                limit: if index < 6 { LimitingFactor::SlowStart } else { LimitingFactor::Bandwidth },
            };
            first = last + 2;
            round
        })
        .collect();
    let mut cause = finding(
        Cause::SlowStart,
        158.0,
        SendingStatement::SlowStart { spent_s: ms(158.0), whole_s: ms(184.0), first_flight: Some(14_280) },
    );
    cause.evidence = vec![
        measured(Measure::FirstFlight, 14_280.0, Unit::Bytes, vec![frame(13), frame(29)]),
        measured(Measure::RoundsOfSlowStart, 6.0, Unit::Rounds, vec![frame(13), frame(85)]),
        measured(Measure::ReceiveWindow, 131_072.0, Unit::Bytes, vec![]),
    ];
    let promise = |millis| {
        Some(Promise { time_s: ms(millis), range_s: Some([ms(0.95 * millis), ms(1.2 * millis)]), assumed: None })
    };
    let reuse = Remedy::new(Actor::Application, SendingAction::ReuseConnection { cap: None });
    let raise = SendingAction::RaiseInitialWindow { from: Some(10), to: 32, cap: None, ipv6: false };
    cause.remedies = vec![
        Remedy { promise: promise(26.0), ..reuse },
        Remedy { promise: promise(52.0), ..Remedy::new(Actor::Sender, raise) },
    ];
    one.model_s = Some(ms(181.0));
    one.findings = vec![cause];
    one.verdict = Verdict::Cause;
    let mut connection = connection(1, vec![one]);
    connection.client = endpoint("2001:db8::1", 60_402, None);
    connection.server = endpoint("2001:db8:80::5", 443, Some("www.example.edu"));
    analysis(vec![connection])
}

/// A transfer that nothing held back.
pub fn healthy() -> Analysis {
    let mut one = transfer(
        20_480,
        52.0,
        &[(LimitingFactor::Handshake, 25.9), (LimitingFactor::RequestWait, 26.1)],
        &[(LimitingFactor::Bandwidth, 27.3)],
    );
    one.verdict = Verdict::Healthy;
    analysis(vec![connection(1, vec![one])])
}

/// A small capture in which much is missing.
pub fn damaged() -> Analysis {
    let mut one =
        transfer(9_400_000, 0.0, &[], &[(LimitingFactor::Unknown, 2_900.0), (LimitingFactor::LossRecovery, 300.0)]);
    one.findings = vec![Finding {
        confidence: 0.3,
        to_confirm: vec![LossQuestion::FirstCopiesUnseen.into()],
        ..usual(Cause::Loss, 300.0)
    }];
    one.verdict = Verdict::Mixed;
    let mut connection = connection(1, vec![one]);
    connection.handshake = None;
    connection.state = State::Open;
    connection.near = Near::Unknown;
    connection.rtt_ms = Rtt::default();
    connection.problems = vec![
        problem("no-handshake", 1, "the connection began before the capture, so the window scale is unknown"),
        problem("capture-loss", 1_204, "ACKs cover bytes that are not in the capture"),
    ];
    let mut analysis = analysis(vec![connection]);
    let capture = &mut analysis.captures[0];
    capture.path = "/var/captures/rotated/2024-02-29/interface-eth0-with-a-long-name-00017.pcapng.zst".into();
    capture.packets = 1_000_000;
    capture.tcp_packets = 998_001;
    capture.duration_s = None;
    capture.first_time = None;
    capture.problems = vec![
        problem("short-snaplen", 998_001, "96 B of each packet were captured"),
        problem("torn-record", 1, "the last record is cut short at byte 96,000,123"),
    ];
    analysis
}

/// Connections that never carried anything.
pub fn without_payload(state: State) -> Analysis {
    let mut connection = connection(1, Vec::new());
    connection.state = state;
    connection.closed_by = Some(End::Server);
    connection.rtt_ms = Rtt::default();
    if let (State::Unanswered, Some(handshake)) = (state, connection.handshake.as_mut()) {
        handshake.retries = [3, 0];
        connection.duration_s = ms(7_200.0);
        connection.findings = vec![Finding {
            evidence: vec![measured(Measure::Segments, 4.0, Unit::Syns, (1..=4).map(frame).collect())],
            ..usual(Cause::SynLoss, 7_000.0)
        }];
    }
    analysis(vec![connection])
}

/// Five uploads on one connection, the first of them slow.
pub fn reused() -> Analysis {
    let times = [1_020.0, 439.0, 268.0, 253.0, 254.0];
    let mut start = 210.0;
    let transfers = times.iter().enumerate().map(|(index, &time)| {
        let before = [(LimitingFactor::Handshake, if index == 0 { 200.4 } else { 0.0 })];
        let mut one = transfer(
            103_000,
            start,
            &before,
            &[(LimitingFactor::SlowStart, time - 200.0), (LimitingFactor::RequestWait, 200.0)],
        );
        one.from = End::Client;
        one.label = Some(format!("HTTP POST /upload/{index} → 200"));
        if index < 2 {
            one.findings = vec![Finding {
                remedies: vec![Remedy::new(Actor::Application, SendingAction::ReuseConnection { cap: None })],
                ..finding(
                    Cause::SlowStart,
                    time - 300.0,
                    SendingStatement::SlowStart { spent_s: ms(time - 300.0), whole_s: ms(time), first_flight: None },
                )
            }];
        }
        if !one.findings.is_empty() {
            one.verdict = Verdict::Cause;
        }
        start += time + 700.0;
        one
    });
    let mut connection = connection(1, transfers.collect());
    connection.findings = vec![usual(Cause::TurnTaking, 800.0)];
    connection.rtt_ms = Rtt { min: Some(200.1), p50: Some(201.0), p95: Some(380.0), samples: 41 };
    analysis(vec![connection])
}

fn linux(window: u16) -> Stack {
    let evidence = StackFields { ttl: 64, window, mss: 1460, window_scale: Some(7), timestamps: true };
    Stack::Known { value: Platform::Linux, evidence }
}
