//! The TCP checksum (RFC 9293 section 3.1, RFC 1071), and what offload to the network card leaves of it.

use super::Checksum;
use super::ip::{Addresses, Header};
use super::view::View;

/// What the checksum field of a segment says.
///
/// Whether it holds no more than the pseudo-header's sum is always looked at, as that costs little; a segment whose own
/// checksum happens to be that value, once in 2¹⁶, is taken for such a one unless the sum is computed. All of the
/// segment is summed up where `whole` asks for it, and all of it was captured.
#[inline(always)]
pub(super) fn of(header: &Header<'_>, segment: View<'_>, field: [u8; 2], whole: bool) -> Checksum {
    let field = u16::from_ne_bytes(field);
    let without_length = pseudo_header(header.addresses);
    // Two 16-bit halves, in network order, wherever they are added.
    let pseudo = without_length + u64::from((segment.wire() as u32).to_be());
    let summed = whole && header.summable && !header.fragment && segment.data().len() == segment.wire();
    if summed && fold(pseudo + sum(segment.data())) == 0xffff {
        return Checksum::Good;
    }
    // Before segmentation offload some systems leave the length to the card as well, or the whole field.
    if field == fold(pseudo) || field == fold(without_length) || field == 0 {
        return Checksum::Partial;
    }
    if summed { Checksum::Bad } else { Checksum::Unknown }
}

/// The sum of the addresses and the protocol number, as 16-bit words in memory order.
#[inline(always)]
fn pseudo_header(addresses: Addresses<'_>) -> u64 {
    let addresses = match addresses {
        Addresses::V4(bytes) => sum(bytes),
        Addresses::V6(bytes) => sum(bytes),
    };
    addresses + u64::from(6u16.to_be())
}

/// The sum of `bytes` as 16-bit words in memory order, the last one filled up with a zero. It cannot overflow: a packet
/// has less than 2³² words.
#[inline(always)]
fn sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<4>();
    let total: u64 = words.iter().map(|word| u64::from(u32::from_ne_bytes(*word))).sum();
    let mut last = [0; 4];
    for (to, from) in last.iter_mut().zip(rest) {
        *to = *from;
    }
    total + u64::from(u32::from_ne_bytes(last))
}

/// Down to 16 bits, with the carries added (RFC 1071 section 2). The order of the bytes in a word does not matter.
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
