//! Counts packets, retransmissions and windows in a recorded capture, by rules simple enough to
//! check by hand.
//!
//! Reads the lab's own captures: pcap with nanoseconds, Ethernet, IPv4 or IPv6, TCP. It never
//! panics; [`Counted::skipped`] counts unreadable records. It does not ask why anything happened,
//! and shares no code with the analysis, which it judges.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read};
use std::path::Path;

/// Counts of one direction of all connections together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Direction {
    /// TCP packets.
    pub packets: u64,
    /// Payload, retransmissions included.
    pub bytes: u64,
    /// Data segments without a new byte.
    pub retransmitted: u64,
    /// Data segments with new bytes that arrived after later ones.
    pub out_of_order: u64,
    /// Pure ACKs with the number and window of the one before, while the other side had data
    /// outstanding.
    pub duplicate_acks: u64,
    /// Segments (not SYN, FIN or RST) that advertise a window of zero.
    pub zero_window: u64,
    /// Data segments that end where the advertised window ends.
    pub window_full: u64,
    /// SYNs beyond each connection's first.
    pub syn_retransmitted: u64,
}

/// Counts of a capture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// From the client: the sender of a connection's first SYN.
    pub from_client: Direction,
    /// From the other end.
    pub from_server: Direction,
    /// First SYN, nanoseconds.
    pub first: Option<u64>,
    /// Last TCP packet.
    pub last: Option<u64>,
    /// Records that are not TCP or too short.
    pub skipped: u64,
}

/// Reads and counts a capture file.
pub fn count(file: &Path) -> io::Result<Counted> {
    let mut bytes = Vec::new();
    std::fs::File::open(file)?.read_to_end(&mut bytes)?;
    Ok(count_bytes(&bytes))
}

/// Counts a capture in memory; one that is not a pcap of ours is empty.
pub fn count_bytes(bytes: &[u8]) -> Counted {
    let mut counter = Counter::default();
    let le = |at: usize| word(bytes, at);
    let fraction = match le(0) {
        Some(0xa1b2_3c4d) => 1,
        Some(0xa1b2_c3d4) => 1000,
        _ => return counter.counted,
    };
    let mut at = 24_usize;
    while let (Some(seconds), Some(part), Some(len)) = (le(at), le(at + 4), le(at + 8)) {
        let Some(frame) = bytes.get(at + 16..).and_then(|rest| rest.get(..len as usize)) else { break };
        let time = u64::from(seconds) * 1_000_000_000 + u64::from(part) * fraction;
        match segment(frame) {
            Some(segment) => counter.add(time, &segment),
            None => counter.counted.skipped += 1,
        }
        at += 16 + frame.len();
    }
    counter.counted
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn be16(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

const FIN: u8 = 1;
const SYN: u8 = 2;
const RST: u8 = 4;

/// The fields of a segment that counting needs.
struct Segment {
    /// Source and destination: address and port. An IPv4 address is the last four bytes.
    ends: [([u8; 16], u16); 2],
    seq: u32,
    ack: u32,
    flags: u8,
    window: u16,
    payload: u32,
    scale: Option<u8>,
}

fn segment(frame: &[u8]) -> Option<Segment> {
    let ip = frame.get(14..)?;
    let mut ends = [([0; 16], 0); 2];
    let (tcp, tcp_len) = match be16(frame, 12)? {
        0x0800 => {
            let header = usize::from(ip.first()? & 0x0f) * 4;
            if *ip.get(9)? != 6 {
                return None;
            }
            for (end, at) in ends.iter_mut().zip([12, 16]) {
                end.0.get_mut(12..)?.copy_from_slice(ip.get(at..at + 4)?);
            }
            (ip.get(header..)?, u32::from(be16(ip, 2)?).checked_sub(u32::try_from(header).ok()?)?)
        }
        0x86dd => {
            if *ip.get(6)? != 6 {
                return None;
            }
            for (end, at) in ends.iter_mut().zip([8, 24]) {
                end.0.copy_from_slice(ip.get(at..at + 16)?);
            }
            (ip.get(40..)?, u32::from(be16(ip, 4)?))
        }
        _ => return None,
    };
    ends[0].1 = be16(tcp, 0)?;
    ends[1].1 = be16(tcp, 2)?;
    let header = usize::from(tcp.get(12)? >> 4) * 4;
    Some(Segment {
        ends,
        seq: be32(tcp, 4)?,
        ack: be32(tcp, 8)?,
        flags: *tcp.get(13)?,
        window: be16(tcp, 14)?,
        payload: tcp_len.checked_sub(u32::try_from(header).ok()?)?,
        scale: scale(tcp.get(20..header).unwrap_or_default()),
    })
}

/// The window scale option (RFC 7323 section 2.2).
fn scale(mut options: &[u8]) -> Option<u8> {
    loop {
        match options {
            [] | [0, ..] => return None,
            [1, rest @ ..] => options = rest,
            [3, 3, shift, ..] => return Some((*shift).min(14)),
            [_, len, ..] => options = options.get(usize::from(*len).max(2)..)?,
            [_] => return None,
        }
    }
}

/// One end of a connection. Sequence numbers are relative to the first one, so that they do not
/// wrap.
#[derive(Default)]
struct End {
    first: Option<u32>,
    /// End of the highest data so far.
    top: u64,
    /// Received ranges, disjoint: start and end.
    received: BTreeMap<u64, u64>,
    /// The latest ACK and unscaled window that this end sent; the ACK in the peer's numbers.
    ack: Option<(u64, u16)>,
    scale: Option<u8>,
    syns: u64,
}

impl End {
    fn relative(&self, seq: u32) -> u64 {
        let first = self.first.unwrap_or(seq);
        // Near the top, by the shorter way round.
        let top = first.wrapping_add(self.top as u32);
        let distance = i64::from(seq.wrapping_sub(top) as i32);
        self.top.saturating_add_signed(distance)
    }

    /// Adds a range; returns whether any of it was new.
    fn insert(&mut self, start: u64, end: u64) -> bool {
        let (mut from, mut to) = (start, end);
        if let Some((s, e)) = self.received.range(..=start).next_back()
            && *e >= start
        {
            if *e >= end {
                return false;
            }
            from = *s;
        }
        let inside: Vec<u64> = self.received.range(from..=end).map(|(s, _)| *s).collect();
        for s in inside {
            if let Some(e) = self.received.remove(&s) {
                to = to.max(e);
            }
        }
        self.received.insert(from, to);
        true
    }
}

#[derive(Default)]
struct Counter {
    counted: Counted,
    /// By its ends: client, server.
    connections: HashMap<[([u8; 16], u16); 2], [End; 2]>,
}

impl Counter {
    fn add(&mut self, time: u64, s: &Segment) {
        let reversed = [s.ends[1], s.ends[0]];
        let from_client = if s.flags & SYN != 0 && s.ack == 0 {
            self.counted.first.get_or_insert(time);
            true
        } else {
            !self.connections.contains_key(&reversed)
        };
        self.counted.last = Some(time);
        let key = if from_client { s.ends } else { reversed };
        let [client, server] = self.connections.entry(key).or_default();
        let (own, peer) = if from_client { (client, server) } else { (server, client) };
        let counts = if from_client { &mut self.counted.from_client } else { &mut self.counted.from_server };
        counts.packets += 1;
        counts.bytes += u64::from(s.payload);
        if s.flags & SYN != 0 {
            own.syns += 1;
            counts.syn_retransmitted += u64::from(own.syns > 1);
            own.scale = s.scale;
            own.first = Some(s.seq.wrapping_add(1));
            return;
        }
        if s.flags & RST != 0 {
            return;
        }
        own.first.get_or_insert(s.seq);
        let start = own.relative(s.seq);
        let end = start + u64::from(s.payload);
        if s.payload > 0 {
            let behind = start < own.top;
            let new = own.insert(start, end);
            counts.retransmitted += u64::from(!new);
            counts.out_of_order += u64::from(new && behind);
            own.top = own.top.max(end);
            if let Some((ack, window)) = peer.ack {
                // Both ends must have offered scaling for it to be in force.
                let shift = peer.scale.filter(|_| own.scale.is_some()).unwrap_or(0);
                counts.window_full += u64::from(end >= ack + (u64::from(window) << shift));
            }
        }
        counts.zero_window += u64::from(s.window == 0 && s.flags & FIN == 0);
        let ack = peer.relative(s.ack);
        if s.payload == 0 && s.flags & FIN == 0 && own.ack == Some((ack, s.window)) && peer.top > ack {
            counts.duplicate_acks += 1;
        }
        own.ack = Some((ack, s.window));
    }
}

#[cfg(test)]
mod tests;
