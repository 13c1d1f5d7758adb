//! Ethernet II and 802.3.

use crate::wire::context::{DecodeContext, Decoded};
use crate::wire::view::View;
use crate::wire::{ethertype, llc};

/// Decodes a frame from its destination address on. Padding and a checksum at its end are ignored,
/// because IP has its own length.
pub(in crate::wire) fn decode(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    let kind = view.u16(12)?;
    let inside = view.skip(14)?;
    if kind < ethertype::SMALLEST {
        return llc::decode(context, inside.limit(usize::from(kind)));
    }
    ethertype::decode(context, kind, inside)
}
