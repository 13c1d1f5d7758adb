//! A session that nothing slows, to be merged with a capture.

use super::packets::{Packet, checksum};

/// The client's port.
pub const PORT: u16 = 50_022;
const MS: i64 = 1_000_000;

/// An ssh session: a key every three seconds, its echo, what every third key's command prints, and
/// a line of a log now and then. `None` for link types it cannot be written with.
pub fn idle_ssh(link: u16, start: i64, end: i64) -> Option<Vec<Packet>> {
    // Times near the end of what a clock can hold leave no room.
    if !matches!(link, 1 | 101) || end > i64::MAX / 2 {
        return None;
    }
    let mut session = Session { link, now: start.saturating_add(MS), seq: [7_000, 9_000], id: 0, packets: Vec::new() };
    session.send(0, 2, 0);
    session.pass(2 * MS);
    session.send(1, 2 | 16, 0);
    session.pass(MS / 10);
    session.send(0, 16, 0);
    for key in 1.. {
        session.pass(3_000 * MS);
        if session.now >= end {
            break;
        }
        session.send(0, 16 | 8, 36);
        session.pass(3 * MS);
        session.send(1, 16 | 8, if key % 3 == 0 { 900 } else { 36 });
        session.pass(MS / 10);
        session.send(0, 16, 0);
        if key % 2 == 0 {
            session.pass(1_200 * MS);
            session.send(1, 16 | 8, 120);
            session.pass(MS / 10);
            session.send(0, 16, 0);
        }
    }
    Some(session.packets)
}

/// A connection between two hosts, captured at the client.
struct Session {
    link: u16,
    now: i64,
    /// Next sequence numbers of client and server.
    seq: [u32; 2],
    id: u16,
    packets: Vec<Packet>,
}

impl Session {
    fn pass(&mut self, time: i64) {
        self.now += time;
    }

    /// A segment from the client (0) or the server (1).
    fn send(&mut self, from: usize, flags: u8, payload: usize) {
        let ends = [([192, 0, 2, 22], PORT), ([198, 51, 100, 22], 22)];
        let ((src, source), (dst, target)) = (ends[from], ends[1 - from]);
        // MSS, SACK permitted, window scale 7.
        let options: &[u8] = if flags & 2 == 0 { &[] } else { &[2, 4, 5, 180, 4, 2, 1, 1, 1, 3, 3, 7] };
        let mut tcp = [source.to_be_bytes(), target.to_be_bytes()].concat();
        tcp.extend(self.seq[from].to_be_bytes());
        tcp.extend(if flags & 16 == 0 { 0 } else { self.seq[1 - from] }.to_be_bytes());
        tcp.extend([(20 + options.len() as u8) << 2, flags, 0xfa, 0xf0, 0, 0, 0, 0]);
        tcp.extend(options);
        tcp.extend(std::iter::repeat_n(b'k', payload));
        let length = (tcp.len() as u16).to_be_bytes();
        let sum = checksum(&[&src, &dst, &[0, 6], &length, &tcp]);
        tcp[16..18].copy_from_slice(&sum);
        self.id += 1;
        let mut ip = vec![0x45, 0];
        ip.extend((20 + tcp.len() as u16).to_be_bytes());
        ip.extend(self.id.to_be_bytes());
        ip.extend([0x40, 0, 64 - 3 * from as u8, 6, 0, 0]);
        ip.extend(src);
        ip.extend(dst);
        let sum = checksum(&[&ip]);
        ip[10..12].copy_from_slice(&sum);
        let mut bytes = if self.link == 1 { vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0] } else { Vec::new() };
        bytes.extend(ip);
        bytes.extend(tcp);
        self.seq[from] += payload as u32 + u32::from(flags & 2 != 0);
        self.packets.push(Packet { time: self.now, length: bytes.len() as u32, bytes });
    }
}
