//! LINKTYPE_NFLOG: packets from the Linux firewall's log target, as a list of typed attributes.

use crate::wire::context::{DecodeContext, Decoded};
use crate::wire::view::View;
use crate::wire::{Skip, ip};

/// The attribute with the packet (NFULA_PAYLOAD).
const PAYLOAD: u16 = 9;

/// Decodes family, version, resource; then attributes, each with its length and type in the byte
/// order of the capturing host.
pub(super) fn decode(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    if view.u8(1)? != 0 {
        return Err(Skip::Malformed("an NFLOG version other than 0"));
    }
    let mut rest = view.skip(4)?;
    loop {
        // Types are small, so the correct byte order is the one in which the upper byte is zero.
        let big = rest.u8(2)? == 0;
        let field = |at| if big { rest.u16(at) } else { rest.u16_le(at) };
        let (length, kind) = (usize::from(field(0)?), field(2)?);
        if length < 4 {
            return Err(Skip::Malformed("an NFLOG value shorter than its header"));
        }
        if kind == PAYLOAD {
            return ip::decode(context, rest.limit(length).skip(4)?);
        }
        let padded = length.next_multiple_of(4);
        if padded >= rest.wire() {
            return Err(Skip::NoPacket("an NFLOG record without a packet"));
        }
        rest = rest.skip(padded)?;
    }
}
