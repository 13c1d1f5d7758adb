//! Link layers that are rare today and need only a few lines each.

use super::ethernet;
use crate::wire::context::{DecodeContext, Decoded};
use crate::wire::view::View;
use crate::wire::{Skip, ethertype, ip, llc};

/// LINKTYPE_SLIP: direction and the compressed header, 16 bytes in total.
pub(super) fn slip(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    ip::decode(context, view.skip(16)?)
}

/// LINKTYPE_FDDI: frame control, both addresses; only LLC frames contain packets.
pub(super) fn fddi(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    if view.u8(0)? & 0xf0 != 0x50 {
        return Err(Skip::NoPacket("an FDDI control frame"));
    }
    llc::decode(context, view.skip(13)?)
}

/// LINKTYPE_IEEE802_5: access and frame control, both addresses, and a source route if the first
/// bit of the source is set.
pub(super) fn token_ring(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    if view.u8(1)? & 0xc0 != 0x40 {
        return Err(Skip::NoPacket("a Token Ring control frame"));
    }
    let route = if view.u8(8)? & 0x80 == 0 { 0 } else { usize::from(view.u8(14)? & 0x1f) };
    llc::decode(context, view.skip(14 + route)?)
}

/// ARCNET: the protocol at offset `kind_at`, after the addresses (and in Linux's form an offset).
pub(super) fn arcnet(context: DecodeContext, view: View<'_>, kind_at: usize) -> Decoded<'_> {
    match view.u8(kind_at)? {
        // RFC 1051.
        240 => ip::decode(context, view.skip(kind_at + 1)?),
        // RFC 1201: a split flag and a sequence number; an even flag other than 0 marks a later
        // fragment.
        212 => match view.u8(kind_at + 1)? {
            // An exception frame repeats the header after four bytes of padding.
            0xff => ip::decode(context, view.skip(kind_at + 8)?),
            flag if flag != 0 && flag & 1 == 0 => Err(Skip::Fragment),
            flag => {
                let context = DecodeContext { fragment: context.fragment || flag != 0, ..context };
                ip::decode(context, view.skip(kind_at + 4)?)
            }
        },
        other => Err(Skip::NotIp(u16::from(other))),
    }
}

/// LLC over ATM (RFC 2684), or IP without any header if the first byte is that of IP.
pub(super) fn atm_llc(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    match view.u8(0)? {
        0x45..=0x4f | 0x60..=0x6f => ip::decode(context, view),
        _ => llc::decode(context, view),
    }
}

/// LINKTYPE_SUNATM: the kind of traffic, the virtual path and channel.
pub(super) fn sun_atm(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    match view.u8(0)? & 0x0f {
        1 => ethernet::decode(context, view.skip(6)?),
        2 => llc::decode(context, view.skip(4)?),
        _ => Err(Skip::NoPacket("ATM signalling")),
    }
}

/// Frame Relay (RFC 2427), or Cisco's form with an EtherType.
pub(super) fn frame_relay(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    let mut address = 0;
    while view.u8(address)? & 1 == 0 {
        address += 1;
        if address == 4 {
            return Err(Skip::Malformed("a Frame Relay address without an end"));
        }
    }
    let view = view.skip(address + 1)?;
    if view.u8(0)? != 0x03 {
        return ethertype::decode(context, view.u16(0)?, view.skip(2)?);
    }
    let view = if view.u8(1)? == 0 { view.skip(2)? } else { view.skip(1)? };
    match view.u8(0)? {
        0xcc | 0x8e => ip::decode(context, view.skip(1)?),
        0x80 => llc::snap(context, view.skip(1)?),
        other => Err(Skip::NotIp(u16::from(other))),
    }
}

/// LINKTYPE_IP_OVER_FC: both addresses (RFC 2625).
pub(super) fn ip_over_fibre_channel(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    llc::decode(context, view.skip(16)?)
}

/// LINKTYPE_APPLE_IP_OVER_IEEE1394: both addresses, EtherType.
pub(super) fn ip_over_ieee1394(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    ethertype::decode(context, view.u16(16)?, view.skip(18)?)
}

/// LINKTYPE_IPNET, Solaris' IP observability device.
pub(super) fn ipnet(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    ip::decode(context, view.skip(24)?)
}

/// LINKTYPE_IPOIB: the global routing header, EtherType, two reserved bytes (RFC 4391).
pub(super) fn ip_over_infiniband(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    ethertype::decode(context, view.u16(40)?, view.skip(44)?)
}
