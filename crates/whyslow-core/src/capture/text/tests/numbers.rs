//! Sequence numbers: relative, absolute, and with packets missing.

use super::*;

const UP: &str = "IP 192.0.2.1.40000 > 192.0.2.2.80:";
const DOWN: &str = "IP 192.0.2.2.80 > 192.0.2.1.40000:";

/// (seq, ack) of every segment.
fn numbers(lines: &[String]) -> Vec<(u32, u32)> {
    let lines: String = lines.iter().map(|line| format!("10:00:00.000001 {line}, win 7, length 0\n")).collect();
    read(&lines).segments().iter().map(|segment| (segment.seq, segment.ack)).collect()
}

fn data(pair: &str, flags: &str, numbers: &str) -> String {
    format!("{pair} Flags [{flags}], {numbers}")
}

#[test]
fn relative_after_the_handshake() {
    let got = numbers(&[
        data(UP, "S", "seq 4294967290"),
        data(DOWN, "S.", "seq 70000, ack 4294967291"),
        data(UP, ".", "ack 1"),
        data(UP, "P.", "seq 1:11, ack 1"),
        data(DOWN, ".", "ack 11"),
        data(DOWN, "F.", "seq 1, ack 11"),
        data(UP, "R", "seq 5"),
    ]);
    assert_eq!(got[2..], [(4294967291, 70001), (4294967291, 70001), (70001, 5), (70001, 5), (5, 0)]);
}

#[test]
fn absolute_numbers_stay() {
    let got = numbers(&[
        data(UP, "S", "seq 3000000000"),
        data(DOWN, "S.", "seq 70000, ack 3000000001"),
        data(UP, ".", "ack 70001"),
        data(UP, "P.", "seq 3000000001:3000000011, ack 70001"),
        data(DOWN, ".", "ack 3000000011"),
    ]);
    assert_eq!(got[2..], [(3000000001, 70001), (3000000001, 70001), (70001, 3000000011)]);
}

#[test]
fn from_the_middle_of_a_connection() {
    let got = numbers(&[
        data(DOWN, "P.", "seq 555000:556000, ack 900"),
        data(UP, ".", "ack 1000"),
        data(DOWN, "P.", "seq 1000:1100, ack 1"),
        data(UP, "P.", "seq 1:2, ack 1100"),
    ]);
    assert_eq!(got, [(555000, 900), (900, 556000), (556000, 900), (900, 556100)]);
}

#[test]
fn from_the_middle_with_a_pure_ack_first() {
    // The first line does not show its own number: later ones count from it.
    let got = numbers(&[
        data(UP, ".", "ack 556000"),
        data(DOWN, ".", "seq 1:1001, ack 0"),
        data(UP, "P.", "seq 0:50, ack 1001"),
        data(DOWN, ".", "ack 50"),
    ]);
    assert_eq!(got, [(0, 556000), (556000, 0), (0, 557000), (557000, 50)]);
}

#[test]
fn a_text_that_starts_after_the_zero_points_were_set() {
    let got = numbers(&[
        data(DOWN, ".", "seq 14481:21721, ack 148"),
        data(DOWN, ".", "seq 21721:28961, ack 148"),
        data(UP, ".", "ack 28961"),
        data(DOWN, ".", "seq 28961:36201, ack 148"),
    ]);
    assert_eq!(got, [(14481, 148), (21721, 148), (148, 28961), (28961, 148)]);
}

#[test]
fn a_handshake_without_its_second_packet() {
    let got = numbers(&[
        data(UP, "S", "seq 2682796272"),
        data(UP, "P.", "seq 1:292, ack 1"),
        data(DOWN, ".", "ack 292"),
        data(DOWN, "P.", "seq 1:215, ack 292"),
    ]);
    assert_eq!(got[1..], [(2682796273, 1), (1, 2682796564), (1, 2682796564)]);
}

#[test]
fn reused_port_is_a_new_connection() {
    let got = numbers(&[
        data(UP, "S", "seq 1000"),
        data(DOWN, "S.", "seq 9000, ack 1001"),
        data(UP, "P.", "seq 1:101, ack 1"),
        data(UP, "S", "seq 800000"),
        data(UP, "S", "seq 800000"),
        data(DOWN, "S.", "seq 700000, ack 800001"),
        data(UP, "P.", "seq 1:101, ack 1"),
    ]);
    assert_eq!(got[2], (1001, 9001));
    assert_eq!(got[6], (800001, 700001));
    // A reset in response to the second SYN: tcpdump prints it with the base numbers of the first
    // connection.
    let reset = numbers(&[
        data(UP, "S", "seq 1000"),
        data(DOWN, "S.", "seq 9000, ack 1001"),
        data(UP, "P.", "seq 1:101, ack 1"),
        data(UP, "S", "seq 800000"),
        data(DOWN, "R.", "seq 4294958296, ack 799001"),
    ]);
    assert_eq!(reset[4], (0, 800001));
}

#[test]
fn refused_connection_has_real_numbers() {
    let got = numbers(&[data(UP, "S", "seq 800000"), data(DOWN, "R.", "seq 0, ack 800001")]);
    assert_eq!(got[1], (0, 800001));
}

#[test]
fn unprinted_numbers_follow_sent_and_acknowledged_data() {
    let got = numbers(&[
        data(UP, "S", "seq 1000"),
        data(DOWN, "S.", "seq 9000, ack 1001"),
        data(UP, ".", "ack 1"),
        data(DOWN, ".", "ack 5001"),
        data(UP, ".", "ack 2001"),
    ]);
    assert_eq!(got[4], (6001, 11001));
}

fn sack(first: &[&str], list: &str) -> Vec<String> {
    let mut text: String = first.iter().map(|line| format!("10:00:00.000001 {line}, win 7, length 0\n")).collect();
    text += &format!("10:00:00.000002 {UP} Flags [.], {list}, length 0\n");
    read(&text).segments().pop().unwrap().options
}

#[test]
fn sack_blocks_count_from_the_same_zero() {
    let handshake = [&data(UP, "S", "seq 1000")[..], &data(DOWN, "S.", "seq 9000, ack 1001")];
    let relative = sack(&handshake, "ack 1, win 7, options [nop,nop,sack 2 {1449:2897}{4345:5793}]");
    assert_eq!(relative, ["nop", "nop", "sack 10449:11897 13345:14793"]);
    let absolute = sack(&handshake, "ack 9001, win 7, options [nop,nop,sack 1 {10449:11897}]");
    assert_eq!(absolute[2], "sack 10449:11897");
    // The first packet is printed with real numbers, except for its SACK blocks.
    let first = sack(&[], "ack 9001, win 7, options [nop,nop,sack 1 {1449:2897}]");
    assert_eq!(first[2], "sack 10449:11897");
    let first_absolute = sack(&[], "ack 700009001, win 7, options [nop,nop,sack 1 {700010449:700011897}]");
    assert_eq!(first_absolute[2], "sack 700010449:700011897");
}

#[test]
fn directions_with_equal_ports_are_separate() {
    let up = "IP 192.0.2.9.179 > 192.0.2.2.179:";
    let down = "IP 192.0.2.2.179 > 192.0.2.9.179:";
    let got = numbers(&[
        data(up, "S", "seq 1000"),
        data(down, "S.", "seq 9000, ack 1001"),
        data(up, "P.", "seq 1:20, ack 1"),
        data(down, "P.", "seq 1:30, ack 20"),
    ]);
    assert_eq!(got[2..], [(1001, 9001), (9001, 1020)]);
}

#[test]
fn oldest_conversation_is_dropped() {
    let mut conversations = super::super::relative::Conversations::new();
    let end = |port: u16, host: u8| (IpAddr::from([192, 0, 2, host]), port);
    let printed = super::super::relative::SegmentNumbers { flags: 0x10, seq: Some(7_000_000), ack: Some(9), length: 0 };
    for port in 0..=u16::MAX {
        conversations.resolve(end(port, 1), end(80, 2), &printed);
    }
    let later = super::super::relative::SegmentNumbers { seq: Some(5), ack: Some(1), ..printed };
    assert_eq!(conversations.resolve(end(0, 1), end(80, 2), &later).seq, 7_000_005);
    conversations.resolve(end(1, 3), end(80, 2), &printed);
    assert_eq!(conversations.resolve(end(0, 1), end(80, 2), &later).seq, 5);
}
