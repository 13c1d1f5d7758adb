//! ICMP errors in a text: finds the connection that each one is about.
//!
//! A line without a connection is about the only one between its hosts that has data in flight, if
//! the text has no other protocol between them. An ambiguous error is not assigned to any
//! connection.

use super::errors::{IcmpLine, QuotedPacket};
use super::relative::End;
use super::{TextReader, build, names};
use crate::capture::Sink;

impl TextReader {
    /// Writes the pending packet to `out`, if it is or may be an ICMP error about TCP; returns its
    /// length on the wire. For all other packets it records the hosts.
    pub(super) fn error<S: Sink>(&mut self, out: &mut Vec<u8>, sink: &mut S) -> Option<u32> {
        let pending = &self.pending;
        let line = IcmpLine::read(&pending.text);
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
        let quoted = QuotedPacket::read(&pending.quoted);
        if quoted.is_other {
            return None;
        }
        let about = line.about.and_then(|host| self.names.host(host, line.v6, sink));
        let known = quoted.ends.and_then(|[from, at]| {
            let (from, at) = (self.names.end(from, line.v6, sink)?, self.names.end(at, line.v6, sink)?);
            (from.0 == to).then_some((from, at))
        });
        let is_it = |from: End, at: End| match known {
            Some(ends) => ends == (from, at),
            None => {
                let is_port = line.port.is_none_or(|port| is_port(port, at.1));
                from.0 == to && about.is_none_or(|host| host == at.0) && is_port
            }
        };
        let (mut found, any) = self.conversations.in_flight(is_it);
        if !line.is_tcp && known.is_none() && self.others.may_be(to, about) {
            found = None;
        }
        // An error that may be about another protocol does not count as TCP's.
        if found.is_none() && !any && !line.is_tcp && known.is_none() {
            return None;
        }
        let about = found.map(|(_, at, _)| at.0).or(known.map(|(_, at)| at.0)).or(about)?;
        let one_family = by.is_ipv4() == to.is_ipv4() && about.is_ipv4() == to.is_ipv4();
        let segment = found.map(|(from, at, seq)| ([from.1, at.1], seq));
        let error = build::IcmpToWrite { by, to, kind: line.kind, mtu: line.mtu, about, size: quoted.size, segment };
        one_family.then(|| build::error(out, &error))
    }
}

/// Whether two printed ports are the same.
fn is_port(printed: &str, port: u16) -> bool {
    names::number(printed).or_else(|| super::services::port(printed)).is_none_or(|printed| printed == port)
}
