#![allow(clippy::unwrap_used)]

use super::*;
use whyslow_analysis::{
    Analysis, Capture, Connection, Direction, End, Endpoint, Frame, Handshake, LimitShare, LimitingFactor, Near,
    Origin, Retransmitted, Round, Rtt, State, Verdict,
};
use whyslow_units::Nanos;

fn ms(value: i64) -> Nanos {
    Nanos::from_millis(value)
}

fn share(limit: LimitingFactor, time: Nanos) -> LimitShare {
    LimitShare { limit, seconds: time, share: 1.0 }
}

/// A transfer of these flights, one a round trip, each sent within a millisecond.
pub(crate) fn transfer(rtt: i64, limit: LimitingFactor, flights: &[u64], window: Option<u64>) -> Transfer {
    let round = |(index, &bytes): (usize, &u64)| Round {
        start_s: ms(2 * rtt + rtt * index as i64),
        duration_s: ms(rtt),
        sending_s: ms(1),
        bytes,
        first_frame: Frame::default(),
        last_frame: Frame::default(),
        in_flight: bytes,
        window,
        limit,
    };
    let duration = ms(rtt * flights.len() as i64);
    Transfer {
        from: End::Server,
        bytes: flights.iter().sum(),
        start_s: ms(2 * rtt),
        duration_s: duration,
        rate_bps: None,
        label: None,
        before: vec![share(LimitingFactor::Handshake, ms(rtt)), share(LimitingFactor::RequestWait, ms(rtt))],
        first_byte_s: Some(Nanos::ZERO),
        first_record: None,
        rounds: flights.iter().enumerate().map(round).collect(),
        elided: false,
        rounds_total: flights.len() as u64,
        path: Default::default(),
        model_s: None,
        model_skipped: false,
        limits: vec![share(limit, duration - ms(rtt)), share(LimitingFactor::RoundTrip, ms(rtt))],
        timeline: Vec::new(),
        findings: Vec::new(),
        verdict: Verdict::Healthy,
    }
}

fn direction(from: End) -> Direction {
    Direction {
        from,
        bytes: 0,
        packets: 0,
        retransmitted: Retransmitted::default(),
        out_of_order: 0,
        duplicate_acks: 0,
        window_probes: 0,
        keep_alives: 0,
        duplicated: 0,
        zero_windows: 0,
        window_full: 0,
        zero_window_s: Nanos::ZERO,
        max_in_flight: 0,
        max_window: None,
        largest_record: None,
        retransmissions: Vec::new(),
        retransmissions_total: 0,
    }
}

pub(crate) fn connection(id: u64, rtt: i64, transfers: Vec<Transfer>) -> Connection {
    let end = |port| Endpoint { address: "192.0.2.1".into(), port, name: None };
    Connection {
        id,
        capture: 0,
        client: end(50_000),
        server: end(443),
        start_s: Nanos::ZERO,
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
        decryption: None,
        requests: Vec::new(),
        requests_total: 0,
        origin: Origin::default(),
        rtt_ms: Rtt { min: Some(rtt as f64), p50: None, p95: None, samples: 0 },
        lookup: None,
        handshake: Some(Handshake {
            rtt_ms: None,
            mss: [Some(1_460); 2],
            window_scale: [Some(7), None],
            sack: [Some(true); 2],
            timestamps: [Some(true), Some(false)],
            retries: [0; 2],
        }),
        icmp: Vec::new(),
        icmp_total: 0,
        elided: Vec::new(),
        problems: Vec::new(),
        directions: vec![direction(End::Client), direction(End::Server)],
        exchanges: Vec::new(),
        exchanges_total: 0,
        response_times: None,
        transfers_total: transfers.len() as u64,
        transfers,
        findings: Vec::new(),
    }
}

fn analysis(connections: Vec<Connection>) -> Analysis {
    let capture = Capture {
        path: "one.pcap".into(),
        format: "pcap".into(),
        link_types: Vec::new(),
        packets: 0,
        tcp_packets: 0,
        first_time: None,
        duration_s: None,
        problems: Vec::new(),
        pings: Vec::new(),
        lookups: Vec::new(),
    };
    Analysis {
        schema: whyslow_analysis::SCHEMA,
        partial: false,
        threshold_s: crate::ranking::DEFAULT_THRESHOLD,
        captures: vec![capture],
        connections,
        findings: Vec::new(),
        pairs: Vec::new(),
        pairs_total: 0,
    }
}

/// A sender with a fixed cap, and one that begins small and doubles.
fn capped_and_growing() -> Analysis {
    let capped = transfer(20, LimitingFactor::SenderCap, &[60_000, 60_000, 60_000, 60_000, 20_000], Some(500_000));
    let growing = transfer(20, LimitingFactor::SlowStart, &[14_600, 29_200, 58_400, 116_800, 41_000], Some(500_000));
    analysis(vec![connection(1, 20, vec![capped]), connection(2, 20, vec![growing])])
}

fn chosen(analysis: &Analysis, id: u64) -> ChosenTransfer<'_> {
    choose(analysis, TransferName { connection: Some(id), transfer: None }).unwrap()
}

#[test]
fn phases_add_up_to_the_whole() {
    let analysis = capped_and_growing();
    let comparison = compare(&chosen(&analysis, 1), &chosen(&analysis, 2));
    let of = |which: usize| -> Nanos { comparison.phases.iter().map(|phase| phase.times.seconds[which]).sum() };
    assert_eq!(comparison.total.seconds, [of(0), of(1)]);
    let differences: Nanos = comparison.phases.iter().map(|phase| phase.times.difference_s).sum();
    assert_eq!(differences, comparison.total.difference_s);
    let slow_start = comparison.phases.iter().find(|phase| phase.limit == LimitingFactor::SlowStart).unwrap();
    assert_eq!((slow_start.times.seconds, slow_start.before), ([Nanos::ZERO, ms(80)], false));
}

#[test]
fn crossing_curves_change_the_faster_side() {
    let analysis = capped_and_growing();
    let comparison = compare(&chosen(&analysis, 1), &chosen(&analysis, 2));
    // A has 60,000 B in round 1, where B has 14,600; both have 219,000 and more in round 4, and
    // from 240,001 B on A needs a fifth.
    let leaders: Vec<_> = comparison.leads.iter().map(|lead| lead.faster).collect();
    assert_eq!(leaders, [None, Some(0), None, Some(1)], "{:#?}", comparison.leads);
    let ahead = comparison.leads[1];
    assert_eq!((ahead.from_bytes, ahead.extrapolated), (14_601, false));
    // Of up to 43,800 B, the last are three rounds behind: A has them in its first.
    assert!((ms(38)..ms(42)).contains(&ahead.by_s), "{ahead:?}");
    assert!(comparison.leads.last().unwrap().extrapolated);
    // They follow on each other without gap.
    assert!(comparison.leads.windows(2).all(|two| two[0].to_bytes + 1 == two[1].from_bytes));
}

#[test]
fn curves_reach_the_totals() {
    let analysis = capped_and_growing();
    let comparison = compare(&chosen(&analysis, 1), &chosen(&analysis, 2));
    let [a, b] = comparison.reach.map(Option::unwrap);
    assert_eq!((a.kind, a.rate_bps), (ReachKind::Steady, 60_000.0 * 8.0 / 0.020));
    assert_eq!((b.kind, b.rate_bps), (ReachKind::Window, 500_000.0 * 8.0 / 0.020));
    let no_window = transfer(20, LimitingFactor::SlowStart, &[14_600, 29_200, 58_400, 9_000], None);
    let analysis = self::analysis(vec![connection(1, 20, vec![no_window])]);
    let comparison = compare(&chosen(&analysis, 1), &chosen(&analysis, 1));
    let reach = comparison.reach[0].as_ref().unwrap();
    assert_eq!((reach.kind, reach.rate_bps), (ReachKind::Growing, 58_400.0 * 8.0 / 0.020));
}

#[test]
fn leads_follow_from_the_curves() {
    let analysis = capped_and_growing();
    let comparison = compare(&chosen(&analysis, 1), &chosen(&analysis, 2));
    for (curve, transfer) in comparison.curves.iter().zip(&comparison.transfers) {
        let (first, last) = (curve.captured[0], *curve.captured.last().unwrap());
        assert_eq!((first.bytes, last.bytes), (0, transfer.bytes));
        assert!(curve.captured.is_sorted() && curve.extrapolated.is_sorted());
        assert!(curve.extrapolated.iter().all(|point| *point >= last), "{curve:?}");
    }
    // At the largest lead, the lines have this distance.
    let when = |which: usize, bytes: u64| {
        let line: Vec<_> =
            comparison.curves[which].captured.iter().chain(&comparison.curves[which].extrapolated).collect();
        let next = line.iter().position(|point| point.bytes >= bytes).unwrap();
        let (before, after) = (line[next - 1], line[next]);
        let share = (bytes - before.bytes) as f64 / (after.bytes - before.bytes).max(1) as f64;
        before.time + (after.time - before.time).scale(share)
    };
    let lead = comparison.leads.iter().find(|lead| lead.faster.is_some()).unwrap();
    let apart = when(0, lead.at_bytes) - when(1, lead.at_bytes);
    assert!((apart.0.abs() - lead.by_s.0).abs() < 1_000, "{apart:?} {lead:?}");
}

#[test]
fn single_flight_is_not_extrapolated() {
    let small = |rtt| connection(rtt as u64 / 20, rtt, vec![transfer(rtt, LimitingFactor::RoundTrip, &[9_000], None)]);
    let analysis = analysis(vec![small(20), small(40)]);
    let comparison = compare(&chosen(&analysis, 1), &chosen(&analysis, 2));
    assert_eq!(comparison.reach, [None, None]);
    let [lead] = comparison.leads.as_slice() else { panic!("{:?}", comparison.leads) };
    assert_eq!((lead.faster, lead.to_bytes, lead.extrapolated), (Some(0), 9_000, false));
    assert_eq!(comparison.same_size.unwrap().times.difference_s, ms(20));
}

#[test]
fn first_record_of_two_rounds_is_readable_late() {
    let mut analysis = capped_and_growing();
    analysis.connections[1].transfers[0].first_byte_s = Some(ms(20));
    analysis.connections[1].transfers[0].first_record = Some(16_413);
    let comparison = compare(&chosen(&analysis, 1), &chosen(&analysis, 2));
    assert_eq!(comparison.first_byte.arrived_s, [Some(ms(20)); 2]);
    assert_eq!(comparison.first_byte.readable_s, [Some(ms(20)), Some(ms(40))]);
    let late = vec![LateRecord { which: 1, readable_s: ms(40), record: 16_413, later_s: ms(20) }];
    let first_byte = ComparisonStatement::FirstByte { arrived_s: [ms(20); 2], late };
    assert!(comparison.statements.contains(&first_byte), "{:?}", comparison.statements);
}

#[test]
fn unknown_settings_do_not_differ() {
    let mut analysis = capped_and_growing();
    analysis.connections[0].handshake = None;
    let comparison = compare(&chosen(&analysis, 1), &chosen(&analysis, 2));
    let setting = |name| comparison.settings.iter().find(|setting| setting.name == name).unwrap();
    assert_eq!(setting("mss").values, [None, Some("1,460 B".to_owned())]);
    assert_eq!(setting("window-scale").values[1].as_deref(), Some("×128 client, none server"));
    assert!(!setting("mss").differs);
    assert!(setting("first-flight").differs);
    // Timestamps of one side alone take no room.
    assert_eq!(setting("initial-window").values, [None, Some("10 segments".to_owned())]);
}

#[test]
fn upload_begins_with_its_first_byte() {
    let mut analysis = capped_and_growing();
    let upload = &mut analysis.connections[0].transfers[0];
    (upload.from, upload.before) = (End::Client, vec![share(LimitingFactor::Handshake, ms(20))]);
    let comparison = compare(&chosen(&analysis, 1), &chosen(&analysis, 2));
    assert_eq!(comparison.first_byte.arrived_s, [None, Some(ms(20))]);
    assert_eq!(comparison.rounds[0].map(|side| side.unwrap().start_s), [Nanos::ZERO, ms(20)]);
    let caveats = [ComparisonCaveat::NoRequest { which: 0 }, ComparisonCaveat::OppositeDirections];
    assert_eq!(comparison.caveats, caveats);
}

#[test]
fn rounds_beyond_the_list_count() {
    let mut long = transfer(20, LimitingFactor::SenderCap, &[60_000; 10], None);
    (long.bytes, long.duration_s, long.rounds_total) = (6_000_000, ms(2_000), 100);
    let analysis = analysis(vec![connection(1, 20, vec![long])]);
    let comparison = compare(&chosen(&analysis, 1), &chosen(&analysis, 1));
    assert_eq!(comparison.reach[0].as_ref().unwrap().rate_bps, 60_000.0 * 8.0 / 0.020);
    assert!(comparison.caveats.contains(&ComparisonCaveat::FirstRounds { which: 0, listed: 10 }));
    assert_eq!(comparison.leads.iter().filter(|lead| lead.faster.is_some()).count(), 0, "it is as fast as itself");
}

#[test]
fn names_find_transfers() {
    let mut analysis = capped_and_growing();
    analysis.connections[1].transfers.insert(0, transfer(20, LimitingFactor::RoundTrip, &[700], None));
    let at = |text: &str| choose(&analysis, TransferName::read(text).unwrap()).map(|c| (c.connection.id, c.number));
    let largest = choose(&analysis, TransferName::default()).unwrap();
    assert_eq!((largest.connection.id, largest.number), (1, 1), "of equal ones the first");
    assert_eq!((at("2"), at("2.1")), (Ok((2, 2)), Ok((2, 1))));
    assert_eq!(at("3").unwrap_err().to_string(), "there is no connection 3: the input holds 1 to 2");
    assert_eq!(at("1.2").unwrap_err().to_string(), "there is no transfer 2: connection 1 has one, which is 1");
    assert_eq!(at("2.0").unwrap_err().to_string(), "there is no transfer 0: connection 2 has 1 to 2");
    let nothing = self::analysis(vec![connection(1, 20, Vec::new())]);
    assert_eq!(choose(&nothing, TransferName::default()).unwrap_err(), NoSuchTransfer::Nothing);
}

#[test]
fn hostile_figures_do_not_panic() {
    let mut odd = transfer(20, LimitingFactor::SlowStart, &[0, u64::MAX / 4, 1, u64::MAX / 4, 0, 5], Some(u64::MAX));
    odd.rounds[2].start_s = Nanos(i64::MIN);
    odd.rounds[3].duration_s = Nanos(i64::MAX);
    odd.rounds[3].sending_s = Nanos(-5);
    odd.duration_s = Nanos(-1);
    let plain = transfer(20, LimitingFactor::SlowStart, &[1, 2, 3], None);
    let analysis = analysis(vec![connection(1, 20, vec![odd]), connection(2, 0, vec![plain])]);
    for (one, two) in [(1, 2), (2, 1), (1, 1)] {
        let comparison = compare(&chosen(&analysis, one), &chosen(&analysis, two));
        assert!(comparison.leads.iter().all(|lead| lead.from_bytes <= lead.to_bytes), "{:?}", comparison.leads);
    }
}
