//! [`Packets`]: a capture of raw IP packets, written one by one.

use crate::make::Draw;
use std::io::{self, Write};
use std::net::Ipv6Addr;

pub(super) const FIN: u8 = 1;
pub(super) const SYN: u8 = 2;
pub(super) const PSH: u8 = 8;
pub(super) const ACK: u8 = 16;

/// The client and the server of inputs with one connection.
pub(super) const CLIENT: (u32, u16) = (0x0a00_0001, 4_000);
pub(super) const SERVER: (u32, u16) = (0x0a00_0002, 80);
/// Their initial sequence numbers.
const ISN: [u32; 2] = [1_000, 5_000];
/// Options of a SYN: MSS 1460, window scale 14, SACK permitted.
const SYN_OPTIONS: [u8; 12] = [2, 4, 5, 0xb4, 1, 3, 3, 14, 1, 1, 4, 2];

/// A TCP segment over IPv4.
#[derive(Clone, Copy)]
pub(super) struct Segment<'a> {
    pub(super) from: (u32, u16),
    pub(super) to: (u32, u16),
    pub(super) seq: u32,
    pub(super) ack: u32,
    pub(super) flags: u8,
    pub(super) window: u16,
    pub(super) options: &'a [u8],
    /// Captured payload.
    pub(super) payload: &'a [u8],
    /// Payload on the wire.
    pub(super) length: u32,
}

/// Writes packets with microsecond times.
pub(super) struct Packets<'a> {
    out: &'a mut dyn Write,
    /// Microseconds since 1970.
    now: u64,
    packet: Vec<u8>,
    pub(super) draw: Draw,
    ip_id: u16,
}

impl<'a> Packets<'a> {
    /// Begins a capture.
    pub(super) fn new(out: &'a mut dyn Write) -> io::Result<Self> {
        let header = [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 1 << 20, 101];
        out.write_all(header.map(u32::to_le_bytes).as_flattened())?;
        Ok(Self { out, now: 1_700_000_000_000_000, packet: Vec::new(), draw: Draw(1), ip_id: 0 })
    }

    /// Lets time pass, microseconds.
    pub(super) fn wait(&mut self, micros: u64) {
        self.now += micros;
    }

    /// Writes a packet; `length` is its length on the wire.
    fn write(&mut self, length: u32) -> io::Result<()> {
        let fields = [(self.now / 1_000_000) as u32, (self.now % 1_000_000) as u32, self.packet.len() as u32, length];
        self.out.write_all(fields.map(u32::to_le_bytes).as_flattened())?;
        self.out.write_all(&self.packet)
    }

    /// Writes a segment. Packets longer than IP's length field have the length 0 there, as those of
    /// segmentation offload have.
    pub(super) fn tcp(&mut self, segment: &Segment<'_>) -> io::Result<()> {
        let header = 20 + segment.options.len();
        let length = 20 + header as u32 + segment.length;
        self.ip_id = self.ip_id.wrapping_add(1);
        self.packet.clear();
        self.packet.extend([0x45, 0]);
        self.packet.extend(u16::try_from(length).unwrap_or(0).to_be_bytes());
        self.packet.extend(self.ip_id.to_be_bytes());
        self.packet.extend([0x40, 0, 64, 6, 0, 0]);
        self.packet.extend(segment.from.0.to_be_bytes());
        self.packet.extend(segment.to.0.to_be_bytes());
        self.tcp_header((segment.from.1, segment.to.1), segment);
        self.packet.extend_from_slice(segment.payload);
        if segment.payload.len() as u32 == segment.length {
            self.set_checksum();
        }
        self.write(length)
    }

    /// Writes the TCP checksum of an IPv4 packet that was captured whole.
    fn set_checksum(&mut self) {
        let Some((ip, tcp)) = self.packet.split_at_mut_checked(20) else { return };
        let sum = |bytes: &[u8]| -> u64 {
            let (pairs, rest) = bytes.as_chunks::<2>();
            let pairs: u64 = pairs.iter().map(|pair| u64::from(u16::from_be_bytes(*pair))).sum();
            pairs + rest.first().map_or(0, |last| u64::from(*last) << 8)
        };
        let mut all = sum(&ip[12..]) + 6 + tcp.len() as u64 + sum(tcp);
        while all > 0xffff {
            all = (all & 0xffff) + (all >> 16);
        }
        tcp[16..18].copy_from_slice(&(!(all as u16)).to_be_bytes());
    }

    fn tcp_header(&mut self, (from, to): (u16, u16), segment: &Segment<'_>) {
        self.packet.extend(from.to_be_bytes());
        self.packet.extend(to.to_be_bytes());
        self.packet.extend(segment.seq.to_be_bytes());
        self.packet.extend(segment.ack.to_be_bytes());
        self.packet.extend([((20 + segment.options.len()) as u8 / 4) << 4, segment.flags]);
        self.packet.extend(segment.window.to_be_bytes());
        self.packet.extend([0; 4]);
        self.packet.extend_from_slice(segment.options);
    }

    /// Writes a SYN between two IPv6 addresses.
    pub(super) fn syn_v6(&mut self, from: Ipv6Addr, to: Ipv6Addr) -> io::Result<()> {
        let syn = Segment { seq: 1, ack: 0, flags: SYN, window: 999, options: &[], payload: &[], ..NOTHING };
        self.packet.clear();
        self.packet.extend([0x60, 0, 0, 0, 0, 20, 6, 64]);
        self.packet.extend(from.octets());
        self.packet.extend(to.octets());
        self.tcp_header((CLIENT.1, SERVER.1), &syn);
        self.write(60)
    }

    /// Writes an ICMP error, "fragmentation needed", about the server's segment at `offset`.
    pub(super) fn too_big(&mut self, mtu: u16, offset: u32) -> io::Result<()> {
        self.packet.clear();
        self.packet.extend([0x45, 0, 0, 56, 0, 0, 0, 0, 9, 1, 0, 0, 10, 0, 0, 9]);
        self.packet.extend(SERVER.0.to_be_bytes());
        self.packet.extend([3, 4, 0, 0, 0, 0]);
        self.packet.extend(mtu.to_be_bytes());
        self.packet.extend([0x45, 0, 5, 220, 0, 0, 0, 0, 9, 6, 0, 0]);
        self.packet.extend(SERVER.0.to_be_bytes());
        self.packet.extend(CLIENT.0.to_be_bytes());
        self.packet.extend(SERVER.1.to_be_bytes());
        self.packet.extend(CLIENT.1.to_be_bytes());
        self.packet.extend((ISN[1] + 1).wrapping_add(offset).to_be_bytes());
        self.write(56)
    }

    /// Writes the handshake between two ends.
    pub(super) fn handshake(&mut self, client: (u32, u16), server: (u32, u16)) -> io::Result<()> {
        let there = Segment { from: client, to: server, window: 65_535, ..NOTHING };
        let back = Segment { from: server, to: client, window: 65_535, ..NOTHING };
        self.tcp(&Segment { seq: ISN[0], flags: SYN, options: &SYN_OPTIONS, ..there })?;
        self.wait(10_000);
        self.tcp(&Segment { seq: ISN[1], ack: ISN[0] + 1, flags: SYN | ACK, options: &SYN_OPTIONS, ..back })?;
        self.wait(10);
        self.tcp(&Segment { seq: ISN[0] + 1, ack: ISN[1] + 1, flags: ACK, ..there })?;
        self.wait(10);
        Ok(())
    }

    /// Writes a segment of the connection: `offset` bytes of its sender came before it, and `acked`
    /// bytes of the other end are acknowledged.
    pub(super) fn data(&mut self, from_client: bool, places: [u32; 2], payload: Payload<'_>) -> io::Result<()> {
        self.data_between([CLIENT, SERVER], from_client, places, payload)
    }

    /// The same for another connection.
    pub(super) fn data_between(
        &mut self,
        [client, server]: [(u32, u16); 2],
        from_client: bool,
        [offset, acked]: [u32; 2],
        payload: Payload<'_>,
    ) -> io::Result<()> {
        let (from, to, own, peer) =
            if from_client { (client, server, ISN[0], ISN[1]) } else { (server, client, ISN[1], ISN[0]) };
        let (payload, length) = match payload {
            Payload::Cut(length) => (&[][..], length),
            Payload::Whole(bytes) => (bytes, bytes.len() as u32),
        };
        let (seq, ack) = ((own + 1).wrapping_add(offset), (peer + 1).wrapping_add(acked));
        let flags = if length > 0 { ACK | PSH } else { ACK };
        self.tcp(&Segment { from, to, seq, ack, flags, window: 65_535, payload, length, ..NOTHING })
    }

    /// Writes the server's payload, of which only headers were captured.
    pub(super) fn down(&mut self, offset: u32, length: u32) -> io::Result<()> {
        self.data(false, [offset, 0], Payload::Cut(length))
    }

    /// Writes the client's ACK up to this offset.
    pub(super) fn ack(&mut self, offset: u32) -> io::Result<()> {
        self.data(true, [0, offset], Payload::Cut(0))
    }

    /// Writes the client's ACK with SACK blocks, pairs of offsets.
    pub(super) fn sack(&mut self, offset: u32, blocks: &[(u32, u32)]) -> io::Result<()> {
        let mut options = vec![1, 1, 5, 2 + 8 * blocks.len() as u8];
        for (left, right) in blocks {
            options.extend((ISN[1] + 1).wrapping_add(*left).to_be_bytes());
            options.extend((ISN[1] + 1).wrapping_add(*right).to_be_bytes());
        }
        let (seq, ack) = (ISN[0] + 1, (ISN[1] + 1).wrapping_add(offset));
        let plain = Segment { from: CLIENT, to: SERVER, seq, ack, flags: ACK, window: 65_535, ..NOTHING };
        self.tcp(&Segment { options: &options, ..plain })
    }
}

/// Payload of a segment.
#[derive(Clone, Copy)]
pub(super) enum Payload<'a> {
    /// This many bytes of payload, which were not captured.
    Cut(u32),
    Whole(&'a [u8]),
}

/// A segment without payload, flags or ends.
pub(super) const NOTHING: Segment<'static> =
    Segment { from: (0, 0), to: (0, 0), seq: 0, ack: 0, flags: 0, window: 0, options: &[], payload: &[], length: 0 };
