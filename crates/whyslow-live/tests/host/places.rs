//! Network namespaces by process and by name.

use crate::lab::{alone, attempt, run};
use std::net::TcpListener;
use std::process::{Child, Command};
use whyslow_live::host::{Host, Namespaces, Options, State};
use whyslow_testing::{Lack, skip};

/// A namespace with a name and a process in it, for as long as the test runs.
struct Named {
    name: String,
    process: Child,
}

impl Named {
    /// A place for names, if they may be given.
    fn new(test: &str) -> Option<Self> {
        let name = format!("whyslow-{test}-{}", std::process::id());
        if let Err(error) = attempt(&format!("ip netns add {name}")) {
            skip(Lack::Machine, format!("namespaces cannot be named: {error}"));
            return None;
        }
        let process = Command::new("ip").args(["netns", "exec", &name, "sleep", "1000"]).spawn().unwrap();
        Some(Self { name, process })
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = Command::new("ip").args(["netns", "delete", &self.name]).status();
    }
}

fn read(namespaces: Namespaces) -> Host {
    Host::read(&Options { namespaces, ..Options::default() })
}

#[test]
fn a_namespace_is_read_from_within() {
    // Names are the machine's: made in a namespace of its own for the test's sockets alone.
    alone(&["sysctl", "sleep"], || {
        let Some(there) = Named::new("within") else { return };
        run(&format!("ip netns exec {} sysctl -qw net.ipv4.tcp_slow_start_after_idle=0", there.name));
        run(&format!("ip netns exec {} ip link add far type veth peer name farther", there.name));
        let _listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let own = read(Namespaces::Own);
        let far = read(Namespaces::Named(there.name.clone()));
        assert_eq!((own.namespaces.len(), far.namespaces.len()), (1, 1), "{:?}", far.missing);
        let (own, far) = (&own.namespaces[0], &far.namespaces[0]);
        assert_ne!(own.id, far.id);
        assert_eq!(far.name.as_deref(), Some(there.name.as_str()));
        let setting =
            |namespace: &whyslow_live::host::Namespace| namespace.sysctls["net.ipv4.tcp_slow_start_after_idle"].clone();
        assert_eq!((setting(own), setting(far)), ("1".to_owned(), "0".to_owned()));
        let has = |namespace: &whyslow_live::host::Namespace, name: &str| {
            namespace.devices.iter().any(|device| device.name == name)
        };
        assert!(has(far, "far") && !has(own, "far"));
        assert!(far.sockets.is_empty() && own.sockets[0].state == State::Listen);
        assert_eq!(far.counters["Tcp.ActiveOpens"], 0);
    });
}

#[test]
fn a_setting_of_the_machine_is_every_namespaces() {
    let name = "net.core.netdev_max_backlog";
    let Some(expected) = read(Namespaces::Own).namespaces[0].sysctls.get(name).cloned() else {
        return skip(Lack::Machine, "the tests do not run in the first network namespace");
    };
    // Only there does the kernel show it.
    alone(&["sleep"], || {
        assert_eq!(read(Namespaces::Own).namespaces[0].sysctls.get(name), None);
        let Some(there) = Named::new("machine") else { return };
        let command = format!("sysctl -n {name}");
        assert!(attempt(&format!("ip netns exec {} {command}", there.name)).is_err());
        std::thread::scope(|scope| {
            // The first thread of the process is in the first namespace.
            let first = std::fs::File::open("/proc/self/ns/net").unwrap();
            let there = Namespaces::Named(there.name.clone());
            let look = move || {
                nix::sched::setns(&first, nix::sched::CloneFlags::CLONE_NEWNET).unwrap();
                read(there)
            };
            let host = scope.spawn(look).join().unwrap();
            assert_eq!(host.namespaces[0].sysctls.get(name), Some(&expected));
        });
    });
}

#[test]
fn all_namespaces_are_found_once_with_their_names() {
    alone(&["sleep"], || {
        let Some(there) = Named::new("all") else { return };
        let _listener = TcpListener::bind("127.0.0.1:0").unwrap();
        // `ip` has yet to get there.
        let start = std::time::Instant::now();
        let host = loop {
            let host = read(Namespaces::All);
            let named = host.namespaces.iter().find(|namespace| namespace.name.as_ref() == Some(&there.name));
            if named.unwrap_or_else(|| panic!("{:?}", host.missing)).process.is_some() {
                break host;
            }
            assert!(start.elapsed().as_secs() < 20);
        };
        let mut ids: Vec<u64> = host.namespaces.iter().map(|namespace| namespace.id).collect();
        assert_eq!(ids[0], read(Namespaces::Own).namespaces[0].id);
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), host.namespaces.len());
        let by_process = read(Namespaces::Process(there.process.id()));
        let by_name = read(Namespaces::Named(there.name.clone()));
        assert_eq!(by_process.namespaces[0].id, by_name.namespaces[0].id);
        assert_eq!(host.namespaces[0].sockets[0].owners[0].pid, std::process::id());
    });
}

#[test]
fn a_namespace_that_is_not_there_is_missing() {
    for wanted in [Namespaces::Process(u32::MAX), Namespaces::Named("whyslow-none".to_owned())] {
        let host = read(wanted);
        assert!(host.namespaces.is_empty());
        assert!(host.missing[0].what.starts_with("network namespace /"), "{:?}", host.missing);
    }
    // A file that is not a namespace.
    let host = read(Namespaces::Named("/proc/self/stat".to_owned()));
    assert!(host.namespaces.is_empty() && host.missing[0].why == "no network namespace", "{:?}", host.missing);
}
