//! The order in which a machine is read.

use super::cgroups::Cgroups;
use super::namespaces::{self, Place};
use super::{
    Host, Missing, Namespace, Options, Scope, conntrack, counters, devices, owners, peer_metrics, pressure, routes,
    settings, sockets,
};
use std::collections::BTreeMap;
use std::fs::read_to_string;
use std::io;
use std::net::IpAddr;
use std::path::Path;
use std::time::SystemTime;

const PROC: &str = "/proc";

impl Host {
    /// Looks at this machine. What cannot be read is in `missing`; nothing is changed, and nothing
    /// waits for anything but the kernel.
    pub fn read(options: &Options) -> Self {
        let proc = Path::new(PROC);
        let (places, mut missing) = namespaces::find(&options.namespaces, proc);
        let mut cgroups = Cgroups::new(proc);
        let of_machine = if options.scope == Scope::All { settings::all() } else { BTreeMap::new() };
        let mut namespaces = Vec::new();
        for place in places {
            match place.within(|| read(&place, options)) {
                Ok(mut read) => {
                    read.name_cgroups(&mut cgroups);
                    settings::complete(&mut read.namespace.sysctls, &of_machine);
                    namespaces.push(read.namespace);
                    missing.append(&mut read.missing);
                }
                Err(error) => missing.push(Missing { what: place.label(), why: namespaces::why(&error) }),
            }
        }
        if options.scope != Scope::Counters {
            let mut sockets: Vec<_> = namespaces.iter_mut().flat_map(|namespace| &mut namespace.sockets).collect();
            missing.extend(owners::find(&mut sockets, proc, &mut cgroups));
        }
        let mut host = Self { namespaces, missing, ..Self::default() };
        host.read_machine(proc, options.scope);
        host
    }

    /// Reads the data of the machine, which all namespaces share.
    fn read_machine(&mut self, proc: &Path, scope: Scope) {
        let text = |file: &str| read_to_string(proc.join(file)).unwrap_or_default();
        self.name = text("sys/kernel/hostname").trim().to_owned();
        self.boot_id = text("sys/kernel/random/boot_id").trim().to_owned();
        self.unix_s = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64());
        self.kernel = text("sys/kernel/osrelease").trim().to_owned();
        self.uptime_s = text("uptime").split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0.0);
        self.processors = std::thread::available_parallelism().map_or(1, usize::from);
        if scope == Scope::Sockets {
            return;
        }
        let mut note = Notes(&mut self.missing);
        self.cpu_pressure = note.or_missing("CPU pressure (PSI)", pressure::cpu(proc));
        self.softnet = note.or_missing("/proc/net/softnet_stat", counters::softnet(proc)).unwrap_or_default();
        if let Ok(text) = read_to_string("/sys/devices/system/cpu/online") {
            self.processors = online(&text).unwrap_or(self.processors);
        }
    }
}

/// A namespace, and the parts of it that could not be read.
struct Read {
    namespace: Namespace,
    /// Numbers of the sockets' cgroups, in their order.
    cgroups: Vec<Option<u64>>,
    missing: Vec<Missing>,
}

impl Read {
    fn name_cgroups(&mut self, cgroups: &mut Cgroups) {
        for (socket, number) in self.namespace.sockets.iter_mut().zip(&self.cgroups) {
            socket.cgroup = number.and_then(|number| cgroups.path(number));
        }
    }
}

/// Reads the namespace that the thread is in.
fn read(place: &Place, options: &Options) -> Read {
    let mut read = Read {
        namespace: Namespace { id: place.id, name: place.name.clone(), process: place.process, ..Namespace::default() },
        cgroups: Vec::new(),
        missing: Vec::new(),
    };
    // /proc/net is that of the process's first thread.
    let net = Path::new(PROC).join("thread-self/net");
    if options.scope != Scope::Counters {
        read.namespace.addresses = addresses();
        read.sockets(options);
    }
    if options.scope != Scope::Sockets {
        read.counters(&net, options.scope);
    }
    if options.scope == Scope::All {
        read.settings();
    }
    read
}

/// Addresses of the namespace that the thread is in; empty if they cannot be read.
fn addresses() -> Vec<IpAddr> {
    let all = nix::ifaddrs::getifaddrs().into_iter().flatten().filter_map(|interface| {
        let address = interface.address?;
        let ip: Option<IpAddr> = match (address.as_sockaddr_in(), address.as_sockaddr_in6()) {
            (Some(address), _) => Some(address.ip().into()),
            (_, Some(address)) => Some(address.ip().into()),
            _ => None,
        };
        ip.filter(|ip| !is_of_link(*ip))
    });
    let mut all: Vec<IpAddr> = all.collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Whether other machines have the same address: of loopback, or of one link alone.
fn is_of_link(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_loopback() || ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_loopback() || ip.is_unicast_link_local(),
    }
}

impl Read {
    fn sockets(&mut self, options: &Options) {
        let mut notes = Notes(&mut self.missing);
        let list = notes.or_missing("TCP sockets (sock_diag)", sockets::all(options.peer));
        let found = list.map_or_else(Vec::new, |list| notes.complete("TCP sockets", list));
        for socket in found {
            self.cgroups.push(socket.cgroup);
            self.namespace.sockets.push(socket.socket);
        }
    }

    fn counters(&mut self, net: &Path, scope: Scope) {
        let (namespace, mut notes) = (&mut self.namespace, Notes(&mut self.missing));
        namespace.counters = notes.or_missing("counters (/proc/net)", counters::all(net)).unwrap_or_default();
        namespace.gauges = counters::gauges(net);
        namespace.conntrack = conntrack::read(net);
        let list = notes.or_missing("network devices (rtnetlink)", devices::all());
        namespace.devices = list.map_or_else(Vec::new, |list| notes.complete("network devices", list));
        if scope == Scope::All {
            notes.or_missing("offloads, speeds and rings (ethtool)", devices::add_details(&mut namespace.devices));
        }
    }

    fn settings(&mut self) {
        let (namespace, mut notes) = (&mut self.namespace, Notes(&mut self.missing));
        namespace.sysctls = settings::all();
        if namespace.sysctls.is_empty() {
            let why = "nothing of /proc/sys/net can be read".to_owned();
            notes.0.push(Missing { what: "settings".to_owned(), why });
        }
        let list = notes.or_missing("tcp_metrics", peer_metrics::all());
        namespace.metrics = list.map_or_else(Vec::new, |list| notes.complete("tcp_metrics", list));
        let routes = routes::of(&mut namespace.sockets, &namespace.devices);
        namespace.routes = notes.or_missing("routes (rtnetlink)", routes).unwrap_or_default();
    }
}

/// The list of sources that could not be read.
struct Notes<'a>(&'a mut Vec<Missing>);

impl Notes<'_> {
    fn or_missing<T>(&mut self, what: &str, result: io::Result<T>) -> Option<T> {
        result.map_err(|error| self.note(what, why(&error))).ok()
    }

    fn complete<T>(&mut self, what: &str, list: whyslow_tcpinfo::netlink::List<T>) -> Vec<T> {
        if list.changed {
            self.note(what, "the list changed while it was read: some may lack".to_owned());
        }
        list.items
    }

    /// The same note for several namespaces is kept once.
    fn note(&mut self, what: &str, why: String) {
        let missing = Missing { what: what.to_owned(), why };
        if !self.0.contains(&missing) {
            self.0.push(missing);
        }
    }
}

fn why(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::ENOENT | libc::EOPNOTSUPP | libc::EPROTONOSUPPORT) => "this kernel does not offer it".to_owned(),
        Some(libc::EPERM | libc::EACCES) => format!("{error}; it needs root (CAP_NET_ADMIN)"),
        _ => error.to_string(),
    }
}

/// Processors of a list such as `0-3,6`.
fn online(list: &str) -> Option<usize> {
    let count = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        last.checked_sub(first)?.checked_add(1)
    };
    list.trim().split(',').try_fold(0_usize, |sum, range| sum.checked_add(count(range)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_counted_in_ranges() {
        assert_eq!(["0\n", "0-1\n", "0-3,6,8-9\n"].map(online), [Some(1), Some(2), Some(7)]);
        assert_eq!(["", "x", "3-1", "0-18446744073709551615"].map(online), [None; 4]);
    }
}
