//! The payload of both directions: its content, and which side's turn it is.
//!
//! Most payload continues where the same side stopped and contains nothing to parse. It is only
//! counted; the stream is updated when other payload comes.

use super::first_byte::may_open;
use super::kind::{SMALL, is_credit};
use super::messages::ClearReader;
use super::{Content, PayloadKind, PayloadReaders, ReaderPlace, Stream};
use crate::tcp::segment::Seg;
use crate::wire::Flags;
use whyslow_analysis::types::Side;
use whyslow_units::{SeqNumber, Time};

/// The streams of both directions.
#[derive(Clone, Debug, Default)]
pub(in crate::tcp) struct PayloadStreams {
    /// Streams of sides that have sent payload.
    streams: [Option<Box<Stream>>; 2],
    expected: ExpectedPayload,
    /// Whether the first payload of each side is text.
    starts_with_text: [bool; 2],
    /// Whether the connection was silent for a long time.
    after_silence: bool,
    /// Captured payload, retransmissions included.
    payload: u64,
    /// Whether the last packet carried a SYN or payload. If not, `answered` is the time of the last
    /// response to such a packet.
    unanswered: bool,
    answered: Time,
}

/// Bytes in which to look for the opening of a protocol: a greeting, a request, its response, and
/// the first message after an upgrade.
const MAX_BEFORE_OPENING: u64 = 16 << 10;

/// Payload that the current sender may continue with: it needs no parsing, and the other side's
/// stream knows that it is not its turn.
#[derive(Clone, Copy, Debug)]
struct ExpectedPayload {
    /// Sequence number at which it continues.
    next: SeqNumber,
    /// Number of bytes that may continue.
    room: u32,
    /// The sending side, if any.
    side: Option<Side>,
    /// Whether a segment that begins like a record or head must still be parsed.
    may_start_message: bool,
}

/// Shorter payload may look like text by chance.
pub(super) const MIN_TEXT: usize = 4;

impl Default for ExpectedPayload {
    fn default() -> Self {
        Self { next: SeqNumber(0), room: 0, side: None, may_start_message: false }
    }
}

impl PayloadStreams {
    /// Creates the state at a packet captured at `time`.
    pub fn new(time: Time) -> Self {
        Self { answered: time, ..Self::default() }
    }

    /// Processes a segment; `rest` are the captured bytes after its headers. Sets the role of its
    /// payload. Returns whether it is the side's first payload. `origins`: the ISNs of both sides,
    /// if known. `ports`: the ports of both sides. `readers`: additional parsers, which get all
    /// payload that they need.
    #[inline(always)]
    pub fn on_segment(
        &mut self,
        seg: &mut Seg,
        rest: &[u8],
        (origins, ports): (&[Option<SeqNumber>; 2], [u16; 2]),
        readers: &mut impl ReaderPlace,
    ) -> bool {
        if seg.len > 0 || seg.flags.has(Flags::SYN) {
            self.unanswered = true;
        } else if self.unanswered {
            (self.unanswered, self.answered) = (false, seg.time);
        }
        if seg.len == 0 {
            return false;
        }
        self.payload += u64::from(seg.len);
        !self.is_expected(seg, rest) && self.on_payload(seg, rest, (origins, ports), readers)
    }

    /// Captured payload, retransmissions included.
    pub fn payload(&self) -> u64 {
        self.payload
    }

    /// Returns whether the first payload of each side is text.
    pub fn begins_with_text(&self) -> [bool; 2] {
        self.starts_with_text
    }

    /// Returns the side that sent last, if any.
    pub fn last_sender(&self) -> Option<Side> {
        self.expected.side
    }

    /// Returns the time of the last packet that carried or answered a SYN or payload; `last` is the
    /// time of the last packet of all.
    pub fn active_until(&self, last: Time) -> Time {
        if self.unanswered { last } else { self.answered }
    }

    /// Returns whether this payload continues as expected; then no more is needed. If not, call
    /// [`on_payload`](Self::on_payload).
    #[inline(always)]
    fn is_expected(&mut self, seg: &mut Seg, rest: &[u8]) -> bool {
        let expected = &mut self.expected;
        let continues = expected.side == Some(seg.from())
            && seg.seq == expected.next
            && seg.len <= expected.room
            && !seg.flags.has(Flags::SYN)
            && !(may_open(rest) && expected.may_start_message);
        if continues {
            expected.next = seg.seq + seg.len;
            expected.room -= seg.len;
            // Padding of the frame may follow it.
            let payload = rest.get(..seg.len as usize).unwrap_or(rest);
            if u64::from(seg.len) < SMALL && is_credit(payload, seg.len.into()) {
                seg.kind = PayloadKind::Credit;
            }
        }
        continues
    }

    /// Processes any payload. Returns whether it is the first of its side.
    #[inline(never)]
    fn on_payload(
        &mut self,
        seg: &mut Seg,
        rest: &[u8],
        (origins, ports): (&[Option<SeqNumber>; 2], [u16; 2]),
        place: &mut impl ReaderPlace,
    ) -> bool {
        let from = seg.from();
        let payload = rest.get(..seg.len as usize).unwrap_or(rest);
        let sender = self.flush_expected(origins, place.readers());
        let Some(origin) = origins[from] else {
            return false;
        };
        let [a, b] = &mut self.streams;
        let (own, other) = if from == Side::A { (a, b) } else { (b, a) };
        let is_first = own.is_none();
        self.starts_with_text[from] |= is_first && payload.len() >= MIN_TEXT && super::is_text(payload);
        let stream = own.get_or_insert_default();
        let next = stream.next();
        let first = seg.seq + u32::from(seg.flags.has(Flags::SYN));
        let Some(start) = next.checked_add_signed(first.distance(origin + next as u32).into()) else {
            return is_first;
        };
        let after_silence = std::mem::take(&mut self.after_silence);
        let mut is_in_message = || start == next && place.readers().is_some_and(|readers| readers.is_within(from));
        let is_within = after_silence && (stream.is_within(start) || is_in_message());
        let is_behind_greeting = start == next && stream.ends_with_greeting();
        stream.feed(start, seg.len.into(), payload);
        if is_within {
            seg.kind = PayloadKind::Continuation;
        } else if is_behind_greeting {
            // Credit of an upload in the first exchange answers nothing.
            let kind = stream.kind_of(payload, seg.len.into());
            let is_small = kind == PayloadKind::MaybeCredit;
            seg.kind = if is_small { kind } else { PayloadKind::BehindGreeting };
        } else if sender != Some(from) && start >= next {
            seg.kind = stream.kind_of(payload, seg.len.into());
        } else if start >= next && u64::from(seg.len) < SMALL && is_credit(payload, seg.len.into()) {
            seg.kind = PayloadKind::Credit;
        }
        let may_open = (is_first || sender != Some(from)) && self.payload <= MAX_BEFORE_OPENING && start >= next;
        if may_open
            && place.readers().is_none_or(|readers| readers.awaits_opening())
            && let Some(reader) = ClearReader::opening(seg, payload, ports)
        {
            place.make_readers().read_clear(reader);
        }
        if let Some(readers) = place.readers() {
            readers.read(seg, start, payload);
        }
        let had_turn = if start + u64::from(seg.len) > next {
            other.as_mut().is_none_or(|other| other.on_turn())
        } else {
            // A retransmission is not a turn, unless it comes among new data.
            sender == Some(from)
        };
        if had_turn {
            let unread = place.readers().map_or(u64::MAX, |readers| readers.unread(from));
            let skippable = stream.skippable().min(unread);
            let (next, room) = (origin + stream.next() as u32, u32::try_from(skippable).unwrap_or(u32::MAX));
            self.expected = ExpectedPayload { next, room, side: Some(from), may_start_message: stream.may_open() };
        }
        is_first
    }

    /// After a long silence the next payload is parsed, even if no message can begin in it.
    pub fn note_silence(&mut self) {
        (self.expected.room, self.after_silence) = (0, true);
    }

    /// Returns whether each side is in the middle of a record, or of a body with a known end.
    pub fn within_messages(
        &mut self,
        origins: &[Option<SeqNumber>; 2],
        mut readers: Option<&mut PayloadReaders>,
    ) -> [bool; 2] {
        self.flush_expected(origins, readers.as_deref_mut());
        let is_within = |side: Side| {
            self.streams[side].as_ref().is_some_and(|stream| stream.is_within(stream.next()))
                || readers.as_ref().is_some_and(|readers| readers.is_within(side))
        };
        Side::BOTH.map(is_within)
    }

    /// Drops results before these positions, except names and the first payload's.
    pub fn forget(&mut self, before: [u64; 2]) {
        for (stream, before) in self.streams.iter_mut().zip(before) {
            stream.iter_mut().for_each(|stream| stream.forget(before));
        }
    }

    /// Updates the sender's stream with the payload that has passed. Returns which side that was.
    fn flush_expected(
        &mut self,
        origins: &[Option<SeqNumber>; 2],
        readers: Option<&mut PayloadReaders>,
    ) -> Option<Side> {
        let expected = std::mem::take(&mut self.expected);
        if let Some(side) = expected.side
            && let (Some(stream), Some(origin)) = (&mut self.streams[side], origins[side])
        {
            let passed = expected.next.0.wrapping_sub((origin + stream.next() as u32).0);
            stream.skip(passed.into());
            if let Some(readers) = readers {
                readers.passed(side, passed.into());
            }
        }
        expected.side
    }

    /// Returns whether this side has sent payload.
    pub fn has_payload_from(&self, side: Side) -> bool {
        self.streams[side].is_some()
    }

    /// Returns the results of each direction.
    pub fn finish(mut self, origins: [Option<SeqNumber>; 2], readers: Option<&mut PayloadReaders>) -> [Content; 2] {
        self.flush_expected(&origins, readers);
        self.streams.map(|stream| stream.map(|stream| stream.finish()).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Side::{A, B};
    use proptest::prelude::*;
    use whyslow_units::{Nanos, Time};

    /// Payload that a side may send next, with openings and without.
    const PAYLOADS: [&[u8]; 10] = [
        b"GET /a HTTP/1.1\r\nHost: a.example\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 30\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n",
        b"HTTP/1.1 204",
        b"\x16\x03\x03\x00\x04\x01\x00\x00\x00",
        b"\x17\x03\x03\x00\x0cabcdefghijkl\x17\x03\x03\x00\x01x",
        b"\x17\x03\x03\x00\x40abcdefgh",
        b"SSH-2.0-x\r\n",
        b"\x00\x01\x02\x03\x04\x05\x06\x07",
        b"nothing of note",
    ];

    /// A segment: its side, the distance of its start from the side's last byte, its payload, and
    /// the number of captured bytes.
    fn segments() -> impl Strategy<Value = (Side, i32, usize, usize)> {
        let step = prop_oneof![8 => Just(0), 1 => -40..0, 1 => 1..40];
        (
            prop_oneof![3 => Just(Side::A), 1 => Just(Side::B)],
            step,
            0..PAYLOADS.len(),
            prop_oneof![4 => Just(99), 1 => 0usize..20],
        )
    }

    fn seg(from: Side, seq: SeqNumber, payload: &[u8]) -> Seg {
        Seg::example(from, seq, SeqNumber(0), payload.len() as u32, None)
    }

    proptest! {
        #[test]
        fn skipped_payload_changes_nothing(origins in any::<[u32; 2]>(), talk in prop::collection::vec(segments(), 1..60)) {
            let origins = origins.map(SeqNumber);
            let (mut short, mut readers) = (PayloadStreams::default(), None);
            let mut general = [Stream::default(), Stream::default()];
            let mut ends = [1u64; 2];
            for (from, step, word, cut) in talk {
                let start = ends[from].saturating_add_signed(step.into()).max(1);
                let (word, len) = (PAYLOADS[word], PAYLOADS[word].len() as u64);
                let payload = &word[..cut.min(word.len())];
                let mut seg = seg(from, origins[from] + start as u32, word);
                if !short.is_expected(&mut seg, payload) {
                    short.on_payload(&mut seg, payload, (&origins.map(Some), [0; 2]), &mut readers);
                }
                let next = general[from].next();
                general[from].feed(start, len, payload);
                if start + len > next {
                    general[!from].on_turn();
                }
                ends[from] = ends[from].max(start + len);
            }
            prop_assert_eq!(short.finish(origins.map(Some), readers.as_mut()), general.map(Stream::finish));
        }
    }

    proptest! {
        #[test]
        fn packet_that_answers_nothing_is_not_activity(talk in prop::collection::vec((prop::sample::select(&Side::BOTH), 0u32..2, 0u8..8, 0i64..3), 1..40)) {
            let mut short = PayloadStreams::new(Time(5));
            let (mut time, mut active, mut unanswered, mut payload) = (Time(5), Time(5), false, 0);
            for (from, len, syn, pause) in talk {
                time += Nanos(pause);
                let mut seg = Seg::example(from, SeqNumber(9), SeqNumber(0), len, None);
                seg.time = time;
                if syn == 0 {
                    seg.flags = Flags::SYN;
                }
                short.on_segment(&mut seg, &[], (&[None; 2], [0; 2]), &mut None::<PayloadReaders>);
                let asks = len > 0 || syn == 0;
                if asks || unanswered {
                    (active, unanswered) = (time, asks);
                }
                payload += u64::from(len);
                prop_assert_eq!((short.active_until(time), short.payload()), (active, payload));
            }
        }
    }

    #[test]
    fn most_payload_is_skipped() {
        let origins = [SeqNumber(7); 2];
        let mut talk = PayloadStreams::default();
        let mut passed = 0;
        for (from, start) in
            [(A, 1), (A, 9), (A, 17), (B, 1), (B, 9), (A, 25), (A, 33), (A, 60), (A, 68), (A, 33), (A, 76)]
        {
            let word = PAYLOADS[8];
            let mut seg = seg(from, origins[from] + start, word);
            passed += usize::from(
                talk.is_expected(&mut seg, word) || {
                    talk.on_payload(&mut seg, word, (&origins.map(Some), [0; 2]), &mut None::<PayloadReaders>);
                    false
                },
            );
        }
        assert_eq!(passed, 6, "all except the first payload of each turn, data after a hole, and retransmissions");
    }
}
