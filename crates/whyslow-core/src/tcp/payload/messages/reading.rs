//! [`Messages`]: the trait of a protocol's parser, and its outputs.

use super::http2::WindowWait;
use super::requests::Requests;
use crate::tcp::payload::kind::PayloadKind;
use crate::tcp::payload::protocol::LIST_MAX;
use whyslow_analysis::types::Product;
use whyslow_units::Time;

/// Maximum bytes of a message that are kept for parsing: in all of these protocols fields precede
/// data, and the label of an SQL statement is shorter.
pub(super) const HEAD_MAX: usize = 2 << 10;
/// Maximum number of pending requests of one connection: clients of Redis and Kafka pipeline a few
/// hundred.
pub(super) const MAX_PENDING: usize = 1024;

/// Position of some bytes: the first byte of their record or segment, and the capture times of its
/// first and last byte.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    /// The sender: 0 is side A.
    pub(super) from: usize,
    pub(super) seq: u64,
    /// Position after the last byte.
    pub(super) end: u64,
    pub(super) first: Time,
    pub(super) last: Time,
}

/// The facts in a head that other modules need.
#[derive(Clone, Debug)]
pub(super) struct FoundHead {
    pub(super) seq: u64,
    pub(super) label: String,
    pub(super) host: Option<String>,
    pub(super) product: Option<Product>,
    pub(super) is_request: bool,
}

/// State of a side's current message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MessageState {
    /// All messages are complete, by their length or end mark.
    Complete,
    /// A message has begun and is certainly incomplete.
    Incomplete,
    /// The parser has lost its position.
    Unknown,
}

/// The parser of a protocol.
pub(super) trait Messages {
    /// Takes the next bytes of a side.
    fn read(&mut self, bytes: &[u8], at: Placed, found: &mut Found);

    /// Passes over this number of bytes of a side, which were not captured or [need not be
    /// read](Self::unread).
    fn pass(&mut self, bytes: u64, at: Placed, found: &mut Found);

    /// Number of next bytes of a side that need not be read and do not end a message.
    fn unread(&self, from: usize) -> u64;

    /// State of a side's current message.
    fn state(&self, from: usize) -> MessageState;

    /// The side that sends the requests, if the first bytes showed it.
    fn client(&self) -> Option<usize> {
        None
    }

    /// Role in the conversation of a side's bytes since the last call.
    fn take_kind(&mut self, from: usize) -> Option<PayloadKind>;

    /// Ends the connection. Returns the waits of each side for windows, if the protocol has any and
    /// all frames that open and fill them were parsed.
    fn finish(&mut self, found: &mut Found) -> Option<[Vec<WindowWait>; 2]>;
}

/// Outputs of the parsers.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    pub(super) requests: Requests,
    pub(super) heads: FoundHeads,
    /// Start and end of the heartbeats of each side and of their responses.
    pub(super) heartbeats: [Vec<(u64, u64)>; 2],
}

impl Found {
    /// Adds a heartbeat of a side, or the response to one.
    pub(super) fn heartbeat(&mut self, from: usize, start: u64, end: u64) {
        let Some(list) = self.heartbeats.get_mut(from) else { return };
        if let Some(last) = list.last_mut().filter(|last| last.1 >= start) {
            last.1 = last.1.max(end);
        } else if list.len() < LIST_MAX {
            list.push((start, end));
        }
    }
}

/// HTTP heads, and the names in them, by side.
#[derive(Clone, Debug, Default)]
pub(super) struct FoundHeads {
    pub(super) heads: [Vec<(u64, String)>; 2],
    pub(super) hosts: [Option<String>; 2],
    pub(super) products: [Option<Product>; 2],
    /// Whether a request has begun in the current segment.
    pub(super) begins_request: bool,
}

impl FoundHeads {
    pub(super) fn add(&mut self, from: usize, head: FoundHead) {
        let FoundHead { seq, label, host, product, is_request } = head;
        self.begins_request |= is_request;
        let (Some(heads), Some(known), Some(name)) =
            (self.heads.get_mut(from), self.products.get_mut(from), self.hosts.get_mut(from))
        else {
            return;
        };
        *known = known.or(product);
        *name = name.take().or(host);
        if heads.len() < LIST_MAX {
            heads.push((seq, label));
        }
    }
}
