//! Entry point of the stage: detects the format, and passes the bytes to its reader.

use super::condensed::CondensedReader;
use super::detect::{self, Format};
use super::pcap::PcapReader;
use super::pcapng::PcapNgReader;
use super::qlog::QlogReader;
use super::records::Records;
use super::text::TextReader;
use super::{CaptureError, Sink, Summary};

/// Reads a capture of any supported format, pushed in any split.
///
/// Records are read in place from the pushed slice; only one that is split over two pushes is
/// copied. So large pushes are faster; a whole mapped file is best.
#[derive(Debug)]
pub struct Reader {
    state: State,
}

#[derive(Debug)]
enum State {
    /// The first bytes, too few to detect the format.
    Undecided(Vec<u8>),
    Pcap(Box<RecordStream<PcapReader>>),
    PcapNg(Box<RecordStream<PcapNgReader>>),
    Text(Box<TextReader>),
    Qlog(Box<QlogReader>),
    Condensed(Box<RecordStream<CondensedReader>>),
}

impl Default for Reader {
    fn default() -> Self {
        Self { state: State::Undecided(Vec::new()) }
    }
}

impl Reader {
    /// Creates a reader without input.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads the next bytes, and passes the packets that they complete to the sink.
    ///
    /// # Errors
    /// If the bytes are not a supported capture; the message names their kind and a remedy. After
    /// an error the reader must not be used.
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

    /// Ends the input: passes the remaining packets to the sink, and returns the summary.
    ///
    /// # Errors
    /// If the bytes end before any record, or are not a supported capture.
    pub fn finish<S: Sink>(mut self, sink: &mut S) -> Result<Summary, CaptureError> {
        if let State::Undecided(head) = &mut self.state {
            let head = std::mem::take(head);
            // With all bytes the format is always decided.
            self.state = State::begin(detect::detect(&head, true)?.unwrap_or(Format::Text));
            self.forward(&head, sink)?;
        }
        match self.state {
            State::Pcap(stream) => stream.finish(sink)?.summary(),
            State::PcapNg(stream) => stream.finish(sink)?.summary(),
            State::Text(reader) => reader.finish(sink),
            State::Qlog(reader) => reader.finish(sink),
            State::Condensed(stream) => stream.finish(sink)?.summary(),
            State::Undecided(_) => unreachable!("decided above"),
        }
    }

    fn forward<S: Sink>(&mut self, bytes: &[u8], sink: &mut S) -> Result<(), CaptureError> {
        match &mut self.state {
            State::Pcap(stream) => stream.push(bytes, sink),
            State::PcapNg(stream) => stream.push(bytes, sink),
            State::Text(reader) => reader.push(bytes, sink),
            State::Qlog(reader) => {
                reader.push(bytes, sink);
                Ok(())
            }
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
            Format::Qlog { is_sequence } => Self::Qlog(Box::new(QlogReader::new(is_sequence))),
            Format::Condensed => Self::Condensed(Box::new(RecordStream::new(CondensedReader::default()))),
        }
    }
}

/// Passes bytes in any split to a format's reader, and stores incomplete records.
#[derive(Debug)]
struct RecordStream<R> {
    records: R,
    /// From `start` on: the start of an incomplete record. It grows only with the received bytes.
    carry: Vec<u8>,
    start: usize,
    need: usize,
}

/// A buffer that an unusual record made larger than this is released.
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
            // Moving the rest to the front only if that halves the buffer keeps the cost per byte
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
