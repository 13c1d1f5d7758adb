#![allow(clippy::unwrap_used)]

use super::*;
use crate::log::Meta;

/// A packet of the server towards port 40000: sent and arrived at these milliseconds.
fn packet(sent: u64, arrived: Option<u64>, seq: u32, payload: u32, flags: u8) -> Record {
    let ns = |ms: u64| ms * 1_000_000;
    Record {
        in_ns: ns(sent),
        due_ns: ns(sent),
        out_ns: ns(arrived.unwrap_or(sent)),
        fate: if arrived.is_some() { Fate::Passed } else { Fate::Lost },
        touched: Impairments::default(),
        queue_bytes: 0,
        queue_packets: 0,
        meta: Meta {
            source_port: 5001,
            destination_port: 40_000,
            seq,
            payload_bytes: payload,
            flags,
            ..Meta::default()
        },
    }
}

fn event(ms: f64, why: Why) -> Event {
    let t = (ms * 1e6) as u64;
    Event { t, source: "10.77.0.2".into(), source_port: 5001, destination_port: 40_000, why }
}

const ACK: u8 = 16;

#[test]
fn a_copy_is_needless_when_an_earlier_one_came_and_is_the_first_to_arrive_when_none_did() {
    let log = [
        packet(0, Some(10), u32::MAX, 0, SYN | ACK),
        packet(20, None, 0, 1000, ACK),
        packet(20, Some(30), 1000, 1000, ACK),
        // Lost, then lost again, then it comes: the sequence numbers have wrapped before.
        packet(40, None, 0, 1000, ACK),
        packet(60, Some(70), 0, 1000, ACK),
        // Two in one piece, of which one had come.
        packet(80, Some(90), 1000, 2000, ACK),
        // Half a segment that came.
        packet(100, None, 1500, 500, ACK),
        packet(110, Some(120), 3000, 0, ACK | FIN),
        packet(130, Some(140), 3000, 0, ACK | FIN),
    ];
    let resent = sent_again(&log, Direction::Down, 1_000_000_000);
    let reported: Vec<_> =
        resent.iter().map(|r| (r.seq, r.space, r.arrived.is_some(), r.needless, r.first_to_arrive)).collect();
    assert_eq!(
        reported,
        [
            (1, 1000, false, false, true),
            (1, 1000, true, false, true),
            (1001, 2000, true, false, false),
            (1501, 500, false, true, false),
            (3001, 1, true, true, false),
        ]
    );
    assert_eq!((resent[1].sent, resent[1].arrived), (1_060_000_000, Some(1_070_000_000)));
    assert!(resent.iter().all(|r| (r.client_port, r.direction) == (40_000, Direction::Down)));
}

#[test]
fn a_needless_copy_is_reported_by_the_packet_that_answers_it() {
    let log: Vec<_> = [packet(0, Some(10), 0, 0, SYN | ACK), packet(20, Some(30), 1, 1000, ACK)]
        .into_iter()
        .chain((4..8).map(|n| packet(10 * n, (n != 7).then_some(10 * n + 10), 1, 1000, ACK)))
        .collect();
    let answer = |sent, arrived: Option<u64>| {
        let packet = packet(sent, arrived, 1, 0, ACK);
        let meta = Meta { source_port: 40_000, destination_port: 5001, ..packet.meta };
        Record { meta, ..packet }
    };
    let back =
        [answer(30, Some(40)), answer(50, Some(60)), answer(60, None), answer(65, Some(75)), answer(95, Some(99))];
    let mut resent = sent_again(&log, Direction::Down, 1_000);
    note_reports(&mut resent, &back, 1_000);
    let reported: Vec<_> = resent.iter().map(|segment| segment.reported).collect();
    // The first is; the second's answer is lost; the third's never came, nor did the fourth copy.
    assert_eq!(reported, [true, false, false, false]);
    // An answer that was noted before the copy it answers is the one that was lost.
    let mut early = back[0];
    (early.in_ns, early.fate) = (early.in_ns + 20_000_000 - 3_000, Fate::Lost);
    let mut resent = sent_again(&log[..3], Direction::Down, 0);
    note_reports(&mut resent, &[early, back[2]], 0);
    assert!(resent[0].needless && !resent[0].reported);
}

#[test]
fn a_damaged_copy_came_and_was_not_taken() {
    let damaged = Record { touched: Impairments::CORRUPTED, ..packet(20, Some(30), 1, 1000, ACK) };
    let log = [packet(0, Some(10), 0, 0, SYN | ACK), damaged, packet(40, Some(50), 1, 1000, ACK)];
    let resent = sent_again(&log, Direction::Down, 0);
    assert_eq!((resent[0].needless, resent[0].first_to_arrive, resent[0].doubled), (false, false, false));
    let twice = Record { touched: Impairments::DUPLICATED, ..log[2] };
    assert!(sent_again(&[log[0], log[1], twice], Direction::Down, 0)[0].doubled);
}

fn copies(sent: &[(u64, u32)]) -> Vec<WireRetransmission> {
    let log = [packet(0, Some(10), 0, 0, SYN | ACK), packet(20, None, 1, 4000, ACK)];
    let copies = sent.iter().map(|&(ms, seq)| packet(ms, None, seq, 1000, ACK));
    sent_again(&log.into_iter().chain(copies).collect::<Vec<_>>(), Direction::Down, 0)
}

fn reasons(resent: &[WireRetransmission]) -> Vec<Option<Why>> {
    resent.iter().map(|segment| segment.why).collect()
}

#[test]
fn as_many_events_as_segments_belong_together_one_by_one() {
    let mut resent = copies(&[(40, 1), (43, 1001), (43, 2001), (400, 3001)]);
    let other = Event { destination_port: 40_001, ..event(40.0, Why::Other) };
    // The emulator had to wait; and an event that is too far away is none of this segment.
    let events =
        [event(40.0, Why::TailProbe), event(40.1, Why::Timeout), event(40.2, Why::Fast), event(80.0, Why::Fast)];
    explain(&mut resent, &[&[other], &events[..]].concat());
    assert_eq!(reasons(&resent), [Some(Why::TailProbe), Some(Why::Timeout), Some(Why::Fast), None]);
}

#[test]
fn one_event_for_several_segments_is_found_by_its_time() {
    let mut resent = copies(&[(40, 1), (60, 1001), (60, 2001), (80, 3001), (200, 3001)]);
    // Two mechanisms match the time of the last but one.
    let events =
        [event(39.99, Why::TailProbe), event(59.98, Why::Timeout), event(79.99, Why::Fast), event(80.05, Why::Timeout)];
    explain(&mut resent, &events);
    let both = Some(Why::Timeout);
    assert_eq!(reasons(&resent), [Some(Why::TailProbe), both, both, None, None]);
}

#[test]
fn counters_name_a_single_mechanism() {
    let counters = |fast: u64, timeouts: u64, probes: u64| {
        let all = [("TCPFastRetrans", fast), ("TCPTimeouts", timeouts), ("TCPLossProbes", probes)];
        let all = all.into_iter().chain([("TCPSlowStartRetrans", 0)]);
        all.map(|(name, count)| (format!("TcpExt:{name}"), count)).collect()
    };
    assert_eq!(only_kind(&counters(7, 0, 0)), Some(Why::Fast));
    assert_eq!(only_kind(&counters(0, 1, 0)), Some(Why::Timeout));
    assert_eq!(only_kind(&counters(0, 0, 2)), Some(Why::TailProbe));
    assert_eq!((only_kind(&counters(7, 1, 0)), only_kind(&counters(0, 0, 0))), (None, None));
    assert_eq!(only_kind(&BTreeMap::new()), None);
}

#[test]
fn a_host_that_dropped_segments_is_not_judged() {
    let counters = |name: &str, count| BTreeMap::from([(format!("TcpExt:{name}"), count)]);
    assert_eq!((refused(&counters("PAWSEstab", 2)), refused(&counters("TCPOFOQueue", 9))), (2, 0));
}

#[test]
fn what_a_run_keeps_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let log =
        [packet(0, Some(10), 0, 0, SYN | ACK), packet(20, None, 1, 1000, ACK), packet(40, Some(50), 1, 1000, ACK)];
    let marked = Record { touched: Impairments::REORDERED, ..packet(60, Some(70), 1001, 500, ACK) };
    let records: Vec<_> = log.into_iter().chain([marked]).collect();
    let trace = Trace { events: vec![event(1040.0, Why::TailProbe)], ..Trace::default() };
    let truth = |resends: serde_json::Value, unrecorded: u64| {
        serde_json::json!({
            "epoch_ns": 1_000_000_000, "hosts": { "server": { "counters": { "Tcp:RetransSegs": 3, "TcpExt:TCPSynRetrans": 2 }, "sysctls": {} } }, "resends": resends,
            "links": [
                { "link": 0, "direction": "up", "unrecorded": 0, "records": [] },
                { "link": 0, "direction": "down", "unrecorded": unrecorded, "records": records },
            ],
        })
    };
    let reasons = |truth: serde_json::Value| {
        std::fs::write(folder.path().join("truth.json"), truth.to_string()).unwrap();
        read(folder.path()).unwrap().map(|known| known.segments.iter().map(|segment| segment.why).collect::<Vec<_>>())
    };
    let json = |trace: &Trace| serde_json::to_value(trace).unwrap();
    assert_eq!(reasons(truth(json(&trace), 0)), Some(vec![Some(Why::TailProbe)]));
    assert_eq!(reasons(truth(json(&Trace { lost: 1, ..trace.clone() }), 0)), Some(vec![None]), "an event is missing");
    assert_eq!(reasons(truth(json(&Trace::missing("forbidden")), 0)), Some(vec![None]));
    assert_eq!(reasons(truth(serde_json::Value::Null, 0)), Some(vec![None]), "a run of an earlier version");
    assert_eq!(read(folder.path()).unwrap().unwrap().counted, 1);
    assert_eq!(reasons(truth(json(&trace), 1)), None, "the log is incomplete");
}
