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
