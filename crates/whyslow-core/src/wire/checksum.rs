//! Verifies the TCP checksum (RFC 9293 section 3.1, RFC 1071), and detects checksums that were
//! offloaded to the network card.

use super::ip_header::{Addresses, Header};
use super::segment::Checksum;
use super::view::View;

/// Evaluates the checksum field of a segment.
///
/// Always checks whether the field is only the pseudo-header's sum, because this is cheap. The
/// correct checksum may have this value by chance, once in 2¹⁶; only computing the sum
/// distinguishes the two. Sums up the complete segment if `whole` is set and it was captured
/// completely.
#[inline(always)]
pub(super) fn of(header: &Header<'_>, segment: View<'_>, field: [u8; 2], whole: bool) -> Checksum {
    let pseudo = pseudo_header(header.addresses, segment.wire());
    let summed = whole && header.summable && !header.fragment && segment.data().len() == segment.wire();
    let total = if summed { add(pseudo, sum(segment.data())) } else { 0 };
    if summed && is_right(total) {
        return Checksum::Good;
    }
    if header.damaged {
        return Checksum::BadHeader((total % 0xffff) as u16);
    }
    if is_partial(header.addresses, segment.wire(), field) {
        return Checksum::Partial;
    }
    if summed { Checksum::Bad((total % 0xffff) as u16) } else { Checksum::Unknown }
}

/// Whether the checksum field of a segment of this length is only the pseudo-header's sum.
pub(super) fn is_partial(addresses: Addresses<'_>, length: usize, field: [u8; 2]) -> bool {
    let field = u16::from_ne_bytes(field);
    // With segmentation offload, some systems also leave the length or the whole field to the card.
    field == 0 || field == fold(pseudo_header(addresses, length)) || field == fold(pseudo_header(addresses, 0))
}

/// Whether an IPv4 header's own checksum is wrong. 0 means that the network card computes it.
#[inline(always)]
pub(super) fn is_damaged(header: &[u8]) -> bool {
    header.get(10..12) != Some(&[0, 0]) && !is_right(sum(header))
}

/// Whether the checksum of a segment that consists of only this header and these options is
/// correct.
#[inline(always)]
pub(super) fn is_valid<const LIST: usize>(addresses: Addresses<'_>, header: &[u8; 20], options: &[u8; LIST]) -> bool {
    is_right(add(pseudo_header(addresses, 20 + LIST), add(sum(header), sum(options))))
}

/// The sum of the addresses, the protocol number and the length, as 16-bit words in memory order.
#[inline(always)]
fn pseudo_header(addresses: Addresses<'_>, length: usize) -> u64 {
    let addresses = match addresses {
        Addresses::V4(bytes) => sum(bytes),
        Addresses::V6(bytes) => sum(bytes),
    };
    // Add the length's two 16-bit halves in network byte order; their position does not matter.
    add(add(addresses, u64::from(6u16.to_be())), u64::from((length as u32).to_be()))
}

/// The sum of `bytes` as 16-bit words in memory order, padded with a zero. Adds four words at once,
/// because carries wrap around (RFC 1071 section 2).
#[inline(always)]
fn sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let total = words.iter().fold(0, |total, word| add(total, u64::from_ne_bytes(*word)));
    let (halves, rest) = rest.as_chunks::<4>();
    let total = halves.iter().fold(total, |total, half| add(total, u64::from(u32::from_ne_bytes(*half))));
    let mut last = [0; 4];
    for (to, from) in last.iter_mut().zip(rest) {
        *to = *from;
    }
    add(total, u64::from(u32::from_ne_bytes(last)))
}

/// Adds both, with the carry.
#[inline(always)]
fn add(a: u64, b: u64) -> u64 {
    let (sum, carry) = a.overflowing_add(b);
    sum + u64::from(carry)
}

/// Whether a nonzero sum that includes the checksum folds to all ones, as it must. Folding keeps
/// the remainder modulo 65,535.
#[inline(always)]
fn is_right(sum: u64) -> bool {
    sum.is_multiple_of(0xffff)
}

/// Folds a sum to 16 bits, with the carries. The byte order does not matter.
#[inline(always)]
fn fold(sum: u64) -> u16 {
    let sum = (sum >> 32) + (sum & 0xffff_ffff);
    let sum = (sum >> 16) + (sum & 0xffff);
    let sum = (sum >> 16) + (sum & 0xffff);
    let sum = (sum >> 16) + (sum & 0xffff);
    sum as u16
}

#[cfg(test)]
mod tests;
