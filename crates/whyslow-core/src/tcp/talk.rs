//! What the two sides of a connection say to each other: the content of each direction, and whose turn it is.
//!
//! Most payload goes on where the same side has just stopped, and nothing is to be read in it. It passes without a look at its
//! stream, which learns of it only when something else comes.

use super::content::{self, Content, Stream};
use super::segment::Seg;
use crate::flow::Side;
use crate::units::SeqNumber;
use crate::wire::Flags;

/// Both directions.
#[derive(Debug, Default)]
pub(super) struct Talk {
    /// Of sides that have sent payload.
    streams: [Option<Box<Stream>>; 2],
    speech: Speech,
}

/// What the side that speaks may go on with: nothing would be read in it, and the other side's stream knows that it is spoken to.
#[derive(Clone, Copy, Debug)]
struct Speech {
    /// Where it goes on.
    next: SeqNumber,
    /// Bytes that it may go on for.
    room: u32,
    /// The side, or [`NOBODY`].
    side: u8,
    /// But a segment that begins as a record or head does must be looked at.
    may_open: bool,
}

/// Neither side.
const NOBODY: u8 = 2;

impl Default for Speech {
    fn default() -> Self {
        Self { next: SeqNumber(0), room: 0, side: NOBODY, may_open: false }
    }
}

impl Talk {
    /// Whether this segment has payload that goes on as was to be expected; then all is done. If not, [`hear`](Self::hear) it.
    #[inline(always)]
    pub fn goes_on(&mut self, seg: &Seg, payload: &[u8]) -> bool {
        let speech = &mut self.speech;
        let goes_on = speech.side == seg.from() as u8
            && seg.seq == speech.next
            && seg.len <= speech.room
            && !seg.flags.has(Flags::SYN)
            && !(content::may_open(payload) && speech.may_open);
        if goes_on {
            speech.next = seg.seq + seg.len;
            speech.room -= seg.len;
        }
        goes_on
    }

    /// Payload of any kind; and the numbers before the first byte of each side, where they are known. Says whether it is the first
    /// that this side sent.
    #[inline(never)]
    pub fn hear(&mut self, seg: &Seg, payload: &[u8], origins: [Option<SeqNumber>; 2]) -> bool {
        let from = seg.from();
        let speaker = self.interrupt(origins);
        let Some(origin) = origins[from] else {
            return false;
        };
        let [zero, one] = &mut self.streams;
        let (own, other) = if from == 0 { (zero, one) } else { (one, zero) };
        let is_first = own.is_none();
        let stream = own.get_or_insert_default();
        let next = stream.next();
        let first = seg.seq + u32::from(seg.flags.has(Flags::SYN));
        let Some(start) = next.checked_add_signed(first.distance(origin + next as u32).into()) else {
            return is_first;
        };
        stream.feed(start, seg.len.into(), payload);
        let had_turn = if start + u64::from(seg.len) > next {
            other.as_mut().is_none_or(|other| other.turn())
        } else {
            // An old word is no turn for the other side, but if it comes amid new ones.
            speaker == from as u8
        };
        if had_turn {
            let (next, room) = (origin + stream.next() as u32, u32::try_from(stream.quiet()).unwrap_or(u32::MAX));
            self.speech = Speech { next, room, side: from as u8, may_open: stream.may_open() };
        }
        is_first
    }

    /// Tells the speaker's stream what has passed. Gives who that was.
    fn interrupt(&mut self, origins: [Option<SeqNumber>; 2]) -> u8 {
        let speech = std::mem::take(&mut self.speech);
        let side = usize::from(speech.side);
        if let (Some(Some(stream)), Some(&Some(origin))) = (self.streams.get_mut(side), origins.get(side)) {
            let passed = speech.next.0.wrapping_sub((origin + stream.next() as u32).0);
            stream.pass(passed.into());
        }
        speech.side
    }

    /// Whether this side has sent payload.
    pub fn has_heard(&self, side: Side) -> bool {
        self.streams[side].is_some()
    }

    /// What was found in each direction.
    pub fn finish(mut self, origins: [Option<SeqNumber>; 2]) -> [Content; 2] {
        self.interrupt(origins);
        self.streams.map(|stream| stream.map(|stream| stream.finish()).unwrap_or_default())
    }
}
