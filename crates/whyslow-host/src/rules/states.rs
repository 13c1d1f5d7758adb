//! Judges recorded states of network namespaces of Linux 6.18 again: findings, owners and advice.
//!
//! `states.jsonl` has a state a line with one look or two, a second apart: `host` of `whyslow host
//! --json`, cut to what rules read. The machine was busy with other work, so that its processors
//! are left out.

#![allow(clippy::unwrap_used)]

use super::synthetic_host::FindingSummary;
use crate::snapshot::Snapshot;
use serde::Deserialize;
use std::collections::BTreeMap;
use whyslow_live::host::Host;

#[derive(Deserialize)]
struct State {
    state: String,
    looks: Vec<Host>,
}

/// A state: its causes in any order, a process that is named, and a part of the first one's advice.
type Made = (&'static str, &'static [&'static str], &'static str, &'static str);

#[rustfmt::skip]
const MADE: &[Made] = &[
    ("bufferbloat", &["bufferbloat"], "", "keeps itself short"),
    ("checksum-errors", &["checksum-errors"], "", "find what damages packets"),
    ("close-wait", &["close-wait"], "python3[6]", "when a read returns nothing"),
    ("close-wait-unaccepted", &["close-wait"], "python3[3]", "accept connections as they come"),
    ("corrupt-peer", &["checksum-errors"], "", "find what damages packets"),
    ("heavy-loss", &["loss"], "", "find where the path to 10.77.0.1 loses packets"),
    ("listen-overflow", &["listen-overflow"], "python3[3]", "ask for a longer queue in listen(2): it asked for 2"),
    ("loss-counter", &["loss"], "", "while transfers are slow"),
    ("loss-in-bursts", &["loss"], "", "find where the path to 10.77.0.1 loses packets"),
    ("loss-peer", &["loss"], "", "mtr --tcp --report 10.77.0.1"),
    ("new-connection-each-time", &["new-connection-each-time"], "", "reuse them"),
    ("no-answer", &["no-answer"], "curl[8]", "listens on port 80"),
    ("no-sack", &["no-sack"], "python3", "sysctl -w net.ipv4.tcp_sack=1"),
    ("no-window-scaling-here", &["no-window-scaling"], "python3", "sysctl -w net.ipv4.tcp_window_scaling=1"),
    ("no-window-scaling-recv", &["no-window-scaling"], "python3", "the firewall that takes it out of SYNs"),
    ("port-exhaustion", &["port-exhaustion"], "", "reuse them"),
    ("port-exhaustion-timestamps", &["port-exhaustion"], "", "sysctl -w net.ipv4.tcp_timestamps=1"),
    ("qdisc-drops", &["qdisc-drops"], "", "raise the rate of `tbf` on lo"),
    ("receive-window-own", &["receive-window"], "python3", "net.ipv4.tcp_rmem"),
    ("receive-window-peer", &["receive-window"], "python3", "receive buffer be larger, up to 6,291,456 B"),
    ("receive-window-peer-so", &["receive-window"], "python3", "SO_RCVBUF"),
    ("receive-window-so-rcvbuf", &["receive-window"], "python3", "take SO_RCVBUF out of the application"),
    ("restart-after-idle", &["restart-after-idle"], "", "sysctl -w net.ipv4.tcp_slow_start_after_idle=0"),
    ("restart-seen", &["restart-after-idle"], "", "sysctl -w net.ipv4.tcp_slow_start_after_idle=0"),
    ("sender-cap-wmem", &["sender-cap"], "python3", "net.ipv4.tcp_wmem"),
    ("slow-reader-peer", &["zero-window"], "python3", "let the application at the other end read faster"),
    ("slow-start-initcwnd", &["slow-start"], "", "ip route change 10.77.0.0/24"),
    ("slow-start-initrwnd", &["slow-start"], "", "take initrwnd out of the route"),
    ("stale-ssthresh", &["stale-ssthresh"], "", "ip tcp_metrics delete 10.77.0.2"),
    ("syns-to-full-own-listener", &["listen-overflow"], "python3[3]", "accept faster"),
    ("timeouts-in-a-row", &["timeout"], "", "find where the path to 10.77.0.1 loses packets"),
    ("zero-window-both", &["zero-window", "zero-window"], "python3[45]", "nothing on this machine opens that window"),
    ("zero-window-here", &["zero-window"], "python3[12271]", "read as data comes"),
    ("zero-window-peer", &["zero-window"], "python3", "nothing on this machine opens that window"),
];

/// Nothing is slow there, or nothing of the machine.
const HEALTHY: &[&str] = &[
    "h-clients-give-up",
    "h-download-client",
    "h-echo-client",
    "h-echo-server",
    "h-full-speed",
    "h-idle-client",
    "h-idle-server",
    "h-nginx",
    "h-nothing",
    "h-once-unanswered",
    "h-refused",
    "h-reordered",
    "h-short-connections",
    "h-small-answers",
    "h-small-requests",
    "slow-reader-here",
];

fn states() -> BTreeMap<String, Vec<Host>> {
    let read = |line: &str| -> State { serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")) };
    include_str!("states.jsonl").lines().map(read).map(|state| (state.state, state.looks)).collect()
}

fn summaries(looks: &[Host]) -> Vec<FindingSummary> {
    let (host, earlier) = match looks {
        [host] => (host, None),
        [earlier, host] => (host, Some((&earlier.namespaces[0], host.uptime_s - earlier.uptime_s))),
        _ => panic!("one look or two"),
    };
    let snapshot = Snapshot {
        host,
        namespace: &host.namespaces[0],
        earlier,
        softnet_earlier: None,
        again: None,
        is_first: true,
        is_own: true,
        closed_since: &BTreeMap::new(),
    };
    super::judge(&[snapshot]).iter().map(FindingSummary::of).collect()
}

/// Judges one snapshot, and the last of two if there are two.
fn each(state: &[Host]) -> Vec<Vec<FindingSummary>> {
    let mut out = vec![summaries(&state[..1])];
    if state.len() > 1 {
        out.push(summaries(state));
    }
    out
}

#[test]
fn made_states_are_found_with_their_process_and_fix() {
    let states = states();
    let mut wrong = Vec::new();
    for (name, causes, process, advice) in MADE {
        let Some(looks) = states.get(*name) else { panic!("{name} is not recorded") };
        // A cause may come into being between two looks.
        let listed = each(looks).into_iter().last().unwrap();
        let found: Vec<&str> = listed.iter().map(|listed| listed.cause).collect();
        let words = listed.first().map_or(String::new(), |listed| {
            let lines = listed.evidence.iter().filter_map(|evidence| evidence.text.clone());
            let fix = &listed.fix;
            let command = fix.command.clone().unwrap_or_default();
            format!("{} {} {command} {}", listed.summary, fix.what, lines.collect::<Vec<_>>().join(" "))
        });
        if found != *causes || !words.contains(process) || !words.contains(advice) {
            wrong.push(format!("{name}: {found:?} {words}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(MADE.len() >= 30);
}

#[test]
fn healthy_states_have_no_finding() {
    let states = states();
    for name in HEALTHY {
        for listed in each(&states[*name]) {
            assert!(listed.is_empty(), "{name}: {listed:#?}");
        }
    }
    assert_eq!(MADE.len() + HEALTHY.len(), states.len(), "each recorded state is judged");
}
