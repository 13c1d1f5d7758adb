//! TCP as `-q` prints it, `IP A.1 > B.2: tcp 1460`: no numbers, no flags, no window.
//!
//! Usually such a text cannot be analysed. But if a router reports packets as too big ("need to
//! frag") again, although the sender had time to obey, it shows a black hole. So the lines are
//! stored until then. Each segment is assumed to follow the previous one. Segments after an error
//! that come after a pause, or have a size that fits, are retransmissions of the reported data.

use super::errors::IcmpLine;
use super::start::Start;
use super::tally::Tally;
use super::time::TextTime;
use foldhash::HashMap;
use std::fmt::Write;

/// Maximum number of lines that are stored until an ICMP error.
const MAX_HELD: usize = 512;
/// Maximum number of tracked directions; segments of others stay unread.
const MAX_DIRECTIONS: usize = 4_096;
/// A segment this long after the previous one is a retransmission: half of Linux's minimum timeout
/// (200 ms), a third of that of Windows.
const PAUSE: i64 = 100_000_000;
/// Length of the IPv4 and TCP headers without options.
const HEADERS: u32 = 40;

/// A stored line.
#[derive(Clone, Debug)]
pub(super) struct HeldLine {
    pub(super) start: Start,
    pub(super) text: Box<str>,
    /// Its line number.
    pub(super) line: u64,
}

/// The lines of `-q` in a text.
#[derive(Debug, Default)]
pub(super) struct QuietLines {
    held: Vec<HeldLine>,
    /// Position of the first one: number of bytes before it, and its line number.
    pub(super) first: Option<(u64, u64)>,
    is_released: bool,
    /// Segments that were written as packets.
    pub(super) inferred: Tally,
    /// By "source > destination", ports included.
    directions: HashMap<Box<str>, Direction>,
}

/// State of one direction.
#[derive(Clone, Copy, Debug)]
struct Direction {
    /// Sequence number after the last byte.
    next: u32,
    /// Start of the data that no error was about.
    since: u32,
    last: Option<TextTime>,
    /// Start of the data that an error was about, and the reported MTU.
    refused: Option<(u32, u32)>,
}

impl Default for Direction {
    fn default() -> Self {
        Self { next: 1, since: 1, last: None, refused: None }
    }
}

/// `A.1 > B.2` and the number of payload bytes.
fn segment(text: &str) -> Option<(&str, &str, u32)> {
    let (before, behind) = text.split_once(" > ")?;
    let (to, rest) = behind.split_once(':')?;
    let from = before.rsplit([' ', '\t']).next()?;
    // An IPv6 address contains colons.
    let (to, rest) = if rest.starts_with(" tcp ") {
        (to, rest)
    } else {
        behind.rsplit_once(": ").map(|(to, _)| (to, behind.get(to.len() + 1..).unwrap_or("")))?
    };
    let length = rest.trim_start().strip_prefix("tcp ")?;
    let digits = length.bytes().take_while(u8::is_ascii_digit).count();
    Some((from, to, length.get(..digits)?.parse().ok()?))
}

impl QuietLines {
    /// Whether lines are stored.
    pub(super) fn is_holding(&self) -> bool {
        !self.held.is_empty()
    }

    /// Whether the segments are written as packets.
    pub(super) fn is_released(&self) -> bool {
        self.is_released
    }

    /// Stores a line; returns `false` if there are too many.
    pub(super) fn hold(&mut self, line: HeldLine, offset: u64) -> bool {
        self.first.get_or_insert((offset, line.line));
        self.held.push(line);
        self.held.len() <= MAX_HELD
    }

    /// Returns the stored lines if `text` repeats an error after which the sender sent another
    /// segment that is too big. Without sequence numbers nothing else is certain about a
    /// connection.
    pub(super) fn release(&mut self, text: &str) -> Option<Vec<HeldLine>> {
        let error = too_big(text)?;
        let (mut first, mut is_ignored) = (None, false);
        for line in &self.held {
            let at = line.start.stamp.map(nanos);
            match (too_big(&line.text), segment(&line.text)) {
                (Some(earlier), _) if earlier.to == error.to && first.is_none() => first = at,
                (None, Some((from, _, length))) if is_at(from, error.to) && length + HEADERS > error.mtu => {
                    is_ignored |= first.zip(at).is_some_and(|(first, at)| at.saturating_sub(first) >= PAUSE);
                }
                _ => {}
            }
        }
        self.is_released = is_ignored;
        is_ignored.then(|| std::mem::take(&mut self.held))
    }

    /// Processes an error, if `text` is one.
    pub(super) fn see_error(&mut self, text: &str) {
        let Some(error) = too_big(text) else { return };
        for (ends, direction) in &mut self.directions {
            let Some((from, to)) = ends.split_once(" > ") else { continue };
            if is_at(from, error.to)
                && error.about.is_none_or(|host| is_at(to, host))
                && direction.next != direction.since
            {
                direction.refused.get_or_insert((direction.since, error.mtu));
            }
        }
    }

    /// The segment of `text` in tcpdump's form without `-q`.
    pub(super) fn rewrite(&mut self, text: &str, at: Option<TextTime>) -> Option<String> {
        let (from, to, length) = segment(text)?;
        let (ends, back) = (format!("{from} > {to}"), format!("{to} > {from}"));
        let known = self.directions.get(back.as_str());
        let ack = known.map_or(1, |peer| peer.refused.map_or(peer.next, |(seq, _)| seq));
        if self.directions.len() >= MAX_DIRECTIONS && !self.directions.contains_key(ends.as_str()) {
            return None;
        }
        let direction = self.directions.entry(ends.into_boxed_str()).or_default();
        let pause = direction.last.zip(at).map_or(0, |(last, at)| nanos(at).saturating_sub(nanos(last)));
        if let Some((seq, mtu)) = direction.refused
            && length > 0
            && (pause >= PAUSE || length + HEADERS <= mtu)
        {
            *direction = Direction { next: seq, since: seq, last: None, refused: None };
        }
        let (seq, flags) = (direction.next, if length > 0 { "P." } else { "." });
        direction.next = seq.wrapping_add(length);
        if length > 0 {
            direction.last = at;
        }
        let family = if text.starts_with("IP6") { "IP6" } else { "IP" };
        let mut out = String::new();
        let _ = write!(
            out,
            "{family} {from} > {to}: Flags [{flags}], seq {seq}:{}, ack {ack}, length {length}",
            direction.next
        );
        Some(out)
    }
}

/// The error that a packet was too big for the next link.
fn too_big(text: &str) -> Option<IcmpLine<'_>> {
    IcmpLine::read(text).filter(|error| matches!((error.kind, error.v6), ((3, 4), false) | ((2, 0), true)))
}

/// Whether `end` is an address with a port on `host`.
fn is_at(end: &str, host: &str) -> bool {
    end.rsplit_once('.').is_some_and(|(address, _)| address == host)
}

fn nanos(time: TextTime) -> i64 {
    match time {
        TextTime::Epoch(at) | TextTime::Day(at) | TextTime::Delta(at) | TextTime::Elapsed(at) => at,
    }
}
