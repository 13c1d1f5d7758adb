//! Packets in packets: IP in IP, GRE and its payloads, and tunnels over UDP. The tunnels over UDP
//! are recognised only by their registered ports.

use super::context::{DecodeContext, Decoded, Inside};
use super::icmp;
use super::icmp_error::{V4, V6};
use super::ip_header::Header;
use super::quic::datagram;
use super::skip::Skip;
use super::view::View;

/// Decodes the payload of an IP packet that is not TCP.
pub(super) fn decode<'a>(context: DecodeContext, outer: &Header<'_>, protocol: u8, view: View<'a>) -> Decoded<'a> {
    let context = DecodeContext {
        tunnels: context.tunnels.saturating_add(1),
        fragment: context.fragment || outer.fragment,
        ..context
    };
    match protocol {
        // IPv4, IPv6, and KA9Q's protocol number for IPv4.
        4 | 41 | 94 => context.decode(Inside::Ip, view),
        17 => udp(context, outer, view),
        47 => gre(context, view),
        // EtherIP (RFC 3378).
        97 => context.decode(Inside::Ethernet, view.skip(2)?),
        // RFC 4023.
        137 => context.decode(Inside::Mpls, view),
        V4 | V6 => Err(icmp::read(outer, protocol, view)),
        other => Err(Skip::NotTcp(other)),
    }
}

/// Decodes a UDP datagram if a port is that of a tunnel.
fn udp<'a>(context: DecodeContext, outer: &Header<'_>, view: View<'a>) -> Decoded<'a> {
    let (from, to, length) = (view.u16(0)?, view.u16(2)?, usize::from(view.u16(4)?));
    let inside = if length < 8 { view.skip(8)? } else { view.limit(length).skip(8)? };
    match (from, to) {
        // Linux used 8472 before the number was assigned.
        (_, 4789 | 8472) => vxlan(context, inside),
        (_, 4790) => vxlan_gpe(context, inside),
        (_, 6081) => geneve(context, inside),
        (_, 2152) => gtp_u(context, inside),
        (_, 4754) => gre(context, inside),
        (_, 6635) => context.decode(Inside::Mpls, inside),
        (_, 4341) => context.decode(Inside::Ip, inside.skip(8)?),
        (1701, _) | (_, 1701) => l2tp(context, inside),
        (3544, _) | (_, 3544) => teredo(context, inside),
        _ => Err(datagram(context, outer, (from, to), inside)),
    }
}

/// A datagram on a tunnel's port that is not a valid packet of that tunnel counts as plain UDP.
const NOT_A_TUNNEL: Skip = Skip::NotTcp(17);

/// RFC 7348.
fn vxlan(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    if view.u8(0)? & 0x08 == 0 {
        return Err(NOT_A_TUNNEL);
    }
    context.decode(Inside::Ethernet, view.skip(8)?)
}

/// VXLAN with a next-protocol field (draft-ietf-nvo3-vxlan-gpe).
fn vxlan_gpe(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    let &[flags, _, _, next] = view.array(0)?;
    if flags & 0x08 == 0 {
        return Err(NOT_A_TUNNEL);
    }
    next_protocol(context, if flags & 0x04 == 0 { 3 } else { next }, view.skip(8)?)
}

/// A network service header (RFC 8300).
pub(super) fn nsh(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    let &[_, words, _, next] = view.array(0)?;
    let length = usize::from(words & 0x3f) * 4;
    if length < 8 {
        return Err(Skip::Malformed("a network service header shorter than its fields"));
    }
    next_protocol(context, next, view.skip(length)?)
}

/// The protocol numbers of VXLAN-GPE and NSH.
fn next_protocol(context: DecodeContext, next: u8, view: View<'_>) -> Decoded<'_> {
    match next {
        1 | 2 => context.decode(Inside::Ip, view),
        3 => context.deeper()?.decode(Inside::Ethernet, view),
        4 => nsh(context.deeper()?, view),
        5 => context.decode(Inside::Mpls, view),
        other => Err(Skip::NotIp(u16::from(other))),
    }
}

/// RFC 8926.
fn geneve(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    let &[first, _, high, low] = view.array(0)?;
    if first >> 6 != 0 {
        return Err(NOT_A_TUNNEL);
    }
    let inside = view.skip(usize::from(first & 0x3f) * 4 + 8)?;
    context.decode(Inside::EtherType(u16::from_be_bytes([high, low])), inside)
}

/// User packets of mobile networks (3GPP TS 29.281).
fn gtp_u(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    let &[flags, kind] = view.array(0)?;
    // Version 1, protocol type GTP, message type G-PDU.
    if flags & 0xf0 != 0x30 || kind != 0xff {
        return Err(NOT_A_TUNNEL);
    }
    let mut inside = view.skip(8)?;
    if flags & 0x07 != 0 {
        let mut extension = inside.u8(3)?;
        inside = inside.skip(4)?;
        while flags & 0x04 != 0 && extension != 0 {
            let length = usize::from(inside.u8(0)?) * 4;
            if length == 0 {
                return Err(Skip::Malformed("an empty GTP extension header"));
            }
            extension = inside.u8(length - 1)?;
            inside = inside.skip(length)?;
        }
    }
    context.decode(Inside::Ip, inside)
}

/// Layer 2 tunnels, version 2 (RFC 2661): PPP.
fn l2tp(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    let flags = view.u16(0)?;
    if flags & 0x800f != 0x0002 {
        return Err(NOT_A_TUNNEL);
    }
    let mut length = 6;
    length += if flags & 0x4000 != 0 { 2 } else { 0 };
    length += if flags & 0x0800 != 0 { 4 } else { 0 };
    if flags & 0x0200 != 0 {
        length += 2 + usize::from(view.u16(length)?);
    }
    context.decode(Inside::Ppp, view.skip(length)?)
}

/// IPv6 over UDP through NAT (Teredo, RFC 4380), after an authentication and an origin indication.
fn teredo(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    let mut view = view;
    if view.starts_with(&[0, 1]) {
        let &[client, authentication] = view.array(2)?;
        view = view.skip(13 + usize::from(client) + usize::from(authentication))?;
    }
    if view.starts_with(&[0, 0]) {
        view = view.skip(8)?;
    }
    if view.u8(0)? >> 4 != 6 {
        return Err(NOT_A_TUNNEL);
    }
    context.decode(Inside::Ip, view)
}

/// PPP as a protocol in GRE (RFC 2637 section 4.1).
const PPP: u16 = 0x880b;

/// Generic routing encapsulation (RFC 2784, RFC 2890), and its PPTP form (RFC 2637), which some
/// clouds use for IP.
fn gre(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    let (flags, protocol) = (view.u16(0)?, view.u16(2)?);
    let has = |bit: u16| flags & bit != 0;
    let mut length = 4;
    if flags & 0x0007 == 1 {
        length += 4 + if has(0x1000) { 4 } else { 0 } + if has(0x0080) { 4 } else { 0 };
        if !has(0x1000) {
            return Err(Skip::NoPacket("a PPTP acknowledgement"));
        }
        let inside = if protocol == PPP { Inside::Ppp } else { Inside::EtherType(protocol) };
        return context.decode(inside, view.skip(length)?);
    }
    // Checksum (also present for a route), key, sequence number.
    length += if flags & 0xc000 != 0 { 4 } else { 0 };
    length += if has(0x2000) { 4 } else { 0 };
    length += if has(0x1000) { 4 } else { 0 };
    let mut inside = view.skip(length)?;
    // A source route (RFC 1701): entries up to an empty one.
    while has(0x4000) {
        let &[family_high, family_low, _, entry] = inside.array(0)?;
        inside = inside.skip(4 + usize::from(entry))?;
        if (family_high, family_low, entry) == (0, 0, 0) {
            break;
        }
    }
    match protocol {
        // ERSPAN type I has no header and no sequence number; type II has both.
        0x88be => context.decode(Inside::Ethernet, if has(0x1000) { inside.skip(8)? } else { inside }),
        0x22eb => erspan_3(context, inside),
        // WCCP: some versions have four bytes before the packet.
        0x883e if inside.u8(0)? >> 4 != 4 => context.decode(Inside::Ip, inside.skip(4)?),
        0x883e => context.decode(Inside::Ip, inside),
        _ => context.decode(Inside::EtherType(protocol), inside),
    }
}

/// A mirrored frame with a timestamp; one of the forms contains a packet instead.
fn erspan_3(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    let &[kind, options] = view.array(10)?;
    let inside = view.skip(if options & 1 == 0 { 12 } else { 20 })?;
    match (kind >> 2) & 0x1f {
        0 => context.decode(Inside::Ethernet, inside),
        2 => context.decode(Inside::Ip, inside),
        _ => Err(Skip::NotIp(0x22eb)),
    }
}

#[cfg(test)]
mod tests;
