//! Whether wrong checksums indicate damaged packets.
//!
//! One wrong checksum proves nothing: tools rewrite addresses and anonymise payload, and network
//! cards complete checksums after the capture. But if nearly all checksums are correct, a wrong one
//! means a damaged packet.

use super::{Checksum, Segment, decode_verified};
use crate::capture::Packet;

/// If there are at least this many correct checksums per wrong one, a wrong one indicates damage.
/// If every fifth packet is damaged, connections make little progress: with this much loss TCP
/// mostly waits for its retransmission timer (Padhye et al., "Modeling TCP Throughput", SIGCOMM
/// 1998).
const RIGHT_FOR_EACH_WRONG: u8 = 4;

/// Number of recently verified checksums that were correct, and that were wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChecksumTally {
    right: u8,
    wrong: u8,
}

impl ChecksumTally {
    /// Counts one. Beyond 255 older ones get less weight.
    #[inline]
    pub fn note(&mut self, is_right: bool) {
        let count = if is_right { &mut self.right } else { &mut self.wrong };
        *count += 1;
        if *count == u8::MAX {
            (self.right, self.wrong) = (self.right / 2, self.wrong / 2);
        }
    }

    /// Whether a wrong checksum indicates damage.
    #[inline]
    pub fn is_reliable(self) -> bool {
        self.right > 0 && self.right / RIGHT_FOR_EACH_WRONG >= self.wrong
    }
}

/// The checksums of a capture's first packets, which show whether wrong checksums indicate damage.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChecksumSample {
    headers: ChecksumTally,
    segments: ChecksumTally,
}

impl ChecksumSample {
    /// Number of packets in the sample.
    pub const PACKETS: u64 = 256;

    /// Counts one of the first packets with a segment whose [checksum was
    /// verified](super::decode_verified).
    pub fn take(&mut self, segment: &Segment<'_>) {
        match segment.checksum {
            Checksum::BadHeader(by) => {
                self.headers.note(false);
                if by != 0 {
                    self.segments.note(false);
                }
            }
            Checksum::Good => {
                self.headers.note(true);
                self.segments.note(true);
            }
            Checksum::Bad(_) => {
                self.headers.note(true);
                self.segments.note(false);
            }
            Checksum::Partial | Checksum::Unknown => self.headers.note(true),
        }
    }

    /// The checksum of a segment for the analysis of its connection. `is_first`: the segment may be
    /// its connection's first one.
    pub fn judge(&self, segment: &Segment<'_>, packet: &Packet<'_>, is_first: bool) -> Checksum {
        let checksum = match segment.checksum {
            // A packet with damaged addresses or ports must not open a connection.
            Checksum::Unknown if is_first => decode_verified(packet).map_or(Checksum::Unknown, |whole| whole.checksum),
            checksum => checksum,
        };
        match checksum {
            Checksum::BadHeader(_) if self.headers_reliable() => Checksum::DAMAGED,
            Checksum::BadHeader(0) => Checksum::Unknown,
            Checksum::BadHeader(by) => Checksum::Bad(by),
            checksum => checksum,
        }
    }

    /// Whether a wrong IPv4 header checksum indicates a damaged packet.
    pub fn headers_reliable(&self) -> bool {
        self.headers.is_reliable()
    }

    /// Whether a wrong TCP checksum indicates a damaged segment.
    pub fn segments_reliable(&self) -> bool {
        self.segments.is_reliable()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(right: usize, wrong: usize) -> ChecksumTally {
        let mut sums = ChecksumTally::default();
        (0..right).for_each(|_| sums.note(true));
        (0..wrong).for_each(|_| sums.note(false));
        sums
    }

    #[test]
    fn few_wrong_checksums_are_reliable() {
        assert!(sums(4, 1).is_reliable() && sums(100, 3).is_reliable());
        assert!(!sums(3, 1).is_reliable() && !sums(0, 1).is_reliable() && !sums(9, 9).is_reliable());
        assert!(sums(100, 0).is_reliable() && !sums(0, 0).is_reliable());
    }

    #[test]
    fn ratio_of_many_checksums_is_kept() {
        let mut damaged = ChecksumTally::default();
        (0..100_000).for_each(|n| damaged.note(n % 50 != 7));
        assert!(damaged.is_reliable());
        let mut rewritten = sums(200, 0);
        (0..400).for_each(|_| rewritten.note(false));
        assert!(!rewritten.is_reliable(), "what came later counts for more");
    }
}
