//! The data to read.

use std::net::IpAddr;
use std::str::FromStr;
use thiserror::Error;

/// The data to read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// In which network namespaces.
    pub namespaces: Namespaces,
    /// Sockets with peers of it alone; listeners, which have none, are always there.
    pub peer: Option<Prefix>,
    /// Which namespaces to read.
    pub scope: Scope,
}

/// How much is read: all at first, and what changes again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// All.
    #[default]
    All,
    /// Counters alone: of the namespaces, their devices, connection tracking and processors.
    Counters,
    /// Sockets alone, with their owners.
    Sockets,
}

/// Which network namespaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Namespaces {
    /// This process's namespace.
    #[default]
    Own,
    /// Every one that a process is in, or that has a name.
    All,
    /// The one that a process is in.
    Process(u32),
    /// The one that `ip netns` knows by this name, or that this file is of (`/proc/PID/ns/net`).
    Named(String),
}

impl FromStr for Namespaces {
    type Err = std::convert::Infallible;

    /// `all`, the number of a process, or a name.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text.parse() {
            _ if text == "all" => Self::All,
            Ok(process) => Self::Process(process),
            Err(_) => Self::Named(text.to_owned()),
        })
    }
}

/// Addresses that begin with the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    address: IpAddr,
    bits: u8,
}

/// A text that is neither an address nor a prefix.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0:?} is no address and no prefix such as 192.0.2.0/24")]
pub struct InvalidPrefix(String);

impl Prefix {
    /// Whether it holds an address.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                same_bits(own.to_bits().into(), other.to_bits().into(), 32, self.bits)
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => same_bits(own.to_bits(), other.to_bits(), 128, self.bits),
            _ => false,
        }
    }
}

/// Whether two addresses of `width` bits begin with the same `bits` bits.
fn same_bits(one: u128, other: u128, width: u32, bits: u8) -> bool {
    (one ^ other).checked_shr(width - u32::from(bits)).unwrap_or(0) == 0
}

impl FromStr for Prefix {
    type Err = InvalidPrefix;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let invalid = || InvalidPrefix(text.to_owned());
        let (address, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let address: IpAddr = address.parse().map_err(|_| invalid())?;
        let width = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(width), |bits| bits.parse().map_err(|_| invalid()))?;
        if bits > width {
            return Err(invalid());
        }
        Ok(Self { address, bits })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_prefix_holds_what_begins_like_it() {
        let holds = |prefix: &str, address: &str| prefix.parse::<Prefix>().unwrap().contains(address.parse().unwrap());
        assert!(holds("192.0.2.0/24", "192.0.2.200"));
        assert!(!holds("192.0.2.0/24", "192.0.3.1"));
        assert!(holds("192.0.2.1", "::ffff:192.0.2.1"));
        assert!(!holds("192.0.2.1", "192.0.2.2"));
        assert!(holds("0.0.0.0/0", "198.51.100.1"));
        assert!(!holds("0.0.0.0/0", "2001:db8::1"));
        assert!(holds("::/0", "2001:db8::1"));
        assert!(holds("2001:db8::/32", "2001:db8:7::1"));
        assert!(!holds("2001:db8::/32", "2001:db9::1"));
        for text in ["", "192.0.2.0/33", "192.0.2.0/", "192.0.2/24", "::1/129", "example.com", "::1/-1"] {
            assert_eq!(text.parse::<Prefix>(), Err(InvalidPrefix(text.to_owned())), "{text}");
        }
    }

    #[test]
    fn namespaces_are_all_of_a_process_or_named() {
        let parse = |text: &str| text.parse::<Namespaces>().unwrap();
        assert_eq!(parse("all"), Namespaces::All);
        assert_eq!(parse("4711"), Namespaces::Process(4711));
        assert_eq!(parse("blue"), Namespaces::Named("blue".to_owned()));
    }
}
