//! The work of the two programs.

use super::script::Script;
pub use super::side::Side;
use super::units::{BitRate, Size, Time};
use serde::{Deserialize, Serialize};

/// A workload; exactly one of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Work {
    /// The client asks, the server sends.
    Download(Transfers),
    /// The client sends, the server answers with a few bytes.
    Upload(Transfers),
    /// Many small requests, each waiting for the answer to the one before.
    Turns(Turns),
    /// Two small writes and then a read, over and over.
    WriteWriteRead(WriteWriteRead),
    /// A download over a window that the two programs keep themselves, as SSH channels and HTTP/2
    /// streams do.
    Credit(Credit),
    /// A conversation on one connection, message by message.
    Script(Script),
}

impl Default for Work {
    fn default() -> Self {
        Self::Download(Transfers::default())
    }
}

/// One transfer or several, one after the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Transfers {
    /// Payload of each.
    pub size: Size,
    /// How many.
    pub count: u32,
    /// Sizes of the single transfers, in order, instead of `size` and `count`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<Size>,
    /// Between the end of one and the start of the next.
    pub pause: Time,
    /// The number of simultaneous clients, each with all of these transfers and its own
    /// connections.
    pub parallel: u32,
    /// A connection for each, or one for all.
    pub connection: Connection,
    /// The protocol that carries the payload.
    pub protocol: Protocol,
    /// Largest TLS record that the sender makes (512 B to 16 KiB of payload).
    pub record: Size,
    /// Size of the request (of the answer to an upload); HTTP has its own. Without a byte of it the
    /// server sends unasked.
    pub request: Size,
    /// The server waits this long before it answers.
    pub think: Time,
    /// How long it waits before each answer, in order, instead of `think`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub thinks: Vec<Time>,
    /// How the sender writes.
    pub write: Pace,
    /// How the receiver reads.
    pub read: Reader,
    /// The end that closes a connection first.
    pub closes: Side,
    /// This end closes with a reset after this many bytes of an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reset_after: Option<Size>,
    /// The client waits this long for its connection and for an answer, then closes. A server that
    /// thinks longer does not answer; one that the path cuts off gives up a little later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience: Option<Time>,
    /// The client ends a transfer that takes longer, and closes; the bytes up to then count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_most: Option<Time>,
    /// No program listens.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub refused: bool,
    /// The sender forgets the metrics of its peer before each new connection, halfway through the
    /// pause.
    pub forget: bool,
}

impl Default for Transfers {
    fn default() -> Self {
        Self {
            size: Size(1_048_576),
            count: 1,
            sizes: Vec::new(),
            pause: Time(0),
            parallel: 1,
            connection: Connection::New,
            protocol: Protocol::Plain,
            record: Size(16_384),
            request: Size(100),
            think: Time(0),
            thinks: Vec::new(),
            write: Pace::default(),
            read: Reader::default(),
            closes: Side::Client,
            reset_after: None,
            patience: None,
            at_most: None,
            refused: false,
            forget: false,
        }
    }
}

impl Transfers {
    /// The size of each transfer, in order.
    pub fn all_sizes(&self) -> Vec<Size> {
        if self.sizes.is_empty() { vec![self.size; self.count as usize] } else { self.sizes.clone() }
    }

    /// How long the server waits before this answer, counted from 0.
    pub fn think_before(&self, index: usize) -> Time {
        self.thinks.get(index).copied().unwrap_or(self.think)
    }

    /// Whether the client gives up before the server answers.
    pub fn is_unanswered(&self, index: usize) -> bool {
        self.patience.is_some_and(|patience| self.think_before(index).0 > patience.0)
    }

    /// Whether an exchange may end before its answer is complete.
    pub fn breaks(&self) -> bool {
        self.reset_after.is_some() || self.patience.is_some() || self.at_most.is_some() || self.refused
    }
}

/// Whether transfers share a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Connection {
    /// A connection for each transfer.
    #[default]
    New,
    /// One connection for all transfers.
    Reused,
}

/// The protocol of the connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// Bytes.
    #[default]
    Plain,
    /// HTTP/1.1.
    Http,
    /// Bytes in TLS 1.3.
    Tls,
    /// HTTP/1.1 in TLS 1.3.
    Https,
}

impl Protocol {
    /// Whether TLS is around it.
    pub fn tls(self) -> bool {
        matches!(self, Self::Tls | Self::Https)
    }

    /// Whether it speaks HTTP.
    pub fn http(self) -> bool {
        matches!(self, Self::Http | Self::Https)
    }
}

/// How the sending program writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Pace {
    /// Bytes a write.
    pub chunk: Size,
    /// From the start of one write to the start of the next; 0 writes as fast as the socket takes
    /// it.
    pub every: Time,
}

impl Default for Pace {
    fn default() -> Self {
        Self { chunk: Size(65_536), every: Time(0) }
    }
}

/// How the receiving program reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Reader {
    /// Maximum number of bytes per read.
    pub chunk: Size,
    /// Maximum rate of the reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<BitRate>,
    /// After this many bytes of each transfer …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause_after: Option<Size>,
    /// … it stops reading for this long.
    pub pause: Time,
}

impl Default for Reader {
    fn default() -> Self {
        Self { chunk: Size(65_536), rate: None, pause_after: None, pause: Time(0) }
    }
}

/// Request and response, in turns, on one connection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Turns {
    /// How many.
    pub count: u32,
    /// Bytes up.
    pub request: Size,
    /// Bytes down.
    pub response: Size,
    /// The server waits this long before each answer.
    pub think: Time,
}

impl Default for Turns {
    fn default() -> Self {
        Self { count: 20, request: Size(100), response: Size(1_000), think: Time(0) }
    }
}

/// Writes a message in two pieces, then waits for the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WriteWriteRead {
    /// How many messages.
    pub count: u32,
    /// First write.
    pub head: Size,
    /// Second write.
    pub body: Size,
    /// The answer.
    pub response: Size,
    /// Between the answer and the next message.
    pub pause: Time,
}

impl Default for WriteWriteRead {
    fn default() -> Self {
        Self { count: 20, head: Size(200), body: Size(300), response: Size(100), pause: Time(0) }
    }
}

/// A download in messages; the receiver grants credit as it consumes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Credit {
    /// Payload.
    pub size: Size,
    /// Credit at the start: at most this much is ever outstanding.
    pub window: Size,
    /// The receiver grants the consumed bytes whenever they reach this number.
    pub grant: Size,
    /// Bytes a message.
    pub message: Size,
}

impl Default for Credit {
    fn default() -> Self {
        Self { size: Size(8 << 20), window: Size(2 << 20), grant: Size(96 << 10), message: Size(32 << 10) }
    }
}

impl Work {
    /// The key of an unusable value, and the allowed values.
    pub fn check(&self) -> Result<(), (String, String)> {
        match self {
            Self::Download(transfers) => transfers.check("download"),
            Self::Upload(transfers) => transfers.check("upload"),
            Self::Turns(turns) => {
                check_count("turns", turns.count)?;
                if turns.request.is_empty() || turns.response.is_empty() {
                    return wrong("turns.request", "a request and a response have at least 1B");
                }
                Ok(())
            }
            Self::WriteWriteRead(w) => {
                check_count("write_write_read", w.count)?;
                if w.head.is_empty() || w.body.is_empty() || w.response.is_empty() {
                    return wrong("write_write_read.head", "every piece has at least 1B");
                }
                Ok(())
            }
            Self::Script(script) => script.check(),
            Self::Credit(c) => {
                if c.size.is_empty() || c.message.is_empty() || c.grant.is_empty() {
                    return wrong("credit.size", "size, message and grant have at least 1B");
                }
                if c.window < c.message || c.window < c.grant {
                    return wrong("credit.window", "must be at least one message and one grant");
                }
                Ok(())
            }
        }
    }
}

impl Transfers {
    /// As [`Work::check`]; `kind` is the key of these transfers.
    fn check(&self, kind: &str) -> Result<(), (String, String)> {
        let wrong = |key: &str, allowed: &str| wrong(&format!("{kind}.{key}"), allowed);
        let is_download = kind == "download";
        let sizes = self.all_sizes();
        check_count(kind, self.count)?;
        if sizes.iter().any(|s| s.is_empty() || s.0 > 1 << 40) {
            return wrong("size", "must be from 1B to 1024GiB");
        }
        if self.write.chunk.is_empty() || self.read.chunk.is_empty() {
            return wrong("write.chunk", "a chunk has at least 1B");
        }
        let unasked = is_download && self.protocol == Protocol::Plain;
        if self.request.is_empty() && !unasked || self.request.0 > 1 << 30 {
            return wrong("request", "must be from 1B to 1GiB (0B for a plain download)");
        }
        if !self.thinks.is_empty() && self.thinks.len() != sizes.len() {
            return wrong("thinks", "must name a time for each transfer");
        }
        if self.protocol.tls() && !(64..=16_384).contains(&self.record.0) {
            return wrong("record", "must be from 64B to 16KiB");
        }
        if !(1..=1_000).contains(&self.parallel) {
            return wrong("parallel", "must be from 1 to 1000");
        }
        if self.parallel > 1 && sizes.windows(2).any(|pair| pair[0] != pair[1]) {
            return wrong("parallel", "several clients have transfers of one size");
        }
        if self.breaks() && (!is_download || self.protocol.tls()) {
            return wrong("reset_after", "only a download without TLS is cut short");
        }
        if self.read.rate.is_some_and(|r| r.0 < 8) {
            return wrong("read.rate", "must be at least 1B/s");
        }
        Ok(())
    }
}

fn check_count(kind: &str, count: u32) -> Result<(), (String, String)> {
    let is_good = (1..=100_000).contains(&count);
    if is_good { Ok(()) } else { wrong(&format!("{kind}.count"), "must be from 1 to 100000") }
}

fn wrong(key: &str, allowed: &str) -> Result<(), (String, String)> {
    Err((format!("work.{key}"), allowed.to_owned()))
}
