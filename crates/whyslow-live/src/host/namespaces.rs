//! Network namespaces: which there are, and how a thread gets into one.

use super::cgroups::{self, container};
use super::owners::processes;
use super::{Missing, Namespaces};
use nix::sched::{CloneFlags, setns};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::{File, metadata, read_to_string};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The folders of names: of `ip netns`, and of Docker.
const NAMED: [&str; 2] = ["/run/netns", "/run/docker/netns"];

/// A network namespace and how to get there.
#[derive(Debug)]
pub(super) struct Place {
    pub id: u64,
    pub name: Option<String>,
    pub process: Option<u32>,
    /// The argument of setns(2), which keeps the namespace alive; `None` for this process's own.
    file: Option<File>,
}

/// Finds the requested namespaces, this process's first, and lists those that are missing.
pub(super) fn find(wanted: &Namespaces, proc: &Path) -> (Vec<Place>, Vec<Missing>) {
    let own = match metadata(proc.join("thread-self/ns/net")) {
        Ok(own) => own,
        Err(error) => {
            let missing = Missing { what: "network namespaces".to_owned(), why: error.to_string() };
            // A kernel without them, or a /proc that hides them: there is one.
            let place = Place { id: 0, name: None, process: None, file: None };
            return (vec![place], Some(missing).filter(|_| *wanted != Namespaces::Own).into_iter().collect());
        }
    };
    let mut known = Known { own: own.ino(), device: own.dev(), places: BTreeMap::new(), containers: BTreeMap::new() };
    let missing = match wanted {
        Namespaces::Own => known.only(&proc.join("thread-self/ns/net"), None, None),
        Namespaces::All => known.add_all(proc),
        Namespaces::Process(pid) => known.only(&proc.join(pid.to_string()).join("ns/net"), None, Some(*pid)),
        Namespaces::Named(name) => {
            let file = NAMED.iter().map(|folder| Path::new(folder).join(name)).find(|file| file.exists());
            let file = file.unwrap_or_else(|| Path::new(NAMED[0]).join(name));
            known.only(&file, Some(name.clone()), None)
        }
    };
    let mut places: Vec<Place> = known.places.into_values().collect();
    places.sort_by_key(|place| (place.file.is_some(), place.id));
    (places, missing.err().into_iter().collect())
}

struct Known {
    own: u64,
    /// The file system that namespaces are files of.
    device: u64,
    places: BTreeMap<u64, Place>,
    /// The container of a namespace's processes; `None` if one of them is in no container, because
    /// then it is the machine's.
    containers: BTreeMap<u64, Option<String>>,
}

impl Known {
    /// Adds the namespace of a file. The first name and the first process count.
    fn add(&mut self, path: &Path, name: Option<String>, process: Option<u32>) -> io::Result<u64> {
        let found = metadata(path)?;
        if found.dev() != self.device {
            return Err(io::Error::other("no network namespace"));
        }
        let id = found.ino();
        if !self.places.contains_key(&id) {
            let file = if id == self.own { None } else { Some(File::open(path)?) };
            self.places.insert(id, Place { id, name: None, process: None, file });
        }
        if let Some(place) = self.places.get_mut(&id) {
            place.name = place.name.take().or(name);
            place.process = place.process.or(process);
        }
        Ok(id)
    }

    /// The namespace of a file, and no other.
    fn only(&mut self, path: &Path, name: Option<String>, process: Option<u32>) -> Result<(), Missing> {
        self.add(path, name, process)
            .map(|_| ())
            .map_err(|error| Missing { what: format!("network namespace {}", path.display()), why: why(&error) })
    }

    /// This process's namespace, then those with a name, then those of processes.
    fn add_all(&mut self, proc: &Path) -> Result<(), Missing> {
        self.only(&proc.join("thread-self/ns/net"), None, None)?;
        let files = NAMED.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
        for file in files {
            // A name that is no longer mounted is an empty file.
            let _ = self.add(&file.path(), Some(file.file_name().to_string_lossy().into_owned()), None);
        }
        let mut refused = 0;
        for (pid, folder) in processes(proc) {
            match self.add(&folder.join("ns/net"), None, Some(pid)) {
                Ok(id) => self.add_container(id, &read_to_string(folder.join("cgroup")).unwrap_or_default()),
                // A process that has ended is in no namespace.
                Err(error) => refused += u32::from(error.kind() == io::ErrorKind::PermissionDenied),
            }
        }
        for (id, place) in &mut self.places {
            place.name = place.name.take().or_else(|| self.containers.remove(id).flatten());
        }
        let of = match refused {
            0 => return Ok(()),
            1 => "1 process".to_owned(),
            many => format!("{many} processes"),
        };
        let why = format!("of {of}; to see them needs root (CAP_SYS_PTRACE)");
        Err(Missing { what: "network namespaces of other users".to_owned(), why })
    }

    /// Takes a process's `/proc/PID/cgroup`.
    fn add_container(&mut self, id: u64, memberships: &str) {
        let container = cgroups::of(memberships, container);
        match self.containers.entry(id) {
            Entry::Vacant(entry) => {
                entry.insert(container);
            }
            Entry::Occupied(mut entry) if container.is_none() => {
                entry.insert(None);
            }
            Entry::Occupied(_) => {}
        }
    }
}

impl Place {
    /// Its name in a message.
    pub fn label(&self) -> String {
        let process = || self.process.map(|pid| format!("of process {pid}"));
        let label = self.name.clone().or_else(process).unwrap_or_else(|| self.id.to_string());
        format!("network namespace {label}")
    }

    /// Runs `read` in the namespace: on a thread of its own, unless it is this process's.
    ///
    /// # Errors
    /// Where the thread may not go there (CAP_SYS_ADMIN), or the namespace is gone.
    pub fn within<T: Send>(&self, read: impl FnOnce() -> T + Send) -> io::Result<T> {
        let Some(file) = &self.file else { return Ok(read()) };
        std::thread::scope(|scope| {
            let there = || setns(file, CloneFlags::CLONE_NEWNET).map(|()| read());
            let thread = std::thread::Builder::new().spawn_scoped(scope, there)?;
            let result = thread.join().map_err(|_| io::Error::other("the thread that reads it ended early"))?;
            Ok(result?)
        })
    }
}

/// Why a namespace cannot be read, and what would help.
pub(super) fn why(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => format!("{error}; it needs root (CAP_SYS_ADMIN, CAP_SYS_PTRACE)"),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_is_a_containers_if_all_in_it_are() {
        let mut known = Known { own: 0, device: 0, places: BTreeMap::new(), containers: BTreeMap::new() };
        let docker = |digit: &str| format!("0::/docker/{}\n", digit.repeat(64));
        known.add_container(1, &docker("a"));
        // A container of the same pod.
        known.add_container(1, &docker("b"));
        // A process of the machine, and a container that shares its network.
        known.add_container(2, &docker("c"));
        known.add_container(2, "0::/system.slice/ssh.service\n");
        known.add_container(2, &docker("c"));
        let name = |id: u64| known.containers.get(&id).cloned().flatten();
        assert_eq!((name(1).as_deref(), name(2)), (Some("docker aaaaaaaaaaaa"), None));
    }
}
