//! The parsed text of a packet: its kind, and a TCP segment's fields.

use super::options;

/// A piece of the packet's text.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Span {
    pub(super) fn of<'a>(&self, text: &'a str) -> &'a str {
        text.get(self.start..self.end).unwrap_or("")
    }
}

/// The two ends, as printed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pair {
    pub(super) src: Span,
    pub(super) src_port: Span,
    pub(super) dst: Span,
    pub(super) dst_port: Span,
    pub(super) v6: bool,
}

impl Pair {
    /// Whether both ends show a port.
    pub(super) fn has_ports(&self, text: &str) -> bool {
        !self.src_port.of(text).is_empty() && !self.dst_port.of(text).is_empty()
    }
}

/// The IP header as `-v` prints it; 0 or `None` without it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct IpLine {
    pub(super) tos: u8,
    pub(super) ttl: u8,
    pub(super) id: u16,
    pub(super) dont_fragment: bool,
    pub(super) more_fragments: bool,
    /// IPv4: the total length. IPv6: the payload length.
    pub(super) length: Option<u32>,
}

/// A TCP segment with the printed fields.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TcpLine {
    pub(super) pair: Pair,
    pub(super) ip: IpLine,
    pub(super) flags: u16,
    /// Its numbers are not relative to those of another packet.
    pub(super) as_printed: bool,
    pub(super) seq: Option<u32>,
    pub(super) seq_end: Option<u32>,
    pub(super) ack: Option<u32>,
    pub(super) window: Option<u16>,
    pub(super) urgent: u16,
    pub(super) options: Span,
    pub(super) length: Option<u32>,
    /// The checksum on the wire, and whether tcpdump found it correct.
    pub(super) checksum: Option<(u16, bool)>,
    /// The text after the length: the application protocol.
    pub(super) tail: Span,
}

impl TcpLine {
    /// Payload bytes, as printed or by the sequence numbers.
    pub(super) fn payload_len(&self) -> u32 {
        let range = || Some(self.seq_end?.wrapping_sub(self.seq?));
        self.length.or_else(range).unwrap_or(0)
    }

    /// Number of irregularities in a line that was joined from two: invalid options, or an extra
    /// word before the addresses.
    pub(super) fn irregularities(&self, text: &str) -> u32 {
        let before = text.get(..self.pair.src.start).unwrap_or("").trim_end();
        let last = before.rsplit(' ').next().unwrap_or("");
        let usual = matches!(last, "" | "IP" | "IP6") || last.ends_with([')', ':', ',', ']']);
        options::irregularities(self.options.of(text)) + u32::from(!usual)
    }

    /// The line is incomplete; it is usable if only the options and the length are missing.
    pub(super) fn partial(&self) -> Class {
        Class::Partial(self.window.is_some().then_some(*self))
    }
}

/// The kind of a packet's text.
#[derive(Clone, Copy, Debug)]
pub(super) enum Class {
    /// A TCP segment.
    Tcp(TcpLine),
    /// The text is incomplete; with a segment if only its end is missing.
    Partial(Option<TcpLine>),
    /// TCP as `-q` prints it, without sequence numbers.
    Quiet,
    /// TCP whose header tcpdump reported as truncated or invalid.
    Cut,
    /// A TCP segment whose summary has neither ports nor numbers.
    Unplaced,
    /// Like a TCP segment, but unreadable.
    Bad,
    /// Another protocol over IP; its number, or 253 if unknown.
    Ip(u8),
    /// Not IP; the EtherType, or 0xffff if unknown.
    NotIp(u16),
}
