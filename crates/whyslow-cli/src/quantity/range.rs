//! [`Range`]: one quantity, or all from one to another, in steps.

/// One quantity, or all from one to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range<T> {
    /// The smaller end.
    pub least: T,
    /// The larger end; the same if it is one quantity.
    pub most: T,
}

/// Reads `1MB`, or `10kB..10MB`.
///
/// # Errors
/// Errors of the quantity, and an empty range.
pub fn range<T: Copy + PartialOrd>(text: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<Range<T>, String> {
    let Some((least, most)) = text.split_once("..") else {
        return read(text).map(|one| Range { least: one, most: one });
    };
    let (least, most) = (read(least.trim())?, read(most.trim())?);
    if least < most { Ok(Range { least, most }) } else { Err(format!("`{text}` goes from the larger to the smaller")) }
}

impl<T: Copy + PartialOrd> Range<T> {
    /// Its steps: 1, 3, 10, 30 and so on, between its ends, which belong to it.
    pub fn steps(&self, to_number: impl Fn(T) -> f64, to_value: impl Fn(f64) -> T) -> Vec<T> {
        let (least, most) = (to_number(self.least), to_number(self.most));
        let mut steps = vec![self.least];
        let mut decade = 10_f64.powf(least.max(f64::MIN_POSITIVE).log10().floor());
        while decade < most {
            // Nothing that hardly differs from an end.
            let inner = [decade, 3.0 * decade].into_iter().filter(|step| *step > 1.2 * least && *step < most / 1.2);
            steps.extend(inner.map(&to_value));
            decade *= 10.0;
        }
        if self.most > self.least {
            steps.push(self.most);
        }
        steps
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::size;
    use super::*;

    #[test]
    fn a_range_has_steps_between_its_ends() {
        let sizes = |text: &str| range(text, size).unwrap().steps(|size| size as f64, |size| size.round() as u64);
        assert_eq!(sizes("1MB"), [1_000_000]);
        assert_eq!(sizes("10kB..1MB"), [10_000, 30_000, 100_000, 300_000, 1_000_000]);
        assert_eq!(sizes("2kB..40kB"), [2_000, 3_000, 10_000, 30_000, 40_000]);
        assert_eq!(sizes("1B..2B"), [1, 2]);
        for wrong in ["1MB..1kB", "1MB..1MB", "1MB..", "..1MB", "1..2"] {
            assert!(range(wrong, size).is_err(), "{wrong}");
        }
    }
}
