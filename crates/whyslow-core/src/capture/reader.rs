//! The door of the stage: finds out what the bytes are, and hands them to the reader of that
//! format.

use super::condensed::CondensedReader;
use super::detect::{self, Format};
use super::pcap::PcapReader;
use super::pcapng::PcapNgReader;
use super::records::Records;
use super::text::TextReader;
use super::{CaptureError, Sink, Summary};

/// Reads a capture of any known format, pushed in any split.
///
/// Records are read in place from the pushed slice; only one that straddles two pushes is copied.
/// So push as much at once as is at hand: a whole mapped file is best.
#[derive(Debug)]
pub struct Reader {
    state: State,
}

#[derive(Debug)]
enum State {
    /// The first bytes, too few for a verdict.
    Undecided(Vec<u8>),
    Pcap(Box<RecordStream<PcapReader>>),
    PcapNg(Box<RecordStream<PcapNgReader>>),
    Text(Box<TextReader>),
    Condensed(Box<RecordStream<CondensedReader>>),
}

impl Default for Reader {
    fn default() -> Self {
        Self { state: State::Undecided(Vec::new()) }
    }
}

impl Reader {
    /// Nothing read yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes, and gives the packets that they complete to the sink.
    ///
    /// # Errors
    /// When the bytes are no capture that is read here; says what they are then, and what to do.
    /// After an error the reader is of no more use.
    pub fn push<S: Sink>(&mut self, bytes: &[u8], sink: &mut S) -> Result<(), CaptureError> {
        let State::Undecided(head) = &mut self.state else { return self.forward(bytes, sink) };
        if head.is_empty()
            && let Some(format) = detect::detect(bytes, false)?
        {
            self.state = State::begin(format);
            return self.forward(bytes, sink);
        }
        let (start, rest) = bytes.split_at(bytes.len().min(detect::ENOUGH - head.len()));
        head.extend_from_slice(start);
        let Some(format) = detect::detect(head, false)? else { return Ok(()) };
        let head = std::mem::take(head);
        self.state = State::begin(format);
        self.forward(&head, sink)?;
        self.forward(rest, sink)
    }

    /// There are no more bytes: gives what is left to the sink, and tells what the capture says
    /// about itself.
    ///
    /// # Errors
    /// When the bytes end before anything could be read, or are no capture that is read here.
    pub fn finish<S: Sink>(mut self, sink: &mut S) -> Result<Summary, CaptureError> {
        if let State::Undecided(head) = &mut self.state {
            let head = std::mem::take(head);
            // With all bytes at hand there is always a verdict.
            self.state = State::begin(detect::detect(&head, true)?.unwrap_or(Format::Text));
            self.forward(&head, sink)?;
        }
        match self.state {
            State::Pcap(stream) => stream.finish(sink)?.summary(),
            State::PcapNg(stream) => stream.finish(sink)?.summary(),
            State::Text(reader) => reader.finish(sink),
            State::Condensed(stream) => stream.finish(sink)?.summary(),
            State::Undecided(_) => unreachable!("decided above"),
        }
    }

    fn forward<S: Sink>(&mut self, bytes: &[u8], sink: &mut S) -> Result<(), CaptureError> {
        match &mut self.state {
            State::Pcap(stream) => stream.push(bytes, sink),
            State::PcapNg(stream) => stream.push(bytes, sink),
            State::Text(reader) => reader.push(bytes, sink),
            State::Condensed(stream) => stream.push(bytes, sink),
            State::Undecided(_) => unreachable!("forwarded only once decided"),
        }
    }
}

impl State {
    fn begin(format: Format) -> Self {
        match format {
            Format::Pcap(variant) => Self::Pcap(Box::new(RecordStream::new(PcapReader::new(variant)))),
            Format::PcapNg => Self::PcapNg(Box::new(RecordStream::new(PcapNgReader::default()))),
            Format::Text => Self::Text(Box::default()),
            Format::Condensed => Self::Condensed(Box::new(RecordStream::new(CondensedReader::default()))),
        }
    }
}

/// Feeds bytes in any split to a format, and keeps what must wait for more.
#[derive(Debug)]
struct RecordStream<R> {
    records: R,
    /// From `start` on: the beginning of a record whose rest has not come yet. Grows with the bytes
    /// that come, never ahead of them.
    carry: Vec<u8>,
    start: usize,
    need: usize,
}

/// A carry that was grown beyond this by an unusual record is given back.
const KEEP: usize = 1 << 20;

impl<R: Records> RecordStream<R> {
    fn new(records: R) -> Self {
        Self { records, carry: Vec::new(), start: 0, need: 1 }
    }

    fn push<S: Sink>(&mut self, mut bytes: &[u8], sink: &mut S) -> Result<(), CaptureError> {
        while self.start < self.carry.len() {
            let missing = self.need.saturating_sub(self.carry.len() - self.start);
            let (first, rest) = bytes.split_at(bytes.len().min(missing));
            self.carry.extend_from_slice(first);
            bytes = rest;
            if first.len() < missing {
                return Ok(());
            }
            let progress = self.records.read(self.carry.get(self.start..).unwrap_or_default(), false, sink)?;
            self.need = progress.need;
            self.start += progress.consumed;
            // Moving the rest to the front only when that halves the carry keeps the cost per byte
            // constant.
            if self.start > self.carry.len() / 2 {
                self.carry.drain(..self.start);
                self.start = 0;
            }
        }
        self.carry.clear();
        self.carry.shrink_to(KEEP);
        self.start = 0;
        let progress = self.records.read(bytes, false, sink)?;
        self.carry.extend_from_slice(bytes.get(progress.consumed..).unwrap_or_default());
        self.need = progress.need;
        Ok(())
    }

    fn finish<S: Sink>(mut self, sink: &mut S) -> Result<R, CaptureError> {
        let carry = std::mem::take(&mut self.carry);
        self.records.read(carry.get(self.start..).unwrap_or_default(), true, sink)?;
        Ok(self.records)
    }
}

#[cfg(test)]
pub(super) mod tests;
