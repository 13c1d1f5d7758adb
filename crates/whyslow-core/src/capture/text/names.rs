//! Converts printed hosts and ports to addresses and port numbers.
//!
//! Numbers are used unchanged. A host name gets a placeholder address from ranges that no real host
//! has (198.18.0.0/15 of RFC 2544, 100::/64 of RFC 6666), in order of appearance, so that the same
//! text always gives the same addresses. A service name gets its port, or a placeholder port below
//! 1024 derived from its letters. Anonymised hosts may have no port, and may contain dots:
//! `client`, `10.0.x.y`, `server-1.example`.

use super::services;
use crate::capture::Sink;
use foldhash::{HashMap, HashMapExt};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Maximum number of stored names; the addresses of later ones are derived from their letters, and
/// may collide.
const MAX_NAMES: usize = 16_384;

/// The names so far.
pub(super) struct Names {
    v4: HashMap<Box<str>, IpAddr>,
    v6: HashMap<Box<str>, IpAddr>,
    /// Number of ports printed with an unknown name, and the first such name.
    pub(super) unknown_services: u64,
    pub(super) first_unknown_service: Option<Box<str>>,
    /// Packets from or to names beyond the limit.
    pub(super) beyond_table: u64,
}

impl Names {
    pub(super) fn new() -> Self {
        Self {
            v4: HashMap::new(),
            v6: HashMap::new(),
            unknown_services: 0,
            first_unknown_service: None,
            beyond_table: 0,
        }
    }

    /// The address or placeholder of `host`; reports a new name to the sink. `v6` matters only for
    /// names.
    pub(super) fn host<S: Sink>(&mut self, host: &str, v6: bool, sink: &mut S) -> Option<IpAddr> {
        if let Some(address) = literal(host) {
            return Some(address);
        }
        if host.is_empty() {
            return None;
        }
        let table = if v6 { &mut self.v6 } else { &mut self.v4 };
        if let Some(&address) = table.get(host) {
            return Some(address);
        }
        if table.len() >= MAX_NAMES {
            self.beyond_table += 1;
            return Some(stand_in(0x1_0000 | (fnv1a(host) & 0xffff), v6));
        }
        let address = stand_in(table.len() as u32 + 1, v6);
        table.insert(host.into(), address);
        sink.host_name(address, host, true);
        Some(address)
    }

    /// The address of `host`, or its existing placeholder.
    pub(super) fn known(&self, host: &str, v6: bool) -> Option<IpAddr> {
        literal(host).or_else(|| if v6 { &self.v6 } else { &self.v4 }.get(host).copied())
    }

    /// Records that a packet's bytes show `address` for `host`.
    pub(super) fn set_address<S: Sink>(&mut self, host: &str, address: IpAddr, sink: &mut S) {
        let table = if address.is_ipv6() { &mut self.v6 } else { &mut self.v4 };
        let known = table.get(host) == Some(&address);
        if host.is_empty() || literal(host).is_some() || known || table.len() >= MAX_NAMES {
            return;
        }
        table.insert(host.into(), address);
        sink.host_name(address, host, false);
    }

    /// Address and port of an end that is printed as `host` and, after a dot, `port`; port 0 if
    /// there is none.
    pub(super) fn end<S: Sink>(&mut self, [host, port]: [&str; 2], v6: bool, sink: &mut S) -> Option<(IpAddr, u16)> {
        let known = port.is_empty() || number(port).is_some() || services::port(port).is_some();
        if !known && literal(host).is_none() && !self.v4.contains_key(host) && !self.v6.contains_key(host) {
            // Not a known service: it may be the last part of the host name.
            return Some((self.host(&format!("{host}.{port}"), v6, sink)?, 0));
        }
        let address = self.host(host, v6, sink)?;
        Some((address, if port.is_empty() { 0 } else { self.port(port)? }))
    }

    /// The number or placeholder of `port`.
    fn port(&mut self, port: &str) -> Option<u16> {
        if let Some(number) = number(port).or_else(|| services::port(port)) {
            return Some(number);
        }
        self.unknown_services += 1;
        if self.first_unknown_service.is_none() {
            self.first_unknown_service = Some(port.into());
        }
        let mut stand_in = 256 + (fnv1a(port) % 768) as u16;
        while services::is_named(stand_in) {
            stand_in = 256 + (stand_in - 255) % 768;
        }
        Some(stand_in)
    }
}

/// A port that is printed as a number.
pub(super) fn number(port: &str) -> Option<u16> {
    if port.bytes().all(|b| b.is_ascii_digit()) { port.parse().ok() } else { None }
}

/// An address that is printed as a number, possibly with a zone.
fn literal(host: &str) -> Option<IpAddr> {
    let host = host.split('%').next().unwrap_or(host);
    host.parse().ok()
}

fn stand_in(number: u32, v6: bool) -> IpAddr {
    if v6 {
        let [a, b] = [(number >> 16) as u16, number as u16];
        Ipv6Addr::new(0x100, 0, 0, 0, 0, 0, a, b).into()
    } else {
        let [_, a, b, c] = (number & 0x1_ffff).to_be_bytes();
        Ipv4Addr::new(198, 18 + a, b, c).into()
    }
}

/// The FNV-1a hash, which is the same on every machine.
fn fnv1a(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, b| (hash ^ u32::from(b)).wrapping_mul(0x0100_0193))
}
