//! IPv4 (RFC 791), IPv6 and its extension headers (RFC 8200).

use super::context::{DecodeContext, Decoded};
use super::ip_header::{Addresses, Header};
use super::view::View;
use super::{Skip, checksum, tcp, tunnel};

/// Decodes a packet of either version, which the first four bits show.
pub(super) fn decode(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    match view.u8(0)? >> 4 {
        4 => v4(context.deeper()?, view),
        6 => v6(context.deeper()?, view),
        _ => Err(Skip::Malformed("an IP version other than 4 and 6")),
    }
}

fn v4(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    let fixed: &[u8; 20] = view.array(0)?;
    let header_len = usize::from(fixed[0] & 0x0f) * 4;
    let total_len = u16::from_be_bytes([fixed[2], fixed[3]]);
    if header_len < 20 {
        return Err(Skip::Malformed("an IPv4 header of less than 20 bytes"));
    }
    if total_len != 0 && usize::from(total_len) < header_len {
        return Err(Skip::Malformed("an IPv4 packet shorter than its header"));
    }
    let fragment = u16::from_be_bytes([fixed[6], fixed[7]]);
    if fragment & 0x1fff != 0 {
        return Err(Skip::Fragment);
    }
    let header = Header {
        addresses: Addresses::V4(view.array(12)?),
        id: Some(u16::from_be_bytes([fixed[4], fixed[5]])),
        ttl: fixed[8],
        ecn: fixed[1] & 0x03,
        fragment: fragment & 0x2000 != 0,
        // A source route option changes the destination in the pseudo-header.
        summable: total_len != 0 && usize::from(total_len) <= view.wire() && header_len == 20,
        damaged: view.data().get(..header_len).is_some_and(checksum::is_damaged),
    };
    let mut rest = within(context, view, usize::from(total_len)).skip(header_len)?;
    let mut protocol = fixed[9];
    while protocol == 51 {
        let (next, length) = authentication(rest)?;
        rest = rest.skip(length)?;
        protocol = next;
    }
    transport(context, header, protocol, rest)
}

fn v6(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    let fixed: &[u8; 40] = view.array(0)?;
    let length = usize::from(u16::from_be_bytes([fixed[4], fixed[5]]));
    let mut rest = within(context, view.skip(40)?, length);
    let mut header = Header {
        addresses: Addresses::V6(view.array(8)?),
        id: None,
        ttl: fixed[7],
        ecn: (fixed[1] >> 4) & 0x03,
        fragment: false,
        summable: length != 0 && length + 40 <= view.wire(),
        damaged: false,
    };
    let mut next = fixed[6];
    loop {
        let (after, length) = match next {
            // Hop-by-hop and destination options, routing, mobility, HIP, shim6.
            0 | 43 | 60 | 135 | 139 | 140 => {
                let &[after, units, _, left] = rest.array(0)?;
                let extension = usize::from(units) * 8 + 8;
                if next == 0 && length == 0 {
                    rest = rest.limit(jumbo_length(rest, extension).unwrap_or(usize::MAX));
                }
                header.summable &= next != 43 || left == 0;
                (after, extension)
            }
            44 => {
                let &[after, _, high, low] = rest.array(0)?;
                let fragment = u16::from_be_bytes([high, low]);
                if fragment >> 3 != 0 {
                    return Err(Skip::Fragment);
                }
                header.fragment |= fragment & 1 != 0;
                (after, 8)
            }
            51 => authentication(rest)?,
            _ => return transport(context, header, next, rest),
        };
        rest = rest.skip(length)?;
        next = after;
    }
}

/// The packet length in a jumbo payload option (RFC 2675) of a hop-by-hop header with `length`
/// bytes.
fn jumbo_length(view: View<'_>, length: usize) -> Option<usize> {
    let mut options = view.data().get(2..length)?;
    loop {
        options = match options {
            [0, rest @ ..] => rest,
            [0xc2, 4, a, b, c, d, ..] => return usize::try_from(u32::from_be_bytes([*a, *b, *c, *d])).ok(),
            [_, length, rest @ ..] => rest.get(usize::from(*length)..)?,
            _ => return None,
        };
    }
}

/// Removes the bytes after the packet. Segmentation offload leaves a length of 0, because the
/// packet may be longer than the field allows. Ignores a length beyond the wire, unless the packet
/// is fragmented.
fn within<'a>(context: DecodeContext, view: View<'a>, length: usize) -> View<'a> {
    match length {
        0 => view,
        _ if length <= view.wire() => view.limit(length),
        _ if context.fragment => view.widen(length),
        _ => view,
    }
}

/// The protocol after an authentication header (RFC 4302), which does not encrypt the packet, and
/// the header's length.
fn authentication(view: View<'_>) -> Result<(u8, usize), Skip> {
    let &[next, words] = view.array(0)?;
    Ok((next, usize::from(words) * 4 + 8))
}

fn transport<'a>(context: DecodeContext, header: Header<'a>, protocol: u8, view: View<'a>) -> Decoded<'a> {
    match protocol {
        6 => tcp::decode(context, header, view),
        _ => tunnel::decode(context, &header, protocol, view),
    }
}

#[cfg(test)]
mod tests;
