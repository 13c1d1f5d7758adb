//! [`Target`]: where a command writes its output.
//!
//! A file is written in the same folder and renamed when it is complete: until then the file that
//! was there stays. The new file gets the mode of the file it replaces and, if permitted, its
//! owner. If the name is a symbolic link, the file it leads to is replaced; other hard links keep
//! the old content. A FIFO, /dev/null, or a descriptor of the shell is written to directly.

use super::place::{Place, Replaced, Temporary, There};
use super::same::{Claimed, Sources};
use anyhow::Context;
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Stdout, Write, stdout};
use std::path::Path;

/// Bytes that are written at once.
const PIECE: usize = 64 << 10;

/// The destination of data. Its errors name it.
pub struct Target {
    /// The name as typed.
    name: String,
    /// `None` after it is finished.
    out: Option<BufWriter<Sink>>,
    claimed: Claimed,
}

enum Sink {
    Stdout(Stdout),
    /// Written directly.
    Direct(File),
    Adjacent(Box<Adjacent>),
}

/// A file that is not complete yet.
struct Adjacent {
    file: File,
    temporary: Temporary,
    place: Place,
    replaced: Option<Replaced>,
}

impl Target {
    /// Opens it, before anything is read: an output that cannot be written is reported at once. No
    /// path, and `-`, are stdout.
    ///
    /// # Errors
    /// Returns an error if it is one of the inputs, or cannot be written to.
    pub fn open(path: Option<&Path>, sources: &Sources) -> anyhow::Result<Self> {
        let Some(path) = path.filter(|path| !is_stdout(path)) else {
            sources.refuse_stdout()?;
            return Ok(Self::over("stdout".to_owned(), Sink::Stdout(stdout()), Claimed::default()));
        };
        let name = path.display().to_string();
        let place = Place::find(path).with_context(|| name.clone())?;
        let claimed = sources.claim(path, &place)?;
        let opened = sink(place).with_context(|| name.clone());
        opened.inspect_err(|_| claimed.give_up()).map(|sink| Self::over(name, sink, claimed))
    }

    fn over(name: String, sink: Sink, claimed: Claimed) -> Self {
        Self { name, out: Some(BufWriter::with_capacity(PIECE, sink)), claimed }
    }

    /// The name as typed.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// All was written: it gets its place.
    ///
    /// # Errors
    /// Returns an error if not all of it can be written: then the file in its place is unchanged.
    pub fn finish(self) -> anyhow::Result<()> {
        Self::finish_all([self])
    }

    /// As [`Target::finish`], of several files that belong together: none gets its place before all
    /// are complete.
    ///
    /// # Errors
    /// As those of one.
    pub fn finish_all(targets: impl IntoIterator<Item = Self>) -> anyhow::Result<()> {
        let mut whole = Vec::new();
        for mut target in targets {
            target.flush()?;
            let Some((sink, _)) = target.out.take().map(BufWriter::into_parts) else { continue };
            if let Sink::Adjacent(adjacent) = sink {
                adjacent.sync().with_context(|| target.name.clone())?;
                whole.push((target, adjacent));
            }
        }
        whole.into_iter().try_for_each(|(target, adjacent)| adjacent.take_place().with_context(|| target.name.clone()))
    }

    /// Calls `act` on the sink behind the buffer, and names the sink in an error.
    fn with<T>(&mut self, act: impl FnOnce(&mut BufWriter<Sink>) -> io::Result<T>) -> io::Result<T> {
        let done = self.out.as_mut().map_or_else(|| Err(ErrorKind::BrokenPipe.into()), act);
        done.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", self.name)))
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.with(|out| out.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.with(BufWriter::flush)
    }
}

impl Drop for Target {
    /// An unfinished output is discarded: dropping the buffer would write it.
    fn drop(&mut self) {
        if let Some(out) = self.out.take() {
            self.claimed.give_up();
            drop(out.into_parts());
        }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(out) => out.write(bytes),
            Self::Direct(file) => file.write(bytes),
            Self::Adjacent(adjacent) => adjacent.file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(out) => out.flush(),
            Self::Direct(file) => file.flush(),
            Self::Adjacent(adjacent) => adjacent.file.flush(),
        }
    }
}

/// The open descriptor has a position in its file; the same name opened again would start at the
/// first byte.
fn is_stdout(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path == Path::new(name))
}

fn sink(place: Place) -> io::Result<Sink> {
    match place.there() {
        There::Nothing => {}
        // A file that may not be written to may not be replaced either.
        There::File => drop(place.open()?),
        There::Other => return place.open().map(Sink::Direct),
    }
    let (file, temporary) = Temporary::create(&place)?;
    let replaced = place.replaced();
    Ok(Sink::Adjacent(Box::new(Adjacent { file, temporary, place, replaced })))
}

impl Adjacent {
    /// Flushes it to the disk: a full disk, or a server that refuses, is reported here at the
    /// latest.
    fn sync(&self) -> io::Result<()> {
        if let Some(replaced) = &self.replaced {
            replaced.keep_owner_and_mode(&self.file)?;
        }
        self.file.sync_all()
    }

    fn take_place(self) -> io::Result<()> {
        self.temporary.take_place(&self.file, &self.place)
    }
}

#[cfg(test)]
mod tests;
