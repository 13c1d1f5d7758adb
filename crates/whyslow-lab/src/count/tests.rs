#![allow(clippy::unwrap_used)]
use super::*;

/// Builds a capture packet by packet: `c` or `s` sends.
struct Pcap {
    bytes: Vec<u8>,
    time: u32,
}

/// The differences between segments.
struct Segment<'a> {
    from: char,
    flags: u8,
    /// SEQ and ACK.
    numbers: [u32; 2],
    window: u16,
    /// Bytes of payload, none of which is in the capture.
    payload: u16,
    options: &'a [u8],
}

impl Pcap {
    fn new() -> Self {
        let mut bytes = 0xa1b2_3c4d_u32.to_le_bytes().to_vec();
        bytes.extend_from_slice(&[0; 20]);
        Self { bytes, time: 0 }
    }

    fn packet(&mut self, from: char, flags: u8, numbers: [u32; 2], [window, payload]: [u16; 2]) {
        self.push(&Segment { from, flags, numbers, window, payload, options: &[] });
    }

    fn push(&mut self, segment: &Segment<'_>) {
        let Segment { from, flags, numbers: [seq, ack], window, payload, options } = *segment;
        let mut frame = vec![0; 12];
        frame.extend_from_slice(&[0x08, 0x00]);
        let header = 20 + options.len() as u16;
        let mut ip = vec![0x45, 0];
        ip.extend_from_slice(&(20 + header + payload).to_be_bytes());
        ip.extend_from_slice(&[0, 0, 0, 0, 64, 6, 0, 0]);
        let (source, destination) = if from == 'c' { (1, 2) } else { (2, 1) };
        ip.extend_from_slice(&[10, 0, 0, source, 10, 0, 0, destination]);
        let port = |host: u8| u16::from(host) * 1000;
        ip.extend_from_slice(&port(source).to_be_bytes());
        ip.extend_from_slice(&port(destination).to_be_bytes());
        ip.extend_from_slice(&seq.to_be_bytes());
        ip.extend_from_slice(&ack.to_be_bytes());
        ip.extend_from_slice(&[(header / 4 * 16) as u8, flags]);
        ip.extend_from_slice(&window.to_be_bytes());
        ip.extend_from_slice(&[0; 4]);
        ip.extend_from_slice(options);
        frame.extend_from_slice(&ip);
        self.time += 1;
        for word in [0, self.time, frame.len() as u32, frame.len() as u32 + u32::from(payload)] {
            self.bytes.extend_from_slice(&word.to_le_bytes());
        }
        self.bytes.extend_from_slice(&frame);
    }

    /// A handshake at sequence numbers that wrap soon: client 4294967000, server 5000; scale 2 from
    /// the client.
    fn open() -> Self {
        let mut pcap = Self::new();
        pcap.push(&Segment {
            from: 'c',
            flags: SYN,
            numbers: [4_294_967_000, 0],
            window: 1000,
            payload: 0,
            options: &[3, 3, 2, 0],
        });
        pcap.push(&Segment {
            from: 's',
            flags: SYN | 0x10,
            numbers: [5000, 4_294_967_001],
            window: 1000,
            payload: 0,
            options: &[1, 3, 3, 7],
        });
        pcap.packet('c', 0x10, [4_294_967_001, 5001], [1000, 0]);
        pcap
    }
}

#[test]
fn counts_what_a_download_did() {
    let mut pcap = Pcap::open();
    let ack = 4_294_967_001;
    pcap.packet('s', 0x10, [5001, ack], [1000, 1000]);
    pcap.packet('s', 0x10, [7001, ack], [1000, 1000]);
    pcap.packet('s', 0x10, [8001, ack], [1000, 1001]); // ends at 9002: 5001 + 1000 × 4 = 9001
    pcap.packet('c', 0x10, [ack, 6001], [1000, 0]);
    pcap.packet('c', 0x10, [ack, 6001], [1000, 0]);
    pcap.packet('c', 0x10, [ack, 6001], [1000, 0]);
    pcap.packet('c', 0x10, [ack, 6001], [900, 0]); // a window update is not a duplicate
    pcap.packet('s', 0x10, [6001, ack], [1000, 1000]); // fills the hole
    pcap.packet('s', 0x10, [6001, ack], [1000, 500]); // and once more, in part
    pcap.packet('c', 0x10, [ack, 9002], [0, 0]);
    pcap.packet('c', 0x10, [ack, 9002], [0, 0]); // nothing outstanding: no duplicate
    let counted = count_bytes(&pcap.bytes);
    let s = &counted.from_server;
    assert_eq!((s.packets, s.bytes), (6, 4501));
    assert_eq!((s.retransmitted, s.out_of_order, s.window_full), (1, 1, 1));
    assert_eq!((counted.from_client.duplicate_acks, counted.from_client.zero_window), (2, 2));
    assert_eq!(counted.from_client.syn_retransmitted, 0);
    assert_eq!((counted.first, counted.last), (Some(1), Some(14)));
}

#[test]
fn sequence_numbers_wrap() {
    let mut pcap = Pcap::open();
    for i in 0..5_u32 {
        pcap.packet('c', 0x10, [4_294_967_001_u32.wrapping_add(i * 100), 5001], [1000, 100]);
    }
    pcap.packet('c', 0x10, [4_294_967_001, 5001], [1000, 100]);
    let counted = count_bytes(&pcap.bytes);
    assert_eq!((counted.from_client.retransmitted, counted.from_client.out_of_order), (1, 0));
}

#[test]
fn no_bytes_make_it_panic() {
    let whole = Pcap::open().bytes;
    for cut in 0..whole.len() {
        count_bytes(&whole[..cut]);
        let mut flipped = whole.clone();
        flipped[cut] ^= 0xff;
        count_bytes(&flipped);
    }
    assert_eq!(count_bytes(b"not a capture"), Counted::default());
}
