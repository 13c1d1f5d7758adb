//! [`Connection`]: two hosts, the ways between them, and the programs at the ends.

use super::draw::Draw;
use super::host::{ACK, FIN, Host, PSH, Packet, SYN, SegmentToSend};
use super::plan::Plan;
use super::way::{InTransit, PathPacket};
use super::{MILLISECOND, Time};

/// The end that opens the connection.
pub(super) const CLIENT: usize = 0;
/// The server; packets are captured next to it.
pub(super) const SERVER: usize = 1;

/// Ethernet, IP and TCP headers with timestamps.
const HEADERS: u64 = 66;

/// The next step of a program.
#[derive(Clone, Copy, Debug)]
enum Action {
    Connect,
    Ask,
    Answer,
    Close,
}

/// The event that the programs wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Between,
    /// A request that ends at this position of the client's stream.
    Request(u64),
    /// An answer that ends at this position of the server's stream.
    Answer(u64),
}

/// A packet that passes the capture point.
pub(super) struct PassingPacket<'a> {
    pub(super) time: Time,
    pub(super) from: usize,
    pub(super) packet: &'a Packet,
    pub(super) connection: &'a Facts,
}

impl PassingPacket<'_> {
    /// Whether it is a connection's first packet.
    pub(super) fn opens(&self) -> bool {
        self.from == CLIENT && self.packet.flags & SYN != 0
    }
}

/// The common properties of a connection's packets.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) number: u32,
    pub(super) ipv6: bool,
    /// Initial sequence numbers, the client's first.
    pub(super) isn: [u32; 2],
    /// Payload of a full segment as the SYNs announce it.
    pub(super) mss: [u32; 2],
    /// The place and the length of the newest request and of the newest response.
    pub(super) message: [(u64, u64); 2],
}

/// A connection that is open.
#[derive(Debug)]
pub(super) struct Connection {
    plan: Plan,
    facts: Facts,
    hosts: [Host; 2],
    ways: [InTransit<Packet>; 2],
    deed: Option<(Time, Action)>,
    stage: Stage,
    left: u64,
    draw: Draw,
    closed: bool,
}

impl Connection {
    pub(super) fn new(plan: Plan, seed: u64) -> Self {
        let mut draw = Draw(seed ^ (u64::from(plan.number) << 20));
        let isn = [draw.next() as u32, draw.next() as u32];
        let clocks = [draw.next() as u32, draw.next() as u32];
        let mss = plan.hosts.map(|host| host.mss + 12);
        let facts = Facts { number: plan.number, ipv6: plan.ipv6, isn, mss, message: [(1, 0); 2] };
        Self {
            hosts: [CLIENT, SERVER].map(|end| Host::new(plan.hosts[end], clocks[end])),
            ways: plan.path.map(InTransit::new),
            deed: Some((plan.start, Action::Connect)),
            stage: Stage::Between,
            left: plan.exchanges,
            facts,
            draw,
            plan,
            closed: false,
        }
    }

    /// Time of the next event; `None` if the connection is over.
    pub(super) fn next(&self) -> Option<Time> {
        if self.closed {
            return None;
        }
        let hosts = self.hosts.iter().flat_map(|host| [host.timer, host.ack_due]);
        let ways = self.ways.iter().map(InTransit::next);
        hosts.chain(ways).chain([self.deed.map(|(at, _)| at)]).flatten().min()
    }

    /// Segments retransmitted so far.
    pub(super) fn resent(&self) -> u64 {
        self.hosts.iter().map(|host| host.resent).sum()
    }

    /// Lets happen what happens now, and shows what passes the capture point.
    pub(super) fn step(&mut self, now: Time, see: &mut dyn FnMut(&PassingPacket<'_>)) {
        for end in [CLIENT, SERVER] {
            if self.ways[end].next() == Some(now) {
                if let Some(packet) = self.ways[end].arrive() {
                    self.arrive(now, 1 - end, &packet, see);
                }
                return;
            }
        }
        if let Some((_, deed)) = self.deed.take_if(|(at, _)| *at == now) {
            return self.act(now, deed, see);
        }
        for end in [CLIENT, SERVER] {
            if self.hosts[end].ack_due == Some(now) {
                return self.put(now, end, SegmentToSend::bare(self.hosts[end].sent, ACK), see);
            }
            if self.hosts[end].timer == Some(now) {
                if let Some((start, length)) = self.hosts[end].time_out(now) {
                    self.put(now, end, SegmentToSend { start, length, flags: ACK | PSH, arrived: 0 }, see);
                }
                return self.pump(now, end, see);
            }
        }
    }

    fn act(&mut self, now: Time, deed: Action, see: &mut dyn FnMut(&PassingPacket<'_>)) {
        match deed {
            Action::Connect => self.put(now, CLIENT, SegmentToSend::bare(0, SYN), see),
            Action::Ask => self.write(now, CLIENT, see),
            Action::Answer => self.write(now, SERVER, see),
            Action::Close => {
                self.put(now, CLIENT, SegmentToSend::bare(self.hosts[CLIENT].sent, FIN | ACK), see);
                self.hosts[CLIENT].sent += 1;
            }
        }
    }

    /// A program writes a message.
    fn write(&mut self, now: Time, end: usize, see: &mut dyn FnMut(&PassingPacket<'_>)) {
        let range = &self.plan.sizes[end];
        let size = self.draw.octaves(range.start, range.end);
        let start = self.hosts[end].written;
        self.facts.message[end] = (start, size);
        self.hosts[end].written += size;
        self.stage = if end == CLIENT { Stage::Request(start + size) } else { Stage::Answer(start + size) };
        self.pump(now, end, see);
    }

    fn pump(&mut self, now: Time, end: usize, see: &mut dyn FnMut(&PassingPacket<'_>)) {
        while let Some((start, length)) = self.hosts[end].next(now) {
            let last = start + u64::from(length) == self.hosts[end].written;
            let flags = if last { ACK | PSH } else { ACK };
            self.put(now, end, SegmentToSend { start, length, flags, arrived: 0 }, see);
        }
    }

    fn put(&mut self, now: Time, from: usize, segment: SegmentToSend, see: &mut dyn FnMut(&PassingPacket<'_>)) {
        let packet = self.hosts[from].packet(now, segment);
        if from == SERVER {
            see(&PassingPacket { time: now, from, packet: &packet, connection: &self.facts });
        }
        let bytes = HEADERS + u64::from(segment.length);
        self.ways[from].send(now, PathPacket { packet, bytes, may_be_lost: segment.length > 0 }, &mut self.draw);
    }

    fn arrive(&mut self, now: Time, to: usize, packet: &Packet, see: &mut dyn FnMut(&PassingPacket<'_>)) {
        if to == SERVER {
            see(&PassingPacket { time: now, from: CLIENT, packet, connection: &self.facts });
        }
        if packet.flags & SYN != 0 {
            self.hosts[to].greet(packet);
            if to == SERVER {
                self.put(now, SERVER, SegmentToSend::bare(0, SYN | ACK), see);
            } else {
                self.put(now, CLIENT, SegmentToSend::bare(1, ACK), see);
                self.deed = Some((now + MILLISECOND / 8, Action::Ask));
            }
            return;
        }
        self.hosts[to].acknowledge(now, packet);
        if packet.length > 0 && self.hosts[to].receive(now, packet, self.plan.round_trip()) {
            let ack = SegmentToSend::bare(self.hosts[to].sent, ACK);
            self.put(now, to, SegmentToSend { arrived: packet.start, ..ack }, see);
        }
        if packet.flags & FIN != 0 {
            self.hosts[to].received += 1;
            let flags = if to == SERVER { FIN | ACK } else { ACK };
            self.put(now, to, SegmentToSend::bare(self.hosts[to].sent, flags), see);
            self.hosts[to].sent += u64::from(to == SERVER);
        } else if to == SERVER && self.hosts[SERVER].sent > self.hosts[SERVER].written {
            // The ACK of the server's FIN: nothing more comes.
            self.closed = packet.ack >= self.hosts[SERVER].sent;
        } else if to == SERVER && self.stage == Stage::Request(self.hosts[SERVER].received) {
            self.stage = Stage::Between;
            self.deed = Some((now + self.think(SERVER), Action::Answer));
        } else if to == CLIENT && self.stage == Stage::Answer(self.hosts[CLIENT].received) {
            self.stage = Stage::Between;
            self.left = self.left.saturating_sub(1);
            self.deed = Some(match self.left {
                0 => (now + self.plan.hold, Action::Close),
                _ => (now + self.think(CLIENT), Action::Ask),
            });
        }
        self.pump(now, to, see);
    }

    fn think(&mut self, end: usize) -> Time {
        let range = &self.plan.thinking[end];
        self.draw.octaves(range.start, range.end)
    }
}
