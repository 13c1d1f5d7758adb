//! From a name to addresses: pinned ones, or the system's.

use crate::client::failure::{Failure, Phase};
use crate::client::target::Target;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

/// Which addresses are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// IPv4 alone.
    V4,
    /// IPv6 alone.
    V6,
}

impl Family {
    fn holds(self, address: IpAddr) -> bool {
        match self {
            Self::V4 => address.is_ipv4(),
            Self::V6 => address.is_ipv6(),
        }
    }
}

/// Addresses that stand for a name, as curl's `--resolve HOST:PORT:ADDRESS[,ADDRESS]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pinned {
    host: String,
    port: u16,
    addresses: Vec<IpAddr>,
}

impl Pinned {
    /// Reads `HOST:PORT:ADDRESS[,ADDRESS]`; IPv6 addresses may stand in brackets, a host `*` is
    /// any.
    ///
    /// # Errors
    /// The error in the text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not HOST:PORT:ADDRESS, as `example.org:443:192.0.2.1`");
        let (host, rest) = match text.strip_prefix('[') {
            Some(rest) => rest.split_once("]:").ok_or_else(wrong)?,
            None => text.split_once(':').ok_or_else(wrong)?,
        };
        let (port, addresses) = rest.split_once(':').ok_or_else(wrong)?;
        let port = port.parse().map_err(|_| wrong())?;
        let addresses = addresses
            .split(',')
            .map(|address| address.trim_start_matches('[').trim_end_matches(']').parse().map_err(|_| wrong()))
            .collect::<Result<Vec<_>, _>>()?;
        if host.is_empty() {
            return Err(wrong());
        }
        Ok(Self { host: host.to_owned(), port, addresses })
    }

    fn is_for(&self, host: &str, port: u16) -> bool {
        self.port == port && (self.host == "*" || self.host.eq_ignore_ascii_case(host))
    }
}

/// Another host and port to connect to, as curl's `--connect-to HOST1:PORT1:HOST2:PORT2`. The URL,
/// the header `Host` and the name in TLS stay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reroute {
    /// Empty is any.
    host: String,
    port: Option<u16>,
    /// Empty is the same.
    to_host: String,
    to_port: Option<u16>,
}

impl Reroute {
    /// Reads `HOST1:PORT1:HOST2:PORT2`; each may be empty, IPv6 addresses stand in brackets.
    ///
    /// # Errors
    /// The error in the text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not HOST1:PORT1:HOST2:PORT2, as `example.org:443:192.0.2.1:8443`");
        let host = |text: &mut &str| -> Option<String> {
            let (host, rest) = match text.strip_prefix('[') {
                Some(rest) => rest.split_once("]:")?,
                None => text.split_once(':')?,
            };
            *text = rest;
            Some(host.to_owned())
        };
        let port = |text: &str| -> Result<Option<u16>, String> {
            if text.is_empty() { Ok(None) } else { text.parse().map(Some).map_err(|_| wrong()) }
        };
        let mut rest = text;
        let from = host(&mut rest).ok_or_else(wrong)?;
        let (from_port, mut rest) = rest.split_once(':').ok_or_else(wrong)?;
        let to_host = host(&mut rest).ok_or_else(wrong)?;
        Ok(Self { host: from, port: port(from_port)?, to_host, to_port: port(rest)? })
    }

    /// The address for a target; `None` if it is about another one.
    pub(crate) fn of(&self, target: &Target) -> Option<Target> {
        let is_it = (self.host.is_empty() || self.host.eq_ignore_ascii_case(&target.host))
            && self.port.is_none_or(|port| port == target.port);
        is_it.then(|| Target {
            host: if self.to_host.is_empty() { target.host.clone() } else { self.to_host.clone() },
            port: self.to_port.unwrap_or(target.port),
            ..target.clone()
        })
    }
}

/// Addresses of a name, and the duration of the lookup; `None` without a lookup.
#[derive(Clone, Debug)]
pub(crate) struct Resolved {
    pub addresses: Vec<SocketAddr>,
    pub took: Option<Duration>,
}

/// Looks up a name, in the order in which its addresses are to be tried (RFC 6724, by the system).
pub(crate) async fn resolve(
    target: &Target,
    family: Option<Family>,
    pinned: &[Pinned],
    within: Duration,
) -> Result<Resolved, Failure> {
    let (host, port) = (target.host.as_str(), target.port);
    let began = Instant::now();
    let (found, took): (Vec<IpAddr>, _) = if let Some(address) = target.address() {
        (vec![address], None)
    } else if let Some(pinned) = pinned.iter().find(|pinned| pinned.is_for(host, port)) {
        (pinned.addresses.clone(), None)
    } else {
        let found = tokio::time::timeout(within, tokio::net::lookup_host((host, port)));
        let found = found.await.map_err(|_| no_answer(host, within))?.map_err(|error| unknown(host, &error))?;
        (found.map(|address| address.ip()).collect(), Some(began.elapsed()))
    };
    let mut addresses: Vec<SocketAddr> = Vec::new();
    for address in found.iter().filter(|address| family.is_none_or(|family| family.holds(**address))) {
        let address = SocketAddr::new(*address, port);
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    if addresses.is_empty() {
        let wanted = if family == Some(Family::V6) { "IPv6" } else { "IPv4" };
        let known: Vec<_> = found.iter().map(IpAddr::to_string).collect();
        return Err(Failure::new(Phase::Dns, format!("{host} has no {wanted} address, only {}", known.join(", "))));
    }
    Ok(Resolved { addresses, took })
}

fn no_answer(host: &str, within: Duration) -> Failure {
    let what = format!("no answer for {host} in {:.1} s", within.as_secs_f64());
    Failure::new(Phase::Dns, what).look_at("the servers in /etc/resolv.conf, and whether they can be reached")
}

fn unknown(host: &str, error: &std::io::Error) -> Failure {
    let text = error.to_string();
    let text = text.strip_prefix("failed to lookup address information: ").unwrap_or(&text);
    Failure::new(Phase::Dns, format!("{host}: {text}"))
        .look_at("the spelling of the name, and what `getent ahosts` says of it; /etc/resolv.conf")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn connections_go_elsewhere() {
        let target = Target::parse("https://example.org/x").unwrap();
        let to = |text: &str| {
            let target = Reroute::parse(text).unwrap().of(&target)?;
            Some((target.host, target.port))
        };
        assert_eq!(to("example.org:443:192.0.2.1:8443"), Some(("192.0.2.1".to_owned(), 8443)));
        assert_eq!(to("::[2001:db8::1]:"), Some(("2001:db8::1".to_owned(), 443)));
        assert_eq!(to("EXAMPLE.org::other.example:"), Some(("other.example".to_owned(), 443)));
        assert_eq!(to("example.org:80:192.0.2.1:8443"), None);
        for wrong in ["", "a:1:b", "a:x:b:1", "a:1:b:70000"] {
            assert!(Reroute::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn addresses_are_pinned() {
        let pinned = Pinned::parse("example.org:443:192.0.2.1,[2001:db8::1]").unwrap();
        assert!(pinned.is_for("Example.ORG", 443) && !pinned.is_for("example.org", 80));
        assert_eq!(pinned.addresses.len(), 2);
        assert!(Pinned::parse("*:80:::1").unwrap().is_for("any", 80));
        for wrong in ["example.org", "example.org:443", "example.org:x:192.0.2.1", ":80:192.0.2.1", "a:80:b"] {
            assert!(Pinned::parse(wrong).is_err(), "{wrong}");
        }
    }
}
