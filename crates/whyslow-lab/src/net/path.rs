//! A path: hosts in namespaces, links between them, and the captures of a run.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::OwnedFd;
use std::process::{Child, Command};
use std::thread::JoinHandle;

use nix::fcntl::OFlag;
use nix::unistd::pipe2;
use serde::Serialize;

use super::config::{Host, HostConfig, PathConfig, PortKind};
use super::device::{self, Interface, PortDevice};
use super::error::{Context, Error};
use super::memory;
use super::namespace::Namespace;
use super::nat::Nat;
use super::sysctl;
use crate::emulator::{Emulated, Emulation};
use crate::log::{DEFAULT_LIMIT, LinkLog};
use crate::port::{Clock, Epoch, Port, Switch, TunPort, VethPort};
use crate::tap::{OpenTap, Tap, TapOutcome};

/// The second client's address: the one that is free next to the client's and the far end's.
const CROSS: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 3);

/// Hosts and links, ready to run. Dropping it removes everything.
pub struct Path {
    config: PathConfig,
    hosts: BTreeMap<Host, Place>,
    /// The namespace with the emulator's ends of the devices.
    middle: Namespace,
    /// The emulator's side of each link, while it is not running.
    ports: Vec<Option<[Box<dyn Port>; 2]>>,
    run: Option<Run>,
    epoch: Epoch,
    nat: Option<Nat>,
}

/// A host: its namespace and its devices, in order from the client's side.
struct Place {
    namespace: Namespace,
    interfaces: Vec<Interface>,
}

/// A run in progress.
struct Run {
    /// Closing it stops the emulators.
    stop_emulators: OwnedFd,
    /// Closing it stops the taps.
    stop_taps: OwnedFd,
    emulators: Vec<JoinHandle<Emulated>>,
    taps: Vec<(Tap, JoinHandle<std::io::Result<TapOutcome>>)>,
    before: Drops,
}

/// Packets that the machine lost, unlike those that a link dropped on purpose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Drops {
    /// Lost by the devices of this path.
    pub device: u64,
    /// Lost by a processor's full backlog, for the whole machine.
    pub backlog: u64,
    /// Lost by the ring of an emulator's port.
    pub port: u64,
    /// Lost by a port that refused to send.
    pub refused: u64,
    /// Lost by the ring of a tap.
    pub tap: u64,
}

impl Drops {
    /// All together.
    pub fn total(&self) -> u64 {
        self.device + self.backlog + self.port + self.refused + self.tap
    }
}

/// The outcome of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// Each link's two directions.
    pub links: Vec<LinkLog>,
    /// Each capture.
    pub taps: Vec<TapOutcome>,
    /// Packets that the machine lost.
    pub drops: Drops,
    /// Frames that no link carries (multicast, not IPv4).
    pub ignored: u64,
    /// Why this run is not exact to the packet; empty if it is.
    pub void: Vec<String>,
    /// Those of the reasons that invalidate every figure: packets that the machine lost, and more
    /// lateness than the scenario itself allows. Other lateness is judged by its possible effect
    /// ([`crate::noise`]).
    pub spoiled: Vec<String>,
}

impl Path {
    /// Creates the hosts and their devices. Nothing runs yet. See [`super::enter`].
    pub fn build(config: &PathConfig) -> Result<Self, Error> {
        check(config)?;
        let names: &[Host] = if config.proxy.is_some() {
            &[Host::Client, Host::Proxy, Host::Server]
        } else {
            &[Host::Client, Host::Server]
        };
        let middle = Namespace::new("emulator")?;
        let mut path = Self {
            config: config.clone(),
            hosts: BTreeMap::new(),
            middle,
            ports: Vec::new(),
            run: None,
            epoch: Epoch::now(),
            nat: None,
        };
        for host in names {
            let namespace = Namespace::new(host.name())?;
            sysctl::apply(&namespace, &path.host_config(*host)?.sysctls)?;
            path.hosts.insert(*host, Place { namespace, interfaces: Vec::new() });
        }
        for (link, pair) in names.windows(2).enumerate() {
            let [near, far] = [1, 2].map(|last| Ipv4Addr::new(10, 77, link as u8, last));
            let cross = config.cross.as_ref().filter(|_| link == 0);
            let offload = path.host_config(pair[0])?.tso
                || path.host_config(pair[1])?.tso
                || cross.is_some_and(|cross| cross.tso);
            let mut first = path.attach(pair[0], link, [near, far], offload)?;
            let second = path.attach(pair[1], link, [far, near], offload)?;
            if cross.is_some() {
                first = path.join(first, far, offload)?;
                device::meet(&path.place(pair[1])?.namespace, &Interface::new(0, far, CROSS))?;
            }
            path.ports.push(Some([first, second]));
        }
        Ok(path)
    }

    /// Adds the second client to the client's side of the first link, whose port this is.
    fn join(&mut self, client: Box<dyn Port>, far: Ipv4Addr, offload: bool) -> Result<Box<dyn Port>, Error> {
        let namespace = Namespace::new(Host::Cross.name())?;
        sysctl::apply(&namespace, &self.host_config(Host::Cross)?.sysctls)?;
        self.hosts.insert(Host::Cross, Place { namespace, interfaces: Vec::new() });
        let cross = self.attach(Host::Cross, 0, [CROSS, far], offload)?;
        let client_address = self.place(Host::Client)?.interfaces.first().map(|interface| interface.address);
        let branches =
            [client_address.map(|address| (device::mac(address), client)), Some((device::mac(CROSS), cross))];
        Ok(Box::new(Switch::new(branches.into_iter().flatten().collect()).doing("making a switch")?))
    }

    fn host_config(&self, host: Host) -> Result<&HostConfig, Error> {
        match host {
            Host::Client => Ok(&self.config.client),
            Host::Cross => self.config.cross.as_ref().ok_or(Error::State("this path has no second client")),
            Host::Server => Ok(&self.config.server),
            Host::Proxy => self.config.proxy.as_ref().ok_or(Error::State("this path has no proxy")),
        }
    }

    fn place(&self, host: Host) -> Result<&Place, Error> {
        self.hosts.get(&host).ok_or(Error::State("this path has no such host"))
    }

    /// Adds a device to a host; the emulator has the other side.
    fn attach(
        &mut self,
        host: Host,
        link: usize,
        [address, peer]: [Ipv4Addr; 2],
        offload: bool,
    ) -> Result<Box<dyn Port>, Error> {
        let config = self.host_config(host)?.clone();
        let place = self.place(host)?;
        let interface = Interface::new(place.interfaces.len(), address, peer);
        let port: Box<dyn Port> = match self.config.emulator.port {
            PortKind::Veth => {
                let port = format!("{}{link}", host.name());
                let device = PortDevice { namespace: &self.middle, name: &port, fast: self.config.emulator.fast };
                device::make_veth(&place.namespace, &interface, &device, config.mtu)?;
                let open = || VethPort::open(&port, config.mtu, offload);
                Box::new(self.middle.within(open)?.doing("opening a packet socket")?)
            }
            PortKind::Tun => {
                let open = || TunPort::create(&interface.name, offload);
                let port = place.namespace.within(open)?.doing("opening /dev/net/tun")?;
                device::prepare_tap(&place.namespace, &interface, config.mtu)?;
                Box::new(port)
            }
        };
        device::configure(&place.namespace, &interface, &config)?;
        if let Some(ssthresh) = config.ssthresh {
            memory::remember(&place.namespace, &interface, ssthresh)?;
        }
        if let Some(place) = self.hosts.get_mut(&host) {
            place.interfaces.push(interface);
        }
        Ok(port)
    }

    /// A host's address, as its neighbour uses it. A proxy's is the one on its client's side.
    pub fn address(&self, host: Host) -> Result<IpAddr, Error> {
        let interface = self.place(host)?.interfaces.first();
        interface.map(|interface| interface.address.into()).ok_or(Error::State("the host has no device"))
    }

    /// The settings in force on a host, read back from the kernel.
    pub fn settings(&self, host: Host) -> Result<BTreeMap<String, String>, Error> {
        sysctl::in_force(&self.place(host)?.namespace)
    }

    /// The routes in force on a host, as `ip route` prints them.
    pub fn routes(&self, host: Host) -> Result<String, Error> {
        device::ip(&self.place(host)?.namespace, "reading routes", "route show\n", None)
    }

    /// Clears a host's metrics cache of earlier connections (`ip tcp_metrics flush`).
    pub fn forget_metrics(&self, host: Host) -> Result<(), Error> {
        device::ip(&self.place(host)?.namespace, "flushing tcp_metrics", "tcp_metrics flush all\n", None).map(|_| ())
    }

    /// A host's metrics cache, as `ip tcp_metrics` prints it.
    pub fn metrics(&self, host: Host) -> Result<String, Error> {
        device::ip(&self.place(host)?.namespace, "reading tcp_metrics", "tcp_metrics show\n", None)
    }

    /// A host's counters by name (`TcpExt:TCPTimeouts`, `Tcp:RetransSegs`), as nstat has them.
    pub fn counters(&self, host: Host) -> Result<BTreeMap<String, u64>, Error> {
        sysctl::counters(&self.place(host)?.namespace)
    }

    /// Runs `work` on a host and waits. Its sockets are the host's wherever they are used later.
    pub fn within<T: Send>(&self, host: Host, work: impl FnOnce() -> T + Send) -> Result<T, Error> {
        self.place(host)?.namespace.within(work)
    }

    /// Runs `work` on a host, on a thread with this name.
    pub fn thread<T: Send + 'static>(
        &self,
        host: Host,
        name: &str,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<JoinHandle<T>, Error> {
        self.place(host)?.namespace.thread(name, work)
    }

    /// Starts a program on a host. See [`Namespace::spawn`].
    pub fn spawn(&self, host: Host, command: Command) -> Result<Child, Error> {
        let resolver = self.nat.as_ref().filter(|_| host == Host::Client).map(Nat::resolver);
        self.place(host)?.namespace.spawn(command, resolver)
    }

    /// Lets the client reach services outside at these TCP ports, and ask for names. `folder` holds
    /// a file of the path's.
    ///
    /// # Errors
    /// Returns an error if the server's host cannot listen there, or the file cannot be written.
    pub fn reach_outside(&mut self, ports: &[u16], folder: &std::path::Path) -> Result<(), Error> {
        let client = self.place(Host::Client)?;
        let interface = client.interfaces.first().ok_or(Error::State("the host has no device"))?;
        device::route_outside(&client.namespace, interface, &self.config.client)?;
        let address = self.address(Host::Server)?;
        self.nat = Some(Nat::open(&self.place(Host::Server)?.namespace, address, ports, folder)?);
        Ok(())
    }

    /// Time zero of the logs of the last run.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Starts the taps, and then the links.
    pub fn start(&mut self, taps: &[Tap]) -> Result<(), Error> {
        if self.run.is_some() {
            return Err(Error::State("the path is running already"));
        }
        let (taps_stopped, stop_taps) = pipe2(OFlag::O_CLOEXEC).doing("making a pipe")?;
        let (emulators_stopped, stop_emulators) = pipe2(OFlag::O_CLOEXEC).doing("making a pipe")?;
        let mut run =
            Run { stop_emulators, stop_taps, emulators: Vec::new(), taps: Vec::new(), before: self.machine_drops()? };
        for tap in taps {
            let handle = self.start_tap(tap.clone(), &taps_stopped)?;
            run.taps.push((tap.clone(), handle));
        }
        self.epoch = Epoch::now();
        for (index, ports) in self.ports.iter_mut().enumerate() {
            let (Some(pair), Some(mut ports)) = (self.config.links.get(index), ports.take()) else {
                return Err(Error::State("a link was lost in an earlier run"));
            };
            ports.iter_mut().for_each(|port| discard(&mut **port, self.epoch));
            let emulation = Emulation {
                index,
                up: pair.up.clone(),
                down: pair.down.clone(),
                ports,
                router: Ipv4Addr::new(10, 77, index as u8, 254),
                fast: self.config.emulator.fast,
                cpu: self.config.emulator.cpu,
                spin: self.config.emulator.spin,
                log_limit: self.config.emulator.log_limit.unwrap_or(DEFAULT_LIMIT),
                epoch: self.epoch,
                stop: emulators_stopped.try_clone().doing("copying a pipe")?,
            };
            let thread = std::thread::Builder::new().name(format!("link {index}"));
            run.emulators.push(thread.spawn(move || emulation.run()).doing("starting an emulator")?);
        }
        self.run = Some(run);
        Ok(())
    }

    fn start_tap(&self, tap: Tap, stop: &OwnedFd) -> Result<JoinHandle<std::io::Result<TapOutcome>>, Error> {
        let place = self.place(tap.host)?;
        let config = self.host_config(tap.host)?;
        let largest =
            if config.tso || config.gro || self.config.emulator.fast { 65_600 } else { config.mtu as usize + 14 };
        let path = tap.file.clone();
        let nth = usize::from(tap.is_far);
        let device = place.interfaces.get(nth).ok_or(Error::State("the host has no such device"))?.name.clone();
        let open = place.namespace.within(|| OpenTap::open(tap, &device, largest))?;
        let open = open.map_err(|source| Error::Capture { path, source })?;
        let stop = stop.try_clone().doing("copying a pipe")?;
        std::thread::Builder::new().name("tap".to_owned()).spawn(move || open.run(&stop)).doing("starting a tap")
    }

    /// Waits until the links are empty (at most a second beyond the delay), stops everything, and
    /// judges the run.
    pub fn stop(&mut self) -> Result<Outcome, Error> {
        let run = self.run.take().ok_or(Error::State("the path is not running"))?;
        let before = run.before;
        drop(run.stop_emulators);
        let mut outcome = Outcome {
            links: Vec::new(),
            taps: Vec::new(),
            drops: Drops::default(),
            ignored: 0,
            void: Vec::new(),
            spoiled: Vec::new(),
        };
        for (slot, emulator) in self.ports.iter_mut().zip(run.emulators) {
            let mut emulated = emulator.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            outcome.drops.port += emulated.ports.iter_mut().map(|port| port.dropped()).sum::<u64>();
            outcome.drops.refused += emulated.refused;
            outcome.ignored += emulated.ignored;
            outcome.links.extend(emulated.logs);
            *slot = Some(emulated.ports);
        }
        drop(run.stop_taps);
        for (tap, handle) in run.taps {
            let done = handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            let done = done.map_err(|source| Error::Capture { path: tap.file, source })?;
            outcome.drops.tap += done.dropped;
            outcome.taps.push(done);
        }
        let after = self.machine_drops()?;
        outcome.drops.device = after.device.saturating_sub(before.device);
        outcome.drops.backlog = after.backlog.saturating_sub(before.backlog);
        let (lost, late) = (lost(&outcome.drops), self.late(&outcome));
        outcome.spoiled.clone_from(&lost);
        if self.config.emulator.tolerance_ns.is_some() {
            outcome.spoiled.extend(late.iter().cloned());
        }
        outcome.void = lost.into_iter().chain(late).collect();
        Ok(outcome)
    }

    fn machine_drops(&self) -> Result<Drops, Error> {
        let mut device = device::device_drops(&self.middle)?;
        for place in self.hosts.values() {
            device += device::device_drops(&place.namespace)?;
        }
        Ok(Drops { device, backlog: device::backlog_drops(), ..Drops::default() })
    }

    /// The directions in which packets left later than an exact path bears.
    fn late(&self, outcome: &Outcome) -> Vec<String> {
        let mut reasons = Vec::new();
        for log in &outcome.links {
            let pair = &self.config.links[log.link];
            let config = if log.direction == crate::log::Direction::Up { &pair.up } else { &pair.down };
            let delay = config.steps.iter().map(|step| &step.conditions).chain([&config.conditions]);
            let delay = delay.map(|conditions| conditions.delay_ns).min().unwrap_or(0);
            if !log.lateness.is_trustworthy(delay, self.config.emulator.tolerance_ns) {
                reasons.push(format!(
                    "link {} {:?}: the latest 1 % of packets were {:.2} ms late or more",
                    log.link,
                    log.direction,
                    log.lateness.p99_ns as f64 / 1e6
                ));
            }
        }
        reasons
    }
}

impl Drop for Path {
    fn drop(&mut self) {
        // Ends the threads, which hold the ports; the rest goes with the namespaces.
        if self.run.is_some() {
            let _ = self.stop();
        }
    }
}

/// The packets that the machine lost, by where.
fn lost(drops: &Drops) -> Vec<String> {
    let Drops { device, backlog, port, refused, tap } = *drops;
    let counted = [
        (device, "packets dropped by a device"),
        (backlog, "packets dropped by a processor's backlog"),
        (port, "packets lost on the way into the emulator"),
        (refused, "packets that could not be sent"),
        (tap, "packets missing from a capture"),
    ];
    counted.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect()
}

/// Discards what hosts sent before a link was there.
fn discard(port: &mut dyn Port, epoch: Epoch) {
    let clock = Clock::new(epoch);
    while port.receive(&clock, 1024, &mut |_| {}) > 0 {}
    port.dropped();
}

/// Rejects a configuration that is not a path.
fn check(config: &PathConfig) -> Result<(), Error> {
    let expected = if config.proxy.is_some() { 2 } else { 1 };
    if config.links.len() != expected {
        let message = format!(
            "a path {} needs {expected} link(s), not {}",
            match expected {
                2 => "with a proxy",
                _ => "of two hosts",
            },
            config.links.len()
        );
        return Err(Error::Config(message));
    }
    let hosts = [Some(&config.client), config.cross.as_ref(), config.proxy.as_ref(), Some(&config.server)];
    for host in hosts.into_iter().flatten() {
        if !(576..=9000).contains(&host.mtu) {
            return Err(Error::Config(format!("a host's MTU must be from 576 to 9000 bytes, not {}", host.mtu)));
        }
    }
    for (link, pair) in config.links.iter().enumerate() {
        pair.up.check().map_err(|source| Error::Link { link, direction: "up", source })?;
        pair.down.check().map_err(|source| Error::Link { link, direction: "down", source })?;
    }
    Ok(())
}
