//! Creates devices, addresses and routes with `ip` (iproute2). Its error messages explain
//! themselves, and a run can be repeated by hand.

use std::io::Write;
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};

use super::config::{HostConfig, Route};
use super::error::{Context, Error};
use super::namespace::Namespace;

/// One end of a link as the host sees it.
#[derive(Clone, Debug)]
pub(super) struct Interface {
    /// `eth0`.
    pub(super) name: String,
    /// Its address, in a network of 256 (the other end is a neighbour).
    pub(super) address: Ipv4Addr,
    /// The address at the other end.
    pub(super) peer: Ipv4Addr,
}

impl Interface {
    /// A host's n-th device.
    pub(super) fn new(nth: usize, address: Ipv4Addr, peer: Ipv4Addr) -> Self {
        Self { name: format!("eth{nth}"), address, peer }
    }
}

/// A MAC address that shows its owner.
pub(super) fn mac(address: Ipv4Addr) -> [u8; 6] {
    let [a, b, c, d] = address.octets();
    // 02: locally administered, unicast.
    [0x02, 0x00, a, b, c, d]
}

fn mac_text(address: Ipv4Addr) -> String {
    mac(address).map(|byte| format!("{byte:02x}")).join(":")
}

/// Runs `ip` with one command a line inside `namespace`. `inherits`: a namespace that the commands
/// name by [`inherited_path`].
pub(super) fn ip(
    namespace: &Namespace,
    what: &str,
    commands: &str,
    inherits: Option<&Namespace>,
) -> Result<String, Error> {
    let mut command = Command::new("ip");
    command.args(["-batch", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    if let Some(other) = inherits {
        let fd = other.handle().as_raw_fd();
        // SAFETY: one system call between fork and exec, on a descriptor that `other` keeps open.
        unsafe {
            command.pre_exec(move || {
                let fd = std::os::fd::BorrowedFd::borrow_raw(fd);
                fcntl(fd, FcntlArg::F_SETFD(FdFlag::empty())).map(|_| ()).map_err(Into::into)
            });
        }
    }
    let output = namespace.within(|| {
        let mut child = command.spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(commands.as_bytes())?;
        }
        child.wait_with_output()
    })?;
    let output = output.map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => Error::Missing { program: "ip", hint: "install the package iproute2" },
        _ => Error::Os { what: what.to_owned(), source },
    })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let message = String::from_utf8_lossy(&output.stderr).trim().replace('\n', "; ");
    Err(Error::Ip { what: format!("{what} on the {}", namespace.name()), message })
}

/// How a command of [`ip`] names a namespace that it inherits.
pub(super) fn inherited_path(namespace: &Namespace) -> String {
    format!("/proc/self/fd/{}", namespace.handle().as_raw_fd())
}

/// The emulator's end of a veth pair.
pub(super) struct PortDevice<'a> {
    /// The emulator's namespace.
    pub(super) namespace: &'a Namespace,
    /// `client0`.
    pub(super) name: &'a str,
    /// Whether it sends super-packets.
    pub(super) fast: bool,
}

/// Makes a veth pair: `interface` in the host's namespace, `port` in the emulator's.
pub(super) fn make_veth(host: &Namespace, interface: &Interface, port: &PortDevice<'_>, mtu: u32) -> Result<(), Error> {
    let PortDevice { namespace: emulator, name: port, fast } = *port;
    let commands = format!(
        "link add {name} address {mac} mtu {mtu} type veth peer name {port} mtu {mtu} netns {emulator}\n",
        name = interface.name,
        mac = mac_text(interface.address),
        emulator = inherited_path(emulator),
    );
    ip(host, "making a veth pair", &commands, Some(emulator))?;
    quiet(emulator, port)?;
    // With offloads a super-packet that the emulator sends reaches the host whole; without, the
    // device would cut it.
    offload(emulator, port, Offload { checksums: fast, tso: fast, gro: false })?;
    ip(emulator, "bringing a port up", &format!("link set {port} up\n"), None).map(|_| ())
}

/// Gives a TAP device, made in the host's namespace, its hardware address and MTU, and a queue that
/// holds any window.
pub(super) fn prepare_tap(host: &Namespace, interface: &Interface, mtu: u32) -> Result<(), Error> {
    let Interface { name, address, .. } = interface;
    let command = format!("link set {name} address {} mtu {mtu} txqueuelen 20000\n", mac_text(*address));
    ip(host, "preparing a TAP device", &command, None).map(|_| ())
}

/// Brings a device up with its address, its only neighbour, and the route to it.
pub(super) fn configure(host: &Namespace, interface: &Interface, config: &HostConfig) -> Result<(), Error> {
    let Interface { name, address, peer } = interface;
    quiet(host, name)?;
    offload(host, name, Offload { checksums: config.tso, tso: config.tso, gro: config.gro })?;
    let [a, b, c, _] = address.octets();
    let commands = format!(
        "link set lo up\n\
         link set {name} up\n\
         address add {address}/24 dev {name} noprefixroute\n\
         neighbour replace {peer} lladdr {peer_mac} dev {name} nud permanent\n\
         route replace {a}.{b}.{c}.0/24 dev {name} scope link src {address}{attributes}\n",
        peer_mac = mac_text(*peer),
        attributes = attributes(&config.route),
    );
    ip(host, "setting addresses and routes", &commands, None).map(|_| ())
}

/// Leads packets to all other addresses to the peer of `interface`.
pub(super) fn route_outside(host: &Namespace, interface: &Interface, config: &HostConfig) -> Result<(), Error> {
    let Interface { name, address, peer } = interface;
    let command = format!("route replace default via {peer} dev {name} src {address}{}\n", attributes(&config.route));
    ip(host, "setting the default route", &command, None).map(|_| ())
}

/// Names another neighbour on a device that is up: the peer of `interface`.
pub(super) fn meet(host: &Namespace, interface: &Interface) -> Result<(), Error> {
    let Interface { name, peer, .. } = interface;
    let command = format!("neighbour replace {peer} lladdr {} dev {name} nud permanent\n", mac_text(*peer));
    ip(host, "naming a neighbour", &command, None).map(|_| ())
}

/// A route's attributes as `ip route` takes them.
fn attributes(route: &Route) -> String {
    let mut text = String::new();
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            text.push_str(&format!(" {name} {value}"));
        }
    };
    add("initcwnd", route.initcwnd.map(|n| n.to_string()));
    add("initrwnd", route.initrwnd.map(|n| n.to_string()));
    add("quickack", route.quickack.map(|on| u8::from(on).to_string()));
    add("congctl", route.congestion_control.clone());
    add("features", route.ecn.then(|| "ecn".to_owned()));
    add("rto_min", route.rto_min_ms.map(|ms| format!("{ms}ms")));
    add("advmss", route.advmss.map(|n| n.to_string()));
    text
}

/// No IPv6 on this device: its neighbour discovery would be the only packets that no program
/// requested.
fn quiet(namespace: &Namespace, device: &str) -> Result<(), Error> {
    let file = format!("/proc/sys/net/ipv6/conf/{device}/disable_ipv6");
    match namespace.within(|| std::fs::write(file, "1"))? {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).doing(format!("turning IPv6 off on {device}"))
        }
        _ => Ok(()),
    }
}

/// The offloads of a device.
#[derive(Clone, Copy)]
pub(super) struct Offload {
    /// Checksums are left to the device; off, they are right in captures, and wrong ones are
    /// noticed.
    pub(super) checksums: bool,
    pub(super) tso: bool,
    pub(super) gro: bool,
}

/// ethtool's commands that set one feature (linux/ethtool.h).
const ETHTOOL_STXCSUM: u32 = 0x17;
const ETHTOOL_STSO: u32 = 0x1f;
const ETHTOOL_SGRO: u32 = 0x2c;

/// Sets a device's features.
pub(super) fn offload(namespace: &Namespace, device: &str, offload: Offload) -> Result<(), Error> {
    let settings = [(ETHTOOL_STXCSUM, offload.checksums), (ETHTOOL_STSO, offload.tso), (ETHTOOL_SGRO, offload.gro)];
    let set = || {
        let control = socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?;
        settings.iter().try_for_each(|(command, on)| ethtool(&control, device, *command, *on))
    };
    namespace.within(set)?.doing(format!("setting the offloads of {device}"))
}

fn ethtool(control: &impl AsRawFd, device: &str, command: u32, on: bool) -> nix::Result<()> {
    #[repr(C)]
    struct Value {
        command: u32,
        data: u32,
    }
    let mut value = Value { command, data: u32::from(on) };
    // SAFETY: ifreq is plain data for which all zeroes are valid.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (place, byte) in request.ifr_name.iter_mut().zip(device.bytes().take(libc::IFNAMSIZ - 1)) {
        *place = byte as libc::c_char;
    }
    request.ifr_ifru.ifru_data = (&raw mut value).cast();
    // SAFETY: SIOCETHTOOL reads an ifreq whose data points to a command and its value; both live
    // through the call.
    nix::errno::Errno::result(unsafe { libc::ioctl(control.as_raw_fd(), SIOCETHTOOL, &raw mut request) }).map(|_| ())
}

const SIOCETHTOOL: libc::Ioctl = 0x8946;

/// Packets that the devices of a namespace dropped or failed on, all together.
pub(super) fn device_drops(namespace: &Namespace) -> Result<u64, Error> {
    let text = namespace.within(|| std::fs::read_to_string("/proc/thread-self/net/dev"))?.doing("reading net/dev")?;
    // Receive: bytes packets errs drop …; transmit, from the 9th: bytes packets errs drop …
    let of_line = |line: &str| {
        let (_, figures) = line.split_once(':')?;
        let figures: Vec<u64> = figures.split_whitespace().filter_map(|figure| figure.parse().ok()).collect();
        Some([2, 3, 10, 11].iter().filter_map(|place| figures.get(*place)).sum::<u64>())
    };
    Ok(text.lines().filter(|line| !line.trim_start().starts_with("lo:")).filter_map(of_line).sum())
}

/// Packets that this machine dropped since a processor's backlog was full: the whole machine's, for
/// there is no other count.
pub(super) fn backlog_drops() -> u64 {
    let text = std::fs::read_to_string("/proc/net/softnet_stat").unwrap_or_default();
    let second = |line: &str| u64::from_str_radix(line.split_whitespace().nth(1)?, 16).ok();
    text.lines().filter_map(second).sum()
}
