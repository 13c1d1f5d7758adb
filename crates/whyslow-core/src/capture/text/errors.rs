//! tcpdump's lines of ICMP errors: which packet they are about.
//!
//! Without `-v` a line has the hosts, and seldom a port: `IP R > A: ICMP B unreachable - need to frag (mtu 1400), length 36`. With it the
//! quoted packet follows, at least for IPv4. A line that names no connection is one's all the same where one alone of those between the
//! hosts has something in flight, and no other protocol was seen between them; what may be another's is nobody's.

use super::lookups::Talk;
use super::names::{self, Names};
use super::relative::End;
use super::{TextReader, build};
use crate::capture::Sink;
use std::collections::BTreeSet;
use std::net::IpAddr;

/// What a line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// Who says so.
    pub(super) by: &'a str,
    /// To whom: the sender of the packet.
    pub(super) to: &'a str,
    /// To whom that was sent; none where the line does not say it.
    pub(super) about: Option<&'a str>,
    /// The port there.
    pub(super) port: Option<&'a str>,
    /// The packet was TCP's, for sure.
    pub(super) is_tcp: bool,
    /// Type and code.
    pub(super) kind: (u8, u8),
    /// How long packets may be; 0 where that is not told.
    pub(super) mtu: u32,
    pub(super) v6: bool,
}

impl<'a> Line<'a> {
    /// The text of a packet that is not TCP; none if it is no error, or one about another protocol.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        // Before version 3.9 it was a word with a colon.
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
        let (host, said) = rest.split_once(' ')?;
        let host = Self { about: Some(host), ..self };
        if let Some(port) = said.strip_prefix("tcp port ") {
            let port = port.split_once(" unreachable")?.0;
            return Some(Self { port: Some(port), is_tcp: true, kind: (3, 3), ..host });
        }
        if said.starts_with("protocol 6 unreachable") {
            return Some(Self { is_tcp: true, kind: (3, 2), ..host });
        }
        let why = said.strip_prefix("unreachable")?;
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

/// The number behind a word.
fn after(text: &str, word: &str) -> Option<u32> {
    let rest = text.split_once(word)?.1;
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    rest.get(..digits)?.parse().ok()
}

/// The packet that `-v` quotes on the lines below.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Quoted<'a> {
    /// Host and port, from whom and to whom.
    pub(super) ends: Option<[[&'a str; 2]; 2]>,
    /// How long the packet was; 0 where that is not told.
    pub(super) size: u32,
    /// It is not TCP's.
    pub(super) is_other: bool,
}

impl<'a> Quoted<'a> {
    /// Those lines, one after the other.
    pub(super) fn read(lines: &'a str) -> Self {
        let mut quoted = Self::default();
        for line in lines.lines() {
            if let Some((_, header)) = line.split_once("proto ") {
                quoted.is_other = !header.starts_with("TCP (6)");
                quoted.size = after(header, "), length ").unwrap_or(0);
            } else if let (None, Some((before, behind))) = (quoted.ends, line.split_once(" > ")) {
                let src = before.rsplit([' ', '\t']).next().unwrap_or("");
                let dst = behind.split(' ').next().and_then(|dst| dst.strip_suffix(':')).unwrap_or("");
                let parts = src.rsplit_once('.').zip(dst.rsplit_once('.'));
                quoted.ends = parts.map(|((src, from), (dst, to))| [[src, from], [dst, to]]);
            }
        }
        quoted
    }
}

/// Hosts between which the text has packets of other protocols: an error that quotes nothing may be about one of those.
#[derive(Debug, Default)]
pub(super) struct Others {
    pairs: BTreeSet<(IpAddr, IpAddr)>,
}

/// So many pairs are remembered.
const MOST_OTHERS: usize = 1_024;

impl Others {
    /// A packet of another protocol that routers may have to tell of: a ping, or what has ports. Lookups are not too long for anything.
    fn see(&mut self, text: &str, names: &Names) {
        if Talk::read(text).is_some() {
            return;
        }
        let v6 = text.contains("IP6");
        let Some((before, behind)) = text.split_once(" > ") else { return };
        let src = before.rsplit([' ', '\t']).next().unwrap_or("");
        let dst = behind.split(' ').next().map_or("", |dst| dst.strip_suffix(':').unwrap_or(dst));
        let is_echo = text.contains("echo request");
        let known = |end: &str| names.known(if is_echo { end } else { end.rsplit_once('.')?.0 }, v6);
        if let Some(pair) = known(src).zip(known(dst))
            && self.pairs.len() < MOST_OTHERS
        {
            self.pairs.insert(pair);
        }
    }

    /// Whether the first may have sent the second, or anybody, such a packet.
    fn may_be(&self, from: IpAddr, to: Option<IpAddr>) -> bool {
        let is = |pair: &(IpAddr, IpAddr)| pair.0 == from && to.is_none_or(|to| pair.1 == to);
        self.pairs.len() >= MOST_OTHERS || self.pairs.iter().any(is)
    }
}

impl TextReader {
    /// Writes the pending packet to `out`, if it is an ICMP error about TCP, or may be; gives its length on the wire. Of all other packets it
    /// notes between whom they are.
    pub(super) fn error<S: Sink>(&mut self, out: &mut Vec<u8>, sink: &mut S) -> Option<u32> {
        let pending = &self.pending;
        let line = Line::read(&pending.text);
        let Some(line) = line else {
            self.others.see(&pending.text, &self.names);
            return None;
        };
        let by = self.names.host(line.by, line.v6, sink)?;
        let to = self.names.host(line.to, line.v6, sink)?;
        if let Some((bytes, length)) = pending.dump.icmp(by, to) {
            out.clear();
            out.extend_from_slice(bytes);
            return Some(length);
        }
        let quoted = Quoted::read(&pending.quoted);
        if quoted.is_other {
            return None;
        }
        let about = line.about.and_then(|host| self.names.host(host, line.v6, sink));
        let told = quoted.ends.and_then(|[from, at]| {
            let (from, at) = (self.names.end(from, line.v6, sink)?, self.names.end(at, line.v6, sink)?);
            (from.0 == to).then_some((from, at))
        });
        let is_it = |from: End, at: End| match told {
            Some(ends) => ends == (from, at),
            None => {
                let is_port = line.port.is_none_or(|port| is_port(port, at.1));
                from.0 == to && about.is_none_or(|host| host == at.0) && is_port
            }
        };
        let (mut found, any) = self.conversations.in_flight(is_it);
        if !line.is_tcp && told.is_none() && self.others.may_be(to, about) {
            found = None;
        }
        // What may be another protocol's is not counted as TCP's.
        if found.is_none() && !any && !line.is_tcp && told.is_none() {
            return None;
        }
        let about = found.map(|(_, at, _)| at.0).or(told.map(|(_, at)| at.0)).or(about)?;
        let one_family = by.is_ipv4() == to.is_ipv4() && about.is_ipv4() == to.is_ipv4();
        let segment = found.map(|(from, at, seq)| ([from.1, at.1], seq));
        let error = build::Error { by, to, kind: line.kind, mtu: line.mtu, about, size: quoted.size, segment };
        one_family.then(|| build::error(out, &error))
    }
}

/// Whether a line below an error may be a part of what it quotes.
pub(super) fn is_quoted(text: &str, line: &str) -> bool {
    let is_error = || text.contains(": ICMP ") && !text.contains(": ICMP echo ");
    (line.contains(" > ") || line.contains("proto ")) && is_error()
}

/// Whether two ports are the same, as they are printed.
fn is_port(printed: &str, port: u16) -> bool {
    names::number(printed).or_else(|| super::services::port(printed)).is_none_or(|printed| printed == port)
}
