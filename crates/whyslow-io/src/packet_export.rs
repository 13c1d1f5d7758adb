//! [`PacketExport`]: the packets of all connections, with the verdicts on them.
//!
//! The captures are read a second time for that, set by set. Packets of a connection are wanted
//! together, and lie apart in a capture: they wait in temporary files ([`Spill`]) until their set
//! was read.

use crate::error::Error;
use crate::feed::InputReader;
use crate::hash_seed::hash_seed;
use crate::input::Progress;
use crate::reading::{FileSet, Reading, segments};
use crate::spill::{Merge, Spill};
use crate::stop::Stop;
use std::io;
use whyslow_analysis::Connection;
use whyslow_diagnosis::series::{EveryPacketReader, Point, TracedPoints};

/// Bits of a key that count the pieces of a connection: one is given at most every 4,096 of its
/// packets, or 262,144 of the capture. The others are its number.
const PIECE_BITS: u32 = 24;

/// The packets of connections, which are asked for in the order of [`EveryConnection`] or
/// [`Analysis::connections`].
///
/// [`EveryConnection`]: crate::EveryConnection
/// [`Analysis::connections`]: whyslow_analysis::Analysis::connections
pub struct PacketExport<'a> {
    reading: &'a Reading,
    stop: Stop,
    progress: &'a mut dyn FnMut(Progress),
    open: Option<PointsOfSet<'a>>,
    late: u64,
}

impl std::fmt::Debug for PacketExport<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PacketExport").field("open", &self.open).finish_non_exhaustive()
    }
}

impl<'a> PacketExport<'a> {
    /// Of these captures. Nothing is read before a packet is asked for; after a `stop` request
    /// that fails.
    pub fn new(reading: &'a Reading, stop: &Stop, progress: &'a mut dyn FnMut(Progress)) -> Self {
        Self { reading, stop: stop.clone(), progress, open: None, late: 0 }
    }

    /// The next packets of this connection, in the capture's order; `None` after the last.
    /// Their times are since the epoch, where the capture has a date.
    ///
    /// # Errors
    /// When the captures can no longer be read or hold less than before, came through a pipe, or
    /// there is no room for temporary files.
    pub fn of(&mut self, connection: &Connection) -> Result<Vec<Point>, Error> {
        let is_open = |open: &PointsOfSet<'_>| open.set.captures.contains(&connection.capture);
        if !self.open.as_ref().is_some_and(is_open) {
            self.open = None;
            let set = self.reading.set_of(connection).ok_or(Error::Pipe)?;
            let (open, late) = PointsOfSet::read(set, &self.stop, self.progress)?;
            self.late += late;
            self.open = Some(open);
        }
        self.open.as_mut().map_or(Ok(Vec::new()), |open| open.of(connection))
    }

    /// Verdicts that came when their packets had been given, so far.
    pub fn late(&self) -> u64 {
        self.late
    }
}

/// The packets of files that continue each other.
#[derive(Debug)]
struct PointsOfSet<'a> {
    set: &'a FileSet,
    pieces: Merge,
    /// The next piece, and the connection that it belongs to.
    next: Option<(u64, TracedPoints)>,
    /// Packets of the connection that was asked for last.
    given: u64,
}

impl<'a> PointsOfSet<'a> {
    /// Reads the files; with the number of verdicts that came late.
    fn read(set: &'a FileSet, stop: &Stop, progress: &mut dyn FnMut(Progress)) -> Result<(Self, u64), Error> {
        let files = set.readable().ok_or(Error::Pipe)?;
        files.iter().try_for_each(|file| file.is_there())?;
        let (mut spill, mut spilled) = (Spill::default(), Ok(()));
        let mut put = |connection: u64, points: TracedPoints| {
            if spilled.is_ok() {
                let key = (connection << PIECE_BITS) | points.number();
                spilled = borsh::to_vec(&points).and_then(|record| spill.put(key, &record));
            }
        };
        let mut feed = InputReader::new(files.iter().map(|file| &file.input), progress);
        let mut reader = EveryPacketReader::new(&mut put);
        reader.set_hash_seed(hash_seed());
        for (at, file) in (0_u16..).zip(files) {
            reader.begin_capture(set.first.map(|first| first.saturating_add(at)));
            let second = feed.read(&mut file.open(stop)?, &mut reader)?;
            file.is_all(&second)?;
        }
        let late = reader.finish();
        let no_room = |cause| Error::NoRoom { cause };
        spilled.map_err(no_room)?;
        let mut open = Self { set, pieces: spill.into_sorted().map_err(no_room)?, next: None, given: 0 };
        open.advance()?;
        Ok((open, late))
    }

    fn of(&mut self, connection: &Connection) -> Result<Vec<Point>, Error> {
        let id = connection.id.saturating_sub(self.set.before);
        while self.next.as_ref().is_some_and(|(next, _)| *next < id) {
            self.advance()?;
        }
        if self.next.as_ref().is_some_and(|(next, _)| *next == id) {
            let points = self.advance()?.map_or(Vec::new(), |(_, points)| points.of(connection));
            self.given += points.len() as u64;
            return Ok(points);
        }
        let (given, before) = (std::mem::take(&mut self.given), segments(connection));
        if given < before {
            let files = self.set.files.iter().flatten().map(|file| file.input.name());
            let name = files.collect::<Vec<_>>().join(", ");
            return Err(Error::Changed { name, what: "segments of a connection", before, now: given });
        }
        Ok(Vec::new())
    }

    /// Takes the next piece, and reads the one behind it.
    fn advance(&mut self) -> Result<Option<(u64, TracedPoints)>, Error> {
        let decode = |(key, record): (u64, Vec<u8>)| Ok((key >> PIECE_BITS, borsh::from_slice(&record)?));
        let next: io::Result<Option<_>> = self.pieces.next().map(|read| read.and_then(decode)).transpose();
        Ok(std::mem::replace(&mut self.next, next.map_err(|cause| Error::NoRoom { cause })?))
    }
}

#[cfg(test)]
mod tests;
