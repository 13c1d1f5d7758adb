//! Summary lines, read and rewritten.
#![allow(clippy::unwrap_used)]

use super::*;

const SYN: &str = "1 0.000000000 192.0.2.1 → 192.0.2.2 TCP 74 4000 → 443 [SYN] Seq=0 Win=64240 Len=0 MSS=1460 SACK_PERM \
                   TSval=7 TSecr=0 WS=128";
const SYN_ACK: &str = "2 0.020000000 192.0.2.2 → 192.0.2.1 TCP 74 443 → 4000 [SYN, ACK] Seq=0 Ack=1 Win=65160 Len=0 \
                       MSS=1460 SACK_PERM=1 TSval=9 TSecr=7 WS=256";
const ACK: &str =
    "3 0.020100000 192.0.2.1 → 192.0.2.2 TCP 66 4000 → 443 [ACK] Seq=1 Ack=1 Win=64256 Len=0 TSval=27 TSecr=9";

/// The lines in tcpdump's form; empty for one that is not certainly a segment.
fn rewritten(lines: &[&str]) -> Vec<(String, Option<bool>)> {
    let mut conversations = SummaryConversations::new();
    let mut rewrite = |line: &&str| {
        let line = SummaryLine::read_tcp(line).or_else(|| SummaryLine::read_other(line)).unwrap();
        let mut words = String::new();
        let rewritten = conversations.rewrite(&line, &mut words);
        (words, rewritten.map(|rewritten| rewritten.after_gap))
    };
    lines.iter().map(&mut rewrite).collect()
}

#[test]
fn a_segment_is_written_as_tcpdump_prints_it() {
    let words: Vec<_> = rewritten(&[SYN, SYN_ACK, ACK]).into_iter().map(|(words, _)| words).collect();
    let expected = [
        "IP 192.0.2.1.4000 > 192.0.2.2.443: Flags [S], seq 0, win 64240, options [mss 1460,sackOK,nop,nop,TS val 7 ecr \
         0,nop,wscale 7], length 0",
        "IP 192.0.2.2.443 > 192.0.2.1.4000: Flags [S.], seq 0, ack 1, win 65160, options [mss 1460,sackOK,nop,nop,TS \
         val 9 ecr 7,nop,wscale 8], length 0",
        "IP 192.0.2.1.4000 > 192.0.2.2.443: Flags [.], seq 1, ack 1, win 502, options [nop,nop,TS val 27 ecr 9], \
         length 0",
    ];
    assert_eq!(words, expected);
}

#[test]
fn every_form_of_the_columns_is_read() {
    let expected = SummaryLine::read_tcp(ACK).unwrap();
    for line in [
        ACK.replace('→', "->"),
        ACK.replace("4000 → 443", "4000→443"),
        ACK.replace("4000 → 443", "4000 > 443"),
        ACK.replace("192.0.2.1 → 192.0.2.2", "192.0.2.1             192.0.2.2            "),
        ACK.replace("3 0.02", "    3   0.02"),
        ACK.replace("3 0.02", "> > 3 0.02"),
        ACK.replace("TSecr=9", "TSecr=9[Packet size limited during capture]"),
        format!("{ACK} [TCP segment of a reassembled PDU]"),
    ] {
        assert_eq!(SummaryLine::read_tcp(&line).unwrap(), expected, "{line}");
    }
    let with_notes = ACK.replace("4000 →", "[TCP Retransmission] [TCP Port numbers reused] 4000 →");
    let read = SummaryLine::read_tcp(&with_notes).unwrap();
    let Info::Tcp(tcp) = &read.info else { panic!("{read:?}") };
    assert_eq!(tcp.notes.trim(), "[TCP Retransmission] [TCP Port numbers reused]");
    assert_eq!((read.src, read.protocol, read.frame_len, tcp.src_port), ("192.0.2.1", "TCP", Some(66), "4000"));
}

#[test]
fn every_form_of_the_time_is_read() {
    let time = |text: &str| SummaryLine::read_tcp(&ACK.replace("0.020100000", text)).unwrap().time;
    assert_eq!(time("0.020100"), Some(TextTime::Elapsed(20_100_000)));
    assert_eq!(time("1658816767.020100"), Some(TextTime::Epoch(1_658_816_767_020_100_000)));
    assert_eq!(time("2022-07-26 06:26:07.020100"), Some(TextTime::Epoch(1_658_816_767_020_100_000)));
    assert_eq!(time("06:26:07.020100"), Some(TextTime::Day(23_167_020_100_000)));
    assert_eq!(SummaryLine::read_tcp(ACK.strip_prefix("3 0.020100000 ").unwrap()).unwrap().time, None);
}

#[test]
fn an_old_scale_is_a_shift() {
    let scale = |text: &str| match SummaryLine::read_tcp(&SYN.replace("TSval=7 TSecr=0 WS=128", text)).unwrap().info {
        Info::Tcp(tcp) => tcp.scale,
        Info::Other(_) => None,
    };
    assert_eq!(scale("TSV=7 TSER=0 WS=2"), Some(2));
    assert_eq!(scale("WS=2"), Some(1));
    assert_eq!(scale("WS=7"), Some(7));
    assert_eq!(scale("WS=0"), Some(0));
    assert_eq!(scale(""), None);
}

#[test]
fn prose_is_not_a_summary_line() {
    for line in [
        "The time was 0.5 then Seq=1 Ack=2 Win=3 Len=0",
        "10:00:00.000000 IP 192.0.2.1.4 > 192.0.2.2.80: Flags [S], seq 5, win 7, length 0",
        "[SYN] Seq=0 Win=1 Len=0",
        "4000 → 443 [SYN] Seq=0 Win=1 Len=0",
        "",
    ] {
        assert_eq!(SummaryLine::read_tcp(line), None, "{line}");
    }
    for line in ["10:00:00.000000 IP 192.0.2.1.4 > 192.0.2.2.80: Flags [S]", "I saw 12 hosts today", "→ →", "1 2 3 4 5"]
    {
        assert_eq!(SummaryLine::read_other(line), None, "{line}");
    }
}

#[test]
fn packet_of_another_protocol_follows_the_last_byte() {
    let hello = "4 0.0202 192.0.2.1 → 192.0.2.2 TLSv1.3 291 Client Hello";
    let more = "5 0.0203 192.0.2.1 → 192.0.2.2 TLSv1.3 166 Application Data";
    let words = rewritten(&[SYN, SYN_ACK, ACK, hello, more]);
    let expected = "IP 192.0.2.1.4000 > 192.0.2.2.443: Flags [P.], seq 1:226, ack 1, win 502, length 225";
    assert_eq!(words[3], (expected.to_owned(), Some(false)));
    assert!(words[4].0.contains("seq 226:326, "), "{}", words[4].0);
    // With two connections between the hosts it is ambiguous; the position of a retransmission is
    // unknown.
    let other = SYN.replace("4000 →", "4001 →");
    assert_eq!(rewritten(&[SYN, SYN_ACK, ACK, &other, hello])[4], (String::new(), None));
    let again = "4 0.0202 192.0.2.1 → 192.0.2.2 TLSv1.3 291 [TCP Retransmission] , Client Hello";
    assert_eq!(rewritten(&[SYN, SYN_ACK, ACK, again])[3], (String::new(), None));
    assert_eq!(rewritten(&[hello])[0], (String::new(), None));
}

#[test]
fn gap_without_a_note_of_wireshark_is_one_of_the_text() {
    let data = |seq: u32, note: &str| {
        format!("9 0.3 192.0.2.1 → 192.0.2.2 TCP 1514 {note}4000 → 443 [ACK] Seq={seq} Ack=1 Win=64256 Len=1448")
    };
    let gap = |line: &str| rewritten(&[SYN, SYN_ACK, ACK, line])[3].1;
    assert_eq!(gap(&data(1, "")), Some(false));
    assert_eq!(gap(&data(1449, "")), Some(true));
    assert_eq!(gap(&data(1449, "[TCP Previous segment not captured] ")), Some(false));
    let ack = "9 0.3 192.0.2.2 → 192.0.2.1 TCP 66 443 → 4000 [ACK] Seq=1 Ack=1449 Win=64256 Len=0";
    assert_eq!(gap(ack), Some(true));
}

#[test]
fn a_later_connection_of_the_same_ends_has_other_numbers() {
    let again = SYN.replace("4000 →", "[TCP Port numbers reused] 4000 →");
    let words = rewritten(&[SYN, SYN_ACK, ACK, &again, SYN_ACK]);
    assert!(words[3].0.contains("seq 536870912, "), "{}", words[3].0);
    assert!(words[4].0.contains("seq 536870912, ack 536870913, "), "{}", words[4].0);
    let repeated = SYN.replace("4000 →", "[TCP Retransmission] 4000 →");
    assert!(rewritten(&[SYN, &repeated])[1].0.contains("seq 0, "));
}

#[test]
fn a_fragmentation_error_is_about_the_only_peer() {
    let icmp = "5 0.1 192.0.2.9 → 192.0.2.1 ICMP 70 Destination unreachable (Fragmentation needed)";
    let words = rewritten(&[SYN, SYN_ACK, icmp]);
    assert_eq!(words[2].0, "IP 192.0.2.9 > 192.0.2.1: ICMP 192.0.2.2 unreachable - need to frag, length 36");
}
