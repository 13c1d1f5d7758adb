//! The TCP header and its options (RFC 9293 section 3.1).

use super::context::{DecodeContext, Decoded};
use super::ip_header::Header;
use super::segment::{Flags, Options, Segment};
use super::view::View;
use super::{Skip, checksum};
use whyslow_units::SeqNumber;

/// The header without options.
const FIXED: usize = 20;

/// Decodes a segment. A truncated header is sufficient if it contains the window field.
#[inline(always)]
pub(super) fn decode<'a>(context: DecodeContext, ip: Header<'a>, view: View<'a>) -> Decoded<'a> {
    let data = view.data();
    let Some(fixed) = data.first_chunk::<16>() else {
        return Err(if ip.fragment && view.wire() < FIXED { Skip::Fragment } else { view.short_of(FIXED) });
    };
    let header_len = usize::from(fixed[12] >> 4) * 4;
    if header_len < FIXED {
        return Err(Skip::Malformed("a TCP header of less than 20 bytes"));
    }
    if header_len > view.wire() {
        return Err(if ip.fragment { Skip::Fragment } else { Skip::Malformed("a TCP header longer than its segment") });
    }
    let payload_len = view.wire() - header_len;
    let number = |at: usize| u32::from_be_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
    let whole = context.verify || payload_len == 0;
    let list = data.get(FIXED..header_len);
    let mut options = Options::default();
    read_options(&mut options, list.unwrap_or_else(|| data.get(FIXED..).unwrap_or(&[])));
    options.malformed |= list.is_none();
    Ok(Segment {
        src: ip.addresses.src(),
        dst: ip.addresses.dst(),
        src_port: u16::from_be_bytes([fixed[0], fixed[1]]),
        dst_port: u16::from_be_bytes([fixed[2], fixed[3]]),
        seq: SeqNumber(number(4)),
        ack: SeqNumber(number(8)),
        flags: Flags(u16::from_be_bytes([fixed[12] & 0x01, fixed[13]])),
        window: u16::from_be_bytes([fixed[14], fixed[15]]),
        payload_len: payload_len as u32,
        payload: data.get(header_len..).unwrap_or(&[]),
        options,
        ip_id: ip.id,
        ttl: ip.ttl,
        ecn: ip.ecn,
        checksum: match data.get(16..18) {
            Some(&[high, low]) => checksum::of(&ip, view, [high, low], whole),
            _ => Default::default(),
        },
        fragment: ip.fragment,
        tunnels: context.tunnels,
    })
}

/// A subtype of Multipath TCP (RFC 8684 section 3).
const MP_JOIN: u8 = 1;

/// Reads a list of options. Stops at an invalid length and keeps the options before it.
fn read_options(options: &mut Options, list: &[u8]) {
    let mut rest = list;
    loop {
        rest = match rest {
            [] | [0, ..] => return,
            [1, rest @ ..] => rest,
            // The usual options of a SYN.
            [2, 4, high, low, rest @ ..] => {
                options.mss = Some(u16::from_be_bytes([*high, *low]));
                rest
            }
            [3, 3, shift, rest @ ..] => {
                options.window_scale = Some(*shift);
                rest
            }
            [4, 2, rest @ ..] => {
                options.sack_permitted = true;
                rest
            }
            [8, 10, a, b, c, d, e, f, g, h, rest @ ..] => {
                options.timestamps = Some((u32::from_be_bytes([*a, *b, *c, *d]), u32::from_be_bytes([*e, *f, *g, *h])));
                rest
            }
            [kind, length, ..] if *length >= 2 && usize::from(*length) <= rest.len() => {
                let (option, after) = rest.split_at(usize::from(*length));
                options.malformed |= !read_option(options, *kind, &option[2..]);
                after
            }
            _ => {
                options.malformed = true;
                return;
            }
        };
    }
}

/// Reads an option that the caller has not handled. Returns `false` if its length is invalid.
fn read_option(options: &mut Options, kind: u8, value: &[u8]) -> bool {
    match (kind, value) {
        (5, _) => {
            let (blocks, rest) = value.as_chunks::<8>();
            for &[a, b, c, d, e, f, g, h] in blocks {
                options
                    .sack
                    .push(SeqNumber(u32::from_be_bytes([a, b, c, d])), SeqNumber(u32::from_be_bytes([e, f, g, h])));
            }
            return rest.is_empty() && !blocks.is_empty();
        }
        (2 | 3 | 4 | 8, _) => return false,
        (30, _) => {
            options.mptcp = true;
            options.mptcp_join |= value.first().is_some_and(|subtype| subtype >> 4 == MP_JOIN);
        }
        // Fast Open, and its experimental option number (RFC 7413 section 4.1.1, RFC 6994).
        (34, _) | (253 | 254, [0xf9, 0x89, ..]) => options.fast_open = true,
        _ => {}
    }
    true
}

#[cfg(test)]
mod tests;
