//! Changes that web pages, terminals and mails make to text.

use super::*;

/// Checks that `text` gives the same packets as the handshake.
#[track_caller]
fn same_as_handshake(text: &str) {
    let [expected, got] = [read(&handshake()), read(text)];
    assert_eq!(got.segments(), expected.segments(), "{text}");
    assert_eq!(got.packets, expected.packets);
    assert_eq!(got.summary.problems, [], "{text}");
}

fn each_line(change: impl Fn(&str) -> String) -> String {
    handshake().lines().map(change).collect()
}

#[test]
fn line_ends_spaces_and_entities() {
    same_as_handshake(&handshake().replace('\n', "\r\n"));
    same_as_handshake(&handshake().replace('\n', "\r"));
    for step in 1..20 {
        for ends in ["\r\n", "\r"] {
            let text = handshake().replace('\n', ends);
            let read = try_read(text.as_bytes(), step).unwrap();
            assert_eq!((read.packets, read.summary.problems), (super::read(&handshake()).packets, vec![]));
        }
    }
    same_as_handshake(&handshake().replace(' ', "\u{a0}"));
    same_as_handshake(&handshake().replace(' ', "\u{3000}"));
    same_as_handshake(&handshake().replace(" > ", " &gt; "));
    same_as_handshake(&handshake().replace(" > ", " &amp;gt;&nbsp;"));
    same_as_handshake(&each_line(|line| format!("\u{feff}{line}<br>\n\n\n")));
    same_as_handshake(handshake().trim_end());
    let latin: Vec<_> = handshake().bytes().map(|b| if b == b' ' { 0xa0 } else { b }).collect();
    assert_eq!(try_read(&latin, 5).unwrap().packets, read(&handshake()).packets);
}

#[test]
fn colours() {
    same_as_handshake(&each_line(|line| {
        format!("\x1b[1;32m{}\x1b[0m\x1b]0;title\x07\x1b[K\n", line.replace("IP", "\x1b[31mIP\x1b[m"))
    }));
}

#[test]
fn prefixes() {
    for prefix in [
        "> ",
        "> > ",
        "    ",
        "\t",
        "| ",
        "* ",
        "1: ",
        "12:",
        "  7 ",
        "3\t",
        "4. ",
        "+",
        "# ",
        "<p>",
        "pod/dump: ",
        "- `",
        "`",
    ] {
        same_as_handshake(&each_line(|line| format!("{prefix}{line}\n")));
    }
}

#[test]
fn prose_and_prompts_around() {
    let lines: Vec<_> = handshake().lines().map(String::from).collect();
    same_as_handshake(&format!(
        "# Why is it slow?\n\n```bash\n[root@host ~]# tcpdump -i eth0 port 80\n\
         tcpdump: verbose output suppressed, use -v or -vv for full protocol decode\n\
         listening on eth0, link-type EN10MB (Ethernet), capture size 262144 bytes\n{}\n{}\n\n\
         #至此,三次握手结束。此时纪录的时间是10:45:49.061790。下一个在10:45:49.068914秒处。\n\n{}\n\
         Here the client > server direction starts: \u{201c}look\u{201d} at IP addresses.\n{}\n^C\n\
         4 packets captured\n5 packets received by filter\n0 packets dropped by kernel\n```\n",
        lines[0], lines[1], lines[2], lines[3]
    ));
}

/// Checks that `text` gives the same headers as the handshake: a wrapped line loses the words of
/// the application protocol.
#[track_caller]
fn same_headers(text: &str) {
    let [expected, got] = [read(&handshake()), read(text)].map(|read| {
        assert_eq!(read.summary.problems, [], "{text}");
        read.segments().into_iter().map(|segment| Segment { payload: vec![], ..segment }).collect::<Vec<_>>()
    });
    assert_eq!(got, expected, "{text}");
}

#[test]
fn wrapped_lines() {
    for width in [40, 60, 72, 79, 80, 100, 132] {
        let hard = each_line(|line| {
            let pieces: Vec<_> = line.as_bytes().chunks(width).map(|piece| String::from_utf8_lossy(piece)).collect();
            pieces.join("\n") + "\n"
        });
        same_headers(&hard);
        let soft = each_line(|line| {
            let mut out = String::new();
            let mut column = 0;
            for word in line.split(' ') {
                if column > 0 && column + word.len() > width {
                    out.push('\n');
                    column = 0;
                } else if column > 0 {
                    out.push(' ');
                }
                out.push_str(word);
                column += word.len() + 1;
            }
            out + "\n"
        });
        same_headers(&soft);
    }
}

#[test]
fn omitted_packets_are_marked() {
    for mark in ["......", "...", "\u{2026}", "[...]", "# ...", "(snip)", "此处省略", "  . . .", "⋮"] {
        let read = read(&format!("{SYN}\n{SYN_ACK}\n{mark}\n{DATA}\n"));
        assert_eq!(read.count("elided-text"), 1, "{mark}");
        assert_eq!(read.left_out, [2], "{mark}");
        assert_eq!(read.segments().len(), 3);
    }
    let counted = read(&format!("{}58 packets captured\n", handshake()));
    assert_eq!(counted.count("elided-text"), 54);
    let ascii = read(&format!("{SYN}\nE..<.h@.@.!R....\n......\n{SYN_ACK}\n"));
    assert_eq!(ascii.summary.problems, []);
}

#[test]
fn missing_packet_numbers_are_omitted_packets() {
    let lines: Vec<_> = handshake().lines().map(String::from).collect();
    let read = read(&format!("    3  {}\n    4  {}\n   17  {}\n   18  {}\n", lines[0], lines[1], lines[2], lines[3]));
    assert_eq!(read.count("elided-text"), 12);
    assert_eq!(read.left_out, [2]);
}

#[test]
fn dropped_packets_are_reported() {
    let read = read(&format!(
        "{}4 packets captured\n9 packets received by filter\n5 packets dropped by kernel\n",
        handshake()
    ));
    assert_eq!(read.count("dropped-by-capture"), 5);
    assert_eq!(read.summary.problems.len(), 1);
}

#[test]
fn unreadable_lines_are_counted() {
    let read = read(&format!(
        "{SYN}\n\
         10:00:00.01 IP 192.0.2.2.80 > 192.0.2.1.40000: Flags [Q.], seq 1, ack 2, win 3, length 0\n\
         10:00:00.02 IP 192.0.2.2.80 > 192.0.2.1.40000: Flags [S.], seq x, ack 2, win 3, length 0\n\
         10:00:00.03 IP 192.0.2.2.80 > 192.0.2.1.40000: Flags [S.], seq 1, ack 2, win 300000, length 0\n\
         10:00:00.04 IP 192.0.2.2.80 > 192.0.2.1.40000: Flags [S.], seq 5, ack\n\
         IP 192.0.2.1.1 > 192.0.2.1.40000: Flags [S.], seq 1, ack 2, win 3, length 0\n"
    ));
    assert_eq!(read.count("unread-line"), 5);
    assert!(read.summary.problems[0].detail.contains("line 2"));
    assert_eq!(read.packets.len(), 5);
    assert_eq!(read.segments().len(), 1);
    assert_eq!(read.packets[1].data[9], 6, "TCP without its header");
}

#[test]
fn no_line_that_looks_like_a_packet_is_lost() {
    // After unknown words, after a segment, among the characters of -A.
    for before in ["the one at ", "    ", "\t", "pod-a container-b "] {
        let text = format!("{SYN}\n{before}{}\n{SYN_ACK}\n", DATA.trim_start_matches("10:00:00.020200 "));
        assert_eq!(read(&text).count("unread-line"), 1, "{before}");
    }
    let ascii = read(&format!("{SYN}\nE..<.h@.@.!R....\nat noon {ACK}\n{SYN_ACK}\n"));
    assert_eq!(ascii.count("unread-line"), 1);
}

#[test]
fn truncated_line_gives_its_complete_fields() {
    let read = read(&format!("{SYN}\n{SYN_ACK}\n{}\n{} ...\n", &ACK[..ACK.len() - 20], &DATA[..104]));
    assert_eq!(read.count("cut-line"), 2);
    let segments = read.segments();
    assert_eq!((segments[2].window, segments[2].len), (502, 0));
    assert_eq!((segments[3].seq, segments[3].len), (1001, 100));
}

#[test]
fn marks_of_tcpdump_itself() {
    let cut = read(
        "10:00:00.01 IP 192.0.2.1.9 > 192.0.2.2.80: Flags [S], seq 5, win 8192, options [mss 1452,nop,scps[bad opt]]\n\
         10:00:00.02 IP 192.0.2.1.9 > 192.0.2.2.80: Flags [.], seq 6:106, ack 3, win 9, options [nop,nop,TS[|tcp]\n\
         10:00:00.03 IP 192.0.2.1 > 192.0.2.2: [|tcp]\n\
         10:00:00.04 IP 192.0.2.1.9 > 192.0.2.2.80: Flags [S] [bad hdr length 60 - too long, > 20]\n\
         10:00:00.05 IP 192.0.2.1.9 > 192.0.2.2.80:  tcp 20 [bad hdr length 8 - too short, < 20]\n\
         10:00:00.06 IP bad-len 0\n\
         10:00:00.07 IP 192.0.2.1.9 > 192.0.2.2.80: Flags [.U], seq 1:9, [ack 7 != 0 while ACK flag not set], win 5, \
         urg 3, length 8 [|tcp]\n",
    );
    assert_eq!(cut.packets.len(), 7);
    assert_eq!(cut.count("cut-header"), 4);
    assert_eq!(cut.count("unread-line"), 0);
    let segments = cut.segments();
    assert_eq!(segments[0].options[0], "mss 1452");
    assert_eq!(segments[1].len, 100);
    assert_eq!(segments[2].urgent, 3);
}

#[test]
fn counts_are_read_after_a_dump_of_characters() {
    let read = read(&format!(
        "{SYN}\nE..<.h@.@.!R....\nGET: Flags [S] .....\n\n1 packet captured\n3 packets dropped by kernel\n"
    ));
    assert_eq!(read.count("dropped-by-capture"), 3);
    assert_eq!(read.summary.problems.len(), 1);
}

#[test]
fn only_the_start_of_an_endless_packet_is_looked_at() {
    // Many " > ", and an endless line in pieces: if read completely, the cost of each would be the
    // square of its length.
    let pairs = format!("10:00:00.000001 IP {}\n", "a > ".repeat(16_000)).repeat(40);
    let read = try_read(pairs.as_bytes(), usize::MAX).unwrap();
    assert_eq!((read.packets.len(), read.segments().len()), (40, 0));
    let endless = format!("{}\n{}", &SYN[..90], "nop,nop\n".repeat(50_000));
    let read = try_read(endless.as_bytes(), usize::MAX).unwrap();
    assert_eq!((read.segments().len(), read.count("cut-line")), (1, 1));
}

#[test]
fn wrapped_link_layer_lines_are_joined() {
    let line = "10:00:00.000000 02:00:00:00:00:01 > 02:00:00:00:00:02, ethertype IPv4 (0x0800), length 190: \
                192.0.2.1.44120 > 192.0.2.2.2049: Flags [P.], seq 1000:1124, ack 5000, win 2356, \
                options [nop,nop,TS val 1000 ecr 500], length 124: NFS request xid 77 120 access\n";
    let expected = read(line).segments();
    assert_eq!((expected.len(), expected[0].len), (1, 124));
    let words: Vec<_> = line.match_indices(' ').map(|(at, _)| at).filter(|at| *at > 33).collect();
    for &first in &words {
        for width in 3..8 {
            let mut wrapped = line.as_bytes().to_vec();
            words.iter().filter(|at| **at >= first).step_by(width).for_each(|at| wrapped[*at] = b'\n');
            let wrapped = String::from_utf8(wrapped).unwrap();
            let read =
                try_read(wrapped.as_bytes(), usize::MAX).map_err(|error| format!("{error} in {wrapped}")).unwrap();
            // A wrapped line loses the words of the application protocol.
            let headers = |mut segments: Vec<Segment>| {
                segments.iter_mut().for_each(|segment| segment.payload.clear());
                segments
            };
            assert_eq!(headers(read.segments()), headers(expected.clone()), "{wrapped}");
            assert_eq!(read.summary.problems, [], "{wrapped}");
        }
    }
}

#[test]
fn wrapped_lines_before_version_4_are_joined() {
    let line = "10:00:00.000000 192.0.2.1.4000 > 192.0.2.2.80: P 1:292(291) ack 7 win 5840 <nop,nop,timestamp 7 9,nop,nop, \
                sack 1 {11:19} > (DF)\n";
    let expected = read(line).segments();
    assert_eq!(expected[0].options, ["nop", "nop", "TS 7 9", "nop", "nop", "sack 11:19"]);
    let start = line.find(": P").unwrap();
    for (at, _) in line.match_indices(' ').filter(|(at, _)| *at > start) {
        for glue in ["\n", " \n", "\n> "] {
            let wrapped = format!("{}{glue}{}{line}", &line[..at], &line[at + 1..]);
            let read = read(&wrapped);
            assert_eq!(read.segments()[0], expected[0], "{wrapped}");
            assert_eq!((read.segments().len(), read.summary.problems.len()), (2, 0), "{wrapped}");
        }
    }
}

#[test]
fn second_capture_of_the_same_connection_is_skipped() {
    let other_end = handshake().replace("10:00:00.0", "09:59:59.9").replace("mss 1460", "mss 1452");
    let both = read(&format!("at the client:\n{}\nat the server:\n{other_end}", handshake()));
    assert_eq!(both.packets, read(&handshake()).packets);
    assert_eq!(both.count("second-capture"), 4);
    // A retransmitted SYN is a part of the first capture, also after midnight.
    for (first, again) in [("10:00:00.000000", "10:00:01.000000"), ("23:59:59.500000", "00:00:00.500000")] {
        let at = |time: &str| SYN.replace("10:00:00.000000", time);
        let read = read(&format!("{}\n{}\n", at(first), at(again)));
        assert_eq!((read.packets.len(), read.summary.problems.len()), (2, 0));
    }
}

#[test]
fn a_segment_without_its_window_has_a_window_that_is_not_full() {
    let window = |line: &str| {
        let (before, rest) = line.split_once(", win ").unwrap();
        let (_, after) = rest.rsplit_once(", length").unwrap();
        format!("{before}, length{after}")
    };
    let text: String = handshake().lines().map(|line| window(line) + "\n").collect();
    let got = read(&text);
    let window = |packet: &Got| u16::from_be_bytes([packet.data[34], packet.data[35]]);
    assert!(got.packets.iter().all(|packet| window(packet) == u16::MAX));
    // The options of a shortened SYN are unknown.
    let dots = read(&SYN.replace("mss 1460", "..."));
    for packet in [&got.packets[0], &dots.packets[0]] {
        assert_eq!(packet.data[packet.data.len() - 4..].windows(2).filter(|pair| *pair == [2, 0]).count(), 1);
    }
    assert_eq!(got.packets[2].data.len(), 40, "other segments have no options");
}
