//! The actions of both programs, as messages: sender, size, the message it follows, and the delay.
//!
//! A message begins where its sender had got something new from the other end, or where the
//! analysis has the program for the reason of a pause. What windows, losses and the path held back
//! is one message: the kernel makes these pauses again by itself.

use super::captured::{Before, least_rtt};
use super::packets::{Packet, Packets};
use whyslow_analysis::{Connection, End, LimitingFactor};
use whyslow_diagnosis::series::Kind;
use whyslow_lab::scenario::script::{self, MAX_MESSAGES};
use whyslow_lab::scenario::units::{Size, Time};
use whyslow_lab::scenario::work::Side;

/// A pause that is shorter is a program at work, or the machine's.
const MIN_PAUSE: f64 = 0.002;

/// A packet with less payload is a message of its own: a request or a grant, bytes.
const SMALL: u64 = 536;
/// A part of a transfer's time from which on a window of the programs counts.
const GRANTED: f64 = 0.1;

/// Messages, and from which bytes of the connection on.
#[derive(Clone, Debug, Default)]
pub(super) struct Conversation {
    pub messages: Vec<Message>,
}

/// A message as it was captured.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub from: End,
    /// Its first byte's place.
    pub start: u64,
    pub bytes: u64,
    /// It answers the data received up to then: this many bytes of the other end. `None`: it
    /// follows its own end's previous message.
    pub needs: Option<u64>,
    /// Seconds that the program waited.
    pub wait: f64,
    /// When its first byte passed.
    pub at: f64,
}

/// The bytes of one end up to now.
struct Half {
    /// All before this place was sent.
    sent: u64,
    /// When the last new byte was.
    last: f64,
    /// When its latest message began.
    begun: f64,
    /// How much of the other end it had when that began.
    had: u64,
}

impl Conversation {
    /// The conversation of a connection, up to the moment `until`.
    pub fn of(connection: &Connection, packets: &Packets, until: f64) -> Self {
        let rtt = least_rtt(connection);
        let distance = [End::Client, End::Server].map(|end| distance(connection, packets, end, rtt));
        let start = connection.start_s.as_secs_f64();
        let half = || Half { sent: 0, last: start, begun: start, had: 0 };
        let mut halves = [half(), half()];
        let mut messages: Vec<Message> = Vec::new();
        let mut latest = [None::<usize>; 2];
        let data = packets.all.iter().filter(|packet| packet.len > 0 && packet.at <= until);
        for packet in data {
            let own = packet.from.index();
            let is_new = matches!(packet.kind, Kind::New | Kind::OutOfOrder) || packet.end() > halves[own].sent;
            if !is_new || packet.end() <= halves[own].sent {
                continue;
            }
            let had = packet.ack.unwrap_or(0).min(halves[1 - own].sent);
            let cut = Cut { packet, half: &halves[own], had, rtt, is_first: latest[own].is_none() };
            let split = cut.decide(connection);
            let bytes = packet.end() - halves[own].sent;
            match (split, latest[own]) {
                (None, Some(open)) => messages[open].bytes += bytes,
                (split, _) => {
                    let limit = split.flatten();
                    let answers = had > halves[own].had;
                    let by_timer = waited_for_timer(connection, packets, packet);
                    let wait = (cut.wait(packets, answers.then_some(had), distance[own], limit) - by_timer).max(0.0);
                    let needs = answers.then_some(had);
                    let start = halves[own].sent;
                    latest[own] = Some(messages.len());
                    messages.push(Message { from: packet.from, start, bytes, needs, wait, at: packet.at });
                    halves[own].begun = packet.at;
                    halves[own].had = had;
                }
            }
            halves[own].sent = packet.end();
            halves[own].last = packet.at;
        }
        Self { messages }
    }

    /// The total bytes of an end.
    pub fn bytes_of(&self, end: End) -> u64 {
        self.messages.iter().filter(|message| message.from == end).map(|message| message.bytes).sum()
    }

    /// Ends the messages of `end` at this place, and drops later ones.
    pub fn cut(&mut self, end: End, place: u64) {
        let last =
            self.messages.iter().position(|message| message.from == end && message.start + message.bytes >= place);
        let Some(last) = last else { return };
        self.messages.truncate(last + 1);
        if let Some(message) = self.messages.last_mut() {
            message.bytes = (place - message.start).max(1);
        }
        // Messages that were dropped are not waited for.
        let sent = [self.bytes_of(End::Client), self.bytes_of(End::Server)];
        for message in &mut self.messages {
            let other = sent[1 - message.from.index()];
            message.needs = message.needs.map(|needs| needs.min(other));
        }
    }

    /// Leaves out the messages before a moment. Returns the left-out bytes of each end.
    pub fn skip_before(&mut self, moment: f64) -> [u64; 2] {
        let mut skipped = [0; 2];
        for message in self.messages.iter().filter(|message| message.at < moment) {
            skipped[message.from.index()] += message.bytes;
        }
        self.messages.retain(|message| message.at >= moment);
        for message in &mut self.messages {
            message.start = message.start.saturating_sub(skipped[message.from.index()]);
            let before = skipped[1 - message.from.index()];
            message.needs = message.needs.map(|needs| needs.saturating_sub(before));
        }
        skipped
    }

    /// Shortens pauses between exchanges before a place if they cost nothing: a window restarts
    /// after an idle period of this length as well.
    pub fn shorten_pauses(&mut self, before: f64, most: f64) {
        for message in self.messages.iter_mut().filter(|message| message.at < before) {
            message.wait = message.wait.min(most);
        }
    }

    /// As the lab plays it.
    pub fn script(&self) -> Vec<script::Message> {
        let mut needs = [0_u64; 2];
        let mut sent = [0_u64; 2];
        let mut all: Vec<script::Message> = Vec::new();
        for message in self.messages.iter().take(MAX_MESSAGES) {
            let own = message.from.index();
            needs[own] = needs[own].max(message.needs.unwrap_or(0));
            let side = if message.from == End::Client { Side::Client } else { Side::Server };
            // By default it waits for all bytes that the other end has begun to send.
            let after = (needs[own] != sent[1 - own]).then_some(Size(needs[own]));
            sent[own] += message.bytes;
            all.push(script::Message { from: side, size: Size(message.bytes), wait: micros(message.wait), after });
        }
        all
    }
}

/// Rounded to what a program can wait for.
pub(super) fn micros(seconds: f64) -> Time {
    Time((seconds.max(0.0) * 1e5).round() as u64 * 10_000)
}

/// From the capture point to an end and back.
pub(super) fn distance(connection: &Connection, packets: &Packets, end: End, rtt: f64) -> f64 {
    use whyslow_analysis::Near;
    let near = match (connection.near, end) {
        (Near::Client, End::Client) | (Near::Server, End::Server) => 0.0,
        (Near::Client | Near::Server, _) => rtt,
        (Near::Middle | Near::Unknown, _) => rtt / 2.0,
    };
    match (connection.near, packets.distance(end)) {
        // A host's first answer may be late.
        (Near::Middle | Near::Unknown, Some(seen)) => seen.min(rtt),
        _ => near,
    }
}

/// Whether a message begins with this packet.
struct Cut<'a> {
    packet: &'a Packet,
    half: &'a Half,
    /// Bytes of the other end that its sender had.
    had: u64,
    rtt: f64,
    is_first: bool,
}

impl Cut<'_> {
    /// Whether it does, and what held it until then.
    fn decide(&self, connection: &Connection) -> Option<Option<LimitingFactor>> {
        let gap = self.packet.at - self.half.last;
        let limit = limit_between(connection, self.packet.from, self.half.last, self.packet.at);
        if self.is_first {
            return Some(limit);
        }
        let is_alone = self.packet.in_flight.is_none_or(|in_flight| in_flight <= self.packet.len);
        let got = self.had > self.half.had;
        if got && is_alone {
            return Some(limit);
        }
        // What is in flight already is answered later: the program did not wait for its end. Bulk
        // data waits for what its sender got only where a window of the programs holds it.
        if got && (self.packet.len < SMALL || is_granted(connection, self.packet.from)) {
            return Some(Some(LimitingFactor::ProtocolWindow));
        }
        match limit {
            Some(LimitingFactor::NagleDelayedAck) if gap > MIN_PAUSE => Some(limit),
            Some(
                LimitingFactor::Application
                | LimitingFactor::Idle
                | LimitingFactor::ClientThink
                | LimitingFactor::ServerThink,
            ) if gap > MIN_PAUSE => Some(limit),
            // Between transfers nothing holds the sender but its program.
            None if gap > MIN_PAUSE.max(1.5 * self.rtt) && is_alone => Some(limit),
            _ => None,
        }
    }

    /// How long the program waited.
    fn wait(&self, packets: &Packets, needs: Option<u64>, distance: f64, limit: Option<LimitingFactor>) -> f64 {
        if matches!(limit, Some(LimitingFactor::NagleDelayedAck | LimitingFactor::ProtocolWindow)) {
            return 0.0;
        }
        let from = match needs {
            None if self.is_first => return first_wait(self.packet, packets, distance),
            None => return (self.packet.at - self.half.begun).max(0.0),
            Some(needs) => arrival(packets, self.packet, needs, distance),
        };
        let wait = self.packet.at - from.unwrap_or(self.half.last);
        // A shorter wait is the machine's own time, here as in the capture.
        if wait < 3e-4 { 0.0 } else { wait }
    }
}

/// The time that a program takes to begin once the connection is open.
fn first_wait(packet: &Packet, packets: &Packets, distance: f64) -> f64 {
    let opened = packets.all.iter().rfind(|p| p.is_syn() && p.at <= packet.at && p.from == End::Server);
    let of_server = packet.from == End::Server;
    // The server has the connection when the client's ACK comes, half a round trip later.
    let third = packets.all.iter().find(|p| !p.is_syn() && p.from == End::Client);
    let from = if of_server { third.map(|p| p.at + distance) } else { opened.map(|p| p.at + distance) };
    let wait = packet.at - from.unwrap_or(packet.at);
    if wait < 3e-4 { 0.0 } else { wait }
}

/// Of the pause before the first packet of a transfer, what its sender's timer took: it had been
/// sent earlier, and was lost.
fn waited_for_timer(connection: &Connection, packets: &Packets, packet: &Packet) -> f64 {
    let own = connection.transfers.iter().filter(|transfer| transfer.from == packet.from);
    let begins = own.filter(|transfer| packets.place(transfer) == Some(packet.start));
    begins.map(|transfer| transfer.seconds_before(LimitingFactor::Timeout)).sum()
}

/// Whether a window that the programs keep themselves held what this end sends.
fn is_granted(connection: &Connection, from: End) -> bool {
    let own = connection.transfers.iter().filter(|transfer| transfer.from == from);
    own.flat_map(|transfer| &transfer.limits)
        .any(|it| it.limit == LimitingFactor::ProtocolWindow && it.share >= GRANTED)
}

/// When the last of the bytes that a message needs was there at its sender, on the capture's clock
/// as far as the packet's own way.
fn arrival(packets: &Packets, packet: &Packet, needs: u64, distance: f64) -> Option<f64> {
    let last = packets.all.partition_point(|other| other.at <= packet.at);
    let could = |other: &&Packet| {
        other.from != packet.from
            && other.len > 0
            && other.start < needs
            && other.end() >= needs
            && other.kind != Kind::Spurious
            && other.at + distance * 0.9 <= packet.at
    };
    let before = packets.all.get(..last)?.iter().rev().take(20_000);
    before.into_iter().find(could).map(|other| other.at + distance)
}

/// What held an end in this stretch of time: the limit with the largest part of it, where limits
/// are known of more than half.
fn limit_between(connection: &Connection, from: End, start: f64, end: f64) -> Option<LimitingFactor> {
    let mut best: Option<(LimitingFactor, f64)> = None;
    let mut known = 0.0;
    for transfer in connection.transfers.iter().filter(|transfer| transfer.from == from) {
        let first = transfer.start_s.as_secs_f64();
        let last = first + transfer.duration_s.as_secs_f64();
        if last < start || first > end {
            continue;
        }
        for span in &transfer.timeline {
            let begins = span.start_s.as_secs_f64();
            let common = (begins + span.seconds.as_secs_f64()).min(end) - begins.max(start);
            known += common.max(0.0);
            if common > best.map_or(0.0, |(_, most)| most) {
                best = Some((span.limit, common));
            }
        }
    }
    best.filter(|_| known * 2.0 > end - start).map(|(limit, _)| limit)
}
