//! Decodes by EtherType: IP, or a tag or label stack before it.

use super::context::{DecodeContext, Decoded, Inside};
use super::skip::Skip;
use super::view::View;
use super::{ip, tunnel};

/// Values below this are a length: an LLC header follows (IEEE 802.3 section 3.2.6).
pub(super) const SMALLEST: u16 = 0x0600;

/// The link type of an 802.11 frame without a driver's header (LINKTYPE_IEEE802_11).
const IEEE_802_11: u16 = 105;

/// Decodes a packet after its EtherType.
pub(super) fn decode<'a>(context: DecodeContext, kind: u16, view: View<'a>) -> Decoded<'a> {
    let (mut kind, mut view) = (kind, view);
    loop {
        let header = match kind {
            0x0800 | 0x86dd => return ip::decode(context, view),
            // 802.1Q, 802.1ad, and the older numbers for stacked tags.
            0x8100 | 0x88a8 | 0x9100 | 0x9200 | 0x9300 => 4,
            // 802.1BR E-TAG, Cisco VN-TAG.
            0x893f => 8,
            0x8926 => 6,
            0x8847 | 0x8848 => return mpls(context, view),
            0x8864 => return pppoe_session(context, view),
            0x880b => return context.decode(Inside::Ppp, view),
            // 802.1ah backbone service tag, then a complete Ethernet frame.
            0x88e7 => return context.deeper()?.decode(Inside::Ethernet, view.skip(4)?),
            0x6558 => return context.deeper()?.decode(Inside::Ethernet, view),
            0x894f => return tunnel::nsh(context, view),
            // An 802.11 frame, as Intel's Centrino driver records frames of other stations.
            0x2452 => return context.deeper()?.decode(Inside::Link(IEEE_802_11), view),
            _ => return Err(Skip::NotIp(kind)),
        };
        kind = view.u16(header - 2)?;
        view = view.skip(header)?;
        if kind < SMALLEST {
            // A length: these frames nest, unlike plain tags.
            return context.deeper()?.decode(Inside::Llc, view.limit(usize::from(kind)));
        }
    }
}

/// Decodes a label stack (RFC 3032). It does not name the next protocol: the first nibble shows IP,
/// or a pseudowire's control word (RFC 4385) before an Ethernet frame.
pub(super) fn mpls(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    let mut view = view;
    loop {
        let bottom = view.u8(2)? & 1 == 1;
        view = view.skip(4)?;
        if bottom {
            break;
        }
    }
    match view.u8(0)? >> 4 {
        4 | 6 => ip::decode(context, view),
        0 => context.deeper()?.decode(Inside::Ethernet, view.skip(4)?),
        _ => Err(Skip::NotIp(0x8847)),
    }
}

/// Decodes a PPPoE session packet (RFC 2516).
pub(super) fn pppoe_session(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    if view.u8(0)? != 0x11 {
        return Err(Skip::Malformed("a PPPoE version or type other than 1"));
    }
    if view.u8(1)? != 0 {
        return Err(Skip::NotIp(0x8863));
    }
    let length = usize::from(view.u16(4)?);
    let inside = view.skip(6)?;
    context.decode(Inside::Ppp, if length == 0 { inside } else { inside.limit(length) })
}
