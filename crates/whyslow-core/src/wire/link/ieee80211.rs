//! 802.11 data frames, with or without the header of a monitoring driver: radiotap, PPI, Prism,
//! AVS.
//!
//! Only the first packet of an aggregate (A-MSDU) is read. An encrypted frame is readable only if
//! the driver has decrypted it and left the flag set.

use crate::wire::context::{DecodeContext, Decoded, Inside};
use crate::wire::view::View;
use crate::wire::{Skip, llc};

/// The first bytes of an LLC header before IP.
const SNAP: [u8; 6] = [0xaa, 0xaa, 0x03, 0, 0, 0];

/// Decodes an 802.11 frame (IEEE 802.11-2020 section 9.2.3); `padded`: the driver padded its header
/// to a multiple of four bytes.
pub(super) fn decode(context: DecodeContext, view: View<'_>, padded: bool) -> Decoded<'_> {
    let &[kind, flags] = view.array(0)?;
    if kind & 0x03 != 0 {
        return Err(Skip::Malformed("an 802.11 version other than 0"));
    }
    match (kind >> 2) & 0x03 {
        0 => return Err(Skip::NoPacket("an 802.11 management frame")),
        1 => return Err(Skip::NoPacket("an 802.11 control frame")),
        2 if kind & 0x40 == 0 => {}
        2 => return Err(Skip::NoPacket("an 802.11 frame without data")),
        _ => return Err(Skip::NoPacket("an 802.11 extension frame")),
    }
    let between_stations = flags & 0x03 == 0x03;
    let quality_of_service = kind & 0x80 != 0;
    let ordered = flags & 0x80 != 0;

    let mut header = if between_stations { 30 } else { 24 };
    let mut aggregate = false;
    if quality_of_service {
        aggregate = view.u8(header)? & 0x80 != 0;
        header += if ordered { 6 } else { 2 };
    }
    if padded {
        header = header.next_multiple_of(4);
    }
    if view.u8(22)? & 0x0f != 0 {
        return Err(Skip::Fragment);
    }
    let context = DecodeContext { fragment: context.fragment || flags & 0x04 != 0, ..context };

    let mut body = view.skip(header)?;
    if flags & 0x40 != 0 && !body.starts_with(&SNAP) {
        // Decrypted by the card, with the cipher's header left in place: four bytes for WEP, eight
        // for TKIP and CCMP (IEEE 802.11-2020 section 12).
        let clear = [4, 8].into_iter().filter_map(|header| body.skip(header).ok());
        let mut clear = clear.filter(|body| body.starts_with(&SNAP));
        body = clear.next().ok_or(Skip::NoPacket("an encrypted 802.11 frame"))?;
    }
    if aggregate && !body.starts_with(&SNAP) {
        let length = usize::from(body.u16(12)?);
        body = body.skip(14)?.limit(length);
    }
    llc::decode(context, body)
}

/// LINKTYPE_IEEE802_11_RADIOTAP (<https://www.radiotap.org>).
pub(super) fn radiotap(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    let length = usize::from(view.u16_le(2)?);
    decode(context, view.skip(length)?, radiotap_padded(view, length)?)
}

/// Whether radiotap's flags declare the 802.11 header as padded. The timestamp is the only field
/// before the flags.
fn radiotap_padded(view: View<'_>, length: usize) -> Result<bool, Skip> {
    let present = view.u32_le(4)?;
    if present & 0x2 == 0 {
        return Ok(false);
    }
    let mut fields = 8;
    let mut word = present;
    while word & 0x8000_0000 != 0 {
        word = view.u32_le(fields)?;
        fields += 4;
    }
    if present & 0x1 != 0 {
        fields = fields.next_multiple_of(8) + 8;
    }
    if fields >= length {
        return Err(Skip::Malformed("a radiotap header shorter than its fields"));
    }
    Ok(view.u8(fields)? & 0x20 != 0)
}

/// LINKTYPE_PPI: the header contains the link type of the frame.
pub(super) fn ppi(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    let length = usize::from(view.u16_le(2)?);
    match u16::try_from(view.u32_le(4)?) {
        Ok(link) if length >= 8 => context.deeper()?.decode(Inside::Link(link), view.skip(length)?),
        _ => Err(Skip::Malformed("a PPI header with an impossible length or link type")),
    }
}

/// LINKTYPE_IEEE802_11_PRISM: the length is in host byte order; many of these captures have AVS
/// headers instead.
pub(super) fn prism(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    let length = view.u32(4)?;
    let length = if length > 0xffff { length.swap_bytes() } else { length };
    decode(context, view.skip(length as usize)?, false)
}

/// LINKTYPE_IEEE802_11_AVS.
pub(super) fn avs(context: DecodeContext, view: View<'_>) -> Decoded<'_> {
    decode(context, view.skip(view.u32(4)? as usize)?, false)
}
