//! Linux cooked captures: the `any` device replaces the link-layer header by its own.

use crate::wire::context::{DecodeContext, Decoded};
use crate::wire::view::View;
use crate::wire::{Skip, ethertype, llc};

/// ARPHRD_NETLINK: the protocol field holds a netlink family, not an EtherType.
const NETLINK: u16 = 824;

/// LINKTYPE_LINUX_SLL: packet type, hardware type, address length and address, protocol.
pub(super) fn v1(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    protocol(context, view.u16(2)?, view.u16(14)?, view.skip(16)?)
}

/// LINKTYPE_LINUX_SLL2: protocol, interface, hardware type, packet type, address length and
/// address.
pub(super) fn v2(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    protocol(context, view.u16(8)?, view.u16(0)?, view.skip(20)?)
}

fn protocol(context: DecodeContext, hardware: u16, kind: u16, inside: View<'_>) -> Decoded<'_> {
    match kind {
        _ if hardware == NETLINK => Err(Skip::NoPacket("a netlink message")),
        // Linux's protocol number for a frame with an LLC header.
        0x0004 => llc::decode(context, inside),
        _ => ethertype::decode(context, kind, inside),
    }
}
