//! The forms of a line under tcpdump's options and in its versions.

use super::*;

fn flags_of(letters: &str) -> String {
    one(&format!("10:00:00.1 IP 192.0.2.1.4 > 192.0.2.2.80: Flags [{letters}], seq 5, ack 6, win 7, length 0")).flags
}

#[test]
fn all_flags() {
    for letters in ["S", "S.", "P.", ".", "F.", "R", "R.", "FP.", "SEW", "S.E", "SEWe", "FSRP.UEW", "U", "W", ".e"] {
        let mut expected: Vec<_> = letters.chars().collect();
        expected.sort_by_key(|letter| "FSRP.UEWe".find(*letter));
        let mut got: Vec<_> = flags_of(letters).chars().collect();
        got.sort_by_key(|letter| "FSRP.UEWe".find(*letter));
        assert_eq!(got, expected);
    }
    assert_eq!(flags_of("none"), "");
}

#[test]
fn ipv6_with_names_and_numbers() {
    let segment = one("10:00:00.000001 IP6 2001:db8::1.443 > 2001:db8::2.60402: Flags [.], ack 1, win 5, length 0");
    assert_eq!((segment.src.as_str(), segment.dst.as_str()), ("2001:db8::1 443", "2001:db8::2 60402"));
    let read =
        read("10:00:00.000001 IP6 www.example.net.https > fe80::1%eth0.60402: Flags [.], ack 1, win 5, length 0");
    assert_eq!(read.segments()[0].src, "100::1 443");
    assert_eq!(read.segments()[0].dst, "fe80::1 60402");
    assert_eq!(read.names, [("100::1".parse().unwrap(), "www.example.net".to_string(), true)]);
}

#[test]
fn names_get_the_same_placeholder_everywhere() {
    let read = read(
        "16:54:06.286416 IP domain1.33666 > x.x.x.x1.http: Flags [S], seq 10, win 64240, length 0\n\
         16:54:06.486797 IP x.x.x.x1.http > domain1.33666: Flags [S.], seq 90, ack 11, win 62643, length 0\n\
         16:54:06.486840 IP 192.168.*.7.1 > 10.0.0.x.ssh: Flags [.], ack 1, win 502, length 0\n",
    );
    let ends: Vec<_> = read.segments().into_iter().map(|segment| (segment.src, segment.dst)).collect();
    assert_eq!(ends[0], ("198.18.0.1 33666".into(), "198.18.0.2 80".into()));
    assert_eq!(ends[1], ("198.18.0.2 80".into(), "198.18.0.1 33666".into()));
    assert_eq!(ends[2], ("198.18.0.3 1".into(), "198.18.0.4 22".into()));
    assert_eq!(read.names.len(), 4);
    assert_eq!(read.names[1], ("198.18.0.2".parse().unwrap(), "x.x.x.x1".into(), true));
}

#[test]
fn anonymised_host_may_have_dots_and_no_port() {
    let line = |src: &str, dst: &str| format!("10:00:00.1 IP {src} > {dst}: Flags [.], ack 1, win 5, length 0\n");
    let read = read(
        &[
            line("client", "server-1.example"),
            line("server-1.example", "client"),
            line("client.40000", "server-2.example.443"),
            line("server-2.example.myservice", "10.0.x.y.40000"),
            line("192.0.2.1.40000", "x.x.x.x"),
        ]
        .concat(),
    );
    assert_eq!(read.summary.problems.iter().map(|problem| &*problem.slug).collect::<Vec<_>>(), ["unknown-service"]);
    let names: Vec<_> = read.names.iter().map(|(_, name, _)| name.as_str()).collect();
    // The word after a dot is a part of the host or a port name; the host decides if it is known.
    assert_eq!(names, ["client", "server-1.example", "server-2.example", "10.0.x.y", "x.x.x.x"]);
    let ends: Vec<_> = read.segments().into_iter().map(|segment| (segment.src, segment.dst)).collect();
    assert_eq!(ends[0], ("198.18.0.1 0".into(), "198.18.0.2 0".into()));
    assert_eq!(ends[1], (ends[0].1.clone(), ends[0].0.clone()));
    assert_eq!(ends[2], ("198.18.0.1 40000".into(), "198.18.0.3 443".into()));
    assert!(ends[3].0.starts_with("198.18.0.3 ") && ends[3].1 == "198.18.0.4 40000", "{ends:?}");
    assert_eq!(ends[4].1, "198.18.0.5 0");
}

#[test]
fn unknown_service_gets_a_placeholder_port() {
    let line = "10:00:00.000001 IP 192.0.2.1.frobnicate > 192.0.2.2.5: Flags [.], ack 1, win 5, length 0";
    let [first, second] = [read(line), read(line)];
    assert_eq!(first.packets, second.packets);
    assert_eq!(first.count("unknown-service"), 1);
    assert!(first.summary.problems[0].detail.contains("frobnicate"));
    let port: u16 = first.segments()[0].src.split(' ').nth(1).unwrap().parse().unwrap();
    assert!((256..1_024).contains(&port));
}

#[test]
fn verbose_takes_two_lines() {
    let text = "10:00:00.000001 IP (tos 0x2,ECT(0), ttl 57, id 4660, offset 0, flags [DF], proto TCP (6), length 1052)\n    \
                192.0.2.1.80 > 192.0.2.2.4000: Flags [.], cksum 0xabcd (incorrect -> 0x1234), seq 1:1001, ack 1, win 9, \
                options [nop,nop,TS val 1 ecr 2], length 1000\n";
    let read = read(text);
    assert_eq!(read.summary.problems, []);
    let data = &read.packets[0].data;
    assert_eq!(data[1], 2, "ECN");
    assert_eq!(data[8], 57, "TTL");
    assert_eq!(data[4..8], [0x12, 0x34, 0x40, 0]);
    assert_eq!(data[36..38], [0xab, 0xcd], "checksum as printed");
    assert_eq!(read.packets[0].original_len, 1052);
    // In a page that removes leading spaces, and with empty lines in between.
    let squeezed = text.replace("\n    ", "\n\n");
    assert_eq!(super::read(&squeezed).packets, read.packets);
    let segment =
        one("10:00:00.000001 IP6 (class 0x01, flowlabel 0xde7ac, hlim 64, next-header TCP (6) payload length: 32) \
                       2001:db8::1.4 > 2001:db8::2.443: Flags [.], cksum 0x2fde (correct), seq 1, ack 1, win 2052, \
                       options [nop,nop,TS val 2 ecr 4], length 0");
    assert_eq!(segment.options, ["nop", "nop", "TS 2 4"]);
}

#[test]
fn unprinted_option_keeps_its_length() {
    let read = read(
        "10:00:00.000001 IP (tos 0x0, ttl 64, id 0, offset 0, flags [DF], proto TCP (6), length 68)\n    \
         192.0.2.1.4 > 192.0.2.2.80: Flags [.W], cksum 0x20a4 (incorrect -> 0x3b19), ack 1, win 1027, \
         options [nop,nop,TS val 112147698 ecr 2783239876,exp-acc0,eol], length 0\n",
    );
    assert_eq!(read.packets[0].original_len, 68);
    assert_eq!(read.segments()[0].len, 0);
}

#[test]
fn link_layer_and_interface_come_before_the_addresses() {
    let tcp = "192.0.2.1.4 > 192.0.2.2.443: Flags [S], seq 9, win 8, options [mss 1440], length 0";
    for head in [
        "10:00:00.000001 02:00:00:00:00:01 > 02:00:00:00:00:02, ethertype IPv4 (0x0800), length 98: ",
        "10:00:00.000001 02:00:00:00:00:01 > 02:00:00:00:00:02, ethertype 802.1Q (0x8100), length 94: vlan 30, p 0, \
         ethertype 802.1Q (0x8100), vlan 10, p 0, ethertype IPv4 (0x0800), ",
        "10:00:00.000001 eth0  In  IP ",
        "10:00:00.000001 lo    Out IP ",
        "10:00:00.000001   In 02:00:00:00:00:01 ethertype IPv4 (0x0800), length 76: ",
        "10:00:00.000001 (en0, proc curl:123, svc BE, out) IP ",
        "10:00:00.000001 IP 203.0.113.1 > 203.0.113.2: GREv0, length 64: IP ",
        "10:00:00.000001 MPLS (label 29, tc 6, [S], ttl 255) IP ",
        "eth0  In  IP ",
        "02:00:00:00:00:01 > 02:00:00:00:00:02, ethertype IPv4 (0x0800), length 98: ",
        "IP ",
    ] {
        let segment = one(&format!("{head}{tcp}\n"));
        assert_eq!((segment.src.as_str(), segment.seq), ("192.0.2.1 4", 9), "{head}");
    }
}

#[test]
fn inner_packet_of_a_verbose_tunnel_is_read() {
    let read = read(
        "10:00:00.000001 IP (tos 0x0, ttl 64, id 1, offset 0, flags [DF], proto UDP (17), length 110)\n    \
         203.0.113.2.43443 > 203.0.113.1.6081: [no cksum] Geneve, Flags [none], vni 0xb\n\
         \tIP (tos 0x0, ttl 63, id 2, offset 0, flags [DF], proto TCP (6), length 60)\n    \
         192.0.2.1.51225 > 192.0.2.2.22: Flags [S], cksum 0xe437 (correct), seq 397, win 14600, options [mss 1460,\
         sackOK,TS val 287 ecr 0,nop,wscale 7], length 0\n\
         10:00:00.000002 IP (tos 0x0, ttl 64, id 1, offset 0, flags [DF], proto UDP (17), length 60)\n    \
         203.0.113.2.53 > 203.0.113.1.6000: 1 1/0/0 A 192.0.2.9 (32)\n",
    );
    assert_eq!(read.summary.problems, []);
    assert_eq!(read.packets.len(), 2);
    assert_eq!(read.packets[0].data[8], 63);
    assert_eq!(read.segments()[0].seq, 397);
}

#[test]
fn packet_quoted_by_icmp_is_not_a_segment() {
    let read = read(
        "10:00:00.000001 IP (tos 0x0, ttl 64, id 1, offset 0, flags [none], proto ICMP (1), length 96)\n    \
         192.0.2.9 > 192.0.2.1: ICMP 192.0.2.2 unreachable - need to frag (mtu 1400), length 76\n\
         \tIP (tos 0x0, ttl 63, id 2, offset 0, flags [DF], proto TCP (6), length 1500)\n    \
         192.0.2.1.51225 > 192.0.2.2.22: Flags [.], seq 1:1449, ack 1, win 5, length 1448\n",
    );
    assert_eq!(read.segments(), []);
    assert_eq!(read.packets[0].data[9], 1, "protocol");
    assert_eq!(read.summary.problems, []);
}

#[test]
fn other_protocols_are_frames() {
    let read = read(&format!(
        "10:00:00.000001 ARP, Request who-has 192.0.2.1 tell 192.0.2.2, length 28\n\
         10:00:00.000002 IP 192.0.2.2.50 > 192.0.2.3.53: 20456+ [1au] A? www.example.com. (54)\n\
         10:00:00.000003 IP 192.0.2.2 > 192.0.2.3: ICMP echo request, id 1, seq 2, length 64\n\
         10:00:00.000004 STP 802.1d, Config, Flags [none], bridge-id 8000.02:00:00:00:00:01.8001, length 35\n\
         10:00:00.000005 IP6 fe80::1 > ff02::16: HBH ICMP6, multicast listener report v2, length 28\n{SYN}\n"
    ));
    let kinds: Vec<_> = read.packets.iter().map(|packet| (packet.link, packet.data[9])).collect();
    assert_eq!(kinds[1..3], [(101, 17), (101, 1)]);
    assert_eq!(kinds[4], (101, 58));
    assert_eq!(read.packets[0].data[12..], [8, 6]);
    assert_eq!(read.packets[3].link, 1);
    assert_eq!(read.packets[5].frame, 6);
    assert_eq!(read.summary.link_types.len(), 2);
    assert_eq!(read.summary.problems, []);
}

#[test]
fn printed_numbers_are_frames_while_they_go_up() {
    let text = format!("    3  {SYN}\n   17  {SYN_ACK}\n   17  {ACK}\n{DATA}\n");
    let frames: Vec<_> = read(&text).packets.iter().map(|packet| packet.frame).collect();
    assert_eq!(frames, [3, 17, 18, 19]);
}

#[test]
fn before_version_4() {
    let read = read(
        "10:00:00.000001 IP 192.0.2.1.4000 > 192.0.2.2.80: S 123:123(0) win 5840 <mss 1460,sackOK,timestamp 1 0,nop,wscale 7>\n\
         10:00:00.000002 IP 192.0.2.2.80 > 192.0.2.1.4000: S 900:900(0) ack 124 win 5792 <mss 1460>\n\
         10:00:00.000003 IP 192.0.2.1.4000 > 192.0.2.2.80: . ack 1 win 229 <nop,nop,sack sack 1 {5:9} >\n\
         10:00:00.000004 192.0.2.1.4000 > 192.0.2.2.80: P 1:292(291) ack 1 win 5840 (DF)\n\
         10:00:00.000005 IP 192.0.2.1.4000 > 192.0.2.2.80: FP, cksum 0x1a2b (correct), 292:300(8) ack 1 win 5840 urg 7\n\
         10:00:00.000006 IP 192.0.2.2.80 > 192.0.2.1.4000: R 901:901(0) win 0\n\
         10:00:00.000007 IP 192.0.2.1.4000 > 192.0.2.2.80: SWE 5:5(0) win 1\n",
    );
    assert_eq!(read.summary.problems, []);
    let segments = read.segments();
    let lines: Vec<_> = segments.iter().map(|s| (s.flags.as_str(), s.seq, s.ack, s.len)).collect();
    assert_eq!(
        lines,
        [
            ("S", 123, 0, 0),
            ("S.", 900, 124, 0),
            (".", 124, 901, 0),
            ("P.", 124, 901, 291),
            ("FP.U", 415, 901, 8),
            ("R", 901, 0, 0),
            ("SEW", 5, 0, 0),
        ]
    );
    assert_eq!(segments[0].options, ["mss 1460", "sackOK", "TS 1 0", "nop", "wscale 7"]);
    assert_eq!(segments[2].options, ["nop", "nop", "sack 905:909"]);
    assert_eq!(segments[4].urgent, 7);
}

#[test]
fn every_option_is_written() {
    let options = |list: &str| {
        let line =
            format!("10:00:00.1 IP 192.0.2.1.4 > 192.0.2.2.80: Flags [S], seq 5, win 7, options [{list}], length 0");
        let read = read(&line);
        let data = &read.packets[0].data;
        (data[40..].to_vec(), read.count("unread-option"))
    };
    assert_eq!(options("tfo  cookiereq,nop,nop").0, [34, 2, 1, 1]);
    assert_eq!(options("exp-tfo cookie 090909090000,nop,nop").0, [254, 10, 0xf9, 0x89, 9, 9, 9, 9, 0, 0, 1, 1]);
    assert_eq!(options("mptcp 12 capable v0 flags [AH] csum {0x9b59be3d695e66a7}").0[..3], [30, 12, 0]);
    assert_eq!(options("mptcp 20 dss ack 3 seq 2 subseq 1 len 1 csum 0x9e91").0.len(), 20);
    assert_eq!(options("unknown-27 0x0a0b,eol").0, [27, 4, 10, 11, 0, 0, 0, 0]);
    assert_eq!(options("uto 0x8001 60").0, [28, 4, 0, 0]);
    assert_eq!(options("md5 shared secret not supplied with -M, can't check - 00ff").0[..2], [19, 18]);
    assert_eq!(options("tcp-ao keyid 1 rnextkeyid 2 mac 0x010203040506").0[..2], [29, 10]);
    assert_eq!(options("mss 1460,frobnicate 7"), (vec![2, 4, 5, 180], 1));
}

#[test]
fn relevant_options_are_kept_if_there_are_too_many() {
    let fill = "nop,".repeat(30);
    let line = format!(
        "10:00:00.1 IP 192.0.2.1.4 > 192.0.2.2.80: Flags [S], seq 5, win 7, options [{fill}mss 1460,sackOK,TS val 1 ecr 2,\
         wscale 9], length 0"
    );
    assert_eq!(one(&line).options, ["mss 1460", "sackOK", "TS 1 2", "wscale 9"]);
}

#[test]
fn http_heads_are_payload() {
    let first = one(
        "10:00:00.1 IP 192.0.2.1.80 > 192.0.2.2.5: Flags [P.], seq 1:9, ack 1, win 7, length 8: HTTP: HTTP/1.1 200 OK",
    );
    assert_eq!(first.payload, b"HTTP/1.1");
    let verbose = one("10:00:00.1 IP (tos 0x0, ttl 64, id 1, offset 0, flags [DF], proto TCP (6), length 540)\n    \
         192.0.2.1.5 > 192.0.2.2.80: Flags [P.], seq 1:501, ack 1, win 7, length 500: HTTP, length: 500\n\
         \tGET /a?b=1&amp;c=2 HTTP/1.1\n\tHost: www.example.org\n\t\n\t<body>\n");
    assert_eq!(verbose.payload, b"GET /a?b=1&c=2 HTTP/1.1\r\nHost: www.example.org\r\n\r\n");
    assert_eq!(verbose.len, 500);
}

#[test]
fn hexadecimal_lines_are_the_packet() {
    let dump = "\t0x0000:  4500 0030 1b68 4000 4006 9b5c c000 0201  E..0.h@.@.......\n\
                \t0x0010:  c000 0202 9c40 0050 0000 1000 0000 2000  .....@.P........\n\
                \t0x0020:  5018 01f6 0000 0000 6162 6364 6566 6768  P.......abcdefgh\n";
    let line = "10:00:00.1 IP client.40000 > 192.0.2.2.http: Flags [P.], seq 4096:4104, ack 8192, win 502, length 8\n";
    let first = read(&format!("{line}{dump}"));
    let segment = first.segments().remove(0);
    assert_eq!((segment.seq, segment.ack, segment.payload.as_slice()), (0x1000, 0x2000, b"abcdefgh".as_slice()));
    assert_eq!(first.names, [("192.0.2.1".parse().unwrap(), "client".to_string(), false)]);
    // With a link layer before it, and a packet whose dump is missing after it.
    let next = "10:00:00.2 IP client.40000 > 192.0.2.2.http: Flags [P.], seq 8:16, ack 1, win 502, length 8\n";
    let ethernet = "\t0x0000:  0200 0000 0001 0200 0000 0002 0800 4500\n\
                    \t0x0010:  0030 1b68 4000 4006 9b5c c000 0201 c000\n\
                    \t0x0020:  0202 9c40 0050 0000 1000 0000 2000 5018\n\
                    \t0x0030:  01f6 0000 0000 6162 6364 6566 6768 ffff\n";
    let both = read(&format!("{line}{ethernet}{next}"));
    assert_eq!(both.packets[0].data, first.packets[0].data);
    assert_eq!(both.segments()[1].seq, 0x1008);
    assert_eq!(both.segments()[1].src, "192.0.2.1 40000");
    // A dump of another packet is ignored.
    let other = read(&format!("{line}{}", dump.replace("01f6", "01f7")));
    assert_eq!(other.segments()[0].payload, b"");
    assert_eq!(other.segments()[0].seq, 4096);
}
