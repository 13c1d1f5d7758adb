//! BSD loopback and the other pseudo-devices whose header holds an address family.

use crate::wire::context::{DecodeContext, Decoded};
use crate::wire::view::View;
use crate::wire::{Skip, ethertype, ip};

/// LINKTYPE_NULL: the family in the byte order of the host that captured.
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

/// LINKTYPE_PFLOG: a header that tells its own length, without the padding to four bytes.
pub(super) fn pflog(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    let &[length, address_family] = view.array(0)?;
    family(context, u32::from(address_family), view.skip(usize::from(length).next_multiple_of(4))?)
}

/// The number whose upper half is empty: families are small.
fn either_order(view: View<'_>) -> Result<u32, Skip> {
    let number = view.u32(0)?;
    Ok(if number > 0xffff { number.swap_bytes() } else { number })
}

fn family(context: DecodeContext, family: u32, inside: View<'_>) -> Decoded<'_> {
    match family {
        // AF_INET, and AF_INET6 as Linux, Windows, NetBSD, FreeBSD and macOS number it.
        2 | 10 | 23 | 24 | 28 | 30 => ip::decode(context, inside),
        // Some drivers put an EtherType there.
        0x0600..=0xffff => ethertype::decode(context, family as u16, inside),
        _ => Err(Skip::NotIp(u16::try_from(family).unwrap_or(u16::MAX))),
    }
}
