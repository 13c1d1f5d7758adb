//! Gives up the rights that opening a socket took (capabilities(7)).
//!
//! The kernel keeps capabilities for each thread, so it is done before others start; that no
//! thread has any left is read back from `/proc`.

use crate::watch::error::WatchError;
use caps::{CapSet, Capability, CapsHashSet};
use nix::unistd::{Gid, Uid, getegid, setgroups, setresgid, setresuid};
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The user `nobody` and its group: no file belongs to them.
const NOBODY: u32 = 65_534;
/// Capabilities to open, replace and give away any file.
const FILES: [Capability; 3] = [Capability::CAP_DAC_OVERRIDE, Capability::CAP_FOWNER, Capability::CAP_CHOWN];
/// Bits of a mode, for others.
const READ: u32 = 0o4;
const WRITE: u32 = 0o2;
const SEARCH: u32 = 0o1;
/// In such a folder only its own files may be replaced.
const STICKY: u32 = 0o1000;

/// Whom to go on as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct User {
    /// User.
    pub uid: u32,
    /// Group; there are no others.
    pub gid: u32,
}

/// How a file is used by its name after privileges were dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileUse {
    /// The file is read.
    Read,
    /// It is written next to its place, and then put there.
    Replace,
}

/// The rights that remain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rights {
    /// The user to become; `None` stays the same user.
    pub user: Option<User>,
    /// Whether the capabilities to use any file remain, and no others.
    pub files: bool,
}

impl User {
    /// The user that ran `sudo` to become root; `None` if this does not run as root.
    #[must_use]
    pub fn of_sudo() -> Option<Self> {
        if !Uid::effective().is_root() {
            return None;
        }
        let id = |name| std::env::var(name).ok()?.parse().ok();
        Some(Self { uid: id("SUDO_UID")?, gid: id("SUDO_GID")? })
    }

    /// The user to become instead of root: the user of `sudo`, or the user `nobody` without `sudo`.
    /// `None` if this is not root, or if the user namespace has no such user.
    #[must_use]
    pub fn instead_of_root() -> Option<Self> {
        if !Uid::effective().is_root() {
            return None;
        }
        let user = Self::of_sudo().unwrap_or(Self { uid: NOBODY, gid: NOBODY });
        let map = |name| fs::read_to_string(Path::new("/proc/self").join(name)).unwrap_or_default();
        let may_set_groups = map("setgroups").trim() != "deny";
        let is_there = is_mapped(&map("uid_map"), user.uid) && is_mapped(&map("gid_map"), user.gid);
        (is_there && may_set_groups).then_some(user)
    }

    /// Whether the modes of a file and of the folders above it let this user use it so.
    fn may(self, path: &Path, how: FileUse) -> bool {
        let Some(name) = path.file_name() else { return false };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let Ok(folder) = folder.canonicalize() else { return false };
        let has = |path: &Path, bits| fs::metadata(path).is_ok_and(|metadata| self.has(&metadata, bits));
        if !folder.ancestors().all(|folder| has(folder, SEARCH)) {
            return false;
        }
        let file = folder.join(name);
        match how {
            FileUse::Read => has(&file, READ),
            FileUse::Replace => has(&folder, WRITE) && self.may_replace(&folder, &file),
        }
    }

    fn may_replace(self, folder: &Path, file: &Path) -> bool {
        let Ok(there) = fs::metadata(file) else { return true };
        let is_own = fs::metadata(folder).is_ok_and(|folder| folder.mode() & STICKY == 0 || folder.uid() == self.uid);
        self.has(&there, WRITE) && (is_own || there.uid() == self.uid)
    }

    fn has(self, metadata: &Metadata, bits: u32) -> bool {
        let shift = match () {
            () if metadata.uid() == self.uid => 6,
            () if metadata.gid() == self.gid => 3,
            () => 0,
        };
        metadata.mode() >> shift & bits == bits
    }
}

/// Whether a line of `uid_map` or `gid_map` (user_namespaces(7)) has this number inside.
fn is_mapped(map: &str, id: u32) -> bool {
    map.lines().any(|line| {
        let mut numbers = line.split_ascii_whitespace().map(|number| number.parse::<u64>().ok());
        let (Some(Some(first)), Some(Some(_)), Some(Some(length))) = (numbers.next(), numbers.next(), numbers.next())
        else {
            return false;
        };
        (first..first.saturating_add(length)).contains(&u64::from(id))
    })
}

impl Rights {
    /// None at all, as this user.
    #[must_use]
    pub fn none(user: Option<User>) -> Self {
        Self { user, files: false }
    }

    /// The least with which these files can still be used. Root becomes another user if that one
    /// may use all of them; else it stays root without capabilities, if root owns them; else it
    /// keeps the capabilities that are about files.
    #[must_use]
    pub fn least(files: &[(&Path, FileUse)]) -> Self {
        let can = |user: User| files.iter().all(|(path, how)| user.may(path, *how));
        if !Uid::effective().is_root() {
            return Self::none(None);
        }
        if let Some(user) = User::instead_of_root().filter(|user| can(*user)) {
            return Self::none(Some(user));
        }
        Self { user: None, files: !can(User { uid: 0, gid: getegid().as_raw() }) }
    }
}

/// Goes on with these rights alone, and can get no other ones back.
///
/// # Errors
/// When rights are left: in this thread, or in another one that was started before.
pub fn drop_rights(rights: Rights) -> Result<(), WatchError> {
    let failed = WatchError::system::<io::Error>("rights cannot be dropped");
    let kept: CapsHashSet = if rights.files { FILES.into_iter().collect() } else { CapsHashSet::new() };
    // While there still are rights to do it.
    let bounding = caps::has_cap(None, CapSet::Effective, Capability::CAP_SETPCAP).unwrap_or(false);
    if bounding {
        caps::clear(None, CapSet::Bounding).map_err(io::Error::other).map_err(failed)?;
    }
    if let Some(User { uid, gid }) = rights.user {
        let (uid, gid) = (Uid::from_raw(uid), Gid::from_raw(gid));
        setgroups(&[gid])
            .and_then(|()| setresgid(gid, gid, gid))
            .and_then(|()| setresuid(uid, uid, uid))
            .map_err(|error| failed(error.into()))?;
    }
    caps::clear(None, CapSet::Ambient).map_err(io::Error::other).map_err(failed)?;
    caps::set(None, CapSet::Inheritable, &CapsHashSet::new()).map_err(io::Error::other).map_err(failed)?;
    caps::set(None, CapSet::Effective, &kept).map_err(io::Error::other).map_err(failed)?;
    caps::set(None, CapSet::Permitted, &kept).map_err(io::Error::other).map_err(failed)?;
    nix::sys::prctl::set_no_new_privs().map_err(|error| failed(error.into()))?;
    let left = threads_with_rights(&kept).map_err(failed)?;
    if left > 0 {
        return Err(failed(io::Error::other(format!("{left} threads were started before and have theirs"))));
    }
    Ok(())
}

/// How many threads of this process have a permitted capability that is not one of these.
fn threads_with_rights(kept: &CapsHashSet) -> io::Result<usize> {
    let kept = kept.iter().fold(0, |bits, capability| bits | capability.bitmask());
    let mut left = 0;
    for thread in std::fs::read_dir("/proc/self/task")? {
        let status = match std::fs::read_to_string(thread?.path().join("status")) {
            Ok(status) => status,
            // It has ended.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        left += usize::from(has_rights(&status, kept));
    }
    Ok(left)
}

/// Whether any other bit of `CapPrm` is set, or the line is missing.
fn has_rights(status: &str, kept: u64) -> bool {
    let permitted = status.lines().find_map(|line| line.strip_prefix("CapPrm:"));
    let permitted = permitted.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok());
    permitted.is_none_or(|permitted| permitted & !kept != 0)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn rights_are_read_from_a_status() {
        assert!(!has_rights("Name:\tx\nCapInh:\t0000000000000001\nCapPrm:\t0000000000000000\n", 0));
        assert!(has_rights("CapPrm:\t0000000000002000\n", 0));
        assert!(!has_rights("CapPrm:\t0000000000000002\n", 0x2));
        assert!(has_rights("CapPrm:\t0000000000002002\n", 0x2));
        assert!(has_rights("Name:\tx\n", 0));
    }

    #[test]
    fn ids_of_a_user_namespace_are_read_from_its_map() {
        let initial = "         0          0 4294967295\n";
        assert!(is_mapped(initial, 0) && is_mapped(initial, NOBODY));
        let rootless = "         0       1000          1\n";
        assert!(is_mapped(rootless, 0) && !is_mapped(rootless, NOBODY));
        assert!(!is_mapped("", 0) && !is_mapped("0 x 1\n", 0));
    }

    #[test]
    fn modes_decide_which_user_may_use_a_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        let owner = fs::metadata(&file).unwrap();
        let owner = User { uid: owner.uid(), gid: owner.gid() };
        let other = User { uid: 4_711, gid: 4_711 };
        let new = folder.path().join("new");
        mode(folder.path(), 0o700);
        mode(&file, 0o644);
        assert!(owner.may(&file, FileUse::Read) && owner.may(&file, FileUse::Replace));
        assert!(!other.may(&file, FileUse::Read), "the folder is closed");
        mode(folder.path(), 0o755);
        assert!(other.may(&file, FileUse::Read) && !other.may(&file, FileUse::Replace));
        assert!(!other.may(&new, FileUse::Replace) && owner.may(&new, FileUse::Replace));
        mode(folder.path(), 0o1777);
        mode(&file, 0o666);
        assert!(other.may(&new, FileUse::Replace));
        assert!(!other.may(&file, FileUse::Replace), "another user's file in a sticky folder");
        mode(folder.path(), 0o777);
        assert!(other.may(&file, FileUse::Replace));
    }
}
