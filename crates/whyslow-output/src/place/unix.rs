//! Places by descriptors of their folders.

use super::{PREFIX, There};
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, Stat, fchmod, fchown, fstat, openat, readlinkat, renameat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::{Gid, Uid, geteuid};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind, stdin, stdout};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Symbolic links that lead to a file, at most: Linux' limit.
const MAX_LINKS: usize = 40;

/// Device and inode. Only of things that keep the data written to them for a reader: not of
/// terminals, /dev/null, or sockets, which are often both stdin and stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity(u64, u64);

impl Identity {
    #[allow(clippy::unnecessary_cast, clippy::cast_sign_loss, reason = "the types differ between systems")]
    fn of(stat: &Stat) -> Self {
        Self(stat.st_dev as u64, stat.st_ino as u64)
    }

    fn of_kept(stat: &Stat) -> Option<Self> {
        let keeps = matches!(file_type(stat), FileType::RegularFile | FileType::Fifo | FileType::BlockDevice);
        keeps.then(|| Self::of(stat))
    }
}

fn file_type(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

pub(crate) fn of_path(path: &Path) -> Option<Identity> {
    Identity::of_kept(&rustix::fs::stat(path).ok()?)
}

pub(crate) fn of_stdin() -> Option<Identity> {
    Identity::of_kept(&fstat(stdin().as_fd()).ok()?)
}

pub(crate) fn of_stdout() -> Option<Identity> {
    Identity::of_kept(&fstat(stdout().as_fd()).ok()?)
}

/// A name in an open folder.
#[derive(Debug)]
pub(crate) struct Place {
    folder: Arc<OwnedFd>,
    name: OsString,
    there: Option<Stat>,
    /// The path of an open descriptor, which only the kernel can follow.
    descriptor: Option<PathBuf>,
}

/// The file that is replaced.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Replaced(Stat);

impl Place {
    /// Resolves a path. Links that may be followed are; see [`super`].
    ///
    /// # Errors
    /// Returns an error if its folder cannot be opened, if it is a folder itself, or if it belongs
    /// to another user in a folder that all users may write to.
    pub(crate) fn find(path: &Path) -> io::Result<Self> {
        let (mut path, mut base) = (path.to_owned(), None::<OwnedFd>);
        for _ in 0..MAX_LINKS {
            let folder = open_folder(base.as_ref().map_or(CWD, AsFd::as_fd), folder_of(&path)?)?;
            let name = path.file_name().ok_or(ErrorKind::IsADirectory)?.to_owned();
            if is_descriptor(&path) {
                return Ok(Self { folder: Arc::new(folder), name, there: None, descriptor: Some(path) });
            }
            let there = match look(&folder, &name)? {
                Some(Entry::Link(target)) => {
                    (path, base) = (target, Some(folder));
                    continue;
                }
                Some(Entry::Other(stat)) => Some(stat),
                None => None,
            };
            return match there.as_ref().map(file_type) {
                Some(FileType::Directory) => Err(ErrorKind::IsADirectory.into()),
                _ => Ok(Self { folder: Arc::new(folder), name, there, descriptor: None }),
            };
        }
        Err(io::Error::other("too many symbolic links"))
    }

    pub(crate) fn there(&self) -> There {
        match &self.there {
            None if self.descriptor.is_some() => There::Other,
            None => There::Nothing,
            Some(stat) if file_type(stat) == FileType::RegularFile => There::File,
            Some(_) => There::Other,
        }
    }

    /// The folder and the name: what identifies an output that does not exist yet.
    pub(crate) fn name(&self) -> Option<(Identity, &OsStr)> {
        Some((Identity::of(&fstat(&*self.folder).ok()?), &self.name))
    }

    /// Opens the existing file for writing, without changing it.
    ///
    /// # Errors
    /// Returns an error if it may not be written to, or if it was exchanged since.
    pub(crate) fn open(&self) -> io::Result<File> {
        if let Some(path) = &self.descriptor {
            let is_file = path.metadata()?.is_file();
            return File::options().write(true).append(is_file).open(path);
        }
        let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&*self.folder, &self.name, flags, Mode::empty()).map_err(exchanged)?;
        let (now, before) = (Identity::of(&fstat(&file)?), self.there.as_ref().map(Identity::of));
        if Some(now) == before { Ok(file.into()) } else { Err(exchanged(Errno::LOOP)) }
    }

    /// The file that is replaced, for [`Temporary::take_place`].
    pub(crate) fn replaced(&self) -> Option<Replaced> {
        self.there.map(Replaced)
    }

    /// Creates the file, which must not exist.
    ///
    /// # Errors
    /// Returns an error if it exists or cannot be created.
    pub(crate) fn create_new(&self) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(openat(&*self.folder, &self.name, flags, Mode::from_raw_mode(0o666))?.into())
    }

    /// Gives the file at this place another name in its folder, replacing a file of that name.
    ///
    /// # Errors
    /// Returns the system's error.
    pub(crate) fn rename(&self, to: &OsStr) -> io::Result<()> {
        Ok(renameat(&*self.folder, &self.name, &*self.folder, to)?)
    }

    /// A place in the same folder.
    ///
    /// # Errors
    /// As [`Place::find`]; a link is not followed.
    pub(crate) fn adjacent(&self, name: &OsStr) -> io::Result<Self> {
        let there = match look(&self.folder, name)? {
            Some(Entry::Link(_)) => {
                return Err(io::Error::other("is a symbolic link, which would be replaced: name another file"));
            }
            Some(Entry::Other(stat)) => Some(stat),
            None => None,
        };
        Ok(Self { folder: Arc::clone(&self.folder), name: name.to_owned(), there, descriptor: None })
    }

    /// The identity of the file there.
    pub(crate) fn identity(&self) -> Option<Identity> {
        self.there.as_ref().and_then(Identity::of_kept)
    }
}

fn exchanged(error: Errno) -> io::Error {
    match error {
        Errno::LOOP | Errno::NOENT => io::Error::other("another program exchanged it while it was opened"),
        error => error.into(),
    }
}

fn folder_of(path: &Path) -> io::Result<&Path> {
    if path.as_os_str().as_bytes().ends_with(b"/") {
        return Err(ErrorKind::IsADirectory.into());
    }
    match path.parent() {
        Some(folder) if folder != Path::new("") => Ok(folder),
        Some(_) => Ok(Path::new(".")),
        None => Err(ErrorKind::IsADirectory.into()),
    }
}

fn open_folder(base: BorrowedFd<'_>, path: &Path) -> io::Result<OwnedFd> {
    #[cfg(target_os = "linux")]
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    #[cfg(not(target_os = "linux"))]
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(openat(base, path, flags, Mode::empty())?)
}

/// Whether a path names an open descriptor.
fn is_descriptor(path: &Path) -> bool {
    path == Path::new("/dev/stderr") || path.starts_with("/dev/fd") || path.starts_with("/proc")
}

enum Entry {
    /// A link that may be followed, and its target.
    Link(PathBuf),
    Other(Stat),
}

/// The kind of file with this name in a folder.
fn look(folder: &OwnedFd, name: &OsStr) -> io::Result<Option<Entry>> {
    let Some((stat, target)) = entry(folder, name)? else { return Ok(None) };
    if matches!(file_type(&stat), FileType::Symlink | FileType::RegularFile | FileType::Fifo) {
        refuse_another_users(folder, &stat)?;
    }
    Ok(Some(match target {
        Some(target) => Entry::Link(OsString::from_vec(target).into()),
        None => Entry::Other(stat),
    }))
}

/// Returns the properties of an entry and, for a link, its target; both come from the same inode.
#[cfg(target_os = "linux")]
fn entry(folder: &OwnedFd, name: &OsStr) -> io::Result<Option<(Stat, Option<Vec<u8>>)>> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let handle = match openat(folder, name, flags, Mode::empty()) {
        Ok(handle) => handle,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let stat = fstat(&handle)?;
    let is_link = file_type(&stat) == FileType::Symlink;
    let target = is_link.then(|| readlinkat(&handle, "", Vec::new())).transpose()?;
    Ok(Some((stat, target.map(|target| target.into_bytes()))))
}

/// The entry's own properties, and the target of a link.
#[cfg(not(target_os = "linux"))]
fn entry(folder: &OwnedFd, name: &OsStr) -> io::Result<Option<(Stat, Option<Vec<u8>>)>> {
    let look = || rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
    let stat = match look() {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if file_type(&stat) != FileType::Symlink {
        return Ok(Some((stat, None)));
    }
    let target = readlinkat(folder, name, Vec::new())?;
    let after = look()?;
    if Identity::of(&after) != Identity::of(&stat) {
        return Err(exchanged(Errno::LOOP));
    }
    Ok(Some((stat, Some(target.into_bytes()))))
}

/// # Errors
/// Returns an error if the folder is sticky and writable for all, and the entry belongs neither to
/// this user nor to the folder's owner.
fn refuse_another_users(folder: &OwnedFd, entry: &Stat) -> io::Result<()> {
    let folder = fstat(folder)?;
    let is_shared = Mode::from_raw_mode(folder.st_mode).contains(Mode::SVTX | Mode::WOTH);
    if is_shared && entry.st_uid != geteuid().as_raw() && entry.st_uid != folder.st_uid {
        let kind = if file_type(entry) == FileType::Symlink { "link" } else { "file" };
        let why = format!("is a {kind} of another user in a folder that all users may write to: name another file");
        return Err(io::Error::new(ErrorKind::PermissionDenied, why));
    }
    Ok(())
}

/// A file that has no name yet, or a temporary one.
#[derive(Debug)]
pub(crate) struct Temporary {
    folder: Arc<OwnedFd>,
    /// The temporary name, which is removed unless the file takes its place.
    hidden: Option<OsString>,
}

impl Temporary {
    /// Creates a file in a place's folder. A new file gets the usual mode; a file that replaces
    /// another is private until it gets the other's mode.
    ///
    /// # Errors
    /// Returns an error if the folder takes no new file.
    pub(crate) fn create(place: &Place) -> io::Result<(File, Self)> {
        let mode = Mode::from_raw_mode(if place.there.is_some() { 0o600 } else { 0o666 });
        let folder = Arc::clone(&place.folder);
        match nameless(&folder, mode)? {
            Some(file) => Ok((file, Self { folder, hidden: None })),
            None => Self::named(folder, mode),
        }
    }

    /// The same with a temporary name from the start.
    #[cfg(test)]
    pub(crate) fn create_named(place: &Place) -> io::Result<(File, Self)> {
        Self::named(Arc::clone(&place.folder), Mode::from_raw_mode(0o666))
    }

    fn named(folder: Arc<OwnedFd>, mode: Mode) -> io::Result<(File, Self)> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let (file, hidden) = with_new_name(|name| openat(&*folder, name, flags, mode))?;
        Ok((file.into(), Self { folder, hidden: Some(hidden) }))
    }

    /// Renames the file to its place, replacing the file there. The name is not followed.
    ///
    /// # Errors
    /// Returns the system's error: then the place is unchanged.
    pub(crate) fn take_place(mut self, file: &File, place: &Place) -> io::Result<()> {
        if self.hidden.is_none() {
            self.hidden = Some(link(file, &self.folder)?);
        }
        if let Some(hidden) = &self.hidden {
            renameat(&*self.folder, hidden, &*place.folder, &place.name)?;
        }
        self.hidden = None;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(hidden) = &self.hidden {
            let _ = unlinkat(&*self.folder, hidden, AtFlags::empty());
        }
    }
}

/// Finds an unused name.
fn with_new_name<T>(mut create: impl FnMut(&OsStr) -> rustix::io::Result<T>) -> io::Result<(T, OsString)> {
    for attempt in 0..100_u8 {
        let name = OsString::from(format!("{PREFIX}{:016x}", RandomState::new().hash_one(attempt)));
        match create(&name) {
            Err(Errno::EXIST) => {}
            result => return Ok((result?, name)),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// A file without a name: nothing of it stays if this process is killed. `None` if the system or
/// the file system has no such files (open(2), O_TMPFILE).
#[cfg(target_os = "linux")]
fn nameless(folder: &OwnedFd, mode: Mode) -> io::Result<Option<File>> {
    let flags = OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC;
    match openat(folder, ".", flags, mode).map(File::from) {
        // It gets its name by this path.
        Ok(file) => Ok(descriptor(&file).exists().then_some(file)),
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn nameless(_: &OwnedFd, _: Mode) -> io::Result<Option<File>> {
    Ok(None)
}

/// Gives a file without a name a temporary one.
#[cfg(target_os = "linux")]
fn link(file: &File, folder: &OwnedFd) -> io::Result<OsString> {
    let from = descriptor(file);
    let linked = with_new_name(|name| rustix::fs::linkat(CWD, &from, folder, name, AtFlags::SYMLINK_FOLLOW));
    linked.map(|((), name)| name)
}

#[cfg(not(target_os = "linux"))]
fn link(_: &File, _: &OwnedFd) -> io::Result<OsString> {
    Err(ErrorKind::Unsupported.into())
}

#[cfg(target_os = "linux")]
fn descriptor(file: &File) -> PathBuf {
    use std::os::fd::AsRawFd;
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

impl Replaced {
    /// Gives a file the mode of the replaced one, and its owner and group as far as permitted.
    ///
    /// # Errors
    /// Returns an error if the mode cannot be set.
    pub(crate) fn keep_owner_and_mode(&self, file: &File) -> io::Result<()> {
        let (new, old) = (fstat(file)?, &self.0);
        let (owner, group) = (Uid::from_raw(old.st_uid), Gid::from_raw(old.st_gid));
        if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid) && fchown(file, Some(owner), Some(group)).is_err() {
            // Only root may change the owner; an owner may choose among their own groups.
            let _ = fchown(file, None, Some(group));
        }
        let mode = Mode::from_raw_mode(old.st_mode) & Mode::from_raw_mode(0o777);
        Ok(fchmod(file, mode)?)
    }
}
