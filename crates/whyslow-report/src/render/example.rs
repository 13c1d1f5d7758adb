//! Made-up analyses for the renderers' tests.

#[path = "example_points.rs"]
pub mod points;

use whyslow_core::analysis::*;
use whyslow_core::units::Nanos;

pub const ALL_LIMITS: [Limit; 21] = [
    Limit::Handshake,
    Limit::TlsHandshake,
    Limit::RequestWait,
    Limit::ServerThink,
    Limit::ClientThink,
    Limit::Idle,
    Limit::SlowStart,
    Limit::CongestionAvoidance,
    Limit::ReceiveWindow,
    Limit::ZeroWindow,
    Limit::SenderCap,
    Limit::ProtocolWindow,
    Limit::Application,
    Limit::Pacing,
    Limit::NagleDelayedAck,
    Limit::AckDelay,
    Limit::LossRecovery,
    Limit::Timeout,
    Limit::Bandwidth,
    Limit::RoundTrip,
    Limit::Unknown,
];

pub fn ms(value: f64) -> Nanos {
    Nanos::from_secs_f64(value / 1e3)
}

pub fn frame(number: u64) -> Frame {
    Frame { file: None, number }
}

/// Shares of consecutive limits, and the spans that they make from `start` on.
pub fn limits(start: Nanos, parts: &[(Limit, f64)]) -> (Vec<LimitShare>, Vec<LimitSpan>) {
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

pub fn finding(cause: Cause, millis: f64, summary: &str) -> Finding {
    Finding {
        cause,
        seconds: ms(millis),
        confidence: 0.9,
        summary: summary.into(),
        evidence: Vec::new(),
        fix: None,
        predicted_s: None,
        predicted_assumes: None,
        connections: Vec::new(),
        shared: false,
        settle: None,
    }
}

pub fn transfer(bytes: u64, start: f64, before: &[(Limit, f64)], parts: &[(Limit, f64)]) -> Transfer {
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
        model_s: None,
        model_skipped: false,
        limits,
        timeline,
        findings: Vec::new(),
        verdict: HEALTHY_VERDICT.into(),
    }
}

pub fn connection(id: u64, transfers: Vec<Transfer>) -> Connection {
    let direction = |from, bytes, packets, window| Direction {
        from,
        bytes,
        packets,
        retransmitted: Retransmitted { fast: 4, timeout: 0, tail_probe: 1, spurious: 0, unseen_original: 2 },
        retransmissions: vec![Retransmission {
            frame: frame(27),
            time_s: Nanos::from_millis(95),
            seq: 14_281,
            bytes: 1428,
            kind: RetransmissionKind::Fast,
            unseen_original: true,
        }],
        retransmissions_total: 5,
        out_of_order: 0,
        duplicate_acks: 0,
        window_probes: 0,
        keep_alives: 1,
        duplicated: 0,
        zero_windows: 0,
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
        near_reason: "its data is answered after a whole round trip, the server's at once".into(),
        rtt_ms: Rtt { min: Some(25.2), p50: Some(25.8), p95: Some(27.1), samples: 212 },
        handshake: Some(Handshake {
            rtt_ms: Some(25.9),
            mss: [Some(1_440), Some(1_440)],
            window_scale: [Some(6), Some(7)],
            sack: [Some(true), Some(true)],
            timestamps: [Some(true), Some(false)],
            retries: [0, 0],
        }),
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
        transfers_total: transfers.len() as u64,
        transfers,
        findings: Vec::new(),
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
    all
}

pub fn analysis(connections: Vec<Connection>) -> Analysis {
    Analysis {
        schema: SCHEMA,
        partial: false,
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
    let before = [(Limit::Handshake, 25.9), (Limit::TlsHandshake, 54.1), (Limit::RequestWait, 26.2)];
    let mut told = transfer(562_687, 106.2, &before, &[(Limit::SlowStart, 158.0), (Limit::Bandwidth, 26.0)]);
    let sent = [14_280, 18_564, 34_272, 55_692, 85_680, 125_664, 161_130, 67_405];
    let mut first = 13;
    told.label = Some("HTTP GET /2024/photo-album/index.html → 200".into());
    told.first_byte_s = Some(ms(25.9));
    told.first_record = Some(16_413);
    told.rounds_total = 8;
    told.rounds = sent
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
                limit: if index < 6 { Limit::SlowStart } else { Limit::Bandwidth },
            };
            first = last + 2;
            round
        })
        .collect();
    let mut cause = finding(Cause::SlowStart, 158.0, "the sender spent 6 of 8 rounds opening its window");
    cause.evidence = vec![
        Evidence { frames: vec![frame(13), frame(29)], figure: "first flight".into(), value: 14_280.0, unit: "B" },
        Evidence { frames: vec![frame(13), frame(85)], figure: "growth a round".into(), value: 1.59, unit: "×" },
        Evidence { frames: vec![], figure: "window offered".into(), value: 131_072.0, unit: "B" },
    ];
    cause.fix = Some(Fix {
        who: Actor::Sender,
        what: "raise the initial congestion window (10 → 32 segments), or keep the connection open".into(),
        command: Some("ip route change $(ip route show default | head -n 1) initcwnd 32".into()),
        verify: Some("in a new capture the first flight is larger".into()),
    });
    cause.predicted_s = Some(ms(52.0));
    told.model_s = Some(ms(181.0));
    told.findings = vec![cause];
    told.verdict = "slow-start: the sender spent 6 of 8 rounds opening its window".into();
    let mut connection = connection(1, vec![told]);
    connection.client = endpoint("2001:db8::1", 60_402, None);
    connection.server = endpoint("2001:db8:80::5", 443, Some("www.example.edu"));
    analysis(vec![connection])
}

/// A transfer that nothing held back.
pub fn healthy() -> Analysis {
    let mut told =
        transfer(20_480, 52.0, &[(Limit::Handshake, 25.9), (Limit::RequestWait, 26.1)], &[(Limit::Bandwidth, 27.3)]);
    told.verdict = HEALTHY_VERDICT.into();
    analysis(vec![connection(1, vec![told])])
}

/// A small capture in which much is missing.
pub fn damaged() -> Analysis {
    let mut told = transfer(9_400_000, 0.0, &[], &[(Limit::Unknown, 2_900.0), (Limit::LossRecovery, 300.0)]);
    told.findings = vec![Finding {
        confidence: 0.3,
        settle: Some("capture at the sender, and begin before the connection is opened".into()),
        ..finding(
            Cause::Loss,
            300.0,
            "12 holes were filled late, and the capture itself has lost packets: they may have been there",
        )
    }];
    told.verdict = "mixed: unknown 91 %, loss recovery 9 %".into();
    let mut connection = connection(1, vec![told]);
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
        connection.findings = vec![Finding {
            evidence: vec![Evidence {
                frames: vec![frame(1), frame(2), frame(3), frame(4)],
                figure: "SYNs".into(),
                value: 4.0,
                unit: "",
            }],
            ..finding(Cause::SynLoss, 7_000.0, "the SYN was sent 4 times and never answered")
        }];
    }
    analysis(vec![connection])
}

/// Five uploads on one connection, the first of them slow.
pub fn reused() -> Analysis {
    let times = [1_020.0, 439.0, 268.0, 253.0, 254.0];
    let mut start = 210.0;
    let transfers = times.iter().enumerate().map(|(index, &time)| {
        let before = [(Limit::Handshake, if index == 0 { 200.4 } else { 0.0 })];
        let mut told =
            transfer(103_000, start, &before, &[(Limit::SlowStart, time - 200.0), (Limit::RequestWait, 200.0)]);
        told.from = End::Client;
        told.label = Some(format!("HTTP POST /upload/{index} → 200"));
        if index < 2 {
            told.findings = vec![Finding {
                fix: Some(Fix {
                    who: Actor::Receiver,
                    what: "keep the connection open".into(),
                    command: None,
                    verify: None,
                }),
                ..finding(Cause::SlowStart, time - 300.0, "the sender's window was still opening")
            }];
        }
        if let Some(first) = told.findings.first() {
            told.verdict = format!("{}: {}", first.cause, first.summary);
        }
        start += time + 700.0;
        told
    });
    let mut connection = connection(1, transfers.collect());
    connection.findings =
        vec![finding(Cause::TurnTaking, 800.0, "5 turns of 200 ms: each upload waited for the answer before")];
    connection.rtt_ms = Rtt { min: Some(200.1), p50: Some(201.0), p95: Some(380.0), samples: 41 };
    analysis(vec![connection])
}

/// Many connections over two captures.
pub fn many() -> Analysis {
    let connections = (1..=40).map(|id| {
        let slow = (id * 7919) % 13;
        let cause = match id % 4 {
            0 => Some((Cause::ReceiveWindow, "the receiver's window of 65,535 B was full", Limit::ReceiveWindow)),
            1 => Some((Cause::Loss, "1.4 % of the segments were lost on the path", Limit::LossRecovery)),
            2 => Some((Cause::ServerThink, "the server took its time before the first byte", Limit::ServerThink)),
            _ => None,
        };
        let mut told = transfer(
            1_000_000 * (slow + 1),
            52.0,
            &[(Limit::Handshake, 25.9)],
            &[(cause.map_or(Limit::Bandwidth, |cause| cause.2), 400.0 * (slow + 1) as f64), (Limit::Bandwidth, 120.0)],
        );
        if let Some((cause, summary, _)) = cause {
            told.findings = vec![finding(cause, 400.0 * (slow + 1) as f64, summary)];
            told.findings[0].fix = Some(Fix {
                who: Actor::Receiver,
                what: "raise the receive buffer to 2,097,152 B, twice the bandwidth-delay product".into(),
                command: Some("sysctl -w net.ipv4.tcp_rmem='4096 2097152 6291456'".into()),
                verify: Some(
                    "while the transfer runs, `ss -tin` on the sender shows little or no `rwnd_limited`".into(),
                ),
            });
            if id % 5 == 0 {
                told.findings.push(finding(Cause::Bufferbloat, 90.0, "the queue on the path added 90 ms"));
            }
        }
        // One after the other.
        let later = Nanos::from_millis(6_000 * id as i64);
        told.start_s += later;
        told.timeline.iter_mut().for_each(|span| span.start_s += later);
        told.rounds.iter_mut().for_each(|round| round.start_s += later);
        let mut connection = connection(id, vec![told]);
        connection.start_s += later;
        connection
    });
    let mut analysis = analysis(connections.collect());
    analysis.captures.push(Capture { path: "later.pcap".into(), ..analysis.captures[0].clone() });
    analysis.findings = vec![Finding {
        connections: (1..=40).collect(),
        evidence: vec![Evidence {
            frames: vec![Frame { file: Some(0), number: 17 }, Frame { file: Some(1), number: 4 }],
            figure: "handshakes".into(),
            value: 40.0,
            unit: "",
        }],
        fix: Some(Fix {
            who: Actor::Application,
            what: "keep connections open and reuse them".into(),
            command: None,
            verify: None,
        }),
        ..finding(Cause::NewConnectionEachTime, 1_036.0, "40 connections to files.example.org were used once each")
    }];
    analysis
}

/// A download that was captured at both ends, with losses on its way; nearer to the server is where
/// it is told.
pub fn both_ends() -> Analysis {
    let mut analysis = slow_start();
    let mut other = slow_start();
    other.captures[0].path = "server.pcap".into();
    other.connections[0].id = 2;
    other.connections[0].capture = 1;
    other.connections[0].near = Near::Server;
    analysis.captures.append(&mut other.captures);
    analysis.connections.append(&mut other.connections);
    let delay = |samples, min: f64, p95: f64| OneWay { min: Some(min), p50: Some(min + 0.1), p95: Some(p95), samples };
    let way = |from, sent, lost, p95: f64| PairDirection {
        from,
        sent,
        sent_bytes: sent * 1_428,
        lost,
        lost_with_payload: lost,
        lost_bytes: lost * 1_428,
        lost_share: lost as f64 / sent as f64,
        lost_frames: (0..lost.min(16)).map(|n| Frame { file: Some(1), number: 40 + n * 11 }).collect(),
        damaged: 0,
        unjudged: 0,
        uncaptured: 0,
        unseen_before: 0,
        duplicated: 0,
        reordered: 3,
        reordered_s: ms(1.5),
        resent: lost,
        resent_for_loss: lost,
        lost_before: 0,
        delay_ms: delay(sent - lost, 12.9, p95),
        queue_ms: delay(sent - lost, 0.0, p95 - 12.9),
        uncorrected_ms: Some(-8.0),
    };
    let leg = |place, min| Leg { place, rtt_ms: Rtt { min: Some(min), p50: None, p95: None, samples: 3 } };
    analysis.pairs = vec![Pair {
        connections: [1, 2],
        captures: [0, 1],
        told: 2,
        matched_by: MatchedBy::InitialNumbers,
        clock: Some(PairClock { offset_s: ms(-1_234.5), drift_ppm: Some(12.3), drift_error_ppm: Some(0.4) }),
        directions: vec![way(End::Client, 180, 0, 13.1), way(End::Server, 535, 12, 61.0)],
        legs: vec![leg(PathPart::Client, 0.1), leg(PathPart::Between, 25.8), leg(PathPart::Server, 0.0)],
        changes: vec![Change {
            what: "addresses",
            from: Some(End::Client),
            count: 1,
            detail: "the client is 192.0.2.7 port 50001 near the client and 203.0.113.9 port 61000 near the server"
                .into(),
        }],
        proxy: None,
        summary: vec!["lost between the two captures: 12 of 535 packets (2.24 %) on the way to the client".into()],
        caveats: vec![
            "only the first 700 packets that the capture nearer to the client has of it were compared".into(),
        ],
    }];
    analysis.pairs_total = 1;
    analysis
}

/// A SYN that two routers did not deliver, and packets that were too long.
pub fn told_by_icmp() -> Analysis {
    let error = |kind: &'static str, (message, code), number, count, detail: &str| IcmpError {
        kind,
        message,
        code,
        by: "192.0.2.254".into(),
        about: End::Client,
        size: None,
        mtu: None,
        obeyed: None,
        count,
        time_s: Nanos::from_millis(40),
        last_s: Nanos::from_millis(2_040),
        frame: frame(number),
        detail: detail.into(),
    };
    let mut unanswered = without_payload(State::Unanswered);
    unanswered.connections[0].icmp = vec![
        error("host-unreachable", (3, 1), 2, 3, "192.0.2.254 says of the client's packets: the host cannot be reached"),
        error("prohibited", (3, 13), 9, 1, "192.0.2.254 says of the client's packets: a filter forbids them"),
    ];
    unanswered.connections[0].icmp_total = 1_204;
    let mut slow = slow_start();
    slow.connections[0].icmp = vec![IcmpError {
        about: End::Server,
        size: Some(1_500),
        mtu: Some(1_400),
        obeyed: Some(true),
        ..error(
            "too-big",
            (3, 4),
            14,
            10,
            "192.0.2.254 says of the server's packets of 1,500 B: too long, 1,400 B pass",
        )
    }];
    slow.connections[0].icmp_total = 10;
    unanswered.connections.extend(slow.connections);
    unanswered
}

/// Every kind of value that an analysis may hold, and strings that try to escape.
pub fn everything() -> Analysis {
    let mut analysis = many();
    for other in [slow_start(), healthy(), damaged(), reused(), told_by_icmp()] {
        analysis.captures.extend(other.captures);
        analysis.connections.extend(other.connections);
    }
    for state in [State::Refused, State::Open, State::HalfClosed, State::Reset] {
        analysis.connections.extend(without_payload(state).connections);
    }
    let mut pairs = both_ends().pairs;
    pairs[0].clock = None;
    pairs[0].proxy = Some(Proxy {
        slower: Some(End::Client),
        before_ms: Some(0.4),
        behind_ms: None,
        full_share: 0.6,
        empty_share: 0.0,
        held_bytes: 65_536,
        held_most_bytes: 131_072,
    });
    pairs.extend(both_ends().pairs);
    pairs[1].changes[0].from = None;
    pairs[1].directions[0].delay_ms = OneWay::default();
    analysis.pairs = pairs;
    let every: Vec<_> = ALL_LIMITS.iter().map(|&limit| (limit, 10.0)).collect();
    let mut told = transfer(0, 0.0, &every, &every);
    told.label = Some("\u{1b}]0;owned\u{7} GET /\u{202e} \"quoted\"".into());
    told.rate_bps = Some(f64::NAN);
    analysis.connections.push(connection(99, vec![told]));
    for (near, actor) in
        [(Near::Middle, Actor::Network), (Near::Server, Actor::Capture), (Near::Unknown, Actor::Sender)]
    {
        let mut connection = connection(100, Vec::new());
        connection.near = near;
        connection.client.name = Some("\u{1b}[2J".into());
        connection.findings = vec![Finding {
            fix: Some(Fix { who: actor, what: "see".into(), command: None, verify: None }),
            ..finding(Cause::Ecn, 0.0, "marks")
        }];
        connection.closed_by = None;
        connection.handshake = Some(Handshake {
            rtt_ms: None,
            mss: [None, Some(536)],
            window_scale: [None, Some(200)],
            sack: [None, Some(false)],
            timestamps: [None, None],
            retries: [1_000_000, 1],
        });
        analysis.connections.push(connection);
    }
    analysis
}
