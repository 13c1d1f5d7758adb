//! Captures made for the tests: a pcap writer, and connections as a TCP stack would have had them.

/// A packet and when it was captured, in microseconds.
#[derive(Clone)]
pub struct Packet {
    pub time: u64,
    pub bytes: Vec<u8>,
}

/// The capture file of these packets: pcap, microseconds, Ethernet.
pub fn file(packets: &[Packet]) -> Vec<u8> {
    of_snaplen(packets, 262_144)
}

/// The same with the packets' headers alone.
pub fn heads(packets: &[Packet]) -> Vec<u8> {
    of_snaplen(packets, 96)
}

fn of_snaplen(packets: &[Packet], snaplen: u32) -> Vec<u8> {
    let mut out = Vec::new();
    for field in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, snaplen, 1] {
        out.extend(field.to_le_bytes());
    }
    for packet in packets {
        let length = packet.bytes.len() as u32;
        let kept = length.min(snaplen);
        for field in [(packet.time / 1_000_000) as u32, (packet.time % 1_000_000) as u32, kept, length] {
            out.extend(field.to_le_bytes());
        }
        out.extend(&packet.bytes[..kept as usize]);
    }
    out
}

/// The client's end of a conversation with a server at 198.51.100.1:80.
pub struct Conversation {
    pub port: u16,
    pub packets: Vec<Packet>,
    now: u64,
    /// Next sequence numbers of client and server.
    seq: [u32; 2],
    id: u16,
}

const MSS: u32 = 1_448;
const SYN: u8 = 2;
const ACK: u8 = 16;
const FIN: u8 = 1;
const PSH: u8 = 8;

impl Conversation {
    /// Opens a connection at a time (microseconds), with a round trip of `rtt`.
    pub fn open(port: u16, time: u64, rtt: u64) -> Self {
        let mut this =
            Self { port, packets: Vec::new(), now: time, seq: [u32::from(port) * 7_919, 4_000_000_000], id: 0 };
        // MSS, SACK permitted, window scale 7.
        let options = [2, 4, (MSS >> 8) as u8, MSS as u8, 4, 2, 1, 1, 1, 3, 3, 7];
        this.send(0, SYN, 0, &options);
        this.seq[0] += 1;
        this.now += rtt;
        this.send(1, SYN | ACK, 0, &options);
        this.seq[1] += 1;
        this.now += 20;
        this.send(0, ACK, 0, &[]);
        this
    }

    /// A download as seen at the client: a request, then `rounds` of this many segments a round
    /// trip apart.
    pub fn download(&mut self, rtt: u64, rounds: &[u32]) {
        self.now += 100;
        self.send(0, ACK | PSH, 120, &[]);
        self.seq[0] += 120;
        for &segments in rounds {
            self.now += rtt;
            let began = self.now;
            for segment in 0..segments {
                self.send(1, ACK | if segment + 1 == segments { PSH } else { 0 }, MSS, &[]);
                self.seq[1] = self.seq[1].wrapping_add(MSS);
                self.now += 10;
                if segment % 2 == 1 || segment + 1 == segments {
                    self.send(0, ACK, 0, &[]);
                    self.now += 2;
                }
            }
            self.now = began;
        }
        self.now += 12 * u64::from(rounds.last().copied().unwrap_or(0));
    }

    /// FINs from both ends, the client first.
    pub fn close(mut self, rtt: u64) -> Vec<Packet> {
        self.now += 50;
        self.send(0, FIN | ACK, 0, &[]);
        self.seq[0] += 1;
        self.now += rtt;
        self.send(1, FIN | ACK, 0, &[]);
        self.seq[1] = self.seq[1].wrapping_add(1);
        self.now += 20;
        self.send(0, ACK, 0, &[]);
        self.packets
    }

    /// A segment from the client (0) or the server (1).
    fn send(&mut self, from: usize, flags: u8, payload: u32, options: &[u8]) {
        let (client, server) = ([192, 0, 2, 7], [198, 51, 100, 1]);
        let (src, dst, ports) = match from {
            0 => (client, server, [self.port, 80]),
            _ => (server, client, [80, self.port]),
        };
        let header = 20 + options.len();
        let length = 20 + header as u16 + payload as u16;
        self.id = self.id.wrapping_add(1);
        let mut bytes = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
        bytes.extend([0x45, 0]);
        bytes.extend(length.to_be_bytes());
        bytes.extend(self.id.to_be_bytes());
        bytes.extend([0x40, 0, 64 - 10 * from as u8, 6, 0, 0]);
        bytes.extend(src);
        bytes.extend(dst);
        bytes.extend(ports[0].to_be_bytes());
        bytes.extend(ports[1].to_be_bytes());
        bytes.extend(self.seq[from].to_be_bytes());
        bytes.extend(if flags & ACK == 0 { 0 } else { self.seq[1 - from] }.to_be_bytes());
        bytes.extend([(header as u8 / 4) << 4, flags]);
        bytes.extend(65_000_u16.to_be_bytes());
        bytes.extend([0, 0, 0, 0]);
        bytes.extend(options);
        bytes.extend(std::iter::repeat_n(b'x', payload as usize));
        self.packets.push(Packet { time: self.now, bytes });
    }
}

/// One download of 1 MB at a round trip of 100 ms, held back by slow start.
pub fn slow() -> Vec<Packet> {
    slow_on(40_000, 1_700_000_000_000_000)
}

/// [`slow`] from a port of the client, at a time.
pub fn slow_on(port: u16, time: u64) -> Vec<Packet> {
    let mut conversation = Conversation::open(port, time, 100_000);
    conversation.download(100_000, &[10, 20, 40, 80, 160, 320, 60]);
    conversation.close(100_000)
}

/// Several captures' packets in the order of time.
pub fn merged(captures: impl IntoIterator<Item = Vec<Packet>>) -> Vec<Packet> {
    let mut packets: Vec<_> = captures.into_iter().flatten().collect();
    packets.sort_by_key(|packet| packet.time);
    packets
}
