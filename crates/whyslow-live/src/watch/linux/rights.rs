//! Gives up the rights that opening a ring took (capabilities(7)).
//!
//! The kernel keeps capabilities for each thread, so it is done before others start; that no
//! thread has any left is read back from `/proc`.

use crate::watch::error::WatchError;
use caps::{CapSet, Capability, CapsHashSet};
use nix::unistd::{Gid, Uid, setgroups, setresgid, setresuid};
use std::io;

/// Whom to go on as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct User {
    /// User.
    pub uid: u32,
    /// Group; there are no others.
    pub gid: u32,
}

impl User {
    /// Whoever ran `sudo` to become root; none where this does not run as root.
    #[must_use]
    pub fn of_sudo() -> Option<Self> {
        if !Uid::effective().is_root() {
            return None;
        }
        let id = |name| std::env::var(name).ok()?.parse().ok();
        Some(Self { uid: id("SUDO_UID")?, gid: id("SUDO_GID")? })
    }
}

/// Goes on without any capability, as `user` if one is named, and can get none back.
///
/// # Errors
/// When rights are left: in this thread, or in another one that was started before.
pub fn drop_rights(user: Option<User>) -> Result<(), WatchError> {
    let failed = WatchError::system::<io::Error>("rights cannot be dropped");
    // While there still are rights to do it.
    let bounding = caps::has_cap(None, CapSet::Effective, Capability::CAP_SETPCAP).unwrap_or(false);
    if bounding {
        caps::clear(None, CapSet::Bounding).map_err(io::Error::other).map_err(failed)?;
    }
    if let Some(User { uid, gid }) = user {
        let (uid, gid) = (Uid::from_raw(uid), Gid::from_raw(gid));
        setgroups(&[gid])
            .and_then(|()| setresgid(gid, gid, gid))
            .and_then(|()| setresuid(uid, uid, uid))
            .map_err(|error| failed(error.into()))?;
    }
    caps::clear(None, CapSet::Ambient).map_err(io::Error::other).map_err(failed)?;
    caps::set(None, CapSet::Inheritable, &CapsHashSet::new()).map_err(io::Error::other).map_err(failed)?;
    caps::set(None, CapSet::Effective, &CapsHashSet::new()).map_err(io::Error::other).map_err(failed)?;
    caps::set(None, CapSet::Permitted, &CapsHashSet::new()).map_err(io::Error::other).map_err(failed)?;
    nix::sys::prctl::set_no_new_privs().map_err(|error| failed(error.into()))?;
    let left = threads_with_rights().map_err(failed)?;
    if left > 0 {
        return Err(failed(io::Error::other(format!("{left} threads were started before and have theirs"))));
    }
    Ok(())
}

/// How many threads of this process have a capability that is permitted.
fn threads_with_rights() -> io::Result<usize> {
    let mut left = 0;
    for thread in std::fs::read_dir("/proc/self/task")? {
        let status = match std::fs::read_to_string(thread?.path().join("status")) {
            Ok(status) => status,
            // It has ended.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        left += usize::from(has_rights(&status));
    }
    Ok(left)
}

/// Whether any bit of `CapPrm` is set, or none is told.
fn has_rights(status: &str) -> bool {
    let permitted = status.lines().find_map(|line| line.strip_prefix("CapPrm:"));
    permitted.is_none_or(|permitted| permitted.trim().bytes().any(|digit| digit != b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_are_read_from_a_status() {
        assert!(!has_rights("Name:\tx\nCapInh:\t0000000000000001\nCapPrm:\t0000000000000000\n"));
        assert!(has_rights("CapPrm:\t0000000000002000\n"));
        assert!(has_rights("Name:\tx\n"));
    }
}
