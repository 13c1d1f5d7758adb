//! PKTAP: the header that macOS writes for captures on several interfaces (`tcpdump -i pktap`, `-i
//! all`).

use crate::wire::Skip;
use crate::wire::context::{DecodeContext, Decoded, Inside};
use crate::wire::view::View;

/// The header's length, the kind of record, and its link type.
struct Header {
    length: usize,
    next: u32,
    link: u32,
}

impl Header {
    fn read(view: View<'_>) -> Result<Self, Skip> {
        // In host byte order; the length is small, so only one order is plausible.
        let big = view.u32(0)? <= 0xffff;
        let field = |at| if big { view.u32(at) } else { view.u32_le(at) };
        Ok(Self { length: field(0)? as usize, next: field(4)?, link: field(8)? })
    }
}

/// LINKTYPE_PKTAP.
pub(super) fn decode(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    let header = Header::read(view)?;
    if header.length < 12 {
        return Err(Skip::Malformed("a PKTAP header shorter than its fields"));
    }
    if header.next != 1 {
        return Err(Skip::NoPacket("a PKTAP record without a packet"));
    }
    match u16::try_from(header.link) {
        Ok(link) => context.deeper()?.decode(Inside::Link(link), view.skip(header.length)?),
        Err(_) => Err(Skip::Malformed("PKTAP names an impossible link type")),
    }
}

/// LINKTYPE_USER2, which Apple used for PKTAP before it was assigned a number. Others may use it
/// too.
pub(super) fn private(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    let header = Header::read(view)?;
    if header.next <= 1 && (12..=512).contains(&header.length) && header.link <= 0xffff {
        return decode(context, view);
    }
    Err(Skip::LinkType(149))
}
