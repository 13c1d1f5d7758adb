#![allow(clippy::unwrap_used)]
use super::*;

fn record(in_ns: u64, fate: Fate) -> Record {
    Record {
        in_ns,
        due_ns: in_ns,
        out_ns: in_ns,
        fate,
        touched: Impairments::default(),
        queue_bytes: 0,
        queue_packets: 0,
        meta: Meta { wire_bytes: 100, payload_bytes: 34, ..Meta::default() },
    }
}

#[test]
fn counts_go_on_when_the_records_are_full() {
    let mut log = Log::new(2);
    for (n, fate) in [Fate::Passed, Fate::Lost, Fate::Policed, Fate::QueueFull].into_iter().enumerate() {
        log.add(record(10 - n as u64, fate));
    }
    let done = log.finish(0, Direction::Down);
    assert_eq!(done.counts.arrived, 4);
    assert_eq!(done.counts.dropped(), 3);
    assert_eq!(done.counts.dropped_data, 3);
    assert_eq!(done.unrecorded, 2);
    assert_eq!(done.records.iter().map(|record| record.in_ns).collect::<Vec<_>>(), [9, 10], "in order of arrival");
}

#[test]
fn a_record_reads_as_flat_json() {
    let mut one = record(5, Fate::Passed);
    one.touched.add(Impairments::DUPLICATED);
    one.touched.add(Impairments::MARKED);
    let json = serde_json::to_value(one).unwrap();
    assert_eq!(json["fate"], "passed");
    assert_eq!(json["touched"], serde_json::json!(["duplicated", "marked"]));
    assert_eq!(json["payload_bytes"], 34);
    assert!(serde_json::to_value(record(5, Fate::Lost)).unwrap().get("touched").is_none());
}

#[test]
fn lateness_is_judged_against_the_delay() {
    let mut late = Lateness::default();
    for n in 1..=1000_u64 {
        late.add(n * 1000);
    }
    let summary = late.summary();
    assert!((985_000..=1_000_000).contains(&summary.p99_ns), "{summary:?}");
    assert!(!summary.is_trustworthy(0, None), "0.99 ms is more than 0.5 ms");
    assert!(summary.is_trustworthy(20_000_000, None), "and less than 5 % of 20 ms");
    assert!(summary.is_trustworthy(0, Some(2_000_000)), "a scenario that bears 2 ms");
    assert!(!summary.is_trustworthy(20_000_000, Some(900_000)), "and one that bears 0.9 ms");
}
