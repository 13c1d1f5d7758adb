//! [`OpenedConnection`]: a QUIC connection that a key log decrypts.

use super::frames::{Ack, Frame, Frames, Piece};
use super::header::{Kind, Long, V2};
use super::hello::{CryptoStream, chosen_suite, server_extensions};
use super::ledger::{Acknowledged, Application, Ledger, Places, Sending};
use super::protection::InitialKeys;
use crate::tls::{PacketKeys, QuicSecrets, is_readable};
use crate::types::{
    DecryptedDirection, Decryption, End, Quic, QuicOpened, StreamBytes, TransportParameters, Undecrypted,
};
use crate::units::{Nanos, SeqNumber, Time};
use crate::wire::SackBlocks;

/// Most searches for the length of the packets in one large datagram: a sender's kernel splits it
/// (UDP_SEGMENT), and a receiver's merges several (UDP_GRO).
const MAX_SEARCHES: u32 = 16;
/// Packet lengths to try: from the minimum that a path must carry (RFC 9000 section 14) to
/// Ethernet's MTU minus the headers.
const PACKET_LENGTHS: std::ops::RangeInclusive<usize> = 1_200..=1_472;
/// Most pieces of stream bytes that wait for the next segment.
const MAX_PENDING: usize = 64;

/// Number of packets that may lack an ACK: after the second one it is sent immediately, and one
/// packet may be in flight.
const DELAYED_ACK: usize = 2;

/// TLS 1.3, which QUIC requires (RFC 9001 section 4.2).
const TLS13: u16 = 0x0304;
/// The packet number spaces (RFC 9000 section 12.3).
const INITIAL: usize = 0;
const HANDSHAKE: usize = 1;
const APPLICATION: usize = 2;

/// The keys of one end's 1-RTT packets (RFC 9001 section 6).
#[derive(Debug)]
struct Phases {
    current: PacketKeys,
    next: Option<PacketKeys>,
    previous: Option<PacketKeys>,
    phase: bool,
}

/// State of decryption of both ends' packets.
#[derive(Debug)]
pub(super) struct OpenedConnection {
    secrets: QuicSecrets,
    is_v2: bool,
    /// Keys of the server's Initial packets.
    initial: Option<InitialKeys>,
    server_hello: CryptoStream,
    server_handshake: CryptoStream,
    pub(super) suite: Option<u16>,
    handshake: [Option<PacketKeys>; 2],
    traffic: [Option<Phases>; 2],
    early: Vec<PacketKeys>,
    largest: [[Option<u64>; 3]; 2],
    /// Packet numbers of the last 64 packets, to ignore packets duplicated by the network.
    recent: [Recent; 2],
    /// Lowest round trip from the capture point to each end.
    pub(super) loops: [Option<Nanos>; 2],
    ledgers: [Ledger; 2],
    granted: [u64; 2],
    application: Application,
    lengths: [Option<usize>; 2],
    searches: u32,
    plain: Vec<u8>,
    pending: Vec<StreamBytes>,
    pub(super) ids: Vec<Vec<u8>>,
    pub(super) facts: QuicOpened,
    /// The protocol that the server chose.
    pub(super) alpn: Option<String>,
    pub(super) bytes: [u64; 2],
    pub(super) stopped: [Option<Undecrypted>; 2],
}

/// A packet whose frames are parsed.
#[derive(Clone, Copy, Debug)]
struct PacketAt {
    from: End,
    number: u64,
    /// Uncaptured packets directly before it.
    missing: Option<Places>,
    time: Time,
}

/// The effect of a packet, as parts of a segment.
#[derive(Debug, Default)]
pub(super) struct Emission {
    /// Places of stream bytes.
    pub(super) places: Vec<Places>,
    /// Whether it acknowledges data, or extends a window.
    pub(super) acknowledges: bool,
    /// Everything that the other end sent before this place is acknowledged.
    pub(super) ack: u64,
    /// Acknowledged ranges after that.
    pub(super) sack: SackBlocks,
    /// Bytes that the other end may send after `ack`; `None` without a known limit.
    pub(super) window: Option<u64>,
}

impl OpenedConnection {
    /// `dcid`: the destination ID of the client's Initial packets.
    pub(super) fn new(secrets: QuicSecrets, version: u32, dcid: &[u8], facts: &Quic) -> Self {
        let is_v2 = version == V2;
        let mut opened = Self {
            early: secrets.early(is_v2).collect(),
            secrets,
            is_v2,
            initial: InitialKeys::of_server(version, dcid),
            server_hello: CryptoStream::default(),
            server_handshake: CryptoStream::default(),
            suite: None,
            handshake: [None, None],
            traffic: [None, None],
            largest: [[None; 3]; 2],
            recent: Default::default(),
            loops: [None; 2],
            ledgers: Default::default(),
            granted: [0; 2],
            application: if facts.is_http3() { Application::Http3 } else { Application::Other },
            lengths: [None; 2],
            searches: 0,
            plain: Vec::new(),
            pending: Vec::new(),
            ids: Vec::new(),
            facts: QuicOpened::default(),
            alpn: None,
            bytes: [0; 2],
            stopped: [None; 2],
        };
        opened.offer(End::Client, &facts.client);
        opened
    }

    /// Changes the version that the server chose: the keys of its packets have other labels.
    pub(super) fn set_version(&mut self, version: u32, dcid: &[u8]) {
        if self.is_v2 != (version == V2) {
            self.is_v2 = version == V2;
            self.initial = InitialKeys::of_server(version, dcid);
        }
    }

    /// Whether application packets can be decrypted.
    pub(super) fn is_ready(&self) -> bool {
        self.traffic.iter().all(Option::is_some)
    }

    /// Whether any packet was decrypted.
    pub(super) fn has_opened(&self) -> bool {
        self.facts.packets != [0; 2]
    }

    fn offer(&mut self, from: End, offered: &TransportParameters) {
        let ledger = &mut self.ledgers[from.other().index()];
        ledger.max_data = offered.initial_max_data;
        // From the receiver's view, a stream that it opened is a local one.
        ledger.first_windows = [
            offered.initial_max_stream_data_bidi_local,
            offered.initial_max_stream_data_bidi_remote,
            offered.initial_max_stream_data_uni,
        ];
    }

    /// Processes a packet with a long header. Returns the effect of a 0-RTT packet.
    pub(super) fn long(&mut self, long: &Long<'_>, from: End, time: Time) -> Option<Emission> {
        match (long.kind, from) {
            (Kind::Initial, End::Server) => {
                let keys = self.initial.take()?;
                if self.open_long(keys.keys(), long, from, INITIAL) {
                    self.read_crypto(INITIAL);
                }
                self.initial = Some(keys);
                None
            }
            (Kind::Handshake, _) => {
                let keys = self.handshake[from.index()].take()?;
                if self.open_long(&keys, long, from, HANDSHAKE) && from == End::Server {
                    self.read_crypto(HANDSHAKE);
                }
                self.handshake[from.index()] = Some(keys);
                None
            }
            (Kind::ZeroRtt, End::Client) => {
                let candidates = std::mem::take(&mut self.early);
                let fits = candidates.iter().position(|keys| self.open_long(keys, long, from, APPLICATION));
                self.early = candidates;
                let fits = fits?;
                self.early.swap(0, fits);
                self.early.truncate(1);
                self.facts.early_packets += 1;
                self.frames(from, self.largest[from.index()][APPLICATION]?, time)
            }
            _ => None,
        }
    }

    /// Decrypts a packet with a long header into `plain`.
    fn open_long(&mut self, keys: &PacketKeys, long: &Long<'_>, from: End, space: usize) -> bool {
        let largest = &mut self.largest[from.index()][space];
        let Some(header) = keys.header(long.packet, long.number_at, *largest) else { return false };
        let is_open = keys.open(long.packet, long.number_at, &header, &mut self.plain);
        if is_open {
            *largest = Some(largest.map_or(header.number, |largest| largest.max(header.number)));
        }
        is_open
    }

    /// Parses the server's handshake messages.
    fn read_crypto(&mut self, space: usize) {
        let plain = std::mem::take(&mut self.plain);
        let stream = if space == INITIAL { &mut self.server_hello } else { &mut self.server_handshake };
        for frame in Frames::new(&plain) {
            if let Frame::Crypto { offset, data } = frame {
                stream.add_piece(offset, data);
            }
        }
        self.plain = plain;
        if self.suite.is_none() {
            self.suite = chosen_suite(&self.server_hello);
            self.make_keys();
        }
        if self.facts.server.is_none()
            && let Some((parameters, alpn)) = server_extensions(&self.server_handshake)
        {
            self.offer(End::Server, &parameters);
            let is_http3 = alpn.as_ref().is_some_and(|name| name == "h3" || name.starts_with("h3-"));
            if alpn.is_some() {
                self.application = if is_http3 { Application::Http3 } else { Application::Other };
            }
            (self.facts.server, self.alpn) = (Some(parameters), alpn);
        }
    }

    fn make_keys(&mut self) {
        let Some(suite) = self.suite else { return };
        if !is_readable(suite) {
            self.stopped = [Some(Undecrypted::UnsupportedCipher); 2];
            return;
        }
        self.handshake = self.secrets.handshake(self.is_v2, suite);
        self.traffic = self.secrets.traffic(self.is_v2, suite).map(|keys| {
            let current = keys?;
            Some(Phases { next: current.next(), current, previous: None, phase: false })
        });
        if !self.is_ready() {
            self.stopped = [Some(Undecrypted::NoKeys); 2];
        }
    }

    /// Processes a packet with a short header, or several of one length. `id`: length of the
    /// connection ID in it. Calls `give` with the effect of each.
    pub(super) fn short(
        &mut self,
        packet: &[u8],
        (from, id): (End, usize),
        time: Time,
        give: &mut dyn FnMut(Emission, &mut Vec<StreamBytes>),
    ) -> bool {
        let mut rest = packet;
        let mut has_opened = false;
        while !rest.is_empty() {
            let Some((length, number)) = self.open_first(rest, from, id) else {
                self.facts.unopened[from.index()] += 1;
                break;
            };
            has_opened = true;
            self.facts.packets[from.index()] += 1;
            rest = rest.get(length..).unwrap_or_default();
            let is_new = self.recent[from.index()].is_new(number, time);
            if is_new && let Some(emission) = self.frames(from, number, time) {
                give(emission, &mut self.pending);
            }
        }
        has_opened
    }

    /// Decrypts the first packet; returns its length and its number.
    fn open_first(&mut self, rest: &[u8], from: End, id: usize) -> Option<(usize, u64)> {
        let known =
            self.lengths[from.index()].filter(|&known| rest.len() > known && rest.len() > *PACKET_LENGTHS.end());
        if let Some(known) = known
            && let Some(number) = self.open_short(rest.get(..known)?, from, id)
        {
            return Some((known, number));
        }
        if let Some(number) = self.open_short(rest, from, id) {
            return Some((rest.len(), number));
        }
        if rest.len() <= *PACKET_LENGTHS.end() || self.searches >= MAX_SEARCHES {
            return None;
        }
        self.searches += 1;
        for length in PACKET_LENGTHS {
            if let Some(number) = self.open_short(rest.get(..length)?, from, id) {
                self.lengths[from.index()] = Some(length);
                return Some((length, number));
            }
        }
        None
    }

    fn open_short(&mut self, packet: &[u8], from: End, id: usize) -> Option<u64> {
        let phases = self.traffic[from.index()].as_mut()?;
        let largest = &mut self.largest[from.index()][APPLICATION];
        let header = phases.current.header(packet, 1 + id, *largest)?;
        let plain = &mut self.plain;
        if (header.first & 4 != 0) == phases.phase {
            if !phases.current.open(packet, 1 + id, &header, plain) {
                return None;
            }
        } else if phases.next.as_ref().is_some_and(|next| next.open(packet, 1 + id, &header, plain)) {
            let current = phases.next.take()?;
            phases.next = current.next();
            phases.previous = Some(std::mem::replace(&mut phases.current, current));
            phases.phase = !phases.phase;
            self.facts.key_updates += u64::from(from == End::Client);
        } else {
            let previous = phases.previous.as_ref()?;
            if !previous.open(packet, 1 + id, &header, plain) {
                return None;
            }
        }
        *largest = Some(largest.map_or(header.number, |largest| largest.max(header.number)));
        Some(header.number)
    }

    /// Processes the frames of a decrypted packet.
    pub(super) fn plain(&mut self, from: End, number: u64, frames: &[u8], time: Time) -> Option<Emission> {
        self.plain.clear();
        self.plain.extend_from_slice(frames);
        let is_new = self.recent[from.index()].is_new(number, time);
        if is_new { self.frames(from, number, time) } else { None }
    }

    /// Parses the frames in `plain`; `None` if they have no effect that a segment shows.
    fn frames(&mut self, from: End, number: u64, time: Time) -> Option<Emission> {
        let plain = std::mem::take(&mut self.plain);
        let (own, other) = (from.index(), from.other().index());
        let missing = self.ledgers[own].on_packet(number);
        self.facts.missing[own] += missing.map_or(0, |(first, last)| last - first + 1);
        let packet = PacketAt { from, number, missing, time };
        let mut emission = Emission::default();
        let mut acknowledged = Acknowledged::default();
        let mut begins = false;
        for frame in Frames::new(&plain) {
            match frame {
                Frame::Ack(ack) => {
                    self.note_loop(from, self.recent[other].time_of(ack.largest).map(|sent| time - sent));
                    self.acknowledge(other, &ack, &mut acknowledged);
                }
                Frame::Stream(piece) => {
                    begins |= piece.offset == 0 && piece.stream & 3 == 0;
                    self.carry(&packet, &piece, &mut emission.places);
                }
                Frame::MaxData(most) => self.ledgers[other].grant_connection(most, time),
                Frame::MaxStreamData { stream, most } => self.ledgers[other].grant(stream, most, time),
                Frame::DataBlocked | Frame::StreamDataBlocked => self.facts.blocked[own] += 1,
                Frame::ResetStream { stream } => self.ledgers[own].reset(stream),
                Frame::NewConnectionId(id) if self.ids.len() < MAX_PENDING => self.ids.push(id.to_vec()),
                Frame::NewConnectionId(_) | Frame::Crypto { .. } | Frame::Close | Frame::Other => {}
            }
        }
        self.plain = plain;
        if begins {
            self.accept_turn(&packet, &mut acknowledged);
        }
        self.answer(other, acknowledged, &mut emission);
        (emission.acknowledges || !emission.places.is_empty()).then_some(emission)
    }

    fn acknowledge(&mut self, sender: usize, ack: &Ack<'_>, found: &mut Acknowledged) {
        let ledger = &mut self.ledgers[sender];
        ack.ranges().for_each(|range| ledger.acknowledge(range, found));
        ledger.complete_ack(found);
        let marks = &mut self.facts.congestion_marks[sender];
        *marks = ack.congestion_marks.max(*marks);
    }

    /// A request or response begins: its sender has received the previous message, although its ACK
    /// is delayed. Every second packet is acknowledged immediately (RFC 9000 section 13.2.2), so if
    /// more packets lack an ACK, they are lost or in flight.
    fn accept_turn(&mut self, packet: &PacketAt, found: &mut Acknowledged) {
        let sender = packet.from.other().index();
        let loop_back = self.loops[packet.from.index()].unwrap_or_default();
        let Some(numbers) = self.ledgers[sender].few_unacknowledged(DELAYED_ACK) else { return };
        let times = numbers.iter().map(|&number| self.recent[sender].time_of(number));
        if times.flatten().filter(|&sent| packet.time - sent >= loop_back).count() == numbers.len() {
            numbers.iter().for_each(|&number| self.ledgers[sender].acknowledge((number, number), found));
        }
    }

    fn carry(&mut self, packet: &PacketAt, piece: &Piece<'_>, places: &mut Vec<Places>) {
        let PacketAt { from, number, missing, time } = *packet;
        let Piece { stream, offset, data, fin } = *piece;
        let ledger = &mut self.ledgers[from.index()];
        let before = ledger.next();
        let sending = Sending { number, stream, offset, len: data.len() as u64, fin, time, missing };
        let placed = ledger.carry(&sending, (from == End::Client, self.application));
        if ledger.next() > before {
            let loop_back = self.loops[from.other().index()].unwrap_or_default();
            let after = ledger.resume(time, loop_back);
            self.note_loop(from, after);
        }
        let ledger = &self.ledgers[from.index()];
        self.bytes[from.index()] += data.len() as u64;
        if self.pending.len() < MAX_PENDING {
            let seq = 1 + placed.first().map_or(ledger.next(), |(at, _)| *at);
            self.pending.push(StreamBytes { from, stream, offset, bytes: data.to_vec(), fin, seq, time });
        }
        for one in placed {
            match places.last_mut() {
                Some(last) if last.1 == one.0 => last.1 = one.1,
                _ => places.push(one),
            }
        }
    }

    /// Adds a sample of the round trip to an end: the time from a packet to the end's reaction.
    fn note_loop(&mut self, end: End, took: Option<Nanos>) {
        let Some(took) = took.filter(|took| *took > Nanos::ZERO) else { return };
        let known = self.loops[end.index()].get_or_insert(took);
        *known = took.min(*known);
    }

    /// The acknowledgments that a segment of one end contains for the data of the other, `sender`.
    fn answer(&mut self, sender: usize, acknowledged: Acknowledged, emission: &mut Emission) {
        let ledger = &self.ledgers[sender];
        let edge = ledger.right_edge();
        emission.ack = ledger.acknowledged();
        emission.window = edge.map(|edge| edge.saturating_sub(emission.ack));
        let grows = edge.is_some_and(|edge| edge > self.granted[sender]);
        if let Some(edge) = edge {
            self.granted[sender] = edge;
        }
        emission.acknowledges = acknowledged.packets > 0 || grows;
        let latest = acknowledged.behind_hole.iter().rev().filter_map(|places| ledger.block_of(places.0));
        let mut seen: Vec<Places> = Vec::new();
        for block in latest.chain(ledger.blocks().take(4)) {
            if seen.len() < 4 && !seen.contains(&block) {
                seen.push(block);
                emission.sack.push(SeqNumber(1 + block.0 as u32), SeqNumber(1 + block.1 as u32));
            }
        }
    }

    /// The place of the next byte of an end.
    pub(super) fn next_place(&self, from: End) -> u64 {
        self.ledgers[from.index()].next()
    }

    /// Takes the stream bytes that wait for a segment.
    pub(super) fn take_pending(&mut self) -> Vec<StreamBytes> {
        std::mem::take(&mut self.pending)
    }

    /// The facts from the packets so far.
    pub(super) fn facts(&self) -> QuicOpened {
        QuicOpened { flow_control: self.ledgers.each_ref().map(|ledger| ledger.flow), ..self.facts }
    }

    /// How many packets could be decrypted.
    pub(super) fn decryption(&self) -> Decryption {
        let direction = |from: End| DecryptedDirection {
            from,
            records: self.facts.packets[from.index()],
            bytes: self.bytes[from.index()],
            stopped: self.stopped[from.index()],
        };
        let directions = [direction(End::Client), direction(End::Server)];
        Decryption { version: Some(TLS13), cipher_suite: self.suite, directions }
    }

    /// Stops decryption of this direction.
    pub(super) fn stop(&mut self, why: Undecrypted) {
        self.stopped = [Some(why); 2];
    }
}

/// The recently seen packets.
#[derive(Clone, Copy, Debug)]
struct Recent {
    /// Packet number after the largest one.
    next: u64,
    /// Bit set of the packets before it.
    seen: u64,
    /// Capture times of the last ones, by number.
    times: [(u64, Time); TIMES],
}

/// Number of packets with known times: an ACK follows at latest when the second of them has
/// arrived, or after max_ack_delay.
const TIMES: usize = 64;

impl Default for Recent {
    fn default() -> Self {
        Self { next: 0, seen: 0, times: [(u64::MAX, Time(0)); TIMES] }
    }
}

impl Recent {
    /// Capture time of a packet, if it is one of the last.
    fn time_of(&self, number: u64) -> Option<Time> {
        let (of, time) = *self.times.get(number as usize % TIMES)?;
        (of == number).then_some(time)
    }

    /// Records a packet; returns `false` if it was already recorded.
    fn is_new(&mut self, number: u64, time: Time) -> bool {
        if let Some(slot) = self.times.get_mut(number as usize % TIMES).filter(|slot| slot.0 != number) {
            *slot = (number, time);
        }
        if number >= self.next {
            let step = number - self.next + 1;
            self.seen = if step < 64 { self.seen << step | 1 } else { 1 };
            self.next = number + 1;
            return true;
        }
        let back = self.next - 1 - number;
        let bit = 1u64.checked_shl(u32::try_from(back).unwrap_or(64)).unwrap_or(0);
        let is_new = bit == 0 || self.seen & bit == 0;
        self.seen |= bit;
        is_new
    }
}

/// The result if a key log has no secrets of a connection.
pub(super) fn no_keys() -> Decryption {
    let direction = |from| DecryptedDirection { from, records: 0, bytes: 0, stopped: Some(Undecrypted::NoKeys) };
    Decryption { version: None, cipher_suite: None, directions: [direction(End::Client), direction(End::Server)] }
}
