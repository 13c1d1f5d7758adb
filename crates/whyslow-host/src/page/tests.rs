//! Pages as they are printed.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::rules::synthetic_host::{
    SyntheticHost, connection, connection_with, in_state, listener, owner, remembered, timer,
};
use whyslow_live::host::{Missing, TimerKind};

fn judged(scene: &SyntheticHost, over: Option<f64>) -> HostReport {
    HostReport { findings: scene.findings(), host: scene.host.clone(), over, changed: BTreeMap::new(), is_part: false }
}

/// The page without colours.
fn plain(judged: &HostReport, is_full: bool, width: usize) -> String {
    anstream::adapter::strip_str(&page(judged, is_full, width, Lang::En)).to_string()
}

/// Much at once: a server that does not close, a full listener, a far peer with a small window and
/// a remembered threshold.
fn bad() -> SyntheticHost {
    let mut scene = SyntheticHost::new();
    scene.set("ipv4.tcp_no_ssthresh_metrics_save", "0");
    scene.namespace().metrics.push(remembered(100_000, 8, 60_000));
    for cookie in 1..=12 {
        let mut closed = in_state(State::CloseWait);
        closed.cookie = Some(cookie);
        closed.owners = vec![owner("pool-worker", 4_242)];
        scene.add(closed);
    }
    scene.count("TcpExt.ListenOverflows", 50);
    scene.add(listener(128, 129, 50));
    scene.add(connection_with(|info| (info.rwnd_limited, info.snd_wnd) = (Some(4_000_000), Some(72_400))));
    let mut syn = in_state(State::SynSent);
    syn.remote = "[2001:db8::17]:5432".parse().unwrap_or(syn.remote);
    syn.timer = timer(TimerKind::Retransmission, 4);
    scene.add(syn);
    scene.host.missing.push(Missing {
        what: "processes of other users".to_owned(),
        why: "their open files are only shown to root (CAP_SYS_PTRACE)".to_owned(),
    });
    scene
}

#[test]
fn a_machine_with_findings() {
    insta::assert_snapshot!("findings_80", plain(&judged(&bad(), None), false, 80));
    insta::assert_snapshot!("findings_100", plain(&judged(&bad(), None), false, 100));
    insta::assert_snapshot!("findings_full_100", plain(&judged(&bad(), Some(10.0)), true, 100));
    // No screen is longer.
    assert!(plain(&judged(&bad(), None), false, 80).lines().count() <= 60);
}

#[test]
fn a_machine_in_chinese() {
    let text = anstream::adapter::strip_str(&page(&judged(&bad(), None), true, 100, Lang::Zh)).to_string();
    insta::assert_snapshot!("findings_full_zh_100", text);
    for line in text.lines() {
        assert!(!has_english(line), "English in the Chinese page: {line}");
    }
    assert!(has_english("counted since boot: --for 10s") && has_english("peer  sockets  states"));
}

/// Whether three lower-case words follow each other, outside commands and the names of options and
/// counters. The reasons of the system for missing data stay in its language.
fn has_english(line: &str) -> bool {
    let is_command = ["ss -", "ip ", "sysctl ", "! "].iter().any(|name| line.trim_start().starts_with(name));
    let text = line.split('`').step_by(2).collect::<Vec<_>>().join("。");
    let is_word = |word: &&str| word.len() > 1 && word.trim_matches([',', ':']).bytes().all(|b| b.is_ascii_lowercase());
    let mut run = 0;
    !is_command
        && text.split_whitespace().any(|word| {
            run = if is_word(&word) { run + 1 } else { 0 };
            run == 3
        })
}

#[test]
fn a_healthy_machine() {
    let mut scene = SyntheticHost::new();
    scene.add(connection());
    scene.add(listener(4_096, 0, 0));
    insta::assert_snapshot!("healthy_80", plain(&judged(&scene, Some(10.0)), false, 80));
    insta::assert_snapshot!("healthy_100", plain(&judged(&scene, None), false, 100));
}

#[test]
fn changes_between_two_looks_are_rates() {
    let mut judged = judged(&SyntheticHost::new(), Some(10.0));
    let rose = |count: u64| crate::report::Change { count, per_s: count as f64 / 10.0 };
    judged.changed = [("Tcp.OutSegs".to_owned(), rose(1_204)), ("TcpExt.TCPPureAcks".to_owned(), rose(7))].into();
    let text = plain(&judged, false, 100);
    assert!(text.contains("changed in 10.0 s: Tcp.OutSegs +1,204 (120/s)") && !text.contains("PureAcks"), "{text}");
    assert!(plain(&judged, true, 100).contains("TcpExt.TCPPureAcks +7 ("));
}

#[test]
fn names_of_processes_do_not_steer_the_terminal() {
    let mut scene = SyntheticHost::new();
    let mut closed = in_state(State::CloseWait);
    closed.owners = vec![owner("evil\u{1b}[2J", 1)];
    scene.add(closed);
    assert!(!plain(&judged(&scene, None), true, 100).contains('\u{1b}'));
    assert!(!page(&judged(&scene, None), true, 100, Lang::En).contains("\u{1b}[2J"));
}

/// A process names itself: no page and no JSON of it steers a terminal.
#[test]
fn a_hostile_process_name_is_written_out() {
    let mut scene = bad();
    for socket in &mut scene.namespace().sockets {
        socket.owners = vec![owner("a\u{9b}31m\u{202e}b", 4_242)];
    }
    let judged = judged(&scene, None);
    let (mut object, mut line) = (Vec::new(), Vec::new());
    crate::json::write(&judged, true, &mut object).unwrap();
    crate::json::line(&judged, true, &mut line).unwrap();
    for text in [plain(&judged, true, 100).into_bytes(), object, line] {
        let text = String::from_utf8(text).unwrap();
        assert!(!text.contains(['\u{9b}', '\u{202e}']) && text.contains("u{202e}b"), "{text}");
    }
}
