//! Analyses of several connections, and all of them together.

use super::*;
use whyslow_analysis::Fate;

/// Many connections over two captures.
pub fn many() -> Analysis {
    let connections = (1..=40).map(|id| {
        let slow = (id * 7919) % 13;
        let cause = match id % 4 {
            0 => Some((Cause::ReceiveWindow, LimitingFactor::ReceiveWindow)),
            1 => Some((Cause::Loss, LimitingFactor::LossRecovery)),
            2 => Some((Cause::ServerThink, LimitingFactor::ServerThink)),
            _ => None,
        };
        let mut one = transfer(
            1_000_000 * (slow + 1),
            52.0,
            &[(LimitingFactor::Handshake, 25.9)],
            &[
                (cause.map_or(LimitingFactor::Bandwidth, |cause| cause.1), 400.0 * (slow + 1) as f64),
                (LimitingFactor::Bandwidth, 120.0),
            ],
        );
        if let Some((cause, _)) = cause {
            let millis = 400.0 * (slow + 1) as f64;
            one.findings = vec![usual(cause, millis)];
            let need = BufferNeed {
                bytes: 2_097_152,
                rate_bps: 100e6,
                rate: RateSource::Given,
                sized_by: SizedBy::BandwidthDelay,
                rtt_s: ms(26.0),
            };
            one.findings[0].remedies = vec![Remedy::new(Actor::Receiver, SendingAction::RaiseReceiveBuffer { need })];
            if id % 5 == 0 {
                one.findings.push(usual(Cause::Bufferbloat, 90.0));
            }
        }
        // One after the other.
        let later = Nanos::from_millis(6_000 * id as i64);
        one.start_s += later;
        one.timeline.iter_mut().for_each(|span| span.start_s += later);
        one.rounds.iter_mut().for_each(|round| round.start_s += later);
        let mut connection = connection(id, vec![one]);
        connection.start_s += later;
        connection
    });
    let mut analysis = analysis(connections.collect());
    analysis.captures.push(Capture { path: "later.pcap".into(), ..analysis.captures[0].clone() });
    analysis.findings = vec![Finding {
        connections: (1..=40).collect(),
        evidence: vec![measured(
            Measure::Segments,
            40.0,
            Unit::Connections,
            vec![Frame { file: Some(0), number: 17 }, Frame { file: Some(1), number: 4 }],
        )],
        remedies: vec![Remedy::new(Actor::Application, SendingAction::ReuseConnection { cap: None })],
        ..usual(Cause::NewConnectionEachTime, 1_036.0)
    }];
    analysis
}

/// A download that was captured at both ends, with losses on its way; nearer to the server is where
/// it is printed.
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
        shown: 2,
        matched_by: MatchedBy::InitialNumbers,
        clock: Some(PairClock { offset_s: ms(-1_234.5), drift_ppm: Some(12.3), drift_error_ppm: Some(0.4) }),
        directions: vec![way(End::Client, 180, 0, 13.1), way(End::Server, 535, 12, 61.0)],
        legs: vec![leg(PathPart::Client, 0.1), leg(PathPart::Between, 25.8), leg(PathPart::Server, 0.0)],
        changes: vec![Change {
            from: Some(End::Client),
            count: 1,
            kind: ChangeKind::Addresses {
                near_client: ("192.0.2.7".into(), 50_001),
                near_server: ("203.0.113.9".into(), 61_000),
            },
        }],
        proxy: None,
        statements: vec![PairStatement::Lost {
            ways: vec![WayLoss { to: End::Client, lost: 12, sent: 535, share: 12.0 / 535.0 }],
        }],
        caveats: vec![PairCaveat::FirstPackets { near: End::Client, packets: 700 }],
    }];
    analysis.pairs_total = 1;
    analysis
}

/// A SYN that two routers did not deliver, and packets that were too long.
pub fn icmp_errors() -> Analysis {
    let error = |kind: Fate, (message, code), number, count| IcmpError {
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
    };
    let mut unanswered = without_payload(State::Unanswered);
    unanswered.connections[0].icmp =
        vec![error(Fate::HostUnreachable, (3, 1), 2, 3), error(Fate::Prohibited, (3, 13), 9, 1)];
    unanswered.connections[0].icmp_total = 1_204;
    let mut slow = slow_start();
    slow.connections[0].icmp = vec![IcmpError {
        about: End::Server,
        size: Some(1_500),
        mtu: Some(1_400),
        obeyed: Some(true),
        ..error(Fate::TooBig(Some(1_400)), (3, 4), 14, 10)
    }];
    slow.connections[0].icmp_total = 10;
    unanswered.connections.extend(slow.connections);
    unanswered
}

/// Every kind of value that an analysis may hold, and strings that try to escape.
pub fn everything() -> Analysis {
    let mut analysis = many();
    for other in [slow_start(), healthy(), damaged(), reused(), icmp_errors()] {
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
    let mut one = transfer(0, 0.0, &every, &every);
    one.label = Some("\u{1b}]0;owned\u{7} GET /\u{202e} \"quoted\"".into());
    one.rate_bps = Some(f64::NAN);
    analysis.connections.push(connection(99, vec![one]));
    for (near, actor) in
        [(Near::Middle, Actor::Network), (Near::Server, Actor::Capture), (Near::Unknown, Actor::Sender)]
    {
        let mut connection = connection(100, Vec::new());
        connection.near = near;
        connection.client.name = Some("\u{1b}[2J".into());
        connection.findings = vec![Finding {
            remedies: vec![Remedy::new(actor, SendingAction::KeepWindowWhenIdle)],
            ..usual(Cause::Ecn, 0.0)
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
