//! [`ClearReader`]: passes the payload of an unencrypted connection in order to its protocol's
//! parser.

use super::conversation::Conversation;
use super::facts::MessageFacts;
use super::opening::Opening;
use super::reading::Placed;
use crate::tcp::payload::content::Content;
use crate::tcp::payload::kind::PayloadKind;
use crate::tcp::segment::Seg;
use std::collections::BTreeMap;
use whyslow_analysis::types::Side;
use whyslow_units::Time;

/// Maximum number of buffered bytes of a side after a hole: a window of a fast path, and more than
/// any reordering.
const MAX_HELD: usize = 128 << 10;
/// Approximate size of an entry without its bytes.
const ENTRY: usize = 64;

/// A segment after a hole.
#[derive(Clone, Debug)]
struct BufferedSegment {
    len: u64,
    bytes: Vec<u8>,
    time: Time,
}

/// The reordering buffer of one side.
#[derive(Clone, Debug, Default)]
struct Order {
    /// Position of the next expected byte; `None` before the first one.
    next: Option<u64>,
    held: BTreeMap<u64, BufferedSegment>,
    held_bytes: usize,
    /// Capture time of the last segment that was read.
    last: Time,
}

/// Parses the messages of an unencrypted connection.
#[derive(Clone, Debug)]
pub(in crate::tcp::payload) struct ClearReader {
    conversation: Conversation,
    sides: [Order; 2],
}

impl ClearReader {
    /// Creates a reader if the payload of this segment begins a known protocol.
    pub(in crate::tcp::payload) fn opening(seg: &Seg, payload: &[u8], ports: [u16; 2]) -> Option<Box<Self>> {
        let (from, len) = (seg.from() as usize, u64::from(seg.len));
        let conversation = Conversation::in_clear(&Opening { from, bytes: payload, len, ports })?;
        Some(Box::new(Self { conversation, sides: [Order::default(), Order::default()] }))
    }

    /// Takes a segment's payload, which begins at `start`. Returns its role in the conversation, if
    /// known.
    pub(in crate::tcp::payload) fn read(&mut self, seg: &Seg, start: u64, payload: &[u8]) -> Option<PayloadKind> {
        let from = seg.from();
        self.conversation.begin_segment();
        let side = &mut self.sides[from];
        side.last = seg.time;
        let next = *side.next.get_or_insert(start);
        let segment = BufferedSegment { len: seg.len.into(), bytes: Vec::new(), time: seg.time };
        if start > next {
            side.hold(start, BufferedSegment { bytes: payload.to_vec(), ..segment });
            if side.held_bytes > MAX_HELD {
                self.skip_hole(from);
            }
            return None;
        }
        self.deliver(from, start, payload, &segment);
        self.drain(from);
        self.conversation.kind_of_segment(from)
    }

    /// Passes over bytes that [need not be read](Self::unread).
    pub(in crate::tcp::payload) fn passed(&mut self, from: Side, bytes: u64) {
        let side = &mut self.sides[from];
        if let Some(next) = side.next.filter(|_| bytes > 0) {
            let at = side.placed(from, next, next + bytes);
            side.next = Some(next + bytes);
            self.conversation.pass(bytes, at);
        }
    }

    /// Number of next bytes of a side that need not be read.
    pub(in crate::tcp::payload) fn unread(&self, from: Side) -> u64 {
        let side = &self.sides[from];
        if side.held.is_empty() && side.next.is_some() { self.conversation.unread(from as usize) } else { 0 }
    }

    /// The side that sends the requests, if that is known.
    pub(in crate::tcp::payload) fn client(&self) -> Option<Side> {
        self.conversation.client()
    }

    pub(in crate::tcp::payload) fn is_within(&self, side: Side) -> bool {
        self.conversation.is_within(side)
    }

    pub(in crate::tcp::payload) fn forget(&mut self, before: [u64; 2]) {
        self.conversation.forget(before);
    }

    /// Adds the results to the other facts about the payload.
    pub(in crate::tcp::payload) fn note(&mut self, content: &mut [Content; 2]) {
        self.conversation.note(content);
    }

    pub(in crate::tcp::payload) fn finish(self) -> Option<Box<MessageFacts>> {
        self.conversation.finish().map(Box::new)
    }

    /// Passes on the new part of a segment that begins at or before the expected byte.
    fn deliver(&mut self, from: Side, start: u64, payload: &[u8], segment: &BufferedSegment) {
        let side = &mut self.sides[from];
        let next = side.next.unwrap_or(start);
        let end = start.saturating_add(segment.len);
        if end <= next {
            return;
        }
        side.next = Some(end);
        let known = usize::try_from(next - start).unwrap_or(usize::MAX);
        let new = payload.get(known..).unwrap_or_default();
        let missing = (end - next).saturating_sub(new.len() as u64);
        let at = Placed { from: from as usize, seq: next, end, first: segment.time, last: segment.time };
        if !new.is_empty() {
            self.conversation.read(new, at);
        }
        if missing > 0 {
            self.conversation.pass(missing, at);
        }
    }

    /// Reads buffered segments that are now in order.
    fn drain(&mut self, from: Side) {
        loop {
            let side = &mut self.sides[from];
            let next = side.next.unwrap_or_default();
            let Some((&start, _)) = side.held.first_key_value().filter(|(start, _)| **start <= next) else { return };
            let Some(held) = side.held.remove(&start) else { return };
            side.held_bytes = side.held_bytes.saturating_sub(held.bytes.len() + ENTRY);
            let bytes = held.bytes.clone();
            self.deliver(from, start, &bytes, &held);
        }
    }

    /// Skips a hole whose bytes will not come.
    fn skip_hole(&mut self, from: Side) {
        let side = &mut self.sides[from];
        let next = side.next.unwrap_or_default();
        let Some((&start, _)) = side.held.first_key_value() else { return };
        let at = side.placed(from, next, start);
        side.next = Some(start);
        self.conversation.pass(start.saturating_sub(next), at);
        self.drain(from);
    }
}

impl Order {
    fn hold(&mut self, start: u64, segment: BufferedSegment) {
        let known = self.held.get(&start).map(|held| held.bytes.len());
        if known.is_none_or(|known| segment.bytes.len() > known) {
            self.held_bytes += segment.bytes.len() + ENTRY;
            self.held_bytes = self.held_bytes.saturating_sub(known.map_or(0, |known| known + ENTRY));
            self.held.insert(start, segment);
        }
    }

    fn placed(&self, from: Side, seq: u64, end: u64) -> Placed {
        Placed { from: from as usize, seq, end, first: self.last, last: self.last }
    }
}
