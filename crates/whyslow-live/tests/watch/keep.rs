//! Files of chosen connections: their content, their notes on missing packets, and their size.

use crate::net::{in_namespace, ip, open, send, server};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use whyslow_analysis::Analysis;
use whyslow_live::watch::{
    Connection, ETHERNET, Keep, KeepOptions, Recorder, Ring, RingCounts, RingPacket, Saved, save_connection,
};

const OPTIONS: KeepOptions = KeepOptions { limit: None, snaplen: 128 };

/// A packet of the connection of this port, as the client sends it.
fn give(recorder: &mut Recorder, port: u16, time_ns: u64, flags: u8, payload: usize) {
    let mut bytes = vec![2; 12];
    bytes.extend([8, 0, 0x45, 0]);
    bytes.extend((40 + payload as u16).to_be_bytes());
    bytes.extend([0, 0, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    bytes.extend([port.to_be_bytes(), 80_u16.to_be_bytes()].concat());
    bytes.extend([0, 0, 0, 1, 0, 0, 0, 1, 0x50, flags, 0xff, 0xff, 0, 0, 0, 0]);
    bytes.resize(bytes.len() + payload, 0x55);
    let length = bytes.len() as u32;
    let packet = RingPacket {
        time_ns,
        link_type: ETHERNET,
        interface: 1,
        length,
        bytes: &bytes[..bytes.len().min(128)],
        segment_size: None,
        outgoing: true,
    };
    recorder.record(&packet, 1);
}

fn connection(port: u16) -> Connection {
    Connection::new(([10, 0, 0, 1], port).into(), ([10, 0, 0, 2], 80).into())
}

fn explained(file: &Path) -> Analysis {
    whyslow_diagnosis::explain::explain("kept.pcapng", &std::fs::read(file).unwrap()).unwrap()
}

/// How often a text stands in a file.
fn occurrences(file: &Path, text: &str) -> usize {
    let bytes = std::fs::read(file).unwrap();
    bytes.windows(text.len()).filter(|window| window == &text.as_bytes()).count()
}

#[test]
fn only_what_is_new_is_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("slow.pcapng");
    let mut recorder = Recorder::new(1 << 20).unwrap();
    let mut keep = Keep::create(path.clone(), OPTIONS).unwrap();
    give(&mut recorder, 1000, 1, 2, 0);
    for time in 2..10 {
        give(&mut recorder, 1000, time, 0x10, 100);
        give(&mut recorder, 2000, time, 0x10, 100);
    }
    let saved = keep.save(&mut recorder, &connection(1000), "nginx (pid 7): slow start").unwrap();
    assert_eq!(saved, Saved { packets: 9, missing: 0, has_handshake: true });
    assert_eq!(keep.save(&mut recorder, &connection(1000), "again").unwrap().packets, 0);
    give(&mut recorder, 1000, 10, 0x10, 100);
    assert_eq!(keep.save(&mut recorder, &connection(1000), "once more").unwrap().packets, 1);
    // Its beginning was never captured.
    let saved = keep.save(&mut recorder, &connection(2000), "").unwrap();
    assert_eq!(saved, Saved { packets: 8, missing: 0, has_handshake: false });
    assert_eq!(keep.save(&mut recorder, &connection(3000), "nobody").unwrap(), Saved::default());
    keep.set_counts(RingCounts { packets: 30, ring_drops: 5, interface_drops: 2, ..RingCounts::default() });
    keep.finish().unwrap();
    assert_eq!(
        [occurrences(&path, "nginx (pid 7): slow start"), occurrences(&path, "again"), occurrences(&path, "once more")],
        [1, 0, 1]
    );
    assert_eq!(occurrences(&path, "it is older than what was recorded"), 1);
    let analysis = explained(&path);
    assert_eq!(analysis.captures[0].packets, 18);
    let drops = analysis.captures[0].problems.iter().find(|problem| problem.slug == "dropped-by-capture").unwrap();
    assert_eq!(drops.count, 7);

    let alone = folder.path().join("one.pcapng");
    let saved = save_connection(&recorder, &connection(1000), || File::create(&alone), "asked for").unwrap().unwrap();
    assert_eq!(saved, Saved { packets: 10, missing: 0, has_handshake: true });
    assert_eq!(explained(&alone).captures[0].packets, 10);
    assert_eq!(save_connection(&recorder, &connection(3000), || File::create(&alone), "").unwrap(), None);
}

#[test]
fn a_file_never_exceeds_its_limit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("slow.pcapng");
    let previous = Keep::previous(&path);
    assert_eq!(previous, folder.path().join("slow.previous.pcapng"));
    let limit = 300_000;
    let mut recorder = Recorder::new(4 << 20).unwrap();
    let mut keep = Keep::create(path.clone(), KeepOptions { limit: Some(limit), ..OPTIONS }).unwrap();
    let mut largest = 0;
    for port in 1..60 {
        // One connection is larger than the whole file may be.
        let packets = if port == 30 { 3000 } else { 100 };
        give(&mut recorder, port, 1, 2, 0);
        (0..packets).for_each(|time| give(&mut recorder, port, 2 + time, 0x10, 60));
        let saved = keep.save(&mut recorder, &connection(port), "verdict").unwrap();
        assert_eq!(saved.packets + saved.missing, 1 + packets);
        assert_eq!(saved.missing > 0, port == 30);
        let size = |path: &Path| path.metadata().map_or(0, |metadata| metadata.len());
        largest = largest.max(size(&path) + size(&previous));
        // The handshake and a word on the rest.
        let text = format!("{} packets before are not kept", saved.missing);
        assert_eq!(occurrences(&path, &text), usize::from(port == 30));
    }
    keep.finish().unwrap();
    assert!(largest <= limit && largest > limit / 2, "{largest}");
    // Both are files by themselves; the newest connection is in the newest one.
    assert!(explained(&previous).captures[0].packets > 0);
    let analysis = explained(&path);
    assert!(analysis.captures[0].problems.iter().all(|problem| problem.slug != "torn-record"));
    assert!(analysis.connections.iter().any(|connection| connection.client.port == 59));
}

#[test]
fn a_failed_write_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let error = Keep::create(folder.path().join("nowhere/slow.pcapng"), OPTIONS).unwrap_err().to_string();
    assert_eq!(error, "the file for packets cannot be written: No such file or directory (os error 2)");
    let options = KeepOptions { limit: Some(1000), ..OPTIONS };
    let error = Keep::create(PathBuf::from("/nowhere/slow.pcapng"), options).unwrap_err().to_string();
    assert_eq!(error, "the size of the file is 1000 bytes: it must be at least 262144 bytes");
}

/// Records until both directions of this many connections have ended. Returns the connection of the
/// server's port.
fn record(ring: &mut Ring, recorder: &mut Recorder, to: std::net::SocketAddr) -> Connection {
    let mut found = None;
    let mut fins = 0;
    while fins < 2 {
        let Some(mut block) = ring.next_block(Duration::from_secs(30)).unwrap() else { panic!("it has ended") };
        for packet in block.packets() {
            recorder.record(&packet, 1);
            let port = |at: usize| u16::from_be_bytes([packet.bytes[at], packet.bytes[at + 1]]);
            fins += u32::from(packet.bytes[14 + 33] & 1);
            if port(34) != to.port() {
                found = Some(Connection::new(([127, 0, 0, 1], port(34)).into(), to));
            }
        }
    }
    found.unwrap()
}

#[test]
fn a_kept_connection_is_the_one_that_was_made() {
    in_namespace(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("slow.pcapng");
        let (mut ring, mut recorder) = (open(&["lo"]), Recorder::new(8 << 20).unwrap());
        let mut keep = Keep::create(path.clone(), OPTIONS).unwrap();
        let to = server("127.0.0.1:0");
        send(to, 300_000);
        let connection = record(&mut ring, &mut recorder, to);
        let saved = keep.save(&mut recorder, &connection, "test (pid 1): fine").unwrap();
        assert!(saved.has_handshake && saved.missing == 0, "{saved:?}");
        keep.set_counts(ring.counts());
        keep.finish().unwrap();
        let analysis = explained(&path);
        let [found] = &analysis.connections[..] else { panic!("{} connections", analysis.connections.len()) };
        assert_eq!(found.server.port, to.port());
        assert_eq!(found.transfers[0].bytes, 300_000);
        assert!(found.handshake.is_some());
        if whyslow_testing::tools(&["tshark"]) {
            let fields = ["-T", "fields", "-e", "frame.interface_name", "-e", "frame.comment", "-e", "tcp.flags.syn"];
            let output = Command::new("tshark").arg("-r").arg(&path).args(fields).output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            assert_eq!(text.lines().count() as u64, saved.packets, "{}", String::from_utf8_lossy(&output.stderr));
            assert!(text.starts_with("lo\ttest (pid 1): fine\t"), "{text}");
        }
    });
}

#[test]
fn what_fell_out_of_memory_is_not_blamed_on_the_network() {
    in_namespace(|| {
        if !whyslow_testing::tools(&["ethtool"]) {
            return;
        }
        // Packets as on a wire, so that there are many.
        ip("link set lo mtu 1500");
        Command::new("ethtool").args(["-K", "lo", "tso", "off", "gso", "off", "gro", "off"]).output().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("slow.pcapng");
        let (mut ring, mut recorder) = (open(&["lo"]), Recorder::new(1 << 20).unwrap());
        let to = server("127.0.0.1:0");
        send(to, 12_000_000);
        let connection = record(&mut ring, &mut recorder, to);
        let mut keep = Keep::create(path.clone(), OPTIONS).unwrap();
        let saved = keep.save(&mut recorder, &connection, "test").unwrap();
        keep.finish().unwrap();
        assert!(saved.has_handshake && saved.missing > 1000, "{saved:?}");
        assert_eq!(occurrences(&path, &format!("{} packets before are not kept", saved.missing)), 1);
        let analysis = explained(&path);
        let causes: Vec<_> = analysis.connections[0].transfers.iter().flat_map(|transfer| &transfer.findings).collect();
        assert!(causes.iter().all(|finding| finding.cause.slug() != "loss"), "{causes:?}");
        let problems: Vec<_> = analysis.connections[0].problems.iter().map(|problem| problem.slug.as_str()).collect();
        assert!(problems.contains(&"capture-loss"), "{problems:?}");
    });
}
