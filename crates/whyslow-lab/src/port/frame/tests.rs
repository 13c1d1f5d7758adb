#![allow(clippy::unwrap_used)]
use super::*;

/// A TCP frame with right checksums.
pub(crate) fn tcp(payload: &[u8], tos: u8) -> Vec<u8> {
    let total = 20 + 32 + payload.len();
    let mut frame = vec![2, 0, 10, 77, 0, 2, 2, 0, 10, 77, 0, 1, 8, 0, 0x45, tos];
    frame.extend((total as u16).to_be_bytes());
    frame.extend([0x12, 0x34, 0x40, 0, 64, 6, 0, 0, 10, 77, 0, 1, 10, 77, 0, 2]);
    frame.extend([0x9c, 0x40, 0x1f, 0x90, 0, 0, 3, 232, 0, 0, 7, 208, 0x80, 0x18, 1, 0, 0, 0, 0, 0]);
    frame.extend([1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]);
    frame.extend(payload);
    let layout = parse(&frame).unwrap();
    update_ip_checksum(&mut frame);
    update_tcp_checksum(&mut frame, &layout);
    frame
}

/// Both checksums are right.
pub(crate) fn is_right(frame: &[u8]) -> (bool, bool) {
    let layout = parse(frame).unwrap();
    let segment = &frame[layout.transport..layout.payload.end];
    let pseudo = sum(&frame[26..34]) + 6 + segment.len() as u64;
    (fold(sum(&frame[14..layout.transport])) == 0xffff, fold(pseudo + sum(segment)) == 0xffff)
}

#[test]
fn a_tcp_frame_is_read() {
    let mut frame = tcp(b"hello", 2);
    frame.extend([0; 9]); // padding is not payload
    let Layout { meta, payload, is_tcp, .. } = parse(&frame).unwrap();
    assert!(is_tcp);
    assert_eq!(&frame[payload], b"hello");
    let expected = Meta {
        wire_bytes: 71,
        ip_bytes: 57,
        source_port: 40000,
        destination_port: 8080,
        seq: 1000,
        ack: 2000,
        payload_bytes: 5,
        flags: 0x18,
        ecn_capable: true,
    };
    assert_eq!(meta, expected);
}

#[test]
fn no_length_is_trusted() {
    let frame = tcp(b"hello, world", 0);
    for length in 0..frame.len() {
        assert!(parse(&frame[..length]).is_none(), "cut at {length}");
    }
    for at in 0..frame.len() {
        for value in [0, 0x0f, 0x7f, 0xff] {
            let mut wrong = frame.clone();
            wrong[at] = value;
            if let Some(layout) = parse(&wrong) {
                assert!(layout.payload.end <= wrong.len());
            }
            corrupt(&mut wrong);
            mark(&mut wrong);
            let _ = too_big_answer(&wrong, Ipv4Addr::LOCALHOST, 1400);
        }
    }
}

#[test]
fn checksums_agree_with_a_known_header() {
    // The example of RFC 1071 section 3 and a header whose checksum is widely printed (0xb861).
    assert_eq!(fold(sum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7])), 0xddf2);
    let mut frame = vec![0; 14];
    frame.extend([0x45, 0, 0, 0x73, 0, 0, 0x40, 0, 0x40, 0x11, 0, 0, 0xc0, 0xa8, 0, 1, 0xc0, 0xa8, 0, 0xc7]);
    update_ip_checksum(&mut frame);
    assert_eq!(frame[24..26], [0xb8, 0x61]);
}

#[test]
fn corruption_breaks_the_transport_checksum_alone() {
    for payload in [&b""[..], b"x", b"0123456789"] {
        let mut frame = tcp(payload, 0);
        assert_eq!(is_right(&frame), (true, true));
        corrupt(&mut frame);
        assert_eq!(is_right(&frame), (true, false), "payload of {}", payload.len());
    }
}

#[test]
fn a_mark_keeps_the_checksums_right() {
    let mut frame = tcp(b"data", 2);
    mark(&mut frame);
    assert_eq!(frame[15] & 3, 3);
    assert_eq!(is_right(&frame), (true, true));
}

#[test]
fn a_packet_too_big_is_answered_to_its_sender() {
    let frame = tcp(&[7; 1400], 0);
    let answer = too_big_answer(&frame, Ipv4Addr::new(10, 77, 0, 254), 1300).unwrap();
    assert_eq!(answer[0..6], frame[6..12]);
    assert_eq!(answer[26..30], [10, 77, 0, 254]);
    assert_eq!(answer[30..34], [10, 77, 0, 1], "back to the source");
    assert_eq!(answer[34..36], [3, 4], "fragmentation needed");
    assert_eq!(answer[40..42], 1300_u16.to_be_bytes());
    assert_eq!(answer[42..], frame[14..42], "quotes the IP header and 8 bytes");
    assert_eq!(fold(sum(&answer[34..])), 0xffff);
    assert_eq!(fold(sum(&answer[14..34])), 0xffff);
}
