//! States that look like a cause and are not, and causes that a single look used to miss.

#![allow(clippy::unwrap_used)]

use super::synthetic_host::{SyntheticHost, connection, connection_with, conntrack, device, in_state, listener, timer};
use whyslow_live::host::{Memory, Qdisc, Route, Socket, State, Throttled, TimerKind};
use whyslow_live::tcp_info::TcpInfo;

/// Both ends on the loopback device, 30 µs apart.
fn loopback(change: impl FnOnce(&mut TcpInfo)) -> Socket {
    let mut socket = connection_with(|info| {
        (info.rtt, info.min_rtt) = (Some(60), Some(30));
        change(info);
    });
    socket.local = "127.0.0.1:5201".parse().unwrap();
    socket.remote = "127.0.0.1:50000".parse().unwrap();
    socket
}

#[test]
fn drops_of_a_listener_without_a_full_queue_are_not_an_overflow() {
    // Each RST and each late segment of a closed connection is a drop of the listener.
    let mut scene = SyntheticHost::new();
    scene.add(listener(511, 0, 2_000));
    assert_eq!(scene.causes(), [""; 0]);
    scene.then();
    scene.namespace().sockets[0].drops = Some(2_500);
    assert_eq!(scene.causes(), [""; 0]);
    // Of 500 drops, 40 are due to a full queue.
    scene.count("TcpExt.ListenOverflows", 40);
    scene.count("Tcp.PassiveOpens", 10_100);
    let found = scene.finding("listen-overflow");
    assert_eq!((found.seconds, found.figure("drops")), (Some(40.0), 500.0));
    assert!(found.confidence >= 0.9, "{}", found.confidence);
}

#[test]
fn an_overflow_is_less_sure_where_it_may_be_another_listeners() {
    let mut scene = SyntheticHost::new();
    scene.count("TcpExt.ListenOverflows", 50);
    scene.add(listener(128, 5, 50));
    let alone = scene.finding("listen-overflow").confidence;
    assert!(alone < 0.9, "counted since boot, by a listener of today: {alone}");
    let mut other = listener(128, 5, 50);
    (other.cookie, other.local) = (Some(2), "0.0.0.0:80".parse().unwrap());
    scene.add(other);
    assert!(scene.summaries().iter().all(|found| found.confidence < alone));
}

#[test]
fn syns_to_a_dead_address_are_neither_loss_nor_lost_retransmissions() {
    let mut scene = SyntheticHost::new();
    scene.count("Tcp.OutSegs", 2_000);
    scene.count("Tcp.RetransSegs", 300);
    scene.count("TcpExt.TCPSynRetrans", 290);
    scene.count("TcpExt.TCPLostRetransmit", 250);
    scene.count("TcpExt.TCPTimeouts", 291);
    scene.count("TcpExt.TCPDSACKRecv", 0);
    assert_eq!(scene.causes(), [""; 0]);
    scene.count("Tcp.RetransSegs", 590);
    scene.count("TcpExt.TCPLostRetransmit", 350);
    assert_eq!(scene.causes(), ["lost-retransmission", "loss"]);
    assert_eq!(scene.summaries()[1].figure("Tcp.RetransSegs - D-SACKs - SYNs"), 300.0);
}

#[test]
fn syns_that_an_own_listener_drops_are_not_unanswered_by_the_network() {
    let mut syn = in_state(State::SynSent);
    syn.timer = timer(TimerKind::Retransmission, 3);
    syn.remote = "192.0.2.1:443".parse().unwrap();
    syn.local = "192.0.2.1:40000".parse().unwrap();
    let mut scene = SyntheticHost::new();
    scene.add(syn);
    assert_eq!(scene.causes(), ["no-answer"]);
    scene.add(listener(128, 129, 0));
    assert_eq!(scene.causes(), ["listen-overflow"]);
}

#[test]
fn a_full_window_between_programs_of_one_machine_is_usual() {
    let full = |info: &mut TcpInfo| info.rwnd_limited = Some(4_000_000);
    let mut scene = SyntheticHost::new();
    scene.add(loopback(full));
    assert_eq!(scene.causes(), [""; 0], "one look");
    let with = |bytes: u64| {
        let mut scene = SyntheticHost::new();
        scene.add(loopback(full));
        scene.then();
        let info = scene.namespace().sockets[0].info.as_mut().unwrap();
        (info.rwnd_limited, info.busy_time) = (Some(12_000_000), Some(15_000_000));
        info.bytes_acked = info.bytes_acked.map(|acked| acked + bytes);
        scene
    };
    assert_eq!(with(20_000_000_000).causes(), [""; 0], "2 GB/s");
    let mut late = with(100_000_000);
    late.namespace().sockets[0].info.as_mut().unwrap().rtt = Some(12_000);
    assert_eq!(late.causes(), ["zero-window"], "a late reader is not a queue");
    let found = with(100_000_000).finding("zero-window");
    assert_eq!((found.figure("rwnd_limited"), found.figure("busy_time")), (8.0, 10.0));
}

#[test]
fn an_own_window_on_loopback_holds_nothing() {
    let mut scene = SyntheticHost::new();
    scene.set("ipv4.tcp_rmem", "4096 131072 6291456");
    let mut socket = loopback(|info| {
        (info.rcv_wnd, info.rcv_space, info.rcv_rtt) = (Some(3_000_000), Some(3_000_000), Some(4_000));
        (info.bytes_received, info.last_data_recv) = (Some(10_000_000_000), Some(0));
        info.min_rtt = None;
    });
    socket.memory = Some(Memory { rcvbuf: 6_291_456, ..Memory::default() });
    scene.add(socket);
    assert_eq!(scene.causes(), [""; 0]);
}

#[test]
fn late_processors_on_loopback_are_neither_queue_nor_reordering() {
    let mut scene = SyntheticHost::new();
    scene.add(loopback(|info| info.rtt = Some(90_000)));
    scene.add(loopback(|info| (info.total_retrans, info.dsack_dups) = (Some(150), Some(149))));
    assert_eq!(scene.causes(), [""; 0]);
}

#[test]
fn a_window_shut_at_one_instant_is_not_a_slow_reader() {
    let shut = |sent_ms: u32| {
        let mut socket = connection_with(|info| (info.snd_wnd, info.last_data_sent) = (Some(0), Some(sent_ms)));
        socket.timer = timer(TimerKind::Probe, 0);
        let mut scene = SyntheticHost::new();
        scene.add(socket);
        scene
    };
    assert_eq!(shut(40).causes(), [""; 0]);
    assert_eq!(shut(1_200).causes(), ["zero-window"]);
    // Counts of the kernel until then are still reported.
    let mut slow = shut(40);
    slow.namespace().sockets[0].info.as_mut().unwrap().rwnd_limited = Some(4_000_000);
    assert_eq!(slow.causes(), ["receive-window"]);
    // Shut at both looks, and nothing passed between them.
    let mut scene = shut(40);
    scene.then();
    assert_eq!(scene.causes(), ["zero-window"]);
    scene.namespace().sockets[0].info.as_mut().unwrap().bytes_acked = Some(15_000_000);
    assert_eq!(scene.causes(), [""; 0]);
}

#[test]
fn needless_probes_on_loopback_are_not_reported() {
    let mut scene = SyntheticHost::new();
    scene.count("TcpExt.TCPLossProbes", 20_000);
    scene.count("Tcp.RetransSegs", 22_000);
    scene.count("TcpExt.TCPDSACKRecv", 19_000);
    scene.finding("needless-tail-probes");
    let mut lo = device(&[("tx_bytes", 9_000)]);
    (lo.index, lo.name) = (1, "lo".to_owned());
    scene.namespace().devices = vec![lo, device(&[("tx_bytes", 1_000)])];
    assert_eq!(scene.causes(), [""; 0]);
    scene.namespace().devices[1].counters.insert("tx_bytes".to_owned(), 90_000);
    scene.finding("needless-tail-probes");
}

#[test]
fn a_peer_that_stops_answering_is_no_slow_reader() {
    let mut scene = SyntheticHost::new();
    let mut socket = connection_with(|info| {
        (info.rwnd_limited, info.busy_time) = (Some(6_000_000), Some(6_200_000));
    });
    scene.add(socket.clone());
    assert!(!scene.causes().is_empty(), "its account alone says so");
    socket.timer = timer(TimerKind::Retransmission, 4);
    scene.namespace().sockets = vec![socket];
    assert_eq!(scene.causes(), ["timeout"]);
}

#[test]
fn a_full_window_between_namespaces_at_the_speed_of_memory_is_healthy() {
    let mut scene = SyntheticHost::new();
    let mut veth = device(&[]);
    (veth.name, veth.kind) = ("wire".to_owned(), Some("veth".to_owned()));
    scene.namespace().devices = vec![veth];
    scene.namespace().routes = vec![Route {
        to: "default".to_owned(),
        via: None,
        device: Some("wire".to_owned()),
        initcwnd: None,
        initrwnd: None,
        congestion_control: None,
        others: Vec::new(),
        text: "default dev wire".to_owned(),
    }];
    let mut socket = connection_with(|info| {
        (info.rtt, info.min_rtt) = (Some(200), Some(20));
        (info.rwnd_limited, info.busy_time) = (Some(4_000_000), Some(5_000_000));
        info.bytes_acked = Some(5_000_000_000);
    });
    socket.route = Some(0);
    scene.add(socket);
    assert_eq!(scene.causes(), [""; 0]);
    // At a tenth of that the reader, or its window, is the limit.
    scene.namespace().sockets[0].info.as_mut().unwrap().bytes_acked = Some(500_000_000);
    assert_eq!(scene.causes().len(), 1, "{:?}", scene.causes());
}

#[test]
fn totals_since_boot_do_not_count_after_a_look() {
    let mut scene = SyntheticHost::new();
    scene.count("Tcp.RetransSegs", 20_000);
    scene.count("TcpExt.TCPTimeouts", 5_000);
    scene.add(connection_with(|info| {
        (info.total_retrans, info.total_rto, info.rwnd_limited) = (Some(900), Some(50), Some(4_000_000));
    }));
    // Losses, and the timeouts that repaired them, are one.
    assert_eq!(scene.causes(), ["timeout", "zero-window"]);
    assert!(scene.findings()[0].evidence.iter().any(|figure| figure.name == "retrans - dsack_dups"));
    scene.then();
    assert_eq!(scene.causes(), [""; 0], "nothing was sent since");
    scene.count("Tcp.OutSegs", 1_000_100);
    assert_eq!(scene.causes(), [""; 0], "little was sent since");
    let info = scene.namespace().sockets[0].info.as_mut().unwrap();
    (info.total_retrans, info.data_segs_out) = (Some(930), Some(11_000));
    let found = scene.finding("loss");
    assert_eq!(found.cost, "3.0 % of 1,000 segments");
}

#[test]
fn an_idle_connection_still_shows_the_window_that_it_will_lose() {
    let with = |change: fn(&mut TcpInfo)| {
        let mut scene = SyntheticHost::new();
        scene.add(connection_with(|info| {
            (info.snd_cwnd, info.unacked, info.notsent_bytes) = (Some(300), Some(0), Some(0));
            (info.last_data_sent, info.rtt, info.min_rtt, info.rto) =
                (Some(5_000), Some(100_000), Some(100_000), Some(300_000));
            (info.data_segs_in, info.bytes_acked) = (Some(4), Some(4_000_000));
            change(info);
        }));
        scene
    };
    // 691 segments take 7 round trips from 10 segments, and 2 from 300.
    let found = with(|_| ()).finding("restart-after-idle");
    assert!((found.seconds.unwrap() - 0.5).abs() < 1e-9, "{:?}", found.seconds);
    // Its route begins with 32: 5 round trips.
    let mut of_route = with(|_| ());
    of_route.namespace().routes.push(Route {
        to: "default".to_owned(),
        via: None,
        device: None,
        initcwnd: Some(32),
        initrwnd: None,
        congestion_control: None,
        others: Vec::new(),
        text: "default dev eth0 initcwnd 32".to_owned(),
    });
    of_route.namespace().sockets[0].route = Some(0);
    let found = of_route.finding("restart-after-idle");
    assert!((found.seconds.unwrap() - 0.3).abs() < 1e-9, "{:?}", found.seconds);
    assert!(found.summary.contains("start over with 32 segments"), "{}", found.summary);
    for (scene, why) in [
        (with(|info| info.data_segs_in = Some(1)), "asked once"),
        (with(|info| info.bytes_acked = Some(40_000)), "small answers"),
        (with(|info| info.last_data_sent = Some(200)), "not idle for long"),
        (with(|info| info.snd_cwnd = Some(10)), "it never opened"),
        (with(|info| info.min_rtt = Some(5_000)), "near"),
    ] {
        assert_eq!(scene.causes(), [""; 0], "{why}");
    }
    // Two looks see it happen.
    let mut seen = with(|_| ());
    seen.then();
    let info = seen.namespace().sockets[0].info.as_mut().unwrap();
    (info.snd_cwnd, info.last_data_sent, info.data_segs_out) = (Some(40), Some(10), Some(10_100));
    let found = seen.finding("restart-after-idle");
    assert!(found.confidence >= 0.9 && found.summary.contains("300 segments and then had 40"), "{}", found.summary);
    seen.namespace().sockets[0].info.as_mut().unwrap().total_retrans = Some(3);
    assert_eq!(seen.causes(), [""; 0], "a loss");
}

/// A device that leads to the peer, with a discipline that dropped `drops` of a million packets.
fn with_qdisc(kind: &str, drops: u32, again: u32) -> SyntheticHost {
    let mut scene = SyntheticHost::new();
    let mut eth0 = device(&[("tx_bytes", 1_000_000_000)]);
    eth0.qdiscs = vec![Qdisc { kind: kind.to_owned(), root: true, packets: 1_000_000, drops, ..Qdisc::default() }];
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
    let mut socket = connection_with(|info| info.total_retrans = Some(again));
    socket.route = Some(0);
    scene.add(socket);
    scene
}

#[test]
fn drops_of_the_own_queue_are_not_the_networks() {
    let found = with_qdisc("tbf", 800, 800).finding("qdisc-drops");
    assert_eq!((found.figure("eth0 tbf dropped"), found.fix.who), (800.0, crate::finding::Who::Host));
    assert_eq!(found.fix.command.as_deref(), Some("tc -s qdisc show dev eth0"));
    assert_eq!(with_qdisc("tbf", 90, 0).causes(), [""; 0], "less than 1 in 10,000");
    assert_eq!(with_qdisc("tbf", 110, 800).causes(), ["qdisc-drops", "loss"], "most was lost elsewhere");
    assert_eq!(with_qdisc("fq_codel", 800, 0).causes(), [""; 0], "that is how it works");
    let mut past = with_qdisc("tbf", 800, 800);
    past.then();
    assert_eq!(past.causes(), [""; 0]);
    let now = &mut past.namespace().devices[0].qdiscs[0];
    (now.drops, now.packets) = (900, 1_001_000);
    assert_eq!(past.finding("qdisc-drops").cost, "9.1 % of 1,100 packets");
}

#[test]
fn a_table_of_connections_that_is_nearly_full_is_possible_trouble() {
    let mut scene = SyntheticHost::new();
    scene.namespace().conntrack = conntrack(58_000, 65_536, 0);
    assert_eq!(scene.causes(), [""; 0]);
    scene.namespace().conntrack = conntrack(60_000, 65_536, 0);
    let found = scene.finding("conntrack-full");
    assert!(found.confidence < 0.6 && found.summary.contains("nearly full"), "{}", found.summary);
    // It is not the headline of a machine with a real one.
    scene.add(connection_with(|info| (info.rwnd_limited, info.snd_wnd) = (Some(4_000_000), Some(72_400))));
    assert_eq!(scene.causes(), ["receive-window", "conntrack-full"]);
}

#[test]
fn a_throttled_group_is_found_soon_and_its_own_file_is_shown() {
    let with = |periods, throttled| {
        let mut socket = connection();
        socket.owners[0].throttled = Some(Throttled { periods, throttled, time_us: 900_000 });
        socket.owners[0].throttled_in = Some("/sys/fs/cgroup/cpu/a b".to_owned());
        let mut scene = SyntheticHost::new();
        scene.add(socket);
        scene
    };
    assert_eq!(with(9, 9).causes(), [""; 0]);
    let found = with(10, 9).finding("cpu-throttled");
    assert_eq!(found.fix.command.as_deref(), Some("cat '/sys/fs/cgroup/cpu/a b/cpu.stat'"));
    let mut past = with(1_000, 900);
    past.then();
    assert_eq!(past.causes(), [""; 0]);
    past.namespace().sockets[0].owners[0].throttled =
        Some(Throttled { periods: 1_012, throttled: 910, time_us: 1_800_000 });
    assert_eq!(past.finding("cpu-throttled").seconds, Some(0.9));
}
