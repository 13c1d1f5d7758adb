//! Remembered metrics, settings, routes, devices and counters, compared with other tools.

use crate::lab::{alone, attempt, look, pair, run, wait_for};
use socket2::{Domain, Socket as RawSocket, Type};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::SocketAddr;
use whyslow_live::host::{Host, Options, Scope, State};

/// Milliseconds or microseconds as `ip` prints them, in µs.
fn microseconds(text: &str) -> f64 {
    let (number, factor) = text
        .strip_suffix("us")
        .map(|number| (number, 1.0))
        .or_else(|| text.strip_suffix("ms").map(|number| (number, 1e3)))
        .unwrap_or_else(|| (text.trim_end_matches(['s', 'e', 'c']), 1e6));
    number.parse::<f64>().unwrap() * factor
}

#[test]
fn remembered_metrics_are_as_ip_shows_them() {
    alone(&[], || {
        run("ip tcp_metrics flush");
        // The kernel remembers the metrics of a peer after three samples at least.
        let (_listener, mut client, mut server) = pair();
        for _ in 0..50 {
            client.write_all(&[7; 3000]).unwrap();
            server.read_exact(&mut [0; 3000]).unwrap();
            server.write_all(&[7; 3000]).unwrap();
            client.read_exact(&mut [0; 3000]).unwrap();
        }
        drop(client);
        drop(server);
        wait_for(|socket| socket.state == State::TimeWait);
        let (metrics, text) = (look().metrics, run("ip tcp_metrics show"));
        assert_eq!((metrics.len(), text.lines().count()), (1, 1), "{text}");
        let (entry, words) = (&metrics[0], text.split_ascii_whitespace().collect::<Vec<_>>());
        let after = |name: &str| words.iter().position(|word| *word == name).map(|place| words[place + 1]);
        assert_eq!(words[0], entry.address.to_string());
        assert_eq!(after("source"), entry.source.map(|source| source.to_string()).as_deref());
        assert_eq!(after("rtt").map(microseconds), entry.rtt_us.map(f64::from), "{text}");
        assert_eq!(after("rttvar").map(microseconds), entry.rttvar_us.map(f64::from), "{text}");
        assert_eq!(after("cwnd"), entry.cwnd.map(|cwnd| cwnd.to_string()).as_deref(), "{text}");
        assert_eq!(after("ssthresh"), entry.ssthresh.map(|threshold| threshold.to_string()).as_deref(), "{text}");
        assert!(entry.rtt_us.is_some(), "{text}");
        // The command comes later.
        let age = u32::try_from(entry.age_ms.unwrap()).unwrap();
        assert!(microseconds(after("age").unwrap()) + 1000.0 >= f64::from(age) * 1000.0, "{age} ms, {text}");
    });
}

/// A pair of devices; the other end answers nothing.
fn veth() {
    run("ip link add left type veth peer name right");
    run("ip addr add 192.0.2.1/24 dev left");
    run("ip link set left mtu 1400 up");
    run("ip link set right up");
}

#[test]
fn routes_are_those_that_connections_take() {
    alone(&[], || {
        veth();
        run(
            "ip route add 198.51.100.0/24 via 192.0.2.7 metric 50 initcwnd 40 initrwnd 50 mtu lock 1300 congctl reno rto_min 70ms quickack 1",
        );
        run("ip route add default via 192.0.2.9 dev left proto static");
        let connect = |address: &str| {
            let socket = RawSocket::new(Domain::IPV4, Type::STREAM, None).unwrap();
            socket.set_nonblocking(true).unwrap();
            let _ = socket.connect(&address.parse::<SocketAddr>().unwrap().into());
            socket
        };
        let _sockets = ["198.51.100.3:80", "198.51.100.4:80", "203.0.113.1:80", "127.0.0.1:1"].map(connect);
        let namespace = look();
        let route = |remote: &str| {
            let socket = namespace.sockets.iter().find(|socket| socket.remote == remote.parse().unwrap()).unwrap();
            (socket.route.unwrap(), &namespace.routes[socket.route.unwrap()])
        };
        let (place, far) = route("198.51.100.3:80");
        assert_eq!((far.to.as_str(), far.device.as_deref()), ("198.51.100.0/24", Some("left")));
        assert_eq!((far.initcwnd, far.initrwnd, far.congestion_control.as_deref()), (Some(40), Some(50), Some("reno")));
        assert_eq!(far.via, Some([192, 0, 2, 7].into()));
        assert_eq!(far.others, ["mtu lock 1300", "rto_min 70ms", "quickack 1"]);
        assert_eq!(route("198.51.100.4:80").0, place);
        let (_, default) = route("203.0.113.1:80");
        assert_eq!((default.to.as_str(), default.initcwnd, &default.others), ("default", None, &Vec::new()));
        assert_eq!(namespace.routes.len(), 2);
        // It is what `ip route` prints, and can be given back to it.
        let words = |text: &str| {
            let text = text.replace("rto_min lock", "rto_min");
            let mut words: Vec<String> = text.split_ascii_whitespace().map(str::to_owned).collect();
            words.sort();
            words
        };
        for (route, address) in [(far, "198.51.100.3"), (default, "203.0.113.1")] {
            assert_eq!(words(&run(&format!("ip route get fibmatch {address}"))), words(&route.text));
            run(&format!("ip route replace {}", route.text));
            assert_eq!(words(&run(&format!("ip route get fibmatch {address}"))), words(&route.text));
        }
    });
}

#[test]
fn routes_of_ipv6_are_read() {
    alone(&[], || {
        run("ip link add left type veth peer name right");
        run("ip -6 addr add 2001:db8:1::1/64 dev left nodad");
        run("ip link set left up");
        run("ip link set right up");
        run("ip -6 route add 2001:db8:2::/48 via fe80::7 dev left initcwnd 30");
        let socket = RawSocket::new(Domain::IPV6, Type::STREAM, None).unwrap();
        socket.set_nonblocking(true).unwrap();
        let remote: SocketAddr = "[2001:db8:2::3]:80".parse().unwrap();
        let _ = socket.connect(&remote.into());
        let namespace = look();
        let socket = namespace.sockets.iter().find(|socket| socket.remote == remote).unwrap();
        let route = &namespace.routes[socket.route.unwrap()];
        assert_eq!((route.to.as_str(), route.initcwnd), ("2001:db8:2::/48", Some(30)));
        let shown = run("ip -6 route get fibmatch 2001:db8:2::3");
        assert!(shown.starts_with(route.text.split(" initcwnd").next().unwrap()), "{shown} {}", route.text);
        run(&format!("ip -6 route replace {}", route.text));
        assert_eq!(run("ip -6 route get fibmatch 2001:db8:2::3"), shown);
    });
}

#[test]
fn devices_are_as_ethtool_and_tc_show_them() {
    alone(&["ethtool", "tc"], || {
        veth();
        run("ethtool -K left tso off gro on");
        let has_fq = attempt("tc qdisc add dev left root fq").is_ok();
        let namespace = look();
        let device = namespace.devices.iter().find(|device| device.name == "left").unwrap();
        assert_eq!((device.mtu, device.kind.as_deref()), (1400, Some("veth")));
        assert_eq!(device.qdisc.as_deref(), Some(if has_fq { "fq" } else { "noqueue" }));
        assert_eq!(device.qdiscs.iter().any(|qdisc| qdisc.root && qdisc.kind == "fq"), has_fq);
        assert!(!device.offloads["tcp-segmentation-offload"]);
        assert!(device.offloads["generic-receive-offload"]);
        let shown = run("ethtool -k left");
        let mut compared = 0;
        for (name, state) in shown.lines().skip(1).filter_map(|line| line.trim().split_once(": ")) {
            let expected = match state.split(' ').collect::<Vec<_>>()[..] {
                ["on", ..] => Some(true),
                ["off"] | ["off", "[requested", ..] => Some(false),
                _ => None,
            };
            assert_eq!(device.offloads.get(name).copied(), expected, "{name}: {state}");
            compared += usize::from(expected.is_some());
        }
        assert!(compared > 10, "{shown}");
        // `Speed: 10000Mb/s`
        let speed = run("ethtool left");
        let speed = speed.lines().find_map(|line| line.trim().strip_prefix("Speed: ")?.strip_suffix("Mb/s"));
        assert_eq!(device.speed_mbps.map(|speed| speed.to_string()).as_deref(), speed);
        let sent = std::fs::read_to_string("/proc/thread-self/net/dev").unwrap();
        let sent = sent.lines().find_map(|line| line.trim().strip_prefix("left:")).unwrap().to_owned();
        let sent: u64 = sent.split_ascii_whitespace().nth(8).unwrap().parse().unwrap();
        assert!(device.counters["tx_bytes"] <= sent && device.counters.contains_key("rx_missed_errors"));
    });
}

#[test]
fn counters_are_as_nstat_shows_them() {
    alone(&["nstat"], || {
        let (_listener, mut client, mut server) = pair();
        client.write_all(&[7; 3000]).unwrap();
        server.read_exact(&mut [0; 3000]).unwrap();
        drop((client, server));
        wait_for(|socket| socket.state == State::TimeWait);
        let host = Host::read(&Options { scope: Scope::Counters, ..Options::default() });
        let namespace = &host.namespaces[0];
        let shown: BTreeMap<String, u64> = run("nstat -asz")
            .lines()
            .filter_map(|line| {
                let mut words = line.split_ascii_whitespace();
                Some((words.next()?.to_owned(), words.next()?.parse().ok()?))
            })
            .collect();
        let mut compared = 0;
        for (name, number) in &namespace.counters {
            if let Some(other) = shown.get(&name.replace('.', "")) {
                assert_eq!(number, other, "{name}");
                compared += 1;
            }
        }
        assert!(compared > 150, "{compared} of {}", shown.len());
        assert!(namespace.counters["Tcp.ActiveOpens"] == 1 && namespace.counters["TcpExt.TCPPureAcks"] > 0);
        assert_eq!(namespace.gauges["TCP.tw"], 1);
        assert_eq!(host.kernel, run("uname -r").trim());
        assert!(host.uptime_s > 0.0 && host.processors > 0);
        let limit = std::fs::read_to_string("/proc/sys/net/netfilter/nf_conntrack_max").ok();
        let conntrack = namespace.conntrack.map(|conntrack| conntrack.max.to_string());
        assert_eq!(conntrack.as_deref(), limit.as_deref().map(str::trim));
        // The rest is not read again.
        assert!(namespace.sockets.is_empty() && namespace.sysctls.is_empty() && namespace.routes.is_empty());
        assert!(!namespace.devices.is_empty() && host.softnet.len() == host.processors);
    });
}
