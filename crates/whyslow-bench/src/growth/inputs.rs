//! The hostile inputs: each aims at one structure that grows with what a capture holds.

use super::packets::{ACK, CLIENT, FIN, NOTHING, Packets, Payload, SERVER, SYN, Segment};
use std::io::{self, Write};
use std::net::Ipv6Addr;

/// The part of the program that reads an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// `whyslow FILE --json --threads 1`.
    Json,
    /// `whyslow condense FILE`.
    Scan,
    /// `whyslow watch - --jsonl`, from a pipe.
    Watch,
}

/// An input that can be made in any size.
#[derive(Clone, Copy, Debug)]
pub struct GrowingInput {
    /// Its name.
    pub name: &'static str,
    /// The hostile property.
    pub what: &'static str,
    /// The part that reads it.
    pub reads: Reads,
    /// Its size for a factor of 1: packets, or lines.
    pub count: u64,
    write: fn(&mut dyn Write, u64) -> io::Result<()>,
}

impl GrowingInput {
    /// Writes the input, this many times as large.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn write(&self, out: &mut dyn Write, factor: f64) -> io::Result<()> {
        (self.write)(out, (self.count as f64 * factor) as u64)
    }
}

/// All inputs.
pub fn inputs() -> Vec<GrowingInput> {
    use Reads::{Json, Scan, Watch};
    let of = |name, reads, count, write: fn(&mut dyn Write, u64) -> io::Result<()>, what| GrowingInput {
        name,
        what,
        reads,
        count,
        write,
    };
    vec![
        of("plain", Json, 400_000, plain, "an ordinary download, to compare with"),
        of("falling-hole", Json, 50_000, falling_hole, "a hole filled byte by byte from its upper end"),
        of("rising-hole", Json, 50_000, rising_hole, "60,000 segments behind a hole that is filled from its lower end"),
        of("split-hole", Json, 50_000, split_hole, "a hole of which every second byte comes"),
        of("holes", Json, 200_000, holes, "a hole before each segment"),
        of("held-holes", Json, 200_000, held_holes, "4,096 holes, and an ACK below them again and again"),
        of("covering-copies", Json, 20_000, covering_copies, "each retransmission covers 64,000 segments"),
        of("overlapping-copies", Json, 50_000, overlapping_copies, "65,000 segments that may overlap, each sent again"),
        of("sack-blocks", Json, 50_000, sack_blocks, "SACK blocks at random among 65,000 segments"),
        of("d-sacks", Json, 100_000, d_sacks, "reports of duplicates among 4,000 retransmissions"),
        of("sequence-jumps", Json, 50_000, sequence_jumps, "random sequence numbers"),
        of("random-acks", Json, 200_000, random_acks, "random acknowledgement numbers"),
        of("exchanges", Json, 100_000, exchanges, "requests and responses on one connection"),
        of("too-big", Json, 100_000, too_big, "an ICMP error before each segment, and copies"),
        of("reused-ports", Json, 200_000, reused_ports, "connections between the same two ends"),
        of("open-connections", Json, 400_000, open_connections, "connections that stay open, with a loss each"),
        of("open-connections-watch", Watch, 400_000, open_connections, "the same from a pipe"),
        of("syn-flood", Json, 200_000, syn_flood, "SYNs from as many addresses"),
        of("syn-flood-watch", Watch, 200_000, syn_flood, "the same from a pipe"),
        of("colliding-ends", Json, 50_000, colliding_ends, "IPv6 addresses that a hash without a key takes for one"),
        of("heads-in-jumbo", Scan, 100_000, heads_in_jumbo, "a packet full of beginnings of requests"),
        of("heads-in-packets", Scan, 400, heads_in_packets, "such packets of 60 kB"),
        of("text-names", Json, 50_000, super::text::names, "text with two new host names on each line"),
        of("text-lookups", Json, 50_000, super::text::lookups, "text with a DNS query without an answer on each line"),
        of("text-conversations", Json, 50_000, super::text::conversations, "text with a new conversation on each line"),
    ]
}

fn plain(out: &mut dyn Write, count: u64) -> io::Result<()> {
    let mut to = Packets::new(out)?;
    to.handshake(CLIENT, SERVER)?;
    for i in 0..count as u32 {
        to.down(i.wrapping_mul(1_448), 1_448)?;
        to.wait(20);
        if i % 2 == 1 {
            to.ack((i + 1).wrapping_mul(1_448))?;
        }
    }
    Ok(())
}

fn falling_hole(out: &mut dyn Write, count: u64) -> io::Result<()> {
    let (mut to, count) = (Packets::new(out)?, count as u32);
    to.handshake(CLIENT, SERVER)?;
    to.down(0, 1_000)?;
    to.wait(3);
    to.down(1_000 + count, 1_000)?;
    for i in (0..count).rev() {
        to.wait(1);
        to.down(1_000 + i, 1)?;
    }
    Ok(())
}

fn rising_hole(out: &mut dyn Write, count: u64) -> io::Result<()> {
    let (mut to, count) = (Packets::new(out)?, count as u32);
    to.handshake(CLIENT, SERVER)?;
    to.down(0, 1_000)?;
    for i in 0..60_000 {
        to.wait(1);
        to.down(1_000 + count + i, 1)?;
    }
    for i in 0..count {
        to.wait(1);
        to.down(1_000 + i, 1)?;
    }
    Ok(())
}

fn split_hole(out: &mut dyn Write, count: u64) -> io::Result<()> {
    let (mut to, count) = (Packets::new(out)?, count as u32);
    to.handshake(CLIENT, SERVER)?;
    to.down(0, 1_000)?;
    to.wait(3);
    to.down(1_000 + 2 * count, 1_000)?;
    for i in 0..count {
        to.wait(1);
        to.down(1_001 + 2 * i, 1)?;
    }
    Ok(())
}

fn holes(out: &mut dyn Write, count: u64) -> io::Result<()> {
    let mut to = Packets::new(out)?;
    to.handshake(CLIENT, SERVER)?;
    for i in 0..count as u32 {
        to.down(2 * i + 1, 1)?;
        to.wait(3);
    }
    Ok(())
}

fn held_holes(out: &mut dyn Write, count: u64) -> io::Result<()> {
    let mut to = Packets::new(out)?;
    to.handshake(CLIENT, SERVER)?;
    to.down(0, 10)?;
    for i in 0..4_096 {
        to.down(20 * i + 20, 10)?;
        to.wait(3);
    }
    for i in 0..count as u32 {
        to.sack(10, &[(20, 30 + i % 2)])?;
        to.wait(3);
    }
    Ok(())
}

fn covering_copies(out: &mut dyn Write, count: u64) -> io::Result<()> {
    let mut to = Packets::new(out)?;
    to.handshake(CLIENT, SERVER)?;
    for i in 0..65_000 {
        to.down(i, 1)?;
        to.wait(3);
    }
    for _ in 0..count {
        to.down(0, 64_000)?;
        to.wait(300_000);
    }
    Ok(())
}

fn overlapping_copies(out: &mut dyn Write, count: u64) -> io::Result<()> {
    let mut to = Packets::new(out)?;
    to.handshake(CLIENT, SERVER)?;
    to.down(0, 100)?;
    to.wait(3);
    to.down(50, 100)?;
    for i in 0..65_000 {
        to.down(150 + i, 1)?;
        to.wait(3);
    }
    for i in 0..count as u32 {
        to.down(150 + i % 65_000, 1)?;
        to.wait(300);
    }
    Ok(())
}

fn sack_blocks(out: &mut dyn Write, count: u64) -> io::Result<()> {
    let mut to = Packets::new(out)?;
    to.handshake(CLIENT, SERVER)?;
    for i in 0..65_000 {
        to.down(i * 10, 10)?;
        to.wait(1);
    }
    for _ in 0..count {
        let blocks: [(u32, u32); 4] = std::array::from_fn(|_| {
            let left = 10 + to.draw.below(600_000) as u32;
            (left, left + 1 + to.draw.below(3) as u32)
        });
        to.sack(5, &blocks)?;
        to.wait(3);
    }
    Ok(())
}

fn d_sacks(out: &mut dyn Write, count: u64) -> io::Result<()> {
    let mut to = Packets::new(out)?;
    to.handshake(CLIENT, SERVER)?;
    for i in 0..4_000 {
        to.down(i * 10, 10)?;
        to.wait(1);
    }
    for i in 0..4_000 {
        to.down(i * 10, 10)?;
        to.wait(400_000);
    }
    for i in 0..count as u32 {
        to.sack(40_000, &[(i % 20_000, i % 20_000 + 1)])?;
        to.wait(3);
    }
    Ok(())
}

fn sequence_jumps(out: &mut dyn Write, count: u64) -> io::Result<()> {
    let mut to = Packets::new(out)?;
    to.handshake(CLIENT, SERVER)?;
    for _ in 0..count {
        let place = to.draw.next() as u32;
        to.down(place, 100)?;
        to.wait(9);
    }
    Ok(())
}

fn random_acks(out: &mut dyn Write, count: u64) -> io::Result<()> {
    let mut to = Packets::new(out)?;
    to.handshake(CLIENT, SERVER)?;
    for i in 0..1_000 {
        to.down(i * 1_448, 1_448)?;
        to.wait(2);
    }
    for i in 0..count as u32 {
        let place = if i % 2 == 1 { i % 1_000 * 1_448 } else { to.draw.below(1_000_000) as u32 };
        to.ack(place)?;
        to.wait(3);
    }
    Ok(())
}

fn exchanges(out: &mut dyn Write, count: u64) -> io::Result<()> {
    let mut to = Packets::new(out)?;
    to.handshake(CLIENT, SERVER)?;
    for i in 0..count as u32 / 2 {
        to.data(true, [100 * i, 1_000 * i], Payload::Cut(100))?;
        to.wait(20_000);
        to.data(false, [1_000 * i, 100 * (i + 1)], Payload::Cut(1_000))?;
        to.wait(20_000);
    }
    Ok(())
}

fn too_big(out: &mut dyn Write, count: u64) -> io::Result<()> {
    let mut to = Packets::new(out)?;
    to.handshake(CLIENT, SERVER)?;
    for i in 0..count as u32 / 3 {
        to.down(i.wrapping_mul(1_448), 1_448)?;
        to.wait(3);
        let mtu = 576 + to.draw.below(900) as u16;
        to.too_big(mtu, i.wrapping_mul(1_448))?;
        to.wait(3);
        to.down(i.wrapping_mul(1_448), 500)?;
        to.wait(3);
    }
    Ok(())
}

fn reused_ports(out: &mut dyn Write, count: u64) -> io::Result<()> {
    let mut to = Packets::new(out)?;
    for _ in 0..count / 2 {
        let seq = to.draw.next() as u32;
        let there = Segment { from: CLIENT, to: SERVER, seq, window: 9, ..NOTHING };
        to.tcp(&Segment { flags: SYN, ..there })?;
        to.wait(9);
        to.tcp(&Segment { seq: seq.wrapping_add(1), flags: FIN | ACK, ..there })?;
        to.wait(9);
    }
    Ok(())
}

fn open_connections(out: &mut dyn Write, count: u64) -> io::Result<()> {
    let mut to = Packets::new(out)?;
    let connections = count as u32 / 8;
    for i in 0..connections {
        to.handshake((0x0b00_0000 + i, CLIENT.1), SERVER)?;
    }
    // The fourth one leaves out two segments, which the last ones fill.
    for part in [0, 1, 4, 2, 3] {
        for i in 0..connections {
            let client = (0x0b00_0000 + i, CLIENT.1);
            to.data_between([client, SERVER], false, [part * 1_448, 0], Payload::Cut(1_448))?;
            to.wait(2);
        }
    }
    Ok(())
}

fn syn_flood(out: &mut dyn Write, count: u64) -> io::Result<()> {
    let mut to = Packets::new(out)?;
    for i in 0..count as u32 {
        let from = (0x0b00_0000 + i, 1_024 + (i % 60_000) as u16);
        let seq = to.draw.next() as u32;
        to.tcp(&Segment { from, to: SERVER, seq, flags: SYN, window: 65_535, ..NOTHING })?;
        // For nearly all of them a second passes, in which a sender tries again.
        to.wait(30);
    }
    Ok(())
}

/// The first eight bytes of the lesser end make a factor of the unkeyed hash 0, whatever the other
/// end is.
fn colliding_ends(out: &mut dyn Write, count: u64) -> io::Result<()> {
    let mut to = Packets::new(out)?;
    let lesser = Ipv6Addr::new(0x157c, 0x4a7f, 0xb979, 0x379e, 0, 0, 0, 1);
    for i in 0..count {
        to.syn_v6(lesser, Ipv6Addr::new(0x2001, 0, (i >> 16) as u16, i as u16, 0, 0, 0, 2))?;
        to.wait(3);
    }
    Ok(())
}

fn heads_in_jumbo(out: &mut dyn Write, count: u64) -> io::Result<()> {
    let mut to = Packets::new(out)?;
    to.handshake(CLIENT, SERVER)?;
    // The longest packet that a reader takes has less than 262,144 bytes.
    let (mut offset, mut left) = (0, count as usize * 5);
    while left > 0 {
        let payload = b"GET /".repeat(left.div_ceil(5).min(48_000));
        to.data(true, [offset, 0], Payload::Whole(&payload))?;
        to.wait(100);
        offset = offset.wrapping_add(payload.len() as u32);
        left = left.saturating_sub(payload.len());
    }
    Ok(())
}

fn heads_in_packets(out: &mut dyn Write, count: u64) -> io::Result<()> {
    let mut to = Packets::new(out)?;
    to.handshake(CLIENT, SERVER)?;
    let payload = b"GET /".repeat(12_000);
    for i in 0..count as u32 {
        to.data(true, [i * 60_000, 0], Payload::Whole(&payload))?;
        to.wait(100);
    }
    Ok(())
}
