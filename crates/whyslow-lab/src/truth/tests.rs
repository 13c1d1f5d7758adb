#![allow(clippy::unwrap_used)]
use super::*;
use crate::work::Transfer;

/// A reading at `ms` with these columns, all others unknown.
fn row(ms: u64, values: &[(&str, u64)]) -> Row {
    let mut v = vec![None; crate::sample::columns().len()];
    for (column, value) in values {
        v[crate::sample::position(column).unwrap()] = Some(*value);
    }
    Row { t: ms * 1_000_000, v }
}

fn end(rows: Vec<Row>, transfers: Vec<Transfer>) -> EndTruth {
    EndTruth {
        connections: Vec::new(),
        transfers,
        sockets: vec![Series { rows, ..Series::default() }],
        sampling: Accuracy::default(),
        cpu_us: 0,
        waited_us: 0,
    }
}

fn truth(ends: BTreeMap<String, EndTruth>) -> Truth {
    Truth {
        schema: SCHEMA,
        experiment: String::new(),
        label: String::new(),
        cause: String::new(),
        scenario: Scenario::default(),
        machine: Machine::default(),
        epoch_ns: 0,
        hosts: BTreeMap::new(),
        ends,
        socket_columns: crate::sample::columns(),
        links: Vec::new(),
        resends: crate::trace::Trace::default(),
        void: Vec::new(),
        partial: false,
    }
}

#[test]
fn shares_are_of_time_and_not_of_readings() {
    let busy =
        |full: u64| [("unacked", 1), ("snd_mss", 1000), ("wmem_queued", full), ("sndbuf", 100), ("rtt", full * 1000)];
    // Full for 90 ms (one reading), half full for 10 ms (two readings), then nothing outstanding.
    let rows = vec![
        row(0, &busy(100)),
        row(90, &busy(50)),
        row(95, &busy(50)),
        row(100, &[("unacked", 0), ("busy_time", 100_000), ("rwnd_limited", 25_000), ("min_rtt", u64::from(u32::MAX))]),
    ];
    let truth = truth([("server".to_owned(), end(rows, Vec::new()))].into());
    let figures = figures(&truth, &BTreeMap::new());
    let figure = |name: &str| figures[name];
    assert!((figure("server.sndbuf_full") - 0.9).abs() < 1e-9);
    assert!((figure("server.rwnd_limited") - 0.25).abs() < 1e-9);
    assert!((figure("rtt") - 0.095).abs() < 1e-9, "100 ms for 90 ms, 50 ms for 10 ms");
    assert_eq!(figure("rtt_max"), 0.1);
    assert_eq!(figure("server.max_in_flight"), 1000.0);
    assert!(!figures.contains_key("rtt_min"), "the kernel had not measured it");
    assert!(!figures.contains_key("server.max_unread"), "a kernel that does not tell has no figure");
}

#[test]
fn a_window_that_falls_without_a_loss_has_restarted() {
    let at = |ms: u64, cwnd: u64, state: u64, resent: u64| {
        row(ms, &[("snd_cwnd", cwnd), ("ca_state", state), ("total_retrans", resent), ("delivered_ce", 0)])
    };
    // Grows, restarts, grows; then a loss, its recovery, and the window that comes of it.
    let rows = vec![at(0, 10, 0, 0), at(9, 80, 0, 0), at(2_000, 10, 0, 0), at(2_009, 40, 0, 0)];
    let lossy = vec![at(2_020, 28, 3, 1), at(2_040, 20, 0, 1)];
    let mut truth = truth([("server".to_owned(), end([rows, lossy].concat(), Vec::new()))].into());
    let sent = HostTruth { counters: [("Tcp:OutRsts".to_owned(), 2)].into(), ..HostTruth::default() };
    truth.hosts.insert("server".to_owned(), sent);
    let figures = figures(&truth, &BTreeMap::new());
    assert_eq!((figures["server.restarts"], figures["server.resets"]), (1.0, 2.0));
}

#[test]
fn the_programs_times_are_figures() {
    let transfer = |start: u64, request: u64, first: u64, end: u64| Transfer {
        connection: 0,
        start: start * 1_000_000,
        request: request * 1_000_000,
        first_byte: first * 1_000_000,
        end: end * 1_000_000,
        bytes: 1_000_000,
    };
    let transfers = vec![transfer(0, 10, 20, 110), transfer(1000, 1000, 1010, 1100)];
    let truth = truth([("client".to_owned(), end(Vec::new(), transfers))].into());
    let figures = figures(&truth, &BTreeMap::new());
    let figure = |name: &str| figures[name];
    assert_eq!((figure("transfer.1"), figure("transfer.last")), (0.11, 0.1));
    assert_eq!((figure("total"), figure("first_byte")), (1.1, 0.01));
    assert_eq!(figure("goodput"), 16e6 / 0.2, "without connecting and pausing");
    for name in figures.keys() {
        assert!(crate::figures::kind(name).is_some(), "{name} is written but not listed");
    }
}
