//! Which of several inputs continue each other, and which look at the same thing from two places.
//!
//! The rule, for inputs in the order of their first packets: an input continues a set of earlier
//! ones when
//!
//! - its first packet is not earlier than the set's last one (within a hundredth of the set's time
//!   and at most 100 ms when its name differs from the set's in digits alone: interfaces that share
//!   a rotation set may be out of step), and
//! - no SYN at its beginning is also at the beginning of one of the set's: the same packet twice,
//!   whatever the clocks say, is one connection seen from two places.
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
use whyslow_core::capture::{Clock, Packet, Reader, Sink, Summary};
use whyslow_core::pair;
use whyslow_core::units::Nanos;

/// Bytes of an input that are looked at before its turn comes.
const LOOK: usize = 256 << 10;

/// Most by which an input of a set may begin before the one before it ended.
const SLACK: Nanos = Nanos::from_millis(100);

/// An input that waits for its turn.
pub(crate) struct WaitingInput {
    pub(crate) look: InputOpening,
    pub(crate) source: InputBytes,
}

/// What the beginning of an input tells.
#[derive(Clone, Debug, Default)]
pub(crate) struct InputOpening {
    /// Its first packet, when it has a date.
    first: Option<Nanos>,
    /// [Hashes](pair::syn_hash) of its SYNs.
    syns: HashSet<u64>,
    /// Its name without digits and compression.
    family: String,
}

/// Where the input's bytes are until then.
pub(crate) enum InputBytes {
    /// In a file, which is opened again: there may be more files than can be open at once.
    File(Input),
    /// In a pipe, which is not.
    Pipe(Source),
}

impl WaitingInput {
    /// Looks at the beginning of an input.
    ///
    /// # Errors
    /// When it cannot be read or is no capture.
    pub(crate) fn look(input: &Input, stop: &Stop) -> Result<Self, Error> {
        let mut source = Source::open(input, stop)?;
        let mut block = Block::with_room(LOOK);
        let (mut reader, mut scan) = (Reader::new(), OpeningScan::default());
        while !block.is_full() {
            let seen = block.len();
            let Filled::Bytes = source.fill(&mut block)? else { break };
            let bytes = block.get(seen..).unwrap_or_default();
            reader.push(bytes, &mut scan).map_err(|error| source.no_capture(error))?;
        }
        // What was looked at may break off anywhere: whatever is wrong with the end is told when
        // all is read.
        let clock = reader.finish(&mut scan).map_or(Clock::None, |summary| summary.clock);
        let family = family(&input.name());
        let look = InputOpening { first: scan.first.filter(|_| clock == Clock::Absolute), syns: scan.syns, family };
        let source = if is_file(input) {
            InputBytes::File(input.clone())
        } else {
            source.put_back(block);
            InputBytes::Pipe(source)
        };
        Ok(Self { look, source })
    }

    /// Sorts inputs by their first packets; those without a date come last.
    pub(crate) fn order(&self) -> impl Ord + use<> {
        (self.look.first.is_none(), self.look.first)
    }
}

impl InputBytes {
    /// Its file, where there is one that can be opened once more.
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
    /// From the first packet to the last; none without dates.
    time: Option<(Nanos, Nanos)>,
    syns: HashSet<u64>,
    family: String,
}

impl RotationSet {
    /// Another input was read to its end.
    pub(crate) fn add(&mut self, look: InputOpening, summary: &Summary) {
        if let (Some(first), Some(last)) = (look.first, summary.last_time) {
            let (start, end) = self.time.unwrap_or((first, last));
            self.time = Some((start.min(first), end.max(last)));
        }
        self.syns.extend(look.syns);
        self.family = look.family;
    }

    /// Whether this input may continue the set.
    fn takes(&self, look: &InputOpening) -> bool {
        let (Some((start, end)), Some(first)) = (self.time, look.first) else { return false };
        let slack = if self.family == look.family { (end - start).scale(0.01).min(SLACK) } else { Nanos::ZERO };
        first + slack >= end && first >= start && self.syns.is_disjoint(&look.syns)
    }
}

/// The set that an input continues, by its place.
pub(crate) fn continued<'a>(sets: impl Iterator<Item = &'a RotationSet>, look: &InputOpening) -> Option<usize> {
    sets.enumerate()
        .filter(|(_, set)| set.takes(look))
        .max_by_key(|(_, set)| (set.family == look.family, set.time))
        .map(|(place, _)| place)
}

/// Takes what the beginning of a capture tells.
#[derive(Default)]
struct OpeningScan {
    first: Option<Nanos>,
    syns: HashSet<u64>,
}

impl Sink for OpeningScan {
    fn packet(&mut self, packet: &Packet<'_>) {
        self.first = Some(self.first.map_or(packet.time, |first| first.min(packet.time)));
        self.syns.extend(pair::syn_hash(packet));
    }
}

/// Whether it can be opened once more.
pub(crate) fn is_file(input: &Input) -> bool {
    matches!(input, Input::Path(path) if fs::metadata(path).is_ok_and(|metadata| metadata.is_file()))
}

/// A name without what differs within a rotation set: digits, and the ending of a file that was
/// compressed since.
fn family(name: &str) -> String {
    let endings = [".gz", ".zst", ".lz4", ".xz"];
    let name = endings.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    name.chars().filter(|c| !c.is_ascii_digit()).collect()
}

#[cfg(test)]
mod tests;
