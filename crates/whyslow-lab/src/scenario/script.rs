//! A conversation on one connection: for each message its sender, its size, and the data that it
//! waits for.

use super::side::Side;
use super::units::{BitRate, Size, Time};
use serde::{Deserialize, Serialize};

/// Messages on one connection, and how the two programs read.
///
/// Only sizes and times count: the content is filler.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Script {
    /// The messages in the order in which they begin.
    pub messages: Vec<Message>,
    /// Maximum number of bytes per write.
    pub chunk: Size,
    /// How the client's program reads.
    #[serde(skip_serializing_if = "Reading::is_usual")]
    pub client_reads: Reading,
    /// How the server's program reads.
    #[serde(skip_serializing_if = "Reading::is_usual")]
    pub server_reads: Reading,
    /// The window of the client's stack, where it grows slower than this kernel's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_window: Option<Growth>,
    /// The same for the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_window: Option<Growth>,
}

/// A congestion window that opens slower than Linux's: the program has no more than it in flight.
/// A stack that adds a segment for each ACK (RFC 5681 section 3.1) of a receiver that acknowledges
/// every second segment grows by half of the acknowledged bytes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Growth {
    /// At first.
    pub initial: Size,
    /// Growth as a part of the acknowledged bytes.
    pub by: f64,
}

impl Growth {
    /// Bytes that may be in flight when this many bytes have been acknowledged.
    pub fn window(&self, acked: u64) -> u64 {
        self.initial.0.saturating_add((acked as f64 * self.by) as u64)
    }
}

impl Default for Script {
    fn default() -> Self {
        Self {
            messages: Vec::new(),
            chunk: Size(65_536),
            client_reads: Reading::default(),
            server_reads: Reading::default(),
            client_window: None,
            server_window: None,
        }
    }
}

/// One message of an end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Message {
    /// Its sender.
    pub from: Side,
    /// Payload.
    pub size: Size,
    /// It waits this long: since it has read the data that it waits for (`after`), or since its
    /// message before was due if it waits for nothing new.
    #[serde(default, skip_serializing_if = "is_none")]
    pub wait: Time,
    /// It begins when this many bytes of the other end have been read in all; by default those of
    /// all messages before this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Size>,
}

fn is_none(time: &Time) -> bool {
    time.0 == 0
}

/// How a program reads its data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Reading {
    /// Maximum number of bytes per read.
    pub chunk: Size,
    /// At most this fast.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<BitRate>,
    /// Its stops.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stops: Vec<Stop>,
}

impl Default for Reading {
    fn default() -> Self {
        Self { chunk: Size(65_536), rate: None, stops: Vec::new() }
    }
}

impl Reading {
    fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

/// A pause in reading.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stop {
    /// After this many bytes in all.
    pub at: Size,
    /// For this long.
    pub length: Time,
}

/// Maximum number of messages of a script.
pub const MAX_MESSAGES: usize = 20_000;

impl Script {
    /// The total bytes of this end's messages.
    pub fn bytes_of(&self, side: Side) -> u64 {
        self.messages.iter().filter(|message| message.from == side).map(|message| message.size.0).sum()
    }

    /// Each message with the number of bytes of the other end that it waits for.
    pub fn with_needs(&self) -> Vec<(&Message, u64)> {
        let (mut client, mut server) = (0_u64, 0_u64);
        let mut all = Vec::with_capacity(self.messages.len());
        for message in &self.messages {
            let before = if message.from == Side::Client { server } else { client };
            all.push((message, message.after.map_or(before, |after| after.0)));
            let own = if message.from == Side::Client { &mut client } else { &mut server };
            *own = own.saturating_add(message.size.0);
        }
        all
    }

    /// The key of an unusable value, and the allowed values.
    pub(super) fn check(&self) -> Result<(), (String, String)> {
        let wrong = |key: &str, allowed: &str| Err((format!("work.script.{key}"), allowed.to_owned()));
        if self.messages.is_empty() || self.messages.len() > MAX_MESSAGES {
            return wrong("messages", "must be from 1 to 20000 messages");
        }
        if self.messages.iter().any(|message| message.size.is_empty()) {
            return wrong("messages.size", "a message has at least 1B");
        }
        if self.chunk.is_empty() || self.client_reads.chunk.is_empty() || self.server_reads.chunk.is_empty() {
            return wrong("chunk", "a chunk has at least 1B");
        }
        if [&self.client_reads, &self.server_reads].iter().any(|reads| reads.rate.is_some_and(|rate| rate.0 < 8)) {
            return wrong("client_reads.rate", "must be at least 1B/s");
        }
        let windows = [("client_window", self.client_window), ("server_window", self.server_window)];
        for (key, window) in windows.into_iter().filter_map(|(key, window)| Some((key, window?))) {
            if window.initial.is_empty() || !(0.0..=1.0).contains(&window.by) {
                return wrong(key, "has an initial window of at least 1B, and grows by a part from 0 to 1");
            }
        }
        self.check_order()
    }

    /// Two messages that each wait for the other would wait forever.
    fn check_order(&self) -> Result<(), (String, String)> {
        let (mut sent, mut next) = ([0_u64; 2], [0_usize; 2]);
        let all = self.with_needs();
        let of = |side: Side| all.iter().filter(move |(message, _)| message.from == side).collect::<Vec<_>>();
        let ends = [of(Side::Client), of(Side::Server)];
        loop {
            let before = next;
            for own in 0..2 {
                while let Some((message, needs)) = ends[own].get(next[own])
                    && *needs <= sent[1 - own]
                {
                    sent[own] = sent[own].saturating_add(message.size.0);
                    next[own] += 1;
                }
            }
            if next == before {
                break;
            }
        }
        let is_whole = (0..2).all(|own| next[own] == ends[own].len());
        let allowed = "must not be more than the other end says by then";
        if is_whole { Ok(()) } else { Err(("work.script.messages.after".to_owned(), allowed.to_owned())) }
    }
}
