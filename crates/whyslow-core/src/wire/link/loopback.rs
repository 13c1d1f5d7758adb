//! BSD loopback and other pseudo-devices whose header contains an address family.

use crate::wire::context::{DecodeContext, Decoded};
use crate::wire::view::View;
use crate::wire::{Skip, ethertype, ip};

/// LINKTYPE_NULL: the family in the byte order of the capturing host.
pub(super) fn null(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    family(context, either_order(view)?, view.skip(4)?)
}

/// LINKTYPE_LOOP.
pub(super) fn family_in_network_order(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    family(context, view.u32(0)?, view.skip(4)?)
}

/// LINKTYPE_ENC, OpenBSD's IPsec device: family, security association, flags.
pub(super) fn enc(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    family(context, either_order(view)?, view.skip(12)?)
}

/// LINKTYPE_PFLOG: the header begins with its length, without the padding to four bytes.
pub(super) fn pflog(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    let &[length, address_family] = view.array(0)?;
    family(context, u32::from(address_family), view.skip(usize::from(length).next_multiple_of(4))?)
}

/// Reads a number in the byte order in which its upper half is zero: families are small.
fn either_order(view: View<'_>) -> Result<u32, Skip> {
    let number = view.u32(0)?;
    Ok(if number > 0xffff { number.swap_bytes() } else { number })
}

fn family(context: DecodeContext, family: u32, inside: View<'_>) -> Decoded<'_> {
    match family {
        // AF_INET, and AF_INET6 on Linux, Windows, NetBSD, FreeBSD and macOS.
        2 | 10 | 23 | 24 | 28 | 30 => ip::decode(context, inside),
        // Some drivers write an EtherType.
        0x0600..=0xffff => ethertype::decode(context, family as u16, inside),
        _ => Err(Skip::NotIp(u16::try_from(family).unwrap_or(u16::MAX))),
    }
}
