//! The TCP checksum (RFC 9293 section 3.1, RFC 1071), and what offload to the network card leaves
//! of it.

use super::ip_header::{Addresses, Header};
use super::segment::Checksum;
use super::view::View;

/// What the checksum field of a segment says.
///
/// Whether it holds no more than the pseudo-header's sum is always looked at, as that costs little;
/// a segment whose own checksum happens to be that value, once in 2¹⁶, is taken for such a one
/// unless the sum is computed. All of the segment is summed up where `whole` asks for it, and all
/// of it was captured.
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

/// Whether the field of a segment of so many bytes holds no more than the pseudo-header's sum.
pub(super) fn is_partial(addresses: Addresses<'_>, length: usize, field: [u8; 2]) -> bool {
    let field = u16::from_ne_bytes(field);
    // Before segmentation offload some systems leave the length to the card as well, or the whole
    // field.
    field == 0 || field == fold(pseudo_header(addresses, length)) || field == fold(pseudo_header(addresses, 0))
}

/// Whether an IPv4 header's own checksum is wrong. Where it is 0 the network card was to put it
/// there.
#[inline(always)]
pub(super) fn is_damaged(header: &[u8]) -> bool {
    header.get(10..12) != Some(&[0, 0]) && !is_right(sum(header))
}

/// Whether the checksum is right of a segment that is this header and these options, no more.
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
    // The length's two 16-bit halves are in network order, wherever they are added.
    add(add(addresses, u64::from(6u16.to_be())), u64::from((length as u32).to_be()))
}

/// The sum of `bytes` as 16-bit words in memory order, the last one filled up with a zero: four of
/// them are added at once, as carries go round (RFC 1071 section 2).
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

/// Both, with the carry added.
#[inline(always)]
fn add(a: u64, b: u64) -> u64 {
    let (sum, carry) = a.overflowing_add(b);
    sum + u64::from(carry)
}

/// Whether a sum that includes the checksum, and is not 0, comes to what it must: all ones. Folding
/// does not change the rest that division by 65,535 leaves.
#[inline(always)]
fn is_right(sum: u64) -> bool {
    sum.is_multiple_of(0xffff)
}

/// Down to 16 bits, with the carries added. The order of the bytes in a word does not matter.
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
