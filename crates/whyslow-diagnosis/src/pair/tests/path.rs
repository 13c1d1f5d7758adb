//! A synthetic download over a synthetic path, as two captures show it.

use crate::explain::Explainer;
use crate::pair::{ConnectionFingerprint, MatchedConnection, PacketCollector, WantedConnection, compare, find, shares};
use std::collections::BTreeSet;
use whyslow_analysis::{Connection, NotCompared, Pair};
use whyslow_core::capture::{LinkType, Packet, Sink, Summary};
use whyslow_core::wire::Flags;
use whyslow_units::Time;

pub const MSS: u32 = 1448;
pub const MS: i64 = 1_000_000;
/// When the first SYN is sent, by the client's clock.
const START: i64 = 1_700_000_000_000_000_000;

/// One packet on the wire; numbers are relative to the SYNs.
#[derive(Clone, Copy, Debug)]
pub struct Pkt {
    pub from: usize,
    pub seq: u32,
    pub ack: u32,
    pub len: u32,
    pub flags: Flags,
    pub stamp: u32,
    pub echo: u32,
    pub id: u16,
}

/// Events on the path.
#[derive(Clone, Debug)]
pub struct Path {
    /// One-way delays in nanoseconds: towards the server, towards the client.
    pub delay: [i64; 2],
    /// Bursts of four segments, and the time between two.
    pub bursts: u32,
    pub every: i64,
    /// By number, from 0: segments whose first copy is lost, ACKs that are lost, segments that
    /// arrive twice or 3 ms late.
    pub lost: BTreeSet<u32>,
    pub lost_acks: BTreeSet<u32>,
    pub doubled: BTreeSet<u32>,
    pub late: BTreeSet<u32>,
}

impl Default for Path {
    fn default() -> Self {
        let none = BTreeSet::new;
        Self {
            delay: [10 * MS, 10 * MS],
            bursts: 50,
            every: 2 * MS,
            lost: none(),
            lost_acks: none(),
            doubled: none(),
            late: none(),
        }
    }
}

/// Packets with the times at which a place saw them, in its order.
pub type Trace = Vec<(i64, Pkt)>;

impl Path {
    /// The server's segments: time, number, and whether retransmitted. First bursts, later the lost
    /// ones.
    fn sends(&self, start: i64) -> Vec<(i64, u32, bool)> {
        let [up, down] = self.delay;
        let mut sends = Vec::new();
        for segment in 0..self.bursts * 4 {
            let time = start + i64::from(segment / 4) * self.every;
            sends.push((time, segment, false));
            if self.lost.contains(&segment) {
                sends.push((time + 2 * (up + down), segment, true));
            }
        }
        sends.sort();
        sends
    }

    /// Runs the download; returns the packets that the client's host and the server's host see.
    pub fn run(&self) -> [Trace; 2] {
        let [up, down] = self.delay;
        let mut seen: [Trace; 2] = Default::default();
        let mut ids = [100_u16, 5_000];
        let stamp = |time: i64, host: usize| (time / MS) as u32 + [70_000, 900_000][host];
        let mut packet = |time: i64, from: usize, seq: u32, ack: u32, len: u32, flags: Flags| {
            ids[from] = ids[from].wrapping_add(1);
            let echo = stamp((time - self.delay[from]).max(0), 1 - from);
            Pkt { from, seq, ack, len, flags, stamp: stamp(time, from), echo, id: ids[from] }
        };
        let syn = packet(0, 0, 0, 0, 0, Flags::SYN);
        seen[0].push((0, syn));
        seen[1].push((up, syn));
        let answer = packet(up, 1, 0, 1, 0, Flags::SYN | Flags::ACK);
        seen[1].push((up, answer));
        let opened = up + down;
        seen[0].push((opened, answer));
        let request = packet(opened, 0, 1, 1, 100, Flags::ACK);
        seen[0].push((opened, request));
        seen[1].push((opened + up, request));
        let sends = self.sends(opened + up);
        let mut arrivals: Vec<(i64, Pkt)> = Vec::new();
        for (time, segment, again) in sends {
            let sent = packet(time, 1, 1 + segment * MSS, 101, MSS, Flags::ACK);
            seen[1].push((time, sent));
            if again || !self.lost.contains(&segment) {
                // Behind one another at 1 Gbit/s.
                let queued = if again { 0 } else { i64::from(segment % 4) * 12_000 };
                let late = if self.late.contains(&segment) { 3 * MS } else { 0 };
                arrivals.push((time + down + queued + late, sent));
                if self.doubled.contains(&segment) {
                    arrivals.push((time + down + queued + 10_000, sent));
                }
            }
        }
        arrivals.sort_by_key(|arrival| arrival.0);
        let mut got = BTreeSet::new();
        let mut next = 0;
        for (nth, (time, data)) in arrivals.into_iter().enumerate() {
            seen[0].push((time, data));
            got.insert((data.seq - 1) / MSS);
            while got.contains(&next) {
                next += 1;
            }
            let ack = packet(time + 5_000, 0, 101, 1 + next * MSS, 0, Flags::ACK);
            seen[0].push((time + 5_000, ack));
            if !self.lost_acks.contains(&(nth as u32)) {
                seen[1].push((time + 5_000 + up, ack));
            }
        }
        for seen in &mut seen {
            seen.sort_by_key(|(time, _)| *time);
        }
        seen
    }
}

/// Merges segments as a host's offload would: up to `most` segments of the server that follow each
/// other within 50 µs.
pub fn merged(seen: &[(i64, Pkt)], most: u32) -> Trace {
    let mut merged: Trace = Vec::new();
    for &(time, packet) in seen {
        // ACKs that pass in between do not keep a receiving host from merging.
        let open = merged.iter_mut().rev().take(6).find(|(_, other)| other.from == packet.from);
        if let Some((began, last)) = open
            && packet.from == 1
            && packet.len > 0
            && last.len > 0
            && last.seq + last.len == packet.seq
            && last.len < most * MSS
            && last.stamp == packet.stamp
            && time - *began < 50_000
        {
            last.len += packet.len;
            continue;
        }
        merged.push((time, packet));
    }
    merged
}

/// How a capture records the packets that it sees.
#[derive(Clone, Debug)]
pub struct View {
    pub isn: [u32; 2],
    pub client: ([u8; 4], u16),
    pub server: ([u8; 4], u16),
    /// Offset of its clock.
    pub offset: i64,
    pub drift: f64,
    pub stamps: bool,
    pub ids: bool,
    pub ttl: [u8; 2],
    pub mss: u16,
}

impl Default for View {
    fn default() -> Self {
        Self {
            isn: [0xffff_f000, 77],
            client: ([192, 0, 2, 1], 40_000),
            server: ([198, 51, 100, 2], 80),
            offset: 0,
            drift: 0.0,
            stamps: true,
            ids: true,
            ttl: [64, 64],
            mss: 1460,
        }
    }
}

#[derive(Clone, Debug)]
pub struct CapturedPacket {
    pub time: Time,
    pub bytes: Vec<u8>,
    pub original_len: u32,
}

/// A capture.
pub type Captured = Vec<CapturedPacket>;

impl View {
    pub fn capture(&self, seen: &[(i64, Pkt)]) -> Captured {
        seen.iter().map(|(time, packet)| self.captured(*time, packet)).collect()
    }

    fn captured(&self, time: i64, packet: &Pkt) -> CapturedPacket {
        let ends = [self.client, self.server];
        let (src, dst) = (ends[packet.from], ends[1 - packet.from]);
        let mut options = Vec::new();
        if packet.flags.has(Flags::SYN) {
            options.extend([2, 4]);
            options.extend(self.mss.to_be_bytes());
            options.extend([1, 3, 3, 7]);
        }
        if self.stamps {
            options.extend([1, 1, 8, 10]);
            options.extend(packet.stamp.to_be_bytes());
            options.extend(packet.echo.to_be_bytes());
        }
        let header = 20 + options.len();
        let mut tcp = Vec::new();
        tcp.extend(src.1.to_be_bytes());
        tcp.extend(dst.1.to_be_bytes());
        tcp.extend(self.isn[packet.from].wrapping_add(packet.seq).to_be_bytes());
        tcp.extend(self.isn[1 - packet.from].wrapping_add(packet.ack).to_be_bytes());
        tcp.extend([(header as u8 / 4) << 4, packet.flags.0 as u8]);
        tcp.extend([0x10, 0, 0, 0, 0, 0]);
        tcp.extend(options);
        let length = 20 + tcp.len() as u32 + packet.len;
        let [high, low] = (length as u16).to_be_bytes();
        let [id_high, id_low] = if self.ids { packet.id } else { 0 }.to_be_bytes();
        let mut bytes = vec![0x45, 0, high, low, id_high, id_low, 0x40, 0, self.ttl[packet.from], 6, 0, 0];
        bytes.extend(src.0);
        bytes.extend(dst.0);
        bytes.extend(tcp);
        let clock = START + time + self.offset + (time as f64 * self.drift) as i64;
        CapturedPacket { time: Time(clock), bytes, original_len: length }
    }
}

/// Gives a capture's packets to a sink.
pub fn feed(capture: &Captured, sink: &mut impl Sink) {
    for (index, CapturedPacket { time, bytes: data, original_len }) in capture.iter().enumerate() {
        let (frame, link) = (index as u64 + 1, LinkType(101));
        sink.packet(&Packet { frame, time: *time, link, data, original_len: *original_len });
    }
}

pub fn explained(capture: &Captured) -> (Vec<Connection>, Vec<ConnectionFingerprint>) {
    let mut explainer = Explainer::new();
    explainer.begin_capture("");
    feed(capture, &mut explainer);
    explainer.end_capture(Summary { format: "pcap", ..Summary::default() });
    let (analysis, fingerprints) = explainer.finish_with_fingerprints();
    (analysis.connections, fingerprints)
}

/// The connections that two captures share.
pub fn found(captures: [&Captured; 2]) -> Vec<MatchedConnection> {
    let [a, b] = captures.map(|capture| explained(capture).1);
    find(&a, &b)
}

/// Compares the connection with the most shared data of two captures.
pub fn compared(captures: [&Captured; 2]) -> Result<Pair, Option<NotCompared>> {
    let explained = captures.map(explained);
    let found = find(&explained[0].1, &explained[1].1).into_iter().next().ok_or(None)?;
    let most = shares(found.fingerprints.iter().map(|fingerprint| fingerprint.packets));
    let watched = [0, 1].map(|which| {
        let fingerprint = &found.fingerprints[which];
        let wanted = WantedConnection { id: fingerprint.id, client: fingerprint.ends[0], max_packets: most[which] };
        let mut watch = PacketCollector::new(which, [wanted]);
        watch.begin_capture();
        feed(captures[which], &mut watch);
        watch
    });
    let tracks = [0, 1].map(|which| watched[which].track(found.fingerprints[which].id).unwrap());
    let connection = |which: usize| {
        let connections = &explained[which].0;
        connections.iter().find(|connection| connection.id == found.fingerprints[which].id).unwrap()
    };
    compare(&found, tracks, [watched[0].time().unwrap(), watched[1].time().unwrap()], [connection(0), connection(1)])
}
