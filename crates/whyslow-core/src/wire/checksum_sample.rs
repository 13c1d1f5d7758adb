//! Whether wrong checksums tell of damage.
//!
//! By itself a wrong one proves nothing: addresses are rewritten, payload is made unreadable, and
//! cards finish sums only after the capture. Where nearly all are right, a wrong one is a packet
//! that was damaged.

use super::{Checksum, Segment, decode_verified};
use crate::capture::Packet;

/// Right sums for each wrong one, from which on the wrong ones tell. Where every fifth packet is
/// damaged no connection gets far: with so much loss TCP waits for its timer most of the time
/// (Padhye et al., "Modeling TCP Throughput", SIGCOMM 1998).
const RIGHT_FOR_EACH_WRONG: u8 = 4;

/// How many of the checksums that were looked at lately were right, and how many wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChecksumTally {
    right: u8,
    wrong: u8,
}

impl ChecksumTally {
    /// One more was looked at. Beyond 255 older ones count for less.
    #[inline]
    pub fn note(&mut self, is_right: bool) {
        let count = if is_right { &mut self.right } else { &mut self.wrong };
        *count += 1;
        if *count == u8::MAX {
            (self.right, self.wrong) = (self.right / 2, self.wrong / 2);
        }
    }

    /// Whether a wrong one tells of damage.
    #[inline]
    pub fn is_reliable(self) -> bool {
        self.right > 0 && self.right / RIGHT_FOR_EACH_WRONG >= self.wrong
    }
}

/// The checksums of a capture's first packets, by which it is known whether those of all tell
/// anything.
#[derive(Clone, Copy, Debug, Default)]
pub struct ChecksumSample {
    headers: ChecksumTally,
    segments: ChecksumTally,
}

impl ChecksumSample {
    /// So many packets are enough.
    pub const PACKETS: u64 = 256;

    /// One of the first packets that have a segment, of which all was [summed
    /// up](super::decode_verified).
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

    /// The checksum of a segment, for who follows its connection, of which it may be the first
    /// packet (`is_first`).
    pub fn judge(&self, segment: &Segment<'_>, packet: &Packet<'_>, is_first: bool) -> Checksum {
        let checksum = match segment.checksum {
            // A connection is not to be opened by a packet that is damaged where it tells its ends.
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

    /// Whether packets whose IPv4 header has a wrong sum are damaged ones.
    pub fn headers_reliable(&self) -> bool {
        self.headers.is_reliable()
    }

    /// Whether segments with a wrong sum are damaged ones.
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
    fn few_wrong_ones_among_right_ones_tell() {
        assert!(sums(4, 1).is_reliable() && sums(100, 3).is_reliable());
        assert!(!sums(3, 1).is_reliable() && !sums(0, 1).is_reliable() && !sums(9, 9).is_reliable());
        assert!(sums(100, 0).is_reliable() && !sums(0, 0).is_reliable());
    }

    #[test]
    fn very_many_keep_their_share() {
        let mut damaged = ChecksumTally::default();
        (0..100_000).for_each(|n| damaged.note(n % 50 != 7));
        assert!(damaged.is_reliable());
        let mut rewritten = sums(200, 0);
        (0..400).for_each(|_| rewritten.note(false));
        assert!(!rewritten.is_reliable(), "what came later counts for more");
    }
}
