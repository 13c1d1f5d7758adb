//! Recognises QUIC (RFC 9000), which runs over UDP.

use super::datagram::Datagram;
use super::ip_header::Header;
use super::view::View;
use super::{Skip, context::DecodeContext};

/// The port of HTTP/3 (RFC 9114 section 3.1). On this port, packets with short headers also count
/// as QUIC, although they contain no version.
const HTTPS: u16 = 443;

/// The port of DNS (RFC 1035 section 4.2.1).
const DNS: u16 = 53;

/// Classifies a datagram that is not on a tunnel's port.
pub(super) fn datagram(context: DecodeContext, header: &Header<'_>, (from, to): (u16, u16), payload: View<'_>) -> Skip {
    // With a long header the fixed bit (RFC 9000 section 17), which only Version Negotiation may
    // omit there: this rejects most other UDP. Ends that agree on it (RFC 9287) omit it later.
    let Ok(first) = payload.u8(0) else { return Skip::NotTcp(17) };
    let is_quic = is_quic(from, to, payload);
    let is_dns = !is_quic && (from == DNS || to == DNS);
    let may_be_quic = first & 0x80 == 0 || payload.array(1) == Ok(&[0; 4]);
    if !(is_quic || is_dns || may_be_quic) {
        return Skip::NotTcp(17);
    }
    let offset = payload.data().as_ptr().addr().wrapping_sub(context.base);
    let found = Datagram {
        from: (header.addresses.src(), from),
        to: (header.addresses.dst(), to),
        offset: u32::try_from(offset).unwrap_or(u32::MAX),
        captured: u32::try_from(payload.data().len()).unwrap_or(u32::MAX),
        wire: u32::try_from(payload.wire()).unwrap_or(u32::MAX),
        ttl: header.ttl,
        ecn: header.ecn,
    };
    match (is_quic, is_dns) {
        (true, _) => Skip::Quic(found),
        (_, true) => Skip::Dns(found),
        _ => Skip::Udp(found),
    }
}

/// Returns whether the payload of a UDP datagram begins with the header of a QUIC packet.
fn is_quic(from: u16, to: u16, payload: View<'_>) -> bool {
    let Ok(first) = payload.u8(0) else { return false };
    let is_https = from == HTTPS || to == HTTPS;
    if first & 0x80 == 0 {
        // The fixed bit (RFC 9000 section 17.3.1).
        return is_https && first & 0x40 != 0;
    }
    let Ok(version) = payload.array(1).map(|&bytes| u32::from_be_bytes(bytes)) else { return false };
    match version {
        // Version negotiation.
        0 => is_https,
        // Version 1, version 2 (RFC 9369), IETF drafts, and Google's versions.
        1 | 0x6b33_43cf | 0xff00_0000..=0xff00_00ff => true,
        _ => matches!(version.to_be_bytes(), [b'Q' | b'T', b'0', b'0'..=b'9', b'0'..=b'9']),
    }
}
