//! [`Follow`]: reads captures that another program writes, as they grow.
//!
//! A file is read to its end; if there is a newer one, that is next. A file that is shorter than
//! the part read, or that was written to again after it was left, counts as a new one. This follows
//! rings of `tcpdump -W`, and those of `dumpcap -b`, whose files have new names.

use super::reads::{Reads, WAIT, summarize};
use crate::intake::Intake;
use anyhow::{Context, bail};
use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Instant, SystemTime};
use whyslow_core::capture::Reader;
use whyslow_io::Error;

/// Bytes that are read at once.
const PIECE: usize = 256 << 10;

/// Which file it is, whatever its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct FileId {
    number: Number,
    created: Option<SystemTime>,
}

/// Its device, and its number there.
#[cfg(unix)]
type Number = (u64, u64);
/// Without inode numbers, files are identified by name: a renamed file is another one.
#[cfg(not(unix))]
type Number = PathBuf;

/// A file that is read.
struct Open {
    id: FileId,
    path: PathBuf,
    file: File,
    reader: Reader,
    offset: u64,
}

/// Files that grow.
pub(crate) struct Follow {
    patterns: Vec<String>,
    current: Option<Open>,
    /// Files that were left, and when they were last written to by then.
    left: HashMap<FileId, SystemTime>,
    /// Newer files that wait, oldest first.
    waiting: Vec<PathBuf>,
    looked: Option<Instant>,
    piece: Vec<u8>,
}

impl Follow {
    /// # Errors
    /// If a name is not a pattern and there is no such file, or a pattern is wrong.
    pub(super) fn new(names: &[String]) -> anyhow::Result<Self> {
        for name in names {
            if !is_pattern(name) {
                let file = File::open(name).map_err(|cause| Error::Open { name: name.clone(), cause })?;
                if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
                    bail!("{name}: this is a folder; watch its files, as '{name}/*.pcap'");
                }
            } else {
                glob::Pattern::new(name).with_context(|| format!("{name}: no pattern of names"))?;
            }
        }
        let follow = Self {
            patterns: patterns(names),
            current: None,
            left: HashMap::new(),
            waiting: Vec::new(),
            looked: None,
            piece: vec![0; PIECE],
        };
        if follow.find().is_empty() {
            whyslow_cli::output::complain(&format!(
                "no file has a name like {} yet: waiting for one",
                names.join(", ")
            ));
        }
        Ok(follow)
    }

    pub(super) fn read(&mut self, intake: &mut Intake) -> anyhow::Result<Reads> {
        if let Some(open) = &mut self.current {
            let length = open.file.read(&mut self.piece).with_context(|| open.path.display().to_string())?;
            if length > 0 {
                open.offset += length as u64;
                let piece = self.piece.get(..length).unwrap_or_default();
                open.reader.push(piece, intake).with_context(|| open.path.display().to_string())?;
                return Ok(Reads::More);
            }
            if open.file.metadata().is_ok_and(|now| now.len() < open.offset) {
                intake.note(format!("{} was written anew: reading it from its beginning", open.path.display()));
                let path = open.path.clone();
                self.leave(intake)?;
                self.open(path, intake)?;
                return Ok(Reads::More);
            }
        }
        // What was found to wait before the end was reached comes next: nothing is written to the
        // older file any more.
        if !self.waiting.is_empty() {
            let next = self.waiting.remove(0);
            self.leave(intake)?;
            return self.open(next, intake).map(|()| Reads::More);
        }
        if self.looked.is_none_or(|looked| looked.elapsed() >= WAIT) {
            self.looked = Some(Instant::now());
            self.waiting = self.find();
        }
        if self.waiting.is_empty() {
            thread::sleep(WAIT / 4);
            return Ok(Reads::Nothing);
        }
        Ok(Reads::More)
    }

    pub(super) fn finish(mut self, intake: &mut Intake) -> anyhow::Result<()> {
        self.leave(intake)
    }

    /// Files that were not read yet, oldest first.
    fn find(&self) -> Vec<PathBuf> {
        let paths = self.patterns.iter().flat_map(|pattern| {
            let found = is_pattern(pattern).then(|| glob::glob(pattern).ok()).flatten();
            let plain = (!is_pattern(pattern)).then(|| PathBuf::from(pattern));
            found.into_iter().flatten().flatten().chain(plain)
        });
        let mut found: Vec<_> = paths
            .filter_map(|path| {
                let metadata = path.metadata().ok().filter(Metadata::is_file)?;
                let (id, written) = (FileId::of(&path, &metadata), metadata.modified().ok()?);
                let is_current = self.current.as_ref().is_some_and(|open| open.id == id);
                let was_read = self.left.get(&id).is_some_and(|left| written <= *left);
                (!is_current && !was_read && metadata.len() > 0).then_some((written, path))
            })
            .collect();
        found.sort();
        found.dedup_by(|one, other| one.1 == other.1);
        found.into_iter().map(|(_, path)| path).collect()
    }

    fn open(&mut self, path: PathBuf, intake: &mut Intake) -> anyhow::Result<()> {
        let mut file = match File::open(&path) {
            Ok(file) => file,
            // A ring's oldest file may have been removed.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error).with_context(|| path.display().to_string()),
        };
        let metadata = file.metadata().with_context(|| path.display().to_string())?;
        file.rewind().with_context(|| path.display().to_string())?;
        intake.begin_capture(&path.display().to_string());
        self.current = Some(Open { id: FileId::of(&path, &metadata), path, file, reader: Reader::new(), offset: 0 });
        Ok(())
    }

    /// Leaves the current file.
    fn leave(&mut self, intake: &mut Intake) -> anyhow::Result<()> {
        let Some(open) = self.current.take() else { return Ok(()) };
        if let Ok(written) = open.file.metadata().and_then(|metadata| metadata.modified()) {
            // Of a ring that goes round without end only the newest are remembered.
            if self.left.len() >= 10_000 {
                self.left.clear();
            }
            self.left.insert(open.id, written);
        }
        summarize(open.reader, intake).with_context(|| open.path.display().to_string())
    }
}

impl FileId {
    fn of(path: &Path, metadata: &Metadata) -> Self {
        Self { number: number(path, metadata), created: metadata.created().ok() }
    }
}

#[cfg(unix)]
fn number(_: &Path, metadata: &Metadata) -> Number {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
fn number(path: &Path, _: &Metadata) -> Number {
    path.to_owned()
}

/// These names, and those of the rings that they belong to.
pub(super) fn patterns(names: &[String]) -> Vec<String> {
    let mut patterns = names.to_vec();
    patterns.extend(names.iter().filter_map(|name| family(name)));
    patterns.sort();
    patterns.dedup();
    patterns
}

pub(super) fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '[']) && !Path::new(name).exists()
}

/// The names of all files of a ring of dumpcap's, of which this is one: `NAME_00001_20260131235959`
/// and an extension.
fn family(name: &str) -> Option<String> {
    let path = Path::new(name);
    let stem = path.file_stem()?.to_str()?;
    let extension = path.extension().map(|extension| format!(".{}", extension.to_string_lossy()));
    let mut parts = stem.rsplitn(3, '_');
    let (time, number, prefix) = (parts.next()?, parts.next()?, parts.next()?);
    let digits = |text: &str, length: usize| text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
    if !(digits(time, 14) && digits(number, 5)) {
        return None;
    }
    let prefix = path.with_file_name(prefix);
    Some(format!(
        "{}_?????_??????????????{}",
        glob::Pattern::escape(&prefix.to_string_lossy()),
        extension.unwrap_or_default()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_ring_have_a_name_in_common() {
        assert_eq!(
            family("/captures/ring_00017_20261123081500.pcapng").as_deref(),
            Some("/captures/ring_?????_??????????????.pcapng")
        );
        assert_eq!(family("a[1]_00001_20261123081500").as_deref(), Some("a[[]1[]]_?????_??????????????"));
        for plain in ["ring.pcapng", "a_1_2.pcap", "a_00001.pcap", "_00001_2026112308150x.pcap"] {
            assert_eq!(family(plain), None, "{plain}");
        }
    }
}
