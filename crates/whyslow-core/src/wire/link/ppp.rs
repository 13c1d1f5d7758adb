//! PPP (RFC 1661, RFC 1662) and Cisco HDLC.

use super::ethernet;
use crate::wire::context::{DecodeContext, Decoded};
use crate::wire::view::View;
use crate::wire::{Skip, ethertype, ip};

/// Decodes a PPP packet, with or without the HDLC-like address and control bytes, and a protocol of
/// one or two bytes.
pub(in crate::wire) fn decode(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    let view = if view.starts_with(&[0xff, 0x03]) { view.skip(2)? } else { view };
    let first = view.u8(0)?;
    let (protocol, inside) =
        if first & 1 == 1 { (u16::from(first), view.skip(1)?) } else { (view.u16(0)?, view.skip(2)?) };
    match protocol {
        0x0021 | 0x0057 => ip::decode(context, inside),
        0x0281 | 0x0283 => ethertype::mpls(context, inside),
        // RFC 3518: flags, then the kind of the bridged network; 1 is Ethernet.
        0x0031 if inside.u8(1)? == 1 => ethernet::decode(context.deeper()?, inside.skip(2)?),
        _ => Err(Skip::NotIp(protocol)),
    }
}

/// Decodes a serial line with PPP or Cisco HDLC, which the first byte shows.
pub(super) fn hdlc(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    match view.u8(0)? {
        0x0f | 0x8f => cisco_hdlc(context, view),
        _ => decode(context, view),
    }
}

/// LINKTYPE_PPP_PPPD: the direction replaces the HDLC-like address.
pub(super) fn pppd(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    let header = if view.u8(1)? == 0x03 { 2 } else { 1 };
    decode(context, view.skip(header)?)
}

/// Cisco HDLC: address, control, EtherType (RFC 1547 section 4.3.1).
pub(super) fn cisco_hdlc(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    ethertype::decode(context, view.u16(2)?, view.skip(4)?)
}
