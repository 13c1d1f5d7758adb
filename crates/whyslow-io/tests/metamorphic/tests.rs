//! One test for each transformation, with a table of the verdicts that it changes.

use super::packets::{Capture, Headers, Packet, checksum, read, written};
use super::transform::{self, ALL, Takes};
use super::verdict::{Change, session_cost, verdict};
use super::{Changes, WHOLE, Whole, samples, session};

fn assert_stays(name: &str) {
    let transformation = ALL.iter().find(|one| one.name == name).unwrap();
    Changes::of(transformation).assert_few(name);
}

macro_rules! transformations {
    ($($test:ident $name:literal,)*) => {
        $(#[test]
        fn $test() {
            assert_stays($name);
        })*
        #[test]
        fn every_transformation_has_a_test() {
            assert!(ALL.iter().map(|one| one.name).eq([$($name),*]));
        }
    };
}

transformations! {
    head_cut_by_a_tenth "first 10 % of the packets cut",
    head_cut_by_a_third "first 30 % of the packets cut",
    tail_cut_by_a_tenth "last 10 % of the packets cut",
    tail_cut_by_a_third "last 30 % of the packets cut",
    snaplen_64 "64 bytes per packet",
    snaplen_96 "96 bytes per packet",
    snaplen_128 "128 bytes per packet",
    blanked "payload and checksums blanked",
    anonymised "other addresses and ephemeral ports",
    anonymised_without_checksums "other addresses, checksums unchanged",
    anonymised_with_all_ports "other addresses and ports",
    idle_around "idle time before and after",
    closed_later "closed a minute later",
    merged "merged with an idle session",
    dropped "1 % of the packets not captured",
    coalesced "segments merged as TSO and GRO do",
    jittered "file order jittered",
}

#[test]
fn verdicts_stay_over_all_transformations() {
    let (mut all, mut right, mut rows) = (0, 0, Vec::new());
    for transformation in ALL {
        let changes = Changes::of(transformation);
        let (judged, of_them) = changes.right();
        (all, right) = (all + judged, right + of_them);
        rows.push(changes.row(transformation.name));
    }
    println!("| transformed | captures | stays | less sure | another cause | another certain | right |");
    println!("|---|---|---|---|---|---|---|\n{}", rows.join("\n"));
    assert!(right as f64 >= super::LEAST * all as f64, "{right} of {all} verdicts stay or become less sure");
}

#[test]
fn other_end_of_the_path() {
    let mut changes = Changes::default();
    for Whole { name, verdict: client, .. } in WHOLE.iter() {
        let other = name.strip_suffix("client.pcap").map(|start| format!("{start}server.pcap"));
        let Some(Whole { verdict: server, .. }) = WHOLE.iter().find(|one| Some(&one.name) == other.as_ref()) else {
            continue;
        };
        // Either end may be the one that sees less.
        let change = Change::between(client, server, Takes::Evidence);
        let change = change.min(Change::between(server, client, Takes::Evidence));
        changes.add(change, || format!("{name}: {client}, at the server {server}"));
    }
    changes.assert_few("the other end of the path");
}

#[test]
fn merged_session_is_not_slow() {
    let wrong: Vec<_> = super::parallel(&WHOLE, |Whole { name, capture, .. }| {
        let packets = transform::next_to_a_session(capture);
        session_cost(capture.link, &packets).map(|wrong| format!("{name}: {wrong}"))
    });
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn sample() -> Capture {
    read(&samples().join("slow-start-client.pcap")).unwrap()
}

/// Whether the IP and the TCP checksum are right.
fn sums(capture: &Capture, packet: &Packet) -> (bool, bool) {
    let headers = Headers::of(capture.link, &packet.bytes).unwrap();
    let (bytes, tcp) = (&packet.bytes, headers.tcp);
    let length = ((bytes.len() - tcp) as u16).to_be_bytes();
    let addresses = &bytes[headers.ip + 12..headers.ip + 20];
    (checksum(&[&bytes[headers.ip..tcp]]) == [0, 0], checksum(&[addresses, &[0, 6], &length, &bytes[tcp..]]) == [0, 0])
}

#[test]
fn packets_are_written_as_they_were_read() {
    let capture = sample();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("again.pcap");
    std::fs::write(&file, written(capture.link, &capture.packets)).unwrap();
    assert_eq!(read(&file).unwrap().packets, capture.packets);
}

#[test]
fn transformations_change_the_named_property() {
    let session = session::idle_ssh(1, 1_700_000_000_000_000_000, 1_700_000_030_000_000_000).unwrap();
    let capture = Capture { link: 1, packets: session };
    let all = |packets: &[Packet], expected| packets.iter().all(|packet| sums(&capture, packet) == expected);
    assert!(all(&capture.packets, (true, true)));
    assert!(all(&transform::anonymised(&capture), (true, true)));
    assert!(all(&transform::anonymised_with_all_ports(&capture), (true, true)));
    assert!(all(&transform::anonymised_without_checksums(&capture), (false, false)));
    assert!(transform::snapped(&capture, 64).iter().all(|one| one.bytes.len() <= 64 && one.length >= 54));
    assert!(transform::blanked(&capture).iter().all(|packet| !packet.bytes[54..].contains(&b'k')));
    let packets = capture.packets.len();
    assert_eq!(transform::head_cut(&capture, 10), capture.packets[packets / 10..]);
    assert_eq!(transform::tail_cut(&capture, 30), capture.packets[..packets - packets * 30 / 100]);
    assert_eq!(transform::idle_around(&capture).len(), packets + 2);
}

#[test]
fn coalesced_segments_carry_the_same_bytes() {
    let capture = read(&samples().join("healthy-server.pcap")).unwrap();
    let coalesced = transform::coalesced(&capture);
    let payload = |packets: &[Packet]| -> usize {
        let headers = packets.iter().filter_map(|packet| Headers::of(capture.link, &packet.bytes));
        headers.map(|headers| headers.end - headers.payload).sum()
    };
    assert!(coalesced.len() < capture.packets.len());
    assert_eq!(payload(&coalesced), payload(&capture.packets));
}

#[test]
fn closed_later_moves_the_end_alone() {
    let capture = sample();
    let later = transform::closed_later(&capture);
    let moved = later.iter().zip(&capture.packets).filter(|(a, b)| a.time != b.time).count();
    assert!((1..10).contains(&moved), "{moved}");
}

#[test]
fn another_certain_cause_is_recognised() {
    let of = |name: &str| {
        let capture = read(&samples().join(name)).unwrap();
        verdict(capture.link, &capture.packets).unwrap()
    };
    let [slow_start, timeout] = ["slow-start-client.pcap", "timeout-server.pcap"].map(of);
    assert_eq!(Change::between(&slow_start, &timeout, Takes::Evidence), Change::OtherCertain);
    assert_eq!(Change::between(&slow_start, &slow_start, Takes::Nothing), Change::Stays);
    let nothing = Default::default();
    assert_eq!(Change::between(&slow_start, &nothing, Takes::Nothing), Change::LessSure);
    assert_eq!(Change::between(&nothing, &timeout, Takes::Time), Change::OtherCertain);
}
