//! Owners of a socket: processes by their open files (`/proc/PID/fd`).

use super::cgroups::{self, Cgroups, container, unit};
use super::{Missing, Owner, Socket};
use std::collections::{HashMap, HashSet};
use std::fs::read_to_string;
use std::io;
use std::path::{Path, PathBuf};

/// Gives all sockets their owners, and lists the missing ones. Each process is read once; one that
/// ends meanwhile owns nothing.
pub(super) fn find(sockets: &mut [&mut Socket], proc: &Path, cgroups: &mut Cgroups) -> Option<Missing> {
    let wanted: HashSet<u64> = sockets.iter().map(|socket| socket.inode).filter(|&inode| inode != 0).collect();
    if wanted.is_empty() {
        return None;
    }
    let mut holders: HashMap<u64, Vec<usize>> = HashMap::new();
    let (mut owners, mut refused) = (Vec::new(), false);
    for (pid, folder) in processes(proc) {
        let held = held_by(&folder, &wanted);
        refused |= held.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied);
        let held = held.unwrap_or_default();
        if held.is_empty() {
            continue;
        }
        for inode in held {
            holders.entry(inode).or_default().push(owners.len());
        }
        owners.push(owner(pid, &folder, cgroups));
    }
    let mut without = 0_usize;
    for socket in sockets.iter_mut().filter(|socket| socket.inode != 0) {
        let places = holders.get(&socket.inode).map(Vec::as_slice).unwrap_or_default();
        socket.owners = places.iter().map(|&place| owners[place].clone()).collect();
        without += usize::from(places.is_empty());
    }
    missing(without, refused)
}

fn missing(without: usize, refused: bool) -> Option<Missing> {
    let of = match without {
        0 => return None,
        1 => "1 socket".to_owned(),
        many => format!("{many} sockets"),
    };
    Some(if refused {
        let why = format!("of {of}; files of other users' processes need root (CAP_SYS_PTRACE)");
        Missing { what: "processes of other users".to_owned(), why }
    } else {
        let why = format!("no process in /proc holds {of}: of the kernel, of a PID namespace beside, or just ended");
        Missing { what: "processes".to_owned(), why }
    })
}

/// Processes by number, with their folders.
pub(super) fn processes(proc: &Path) -> impl Iterator<Item = (u32, PathBuf)> {
    let entries = std::fs::read_dir(proc).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path())))
}

/// Inodes of those sockets that a process has open.
fn held_by(folder: &Path, wanted: &HashSet<u64>) -> io::Result<HashSet<u64>> {
    let mut held = HashSet::new();
    for entry in std::fs::read_dir(folder.join("fd"))?.flatten() {
        match std::fs::read_link(entry.path()) {
            Ok(target) => held.extend(inode(&target).filter(|inode| wanted.contains(inode))),
            // A user that may list the files may not always read their links.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Err(error),
            // Closed in the meantime.
            Err(_) => {}
        }
    }
    Ok(held)
}

/// The inode of `socket:[4711]`.
fn inode(target: &Path) -> Option<u64> {
    target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

fn owner(pid: u32, folder: &Path, cgroups: &mut Cgroups) -> Owner {
    let memberships = read_to_string(folder.join("cgroup")).unwrap_or_default();
    let (throttled, throttled_in) = cgroups.throttled(&memberships).unzip();
    let (cpu_pressure, cpu_pressure_in) = cgroups.cpu_pressure(&memberships).unzip();
    Owner {
        pid,
        name: read_to_string(folder.join("comm")).unwrap_or_default().trim_end().to_owned(),
        container: cgroups::of(&memberships, container),
        unit: cgroups::of(&memberships, unit),
        pod: cgroups.pod(&memberships),
        throttled,
        throttled_in,
        cpu_pressure,
        cpu_pressure_in,
    }
}
