//! Each rule where it speaks and where it is silent.

#![allow(clippy::unwrap_used)]

use super::synthetic_host::FindingSummary;
use super::synthetic_host::{
    SyntheticHost, connection, connection_with, conntrack, device, in_state, listener, owner, remembered, timer,
};
use crate::finding::Who;
use crate::snapshot::Again;
use whyslow_live::host::{Memory, Qdisc, Route, Softnet, State, Throttled, TimerKind};
use whyslow_live::tcp_info::TcpInfo;

/// A test's change of a connection.
type Change = fn(&mut TcpInfo);

fn command(finding: &FindingSummary) -> &str {
    finding.fix.command.as_deref().unwrap()
}

#[test]
fn a_healthy_machine_has_no_finding() {
    let mut scene = SyntheticHost::new();
    assert_eq!(scene.causes(), [""; 0]);
    scene.add(connection());
    scene.add(listener(4_096, 3, 0));
    scene.add(in_state(State::TimeWait));
    scene.namespace().metrics.push(remembered(40, 361, 1_000));
    assert_eq!(scene.causes(), [""; 0]);
    scene.then();
    assert_eq!(scene.causes(), [""; 0]);
    // Nothing known is nothing found.
    let mut unknown = SyntheticHost::new();
    unknown.namespace().sysctls.clear();
    unknown.namespace().counters.clear();
    let mut socket = connection();
    socket.info = Some(TcpInfo::default());
    unknown.add(socket);
    unknown.host.kernel = String::new();
    assert_eq!(unknown.causes(), [""; 0]);
}

#[test]
fn close_wait_names_the_process_to_close() {
    let mut scene = SyntheticHost::new();
    scene.add(in_state(State::CloseWait));
    let found = scene.finding("close-wait");
    assert!(found.summary.contains("nginx[812]") && found.summary.contains("must close"), "{}", found.summary);
    assert_eq!((found.figure("last_ack_recv"), found.figure("idle before FIN")), (90.0, 5.0));
    // Seen to begin.
    scene.closed_since.insert(1, 4.0);
    assert_eq!(scene.finding("close-wait").figure("CLOSE-WAIT, watched"), 4.0);
    // No program owns it: it waits at the listener.
    let mut waiting = in_state(State::CloseWait);
    (waiting.owners, waiting.inode) = (Vec::new(), 0);
    let mut scene = SyntheticHost::new();
    scene.add(waiting.clone());
    scene.add(listener(128, 1, 0));
    let found = scene.finding("close-wait");
    assert!(found.summary.contains("the listener 0.0.0.0:443 of nginx[812] has not accepted"), "{}", found.summary);
    // A program owns it, and only root may see which.
    waiting.inode = 5;
    let mut scene = SyntheticHost::new();
    scene.add(waiting);
    assert!(scene.finding("close-wait").summary.contains("only root can see"));
}

#[test]
fn close_wait_that_ends_or_still_sends_is_none() {
    let changes: [Change; 3] =
        [|info| info.last_ack_recv = Some(800), |info| info.last_data_sent = Some(800), |info| info.unacked = Some(3)];
    for change in changes {
        let mut scene = SyntheticHost::new();
        let mut socket = in_state(State::CloseWait);
        change(socket.info.as_mut().unwrap());
        scene.add(socket);
        assert_eq!(scene.causes(), [""; 0]);
    }
}

#[test]
fn idle_beyond_what_the_peer_keeps() {
    let silent = |ms: u32| {
        let mut socket = connection_with(|info| {
            (info.last_data_sent, info.last_data_recv, info.last_ack_recv) = (Some(ms), Some(ms), Some(ms));
            (info.unacked, info.notsent_bytes) = (Some(0), Some(0));
        });
        socket.cookie = Some(2);
        socket
    };
    let mut scene = SyntheticHost::new();
    scene.add(in_state(State::CloseWait));
    scene.add(silent(14_000));
    assert_eq!(scene.causes(), ["close-wait"]);
    scene.add(silent(16_000));
    assert_eq!(scene.causes(), ["close-wait", "idle-beyond-peer"]);
    // Or beyond what this machine's own connection tracking keeps.
    let mut scene = SyntheticHost::new();
    scene.namespace().conntrack = conntrack(10, 1_000, 0);
    scene.set("netfilter.nf_conntrack_tcp_timeout_established", "3600");
    scene.add(silent(3_000_000));
    assert_eq!(scene.causes(), [""; 0]);
    scene.add(silent(4_000_000));
    assert!(scene.finding("idle-beyond-peer").summary.contains("connection tracking on this machine"));
}

#[test]
fn a_listener_is_named_by_its_own_drops() {
    let mut scene = SyntheticHost::new();
    scene.count("TcpExt.ListenOverflows", 9);
    scene.add(listener(128, 5, 9));
    assert_eq!(scene.causes(), [""; 0], "9 of 10,000 are no habit");
    let mut scene = SyntheticHost::new();
    scene.count("TcpExt.ListenOverflows", 50);
    scene.add(listener(128, 5, 50));
    let found = scene.finding("listen-overflow");
    assert_eq!((found.seconds, found.fix.command.as_deref()), (Some(50.0), None));
    assert!(found.fix.what.contains("asked for 128, and may have 4096"), "{}", found.fix.what);
    // The system's bound is the program's.
    scene.set("core.somaxconn", "128");
    assert_eq!(command(&scene.finding("listen-overflow")), "sysctl -w net.core.somaxconn=4096");
    // Full at this moment.
    let mut scene = SyntheticHost::new();
    scene.add(listener(1, 2, 0));
    assert!(scene.finding("listen-overflow").summary.contains("full at this moment"));
    // Long past.
    let mut scene = SyntheticHost::new();
    scene.count("TcpExt.ListenOverflows", 50);
    scene.add(listener(128, 5, 50));
    scene.then();
    assert_eq!(scene.causes(), [""; 0]);
}

#[test]
fn no_host_answers() {
    let syn = |retransmits| {
        let mut socket = in_state(State::SynSent);
        socket.timer = timer(TimerKind::Retransmission, retransmits);
        socket
    };
    let mut scene = SyntheticHost::new();
    scene.add(syn(1));
    assert_eq!(scene.causes(), [""; 0]);
    scene.add(syn(3));
    scene.add(syn(2));
    let found = scene.finding("no-answer");
    assert_eq!((found.seconds, found.peer.as_deref()), (Some(5.0), Some("198.51.100.7")));
    assert_eq!(command(&found), "ss -tnop state syn-sent dst 198.51.100.7");
    let mut six = syn(2);
    six.remote = "[2001:db8::17]:80".parse().unwrap();
    let mut scene = SyntheticHost::new();
    scene.add(six);
    assert_eq!(command(&scene.finding("no-answer")), "ss -tnop state syn-sent dst '[2001:db8::17]'");
}

#[test]
fn time_wait_costs_only_where_ports_end_or_handshakes_take_long() {
    let mut scene = SyntheticHost::new();
    scene.set("ipv4.ip_local_port_range", "50000 50999");
    let closed = |port: u16| {
        let mut socket = in_state(State::TimeWait);
        socket.info = None;
        socket.local = format!("192.0.2.1:{port}").parse().unwrap();
        socket.remote = "203.0.113.5:443".parse().unwrap();
        socket
    };
    (50_000..50_899).for_each(|port| scene.add(closed(port)));
    assert_eq!(scene.causes(), [""; 0], "how far away is not known");
    scene.add(closed(50_899));
    assert_eq!(scene.finding("port-exhaustion").figure("TIME-WAIT"), 900.0);
    assert!(command(&scene.finding("port-exhaustion")).starts_with("ss "), "ports can be taken over");
    scene.set("ipv4.tcp_timestamps", "0");
    assert_eq!(command(&scene.finding("port-exhaustion")), "sysctl -w net.ipv4.tcp_timestamps=1");
    let mut scene = SyntheticHost::new();
    (40_000..40_100).for_each(|port| scene.add(closed(port)));
    let mut entry = remembered(50_000, 0, 1_000);
    (entry.address, entry.ssthresh) = ("203.0.113.5".parse().unwrap(), None);
    scene.namespace().metrics.push(entry.clone());
    assert_eq!(scene.causes(), [""; 0], "100 handshakes of 50 ms in a minute");
    scene.namespace().metrics[0].rtt_us = Some(80_000);
    assert_eq!(scene.finding("new-connection-each-time").seconds, Some(8.0));
}

#[test]
fn a_threshold_costs_where_it_acts() {
    let with = |rtt, ssthresh, age: u64, setting: &str| {
        let mut scene = SyntheticHost::new();
        scene.set("ipv4.tcp_no_ssthresh_metrics_save", setting);
        scene.namespace().metrics.push(remembered(rtt, ssthresh, age));
        scene
    };
    let found = with(100_000, 8, 60_000, "0").finding("stale-ssthresh");
    assert_eq!(
        command(&found),
        "sysctl -w net.ipv4.tcp_no_ssthresh_metrics_save=1; ip tcp_metrics delete 198.51.100.7"
    );
    assert!(found.figure("saved of 10 MB") > found.figure("saved of 1 MB"));
    assert!(found.seconds.unwrap() > 1.0);
    for (scene, why) in [
        (with(100_000, 8, 60_000, "1"), "this kernel uses none"),
        (with(100_000, 8, 3_700_000, "0"), "it is reset when it is used"),
        (with(40, 361, 60_000, "0"), "it costs nothing"),
        (with(100_000, 50_000, 60_000, "0"), "no window comes to it"),
    ] {
        assert_eq!(scene.causes(), [""; 0], "{why}");
    }
}

#[test]
fn a_threshold_acts_by_kernel_and_by_what_connections_show() {
    let mut scene = SyntheticHost::new();
    scene.namespace().metrics.push(remembered(100_000, 8, 60_000));
    scene.namespace().sysctls.remove("net.ipv4.tcp_no_ssthresh_metrics_save");
    assert_eq!(scene.causes(), [""; 0], "unknown");
    scene.host.kernel = "4.19.0-21".to_owned();
    assert!(command(&scene.finding("stale-ssthresh")).starts_with("sysctl -w net.ipv4.tcp_no_metrics_save=1; "));
    // Its age does not matter: a connection has it.
    scene.namespace().metrics[0].age_ms = Some(1_051_050_000);
    assert_eq!(scene.causes(), [""; 0]);
    scene.add(connection_with(|info| info.snd_ssthresh = Some(8)));
    assert!(scene.finding("stale-ssthresh").confidence > 0.9);
}

#[test]
fn many_thresholds_are_one_finding() {
    let mut scene = SyntheticHost::new();
    scene.set("ipv4.tcp_no_ssthresh_metrics_save", "0");
    for last in 1..=100_u8 {
        let mut entry = remembered(50_000 + u32::from(last), 8, 1_000);
        entry.address = std::net::Ipv4Addr::new(198, 51, 100, last).into();
        scene.namespace().metrics.push(entry);
    }
    assert!(command(&scene.finding("stale-ssthresh")).ends_with("ip tcp_metrics flush all"));
}

#[test]
fn the_peers_window() {
    let with = |limited: u64| {
        let mut scene = SyntheticHost::new();
        scene.add(connection_with(|info| (info.rwnd_limited, info.snd_wnd) = (Some(limited), Some(72_400))));
        scene
    };
    assert_eq!(with(900_000).causes(), [""; 0], "less than a fifth");
    let found = with(4_000_000).finding("receive-window");
    assert_eq!((found.fix.who, found.seconds, &found.fix.command), (Who::Peer, Some(4.0), &None));
    assert!(found.fix.what.contains("6,291,456 B"), "more than 8 × 3.6 MB/s × 19 ms: {}", found.fix.what);
    // Round trips grow with the data in flight: no buffer helps.
    let mut queued = SyntheticHost::new();
    queued.add(connection_with(|info| {
        (info.rwnd_limited, info.snd_wnd, info.rtt) = (Some(4_000_000), Some(72_400), Some(120_000))
    }));
    assert!(!queued.finding("bufferbloat").fix.what.contains(" B "));
}

#[test]
fn the_own_window() {
    let receiving = |rcvbuf: u32| {
        let mut socket = connection_with(|info| {
            (info.rcv_wnd, info.rcv_space, info.rcv_rtt) = (Some(65_000), Some(64_000), Some(100_000));
            (info.min_rtt, info.rtt) = (Some(100_000), Some(100_000));
            (info.bytes_received, info.last_data_recv, info.notsent_bytes) = (Some(10_000_000), Some(20), Some(0));
        });
        socket.memory = Some(Memory { rcvbuf, ..Memory::default() });
        let mut scene = SyntheticHost::new();
        scene.set("ipv4.tcp_rmem", "4096 16384 131072");
        scene.add(socket);
        scene
    };
    let found = receiving(131_072).finding("receive-window");
    assert_eq!(found.fix.who, Who::Host);
    assert!(command(&receiving(16_384).finding("receive-window")).contains("($2>524288?$2:524288)"), "where it began");
    let begins = receiving(16_384).finding("receive-window");
    for found in [&found, &begins] {
        assert!(command(found).contains("($3>6291456?$3:6291456)"), "{}", command(found));
    }
    let program = receiving(50_000).finding("receive-window");
    assert_eq!((program.fix.who, &program.fix.command), (Who::Program, &None));
    // Autotuning has just enlarged the buffer: the window follows.
    assert_eq!(receiving(200_000).causes(), [""; 0]);
    let changes: [Change; 5] = [
        |info| info.rcv_space = Some(14_480),
        |info| info.last_data_recv = Some(60_000),
        |info| info.bytes_received = Some(100_000),
        |info| info.rcv_rtt = Some(500),
        |info| info.rcv_rtt = Some(400_000),
    ];
    for change in changes {
        let mut scene = receiving(131_072);
        change(scene.namespace().sockets[0].info.as_mut().unwrap());
        assert_eq!(scene.causes(), [""; 0]);
    }
    // Much less came than the window lets through.
    let mut slow = receiving(131_072);
    slow.then();
    slow.namespace().sockets[0].info.as_mut().unwrap().bytes_received = Some(11_000_000);
    assert_eq!(slow.causes(), [""; 0]);
    slow.namespace().sockets[0].info.as_mut().unwrap().bytes_received = Some(16_000_000);
    slow.finding("receive-window");
    let mut unread = receiving(131_072);
    unread.namespace().sockets[0].recv_queue = 40_000;
    assert_eq!(unread.causes(), [""; 0]);
}

#[test]
fn the_send_buffer() {
    let full = |sndbuf: u32| {
        let mut socket = connection_with(|info| {
            (info.notsent_bytes, info.unacked, info.snd_cwnd) = (Some(0), Some(40), Some(100));
        });
        socket.memory = Some(Memory { sndbuf, wmem_queued: sndbuf / 10 * 8, ..Memory::default() });
        let mut scene = SyntheticHost::new();
        scene.set("ipv4.tcp_wmem", "4096 16384 131072");
        scene.add(socket);
        scene
    };
    // A program that has just written fills it, too.
    assert_eq!(full(131_072).causes(), [""; 0]);
    let again = |sndbuf: u32, busy_us: u64| {
        let mut scene = full(sndbuf);
        let mut later = scene.namespace().sockets[0].clone();
        let info = later.info.as_mut().unwrap();
        info.busy_time = info.busy_time.map(|busy| busy + busy_us);
        scene.again = Some(Again { sockets: [(1, later)].into(), seconds: 0.5 });
        scene
    };
    let twice = again(131_072, 500_000).finding("sender-cap");
    assert!(twice.confidence >= 0.6 && command(&twice).contains("tcp_wmem"), "{twice:?}");
    assert_eq!(again(131_072, 300_000).causes(), [""; 0], "it had nothing to send between");
    let mut drained = again(131_072, 500_000);
    let later = drained.again.as_mut().unwrap().sockets.get_mut(&1).unwrap();
    later.memory.as_mut().unwrap().wmem_queued = 0;
    assert_eq!(drained.causes(), [""; 0]);
    let mut earlier = full(131_072);
    earlier.then();
    let now = earlier.namespace().sockets[0].info.as_mut().unwrap();
    now.busy_time = now.busy_time.map(|busy| busy + 10_000_000);
    assert!(earlier.finding("sender-cap").confidence >= 0.6);
    let program = again(60_000, 500_000).finding("sender-cap");
    assert_eq!((program.fix.who, &program.fix.command), (Who::Program, &None));
    // The congestion window holds it, or the program has no more.
    let mut held = full(131_072);
    held.namespace().sockets[0].info.as_mut().unwrap().snd_cwnd = Some(41);
    assert_eq!(held.causes(), [""; 0]);
    let mut counted = SyntheticHost::new();
    counted.add(connection_with(|info| info.sndbuf_limited = Some(2_000_000)));
    assert_eq!(counted.finding("sender-cap").seconds, Some(2.0));
}

#[test]
fn no_setting_is_enlarged_where_a_queue_stands() {
    let mut scene = SyntheticHost::new();
    scene.set("ipv4.tcp_wmem", "4096 16384 131072");
    let mut full = connection_with(|info| info.sndbuf_limited = Some(2_000_000));
    full.memory = Some(Memory { sndbuf: 131_072, wmem_queued: 100_000, ..Memory::default() });
    scene.add(full);
    assert!(scene.finding("sender-cap").fix.command.is_some());
    let mut queued = connection_with(|info| info.rtt = Some(200_000));
    queued.remote = "203.0.113.5:443".parse().unwrap();
    scene.add(queued);
    let cap = scene.summaries().into_iter().find(|finding| finding.cause == "sender-cap").unwrap();
    assert_eq!(cap.fix.command, None);
    assert!(cap.fix.what.contains("the queue that stands on the way to 203.0.113.5"));
}

#[test]
fn windows_that_are_shut() {
    let mut unread = connection_with(|info| (info.rcv_wnd, info.last_data_recv) = (Some(0), Some(7_000)));
    (unread.recv_queue, unread.memory) =
        (100_000, Some(Memory { rmem_alloc: 120_000, rcvbuf: 131_072, ..Memory::default() }));
    let mut scene = SyntheticHost::new();
    scene.add(unread.clone());
    let found = scene.finding("zero-window");
    assert_eq!((found.fix.who, found.seconds), (Who::Program, Some(7.0)));
    unread.info.as_mut().unwrap().last_data_recv = Some(10);
    let mut scene = SyntheticHost::new();
    scene.add(unread);
    assert_eq!(scene.causes(), [""; 0], "it may be read in a moment");
    let mut shut = connection_with(|info| (info.snd_wnd, info.last_data_sent) = (Some(0), Some(3_000)));
    let mut scene = SyntheticHost::new();
    scene.add(shut.clone());
    assert_eq!(scene.causes(), [""; 0]);
    shut.timer = timer(TimerKind::Probe, 0);
    let mut scene = SyntheticHost::new();
    scene.add(shut);
    assert_eq!(scene.finding("zero-window").fix.who, Who::Peer);
}

#[test]
fn losses_of_connections_and_of_counters() {
    let losing = |again: u32, copies: u32| {
        let mut scene = SyntheticHost::new();
        scene.add(connection_with(|info| (info.total_retrans, info.dsack_dups) = (Some(again), Some(copies))));
        scene
    };
    assert_eq!(losing(90, 0).causes(), [""; 0]);
    let found = losing(150, 10).finding("loss");
    assert_eq!((found.cost.as_str(), found.peer.as_deref()), ("1.4 % of 10,000 segments", Some("198.51.100.7")));
    assert_eq!(losing(150, 149).finding("spurious-retransmission").cost, "1.5 % of 10,000 segments");
    let mut counted = SyntheticHost::new();
    counted.count("Tcp.RetransSegs", 20_000);
    assert_eq!(counted.finding("loss").peer, None);
    // Long past: what went since lost nothing.
    counted.then();
    counted.count("Tcp.OutSegs", 1_005_000);
    assert_eq!(counted.causes(), [""; 0]);
    counted.count("Tcp.RetransSegs", 20_100);
    assert_eq!(counted.finding("loss").figure("Tcp.RetransSegs - D-SACKs - SYNs"), 100.0);
}

#[test]
fn timeouts() {
    let mut scene = SyntheticHost::new();
    scene.add(connection_with(|info| (info.total_rto, info.total_rto_time) = (Some(12), Some(9_000))));
    assert_eq!(scene.finding("timeout").seconds, Some(9.0));
    let mut old = SyntheticHost::new();
    old.add(connection_with(|info| (info.total_rto, info.total_rto_time) = (Some(12), None)));
    let found = old.finding("timeout");
    assert!(found.cost.ends_with("or more") && (found.seconds.unwrap() - 2.4).abs() < 1e-9);
    let mut row = SyntheticHost::new();
    let mut socket = connection();
    socket.timer = timer(TimerKind::Retransmission, 4);
    row.add(socket);
    assert!(row.finding("timeout").summary.contains("4 times in a row"));
    let mut counted = SyntheticHost::new();
    counted.count("TcpExt.TCPTimeouts", 2_000);
    counted.count("TcpExt.TCPSynRetrans", 1_500);
    assert_eq!(counted.causes(), [""; 0], "SYNs are not of connections");
    counted.count("TcpExt.TCPSynRetrans", 500);
    assert_eq!(counted.finding("timeout").seconds, Some(300.0));
    counted.set("ipv4.tcp_sack", "0");
    assert_eq!(command(&counted.finding("timeout")), "sysctl -w net.ipv4.tcp_sack=1");
    counted.set("ipv4.tcp_sack", "1");
    counted.count("TcpExt.TCPSpuriousRTOs", 400);
    assert_eq!(counted.causes(), ["timeout", "spurious-retransmission"]);
}

#[test]
fn retransmissions_that_are_lost_too() {
    let mut scene = SyntheticHost::new();
    scene.count("Tcp.RetransSegs", 15_000);
    scene.count("TcpExt.TCPDSACKRecv", 9_000);
    scene.count("TcpExt.TCPLostRetransmit", 1_000);
    assert_eq!(scene.causes(), [""; 0]);
    scene.count("TcpExt.TCPLostRetransmit", 2_000);
    scene.finding("lost-retransmission");
}

#[test]
fn tail_probes_are_needless_by_what_nothing_else_explains() {
    let mut scene = SyntheticHost::new();
    scene.count("TcpExt.TCPLossProbes", 20_000);
    scene.count("Tcp.RetransSegs", 22_000);
    scene.count("TcpExt.TCPDSACKRecv", 11_000);
    // 2,000 of the D-SACKs may be of others.
    assert_eq!(scene.causes(), ["loss"]);
    scene.count("TcpExt.TCPDSACKRecv", 19_000);
    let found = scene.finding("needless-tail-probes");
    assert_eq!((found.figure("needless"), command(&found)), (17_000.0, "sysctl -w net.ipv4.tcp_early_retrans=0"));
    scene.add(connection_with(|info| (info.rtt, info.min_rtt, info.dsack_dups) = (Some(12_000), Some(2_000), Some(1))));
    assert!(scene.finding("needless-tail-probes").summary.contains("behind a proxy"));
    // They repair something.
    scene.count("TcpExt.TCPLossProbeRecovery", 3_000);
    assert_eq!(scene.finding("needless-tail-probes").fix.command, None);
}

#[test]
fn queues_on_the_way() {
    let with = |rtt, unacked| {
        let mut scene = SyntheticHost::new();
        scene.add(connection_with(|info| (info.rtt, info.unacked) = (Some(rtt), Some(unacked))));
        scene
    };
    with(120_000, 50).finding("bufferbloat");
    assert_eq!(with(120_000, 2).causes(), [""; 0], "a delayed ACK");
    assert_eq!(with(45_000, 50).causes(), [""; 0]);
}

#[test]
fn windows_that_start_over() {
    let with = |change: Change| {
        let mut scene = SyntheticHost::new();
        scene.add(connection_with(|info| {
            (info.snd_ssthresh, info.snd_cwnd, info.unacked) = (Some(150), Some(20), Some(0));
            info.notsent_bytes = Some(0);
            change(info);
        }));
        scene
    };
    let found = with(|_| ()).finding("restart-after-idle");
    assert!((found.seconds.unwrap() - 5.0 * 0.019).abs() < 1e-9, "{:?}", found.seconds);
    assert_eq!(with(|info| info.total_retrans = Some(1)).causes(), [""; 0], "a loss");
    assert_eq!(with(|info| info.snd_cwnd = Some(150)).causes(), [""; 0], "HyStart");
    assert_eq!(with(|info| info.snd_ssthresh = Some(21)).causes(), [""; 0], "two round trips");
    let mut off = with(|_| ());
    off.set("ipv4.tcp_slow_start_after_idle", "0");
    assert_eq!(off.causes(), [""; 0]);
    let mut entry = with(|_| ());
    entry.namespace().metrics.push(remembered(20_000, 150, 1_000));
    assert_eq!(entry.causes(), [""; 0], "it is remembered");
    let mut bbr = with(|_| ());
    bbr.namespace().sockets[0].congestion_control = Some("bbr".to_owned());
    assert_eq!(bbr.causes(), [""; 0]);
}

#[test]
fn options_that_a_connection_lacks() {
    let mut scene = SyntheticHost::new();
    scene.add(connection_with(|info| {
        (info.options, info.rwnd_limited, info.snd_wnd) = (Some(3), Some(4_000_000), Some(65_535))
    }));
    assert_eq!(scene.finding("no-window-scaling").fix.who, Who::Peer);
    scene.set("ipv4.tcp_window_scaling", "0");
    assert_eq!(command(&scene.finding("no-window-scaling")), "sysctl -w net.ipv4.tcp_window_scaling=1");
    let mut idle = SyntheticHost::new();
    idle.add(connection_with(|info| info.options = Some(0)));
    assert_eq!(idle.causes(), [""; 0], "it costs nothing");
    let mut sack = SyntheticHost::new();
    sack.add(connection_with(|info| (info.options, info.total_retrans) = (Some(5), Some(200))));
    assert_eq!(sack.finding("no-sack").fix.who, Who::Peer);
}

#[test]
fn full_segments_that_vanish() {
    let mut socket = connection_with(|info| (info.bytes_acked, info.last_data_sent) = (Some(500), Some(4_000)));
    socket.timer = timer(TimerKind::Retransmission, 4);
    let mut scene = SyntheticHost::new();
    scene.add(socket.clone());
    assert_eq!(command(&scene.finding("mtu-black-hole")), "sysctl -w net.ipv4.tcp_mtu_probing=1");
    // Full segments of another connection pass: it is loss.
    scene.add(connection_with(|info| (info.bytes_acked, info.delivered) = (Some(50_000), Some(40))));
    assert!(!scene.causes().contains(&"mtu-black-hole"), "{:?}", scene.causes());
    // Small ones show nothing.
    scene.namespace().sockets[1].info.as_mut().unwrap().delivered = Some(500);
    scene.finding("mtu-black-hole");
    socket.info.as_mut().unwrap().bytes_acked = Some(100_000);
    let mut scene = SyntheticHost::new();
    scene.add(socket);
    scene.finding("timeout");
}

#[test]
fn a_route_with_a_small_window() {
    let route = |initcwnd| Route {
        to: "default".to_owned(),
        via: None,
        device: Some("eth0".to_owned()),
        initcwnd: Some(initcwnd),
        initrwnd: None,
        congestion_control: None,
        others: Vec::new(),
        text: format!("default via 192.0.2.254 dev eth0 initcwnd {initcwnd} mtu 1400"),
    };
    let with = |initcwnd, rtt| {
        let mut scene = SyntheticHost::new();
        scene.namespace().routes.push(route(initcwnd));
        let mut socket = connection_with(|info| (info.rtt, info.min_rtt) = (Some(rtt), Some(rtt)));
        socket.route = Some(0);
        scene.add(socket);
        scene
    };
    let found = with(2, 100_000).finding("slow-start");
    assert_eq!(command(&found), "ip route change default via 192.0.2.254 dev eth0 mtu 1400");
    assert_eq!(with(2, 1_000).causes(), [""; 0], "near");
    assert_eq!(with(10, 100_000).causes(), [""; 0]);
    let mut unused = with(2, 100_000);
    unused.namespace().sockets[0].route = None;
    assert_eq!(unused.causes(), [""; 0]);
}

#[test]
fn a_route_with_a_small_window_for_what_comes() {
    let with = |initrwnd, received| {
        let mut scene = SyntheticHost::new();
        scene.namespace().routes.push(Route {
            to: "default".to_owned(),
            via: None,
            device: Some("eth0".to_owned()),
            initcwnd: None,
            initrwnd: Some(initrwnd),
            congestion_control: None,
            others: Vec::new(),
            text: format!("default dev eth0 initrwnd {initrwnd}"),
        });
        let mut socket = connection_with(|info| {
            (info.rtt, info.min_rtt) = (Some(100_000), Some(100_000));
            (info.rcv_mss, info.bytes_received) = (Some(1_448), Some(received));
        });
        socket.route = Some(0);
        scene.add(socket);
        scene
    };
    let found = with(2, 100_000).finding("slow-start");
    assert_eq!(command(&found), "ip route change default dev eth0");
    assert!(found.summary.contains("1 MB from "), "{}", found.summary);
    assert_eq!(with(2, 2_000).causes(), [""; 0], "less came than the window holds");
    assert_eq!(with(10, 100_000).causes(), [""; 0]);
}

#[test]
fn bbr_is_paced_by_newer_kernels_themselves() {
    let mut scene = SyntheticHost::new();
    let mut socket = connection_with(|info| info.total_retrans = Some(500));
    (socket.congestion_control, socket.route) = (Some("bbr".to_owned()), Some(0));
    scene.add(socket);
    let mut eth0 = device(&[]);
    (eth0.qdisc, eth0.qdiscs) = (Some("pfifo_fast".to_owned()), vec![Qdisc { root: true, ..Qdisc::default() }]);
    scene.namespace().devices.push(eth0);
    scene.namespace().routes.push(Route {
        to: "default".to_owned(),
        via: None,
        device: Some("eth0".to_owned()),
        initcwnd: None,
        initrwnd: None,
        congestion_control: None,
        others: Vec::new(),
        text: "default dev eth0".to_owned(),
    });
    assert_eq!(scene.causes(), ["loss"]);
    scene.host.kernel = "4.9.0".to_owned();
    scene.finding("unpaced-bbr");
    scene.namespace().devices[0].qdisc = Some("fq".to_owned());
    assert_eq!(scene.causes(), ["loss"]);
}

#[test]
fn what_this_machine_drops_itself() {
    for (counter, slug) in [("Tcp.InCsumErrors", "checksum-errors"), ("TcpExt.RcvPruned", "receive-drops")] {
        let mut scene = SyntheticHost::new();
        scene.count(counter, 99);
        assert_eq!(scene.causes(), [""; 0], "{counter}");
        scene.count(counter, 100);
        scene.finding(slug);
    }
    let mut scene = SyntheticHost::new();
    let mut mlx5 = device(&[("rx_packets", 1_000_000), ("rx_missed_errors", 0)]);
    mlx5.driver_counters = [("rx_out_of_buffer".to_owned(), 99), ("tx_dropped_link_down".to_owned(), 9_000)].into();
    scene.namespace().devices.push(mlx5);
    assert_eq!(scene.causes(), [""; 0]);
    scene.namespace().devices[0].driver_counters.insert("rx_out_of_buffer".to_owned(), 100);
    let found = scene.finding("nic-drops");
    assert!(found.fix.verify.contains("ethtool -S eth0"), "{}", found.fix.verify);
    let mut scene = SyntheticHost::new();
    scene.namespace().devices.push(device(&[
        ("rx_packets", 1_000_000),
        ("rx_missed_errors", 500),
        ("rx_dropped", 9_000),
    ]));
    assert_eq!(command(&scene.finding("nic-drops")), "ethtool -g eth0");
    scene.then();
    scene.namespace().devices[0].counters.insert("rx_packets".to_owned(), 1_100_000);
    assert_eq!(scene.causes(), [""; 0], "long past");
    let mut scene = SyntheticHost::new();
    scene.host.softnet = vec![Softnet { cpu: 1, processed: 1_000_000, dropped: 200, time_squeezed: 5_000 }];
    assert_eq!(command(&scene.finding("softnet-drops")), "sysctl -w net.core.netdev_max_backlog=2000");
    scene.host.softnet[0].dropped = 50;
    assert_eq!(scene.causes(), [""; 0]);
}

#[test]
fn processors() {
    let mut scene = SyntheticHost::new();
    scene.host.cpu_pressure = Some(40.0);
    assert_eq!(scene.causes(), [""; 0], "nobody is served");
    scene.add(connection());
    assert!(scene.finding("host-cpu").confidence < 0.6);
    let mut eth0 = device(&[]);
    eth0.offloads.insert("tcp-segmentation-offload".to_owned(), false);
    scene.namespace().devices.push(eth0);
    assert_eq!(command(&scene.finding("host-cpu")), "ethtool -K eth0 tso on");
    scene.host.cpu_pressure = None;
    assert_eq!(scene.causes(), [""; 0], "unknown");
    let mut waits = connection();
    waits.owners[0].cpu_pressure = Some(19);
    let with = |socket: &whyslow_live::host::Socket| {
        let mut scene = SyntheticHost::new();
        scene.add(socket.clone());
        scene
    };
    assert_eq!(with(&waits).causes(), [""; 0]);
    waits.owners[0].cpu_pressure = Some(20);
    let found = with(&waits).finding("host-cpu");
    assert!(found.confidence > 0.6 && found.summary.contains(&waits.owners[0].name), "{}", found.summary);
    waits.owners[0].throttled = Some(Throttled { periods: 1_000, throttled: 10, time_us: 1_000 });
    assert_eq!(with(&waits).causes(), [""; 0], "its limit may be what it waited for");
    let throttled = |throttled| {
        let mut socket = connection();
        socket.owners[0].throttled = Some(Throttled { periods: 1_000, throttled, time_us: 30_000_000 });
        socket.owners.push(owner("helper", 813));
        let mut scene = SyntheticHost::new();
        scene.add(socket);
        scene
    };
    assert_eq!(throttled(249).causes(), [""; 0]);
    assert_eq!(throttled(250).finding("cpu-throttled").seconds, Some(30.0));
    let mut past = throttled(400);
    past.then();
    past.namespace().sockets[0].owners[0].throttled =
        Some(Throttled { periods: 1_100, throttled: 401, time_us: 30_050_000 });
    assert_eq!(past.causes(), [""; 0]);
}

#[test]
fn connection_tracking() {
    let with = |count, dropped| {
        let mut scene = SyntheticHost::new();
        scene.namespace().conntrack = conntrack(count, 65_536, dropped);
        scene
    };
    assert_eq!(with(1_000, 0).causes(), [""; 0]);
    assert_eq!(with(1_000, 500).causes(), [""; 0], "it was full once");
    assert_eq!(
        command(&with(65_000, 500).finding("conntrack-full")),
        "sysctl -w net.netfilter.nf_conntrack_max=131072"
    );
    with(65_536, 0).finding("conntrack-full");
    let mut now = with(60_000, 500);
    now.then();
    now.namespace().conntrack = conntrack(60_000, 65_536, 520);
    assert_eq!(now.finding("conntrack-full").figure("nf_conntrack drop"), 20.0);
    // A figure without sense overflows nothing.
    let mut huge = SyntheticHost::new();
    huge.namespace().conntrack = conntrack(u64::MAX, u64::MAX, 0);
    assert_eq!(huge.finding("conntrack-full").fix.command, None);
}

#[test]
fn no_advice_is_given_twice_and_the_largest_value_counts() {
    let mut scene = SyntheticHost::new();
    scene.set("ipv4.tcp_rmem", "4096 16384 131072");
    for (peer, rtt) in [("203.0.113.1", 100_000), ("203.0.113.2", 200_000)] {
        let mut socket = connection_with(|info| {
            (info.rcv_wnd, info.rcv_space, info.rcv_rtt) = (Some(65_000), Some(64_000), Some(rtt));
            (info.min_rtt, info.rtt) = (Some(rtt), Some(rtt));
            (info.bytes_received, info.last_data_recv) = (Some(10_000_000), Some(20));
        });
        socket.remote = format!("{peer}:443").parse().unwrap();
        socket.memory = Some(Memory { rcvbuf: 131_072, ..Memory::default() });
        scene.add(socket);
    }
    let commands: Vec<_> = scene.summaries().into_iter().map(|finding| finding.fix.command).collect();
    assert_eq!(commands.iter().flatten().count(), 1, "{commands:?}");
}

#[test]
fn commands_of_another_namespace_enter_it() {
    let mut scene = SyntheticHost::new();
    scene.namespace().process = Some(99);
    let snapshot = crate::snapshot::Snapshot { is_own: false, ..scene.snapshot() };
    assert_eq!(snapshot.command("sysctl -w a=1"), "nsenter -t 99 -n sysctl -w a=1");
    assert_eq!(snapshot.command("a '$x'; b"), r"nsenter -t 99 -n sh -c 'a '\''$x'\''; b'");
    scene.namespace().process = None;
    scene.namespace().name = Some("blue".to_owned());
    let snapshot = crate::snapshot::Snapshot { is_own: false, ..scene.snapshot() };
    assert_eq!(snapshot.command("ss -tn"), "ip netns exec blue ss -tn");
    scene.namespace().name = Some("$(reboot)".to_owned());
    let snapshot = crate::snapshot::Snapshot { is_own: false, ..scene.snapshot() };
    assert_eq!(snapshot.command("ss -tn"), "ss -tn");
}
