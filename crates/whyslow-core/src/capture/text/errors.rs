//! Parses tcpdump's lines of ICMP errors.
//!
//! Without `-v` a line has the hosts, and rarely a port:
//! `IP R > A: ICMP B unreachable - need to frag (mtu 1400), length 36`.
//! With it the quoted packet follows, at least for IPv4.

use super::lookups::DnsLine;
use super::names::Names;
use std::collections::BTreeSet;
use std::net::IpAddr;

/// The fields of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IcmpLine<'a> {
    /// The sender of the error.
    pub(super) by: &'a str,
    /// Its receiver, which sent the packet.
    pub(super) to: &'a str,
    /// The packet's destination; `None` if the line does not have it.
    pub(super) about: Option<&'a str>,
    /// The destination port.
    pub(super) port: Option<&'a str>,
    /// The packet is certainly TCP.
    pub(super) is_tcp: bool,
    /// Type and code.
    pub(super) kind: (u8, u8),
    /// MTU; 0 if unknown.
    pub(super) mtu: u32,
    pub(super) v6: bool,
}

impl<'a> IcmpLine<'a> {
    /// Parses the text of a packet other than TCP; `None` if it is not an error, or about another
    /// protocol.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        // Before version 3.9 this was a word with a colon.
        let marks = [(" ICMP6, ", true), (" icmp6: ", true), (": ICMP ", false), (": icmp: ", false)];
        let (at, mark, v6) = marks.into_iter().find_map(|(mark, v6)| Some((text.find(mark)?, mark, v6)))?;
        let (head, body) = (text.get(..at)?, text.get(at + mark.len()..)?);
        let (before, target) = head.rsplit_once(" > ")?;
        let by = before.rsplit([' ', '\t', '(']).next().filter(|by| !by.is_empty())?;
        let to = target.split(' ').next().map(|to| to.strip_suffix(':').unwrap_or(to)).filter(|to| !to.is_empty())?;
        let about = Self { by, to, about: None, port: None, is_tcp: false, kind: (0, 0), mtu: 0, v6 };
        if v6 { about.v6(body) } else { about.v4(body) }
    }

    fn v4(self, body: &'a str) -> Option<Self> {
        if body.starts_with("time exceeded in-transit") {
            return Some(Self { kind: (11, 0), ..self });
        }
        let (scope, rest) = match body.split_once(' ')? {
            (scope @ ("net" | "host"), rest) => (scope, rest),
            _ => ("", body),
        };
        let (host, message) = rest.split_once(' ')?;
        let host = Self { about: Some(host), ..self };
        if let Some(port) = message.strip_prefix("tcp port ") {
            let port = port.split_once(" unreachable")?.0;
            return Some(Self { port: Some(port), is_tcp: true, kind: (3, 3), ..host });
        }
        if message.starts_with("protocol 6 unreachable") {
            return Some(Self { is_tcp: true, kind: (3, 2), ..host });
        }
        let why = message.strip_prefix("unreachable")?;
        let why = why.strip_prefix(" - ").unwrap_or("");
        let net = scope == "net";
        let code = match why {
            _ if why.starts_with("need to frag") => 4,
            _ if why.starts_with("source route failed") => 5,
            _ if why.starts_with("unknown") => {
                if net {
                    6
                } else {
                    7
                }
            }
            _ if why.starts_with("source host isolated") => 8,
            _ if why.starts_with("admin prohibited filter") => 13,
            _ if why.starts_with("admin prohibited") => {
                if net {
                    9
                } else {
                    10
                }
            }
            _ if why.starts_with("tos prohibited") => {
                if net {
                    11
                } else {
                    12
                }
            }
            _ if why.starts_with("host precedence violation") => 14,
            _ if why.starts_with("precedence cutoff") => 15,
            "" if !scope.is_empty() => u8::from(!net),
            _ => return None,
        };
        Some(Self { kind: (3, code), mtu: after(why, "(mtu ").unwrap_or(0), ..host })
    }

    fn v6(self, body: &'a str) -> Option<Self> {
        let host = |words: &'a str| words.split([' ', ',']).next().filter(|host| !host.is_empty());
        if body.starts_with("packet too big") {
            return Some(Self { kind: (2, 0), mtu: after(body, "mtu ")?, ..self });
        }
        if let Some(rest) = body.strip_prefix("time exceeded in-transit for ") {
            return Some(Self { kind: (3, 0), about: host(rest), ..self });
        }
        let why = body.strip_prefix("destination unreachable,")?.trim_start();
        if let Some(rest) = why.strip_prefix("unreachable port, ") {
            let port = rest.split_once(" tcp port ")?.1;
            return Some(Self { kind: (1, 4), about: host(rest), port: host(port), is_tcp: true, ..self });
        }
        const WHY: [(&str, u8); 4] = [
            ("unreachable route ", 0),
            ("unreachable prohibited ", 1),
            ("beyond scope ", 2),
            ("unreachable address ", 3),
        ];
        let (rest, code) = WHY.iter().find_map(|&(words, code)| Some((why.strip_prefix(words)?, code)))?;
        Some(Self { kind: (1, code), about: host(rest), ..self })
    }
}

/// The number after a word.
fn after(text: &str, word: &str) -> Option<u32> {
    let rest = text.split_once(word)?.1;
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    rest.get(..digits)?.parse().ok()
}

/// The packet that `-v` quotes on the next lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct QuotedPacket<'a> {
    /// Host and port of sender and receiver.
    pub(super) ends: Option<[[&'a str; 2]; 2]>,
    /// Length of the packet; 0 if unknown.
    pub(super) size: u32,
    /// It is not TCP.
    pub(super) is_other: bool,
}

impl<'a> QuotedPacket<'a> {
    /// Parses these lines, joined.
    pub(super) fn read(lines: &'a str) -> Self {
        let mut quoted = Self::default();
        for line in lines.lines() {
            if let Some((_, header)) = line.split_once("proto ") {
                quoted.is_other = !header.starts_with("TCP (6)");
                quoted.size = after(header, "), length ").unwrap_or(0);
            } else if let (None, Some((before, after))) = (quoted.ends, line.split_once(" > ")) {
                let src = before.rsplit([' ', '\t']).next().unwrap_or("");
                let dst = after.split(' ').next().and_then(|dst| dst.strip_suffix(':')).unwrap_or("");
                let parts = src.rsplit_once('.').zip(dst.rsplit_once('.'));
                quoted.ends = parts.map(|((src, from), (dst, to))| [[src, from], [dst, to]]);
            }
        }
        quoted
    }
}

/// Pairs of hosts with packets of other protocols in the text: an error without a quote may be
/// about one of those.
#[derive(Debug, Default)]
pub(super) struct OtherProtocols {
    pairs: BTreeSet<(IpAddr, IpAddr)>,
}

/// Maximum number of stored pairs.
const MAX_OTHERS: usize = 1_024;

impl OtherProtocols {
    /// Records a packet of another protocol that may trigger errors: a ping, or a packet with
    /// ports. Lookups are too small to exceed an MTU.
    pub(super) fn see(&mut self, text: &str, names: &Names) {
        if DnsLine::read(text).is_some() {
            return;
        }
        let v6 = text.contains("IP6");
        let Some((before, after)) = text.split_once(" > ") else { return };
        let src = before.rsplit([' ', '\t']).next().unwrap_or("");
        let dst = after.split(' ').next().map_or("", |dst| dst.strip_suffix(':').unwrap_or(dst));
        let is_echo = text.contains("echo request");
        let known = |end: &str| names.known(if is_echo { end } else { end.rsplit_once('.')?.0 }, v6);
        if let Some(pair) = known(src).zip(known(dst))
            && self.pairs.len() < MAX_OTHERS
        {
            self.pairs.insert(pair);
        }
    }

    /// Whether `from` may have sent such a packet to `to`, or to any host.
    pub(super) fn may_be(&self, from: IpAddr, to: Option<IpAddr>) -> bool {
        let is = |pair: &(IpAddr, IpAddr)| pair.0 == from && to.is_none_or(|to| pair.1 == to);
        self.pairs.len() >= MAX_OTHERS || self.pairs.iter().any(is)
    }
}

/// Whether a line after an error may be a part of the quoted packet.
pub(super) fn is_quoted(text: &str, line: &str) -> bool {
    let is_error = || text.contains(": ICMP ") && !text.contains(": ICMP echo ");
    (line.contains(" > ") || line.contains("proto ")) && is_error()
}
