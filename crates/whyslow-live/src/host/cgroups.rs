//! Control groups: which container or unit a process is of, and how long it was kept from the
//! processor. Both hierarchies (cgroups(7)): the unified one, and version 1.

use super::pods::{self, Pod, Pods};
use super::{Throttled, pressure};
use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Groups that are looked at for a number; more than machines have.
const MOST: usize = 50_000;

/// Processes above this one that are asked for their mounts.
const MOST_ANCESTORS: usize = 64;

/// Hexadecimal digits that runtimes show of a container's name.
const SHOWN: usize = 12;

/// Beginnings of a container's cgroup, and whose they are.
const RUNTIMES: [(&str, &str); 7] = [
    ("docker-", "docker"),
    ("cri-containerd-", "containerd"),
    ("nerdctl-", "containerd"),
    ("crio-conmon-", ""),
    ("crio-", "cri-o"),
    ("libpod-conmon-", ""),
    ("libpod-", "podman"),
];

/// The mount point of a hierarchy, and its group there.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    root: String,
    point: PathBuf,
}

/// The hierarchies of this machine, and their values.
#[derive(Default)]
pub(super) struct Cgroups {
    unified: Option<Mount>,
    /// The mount of version 1 that limits processors.
    cpu: Option<Mount>,
    throttled: HashMap<PathBuf, Option<Throttled>>,
    pressures: HashMap<PathBuf, Option<u8>>,
    by_number: Option<HashMap<u64, String>>,
    pods: Pods,
}

impl Cgroups {
    /// Finds the hierarchies. `ip netns exec` hides them behind a new /sys: then they are read
    /// through the closest process that started this one and still sees them, which takes the same
    /// user or root.
    pub fn new(proc: &Path) -> Self {
        let of = |process: &str| {
            parse_mounts(&std::fs::read_to_string(proc.join(process).join("mountinfo")).unwrap_or_default())
        };
        let own = of("self");
        if own.is_mounted() {
            return own;
        }
        let ancestors = std::iter::successors(parent(proc, "self"), |process| parent(proc, process));
        let seen = ancestors.take(MOST_ANCESTORS).map(|process| {
            let root = proc.join(&process).join("root");
            of(&process).below(&root)
        });
        seen.into_iter().find(Self::is_mounted).unwrap_or(own)
    }

    /// Whether a hierarchy is there, and may be read.
    fn is_mounted(&self) -> bool {
        [&self.unified, &self.cpu].into_iter().flatten().any(|mount| mount.point.is_dir())
    }

    /// The same hierarchies as another process sees them below its root.
    fn below(mut self, root: &Path) -> Self {
        for mount in [&mut self.unified, &mut self.cpu].into_iter().flatten() {
            mount.point = root.join(mount.point.strip_prefix("/").unwrap_or(&mount.point));
        }
        self
    }

    /// What the processor limit of a process's group did, or of one above it: the one that cost
    /// most, and that group's folder. Takes the process's `/proc/PID/cgroup`.
    pub fn throttled(&mut self, memberships: &str) -> Option<(Throttled, String)> {
        let (mount, path) = memberships.lines().find_map(|line| self.limiting(line))?;
        let relative = path.strip_prefix(mount.root.trim_end_matches('/'))?;
        let point = mount.point.clone();
        let folder = point.join(relative.trim_start_matches('/'));
        let groups = folder.ancestors().take_while(|group| group.starts_with(&point)).map(Path::to_owned);
        let groups: Vec<PathBuf> = groups.collect();
        let found = groups.into_iter().filter_map(|group| Some((self.stat(group.clone())?, group)));
        let (stat, group) = found.max_by_key(|(stat, _)| stat.time_us)?;
        Some((stat, group.to_string_lossy().into_owned()))
    }

    /// The hierarchy of a membership if it is the one that limits processors, and the group.
    fn limiting<'a>(&self, line: &'a str) -> Option<(&Mount, &'a str)> {
        let (controllers, path) = membership(line)?;
        let mount = match &self.cpu {
            Some(mount) if controllers.split(',').any(|controller| controller == "cpu") => mount,
            None if controllers.is_empty() => self.unified.as_ref()?,
            _ => return None,
        };
        Some((mount, path))
    }

    /// Share of the last 10 s in which some task of a process's group waited for a processor, per
    /// cent, and the group's folder; none of the root, which is the whole machine. Takes the
    /// process's `/proc/PID/cgroup`.
    pub fn cpu_pressure(&mut self, memberships: &str) -> Option<(u8, String)> {
        let mount = self.unified.as_ref()?;
        let (_, path) = memberships.lines().filter_map(membership).find(|(controllers, _)| controllers.is_empty())?;
        let relative = path.strip_prefix(mount.root.trim_end_matches('/'))?;
        let group = mount.point.join(relative.trim_start_matches('/'));
        let read = |group: &PathBuf| {
            // cgroups(7): every group but the root has it.
            let text = std::fs::read_to_string(group.join("cpu.pressure")).ok()?;
            let share = group.join("cgroup.events").exists().then(|| pressure::parse(&text))??;
            Some(share.clamp(0.0, 100.0).round() as u8)
        };
        let folder = group.to_string_lossy().into_owned();
        self.pressures.entry(group).or_insert_with_key(read).map(|share| (share, folder))
    }

    /// The pod of a process. Takes its `/proc/PID/cgroup`.
    pub fn pod(&mut self, memberships: &str) -> Option<Pod> {
        memberships.lines().filter_map(membership).find_map(|(_, path)| self.pods.of(path))
    }

    fn stat(&mut self, group: PathBuf) -> Option<Throttled> {
        let read = |group: &PathBuf| parse_stat(&std::fs::read_to_string(group.join("cpu.stat")).unwrap_or_default());
        *self.throttled.entry(group).or_insert_with_key(read)
    }

    /// The group of a number of the unified hierarchy (sock_diag's), as `/proc/PID/cgroup` has it.
    pub fn path(&mut self, number: u64) -> Option<String> {
        let mount = self.unified.as_ref()?;
        self.by_number.get_or_insert_with(|| numbers(mount)).get(&number).cloned()
    }
}

/// The process that started a process, by its `/proc/PID/status`.
fn parent(proc: &Path, process: &str) -> Option<String> {
    let status = std::fs::read_to_string(proc.join(process).join("status")).ok()?;
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim();
    (parent != "0").then(|| parent.to_owned())
}

/// Groups by their numbers: inodes of their folders.
fn numbers(mount: &Mount) -> HashMap<u64, String> {
    let mut groups = HashMap::new();
    let mut open = vec![mount.point.clone()];
    while let Some(folder) = open.pop().filter(|_| groups.len() < MOST) {
        let Ok(metadata) = folder.metadata() else { continue };
        let relative = folder.strip_prefix(&mount.point).unwrap_or(&folder);
        let path = Path::new(&mount.root).join(relative).to_string_lossy().into_owned();
        groups.insert(metadata.ino(), path);
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        open.extend(
            entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path()),
        );
    }
    groups
}

/// Reads `/proc/self/mountinfo` (proc_pid_mountinfo(5)).
fn parse_mounts(text: &str) -> Cgroups {
    let mut cgroups = Cgroups::default();
    for (mount, file_system) in text.lines().filter_map(|line| line.split_once(" - ")) {
        let mut mount = mount.split(' ').skip(3);
        let (Some(root), Some(point)) = (mount.next(), mount.next()) else { continue };
        let mount = Mount { root: unescape(root), point: unescape(point).into() };
        let mut words = file_system.split(' ');
        match (words.next(), words.nth(1)) {
            (Some("cgroup2"), _) => cgroups.unified = Some(mount),
            (Some("cgroup"), Some(options)) if options.split(',').any(|option| option == "cpu") => {
                cgroups.cpu = Some(mount);
            }
            _ => {}
        }
    }
    cgroups
}

/// Spaces are written as `\040`.
fn unescape(text: &str) -> String {
    text.replace("\\040", " ")
}

/// Controllers (none: the unified hierarchy) and group of a line of `/proc/PID/cgroup`.
fn membership(line: &str) -> Option<(&str, &str)> {
    line.split_once(':')?.1.split_once(':')
}

/// Reads `cpu.stat`: µs in the unified hierarchy, ns in version 1; `None` without a limit.
fn parse_stat(text: &str) -> Option<Throttled> {
    let number = |name: &str| -> Option<u64> {
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
        value.trim().parse().ok()
    };
    let time_us = number("throttled_usec").or_else(|| number("throttled_time").map(|ns| ns / 1000))?;
    let periods = number("nr_periods").filter(|&periods| periods > 0)?;
    Some(Throttled { periods, throttled: number("nr_throttled")?, time_us })
}

/// What `parse` finds in a process's memberships (`/proc/PID/cgroup`).
pub(super) fn of(memberships: &str, parse: fn(&str) -> Option<String>) -> Option<String> {
    memberships.lines().filter_map(membership).find_map(|(_, path)| parse(path))
}

/// The container of a cgroup's path, as its runtime and the beginning of its name
/// (`docker 4f2a09c1be77`): of Docker, containerd, CRI-O, Podman, LXC and systemd-nspawn. None of
/// one that is in no container.
pub fn container(cgroup: &str) -> Option<String> {
    let parts: Vec<&str> = cgroup.split('/').collect();
    // The innermost is the one that the process runs in.
    (0..parts.len()).rev().find_map(|place| {
        let (part, above) = (parts[place], parts[..place].last().copied().unwrap_or_default());
        let is_pod = parts[..=place].iter().any(|part| part.contains("kubepods")) || pods::uid(above).is_some();
        container_part(part, above, is_pod)
    })
}

fn container_part(part: &str, above: &str, is_pod: bool) -> Option<String> {
    // containerd without systemd: SLICE:RUNTIME:NAME.
    let name = part.rsplit(':').next().unwrap_or(part);
    let name = name.strip_suffix(".scope").or_else(|| name.strip_suffix(".service")).unwrap_or(name);
    if let Some((runtime, id)) = RUNTIMES.iter().find_map(|(start, runtime)| Some((runtime, name.strip_prefix(start)?)))
    {
        return shown(runtime, id);
    }
    if let Some(name) = name.strip_prefix("lxc.payload.") {
        return Some(format!("lxc {name}"));
    }
    if let Some(machine) = name.strip_prefix("machine-").filter(|_| above == "machine.slice") {
        return Some(format!("machine {}", machine.replace("\\x2d", "-")));
    }
    match above {
        "docker" => shown("docker", name),
        "lxc" => Some(format!("lxc {name}")),
        _ if is_pod => shown("containerd", name),
        _ => None,
    }
}

/// A runtime and the beginning of a container's name, which is 64 hexadecimal digits.
fn shown(runtime: &str, id: &str) -> Option<String> {
    let is_id = id.len() == 64 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_id && !runtime.is_empty()).then(|| format!("{runtime} {}", &id[..SHOWN]))
}

/// systemd's unit of a cgroup's path (`nginx.service`, `session-4.scope`), the innermost; none
/// where there is none.
pub fn unit(cgroup: &str) -> Option<String> {
    let is_unit = |part: &&str| part.ends_with(".service") || part.ends_with(".scope");
    cgroup.rsplit('/').find(is_unit).map(|unit| unit.replace("\\x2d", "-"))
}

#[cfg(test)]
mod tests;
