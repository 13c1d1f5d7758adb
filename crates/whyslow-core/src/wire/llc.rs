//! LLC and SNAP (IEEE 802.2, RFC 1042): the headers before an IP packet in 802.3, 802.11, FDDI,
//! Token Ring and ATM.

use super::context::{DecodeContext, Decoded, Inside};
use super::skip::Skip;
use super::view::View;
use super::{ethertype, ip};

/// Decodes a frame that begins with its LLC header.
pub(super) fn decode(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    let &[destination, source, control] = view.array(0)?;
    match (destination, source, control) {
        (0xaa | 0xab, 0xaa | 0xab, 0x03) => snap(context, view.skip(3)?),
        (0x06, 0x06, 0x03) => ip::decode(context, view.skip(3)?),
        // RFC 2684: the network layer protocol identifier for IP.
        (0xfe, 0xfe, 0x03) if view.u8(3)? == 0xcc => ip::decode(context, view.skip(4)?),
        _ => Err(Skip::NotIp(u16::from(destination))),
    }
}

/// Decodes from the organisation code of a SNAP header on.
pub(super) fn snap(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    let &[a, b, c, high, low] = view.array(0)?;
    let kind = u16::from_be_bytes([high, low]);
    let inside = view.skip(5)?;
    match ([a, b, c], kind) {
        ([0, 0, 0] | [0, 0, 0xf8], _) => ethertype::decode(context, kind, inside),
        // RFC 2684 and RFC 2427: a bridged Ethernet frame, with or without its checksum; on ATM it
        // is padded.
        ([0, 0x80, 0xc2], 0x0001 | 0x0007) => {
            let pad = if inside.starts_with(&[0, 0]) { 2 } else { 0 };
            context.deeper()?.decode(Inside::Ethernet, inside.skip(pad)?)
        }
        _ => Err(Skip::NotIp(0xaa)),
    }
}
