//! Which of several inputs continue each other, and which look at the same thing from two places.
//!
//! The rule, for inputs in the order of their first packets: an input continues a set of earlier
//! ones when
//!
//! - its first packet is not earlier than the set's last one (within a hundredth of the set's time
//!   and at most 100 ms when its name differs from the set's in digits alone: interfaces that share
//!   a rotation set may be out of step), and
//! - no SYN at its beginning is also at the beginning of one of the set's: the same packet twice,
//!   whatever the clocks, is one connection seen from two places.
//!
//! Of several sets that it could continue it goes to the one of its name (digits and compression
//! aside), or else to the one that ended last. An input that continues none begins a set of its
//! own, and so does one without a date.

use crate::error::Error;
use crate::input::Input;
use crate::source::{Block, Filled, Source};
use crate::stop::Stop;
use std::collections::HashSet;
use std::fs;
use whyslow_core::capture::{CaptureError, CaptureOrigin, Clock, Packet, Reader, Sink, Summary};
use whyslow_diagnosis::condense::ConnectionShard;
use whyslow_diagnosis::pair;
use whyslow_units::{Nanos, Time};

/// Bytes of an input that are read to sort it.
const LOOK: usize = 256 << 10;

/// How far an input of a set may start before the previous one ended, at most.
const SLACK: Nanos = Nanos::from_millis(100);

/// An input that waits for its turn.
pub(crate) struct WaitingInput {
    pub(crate) opening: InputOpening,
    pub(crate) source: InputBytes,
}

/// The properties of an input's first bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct InputOpening {
    /// The time of its first packet, if it has a date.
    first: Option<Time>,
    /// [Hashes](pair::syn_hash) of its SYNs.
    syns: HashSet<u64>,
    /// Its name without digits and compression.
    family: String,
    /// Packets that were looked at.
    packets: u64,
    /// The shard of connections.
    pub(crate) share: ConnectionShard,
}

impl InputOpening {
    /// From a condensed capture of this name.
    pub(crate) fn origin(&self, name: &str) -> CaptureOrigin {
        CaptureOrigin {
            name: name.to_owned(),
            opening_packets: self.packets,
            opening_time: self.first,
            share: self.share,
        }
    }
}

/// The beginning of an input.
struct Beginning {
    source: Source,
    block: Block,
    scan: OpeningScan,
    /// The end, as if the input ended after these bytes.
    end: Result<Summary, CaptureError>,
}

impl Beginning {
    /// # Errors
    /// When it cannot be read, or is not a capture.
    fn read(input: &Input, stop: &Stop) -> Result<Self, Error> {
        let mut source = Source::open(input, stop)?;
        let mut block = Block::with_room(LOOK);
        let (mut reader, mut scan) = (Reader::new(), OpeningScan::default());
        while !block.is_full() {
            let seen = block.len();
            let Filled::Bytes = source.fill(&mut block)? else { break };
            let bytes = block.get(seen..).unwrap_or_default();
            reader.push(bytes, &mut scan).map_err(|error| source.no_capture(error))?;
        }
        let end = reader.finish(&mut scan);
        Ok(Self { source, block, scan, end })
    }
}

/// Checks that an input begins as a capture, and that a short one is one.
///
/// # Errors
/// When it cannot be read, or is not a capture.
pub(crate) fn check(input: &Input) -> Result<(), Error> {
    let beginning = Beginning::read(input, &Stop::default())?;
    match beginning.end {
        Err(error) if !beginning.block.is_full() => Err(beginning.source.no_capture(error)),
        _ => Ok(()),
    }
}

/// The source of the input's bytes.
pub(crate) enum InputBytes {
    /// In a file, which is opened again later: there may be more files than can be open at once.
    File(Input),
    /// In a pipe, which stays open.
    Pipe(Source),
}

impl WaitingInput {
    /// Opens an input and reads its beginning.
    ///
    /// # Errors
    /// When it cannot be read, or is not a capture.
    pub(crate) fn open(input: &Input, stop: &Stop) -> Result<Self, Error> {
        let Beginning { mut source, block, scan, end } = Beginning::read(input, stop)?;
        // The sample may break off anywhere: an error at its end is reported when
        // all is read.
        let clock = end.map_or(Clock::None, |summary| summary.clock);
        let opening = scan.opening(&input.name(), clock);
        let source = if is_file(input) {
            InputBytes::File(input.clone())
        } else {
            source.put_back(block);
            InputBytes::Pipe(source)
        };
        Ok(Self { opening, source })
    }

    /// Sorts inputs by their first packets; those without a date come last.
    pub(crate) fn order(&self) -> impl Ord + use<> {
        (self.opening.first.is_none(), self.opening.first)
    }
}

impl InputBytes {
    pub(crate) fn name(&self) -> String {
        match self {
            Self::File(input) => input.name(),
            Self::Pipe(source) => source.name().to_owned(),
        }
    }

    /// Its path, if it can be opened again.
    pub(crate) fn file(&self) -> Option<Input> {
        match self {
            Self::File(input) => Some(input.clone()),
            Self::Pipe(_) => None,
        }
    }

    /// The input's bytes from the first one on.
    ///
    /// # Errors
    /// When it can no longer be opened.
    pub(crate) fn open(self, stop: &Stop) -> Result<Source, Error> {
        match self {
            Self::File(input) => Source::open(&input, stop),
            Self::Pipe(source) => Ok(source),
        }
    }
}

/// Inputs that continue each other.
#[derive(Clone, Debug, Default)]
pub(crate) struct RotationSet {
    /// Time of the first packet and of the last; `None` without dates.
    time: Option<(Time, Time)>,
    syns: HashSet<u64>,
    family: String,
}

impl RotationSet {
    /// Adds an input that was read to its end.
    pub(crate) fn add(&mut self, opening: InputOpening, summary: &Summary) {
        if let (Some(first), Some(last)) = (opening.first, summary.last_time) {
            let (start, end) = self.time.unwrap_or((first, last));
            self.time = Some((start.min(first), end.max(last)));
        }
        self.syns.extend(opening.syns);
        self.family = opening.family;
    }

    /// Whether this input may continue the set.
    fn takes(&self, opening: &InputOpening) -> bool {
        let (Some((start, end)), Some(first)) = (self.time, opening.first) else { return false };
        let slack = if self.family == opening.family { (end - start).scale(0.01).min(SLACK) } else { Nanos::ZERO };
        first + slack >= end && first >= start && self.syns.is_disjoint(&opening.syns)
    }
}

/// The place of the set that an input continues.
pub(crate) fn continued<'a>(sets: impl Iterator<Item = &'a RotationSet>, opening: &InputOpening) -> Option<usize> {
    sets.enumerate()
        .filter(|(_, set)| set.takes(opening))
        .max_by_key(|(_, set)| (set.family == opening.family, set.time))
        .map(|(place, _)| place)
}

/// Collects what the beginning of a capture shows.
#[derive(Default)]
struct OpeningScan {
    first: Option<Time>,
    syns: HashSet<u64>,
    packets: u64,
    /// The origin of a condensed capture, whose beginning counts.
    origin: Option<CaptureOrigin>,
}

impl OpeningScan {
    /// For an input of this name and this meaning of times.
    fn opening(self, name: &str, clock: Clock) -> InputOpening {
        let (name, first) = match &self.origin {
            Some(origin) => (origin.name.as_str(), origin.opening_time),
            None => (name, self.first.filter(|_| clock == Clock::Absolute)),
        };
        let share = self.origin.as_ref().map_or(ConnectionShard::ALL, |origin| origin.share);
        InputOpening { first, syns: self.syns, family: family(name), packets: self.packets, share }
    }
}

impl Sink for OpeningScan {
    fn packet(&mut self, packet: &Packet<'_>) {
        if self.origin.as_ref().is_some_and(|origin| self.packets >= origin.opening_packets) {
            return;
        }
        self.packets += 1;
        self.first = Some(self.first.map_or(packet.time, |first| first.min(packet.time)));
        self.syns.extend(pair::syn_hash(packet));
    }

    fn condensed(&mut self, origin: &CaptureOrigin) {
        self.origin = Some(origin.clone());
    }
}

/// Whether it can be opened once more.
pub(crate) fn is_file(input: &Input) -> bool {
    match input {
        Input::Path(path) => fs::metadata(path).is_ok_and(|metadata| metadata.is_file()),
        Input::Object(_) => true,
        Input::Stdin => false,
    }
}

/// A name without what varies in a rotation set: digits, and the suffix of a compression.
fn family(name: &str) -> String {
    let endings = [".gz", ".zst", ".lz4", ".xz"];
    let name = endings.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    name.chars().filter(|c| !c.is_ascii_digit()).collect()
}

#[cfg(test)]
mod tests;
