//! [`Spill`]: records in temporary files, which come back in the order of their keys.
//!
//! They come in any order. A run of them is sorted in memory and written; in the end the runs are
//! merged. Of runs that are many, some are merged into longer ones on the way, so that little is
//! held of each and of few at a time. The files have no name: they go with the process, however it
//! ends.

use lz4_flex::frame::{FrameDecoder, FrameEncoder};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, Write};
use std::ops::Range;

/// Bytes of a run that is sorted in memory.
const RUN: usize = 16 << 20;
/// Runs of about the same length before they become one.
const FAN: usize = 32;

/// Records with keys, at most one of a key.
#[derive(Debug)]
pub(crate) struct Spill {
    bytes: Vec<u8>,
    records: Vec<(u64, Range<usize>)>,
    /// Runs by how often they were merged.
    runs: Vec<Vec<File>>,
    /// Bytes of a run.
    most: usize,
}

impl Default for Spill {
    fn default() -> Self {
        Self::with_runs_of(RUN)
    }
}

impl Spill {
    fn with_runs_of(most: usize) -> Self {
        Self { bytes: Vec::new(), records: Vec::new(), runs: Vec::new(), most }
    }

    /// Adds a record.
    ///
    /// # Errors
    /// When a temporary file cannot be made or written.
    pub(crate) fn put(&mut self, key: u64, record: &[u8]) -> io::Result<()> {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(record);
        self.records.push((key, start..self.bytes.len()));
        if self.bytes.len() < self.most { Ok(()) } else { self.write_run() }
    }

    fn write_run(&mut self) -> io::Result<()> {
        self.records.sort_unstable_by_key(|(key, _)| *key);
        let mut run = RunWriter::new()?;
        for (key, place) in self.records.drain(..) {
            run.put(key, self.bytes.get(place).unwrap_or_default())?;
        }
        self.bytes.clear();
        self.add(0, run.finish()?)
    }

    /// Adds a run that was merged this number of times.
    fn add(&mut self, merged: usize, run: File) -> io::Result<()> {
        if self.runs.len() <= merged {
            self.runs.push(Vec::new());
        }
        let Some(equals) = self.runs.get_mut(merged) else { return Ok(()) };
        equals.push(run);
        if equals.len() < FAN {
            return Ok(());
        }
        let mut longer = RunWriter::new()?;
        for record in Merge::new(std::mem::take(equals))? {
            let (key, record) = record?;
            longer.put(key, &record)?;
        }
        self.add(merged + 1, longer.finish()?)
    }

    /// All records, by rising keys.
    ///
    /// # Errors
    /// When a temporary file cannot be made, written or read.
    pub(crate) fn into_sorted(mut self) -> io::Result<Merge> {
        if !self.records.is_empty() {
            self.write_run()?;
        }
        Merge::new(self.runs.into_iter().flatten().collect())
    }
}

/// Writes records in order: key, length, bytes.
struct RunWriter(FrameEncoder<BufWriter<File>>);

impl RunWriter {
    fn new() -> io::Result<Self> {
        Ok(Self(FrameEncoder::new(BufWriter::new(tempfile::tempfile()?))))
    }

    fn put(&mut self, key: u64, record: &[u8]) -> io::Result<()> {
        self.0.write_all(&key.to_le_bytes())?;
        self.0.write_all(&(record.len() as u64).to_le_bytes())?;
        self.0.write_all(record)
    }

    fn finish(self) -> io::Result<File> {
        let file = self.0.finish().map_err(io::Error::other)?;
        file.into_inner().map_err(io::IntoInnerError::into_error)
    }
}

/// Reads a run from its beginning.
struct RunReader(FrameDecoder<File>);

impl RunReader {
    fn new(mut file: File) -> io::Result<Self> {
        file.rewind()?;
        Ok(Self(FrameDecoder::new(file)))
    }

    fn next(&mut self) -> io::Result<Option<(u64, Vec<u8>)>> {
        let mut number = [0; 8];
        match self.0.read_exact(&mut number) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) => return Err(error),
        }
        let key = u64::from_le_bytes(number);
        self.0.read_exact(&mut number)?;
        let length = usize::try_from(u64::from_le_bytes(number)).map_err(io::Error::other)?;
        let mut record = vec![0; length];
        self.0.read_exact(&mut record)?;
        Ok(Some((key, record)))
    }
}

/// Records of several runs, by rising keys.
pub(crate) struct Merge {
    runs: Vec<RunReader>,
    /// The next record of each run.
    next: BinaryHeap<Reverse<(u64, usize, Vec<u8>)>>,
}

impl Merge {
    fn new(files: Vec<File>) -> io::Result<Self> {
        let runs = files.into_iter().map(RunReader::new).collect::<io::Result<Vec<_>>>()?;
        let mut merge = Self { next: BinaryHeap::with_capacity(runs.len()), runs };
        for run in 0..merge.runs.len() {
            merge.read(run)?;
        }
        Ok(merge)
    }

    fn read(&mut self, run: usize) -> io::Result<()> {
        if let Some((key, record)) = self.runs.get_mut(run).map(RunReader::next).transpose()?.flatten() {
            self.next.push(Reverse((key, run, record)));
        }
        Ok(())
    }
}

impl std::fmt::Debug for Merge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Merge").field("runs", &self.runs.len()).finish_non_exhaustive()
    }
}

impl Iterator for Merge {
    type Item = io::Result<(u64, Vec<u8>)>;

    fn next(&mut self) -> Option<Self::Item> {
        let Reverse((key, run, record)) = self.next.pop()?;
        Some(self.read(run).map(|()| (key, record)))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::collections::BTreeMap;

    /// Runs of a few records, enough of them that merged ones are merged again.
    #[test]
    fn what_comes_in_any_order_comes_back_in_order() {
        for count in [0_u64, 1, 5, 1_000, 30_000] {
            let mut spill = Spill::with_runs_of(64);
            let mut expected = BTreeMap::new();
            for n in 0..count {
                let key = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let record: Vec<u8> = (0..n % 23).map(|byte| (byte + n) as u8).collect();
                spill.put(key, &record).unwrap();
                expected.insert(key, record);
            }
            assert!(spill.runs.iter().all(|equals| equals.len() < FAN));
            assert_eq!(spill.runs.len() > 2, count == 30_000, "some are merged twice");
            let sorted: Vec<_> = spill.into_sorted().unwrap().collect::<io::Result<_>>().unwrap();
            assert_eq!(sorted, expected.into_iter().collect::<Vec<_>>(), "{count}");
        }
    }
}
