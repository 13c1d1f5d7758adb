//! Routes that connections take, by rtnetlink(7): what `ip route get fibmatch` shows.

use crate::attributes::{address, find, put, read, text, u32_at};
use crate::netlink::Netlink;
use nix::net::if_::if_indextoname;
use nix::sys::socket::SockProtocol;
use serde::{Deserialize, Serialize};
use std::io;
use std::net::IpAddr;

const RTM_GETROUTE: u16 = 26;
/// The route of the table, instead of the one made of it for an address.
const RTM_F_FIB_MATCH: u32 = 0x2000;

/// Bytes of `struct rtmsg`.
const ROUTE: usize = 12;

const RTA_DST: u16 = 1;
const RTA_SRC: u16 = 2;
const RTA_OIF: u16 = 4;
const RTA_GATEWAY: u16 = 5;
const RTA_PRIORITY: u16 = 6;
const RTA_PREFSRC: u16 = 7;
const RTA_METRICS: u16 = 8;
const RTA_TABLE: u16 = 15;
const RTA_MARK: u16 = 16;
const RTA_VIA: u16 = 18;

const RT_TABLE_MAIN: u32 = 254;
const RT_TABLE_LOCAL: u32 = 255;
const RTN_LOCAL: u8 = 2;

/// Metrics (`RTAX_*`) by their numbers, as `ip route` names them.
const METRICS: [&str; 18] = [
    "",
    "",
    "mtu",
    "window",
    "rtt",
    "rttvar",
    "ssthresh",
    "cwnd",
    "advmss",
    "reordering",
    "hoplimit",
    "initcwnd",
    "features",
    "rto_min",
    "initrwnd",
    "quickack",
    "congctl",
    "fastopen_no_cookie",
];
const RTAX_LOCK: u16 = 1;
const RTAX_RTT: u16 = 4;
const RTAX_RTTVAR: u16 = 5;
const RTAX_HOPLIMIT: u16 = 10;
const RTAX_INITCWND: u16 = 11;
const RTAX_FEATURES: u16 = 12;
const RTAX_RTO_MIN: u16 = 13;
const RTAX_INITRWND: u16 = 14;
const RTAX_CC_ALGO: u16 = 16;

/// Features (`RTAX_FEATURE_*`) by their bits, as `ip route` names them.
const FEATURES: [(u32, &str); 2] = [(1, "ecn"), (16, "tcp_usec_ts")];

/// A route that is used (`ip route get`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Route {
    /// To where: `default`, `192.0.2.0/24`.
    pub to: String,
    /// The next hop.
    pub via: Option<IpAddr>,
    /// The device.
    pub device: Option<String>,
    /// Initial congestion window, segments, where the route sets one.
    pub initcwnd: Option<u32>,
    /// Initial receive window, segments, where the route sets one.
    pub initrwnd: Option<u32>,
    /// Congestion control, where the route sets one.
    pub congestion_control: Option<String>,
    /// Metrics that are locked, and all else that the route sets, as `ip route` prints it.
    pub others: Vec<String>,
    /// All of it as `ip route change` takes it, and `ip -6 route change` of a peer of IPv6.
    pub text: String,
}

/// What a route depends on.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    /// The other end.
    pub remote: IpAddr,
    /// The own end; 0.0.0.0 or :: for the one that the kernel takes.
    pub local: IpAddr,
    /// The number of the device that the socket is bound to.
    pub interface: Option<u32>,
    /// The mark of the socket's packets.
    pub mark: Option<u32>,
}

/// Asks the kernel for routes.
pub struct Routes(Netlink);

impl Routes {
    /// Opens a socket to the kernel.
    ///
    /// # Errors
    /// Errors of a socket.
    pub fn open() -> io::Result<Self> {
        Netlink::open(SockProtocol::NetlinkRoute).map(Self)
    }

    /// The route of a connection, its device with the name that `name` gives to a number. A refusal
    /// means that there is no route between the two: `None`.
    pub fn of(&mut self, key: Key, name: impl Fn(u32) -> Option<String>) -> Option<Route> {
        let parse = |message: &[u8]| Found::parse(message);
        let mut found = self.0.one(RTM_GETROUTE, &request(key, RTM_F_FIB_MATCH), parse).ok()??;
        if found.device.is_none() {
            // Of several next hops this connection takes one.
            let hop = self.0.one(RTM_GETROUTE, &request(key, 0), parse).ok()??;
            (found.device, found.via) = (hop.device, hop.via);
        }
        let device = found.device.and_then(name);
        Some(found.route(device))
    }
}

/// The route of a new connection from here to `remote`; `None` if there is no route.
///
/// # Errors
/// If the kernel does not report it.
pub fn route_to(remote: IpAddr) -> io::Result<Option<Route>> {
    let local = if remote.is_ipv4() { IpAddr::from([0; 4]) } else { IpAddr::from([0; 16]) };
    let key = Key { remote, local, interface: None, mark: None };
    let name = |index| if_indextoname(index).ok()?.into_string().ok();
    Ok(Routes::open()?.of(key, name))
}

fn request(key: Key, flags: u32) -> Vec<u8> {
    let bytes = |address: IpAddr| match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    };
    let (family, bits) = if key.remote.is_ipv4() { (libc::AF_INET, 32) } else { (libc::AF_INET6, 128) };
    let mut request = vec![0; ROUTE];
    request[0] = u8::try_from(family).unwrap_or(0);
    (request[1], request[2]) = (bits, bits);
    request[8..].copy_from_slice(&flags.to_ne_bytes());
    put(&mut request, RTA_DST, &bytes(key.remote));
    if key.local.is_unspecified() {
        request[2] = 0;
    } else {
        put(&mut request, RTA_SRC, &bytes(key.local));
    }
    let numbers = [(RTA_OIF, key.interface), (RTA_MARK, key.mark)];
    for (kind, number) in numbers.into_iter().filter_map(|(kind, number)| Some((kind, number?))) {
        put(&mut request, kind, &number.to_ne_bytes());
    }
    request
}

/// A route as the kernel reports it.
#[derive(Debug, Default)]
struct Found {
    to: String,
    is_local: bool,
    via: Option<IpAddr>,
    device: Option<u32>,
    table: u32,
    protocol: u8,
    scope: u8,
    source: Option<IpAddr>,
    priority: Option<u32>,
    /// By their numbers, and whether they are locked.
    metrics: Vec<(u16, bool, String)>,
}

impl Found {
    fn parse(message: &[u8]) -> Option<Self> {
        let &[family, bits, _, _, table, protocol, scope, kind, ..] = message else { return None };
        let attributes = message.get(ROUTE..)?;
        let mut found = Self { table: table.into(), protocol, scope, is_local: kind == RTN_LOCAL, ..Self::default() };
        let mut to = None;
        for (kind, value) in read(attributes) {
            match kind {
                RTA_DST => to = address(value),
                RTA_GATEWAY => found.via = address(value),
                // `struct rtvia`: a family, and an address of it.
                RTA_VIA => found.via = value.get(2..).and_then(address),
                RTA_OIF => found.device = u32_at(value, 0),
                RTA_PRIORITY => found.priority = u32_at(value, 0),
                RTA_PREFSRC => found.source = address(value),
                RTA_TABLE => found.table = u32_at(value, 0)?,
                RTA_METRICS => found.metrics = metrics(value),
                _ => {}
            }
        }
        let width = if i32::from(family) == libc::AF_INET { 32 } else { 128 };
        found.to = match to {
            Some(to) if bits == width => to.to_string(),
            Some(to) => format!("{to}/{bits}"),
            None => "default".to_owned(),
        };
        Some(found)
    }

    fn route(self, device: Option<String>) -> Route {
        let metric = |kind| self.metrics.iter().find(|(other, ..)| *other == kind).map(|(_, _, value)| value.clone());
        let number = |kind| metric(kind).and_then(|value| value.parse().ok());
        let fields = [RTAX_INITCWND, RTAX_INITRWND, RTAX_CC_ALGO];
        let (mut others, mut all) = (Vec::new(), Vec::new());
        for (kind, is_locked, value) in &self.metrics {
            let name = METRICS.get(usize::from(*kind)).copied().unwrap_or_default();
            // `ip route` locks that one itself, and does not take the word.
            let lock = if *is_locked && *kind != RTAX_RTO_MIN { "lock " } else { "" };
            let text = format!("{name} {lock}{value}");
            if *is_locked || !fields.contains(kind) {
                others.push(text.clone());
            }
            all.push(text);
        }
        let mut text = self.selectors(device.as_deref());
        text.extend(all);
        Route {
            initcwnd: number(RTAX_INITCWND),
            initrwnd: number(RTAX_INITRWND),
            congestion_control: metric(RTAX_CC_ALGO),
            to: self.to,
            via: self.via,
            device,
            others,
            text: text.join(" "),
        }
    }

    /// As `ip route` prints them, in its order.
    fn selectors(&self, device: Option<&str>) -> Vec<String> {
        let table = match self.table {
            0 | RT_TABLE_MAIN => None,
            RT_TABLE_LOCAL => Some("table local".to_owned()),
            table => Some(format!("table {table}")),
        };
        let scope = match self.scope {
            253 => Some("scope link"),
            254 => Some("scope host"),
            _ => None,
        };
        let protocol = match self.protocol {
            0 => None,
            2 => Some("proto kernel".to_owned()),
            3 => Some("proto boot".to_owned()),
            4 => Some("proto static".to_owned()),
            9 => Some("proto ra".to_owned()),
            16 => Some("proto dhcp".to_owned()),
            number => Some(format!("proto {number}")),
        };
        let parts = [
            Some(format!("{}{}", if self.is_local { "local " } else { "" }, self.to)),
            self.via.map(|via| format!("via {via}")),
            device.map(|device| format!("dev {device}")),
            table,
            protocol.filter(|protocol| protocol != "proto boot"),
            scope.map(str::to_owned),
            self.source.map(|source| format!("src {source}")),
            self.priority.map(|priority| format!("metric {priority}")),
        ];
        parts.into_iter().flatten().collect()
    }
}

/// Metrics with whether they are locked, and their values as `ip route` prints them.
fn metrics(attributes: &[u8]) -> Vec<(u16, bool, String)> {
    let locks = find(attributes, RTAX_LOCK).and_then(|value| u32_at(value, 0)).unwrap_or(0);
    let known = read(attributes).filter(|&(kind, _)| kind > RTAX_LOCK && usize::from(kind) < METRICS.len());
    known.filter_map(|(kind, value)| Some((kind, locks & 1 << kind != 0, metric(kind, value)?))).collect()
}

/// A metric's value as `ip route` prints it; `None` if it is not set.
fn metric(kind: u16, value: &[u8]) -> Option<String> {
    if kind == RTAX_CC_ALGO {
        return Some(text(value));
    }
    let number = u32_at(value, 0)?;
    Some(match kind {
        // -1: what the system has.
        RTAX_HOPLIMIT if number == u32::MAX => return None,
        RTAX_RTT => milliseconds(number / 8),
        RTAX_RTTVAR => milliseconds(number / 4),
        RTAX_RTO_MIN => milliseconds(number),
        RTAX_FEATURES => features(number),
        _ => number.to_string(),
    })
}

fn milliseconds(number: u32) -> String {
    if number < 1000 { format!("{number}ms") } else { format!("{}s", f64::from(number) / 1000.0) }
}

fn features(bits: u32) -> String {
    let known: u32 = FEATURES.iter().map(|(bit, _)| bit).sum();
    let names = FEATURES.iter().filter(|(bit, _)| bits & bit != 0).map(|(_, name)| (*name).to_owned());
    let unknown = Some(bits & !known).filter(|&bits| bits != 0).map(|bits| format!("0x{bits:x}"));
    names.chain(unknown).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::attributes::put_nested;
    use proptest::prelude::*;

    fn message(metrics: &[(u16, u32)], locks: u32) -> Vec<u8> {
        let mut message = vec![u8::try_from(libc::AF_INET).unwrap(), 0, 0, 0, 254, 16, 0, 1, 0, 0, 0, 0];
        put(&mut message, RTA_GATEWAY, &[192, 0, 2, 254]);
        put(&mut message, RTA_OIF, &2_u32.to_ne_bytes());
        put(&mut message, RTA_PRIORITY, &100_u32.to_ne_bytes());
        let mut nested = Vec::new();
        put(&mut nested, RTAX_LOCK, &locks.to_ne_bytes());
        for (kind, number) in metrics {
            put(&mut nested, *kind, &number.to_ne_bytes());
        }
        put(&mut nested, RTAX_CC_ALGO, b"bbr\0");
        put_nested(&mut message, RTA_METRICS, &nested);
        message
    }

    #[test]
    fn a_route_is_read_with_what_it_sets() {
        let metrics = [(RTAX_INITCWND, 40), (7, 60), (RTAX_RTO_MIN, 40), (RTAX_RTT, 8 * 1500), (RTAX_FEATURES, 1)];
        let route = Found::parse(&message(&metrics, 1 << 7)).unwrap().route(Some("eth0".to_owned()));
        assert_eq!(
            (route.to.as_str(), route.via, route.device.as_deref()),
            ("default", Some([192, 0, 2, 254].into()), Some("eth0"))
        );
        assert_eq!(
            (route.initcwnd, route.initrwnd, route.congestion_control.as_deref()),
            (Some(40), None, Some("bbr"))
        );
        assert_eq!(route.others, ["cwnd lock 60", "rto_min 40ms", "rtt 1.5s", "features ecn"]);
        let text = "default via 192.0.2.254 dev eth0 proto dhcp metric 100 \
                    initcwnd 40 cwnd lock 60 rto_min 40ms rtt 1.5s features ecn congctl bbr";
        assert_eq!(route.text, text);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = Found::parse(&bytes).map(|found| found.route(None));
            let _ = metrics(&bytes);
        }
    }
}
