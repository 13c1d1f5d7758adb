//! Links: what was decided is what arrives.

use whyslow_lab::link::config::{Conditions, Discipline, Loss, Mtu, Queue, QueueLimit};
use whyslow_lab::log::{Counts, Direction, Fate, LinkLog};
use whyslow_lab::net::config::{Host, PortKind};
use whyslow_lab::net::{Outcome, Path, Tap};
use whyslow_testing::Lack;

use crate::capture::{self, Packet};
use crate::{config, delay, download};

fn log(outcome: &Outcome, direction: Direction) -> &LinkLog {
    outcome.links.iter().find(|log| log.direction == direction).unwrap()
}

fn down(outcome: &Outcome) -> Counts {
    log(outcome, Direction::Down).counts
}

fn counter(path: &Path, host: Host, name: &str) -> u64 {
    path.counters(host).unwrap()[name]
}

pub fn both_captures_and_the_log_agree() {
    let folder = tempfile::tempdir().unwrap();
    let link = Conditions { rate_bps: Some(20_000_000), loss: Loss::DataPackets(vec![20, 50]), ..delay(10) };
    let mut path = Path::build(&config(delay(10), link)).unwrap();
    let tap = |host: Host, snaplen| Tap { host, is_far: false, file: folder.path().join(host.name()), snaplen };
    path.start(&[tap(Host::Client, 65_535), tap(Host::Server, 100)]).unwrap();
    download(&path, 200_000).unwrap();
    let outcome = path.stop().unwrap();
    assert_eq!(outcome.drops.total(), 0, "{:?}", outcome.drops);

    let log = log(&outcome, Direction::Down);
    assert_eq!(log.records.iter().filter(|record| record.fate == Fate::Lost).count(), 2);
    assert_eq!(log.counts.dropped_data, 2);
    assert_eq!(counter(&path, Host::Server, "Tcp:RetransSegs"), 2);

    let captured = |host: Host| capture::read(&folder.path().join(host.name()));
    let (client, server) = (captured(Host::Client), captured(Host::Server));
    let from_server = |packet: &&Packet| packet.source == [10, 77, 0, 2];
    let sent: Vec<&Packet> = server.iter().filter(from_server).collect();
    let arrived: Vec<&Packet> = client.iter().filter(from_server).collect();
    let seen = |log: &LinkLog, passed_only: bool| -> Vec<(u32, u32)> {
        let kept = log.records.iter().filter(|record| !passed_only || record.fate == Fate::Passed);
        kept.map(|record| (record.meta.seq, record.meta.payload_bytes)).collect()
    };
    let of = |packets: &[&Packet]| packets.iter().map(|packet| (packet.seq, packet.payload)).collect::<Vec<_>>();
    assert_eq!(of(&sent), seen(log, false), "the server's capture is what reached the link");
    assert_eq!(of(&arrived), seen(log, true), "the client's capture is what left it");
    assert!(client.iter().all(|packet| packet.is_right == Some(true)), "checksums are right");
    assert!(sent.iter().all(|packet| packet.original <= 1514), "no super-packets");
    assert!(sent.iter().any(|packet| packet.original == 1514 && packet.is_right.is_none()), "cut at the snaplen");
    // The log's clock and the captures' are the same; the link takes the delay and the time on the
    // wire.
    let epoch = path.epoch().realtime_ns;
    for (packet, record) in sent.iter().zip(&log.records) {
        assert!((packet.at_ns - epoch).abs_diff(record.in_ns) < 2_000_000, "{} and {}", packet.at_ns, record.in_ns);
    }
    for record in log.records.iter().filter(|record| record.fate == Fate::Passed) {
        assert!(record.due_ns - record.in_ns >= 10_000_000 + u64::from(record.meta.wire_bytes) * 8 * 50);
        assert!(record.out_ns >= record.due_ns);
    }
}

pub fn a_corrupted_packet_fails_its_checksum() {
    let mut path = Path::build(&config(delay(1), Conditions { corrupt: 0.02, ..delay(1) })).unwrap();
    path.start(&[]).unwrap();
    download(&path, 1_000_000).unwrap();
    let corrupted = down(&path.stop().unwrap()).corrupted;
    assert!(corrupted > 5, "{corrupted}");
    assert_eq!(counter(&path, Host::Client, "Tcp:InCsumErrors"), corrupted);
    assert!(counter(&path, Host::Server, "Tcp:RetransSegs") >= corrupted);
}

pub fn marks_arrive() {
    let queue = Queue {
        limit: QueueLimit::Packets(1000),
        discipline: Discipline::Red { min_bytes: 10_000, max_bytes: 40_000, max_share: 0.2, weight: 0.1 },
    };
    let link = Conditions { rate_bps: Some(20_000_000), queue, ecn: true, ..delay(5) };
    let mut config = config(delay(5), link);
    config.client.sysctls.insert("net.ipv4.tcp_ecn".to_owned(), "1".to_owned());
    let mut path = Path::build(&config).unwrap();
    path.start(&[]).unwrap();
    download(&path, 1_000_000).unwrap();
    let counts = down(&path.stop().unwrap());
    assert!(counts.marked > 3, "{counts:?}");
    assert_eq!(counter(&path, Host::Client, "IpExt:InCEPkts"), counts.marked);
}

pub fn a_small_mtu_sends_icmp_or_is_a_black_hole() {
    let link = |icmp| Conditions { mtu: Some(Mtu { bytes: 1300, icmp }), ..delay(1) };
    let mut path = Path::build(&config(delay(1), link(true))).unwrap();
    path.start(&[]).unwrap();
    download(&path, 200_000).unwrap();
    let stopped = path.stop().unwrap();
    assert!(down(&stopped).too_big > 0);
    let largest = log(&stopped, Direction::Down).records.iter().filter(|record| record.fate == Fate::Passed);
    assert_eq!(largest.map(|record| record.meta.ip_bytes).max(), Some(1300), "the sender has learnt");
    assert!(counter(&path, Host::Server, "Icmp:InDestUnreachs") > 0);

    let mut path = Path::build(&config(delay(1), link(false))).unwrap();
    path.start(&[]).unwrap();
    assert!(download(&path, 200_000).is_err(), "nothing larger gets through, and nobody is told");
    let silent = path.stop().unwrap();
    assert!(down(&silent).too_big > 1);
    assert_eq!(counter(&path, Host::Server, "Icmp:InDestUnreachs"), 0);
}

pub fn super_packets_are_decided_on_segment_by_segment() {
    for fast in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let link = Conditions { loss: Loss::DataPackets(vec![30, 31, 77]), ..delay(5) };
        let mut config = config(delay(5), link);
        config.server.tso = true;
        config.emulator.fast = fast;
        let mut path = Path::build(&config).unwrap();
        let tap = |host: Host| Tap { host, is_far: false, file: folder.path().join(host.name()), snaplen: 200 };
        path.start(&[tap(Host::Client), tap(Host::Server)]).unwrap();
        download(&path, 1_000_000).unwrap();
        let outcome = path.stop().unwrap();
        let log = log(&outcome, Direction::Down);
        assert!(log.records.iter().all(|record| record.meta.ip_bytes <= 1500), "each record is a segment");
        assert_eq!((log.counts.lost, log.counts.dropped_data), (3, 3));
        // A machine that holds packets back makes the sender repeat some for nothing.
        assert!(counter(&path, Host::Server, "Tcp:RetransSegs") >= 3);
        let largest = |host: Host| {
            let packets = capture::read(&folder.path().join(host.name()));
            packets.iter().filter(|packet| packet.source == [10, 77, 0, 2]).map(|packet| packet.original).max()
        };
        assert!(largest(Host::Server) > Some(1514), "the server's capture shows what its stack handed over");
        assert_eq!(
            largest(Host::Client) > Some(1514),
            fast,
            "fast mode keeps neighbours together: {:?}",
            largest(Host::Client)
        );
    }
}

pub fn a_path_can_be_started_again() {
    let mut path = Path::build(&config(delay(2), delay(2))).unwrap();
    let mut arrived = Vec::new();
    for _ in 0..2 {
        path.start(&[]).unwrap();
        assert!(path.start(&[]).is_err(), "it is running");
        download(&path, 100_000).unwrap();
        arrived.push(down(&path.stop().unwrap()).arrived_bytes);
    }
    assert!(arrived.iter().all(|bytes| (100_000..150_000).contains(bytes)), "each log begins anew: {arrived:?}");
    assert!(path.stop().is_err(), "it is not running");
}

pub fn a_tap_device_carries_the_same() {
    if let Err(error) = std::fs::OpenOptions::new().read(true).write(true).open("/dev/net/tun") {
        whyslow_testing::skip(Lack::Device, format!("/dev/net/tun: {error}"));
        return;
    }
    for tso in [false, true] {
        let link = Conditions { loss: Loss::DataPackets(vec![30]), ..delay(5) };
        let mut config = config(delay(5), link);
        config.emulator.port = PortKind::Tun;
        config.server.tso = tso;
        let mut path = Path::build(&config).unwrap();
        path.start(&[]).unwrap();
        let took = download(&path, 500_000).unwrap();
        let outcome = path.stop().unwrap();
        assert_eq!((down(&outcome).lost, outcome.drops.total()), (1, 0), "{:?}", outcome.drops);
        assert!(took.as_millis() >= 60, "six rounds of 10 ms: {took:?}");
    }
}
