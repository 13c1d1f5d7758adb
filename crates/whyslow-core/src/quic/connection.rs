//! A QUIC connection without keys.

use super::header::{Kind, LEAST_INITIAL, Long};
use super::hello::CryptoStream;
use super::opened::{OpenedConnection, no_keys};
use super::protection::{InitialKeys, Opened};
use super::sent::{Endpoint, Known, Sent};
use crate::tls::{KeyRing, TAG};
use crate::wire::{Checksum, Datagram, Flags, Options, SackBlocks, Segment};
use std::collections::VecDeque;
use whyslow_analysis::types::{Decryption, End, Frame, Quic};
use whyslow_units::{Nanos, SeqNumber, Time};

/// A packet with less data than this, without its header and tag, only acknowledges or grants
/// credit: an ACK frame of two ranges with MAX_DATA and MAX_STREAM_DATA has 12 + 9 + 17 bytes (RFC
/// 9000 section 19); HTTP/3 requests rarely have less than 60.
const DATA: u64 = 48;
/// Overhead of a packet with a short header: the first byte, two bytes of the packet number, and
/// the tag.
const AROUND: u64 = 3 + TAG as u64;
/// Overhead of a STREAM frame.
const FRAME_HEADER: u64 = 4;
/// An ACK follows its data within max_ack_delay (RFC 9000 section 18.2; 25 ms by default). A packet
/// after twice that time is not an ACK of it.
const SPONTANEOUS: Nanos = Nanos::from_millis(50);
/// Bytes by which an ACK frame may grow from one packet to the next: each hole adds two numbers,
/// usually of one or two bytes.
const GROWTH: u64 = 16;
/// Longest packet that counts as only an ACK: 64 ranges, the most that quic-go, quinn and aioquic
/// send.
const LONGEST_ACK: u64 = 400;
/// After a silence of this length nothing is in flight.
const QUIET: Nanos = Nanos::from_millis(1_000);
/// Maximum number of round trips of a handshake, including the time in which the ends make keys.
const MOST_OF_HANDSHAKE: f64 = 4.0;
/// A smaller packet is a PING or a close, not a request.
const SMALL_REQUEST: u64 = 24;
/// The server's data after the handshake that is not a response (session tickets, SETTINGS,
/// HANDSHAKE_DONE) is smaller than this.
const GREETING: u64 = 2_000;
/// Maximum number of packets that are held until the role of a server's first ones is known.
const MAX_HELD: usize = 64;
/// Maximum number of connection IDs and paths that identify a connection: the ends' IDs, that of a
/// Retry, and a few migrations.
const MAX_NAMES: u8 = 12;
/// A larger datagram than all before it is a probe of the path's MTU (RFC 9000 section 14.3), which
/// carries no data: Ethernet's MTU at most, since larger ones may be several that a kernel joined.
const LARGEST_PROBE: u32 = 1_472;
/// Maximum number of unacknowledged datagrams of one end.
const MAX_FLIGHT: usize = 16_384;
/// Units of 1 KiB: this is precise enough for windows up to 64 MiB; larger ones do not limit
/// senders.
pub(super) const WINDOW_SCALE: u8 = 10;
/// A window that never limits: without keys the real one is unknown.
pub(super) const WINDOW: Options = Options {
    mss: None,
    window_scale: Some(WINDOW_SCALE),
    sack_permitted: true,
    sack: SackBlocks::NONE,
    timestamps: None,
    fast_open: false,
    mptcp: false,
    mptcp_join: false,
    malformed: false,
};

/// State of one end as a sender.
#[derive(Debug, Default)]
struct Sender {
    /// Sequence number after its bytes and after the SYN that represents the first Initial packet.
    next: u64,
    /// Sequence number up to which the other end can have received.
    acknowledged: u64,
    /// Capture times and ends of unacknowledged datagrams.
    flight: VecDeque<(Time, u64)>,
    /// Length of the connection ID in its packets with short headers, which the other end chose.
    id_length: u64,
    /// Round trip from the capture point to this end.
    toward: Nanos,
    /// The same during the handshake.
    handshake: Nanos,
    /// Time and frame of its last packet.
    last: Option<Place>,
    /// Longest packet of this end that may be an ACK, while the other end sends much data.
    longest_ack: u64,
    /// Bytes of datagrams, and of the largest one.
    wire: u64,
    largest: u32,
}

impl Sender {
    fn time_handshake(&mut self, took: Nanos) {
        (self.toward, self.handshake) = (took, took);
    }

    /// Lowers the round trip to `took`, the time of a response. If that is far less than in the
    /// handshake, in which an end makes keys, the packet answers another one; then returns `false`.
    fn shorten(&mut self, took: Nanos) -> bool {
        let is_answer = took.scale(MOST_OF_HANDSHAKE) >= self.handshake;
        if is_answer {
            self.toward = took.min(self.toward);
        }
        is_answer
    }
}

/// A connection.
#[derive(Debug)]
pub(super) struct QuicConnection {
    /// The addresses of the client and of the server.
    ends: [Endpoint; 2],
    /// Current address of the client.
    client_now: Endpoint,
    keys: Option<InitialKeys>,
    hello: CryptoStream,
    name: Option<String>,
    pub(super) facts: Quic,
    senders: [Sender; 2],
    syn: Option<Time>,
    answered: Option<Time>,
    established: bool,
    /// Whether the client has sent data, so that the handshake is complete.
    asked: bool,
    /// Time since when the server must not send more (amplification limit).
    blocked: Option<Time>,
    /// Packets since the server's greeting or response; it is not known yet which of them it is.
    held: Vec<Sent>,
    greeting: Option<Greeting>,
    out: Vec<Sent>,
    /// Number of IDs and paths beyond the first path.
    names: u8,
    /// The first packet after a long silence, until the other end sends its response.
    after_silence: Option<(End, Time)>,
    /// State of decryption with a key log.
    pub(super) opened: Option<Box<OpenedConnection>>,
    /// Whether a key log was given that has no secret of this connection.
    pub(super) lacks_keys: bool,
    /// Whether the first packet could not be decrypted.
    pub(super) is_unreadable: bool,
    pub(super) stopped: Option<Decryption>,
    /// The client's random number, which identifies the connection in a key log.
    pub(super) random: Option<[u8; 32]>,
    /// Destination ID of the client's Initial packets.
    pub(super) dcid: Vec<u8>,
    /// Time of the last segment.
    given: Time,
    pub(super) last: Time,
}

/// Whether a packet with this first byte has a short header. Without the fixed bit (RFC 9000
/// section 17.3.1), which ends may omit after the handshake (RFC 9287), bytes behind other packets
/// of the datagram are its padding.
fn is_short(first: u8, is_alone: bool) -> bool {
    first & 0x80 == 0 && (is_alone || first & 0x40 != 0)
}

/// State of a server's first data.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Greeting {
    /// The data is held.
    Held { last: Time, bytes: u64 },
    /// The following data is normal.
    Over,
}

impl QuicConnection {
    /// Begins with the client's first Initial packet; `None` if it cannot be decrypted.
    pub(super) fn open(long: &Long<'_>, datagram: &Datagram, time: Time) -> Option<Self> {
        let keys = InitialKeys::of_client(long.version, long.dcid)?;
        keys.open(long)?;
        let ends = [datagram.from, datagram.to];
        Some(Self { keys: Some(keys), ..Self::new(ends, long.version, long.dcid, time) })
    }

    /// Between a client and a server.
    pub(super) fn new(ends: [Endpoint; 2], version: u32, dcid: &[u8], time: Time) -> Self {
        Self {
            ends,
            client_now: ends[0],
            keys: None,
            hello: CryptoStream::default(),
            name: None,
            facts: Quic { version, ..Quic::default() },
            senders: Default::default(),
            syn: None,
            answered: None,
            established: false,
            asked: false,
            blocked: None,
            held: Vec::new(),
            greeting: None,
            out: Vec::new(),
            names: 0,
            after_silence: None,
            opened: None,
            lacks_keys: false,
            is_unreadable: false,
            stopped: None,
            random: None,
            dcid: dcid.to_vec(),
            given: time,
            last: time,
        }
    }

    /// Takes what an end sent of the handshake, which was read elsewhere. `opens`: the first of the
    /// client's hello, once more perhaps.
    pub(super) fn on_handshake(&mut self, at: Place, opens: bool) {
        self.last = self.last.max(at.time);
        match at.from {
            End::Client if self.answered.is_none() => {
                if self.syn.is_none() || opens {
                    self.facts.initial_retransmissions += u64::from(self.syn.is_some());
                    self.syn = Some(at.time);
                    self.give(at, Flags::SYN, 0);
                }
            }
            End::Client => self.establish(at),
            End::Server if self.answered.is_none() => self.answer(at),
            End::Server => {}
        }
    }

    /// The client's hello comes again behind a Retry.
    pub(super) fn on_retry(&mut self) {
        (self.facts.retry, self.syn) = (true, None);
    }

    pub(super) fn place(&self, datagram: &Datagram, (time, frame): (Time, Frame)) -> Place {
        let from = if datagram.from == self.ends[1] { End::Server } else { End::Client };
        Place { from, time, frame, ttl: datagram.ttl, ecn: datagram.ecn }
    }

    pub(super) fn key(&self) -> [Endpoint; 2] {
        let [client, server] = self.ends;
        if client <= server { [client, server] } else { [server, client] }
    }

    /// Length of the connection ID in an end's packets with short headers.
    pub(super) fn id_length(&self, from: End) -> usize {
        self.senders[from.index()].id_length as usize
    }

    pub(super) fn push(&mut self, sent: Sent) {
        self.out.push(sent);
    }

    /// Counts an additional ID or path; returns whether the limit allows it.
    pub(super) fn may_have_more_names(&mut self) -> bool {
        let is_room = self.names < MAX_NAMES;
        self.names += u8::from(is_room);
        is_room
    }

    pub(super) fn taken(&mut self) -> (std::vec::Drain<'_, Sent>, Known<'_>) {
        let opened = self.opened.as_ref().filter(|opened| opened.has_opened());
        let loops = opened.map_or([None; 2], |opened| opened.loops);
        let opened = opened.map(|opened| opened.facts());
        let decryption = match &self.opened {
            Some(opened) => Some(opened.decryption()),
            None => self.stopped.clone().or_else(|| self.lacks_keys.then(no_keys)),
        };
        let known = Known { facts: &self.facts, name: self.name.as_deref(), opened, decryption, loops };
        (self.out.drain(..), known)
    }

    /// A connection id that an end announced in an encrypted packet.
    pub(super) fn take_id(&mut self) -> Option<Vec<u8>> {
        self.opened.as_mut()?.ids.pop()
    }

    /// Returns the held packets as data.
    pub(super) fn finish(&mut self) -> Vec<Sent> {
        self.infer_acks(None);
        let out = std::mem::take(&mut self.out);
        std::mem::take(&mut self.held).into_iter().chain(out).collect()
    }

    /// Processes a datagram; returns the ID that its sender chose, if the datagram contains it.
    pub(super) fn take(
        &mut self,
        payload: &[u8],
        datagram: &Datagram,
        (time, frame): (Time, Frame),
        keys: Option<&KeyRing>,
    ) -> Option<Vec<u8>> {
        let at = self.place(datagram, (time, frame));
        let from = at.from;
        if from == End::Client && datagram.from != self.client_now {
            self.client_now = datagram.from;
            self.facts.migrations += 1;
        }
        self.infer_acks(Some(time));
        self.time_exchange_after_silence(at);
        self.last = self.last.max(time);
        self.senders[from.index()].wire += u64::from(datagram.wire);
        let beyond = u64::from(datagram.wire).saturating_sub(payload.len() as u64);
        let (mut rest, mut chosen, mut is_opening) = (payload, None, false);
        let mut data = 0;
        while let Some((long, behind)) = Long::split(rest) {
            chosen = self.on_long(&long, at, &mut is_opening).or(chosen);
            self.find_keys(keys, frame);
            if self.open_long(&long, at) {
                rest = behind;
                continue;
            }
            if long.kind == Kind::ZeroRtt {
                data += (long.packet.len() as u64).saturating_sub(long.number_at as u64 + AROUND + FRAME_HEADER);
            }
            rest = behind;
        }
        let is_alone = rest.len() == payload.len();
        let is_short = rest.first().is_some_and(|first| is_short(*first, is_alone));
        if is_short {
            let around = 1 + self.senders[from.index()].id_length + AROUND - 1;
            data = (rest.len() as u64 + beyond).saturating_sub(around);
        }
        // The client's Initial packet was not captured, or this is not a response to it.
        if is_short && from == End::Server && self.answered.is_none() {
            self.answer(at);
            is_opening = true;
        }
        self.amplification(at);
        let largest = &mut self.senders[from.index()].largest;
        let is_larger = (*largest + 1..=LARGEST_PROBE).contains(&datagram.wire);
        *largest = datagram.wire.max(*largest);
        if is_short && is_alone && is_larger && datagram.wire > LEAST_INITIAL && self.opened.is_none() {
            return chosen;
        }
        if is_short && self.open_short(rest, at, beyond > 0) {
            self.asked |= from == End::Client;
        } else if !is_opening {
            self.on_data(at, data, is_short);
        }
        self.senders[from.index()].last = Some(at);
        chosen
    }

    fn on_long(&mut self, long: &Long<'_>, at: Place, is_opening: &mut bool) -> Option<Vec<u8>> {
        match (long.kind, at.from) {
            (Kind::Initial, End::Client) => {
                *is_opening |= self.on_client_initial(long, at);
            }
            (Kind::Retry, End::Server) => {
                self.facts.retry = true;
                // The following packets are protected with keys from the ID that the server chose.
                self.dcid = long.scid.to_vec();
                self.opened = None;
                self.keys = InitialKeys::of_client(long.version, long.scid);
                self.hello = CryptoStream::default();
                self.syn = None;
                return None;
            }
            (Kind::VersionNegotiation, _) => {
                self.facts.version_negotiation = true;
                return None;
            }
            (_, End::Server) if self.answered.is_none() => {
                self.facts.version = long.version;
                self.answer(at);
                *is_opening = true;
            }
            _ => {}
        }
        let to = at.from.other().index();
        self.senders[to].id_length = long.scid.len() as u64;
        Some(long.scid.to_vec())
    }

    /// The server's first packet becomes a SYN-ACK.
    fn answer(&mut self, at: Place) {
        self.answered = Some(at.time);
        if self.random.is_some() {
            self.hello = CryptoStream::default();
        }
        if let Some(syn) = self.syn {
            self.senders[1].time_handshake(at.time - syn);
        }
        self.give(at, Flags::SYN | Flags::ACK, 0);
    }

    /// The first Initial packet becomes a SYN, and so does each one without new data before the
    /// server responds.
    fn on_client_initial(&mut self, long: &Long<'_>, at: Place) -> bool {
        let opened = self.keys.as_ref().and_then(|keys| keys.open(long));
        if self.answered.is_some() {
            return self.random.is_none() && opened.is_some_and(|opened| self.read_hello(&opened.frames).is_some());
        }
        let Some(opened) = opened.or_else(|| self.restart(long)) else { return false };
        let Some(repeated) = self.read_hello(&opened.frames) else { return false };
        if self.syn.is_none() || repeated {
            self.facts.initial_retransmissions += u64::from(repeated);
            self.syn = Some(at.time);
            self.give(at, Flags::SYN, 0);
        }
        true
    }

    /// Adds frames of the client's hello, which takes two packets with a post-quantum key share; a
    /// server may acknowledge the first one before it has the second. Returns whether they repeat
    /// known data; `None` without such frames.
    fn read_hello(&mut self, frames: &[u8]) -> Option<bool> {
        let repeated = self.hello.take(frames);
        if let Some(hello) = self.hello.hello() {
            self.name = hello.server_name;
            self.facts.alpn = hello.alpn;
            self.random = Some(hello.random);
            self.facts.client = hello.parameters;
        }
        repeated
    }

    /// With another version, or another ID, the client restarts: after a Version Negotiation, or a
    /// Retry that was not captured.
    fn restart(&mut self, long: &Long<'_>) -> Option<Opened> {
        let keys = InitialKeys::of_client(long.version, long.dcid)?;
        let opened = keys.open(long)?;
        self.facts.version = long.version;
        self.keys = Some(keys);
        (self.dcid, self.opened) = (long.dcid.to_vec(), None);
        self.hello = CryptoStream::default();
        self.syn = None;
        Some(opened)
    }

    /// Tracks the amplification limit: until the client's address is validated, the server may send
    /// three times the bytes it received.
    fn amplification(&mut self, at: Place) {
        let [client, server] = &self.senders;
        if self.asked || self.established && at.from == End::Server && self.blocked.is_none() {
            return;
        }
        match at.from {
            // A datagram less: the next one must fit completely.
            End::Server => {
                if let Some(since) = self.blocked.take() {
                    self.facts.amplification_wait_s += at.time - since;
                }
                let full = server.wire + 1_200 > 3 * client.wire;
                self.blocked = (full && !self.established).then_some(at.time);
            }
            End::Client => {}
        }
    }

    /// The client's first packet after the server's becomes the ACK that ends the handshake.
    pub(super) fn establish(&mut self, at: Place) {
        if at.from == End::Client && self.answered.is_some() && !self.established {
            self.established = true;
            let since = self.answered.unwrap_or(at.time);
            self.senders[0].time_handshake(at.time - since);
            self.give(at, Flags::ACK, 0);
        }
    }

    fn on_data(&mut self, at: Place, data: u64, is_short: bool) {
        let other = at.from.other().index();
        self.establish(at);
        if self.is_opened() {
            return;
        }
        if self.answered.is_none() && data == 0 {
            return;
        }
        let answers = self.senders[other].last.is_some_and(|last| at.time - last.time < SPONTANEOUS);
        // A server sends such small unrequested data only before it ends the connection.
        let asks = at.from == End::Client && is_short && !answers && data >= SMALL_REQUEST;
        let is_data = data > self.longest_ack(at.from, data, answers) || asks;
        self.acknowledge(at);
        let bytes = if is_data { data.saturating_sub(FRAME_HEADER) } else { 0 };
        if is_data && at.from == End::Client {
            self.asked = true;
        }
        self.classify_greeting(at, bytes);
        let sent = self.give(at, Flags::ACK, bytes);
        self.greet(at, bytes, sent);
    }

    /// Updates the longest packet that may be only an ACK, after a packet with `data` bytes. Each
    /// loss adds a range to ACK frames, so the size of ACKs grows in steps, while a request is
    /// larger at once.
    fn longest_ack(&mut self, from: End, data: u64, answers: bool) -> u64 {
        let is_flooded = !self.senders[from.other().index()].flight.is_empty();
        let sender = &mut self.senders[from.index()];
        if !answers || !is_flooded {
            sender.longest_ack = DATA;
        }
        let longest = sender.longest_ack.max(DATA);
        if data <= longest {
            sender.longest_ack = longest.max(data + GROWTH).min(LONGEST_ACK);
        }
        longest
    }

    /// An end acknowledges within [`SPONTANEOUS`]: if it sent a packet after the other end's last
    /// data, and none since, that packet was the ACK of all of it. `now`: `None` at the end of the
    /// capture.
    fn infer_acks(&mut self, now: Option<Time>) {
        if self.greeting.is_none() {
            return;
        }
        for from in [End::Client, End::Server] {
            let [own, other] = [from, from.other()].map(|end| &self.senders[end.index()]);
            let (Some(&(sent, end)), Some(at)) = (other.flight.back(), own.last) else { continue };
            let toward = own.toward;
            let is_overdue = now.is_none_or(|now| now - sent > toward + SPONTANEOUS);
            if !is_overdue || at.time < sent {
                continue;
            }
            if !self.senders[from.index()].shorten(at.time - sent) {
                continue;
            }
            let other = &mut self.senders[from.other().index()];
            other.acknowledged = end;
            other.flight.clear();
            // After the segments since then, which acknowledge none of it.
            let at = Place { time: at.time.max(self.given), ..at };
            let ack = self.give(at, Flags::ACK, 0);
            self.greet(at, 0, ack);
        }
    }

    /// A packet after a long silence gets an immediate response, at least an ACK. It is faster than
    /// the handshake, in which an end computes keys.
    fn time_exchange_after_silence(&mut self, at: Place) {
        if at.time - self.last > QUIET {
            self.after_silence = Some((at.from, at.time));
        } else if let Some((from, time)) = self.after_silence.filter(|(from, _)| *from != at.from) {
            self.senders[from.other().index()].shorten(at.time - time);
            self.after_silence = None;
        }
    }

    /// Acknowledges all bytes that passed more than `toward` ago: the responding end has received
    /// them.
    fn acknowledge(&mut self, at: Place) {
        let until = at.time - self.senders[at.from.index()].toward;
        let other = &mut self.senders[at.from.other().index()];
        while let Some(&(time, end)) = other.flight.front()
            && time <= until
        {
            other.acknowledged = end;
            other.flight.pop_front();
        }
    }

    /// A server's first data is its greeting if other data follows later without a request;
    /// otherwise it is the response.
    fn classify_greeting(&mut self, at: Place, bytes: u64) {
        let Some(Greeting::Held { last, bytes: so_far }) = self.greeting else { return };
        let round_trip = self.senders[0].toward + self.senders[1].toward;
        let is_late = at.time - last > SPONTANEOUS.max(round_trip.scale(0.5));
        let is_over = match at.from {
            End::Server => bytes > 0 && (is_late || so_far + bytes > GREETING),
            End::Client => bytes > 0,
        };
        if !is_over && self.held.len() < MAX_HELD {
            return;
        }
        self.greeting = Some(Greeting::Over);
        let mut held = std::mem::take(&mut self.held);
        if at.from == End::Server && is_late && bytes > 0 {
            // Its bytes belong to no message.
            let server = &mut self.senders[1];
            server.next -= so_far;
            server.acknowledged = server.acknowledged.min(server.next);
            server.flight.clear();
            let start = SeqNumber(server.next.max(1) as u32);
            for sent in &mut held {
                if (sent.segment.src, sent.segment.src_port) == self.ends[1] {
                    (sent.segment.seq, sent.segment.payload_len) = (start, 0);
                } else {
                    sent.segment.ack = start;
                }
            }
        }
        self.out.extend(held);
    }

    /// Holds a packet that may belong to the greeting.
    fn greet(&mut self, at: Place, bytes: u64, sent: Option<Sent>) {
        let Some(sent) = sent else { return };
        let is_server = at.from == End::Server && bytes > 0;
        match &mut self.greeting {
            None if is_server && bytes < GREETING => {
                self.greeting = Some(Greeting::Held { last: at.time, bytes });
                self.held.push(sent);
            }
            None if is_server => {
                self.greeting = Some(Greeting::Over);
                self.out.push(sent);
            }
            Some(Greeting::Held { last, bytes: so_far }) => {
                if is_server {
                    *last = at.time;
                    *so_far += bytes;
                }
                self.held.push(sent);
            }
            _ => self.out.push(sent),
        }
    }

    /// Creates the segment; those of the handshake are emitted immediately.
    fn give(&mut self, at: Place, flags: Flags, bytes: u64) -> Option<Sent> {
        self.given = self.given.max(at.time);
        let opens = flags.has(Flags::SYN);
        let (own, other) = (at.from.index(), at.from.other().index());
        let acknowledged = self.senders[other].acknowledged.max(1);
        let sender = &mut self.senders[own];
        let start = if opens { 0 } else { sender.next.max(1) };
        sender.next = start + bytes;
        if bytes > 0 {
            if sender.flight.len() == MAX_FLIGHT {
                sender.flight.pop_front();
            }
            sender.flight.push_back((at.time, sender.next));
        }
        let is_pure = bytes == 0 && !opens;
        let ack = if flags.has(Flags::ACK) { acknowledged } else { 0 };
        let segment = Segment {
            options: if opens { WINDOW } else { Options::default() },
            ..self.segment(at, flags, (start, bytes), ack)
        };
        let sent = Sent { segment, time: at.time, frame: at.frame, from: at.from, streams: Vec::new() };
        let is_handshake = opens || is_pure && self.senders[own].next <= 1 && self.greeting.is_none();
        if is_handshake {
            self.out.push(sent);
            return None;
        }
        Some(sent)
    }

    /// A segment with `bytes` bytes from `start` on, and a window that never limits.
    pub(super) fn segment(&self, at: Place, flags: Flags, (start, bytes): (u64, u64), ack: u64) -> Segment<'static> {
        let ends = if at.from == End::Client { self.ends } else { [self.ends[1], self.ends[0]] };
        Segment {
            src: ends[0].0,
            dst: ends[1].0,
            src_port: ends[0].1,
            dst_port: ends[1].1,
            seq: SeqNumber(start as u32),
            ack: SeqNumber(ack as u32),
            flags,
            window: u16::MAX,
            payload_len: u32::try_from(bytes).unwrap_or(u32::MAX),
            payload: &[],
            options: Options::default(),
            ip_id: None,
            ttl: at.ttl,
            ecn: at.ecn,
            checksum: Checksum::Unknown,
            fragment: false,
            tunnels: 0,
        }
    }
}

/// Sender, time and frame of a packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) from: End,
    pub(super) time: Time,
    pub(super) frame: Frame,
    ttl: u8,
    ecn: u8,
}
