//! ICMP errors: the connection that a line is about, if only one is possible.

use super::*;
use crate::capture::LinkType;
use crate::wire::{self, Fate, Icmp, Skip};

/// All ICMP errors of the text, decoded from the packets that were written for them; `None` for
/// those without a connection.
#[track_caller]
fn errors(text: &str) -> Vec<Option<Icmp>> {
    let mut reader = TextReader::new();
    let mut collect = Collect::default();
    reader.push(text.as_bytes(), &mut collect).unwrap();
    reader.finish(&mut collect).unwrap();
    let read = collect.packets.iter().map(|got| {
        let (link, data) = (LinkType(got.link), &got.data[..]);
        wire::decode(&Packet { frame: got.frame, time: Time(got.nanos), link, data, original_len: got.original_len })
    });
    read.filter_map(|read| match read {
        Err(Skip::Icmp(icmp)) => Some(Some(icmp)),
        Err(Skip::IcmpCut) => Some(None),
        _ => None,
    })
    .collect()
}

/// A client that has 500 bytes in flight.
const UPLOAD: &str = "\
10:00:00.000000 IP 192.0.2.1.40000 > 198.51.100.2.80: Flags [S], seq 1000, win 1000, length 0
10:00:00.020000 IP 198.51.100.2.80 > 192.0.2.1.40000: Flags [S.], seq 7000, ack 1001, win 1000, length 0
10:00:00.020100 IP 192.0.2.1.40000 > 198.51.100.2.80: Flags [.], ack 1, win 1000, length 0
10:00:00.020200 IP 192.0.2.1.40000 > 198.51.100.2.80: Flags [P.], seq 1:501, ack 1, win 1000, length 500
";

/// The text, and an error about the client's data.
fn with(message: &str) -> String {
    format!("{UPLOAD}10:00:00.030000 IP 203.0.113.9 > 192.0.2.1: ICMP {message}, length 36\n")
}

#[test]
fn error_is_about_the_only_connection_between_the_hosts() {
    let [Some(icmp)] = errors(&with("198.51.100.2 unreachable - need to frag (mtu 1400)"))[..] else { panic!() };
    assert_eq!((icmp.fate, icmp.kind, icmp.size), (Fate::TooBig(Some(1400)), (3, 4), None));
    assert_eq!(icmp.by.to_string(), "203.0.113.9");
    assert_eq!(
        [icmp.from, icmp.to].map(|(host, port)| format!("{host}:{port}")),
        ["192.0.2.1:40000", "198.51.100.2:80"]
    );
    assert_eq!(icmp.seq, 1001, "the first byte in flight");
    for (message, kind) in [
        ("net 198.51.100.2 unreachable", (3, 0)),
        ("host 198.51.100.2 unreachable", (3, 1)),
        ("198.51.100.2 protocol 6 unreachable", (3, 2)),
        ("198.51.100.2 tcp port 80 unreachable", (3, 3)),
        ("198.51.100.2 tcp port http unreachable", (3, 3)),
        ("198.51.100.2 unreachable - need to frag", (3, 4)),
        ("198.51.100.2 unreachable - source route failed", (3, 5)),
        ("net 198.51.100.2 unreachable - unknown", (3, 6)),
        ("host 198.51.100.2 unreachable - unknown", (3, 7)),
        ("198.51.100.2 unreachable - source host isolated", (3, 8)),
        ("net 198.51.100.2 unreachable - admin prohibited", (3, 9)),
        ("host 198.51.100.2 unreachable - admin prohibited", (3, 10)),
        ("net 198.51.100.2 unreachable - tos prohibited", (3, 11)),
        ("host 198.51.100.2 unreachable - tos prohibited", (3, 12)),
        ("host 198.51.100.2 unreachable - admin prohibited filter", (3, 13)),
        ("host 198.51.100.2 unreachable - host precedence violation", (3, 14)),
        ("host 198.51.100.2 unreachable - precedence cutoff", (3, 15)),
        ("time exceeded in-transit", (11, 0)),
    ] {
        let [Some(icmp)] = errors(&with(message))[..] else { panic!("{message}") };
        assert_eq!(icmp.kind, kind, "{message}");
    }
}

#[test]
fn ambiguous_error_is_about_no_connection() {
    // Nothing is in flight anymore.
    let acknowledged = "10:00:00.025000 IP 198.51.100.2.80 > 192.0.2.1.40000: Flags [.], ack 501, win 1000, length 0\n";
    // A second connection between the hosts, with a SYN in flight.
    let second = "10:00:00.025000 IP 192.0.2.1.40001 > 198.51.100.2.80: Flags [S], seq 5, win 1000, length 0\n";
    let ping = "10:00:00.025000 IP 192.0.2.1 > 198.51.100.2: ICMP echo request, id 1, seq 1, length 1480\n";
    let udp = "10:00:00.025000 IP 192.0.2.1.5000 > 198.51.100.2.5001: UDP, length 1480\n";
    let too_long = with("198.51.100.2 unreachable - need to frag (mtu 1400)");
    let between = |line: &str| too_long.replacen("10:00:00.03", &format!("{line}10:00:00.03"), 1);
    for line in [acknowledged, second, ping, udp] {
        // It still counts.
        assert_eq!(errors(&between(line)), [None], "{line}");
    }
    // An error about a closed TCP port is not about a ping; with two connections it is still about
    // one.
    let port = with("198.51.100.2 tcp port 80 unreachable");
    let between = |line: &str| errors(&port.replacen("10:00:00.03", &format!("{line}10:00:00.03"), 1));
    assert!(matches!(between(ping)[..], [Some(_)]) && matches!(between(udp)[..], [Some(_)]));
    assert_eq!(between(second), [None]);
    // Another port, another host, or a lookup: unrelated.
    assert_eq!(errors(&with("198.51.100.2 tcp port 443 unreachable")), [None]);
    assert_eq!(errors(&with("host 198.51.100.7 unreachable")), []);
    assert_eq!(errors(&with("198.51.100.2 udp port 53 unreachable")), []);
    assert_eq!(errors(&with("echo request, id 1, seq 1")), []);
    let lookup = "10:00:00.025000 IP 192.0.2.1.5000 > 198.51.100.2.53: 7+ A? host.example. (30)\n";
    let text = too_long.replacen("10:00:00.03", &format!("{lookup}10:00:00.03"), 1);
    assert!(matches!(errors(&text)[..], [Some(_)]));
}

#[test]
fn quoted_packet_identifies_the_connection() {
    let second = "10:00:00.025000 IP 192.0.2.1.40001 > 198.51.100.2.80: Flags [S], seq 5, win 1000, length 0\n";
    let error = "10:00:00.030000 IP (tos 0xc0, ttl 64, id 1, offset 0, flags [none], proto ICMP (1), length 56)\n    \
        203.0.113.9 > 192.0.2.1: ICMP 198.51.100.2 unreachable - need to frag (mtu 1400), length 36\n\t\
        IP (tos 0x0, ttl 64, id 9, offset 0, flags [DF], proto TCP (6), length 1500)\n    \
        192.0.2.1.40000 > 198.51.100.2.80:  [|tcp]\n\
        10:00:00.040000 IP (tos 0x0, ttl 64, id 2, offset 0, flags [DF], proto TCP (6), length 40)\n    \
        198.51.100.2.80 > 192.0.2.1.40000: Flags [.], ack 501, win 1000, length 0\n";
    let text = format!("{UPLOAD}{second}{error}");
    let [Some(icmp)] = errors(&text)[..] else { panic!("{:?}", errors(&text)) };
    assert_eq!((icmp.from.1, icmp.size, icmp.seq), (40_000, Some(1500), 1001));
    let of_udp = text.replace("proto TCP (6), length 1500", "proto UDP (17), length 1500");
    assert_eq!(errors(&of_udp), []);
    // The quoted segment is not a segment of the text.
    let whole =
        text.replace("198.51.100.2.80:  [|tcp]", "198.51.100.2.80: Flags [P.], seq 1:1449, ack 1, win 9, length 1448");
    assert_eq!(errors(&whole), errors(&text));
    let packets = |text: &str| {
        let mut collect = Collect::default();
        let mut reader = TextReader::new();
        reader.push(text.as_bytes(), &mut collect).unwrap();
        reader.finish(&mut collect).unwrap().packets
    };
    assert_eq!((packets(&whole), packets(&text)), (7, 7));
}

#[test]
fn names_and_ipv6_are_read_too() {
    let named = UPLOAD.replace("192.0.2.1", "client").replace("198.51.100.2", "x.x.x.x");
    let text =
        format!("{named}10:00:00.03 IP gw.example > client: ICMP x.x.x.x tcp port http unreachable, length 36\n");
    let [Some(icmp)] = errors(&text)[..] else { panic!() };
    assert_eq!((icmp.from.1, icmp.to.1, icmp.kind), (40_000, 80, (3, 3)));
    let v6 = UPLOAD.replace("IP ", "IP6 ").replace("192.0.2.1", "2001:db8::1").replace("198.51.100.2", "2001:db8::2");
    for (message, kind) in [
        ("destination unreachable, unreachable route 2001:db8::2", (1, 0)),
        ("destination unreachable,  unreachable prohibited 2001:db8::2", (1, 1)),
        ("destination unreachable, beyond scope 2001:db8::2, source address 2001:db8::1", (1, 2)),
        ("destination unreachable, unreachable address 2001:db8::2", (1, 3)),
        ("destination unreachable, unreachable port, 2001:db8::2 tcp port 80", (1, 4)),
        ("packet too big, mtu 1400", (2, 0)),
        ("time exceeded in-transit for 2001:db8::2", (3, 0)),
    ] {
        for sum in ["", "[icmp6 sum ok] "] {
            let text = format!("{v6}10:00:00.03 IP6 2001:db8:9::9 > 2001:db8::1: {sum}ICMP6, {message}, length 68\n");
            let [Some(icmp)] = errors(&text)[..] else { panic!("{message}") };
            assert_eq!((icmp.kind, icmp.from.1, icmp.seq), (kind, 40_000, 1001), "{message}");
        }
    }
    let neighbour =
        "10:00:00.025 IP6 2001:db8::1 > ff02::1:ff00:2: ICMP6, neighbor solicitation, who has 2001:db8::2, length 32\n";
    let text = format!(
        "{v6}{neighbour}10:00:00.03 IP6 2001:db8:9::9 > 2001:db8::1: ICMP6, packet too big, mtu 1400, length 68\n"
    );
    assert!(matches!(errors(&text)[..], [Some(_)]));
}

#[test]
fn dump_shows_the_complete_error() {
    let dumped = "10:00:00.03 IP 203.0.113.9 > 192.0.2.1: ICMP host 198.51.100.2 unreachable, length 36\n\t\
        0x0000:  4500 0038 0000 0000 4001 0000 cb00 7109\n\t0x0010:  c000 0201 0301 0000 0000 0000 4500 0234\n\t\
        0x0020:  0009 4000 3f06 0000 c000 0201 c633 6402\n\t0x0030:  9c40 0050 0000 03e9\n";
    let [Some(icmp)] = errors(&format!("{UPLOAD}{dumped}"))[..] else { panic!() };
    assert_eq!((icmp.size, icmp.seq, icmp.from.1, icmp.kind), (Some(564), 1001, 40_000, (3, 1)));
}
