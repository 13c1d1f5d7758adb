//! Parses the hexadecimal lines of `-x`, `-xx`, `-X` and `-XX` to the packet's bytes.

use std::net::IpAddr;

/// Maximum bytes kept of one packet.
const MAX: usize = 256 * 1024;

/// The bytes dumped after a packet's line.
#[derive(Debug, Default)]
pub(super) struct HexDump {
    bytes: Vec<u8>,
    broken: bool,
}

impl HexDump {
    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.broken = false;
    }

    /// Takes `0x0010: 7f00 0001 …` with or without its characters; returns `false` for other lines.
    pub(super) fn take(&mut self, line: &str) -> bool {
        let Some((offset, rest)) = line.trim_start().strip_prefix("0x").and_then(|line| line.split_once(':')) else {
            return false;
        };
        let Some(offset) = Some(offset).filter(|offset| (3..=8).contains(&offset.len())).and_then(digits) else {
            return false;
        };
        if offset as usize != self.bytes.len() {
            // A dump inside the dump (of an unknown field, for example), or a missing line.
            self.broken = true;
        }
        if self.broken || self.bytes.len() >= MAX {
            return true;
        }
        let mut rest = rest.trim_start();
        for _ in 0..8 {
            let group = rest.split(' ').next().unwrap_or("");
            let Some(value) = Some(group).filter(|group| matches!(group.len(), 2 | 4)).and_then(digits) else { break };
            match group.len() {
                2 => self.bytes.push(value as u8),
                _ => self.bytes.extend((value as u16).to_be_bytes()),
            }
            rest = rest.get(group.len()..).unwrap_or("");
            // Two spaces separate the bytes from their characters.
            match rest.strip_prefix(' ') {
                Some(after) if !after.starts_with(' ') => rest = after,
                _ => break,
            }
        }
        true
    }

    /// The packet from its IP header on, after any link layer, if it has a TCP segment with the
    /// `window` and ports of the line (a port that was printed as a name matches any).
    pub(super) fn segment(
        &self,
        src_port: Option<u16>,
        dst_port: Option<u16>,
        window: u16,
    ) -> Option<DumpedSegment<'_>> {
        (0..64.min(self.bytes.len())).find_map(|at| {
            let found = DumpedSegment::at(self.bytes.get(at..)?)?;
            let ports = src_port.is_none_or(|port| port == found.src_port)
                && dst_port.is_none_or(|port| port == found.dst_port);
            (ports && found.window == window).then_some(found)
        })
    }

    /// The ICMP message from its IP header on, after any link layer, if it is between these ends;
    /// and its length on the wire.
    pub(super) fn icmp(&self, src: IpAddr, dst: IpAddr) -> Option<(&[u8], u32)> {
        (0..64.min(self.bytes.len())).find_map(|at| {
            let bytes = self.bytes.get(at..)?;
            let word = |at: usize| Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]));
            let (length, ends) = match (bytes.first()? >> 4, src, dst) {
                (4, IpAddr::V4(src), IpAddr::V4(dst)) if bytes.get(9) == Some(&1) => {
                    (u32::from(word(2)?), bytes.get(12..16)? == src.octets() && bytes.get(16..20)? == dst.octets())
                }
                (6, IpAddr::V6(src), IpAddr::V6(dst)) if bytes.get(6) == Some(&58) => {
                    (u32::from(word(4)?) + 40, bytes.get(8..24)? == src.octets() && bytes.get(24..40)? == dst.octets())
                }
                _ => return None,
            };
            let shown = bytes.get(..bytes.len().min(length as usize))?;
            ends.then_some((shown, length.max(shown.len() as u32)))
        })
    }
}

fn digits(text: &str) -> Option<u32> {
    if text.bytes().all(|b| b.is_ascii_hexdigit()) { u32::from_str_radix(text, 16).ok() } else { None }
}

/// A TCP segment found in a dump.
#[derive(Clone, Copy, Debug)]
pub(super) struct DumpedSegment<'a> {
    /// The dumped bytes from the IP header to the end of the datagram.
    pub(super) bytes: &'a [u8],
    /// The datagram's length on the wire, if its header has it.
    pub(super) original_len: Option<u32>,
    pub(super) src: std::net::IpAddr,
    pub(super) dst: std::net::IpAddr,
    pub(super) src_port: u16,
    pub(super) dst_port: u16,
    pub(super) seq: u32,
    pub(super) ack: u32,
    pub(super) flags: u16,
    window: u16,
    /// Length of the IP and TCP headers.
    pub(super) headers: u32,
}

impl<'a> DumpedSegment<'a> {
    fn at(bytes: &'a [u8]) -> Option<Self> {
        let word = |at: usize| Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]));
        let (ip, length, src, dst) = match bytes.first()? >> 4 {
            4 if bytes.get(9) == Some(&6) => {
                let ip = usize::from(bytes.first()? & 0xf) * 4;
                let [src, dst] = [bytes.get(12..16)?, bytes.get(16..20)?].map(|b| <[u8; 4]>::try_from(b).ok());
                (ip, u32::from(word(2)?), src?.into(), dst?.into())
            }
            6 if bytes.get(6) == Some(&6) => {
                let length = u32::from(word(4)?);
                let [src, dst] = [bytes.get(8..24)?, bytes.get(24..40)?].map(|b| <[u8; 16]>::try_from(b).ok());
                (40, if length == 0 { 0 } else { length + 40 }, src?.into(), dst?.into())
            }
            _ => return None,
        };
        let long = |at: usize| Some(u32::from(word(at)?) << 16 | u32::from(word(at + 2)?));
        let offset_and_flags = word(ip + 12)?;
        let headers = ip + usize::from(offset_and_flags >> 12) * 4;
        let plausible = ip >= 20 && headers >= ip + 20 && (length == 0 || length as usize >= headers);
        let end = if length == 0 { bytes.len() } else { bytes.len().min(length as usize) };
        plausible.then_some(Self {
            bytes: bytes.get(..end)?,
            original_len: (length != 0).then_some(length),
            src,
            dst,
            src_port: word(ip)?,
            dst_port: word(ip + 2)?,
            seq: long(ip + 4)?,
            ack: long(ip + 8)?,
            flags: offset_and_flags & 0x1ff,
            window: word(ip + 14)?,
            headers: headers as u32,
        })
    }
}
