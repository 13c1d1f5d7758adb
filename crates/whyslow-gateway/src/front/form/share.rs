//! The share of memory for files of unknown length.

/// Size of parts: two are held at once.
const PART: u64 = 8 << 20;
/// Maximum share of the buffers for one file; all of them together get a quarter.
const SHARE: u64 = 8;

/// Bytes of a part for this bound of memory.
pub(super) fn part_size(capacity: u64) -> u64 {
    PART.min(capacity / SHARE / 2)
}

/// Number of files that may be collected at once for this bound.
pub(super) fn gatherers(capacity: u64) -> usize {
    usize::try_from(capacity / 4 / (2 * part_size(capacity)).max(1)).unwrap_or(1).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gatherers_take_a_quarter_of_the_memory_at_most() {
        for capacity in [6 << 20, 48 << 20, 192 << 20, 1 << 34] {
            let held = gatherers(capacity) as u64 * 2 * part_size(capacity);
            assert!(held <= capacity / 4 && held > 0, "{capacity}");
        }
    }
}
