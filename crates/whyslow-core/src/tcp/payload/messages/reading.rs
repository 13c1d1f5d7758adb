//! [`Messages`]: what a reader of a protocol implements, and where what it finds goes.

use super::http2::WindowWait;
use super::requests::Requests;
use crate::tcp::payload::kind::PayloadKind;
use crate::tcp::payload::protocol::LIST_MAX;
use crate::types::Product;
use crate::units::Time;

/// Most bytes of a message that are kept to read what it is: fields stand before data in all of
/// these protocols, and of a statement of SQL a label shows less.
pub(super) const HEAD_MAX: usize = 2 << 10;
/// Most requests that wait for their responses on one connection: Redis' clients and Kafka's
/// pipeline a few hundred.
pub(super) const MAX_PENDING: usize = 1024;

/// Where some bytes lie: the record's, or the segment's, first byte, and when its first and its
/// last byte came.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    /// Who sent it: 0 is side A.
    pub(super) from: usize,
    pub(super) seq: u64,
    /// Behind its last byte.
    pub(super) end: u64,
    pub(super) first: Time,
    pub(super) last: Time,
}

/// What a head says that others want to know.
#[derive(Clone, Debug)]
pub(super) struct FoundHead {
    pub(super) seq: u64,
    pub(super) label: String,
    pub(super) host: Option<String>,
    pub(super) product: Option<Product>,
    pub(super) is_request: bool,
}

/// Where a side stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MessageState {
    /// All that began has ended, by its own length or end mark.
    Complete,
    /// A message has begun whose end is known not to have come.
    Incomplete,
    /// The reader has lost its place.
    Unknown,
}

/// A reader of a protocol.
pub(super) trait Messages {
    /// Takes the next bytes of a side.
    fn read(&mut self, bytes: &[u8], at: Placed, found: &mut Found);

    /// This number of bytes of a side follows and cannot be read: they were not captured, or
    /// [need not be](Self::unread).
    fn pass(&mut self, bytes: u64, at: Placed, found: &mut Found);

    /// Number of next bytes of a side that need not be read and end no message.
    fn unread(&self, from: usize) -> u64;

    /// Where a side stands.
    fn state(&self, from: usize) -> MessageState;

    /// What came of a side since this was asked shows of its part in the conversation.
    fn take_kind(&mut self, from: usize) -> Option<PayloadKind>;

    /// The connection ends. Returns the waits of each side for windows, if the protocol has any and
    /// all that opens and fills them was read.
    fn finish(&mut self, found: &mut Found) -> Option<[Vec<WindowWait>; 2]>;
}

/// What the readers found.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    pub(super) requests: Requests,
    pub(super) heads: FoundHeads,
    /// Heartbeats of each side, and their answers: where they begin and end.
    pub(super) heartbeats: [Vec<(u64, u64)>; 2],
}

impl Found {
    /// These bytes of a side are a heartbeat or its answer.
    pub(super) fn heartbeat(&mut self, from: usize, start: u64, end: u64) {
        let Some(list) = self.heartbeats.get_mut(from) else { return };
        if let Some(last) = list.last_mut().filter(|last| last.1 >= start) {
            last.1 = last.1.max(end);
        } else if list.len() < LIST_MAX {
            list.push((start, end));
        }
    }
}

/// Heads of HTTP, and the names in them, by side.
#[derive(Clone, Debug, Default)]
pub(super) struct FoundHeads {
    pub(super) heads: [Vec<(u64, String)>; 2],
    pub(super) hosts: [Option<String>; 2],
    pub(super) products: [Option<Product>; 2],
    /// A request has begun in the segment that is read.
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
