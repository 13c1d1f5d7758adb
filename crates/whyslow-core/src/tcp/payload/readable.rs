//! Selects the bytes of a payload that a [`Stream`](super::Stream) may read, whatever came before,
//! so that only those need to be stored.
//!
//! A stream reads from the start of a record, head or greeting. Where it expects one depends on
//! earlier payload, which may be in another file. So this selects the first bytes at all positions
//! where one could start; in ciphertext, one position in three million bytes matches by chance.
//! Data that starts at the end of a segment continues at the start of the next one.
//!
//! The result of a stream is the same for the selected bytes with zeros between them (spaces if all
//! of the payload is text) as for the whole payload.

use super::kind::{SMALL, is_text, kind_of};
use super::openings::HTTP2;
use super::protocol::{GATHER_MAX, Protocol};
use super::streams::MIN_TEXT;
use super::{http, tls};
use std::ops::Range;
use whyslow_units::SeqNumber;
use whyslow_units::steps;

/// Bytes that are enough to recognise an opening: the header of a record and of its handshake
/// message, or the longest HTTP method.
const ENOUGH: usize = 12;
/// Bytes that show an empty line: the end of the previous line, and the line's own end or the byte
/// after it.
const EMPTY_LINE: usize = 3;
/// Maximum number of incomplete openings that are remembered of a side; the oldest ones are
/// dropped.
const MAX_UNFINISHED: usize = 16;

/// One side of a connection.
#[derive(Clone, Debug, Default)]
pub struct Readable {
    unfinished: Vec<Unfinished>,
    /// Set if the side's first payload is in another file: data that started there may continue
    /// here.
    unknown: Option<Unknown>,
}

/// Data that may have started before the first payload of this file.
#[derive(Clone, Copy, Debug)]
struct Unknown {
    /// Largest number of bytes that may belong to it.
    room: usize,
    /// Sequence number of the first payload in this file.
    first: Option<SeqNumber>,
}

/// Data that started at the end of a segment.
#[derive(Clone, Copy, Debug)]
struct Unfinished {
    /// Sequence number at which it continues.
    at: SeqNumber,
    part: Part,
}

#[derive(Clone, Copy, Debug)]
enum Part {
    /// Too few bytes to recognise it: these bytes.
    Beginning([u8; ENOUGH], usize),
    /// It has this many more bytes.
    Bytes(usize),
    /// A head, up to an empty line, with at most this many more bytes.
    Head(usize),
}

/// A position in a segment's payload.
#[derive(Clone, Copy)]
struct Place<'a> {
    seq: SeqNumber,
    payload: &'a [u8],
    at: usize,
    /// Number of its bytes before this position, in earlier segments.
    before: usize,
}

impl Place<'_> {
    /// Sequence number after the segment.
    fn end(&self) -> SeqNumber {
        self.seq + self.payload.len() as u32
    }
}

/// Kinds of openings.
enum Opening {
    Nothing,
    /// More bytes are needed.
    More,
    /// It has this many bytes.
    Bytes(usize),
    /// It ends with an empty line.
    Head,
}

impl Readable {
    /// Creates one for a side whose first payload is still to come.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates one for a side whose payload began earlier.
    pub fn begun() -> Self {
        Self { unknown: Some(Unknown { room: GATHER_MAX, first: None }), ..Self::default() }
    }

    /// Returns the ranges of a payload to store, in order. `len` is its length on the wire.
    pub fn select(&mut self, seq: SeqNumber, payload: &[u8], len: u32, selected: &mut Vec<Range<usize>>) {
        selected.clear();
        self.select_unknown(seq, payload, selected);
        let mut empty_lines = EmptyLines::default();
        self.continue_unfinished(seq, payload, &mut empty_lines, selected);
        let mut at = 0;
        while let Some(next) = payload.get(at..).and_then(|rest| rest.iter().position(|&byte| may_begin(byte))) {
            at += next;
            self.begin(Place { seq, payload, at, before: 0 }, &mut empty_lines, selected);
            at += 1;
        }
        join(selected, payload.len());
        if u64::from(len) < SMALL && !has_same_kind(payload, len, selected) {
            selected.clear();
            selected.push(0..payload.len());
        }
    }

    fn select_unknown(&mut self, seq: SeqNumber, payload: &[u8], selected: &mut Vec<Range<usize>>) {
        let Some(unknown) = &mut self.unknown else { return };
        let first = *unknown.first.get_or_insert(seq);
        // Data that fills an earlier hole may belong to it too.
        if unknown.room > 0 || seq.distance(first) < 0 {
            selected.push(0..payload.len());
            unknown.room = unknown.room.saturating_sub(payload.len());
        }
    }

    /// Selects bytes of data that continues here.
    fn continue_unfinished(
        &mut self,
        seq: SeqNumber,
        payload: &[u8],
        empty_lines: &mut EmptyLines,
        selected: &mut Vec<Range<usize>>,
    ) {
        let mut index = 0;
        while let Some(&Unfinished { at, part }) = self.unfinished.get(index) {
            let offset = at.distance(seq);
            let Some(offset) = usize::try_from(offset).ok().filter(|&offset| offset < payload.len()) else {
                index += 1;
                continue;
            };
            self.unfinished.remove(index);
            let Some(rest) = payload.get(offset..) else { continue };
            match part {
                Part::Beginning(bytes, length) => {
                    let mut known = bytes.get(..length).unwrap_or_default().to_vec();
                    known.extend(rest.iter().take(ENOUGH.saturating_sub(length)));
                    self.hold(Place { seq, payload, at: offset, before: length }, &known, empty_lines, selected);
                }
                Part::Bytes(count) => self.hold_bytes(Place { seq, payload, at: offset, before: 0 }, count, selected),
                Part::Head(room) => {
                    self.hold_head(Place { seq, payload, at: offset, before: 0 }, room, empty_lines, selected);
                }
            }
        }
    }

    /// Selects bytes of data that may start at this position.
    fn begin(&mut self, place: Place<'_>, empty_lines: &mut EmptyLines, selected: &mut Vec<Range<usize>>) {
        let Some(rest) = place.payload.get(place.at..) else { return };
        self.hold(place, rest.get(..ENOUGH).unwrap_or(rest), empty_lines, selected);
    }

    /// Selects the bytes of an opening, including those before the position.
    fn hold(&mut self, place: Place<'_>, known: &[u8], empty_lines: &mut EmptyLines, selected: &mut Vec<Range<usize>>) {
        match opening(known) {
            Opening::Nothing => {}
            Opening::More => {
                selected.push(place.at..place.payload.len());
                let mut bytes = [0; ENOUGH];
                let length = bytes.iter_mut().zip(known).map(|(to, from)| *to = *from).count();
                self.remember(place.end(), Part::Beginning(bytes, length));
            }
            Opening::Bytes(count) => self.hold_bytes(place, count, selected),
            Opening::Head => self.hold_head(place, GATHER_MAX, empty_lines, selected),
        }
    }

    fn hold_bytes(&mut self, place: Place<'_>, count: usize, selected: &mut Vec<Range<usize>>) {
        let count = count.saturating_sub(place.before);
        let end = place.at.saturating_add(count).min(place.payload.len());
        selected.push(place.at..end);
        let missing = count.saturating_sub(end - place.at);
        if missing > 0 {
            self.remember(place.end(), Part::Bytes(missing));
        }
    }

    fn hold_head(
        &mut self,
        place: Place<'_>,
        room: usize,
        empty_lines: &mut EmptyLines,
        selected: &mut Vec<Range<usize>>,
    ) {
        let (at, length) = (place.at, place.payload.len());
        let end = empty_lines.first_end_after(place.payload, at);
        selected.push(at..end.unwrap_or(length));
        let left = length.saturating_sub(at);
        if let Some(room) = room.checked_sub(left).filter(|&room| room > 0 && end.is_none()) {
            self.remember(place.end(), Part::Head(room));
        }
    }

    fn remember(&mut self, at: SeqNumber, part: Part) {
        if self.unfinished.len() == MAX_UNFINISHED {
            self.unfinished.remove(0);
        }
        self.unfinished.push(Unfinished { at, part });
    }
}

/// The empty lines of one payload. Each is searched only once, because many heads may share one.
#[derive(Debug, Default)]
struct EmptyLines {
    /// Start and result of the last search.
    last: Option<(usize, Option<usize>)>,
}

impl EmptyLines {
    /// Returns the end of the first empty line that begins at `at` or later.
    fn first_end_after(&mut self, payload: &[u8], at: usize) -> Option<usize> {
        if let Some((from, end)) = self.last
            && from <= at
            && end.is_none_or(|end| at + EMPTY_LINE <= end)
        {
            return end;
        }
        let rest = payload.get(at..).unwrap_or_default();
        let is_empty_line = |bytes: &[u8]| matches!(bytes, [b'\n', b'\r', b'\n'] | [b'\n', b'\n', _]);
        let found = rest.windows(EMPTY_LINE).position(is_empty_line);
        steps::count(found.unwrap_or(rest.len()));
        let end = found.map(|found| at + found + EMPTY_LINE);
        self.last = Some((at, end));
        end
    }
}

/// Whether a stream reads an opening with this first byte.
#[inline]
fn may_begin(byte: u8) -> bool {
    BEGINNINGS[usize::from(byte)]
}

static BEGINNINGS: [bool; 256] = {
    let mut beginnings = [false; 256];
    let mut byte = 0u8;
    while byte < u8::MAX {
        beginnings[byte as usize] = tls::may_open(byte) || http::may_begin(byte) || byte == b'S';
        byte += 1;
    }
    beginnings
};

/// The opening with these bytes: the first [`ENOUGH`], or all that there are.
fn opening(bytes: &[u8]) -> Opening {
    if bytes.first().is_some_and(|&first| tls::may_open(first)) {
        return tls_opening(bytes);
    }
    match http::begins(bytes) {
        Some(true) => Opening::Head,
        Some(false) => Opening::More,
        None if bytes.len() >= ENOUGH && HTTP2.starts_with(bytes) => Opening::Bytes(HTTP2.len()),
        None if HTTP2.starts_with(bytes) => Opening::More,
        None if bytes.starts_with(b"SSH-") => Opening::Bytes(4),
        None if b"SSH-".starts_with(bytes) => Opening::More,
        None => Opening::Nothing,
    }
}

fn tls_opening(bytes: &[u8]) -> Opening {
    let Some(header) = tls::Header::read(bytes) else {
        let is_cut = bytes.len() < tls::HEADER_LEN && tls::Header::may_start(bytes);
        return if is_cut { Opening::More } else { Opening::Nothing };
    };
    if header.kind != tls::HANDSHAKE {
        return Opening::Bytes(tls::HEADER_LEN);
    }
    let message = bytes.get(tls::HEADER_LEN..).unwrap_or_default();
    match *message {
        [kind, a, b, c, ..] if tls::is_hello(kind) => {
            let message = (u32::from_be_bytes([0, a, b, c]) as usize).saturating_add(4).min(GATHER_MAX);
            // It may be split into several records, each with a header.
            let records = message / usize::from(header.len) + 2;
            Opening::Bytes((message + records * tls::HEADER_LEN).min(2 * GATHER_MAX))
        }
        [_, _, _, _, ..] => Opening::Bytes(tls::HEADER_LEN + 2),
        _ => Opening::More,
    }
}

/// Sorts ranges, and joins those that touch.
fn join(selected: &mut Vec<Range<usize>>, length: usize) {
    selected.retain(|range| range.start < range.end.min(length));
    selected.sort_unstable_by_key(|range| range.start);
    let mut joined: Vec<Range<usize>> = Vec::with_capacity(selected.len());
    for range in selected.drain(..) {
        match joined.last_mut() {
            // Storing a gap of two bytes costs as much as storing the bytes.
            Some(last) if range.start <= last.end + 2 => last.end = last.end.max(range.end).min(length),
            _ => joined.push(range.start..range.end.min(length)),
        }
    }
    *selected = joined;
}

/// Whether a small message has the same role if only the stored part is known.
fn has_same_kind(payload: &[u8], len: u32, selected: &[Range<usize>]) -> bool {
    let mut filled = [if is_all_text(payload) { b' ' } else { 0 }; SMALL as usize];
    let Some(filled) = filled.get_mut(..payload.len()) else { return false };
    for range in selected {
        if let (Some(to), Some(from)) = (filled.get_mut(range.clone()), payload.get(range.clone())) {
            to.copy_from_slice(from);
        }
    }
    [None, Some(Protocol::Tls), Some(Protocol::Http), Some(Protocol::Ssh)]
        .into_iter()
        .all(|protocol| kind_of(payload, len.into(), protocol) == kind_of(filled, len.into(), protocol))
}

/// Whether the parts of a payload that are not stored should be replaced with spaces.
pub fn is_all_text(payload: &[u8]) -> bool {
    payload.len() >= MIN_TEXT && is_text(payload)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::payload::{Content, Stream};
    use proptest::prelude::*;

    /// Data that a side may send, in segments of any length.
    const PAYLOADS: [&[u8]; 12] = [
        b"GET /a HTTP/1.1\r\nHost: a.example\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: 30\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n",
        b"HTTP/1.1 204 No Content\n\n",
        b"\x16\x03\x03\x00\x08\x01\x00\x00\x04abcd",
        b"\x17\x03\x03\x00\x0cabcdefghijkl\x17\x03\x03\x00\x01x",
        b"\x17\x03\x03\x00\x40abcdefgh",
        b"\x14\x03\x03\x00\x01\x01",
        b"SSH-2.0-x\r\n",
        b"\x00\x01\x02\x03\x04\x05\x06\x07",
        b"nothing of note at all",
        b"123456789",
    ];

    #[derive(Clone, Copy, Debug)]
    struct Sent {
        /// Distance of its start from the end of the previous segment.
        step: i64,
        length: usize,
        /// Number of captured bytes.
        captured: usize,
        turn: bool,
    }

    fn sent() -> impl Strategy<Value = Sent> {
        let step = prop_oneof![10 => Just(0i64), 1 => -60i64..0, 1 => 1i64..60];
        let captured = prop_oneof![6 => Just(usize::MAX), 1 => 0usize..40];
        (step, 1usize..70, captured, any::<bool>()).prop_map(|(step, length, captured, turn)| Sent {
            step,
            length,
            captured,
            turn,
        })
    }

    fn content(segments: &[(u64, usize, Vec<u8>, bool)]) -> Content {
        let mut stream = Stream::default();
        for (start, len, payload, turn) in segments {
            if *turn {
                stream.on_turn();
            }
            stream.feed(*start, *len as u64, payload);
        }
        stream.finish()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

        #[test]
        fn selected_bytes_give_the_same_content(
            words in prop::collection::vec(0..PAYLOADS.len(), 4..60),
            segments in prop::collection::vec(sent(), 1..80),
            cuts in prop::collection::vec(0usize..80, 0..3),
            origin in any::<u32>(),
        ) {
            let stream: Vec<u8> = words.iter().flat_map(|&word| PAYLOADS[word].iter().copied()).collect();
            let (mut end, mut whole, mut reduced) = (0u64, Vec::new(), Vec::new());
            let (mut readable, mut selected) = (Readable::new(), Vec::new());
            for (index, sent) in segments.into_iter().enumerate() {
                if cuts.contains(&index) {
                    readable = Readable::begun();
                }
                let start = end.saturating_add_signed(sent.step).min(stream.len() as u64);
                let rest = stream.get(start as usize..).unwrap_or_default();
                let payload = rest.get(..sent.length).unwrap_or(rest);
                let len = payload.len();
                let payload = payload.get(..sent.captured).unwrap_or(payload);
                end = end.max(start + len as u64);
                readable.select(SeqNumber(origin) + start as u32, payload, len as u32, &mut selected);
                let mut kept = vec![if is_all_text(payload) { b' ' } else { 0 }; payload.len()];
                selected.iter().for_each(|range| kept[range.clone()].copy_from_slice(&payload[range.clone()]));
                whole.push((start, len, payload.to_vec(), sent.turn));
                reduced.push((start, len, kept, sent.turn));
            }
            prop_assert_eq!(content(&whole), content(&reduced));
        }
    }

    /// Steps for one payload with `heads` starts of heads, without an end or with one at the end.
    fn steps_of_heads(heads: usize, end: &[u8]) -> u64 {
        let payload = [&b"GET /".repeat(heads)[..], end].concat();
        let mut selected = Vec::new();
        let steps =
            steps::steps_during(|| Readable::new().select(SeqNumber(1), &payload, payload.len() as u32, &mut selected))
                .1;
        assert_eq!(selected.as_slice(), std::slice::from_ref(&(0..payload.len())));
        steps
    }

    #[test]
    fn steps_for_heads_in_one_packet_are_linear() {
        for end in [&b""[..], b"\r\n\r\n"] {
            let [one, four] = [10_000, 40_000].map(|heads| steps_of_heads(heads, end));
            assert!(one > 0 && four <= 5 * one, "{one} {four}");
        }
    }

    #[test]
    fn ciphertext_is_hardly_stored() {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u8
        };
        let (mut readable, mut selected, mut bytes) = (Readable::new(), Vec::new(), 0);
        for segment in 0..2_000u32 {
            let payload: Vec<u8> = (0..1448).map(|_| next()).collect();
            readable.select(SeqNumber(segment * 1448), &payload, 1448, &mut selected);
            bytes += selected.iter().map(ExactSizeIterator::len).sum::<usize>();
        }
        assert!(bytes < 2_000, "{bytes} of {}", 2_000 * 1448);
    }
}
