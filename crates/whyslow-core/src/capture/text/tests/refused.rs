//! Rejected texts, and the reasons.

use super::*;

#[track_caller]
fn refusal(text: &str) -> CaptureError {
    match try_read(text.as_bytes(), usize::MAX) {
        Ok(read) => panic!("{} packets of {text}", read.packets.len()),
        Err(error) => error,
    }
}

#[test]
fn quiet_output_is_rejected() {
    for text in [
        "10:00:00.01 IP 192.0.2.1.9 > 192.0.2.2.80: tcp 0\n",
        "IP6 2001:db8::1.60382 > 2001:db8::2.https: tcp 100\n",
        "10:00:00.01 IP (tos 0x0, ttl 4, id 8, offset 0, flags [DF], proto TCP (6), length 60)\n    a.9 > b.80: tcp 0\n",
        "10:00:00.01 IP 192.0.2.3.9 > 192.0.2.2.53: UDP, length 9\n10:00:00.01 192.0.2.1.9 > 192.0.2.2.80: tcp 0 (DF)\n",
    ] {
        let error = refusal(text);
        assert!(error.message.contains("rerun tcpdump without -q"), "{error}");
    }
    let error = refusal("two\nlines\n10:00:00.01 IP 192.0.2.1.9 > 192.0.2.2.80: tcp 0\n");
    assert_eq!(error.offset, 10);
    assert!(error.message.contains("line 3"));
}

#[test]
fn exports_of_other_formats_are_named() {
    for (text, name) in [
        ("[\n  {\n    \"_index\": \"packets-2026-01-05\",\n    \"_source\": {\n", "-T json"),
        ("<?xml version=\"1.0\"?>\n<pdml version=\"0\">\n<packet>\n", "PDML"),
        ("ESTAB 0 0 192.0.2.1:80 192.0.2.2:4000\n\t cubic rto:204 rtt:3.5/1 mss:1448 cwnd:10\n", "whyslow host"),
    ] {
        let error = refusal(text);
        assert!(error.message.contains(name) && error.message.contains("FILE"), "{error}");
    }
}

#[test]
fn text_without_packets_is_rejected() {
    for text in ["", "hello\n", "the time is 10:00:00 IP > x\n", "16:54:06.286416 write(3, \"abc\", 3) = 3\n", "...\n"]
    {
        let error = refusal(text);
        assert!(error.message.contains("no packet was found") && error.message.contains("Flags [S]"), "{error}");
        assert_eq!(error.offset, text.len() as u64);
    }
}

#[test]
fn quiet_output_is_read_where_routers_report_its_segments_as_too_big() {
    let line = |at: &str, rest: &str| format!("10:00:{at} IP {rest}\n");
    let data = |at: &str, length: u32| line(at, &format!("192.0.2.1.4000 > 192.0.2.2.22: tcp {length}"));
    let error =
        |at: &str| line(at, "192.0.2.9 > 192.0.2.1: ICMP 192.0.2.2 unreachable - need to frag (mtu 1400), length 556");
    let ack = |at: &str, length: u32| line(at, &format!("192.0.2.2.22 > 192.0.2.1.4000: tcp {length}"));
    let text = [
        ack("00.000000", 100),
        data("00.001000", 1460),
        data("00.001010", 1460),
        error("00.002000"),
        error("00.002010"),
        // A timeout retransmits the first segment, then the sender accepts the error.
        data("00.300000", 1460),
        error("00.301000"),
        data("00.301100", 1360),
        data("00.301110", 100),
        ack("00.310000", 0),
    ];
    let read = read(&text.concat());
    let numbers: Vec<_> = read.segments().iter().map(|segment| (segment.seq, segment.len, segment.ack)).collect();
    let sent = [(1, 1460, 101), (1461, 1460, 101), (1, 1460, 101), (1, 1360, 101), (1361, 100, 101)];
    assert_eq!(numbers.first(), Some(&(1, 100, 1)));
    assert_eq!(numbers.get(1..6).unwrap(), sent);
    assert_eq!(numbers.last(), Some(&(101, 0, 1461)));
    assert_eq!((read.packets.len(), read.count("inferred-info")), (10, 7));
    // An error about another host's segments is not about these.
    let other = text.concat().replace("> 192.0.2.1: ICMP", "> 192.0.2.7: ICMP");
    assert!(refusal(&other).message.contains("rerun tcpdump without -q"));
    // A long text without an error is rejected as well.
    assert!(refusal(&data("00.001000", 1460).repeat(600)).message.contains("line 1: "));
}
