//! Packets of real connections in the ring.

use crate::net::{
    Other, SYN, Taken, ends, in_namespace, ip, open, options, send, send_frame, server, take, veth, with,
};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;
use whyslow_live::watch::{ETHERNET, LINUX_SLL2, Ring, RingOptions, WatchError};
use whyslow_testing::Lack;

#[test]
fn the_first_packet_of_every_connection_is_there_once() {
    in_namespace(|| {
        for interfaces in [&["lo"][..], &[]] {
            let mut ring = open(interfaces);
            let to = server("127.0.0.1:0");
            (0..100).for_each(|_| send(to, 10));
            let packets = take(&mut ring, |packets| ends(packets) >= 200);
            assert_eq!(with(SYN, &packets), 100, "{interfaces:?}");
            assert_eq!(with(SYN | 0x10, &packets), 100);
            assert_eq!(ends(&packets), 200);
            assert!(packets.windows(2).all(|pair| pair[0].interface == pair[1].interface));
            let counts = ring.counts();
            assert_eq!((counts.packets, counts.ring_drops), (packets.len() as u64, 0));
            let link_type = if interfaces.is_empty() { LINUX_SLL2 } else { ETHERNET };
            assert_eq!(ring.link_type(), link_type);
        }
    });
}

#[test]
fn merged_packets_have_their_segment_size() {
    in_namespace(|| {
        let there = Other::new();
        veth(&there);
        let to = there.run(|| server("10.1.0.2:0"));
        let mut ring = open(&["left"]);
        send(to, 2_000_000);
        let packets = take(&mut ring, |packets| ends(packets) >= 2);
        let merged: Vec<&Taken> = packets.iter().filter(|packet| packet.length > 1514).collect();
        assert!(merged.len() > 5, "{} of {}", merged.len(), packets.len());
        for packet in &merged {
            // 1,500 less both headers and timestamps.
            assert_eq!(packet.segment_size, Some(1448));
            assert_eq!(packet.bytes.len(), 128);
        }
        let sent = packets.iter().filter(|packet| packet.bytes[26..30] == [10, 1, 0, 1]);
        assert_eq!(sent.map(Taken::payload).sum::<u32>(), 2_000_000);
        let cut = packets.iter().filter(|packet| packet.length > 128).count() as u64;
        assert_eq!(ring.counts().cut, cut);
    });
}

#[test]
fn a_filter_holds_on_one_interface_and_on_all() {
    in_namespace(|| {
        if !whyslow_testing::tools(&["tcpdump"]) {
            return;
        }
        let there = Other::new();
        veth(&there);
        let (wanted, other) = there.run(|| (server("10.1.0.2:0"), server("10.1.0.2:0")));
        let local = server("127.0.0.1:0");
        let filter = Some(format!("tcp port {}", wanted.port()));
        for interfaces in [&["left"][..], &[], &["left", "lo"], &["lo"]] {
            let mut ring = Ring::open(&RingOptions { filter: filter.clone(), ..options(interfaces) }).unwrap();
            [wanted, other, local].into_iter().for_each(|to| send(to, 10));
            let ends_here = if interfaces == ["lo"] { 0 } else { 2 };
            let packets = take(&mut ring, |packets| ends(packets) >= ends_here);
            assert_eq!(ends(&packets), ends_here, "{interfaces:?}");
            let ports = packets.iter().map(|packet| packet.link_header() + 20);
            for (packet, at) in packets.iter().zip(ports) {
                let port = |at: usize| u16::from_be_bytes([packet.bytes[at], packet.bytes[at + 1]]);
                assert!([port(at), port(at + 2)].contains(&wanted.port()));
            }
        }
        // Two of three interfaces.
        ip("link add dull type veth peer name peer");
        let mut ring = open(&["dull", "lo"]);
        [wanted, local].into_iter().for_each(|to| send(to, 10));
        let packets = take(&mut ring, |packets| ends(packets) >= 2);
        assert_eq!(ends(&packets), 2);
    });
}

/// An Ethernet header with these tags, before a SYN.
fn tagged(tags: &[[u8; 4]]) -> Vec<u8> {
    let mut out = vec![2; 12];
    out.extend(tags.concat());
    out.extend([8, 0, 0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, 6, 0, 0, 10, 7, 0, 1, 10, 7, 0, 2]);
    out.extend([1, 2, 0, 80, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, SYN, 0xff, 0xff, 0, 0, 0, 0]);
    out
}

#[test]
fn vlan_tags_are_where_they_were() {
    in_namespace(|| {
        let there = Other::new();
        veth(&there);
        let frames = [
            tagged(&[]),
            tagged(&[[0x81, 0, 0x20, 7]]),
            tagged(&[[0x88, 0xa8, 0, 9], [0x81, 0, 0, 7]]),
            tagged(&[[0x88, 0xa8, 0, 9], [0x81, 0, 0, 7], [0x81, 0, 0, 8]]),
        ];
        let (mut one, mut all) = (open(&["left"]), open(&[]));
        let sent = frames.clone();
        there.run(move || sent.iter().for_each(|frame| send_frame("right", frame)));
        let bytes = |packets: Vec<Taken>| packets.into_iter().map(|packet| packet.bytes).collect::<Vec<_>>();
        let shown = take(&mut one, |packets| packets.len() == 4);
        assert!(shown.iter().all(|packet| packet.length as usize == packet.bytes.len()));
        assert_eq!(bytes(shown), frames);
        // From the network layer on: without the tag that the kernel takes out.
        let rest = bytes(take(&mut all, |packets| packets.len() == 4));
        assert_eq!([&rest[0][20..], &rest[1][20..]], [&frames[0][14..]; 2]);
        assert_eq!((&rest[2][..2], &rest[2][20..]), (&[0x81, 0][..], &frames[2][18..]));
        if whyslow_testing::tools(&["tcpdump"]) {
            let with = |filter: &str| RingOptions { filter: Some(filter.to_owned()), ..options(&["left"]) };
            let mut this = Ring::open(&with("vlan 7 and tcp")).unwrap();
            let mut other = Ring::open(&with("vlan 8 and tcp")).unwrap();
            let frame = frames[1].clone();
            there.run(move || send_frame("right", &frame));
            assert_eq!(bytes(take(&mut this, |packets| packets.len() == 1)), frames[1..2]);
            assert_eq!(take(&mut other, |_| true).len(), 0);
        }
    });
}

#[test]
fn a_packet_that_passes_two_devices_is_shown_once() {
    in_namespace(|| {
        let there = Other::new();
        veth(&there);
        ip("address delete 10.1.0.1/24 dev left");
        ip("link add bridge type bridge");
        ip("link set left master bridge");
        ip("address add 10.1.0.1/24 dev bridge");
        ip("link set bridge up");
        let to = there.run(|| server("10.1.0.2:0"));
        let mut all = open(&[]);
        send(to, 10);
        let packets = take(&mut all, |packets| ends(packets) >= 2);
        assert_eq!((ends(&packets), with(SYN, &packets)), (2, 1));
        assert_eq!(packets.iter().map(Taken::payload).sum::<u32>(), 11);
        assert_eq!(all.counts().duplicates, packets.len() as u64);
    });
}

#[test]
fn a_device_without_ethernet_is_shown_too() {
    in_namespace(|| {
        let Ok(_device) = crate::sys::open_tun("tun") else {
            whyslow_testing::skip(Lack::Device, "there is no /dev/net/tun");
            return;
        };
        ip("address add 10.5.0.1/24 dev tun");
        ip("link set tun up");
        let mut ring = open(&["tun"]);
        let to = "10.5.0.2:80".parse().unwrap();
        assert!(TcpStream::connect_timeout(&to, Duration::from_millis(100)).is_err());
        let packets = take(&mut ring, |packets| with(SYN, packets) >= 1);
        assert_eq!(ring.link_type(), LINUX_SLL2);
        assert_eq!(packets[0].bytes[36..40], [10, 5, 0, 2]);
    });
}

#[test]
fn what_the_ring_has_no_room_for_is_counted() {
    in_namespace(|| {
        let mut ring = Ring::open(&RingOptions { size: 128 << 10, ..options(&["lo"]) }).unwrap();
        let to = server("127.0.0.1:0");
        // The ring is not read, and the connections continue.
        (0..300).for_each(|_| send(to, 10));
        let packets = take(&mut ring, |packets| !packets.is_empty());
        let counts = ring.counts();
        assert!(counts.ring_drops > 100 && counts.ring_full > 0, "{counts:?}");
        assert_eq!(counts.packets, packets.len() as u64);
        // Then it goes on.
        let drops = counts.ring_drops;
        send(to, 10);
        assert_eq!(ends(&take(&mut ring, |packets| ends(packets) >= 2)), 2);
        assert_eq!(ring.counts().ring_drops, drops);
    });
}

#[test]
fn an_interface_may_go_down_and_up_and_away() {
    in_namespace(|| {
        let there = Other::new();
        veth(&there);
        let to = there.run(|| server("10.1.0.2:0"));
        let mut ring = open(&["left"]);
        ip("link set left down");
        assert!(ring.next_block(Duration::from_millis(100)).unwrap().is_none());
        ip("link set left up");
        send(to, 10);
        assert_eq!(ends(&take(&mut ring, |packets| ends(packets) >= 2)), 2);
        let mut all = open(&[]);
        send(to, 10);
        ip("link delete left");
        // Earlier packets are handed out first.
        let mut shown = Vec::new();
        let gone = loop {
            match ring.next_block(Duration::from_secs(30)) {
                Ok(Some(mut block)) => shown.extend(block.packets().map(|packet| packet.length)),
                Ok(None) => {}
                Err(error) => break error,
            }
        };
        assert!(matches!(&gone, WatchError::Removed(name) if name == "left"), "{gone}");
        assert_eq!(gone.to_string(), "the interface `left` was removed");
        assert!(shown.len() >= 8, "{}", shown.len());
        // All interfaces are never gone.
        assert_eq!(ends(&take(&mut all, |packets| ends(packets) >= 2)), 2);
        ring.counts();
    });
}

#[test]
fn an_interface_is_promiscuous_only_when_asked() {
    in_namespace(|| {
        ip("link add dull type veth peer name peer");
        ip("link set dull up");
        let promiscuous = || {
            let output = Command::new("ip").args(["-d", "link", "show", "dull"]).output().unwrap();
            String::from_utf8(output.stdout).unwrap().contains("promiscuity 1")
        };
        let ring = open(&["dull"]);
        assert!(!promiscuous());
        drop(ring);
        let ring = Ring::open(&RingOptions { promiscuous: true, ..options(&["dull"]) }).unwrap();
        assert!(promiscuous());
        drop(ring);
        assert!(!promiscuous());
        drop(Ring::open(&RingOptions { promiscuous: true, ..options(&[]) }).unwrap());
    });
}
