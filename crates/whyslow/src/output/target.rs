//! [`Target`]: where a command writes what it was asked for.
//!
//! A file is written beside its place and gets it when it is whole: whatever goes wrong by then,
//! what was there before is there still, and nothing else is. It keeps the mode and, where that is
//! allowed, the owner of what it replaces; of a symbolic link the file behind it is replaced, and a
//! hard link's other names keep what they had. What is no regular file (a FIFO, /dev/null, a
//! descriptor of the shell's) is written as it comes.

use super::same::Sources;
use anyhow::Context;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Stdout, Write, stdout};
use std::path::{Path, PathBuf};
use tempfile::{Builder, TempPath};

/// Bytes that are written at once.
const PIECE: usize = 64 << 10;
/// What a file is called that is not whole yet, where the system has no files without names.
const PREFIX: &str = ".whyslow-";
/// Symbolic links that lead to a file, at most, as Linux counts.
const MAX_LINKS: usize = 40;

/// Where data goes. Its errors name it.
pub(crate) struct Target {
    /// As it was typed.
    name: String,
    /// None once it is finished.
    out: Option<BufWriter<Sink>>,
}

enum Sink {
    Stdout(Stdout),
    /// Written as it comes.
    Direct(File),
    Beside(Box<Beside>),
}

/// A file that is not whole yet.
struct Beside {
    file: File,
    /// Its name until then; none where it has none.
    temporary: Option<TempPath>,
    /// Where it will be.
    place: PathBuf,
    /// What is there now.
    replaced: Option<Metadata>,
}

impl Target {
    /// Opens it, before anything is read: what cannot be written to is said at once. No path, and
    /// `-`, are stdout.
    ///
    /// # Errors
    /// When it is one of the inputs, or cannot be written to.
    pub(crate) fn open(path: Option<&Path>, sources: &Sources) -> anyhow::Result<Self> {
        let Some(path) = path.filter(|path| !is_stdout(path)) else {
            sources.refuse_stdout()?;
            return Ok(Self::over("stdout".to_owned(), Sink::Stdout(stdout())));
        };
        sources.refuse(path)?;
        let name = path.display().to_string();
        let sink = sink(path).with_context(|| name.clone())?;
        Ok(Self::over(name, sink))
    }

    fn over(name: String, sink: Sink) -> Self {
        Self { name, out: Some(BufWriter::with_capacity(PIECE, sink)) }
    }

    /// As it was typed.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// All was written: it gets its place.
    ///
    /// # Errors
    /// When not all of it can be written: then what was in its place is there still.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        Self::finish_all([self])
    }

    /// As [`Target::finish`], of several files that belong together: none gets its place before all
    /// are whole.
    ///
    /// # Errors
    /// As those of one.
    pub(crate) fn finish_all(targets: impl IntoIterator<Item = Self>) -> anyhow::Result<()> {
        let mut whole = Vec::new();
        for mut target in targets {
            target.flush()?;
            let Some((sink, _)) = target.out.take().map(BufWriter::into_parts) else { continue };
            if let Sink::Beside(beside) = sink {
                beside.sync().with_context(|| target.name.clone())?;
                whole.push((target, beside));
            }
        }
        whole.into_iter().try_for_each(|(target, beside)| beside.take_place().with_context(|| target.name.clone()))
    }

    /// Does something with what is behind the buffer's front, and names it where that fails.
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
    /// What is not finished is not wanted: the buffer would hand it on.
    fn drop(&mut self) {
        let _ = self.out.take().map(BufWriter::into_parts);
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(out) => out.write(bytes),
            Self::Direct(file) => file.write(bytes),
            Self::Beside(beside) => beside.file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(out) => out.flush(),
            Self::Direct(file) => file.flush(),
            Self::Beside(beside) => beside.file.flush(),
        }
    }
}

/// The descriptor that is open already has a place in its file; the same name opened anew would
/// begin at the first byte.
fn is_stdout(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path == Path::new(name))
}

/// Whether it names something open, whatever that is.
fn is_descriptor(path: &Path) -> bool {
    path == Path::new("/dev/stderr") || path.starts_with("/dev/fd") || path.starts_with("/proc")
}

fn sink(path: &Path) -> io::Result<Sink> {
    let is_folder = || path.as_os_str().as_encoded_bytes().ends_with(b"/");
    match fs::metadata(path) {
        Ok(there) if there.is_dir() => Err(ErrorKind::IsADirectory.into()),
        Ok(there) if there.is_file() && !is_descriptor(path) => {
            // What may not be written to may not be replaced either.
            OpenOptions::new().write(true).open(path)?;
            Beside::new(path, Some(there)).map(Box::new).map(Sink::Beside)
        }
        Ok(there) => OpenOptions::new().write(true).append(there.is_file()).open(path).map(Sink::Direct),
        Err(error) if error.kind() == ErrorKind::NotFound && is_folder() => Err(ErrorKind::IsADirectory.into()),
        Err(error) if error.kind() == ErrorKind::NotFound => Beside::new(path, None).map(Box::new).map(Sink::Beside),
        Err(error) => Err(error),
    }
}

impl Beside {
    fn new(path: &Path, replaced: Option<Metadata>) -> io::Result<Self> {
        let place = behind_links(path)?;
        if place.file_name().is_none() {
            return Err(ErrorKind::NotFound.into());
        }
        // A new file's mode is what the process' umask leaves of it; what replaces one that others
        // may not read is not for them to read either, until it has that one's mode.
        let mode = if replaced.is_some() { 0o600 } else { 0o666 };
        let (file, temporary) = match nameless(folder(&place), mode)? {
            Some(file) => (file, None),
            None => named(folder(&place), mode)?,
        };
        Ok(Self { file, temporary, place, replaced })
    }

    /// It is whole, and on the disk: a disk that is full, or a server that refuses, says so here at
    /// the latest.
    fn sync(&self) -> io::Result<()> {
        if let Some(replaced) = &self.replaced {
            keep_owner_and_mode(&self.file, replaced)?;
        }
        self.file.sync_all()
    }

    fn take_place(self) -> io::Result<()> {
        let temporary = match self.temporary {
            Some(temporary) => temporary,
            None => name(&self.file, folder(&self.place))?,
        };
        temporary.persist(&self.place).map_err(|error| error.error)
    }
}

/// Where a path leads to, whether or not there is a file.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut place = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(next) = fs::read_link(&place) else { return Ok(place) };
        place = folder(&place).join(next);
    }
    Err(io::Error::other("too many symbolic links"))
}

fn folder(place: &Path) -> &Path {
    match place.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// A file that has a name from the start, and loses it unless it is given its place.
fn named(folder: &Path, mode: u32) -> io::Result<(File, Option<TempPath>)> {
    let mut builder = Builder::new();
    builder.prefix(PREFIX);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    #[cfg(not(unix))]
    let _ = mode;
    let (file, temporary) = builder.tempfile_in(folder)?.into_parts();
    Ok((file, Some(temporary)))
}

/// A file without a name: whatever ends this process, nothing of it stays. None where the system or
/// the file system has no such files (open(2), O_TMPFILE).
#[cfg(target_os = "linux")]
fn nameless(folder: &Path, mode: u32) -> io::Result<Option<File>> {
    use rustix::fs::{CWD, Mode, OFlags, openat};
    use rustix::io::Errno;
    let flags = OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC;
    match openat(CWD, folder, flags, Mode::from_raw_mode(mode)).map(File::from) {
        // It gets its name by this path.
        Ok(file) => Ok(descriptor(&file).exists().then_some(file)),
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn nameless(_: &Path, _: u32) -> io::Result<Option<File>> {
    Ok(None)
}

/// Gives a file without a name one in this folder.
#[cfg(target_os = "linux")]
fn name(file: &File, folder: &Path) -> io::Result<TempPath> {
    use rustix::fs::{AtFlags, CWD, linkat};
    let link = |path: &Path| Ok(linkat(CWD, descriptor(file), CWD, path, AtFlags::SYMLINK_FOLLOW)?);
    Ok(Builder::new().prefix(PREFIX).make_in(folder, link)?.into_temp_path())
}

#[cfg(not(target_os = "linux"))]
fn name(_: &File, _: &Path) -> io::Result<TempPath> {
    Err(ErrorKind::Unsupported.into())
}

#[cfg(target_os = "linux")]
fn descriptor(file: &File) -> PathBuf {
    use std::os::fd::AsRawFd;
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

#[cfg(unix)]
fn keep_owner_and_mode(file: &File, replaced: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let new = file.metadata()?;
    if (new.uid(), new.gid()) != (replaced.uid(), replaced.gid())
        && fchown(file, Some(replaced.uid()), Some(replaced.gid())).is_err()
    {
        // Only root may give a file away; its group its owner may choose among their own.
        let _ = fchown(file, None, Some(replaced.gid()));
    }
    file.set_permissions(PermissionsExt::from_mode(replaced.mode() & 0o777))
}

#[cfg(not(unix))]
fn keep_owner_and_mode(_: &File, _: &Metadata) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests;
