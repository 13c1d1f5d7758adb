//! Problems of a capture: packets that belong to no connection, or were damaged.

use super::*;
use whyslow_analysis::{Fate, ProblemDetail};

#[test]
fn packet_that_is_not_a_segment_is_counted_once() {
    let mut packets = record(&[Step { connection: 1, kind: 0, after: Nanos::ZERO }; 3]);
    // One is UDP, and one's TCP header is too short to be one.
    packets[1].bytes[23] = 17;
    packets[2].bytes[46] = 0x40;
    for count in [1, 2, 8] {
        let analysis = explained(&packets, &[], count).finish().0;
        let capture = &analysis.captures[0];
        assert_eq!(capture.tcp_packets, 1);
        let problems: Vec<_> = capture.problems.iter().map(|problem| (&*problem.slug, problem.count)).collect();
        assert_eq!(problems, [("malformed-packet", 1)]);
    }
}

/// A download whose packets were captured whole, their checksums right.
fn summed() -> Vec<Recorded> {
    let kinds = [[0, 1, 9, 2].as_slice(), &[10, 10, 9].repeat(20)].concat();
    let after = Nanos::from_millis(1);
    let steps: Vec<_> = kinds.into_iter().map(|kind| Step { connection: 1, kind, after }).collect();
    let mut packets = record(&steps);
    for packet in &mut packets {
        packet.bytes.resize(packet.len as usize, b'x');
        let fill = |bytes: &mut [u8], at: usize, pseudo: u64| {
            let sum: u64 =
                bytes.chunks(2).map(|two| u64::from(two[0]) << 8 | two.get(1).map_or(0, |low| u64::from(*low))).sum();
            let sum = (sum + pseudo) % 0xffff;
            bytes[at..at + 2].copy_from_slice(&(0xffff - sum as u16).to_be_bytes());
        };
        let pseudo = packet.bytes[26..34].chunks(2).map(|two| u64::from(two[0]) << 8 | u64::from(two[1])).sum::<u64>();
        fill(&mut packet.bytes[14..34], 10, 0);
        fill(&mut packet.bytes[34..], 16, pseudo + 6 + u64::from(packet.len - 34));
    }
    packets
}

#[test]
fn damaged_packet_is_not_a_connection() {
    let whole = explained(&summed(), &[], 1).finish().0;
    assert_eq!((whole.connections.len(), whole.captures[0].problems.len()), (1, 0));
    // The version of IP stands; an address, a port, of a segment with payload and of one without.
    for (place, byte) in [(40, 26), (40, 33), (40, 35), (42, 30), (42, 36)] {
        let mut packets = summed();
        packets[place].bytes[byte] ^= 0x10;
        for count in [1, 2, 8] {
            let analysis = explained(&packets, &[], count).finish().0;
            assert_eq!(analysis.connections.len(), 1, "{place}, {byte}");
            let problems = &analysis.captures[0].problems;
            let outcome: Vec<_> = problems.iter().map(|problem| (&*problem.slug, problem.count)).collect();
            assert_eq!(outcome, [("damaged-packets", 1)]);
        }
    }
}

#[test]
fn rewritten_packets_are_analysed_as_before() {
    let outcome = |packets: &[Recorded]| {
        let analysis = explained(packets, &[], 1).finish().0;
        let problems =
            analysis.captures[0].problems.iter().map(|problem| (problem.slug.clone(), problem.count)).collect();
        (format!("{:?}", analysis.connections[0].directions), analysis.connections.len(), problems)
    };
    let (whole, _, _): (_, _, Vec<(String, u64)>) = outcome(&summed());
    let mut packets = summed();
    for packet in &mut packets {
        packet.bytes[27] ^= 7;
        packet.bytes[31] ^= 7;
    }
    // 23 ACKs and SYNs; segments with payload are not summed.
    assert_eq!(outcome(&packets), (whole.clone(), 1, vec![("bad-checksums".to_owned(), 23)]));
    // A router corrected TCP's checksum and not IP's.
    let mut routed = summed();
    routed.iter_mut().for_each(|packet| packet.bytes[22] -= 1);
    assert_eq!(outcome(&routed), (whole, 1, Vec::new()));
}

#[test]
fn fully_damaged_connection_counts_if_others_are_too() {
    let mut packets = record(&[Step { connection: 1, kind: 0, after: Nanos::ZERO }; 3]);
    packets.iter_mut().for_each(|packet| packet.bytes[50..52].fill(7));
    let analysis = explained(&packets, &[], 1).finish().0;
    assert_eq!(analysis.connections.len(), 3);
}

#[test]
fn icmp_errors_belong_to_the_quoted_connection() {
    let mut packets =
        record(&[0, 1, 9, 2, 10, 10, 9].map(|kind| Step { connection: 1, kind, after: Nanos::from_millis(1) }));
    // ICMP errors about a segment of the client in flight, one of the server twice, and one of no
    // connection; again about the client's, which is acknowledged by then; and one that was cut
    // before the ports.
    let (request, answer) = (&packets[3], &packets[4]);
    let of_client = error(request, [11, 0], 0);
    let of_server = [(); 2].map(|()| error(answer, [3, 4], 1400));
    let mut unmatched = error(request, [3, 1], 0);
    unmatched.bytes[14 + 28 + 19] ^= 0x40;
    let late = error(request, [3, 1], 0);
    let mut cut = error(request, [3, 1], 0);
    cut.bytes.truncate(14 + 28 + 22);
    let [first, second] = of_server;
    packets.splice(5..5, [first, second, unmatched, late, cut]);
    packets.insert(4, of_client);
    for count in [1, 2, 8] {
        let analysis = explained(&packets, &[], count).finish().0;
        let [connection] = &analysis.connections[..] else { panic!("one connection") };
        let about = |error: &IcmpError| (error.kind, error.about.index(), error.mtu, error.count, error.frame.number);
        let outcome: Vec<_> = connection.icmp.iter().map(about).collect();
        let too_big = Fate::TooBig(Some(1400));
        assert_eq!(outcome, [(Fate::TimeExceeded, 0, None, 1, 5), (too_big, 1, Some(1400), 2, 7)]);
        assert_eq!((connection.icmp_total, connection.icmp[1].size, connection.icmp[1].obeyed), (3, Some(1040), None));
        assert_eq!(connection.icmp[1].by, "10.9.9.9");
        let unmatched = analysis.captures[0].problems.iter().filter(|problem| problem.slug == "icmp-unmatched");
        let unmatched: Vec<_> = unmatched.map(|problem| (problem.count, problem.detail.clone())).collect();
        assert_eq!(unmatched.len(), 3, "{unmatched:?}");
        assert!(unmatched.iter().all(|(count, _)| *count == 1), "{unmatched:?}");
        let first = |detail: &ProblemDetail| match detail {
            ProblemDetail::IcmpUnmatched { first, .. } => first.to_string(),
            ProblemDetail::Text { text } => text.clone(),
            other => panic!("{other:?}"),
        };
        let firsts: Vec<String> = unmatched.iter().map(|(_, detail)| first(detail)).collect();
        for frame in ["9", "10"] {
            assert!(firsts.iter().any(|first| first == frame), "{frame}: {firsts:?}");
        }
        assert!(firsts.iter().any(|first| first.ends_with("first in frame 11)")), "{firsts:?}");
        assert_eq!(analysis.captures[0].tcp_packets, 7);
    }
}

#[test]
fn evicted_connection_gets_no_icmp_error() {
    let step = |kind, after| Step { connection: 1, kind, after: Nanos::from_millis(after) };
    let mut packets = record(&[step(0, 0), step(1, 1), step(9, 1), step(6, 1)]);
    // Connections that were reset leave after a minute; it is looked for them when segments come.
    let reset = packets[2].time;
    let late = |about: usize, seconds: i64| {
        let mut late = error(&packets[about], [3, 1], 0);
        late.time = reset + Nanos::from_millis(1000 * seconds);
        late
    };
    let errors = [late(2, 10), late(2, 90)];
    let mut other = record(&[Step { connection: 2, kind: 0, after: Nanos::ZERO }]).remove(0);
    other.time = reset + Nanos::from_millis(80_000);
    let [early, late] = errors;
    packets.extend([early, other, late]);
    let analysis = explained(&packets, &[], 1).finish().0;
    assert_eq!(analysis.connections[0].icmp_total, 1);
    assert!(analysis.captures[0].problems.iter().any(|problem| problem.slug == "icmp-unmatched" && problem.count == 1));
}
