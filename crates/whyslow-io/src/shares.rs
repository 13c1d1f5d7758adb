//! A capture point over several machines: [`RowFiles::account_share`] follows a share of its
//! connections, and [`RowFiles::merge`] puts the shares together.
//!
//! What a share gives is a stream of bytes in rows: a head that names this version of whyslow, and
//! compressed (zstd, with a checksum) the share, what its explainers found of each set of captures
//! that continue each other ([`Fragment`]), the captures that could not be read, the connections
//! that are not listed where each is wanted, and where there are several sets their packets, as
//! connections that two of them hold are read twice.

use crate::capture_group::WaitingInput;
use crate::error::Error;
use crate::feed::InputReader;
use crate::file_snapshot::FileSnapshot;
use crate::input::{Input, Progress};
use crate::omitted::{OmittedConnections, OmittedSpill};
use crate::options::ExplainOptions;
use crate::reading::Reading;
use crate::scratch::Scratch;
use crate::share_packets::ShareFiles;
use crate::stitch::{RowFiles, Sorted, lost_capture, sorted};
use crate::stop::Stop;
use crate::{FoundSet, OpenSet, Pools, join_sets, read_sets, worker_pool};
use borsh::{BorshDeserialize, BorshSerialize};
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use tempfile::NamedTempFile;
use whyslow_core::capture::MAX_ROW;
use whyslow_diagnosis::condense::ConnectionShard;
use whyslow_diagnosis::explain::Fragment;

/// How the stream begins: no text, no other format.
const MAGIC: [u8; 4] = [0xd7, b'w', b'h', b'a'];
/// Only the same version reads the rows.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Of zstd.
const LEVEL: i32 = 1;
/// Bytes of packets that are copied at once.
const PIECE: usize = 64 << 10;

impl RowFiles {
    /// Explains a share of the connections of a capture point, of whose files these are the rows
    /// (of [`scan_shares`](crate::scan_shares)). Gives what [`merge`](Self::merge) takes, in rows
    /// of at most [`MAX_ROW`] bytes: with `every`, all of the connections, and not those alone that
    /// an analysis may list.
    ///
    /// # Errors
    /// As [`stitch`](crate::stitch), when rows of several shares are among these, and when `give`
    /// fails.
    pub fn account_share(
        &self,
        options: ExplainOptions,
        every: bool,
        stop: &Stop,
        give: &mut dyn FnMut(Vec<u8>) -> io::Result<()>,
    ) -> Result<(), Error> {
        let inputs = self.inputs();
        let share = inputs.iter().find_map(|input| Some(WaitingInput::open(input, stop).ok()?.opening.share));
        let share = share.unwrap_or_default();
        let Sorted { readable, lost } = sorted(&inputs, share)?;
        let named = |(path, why): (String, String)| (self.name_of(&path).unwrap_or(&path).to_owned(), why);
        let lost: Vec<_> = lost.into_iter().map(named).collect();
        let mut ignored = |_| {};
        let mut feed = InputReader::new(&readable, &mut ignored);
        let sets = read_sets(&Pools { options, omitted: every, share }, &readable, stop, &mut feed)?;
        let unsent = |cause| Error::NoRoom { cause };
        let mut out = Sender::new(give).map_err(unsent)?;
        out.value(&(share.number() as u64, share.of() as u64, every, stop.is_cut())).map_err(unsent)?;
        out.value(&(&lost, sets.len() as u64)).map_err(unsent)?;
        let is_apart = sets.len() > 1;
        sets.into_iter().try_for_each(|set| send_set(set, is_apart, &mut out))?;
        out.finish().map_err(unsent)
    }

    /// Merges all shares of a capture point, each of which was pushed under a name of its own: the
    /// analysis is that of all connections together. With `every`, each share has to have sent
    /// every connection.
    ///
    /// # Errors
    /// When one is of another version, damaged, missing or there twice; and as
    /// [`read_every`](crate::read_every).
    pub fn merge(
        &self,
        options: ExplainOptions,
        every: bool,
        stop: &Stop,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(Reading, OmittedConnections), Error> {
        let mut merging = Merging { every, ..Merging::default() };
        for input in self.inputs() {
            let name = self.name_of(&input.name()).unwrap_or_default().to_owned();
            let Input::Path(path) = &input else { continue };
            let read = File::open(path).and_then(|file| merging.read(file, self.scratch()));
            read.map_err(|cause| Error::Merge(format!("shard {name}: {cause}")))?;
        }
        merging.check()?;
        let Merging { sets, lost, partial, kept, .. } = merging;
        let mut feed = InputReader::new([], progress);
        let finish = |MergedSet { fragment, omitted, shares }: MergedSet| {
            let found = worker_pool::finish(fragment, omitted, options.threads.get(), &stop.later())?;
            Ok(FoundSet { found, files: None, shares })
        };
        let mut group = join_sets(sets.into_iter().map(finish), stop, &mut feed)?;
        drop(kept);
        group.analysis.partial |= partial;
        group.analysis.captures.extend(lost.into_iter().map(|(name, why)| lost_capture(name, &why)));
        Ok(Reading::new(vec![group]))
    }
}

fn send_set(set: OpenSet, is_apart: bool, out: &mut Sender<'_>) -> Result<(), Error> {
    let unsent = |cause| Error::NoRoom { cause };
    let OpenSet { pool, files, .. } = set;
    let (fragment, omitted) = pool.into_fragment();
    fragment.write_to(&mut out.0).map_err(unsent)?;
    if let Some(omitted) = omitted {
        for record in omitted.take()?.into_sorted().map_err(unsent)? {
            let (key, record) = record.map_err(unsent)?;
            out.value(&Some((key, record))).map_err(unsent)?;
        }
    }
    out.value(&None::<Omitted>).map_err(unsent)?;
    let files: Vec<FileSnapshot> = if is_apart { files.into_iter().flatten().collect() } else { Vec::new() };
    out.value(&(files.len() as u64)).map_err(unsent)?;
    for file in files {
        if let Input::Path(path) = &file.input {
            out.file(&mut File::open(path).map_err(unsent)?).map_err(unsent)?;
        }
    }
    Ok(())
}

/// A connection that is not listed: its place among all, and its data.
type Omitted = (u64, Vec<u8>);

/// The rows, compressed.
struct Sender<'a>(zstd::Encoder<'static, RowCutter<'a>>);

impl<'a> Sender<'a> {
    fn new(give: &'a mut dyn FnMut(Vec<u8>) -> io::Result<()>) -> io::Result<Self> {
        let mut rows = RowCutter { row: Vec::new(), give };
        rows.write_all(&MAGIC)?;
        rows.write_all(&[VERSION.len() as u8])?;
        rows.write_all(VERSION.as_bytes())?;
        let mut encoder = zstd::Encoder::new(rows, LEVEL)?;
        encoder.include_checksum(true)?;
        Ok(Self(encoder))
    }

    fn value(&mut self, value: &impl BorshSerialize) -> io::Result<()> {
        borsh::to_writer(&mut self.0, value)
    }

    /// The bytes of a file, in pieces; an empty one ends them.
    fn file(&mut self, file: &mut File) -> io::Result<()> {
        loop {
            let mut piece = Vec::with_capacity(PIECE);
            file.take(PIECE as u64).read_to_end(&mut piece)?;
            self.value(&piece)?;
            if piece.is_empty() {
                return Ok(());
            }
        }
    }

    fn finish(self) -> io::Result<()> {
        self.0.finish()?.end_row()
    }
}

/// Cuts its input into rows.
struct RowCutter<'a> {
    row: Vec<u8>,
    give: &'a mut dyn FnMut(Vec<u8>) -> io::Result<()>,
}

impl RowCutter<'_> {
    fn end_row(&mut self) -> io::Result<()> {
        if self.row.is_empty() { Ok(()) } else { (self.give)(std::mem::take(&mut self.row)) }
    }
}

impl Write for RowCutter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.row.len() == MAX_ROW {
            self.end_row()?;
        }
        let some = bytes.get(..bytes.len().min(MAX_ROW - self.row.len())).unwrap_or_default();
        self.row.extend_from_slice(some);
        Ok(some.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Shares while they are merged.
#[derive(Default)]
struct Merging {
    every: bool,
    /// Which of them have come.
    seen: Vec<bool>,
    sets: Vec<MergedSet>,
    lost: Vec<(String, String)>,
    partial: bool,
    /// Packets of the shares, which go with the merge.
    kept: Vec<NamedTempFile>,
}

/// A set of captures that continue each other.
#[derive(Default)]
struct MergedSet {
    fragment: Fragment,
    omitted: Option<OmittedSpill>,
    shares: Vec<ShareFiles>,
}

impl Merging {
    /// # Errors
    /// When it is not what a share of this version has sent, or not of the same captures as others.
    fn read(&mut self, file: File, scratch: &Scratch) -> io::Result<()> {
        let mut input = opened(file)?;
        let input = &mut input;
        let (number, of) = <(u64, u64)>::deserialize_reader(input)?;
        let (every, partial) = <(bool, bool)>::deserialize_reader(input)?;
        let (lost, sets) = <(Vec<(String, String)>, u64)>::deserialize_reader(input)?;
        let is_first = self.seen.is_empty();
        let share = usize::try_from(number).ok().zip(usize::try_from(of).ok());
        let share = share
            .and_then(|(number, of)| ConnectionShard::new(number, of))
            .ok_or_else(|| damaged("there is no such shard"))?;
        if is_first {
            self.seen = vec![false; share.of()];
            self.lost = lost;
        }
        if self.seen.len() != share.of() || (!is_first && self.sets.len() as u64 != sets) {
            return Err(damaged("it is one of other captures, or of another number of shards"));
        }
        if self.every && !every {
            return Err(damaged("it has not sent every connection, as a table of all needs"));
        }
        if self.seen.get_mut(share.number()).is_none_or(|seen| std::mem::replace(seen, true)) {
            return Err(damaged("it came before"));
        }
        self.partial |= partial;
        for place in 0..usize::try_from(sets).map_err(io::Error::other)? {
            self.read_set(place, is_first, input, scratch)?;
        }
        // The checksum stands at the end.
        if input.read(&mut [0])? == 0 { Ok(()) } else { Err(damaged("more stands behind it")) }
    }

    fn read_set(&mut self, place: usize, is_first: bool, input: &mut impl Read, scratch: &Scratch) -> io::Result<()> {
        let fragment = Fragment::read_from(input)?;
        if is_first {
            let omitted = self.every.then(OmittedSpill::default);
            self.sets.push(MergedSet { fragment: Fragment::default(), omitted, shares: Vec::new() });
        }
        let Some(set) = self.sets.get_mut(place) else { return Err(damaged("it has too many captures")) };
        if is_first {
            set.fragment = fragment;
        } else {
            set.fragment.merge(fragment);
        }
        if let (true, Some(omitted)) = (is_first, &set.omitted) {
            omitted.attach_to_merged(&mut set.fragment);
        }
        while let Some((key, record)) = Option::<Omitted>::deserialize_reader(input)? {
            if let Some(omitted) = &set.omitted {
                omitted.put_record(key, &record);
            }
        }
        let files = usize::try_from(u64::deserialize_reader(input)?).map_err(io::Error::other)?;
        for place in 0..files {
            if is_first {
                set.shares.push(ShareFiles::default());
            }
            let Some(capture) = set.shares.get_mut(place) else { return Err(damaged("it has too many captures")) };
            let mut kept = scratch.file(".condensed")?;
            read_file(input, &mut kept)?;
            capture.0.push(Input::Path(kept.path().to_owned()));
            self.kept.push(kept);
        }
        Ok(())
    }

    /// # Errors
    /// When one is missing.
    fn check(&self) -> Result<(), Error> {
        let missing = self.seen.iter().position(|seen| !seen);
        match (missing, self.seen.len()) {
            (_, 0) => Err(Error::Merge("there is none".to_owned())),
            (Some(missing), of) => Err(Error::Merge(format!("shard {missing} of {of} is missing"))),
            (None, _) => Ok(()),
        }
    }
}

/// The compressed data after the head.
fn opened(mut file: File) -> io::Result<impl Read> {
    let mut head = [0; 5];
    file.read_exact(&mut head)?;
    let [a, b, c, d, length] = head;
    if [a, b, c, d] != MAGIC {
        return Err(damaged("what stands there is nothing that a shard gave"));
    }
    let mut version = vec![0; length.into()];
    file.read_exact(&mut version)?;
    if version != VERSION.as_bytes() {
        let other = String::from_utf8_lossy(&version);
        return Err(io::Error::other(format!("it is of whyslow {other}, and this is {VERSION}: use one everywhere")));
    }
    Ok(BufReader::new(zstd::Decoder::new(file)?))
}

fn read_file(input: &mut impl Read, out: &mut impl Write) -> io::Result<()> {
    loop {
        let piece = Vec::<u8>::deserialize_reader(input)?;
        if piece.is_empty() {
            return out.flush();
        }
        out.write_all(&piece)?;
    }
}

fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests;
