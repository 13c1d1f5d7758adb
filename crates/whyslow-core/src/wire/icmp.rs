//! ICMP errors about TCP segments: the quoted segment and the error (RFC 792, RFC 1191, RFC 4443).
//!
//! An error quotes the packet from its IP header on, and at least eight bytes after it: TCP's ports
//! and sequence number. Nothing after these is read, and tunnels in the quoted packet are not
//! followed, so that every error has the same cost. Errors are not authenticated (RFC 5927): an
//! attacker may have sent them.

use super::icmp_error::{Icmp, V4};
use super::ip_header::{Addresses, Header};
use super::skip::Skip;
use super::view::View;
use whyslow_analysis::types::Fate;

/// TCP's protocol number.
const TCP: u8 = 6;
/// Maximum number of extension headers before a quoted segment.
const MAX_EXTENSIONS: usize = 8;

/// The ICMP error in a message of this protocol, or the reason why it contains no segment.
pub(super) fn read(outer: &Header<'_>, protocol: u8, view: View<'_>) -> Skip {
    let Some((kind, fate, quoted)) = error(protocol, view) else { return Skip::NotTcp(protocol) };
    let quote = if protocol == V4 { v4_quote(quoted) } else { v6_quote(quoted) };
    let Some(Quote { addresses, size, segment }) = quote else { return Skip::NotTcp(protocol) };
    let Ok(&[a, b, c, d, seq @ ..]) = segment.array::<8>(0) else { return Skip::IcmpCut };
    Skip::Icmp(Icmp {
        fate,
        kind,
        by: outer.addresses.src(),
        from: (addresses.src(), u16::from_be_bytes([a, b])),
        to: (addresses.dst(), u16::from_be_bytes([c, d])),
        seq: u32::from_be_bytes(seq),
        size: Some(size).filter(|&size| size > 0),
    })
}

/// An error's type and code, its meaning, and the quoted packet.
fn error(protocol: u8, view: View<'_>) -> Option<((u8, u8), Fate, View<'_>)> {
    let &[kind, code, _, _, a, b, c, d] = view.array(0).ok()?;
    let fate = if protocol == V4 { v4_fate(kind, code, [c, d])? } else { v6_fate(kind, code, [a, b, c, d])? };
    Some(((kind, code), fate, view.skip(8).ok()?))
}

/// RFC 792; RFC 1122 section 3.2.2.1 and RFC 1812 section 5.2.7.1 for the newer codes.
fn v4_fate(kind: u8, code: u8, mtu: [u8; 2]) -> Option<Fate> {
    Some(match (kind, code) {
        // Routers older than RFC 1191 do not report the MTU.
        (3, 4) => Fate::TooBig(Some(u16::from_be_bytes(mtu).into()).filter(|mtu| *mtu > 0)),
        (3, 0 | 5 | 6 | 11) => Fate::NetworkUnreachable,
        (3, 1 | 7 | 8 | 12) => Fate::HostUnreachable,
        (3, 2) => Fate::ProtocolUnreachable,
        (3, 3) => Fate::PortUnreachable,
        (3, 9 | 10 | 13..=15) => Fate::Prohibited,
        (11, 0) => Fate::TimeExceeded,
        _ => return None,
    })
}

/// RFC 4443 section 3.
fn v6_fate(kind: u8, code: u8, mtu: [u8; 4]) -> Option<Fate> {
    Some(match (kind, code) {
        (2, _) => Fate::TooBig(Some(u32::from_be_bytes(mtu)).filter(|mtu| *mtu > 0)),
        (1, 0) => Fate::NetworkUnreachable,
        (1, 2 | 3) => Fate::HostUnreachable,
        (1, 4) => Fate::PortUnreachable,
        (1, 1 | 5 | 6) => Fate::Prohibited,
        (3, 0) => Fate::TimeExceeded,
        // Unrecognised next header.
        (4, 1) => Fate::ProtocolUnreachable,
        _ => return None,
    })
}

/// The quoted packet.
struct Quote<'a> {
    addresses: Addresses<'a>,
    /// Its length with the IP header, 0 if unknown.
    size: u32,
    segment: View<'a>,
}

fn v4_quote(view: View<'_>) -> Option<Quote<'_>> {
    let fixed: &[u8; 20] = view.array(0).ok()?;
    let is_first = u16::from_be_bytes([fixed[6], fixed[7]]) & 0x1fff == 0;
    let header_len = usize::from(fixed[0] & 0x0f) * 4;
    if fixed[0] >> 4 != 4 || header_len < 20 || fixed[9] != TCP || !is_first {
        return None;
    }
    Some(Quote {
        addresses: Addresses::V4(view.array(12).ok()?),
        size: u16::from_be_bytes([fixed[2], fixed[3]]).into(),
        segment: view.skip(header_len).unwrap_or_default(),
    })
}

fn v6_quote(view: View<'_>) -> Option<Quote<'_>> {
    let fixed: &[u8; 40] = view.array(0).ok()?;
    if fixed[0] >> 4 != 6 {
        return None;
    }
    let length = u16::from_be_bytes([fixed[4], fixed[5]]);
    let (mut next, mut rest) = (fixed[6], view.skip(40).ok()?);
    for _ in 0..MAX_EXTENSIONS {
        if next == TCP {
            break;
        }
        let (after, length) = match next {
            // The same extension headers as in `ip::v6`.
            0 | 43 | 60 | 135 | 139 | 140 => {
                let &[after, units] = rest.array(0).ok()?;
                (after, usize::from(units) * 8 + 8)
            }
            44 => {
                let &[after, _, high, low] = rest.array(0).ok()?;
                let is_first = u16::from_be_bytes([high, low]) >> 3 == 0;
                if !is_first {
                    return None;
                }
                (after, 8)
            }
            _ => return None,
        };
        (next, rest) = (after, rest.skip(length).ok()?);
    }
    (next == TCP).then_some(Quote {
        addresses: Addresses::V6(view.array(8).ok()?),
        size: if length == 0 { 0 } else { u32::from(length) + 40 },
        segment: rest,
    })
}

#[cfg(test)]
mod tests;
