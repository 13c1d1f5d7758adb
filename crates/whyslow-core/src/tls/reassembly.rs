//! [`Reassembly`]: the captured bytes of one direction in stream order.

use std::collections::BTreeMap;

/// Maximum number of buffered bytes behind a hole of a direction: as many as may be in flight.
/// Source: the window of Linux's largest default buffer, about 0.6 of 6 MiB (tcp(7), `tcp_rmem`).
pub(super) const MAX_HELD: usize = 4 << 20;
/// Maximum number of bytes of records whose keys are not known yet.
const MAX_UNREAD: usize = 256 << 10;

/// Approximate overhead of a buffered segment, bytes.
const ENTRY: usize = 64;

/// The bytes of one direction. Positions are relative sequence numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Reassembly {
    /// Position of the first byte in `ready`.
    start: u64,
    /// Bytes from `start`, some of them consumed.
    ready: Vec<u8>,
    /// Number of consumed bytes in `ready`.
    consumed: usize,
    /// Segments after a gap, by their positions.
    later: BTreeMap<u64, Vec<u8>>,
    /// Bytes in `later`, with the overhead.
    held: usize,
    begun: bool,
}

/// The limit of buffered bytes is exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Overflow;

impl Reassembly {
    /// Adds a segment's bytes, in any order.
    pub(super) fn push(&mut self, start: u64, bytes: &[u8]) -> Result<(), Overflow> {
        if !self.begun {
            (self.begun, self.start) = (true, start);
        }
        // What could not be read before these bytes came waits for keys.
        let unread = self.ready.len() - self.consumed;
        let next = self.next();
        if start > next {
            let known = self.later.get(&start).map_or(0, Vec::len);
            if bytes.len() > known {
                self.held += bytes.len() + if known == 0 { ENTRY } else { 0 } - known;
                self.later.insert(start, bytes.to_vec());
            }
        } else {
            self.append(start, bytes);
            while let Some((&start, _)) = self.later.first_key_value().filter(|(start, _)| **start <= self.next())
                && let Some(bytes) = self.later.remove(&start)
            {
                self.held -= bytes.len() + ENTRY;
                self.append(start, &bytes);
            }
        }
        if self.held > MAX_HELD || unread > MAX_UNREAD { Err(Overflow) } else { Ok(()) }
    }

    /// Appends the new part of bytes that begin at or before the next position.
    fn append(&mut self, start: u64, bytes: &[u8]) {
        let known = usize::try_from(self.next() - start).unwrap_or(usize::MAX);
        if let Some(new) = bytes.get(known..).filter(|new| !new.is_empty()) {
            self.drop_consumed();
            self.ready.extend_from_slice(new);
        }
    }

    /// Removes consumed bytes if few bytes have to be moved for that.
    fn drop_consumed(&mut self) {
        if self.consumed > 0 && self.consumed * 2 >= self.ready.len() {
            self.ready.drain(..self.consumed);
            self.start += self.consumed as u64;
            self.consumed = 0;
        }
    }

    /// The position of the next missing byte.
    pub(super) fn next(&self) -> u64 {
        self.start.saturating_add(self.ready.len() as u64)
    }

    /// The position of the first unconsumed byte.
    pub(super) fn at(&self) -> u64 {
        self.start.saturating_add(self.consumed as u64)
    }

    /// The contiguous unconsumed bytes.
    pub(super) fn ready(&mut self) -> &mut [u8] {
        self.ready.get_mut(self.consumed..).unwrap_or_default()
    }

    /// Marks this number of bytes as consumed.
    pub(super) fn consume(&mut self, bytes: usize) {
        self.consumed = self.consumed.saturating_add(bytes).min(self.ready.len());
    }

    /// Whether segments wait behind a gap.
    pub(super) fn has_hole(&self) -> bool {
        !self.later.is_empty()
    }

    /// Drops all bytes.
    pub(super) fn clear(&mut self) {
        *self = Self { start: self.next(), begun: self.begun, ..Self::default() };
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn flight_behind_a_lost_segment_waits_for_it() {
        let (mut reassembly, segment) = (Reassembly::default(), [7; 1_448]);
        assert_eq!(reassembly.push(1, &segment), Ok(()));
        // Two megabytes, as a fast path has in flight.
        for nth in 2..1_400 {
            assert_eq!(reassembly.push(1 + nth * 1_448, &segment), Ok(()));
        }
        assert_eq!(reassembly.push(1_449, &segment), Ok(()));
        assert_eq!(reassembly.next(), 1 + 1_400 * 1_448);
    }

    proptest! {
        #[test]
        fn any_order_gives_the_stream(
            stream in prop::collection::vec(any::<u8>(), 1..2_000), sizes in prop::collection::vec(1usize..200, 1..20),
            swaps in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..20),
            first in 0u64..1 << 40,
        ) {
            let mut segments = Vec::new();
            let mut at = 0;
            for size in sizes.iter().cycle() {
                let end = (at + size).min(stream.len());
                segments.push((first + at as u64, &stream[at..end]));
                at = end;
                if at == stream.len() {
                    break;
                }
            }
            // The first segment defines the start of the stream.
            for (one, other) in swaps {
                if segments.len() > 1 {
                    let (one, other) = (1 + one.index(segments.len() - 1), 1 + other.index(segments.len() - 1));
                    segments.swap(one, other);
                }
            }
            let mut reassembly = Reassembly::default();
            let mut read = Vec::new();
            for (start, bytes) in segments {
                reassembly.push(start, bytes).unwrap();
                let len = reassembly.ready().len();
                read.extend_from_slice(reassembly.ready());
                reassembly.consume(len);
            }
            prop_assert_eq!(read, stream);
            prop_assert!(!reassembly.has_hole());
        }

        #[test]
        fn memory_is_bounded(segments in prop::collection::vec((0u64..1 << 24, 1usize..60_000), 1..400)) {
            let mut reassembly = Reassembly::default();
            for (start, len) in segments {
                if reassembly.push(start, &vec![1; len]).is_err() {
                    reassembly.clear();
                }
                prop_assert!(reassembly.held + reassembly.ready.len() <= 2 * MAX_HELD + MAX_UNREAD + 60_000);
            }
        }
    }

    #[test]
    fn bytes_without_keys_overflow() {
        let mut reassembly = Reassembly::default();
        let mut bytes = (0..300).map(|number| reassembly.push(number * 1_000, &[2; 1_000]));
        assert!(bytes.any(|outcome| outcome == Err(Overflow)));
    }

    #[test]
    fn bytes_after_a_hole_overflow() {
        let mut reassembly = Reassembly::default();
        reassembly.push(0, &[1]).unwrap();
        let outcome =
            (0..=MAX_HELD as u64 / 1_000).try_for_each(|number| reassembly.push(2 + number * 1_000, &[2; 1_000]));
        assert_eq!(outcome, Err(Overflow));
    }
}
