//! Rebuilds a packet from the fields of a row: Ethernet, IP and TCP headers equivalent to the
//! captured ones, and the stored payload bytes with filling between them.

use super::headers::{PacketForm, TcpHeaders, TcpOptions};
use std::net::IpAddr;

/// Largest payload of a packet in a row.
pub const MAX_PAYLOAD: u32 = 256 << 10;
/// Largest size of a packet that is stored unchanged.
pub const MAX_VERBATIM: usize = 256 << 10;
/// Largest size of the headers: Ethernet, 15 IPv4 headers around one of IPv6, TCP with all options.
const MAX_HEADERS: usize = 14 + 15 * 20 + 40 + 60;

/// Builds packets.
#[derive(Debug)]
pub struct PacketBuilder {
    /// Headers, up to [`MAX_HEADERS`] bytes, then the payload, which is zero between two packets.
    bytes: Vec<u8>,
    header: Vec<u8>,
    options: Vec<u8>,
}

impl Default for PacketBuilder {
    fn default() -> Self {
        Self { bytes: vec![0; MAX_HEADERS], header: Vec::new(), options: Vec::new() }
    }
}

/// Stored payload bytes, with their offset.
pub type Piece<'a> = (usize, &'a [u8]);

/// The stored parts of a payload; other bytes are filled.
#[derive(Clone, Copy, Debug)]
pub struct Payload<'a> {
    /// The stored parts.
    pub pieces: &'a [Piece<'a>],
    /// Whether to fill with spaces, because the payload is text.
    pub is_text: bool,
}

impl PacketBuilder {
    /// Calls `give` with the packet's captured bytes and its length on the wire. Returns whether
    /// the fields are valid.
    pub fn build<T>(
        &mut self,
        headers: &TcpHeaders,
        payload: Payload<'_>,
        give: impl FnOnce(&[u8], u32) -> T,
    ) -> Option<T> {
        let captured = usize::try_from(headers.captured).ok()?;
        if headers.captured > headers.payload_len.min(MAX_PAYLOAD)
            || !write_options(&mut self.options, &headers.options)
        {
            return None;
        }
        let end = MAX_HEADERS + captured;
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        let body = self.bytes.get_mut(MAX_HEADERS..end)?;
        if payload.is_text {
            body.fill(b' ');
        }
        for &(at, piece) in payload.pieces {
            body.get_mut(at..)?.get_mut(..piece.len())?.copy_from_slice(piece);
        }
        let summed = if payload.is_text { sum(body) } else { sum_of_pieces(payload.pieces) };
        let length = self.write_headers(headers, summed)?;
        let start = MAX_HEADERS.checked_sub(length)?;
        self.bytes.get_mut(start..MAX_HEADERS)?.copy_from_slice(&self.header);
        let original_len = u32::try_from(length).ok()?.checked_add(headers.payload_len)?;
        let given = give(self.bytes.get(start..end)?, original_len);
        self.clear(captured, payload);
        Some(given)
    }

    fn clear(&mut self, captured: usize, payload: Payload<'_>) {
        let Some(body) = self.bytes.get_mut(MAX_HEADERS..) else { return };
        if payload.is_text {
            body.iter_mut().take(captured).for_each(|byte| *byte = 0);
        }
        for &(at, piece) in payload.pieces {
            body.iter_mut().skip(at).take(piece.len()).for_each(|byte| *byte = 0);
        }
    }

    /// Writes all headers to `self.header`; returns their length.
    fn write_headers(&mut self, headers: &TcpHeaders, payload_sum: u64) -> Option<usize> {
        let TcpHeaders { ends: [(src, src_port), (_, dst_port)], form, .. } = *headers;
        let tcp_len = 20 + self.options.len();
        let segment_len = headers.payload_len.checked_add(tcp_len as u32)?;
        let out = &mut self.header;
        out.clear();
        out.extend([0; 12]);
        let inner_len = segment_len.checked_add(if src.is_ipv4() { 20 } else { 40 })?;
        let outer = form.tunnels > 0 || src.is_ipv4();
        out.extend(if outer { [0x08, 0x00] } else { [0x86, 0xdd] });
        for level in (1..=u32::from(form.tunnels)).rev() {
            let protocol = if level > 1 || src.is_ipv4() { 4 } else { 41 };
            let length = inner_len.checked_add(20 * level)?;
            out.extend([0x45, 0]);
            out.extend(u16::try_from(length).unwrap_or(0).to_be_bytes());
            out.extend([0, 0, 0, 0, 64, protocol, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2]);
        }
        let pseudo = write_ip(out, headers, segment_len)?;
        let start = out.len();
        out.extend(src_port.to_be_bytes());
        out.extend(dst_port.to_be_bytes());
        out.extend(headers.seq.to_be_bytes());
        out.extend(headers.ack.to_be_bytes());
        let words = u16::try_from(tcp_len / 4).ok()?;
        out.extend((words << 12 | headers.flags & 0x1ff).to_be_bytes());
        out.extend(headers.window.to_be_bytes());
        out.extend([0; 4]);
        out.extend(&self.options);
        // Headers have an even length, so the payload begins at a word boundary.
        let total = add(add(pseudo, sum(out.get(start..)?)), payload_sum);
        out.get_mut(start + 16..start + 18)?.copy_from_slice(&tcp_checksum(form, pseudo, total));
        Some(out.len())
    }
}

/// Writes the IP header; returns the pseudo-header's sum.
fn write_ip(out: &mut Vec<u8>, headers: &TcpHeaders, segment_len: u32) -> Option<u64> {
    let form = headers.form;
    let length = |bytes: u32| if form.lengthless { 0 } else { u16::try_from(bytes).unwrap_or(0) };
    let addresses = match headers.ends.map(|(address, _)| address) {
        [IpAddr::V4(src), IpAddr::V4(dst)] => {
            let start = out.len();
            out.extend([0x45, headers.ecn & 3]);
            out.extend(length(segment_len.checked_add(20)?).to_be_bytes());
            out.extend(headers.ip_id.to_be_bytes());
            out.extend([if form.fragment { 0x20 } else { 0 }, 0, headers.ttl, 6, 0, 0]);
            out.extend(src.octets());
            out.extend(dst.octets());
            if form.damaged {
                // A checksum of 0 would count as one left to the network card.
                let right = !fold(sum(out.get(start..)?));
                let wrong = if right ^ 0x5555 == 0 { 0x1111 } else { right ^ 0x5555 };
                out.get_mut(start + 10..start + 12)?.copy_from_slice(&wrong.to_ne_bytes());
            }
            add(sum(&src.octets()), sum(&dst.octets()))
        }
        [IpAddr::V6(src), IpAddr::V6(dst)] if !form.fragment && !form.damaged => {
            out.extend([0x60 | headers.ecn >> 4, (headers.ecn & 3) << 4, 0, 0]);
            out.extend(length(segment_len).to_be_bytes());
            out.extend([6, headers.ttl]);
            out.extend(src.octets());
            out.extend(dst.octets());
            add(sum(&src.octets()), sum(&dst.octets()))
        }
        _ => return None,
    };
    Some(add(add(addresses, u64::from(6u16.to_be())), u64::from(segment_len.to_be())))
}

/// The TCP checksum's bytes; `total` is the sum of everything else.
fn tcp_checksum(form: PacketForm, pseudo: u64, total: u64) -> [u8; 2] {
    if form.partial {
        return fold(pseudo).to_ne_bytes();
    }
    let wanted = u64::from(u16::from_ne_bytes(form.off_by));
    let field = (wanted + 0xffff - total % 0xffff) % 0xffff;
    // 0 and 0xffff are equal in one's complement; in the field, 0 means that there is no checksum.
    (if field == 0 { 0xffff } else { field as u16 }).to_ne_bytes()
}

/// Writes the options, padded to words; returns whether they fit.
fn write_options(out: &mut Vec<u8>, options: &TcpOptions) -> bool {
    out.clear();
    if let Some(mss) = options.mss {
        out.extend([2, 4]);
        out.extend(mss.to_be_bytes());
    }
    if options.sack_permitted {
        out.extend([4, 2]);
    }
    if let Some(shift) = options.window_scale {
        out.extend([3, 3, shift]);
    }
    if options.fast_open {
        out.extend([34, 2]);
    }
    if options.mptcp {
        // The subtype is in the upper half: MP_JOIN, or a subtype that is not used here.
        out.extend([30, 3, if options.mptcp_join { 0x10 } else { 0xf0 }]);
    }
    let blocks = options.sack_blocks();
    if !blocks.is_empty() {
        out.extend([1, 1, 5, 2 + 8 * options.sack.1]);
        for (left, right) in blocks {
            out.extend(left.to_be_bytes());
            out.extend(right.to_be_bytes());
        }
    }
    if let Some((value, echo)) = options.timestamps {
        // In the order that nearly all senders use.
        while out.len() % 4 != 2 {
            out.push(1);
        }
        out.extend([8, 10]);
        out.extend(value.to_be_bytes());
        out.extend(echo.to_be_bytes());
    }
    while !out.len().is_multiple_of(4) {
        out.push(1);
    }
    out.len() <= 40
}

/// The sum of `bytes` as 16-bit words in memory order (RFC 1071), padded with a zero.
fn sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<2>();
    let total = words.iter().map(|word| u64::from(u16::from_ne_bytes(*word))).sum::<u64>();
    total + rest.first().map_or(0, |&byte| u64::from(u16::from_ne_bytes([byte, 0])))
}

/// The same for a payload that is zero between its pieces.
fn sum_of_pieces(pieces: &[Piece<'_>]) -> u64 {
    let byte =
        |at: usize, byte: u8| u64::from(u16::from_ne_bytes(if at.is_multiple_of(2) { [byte, 0] } else { [0, byte] }));
    let piece = |&(at, bytes): &Piece<'_>| -> u64 {
        match bytes.split_first() {
            Some((&first, rest)) if !at.is_multiple_of(2) => byte(at, first) + sum(rest),
            _ => sum(bytes),
        }
    };
    pieces.iter().map(piece).sum()
}

fn add(a: u64, b: u64) -> u64 {
    a.wrapping_add(b)
}

/// Folds a sum to 16 bits, with the carries.
fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    sum as u16
}
