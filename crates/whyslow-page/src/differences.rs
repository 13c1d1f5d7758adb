//! [`Differences`]: lists of numbers as differences, which compress to a third of the size.
//!
//! The page restores exactly the same numbers: all are whole in their unit, and times are whole
//! nanoseconds.

use serde::Serialize;
use whyslow_analysis::Frame;

/// Nanoseconds a second.
const NANOS: u32 = 1_000_000_000;

/// A list of numbers as differences to the one before: `{"d": differences, "of": units in one}`,
/// with `"by": 1` if each side has differences of its own.
#[derive(Debug, Serialize)]
pub(crate) struct Differences {
    d: Vec<Option<i64>>,
    of: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<u8>,
    #[serde(skip)]
    last: [i64; 2],
}

impl Default for Differences {
    fn default() -> Self {
        Self { d: Vec::new(), of: 1, by: None, last: [0; 2] }
    }
}

impl Differences {
    /// A list of times, pushed as nanoseconds and read as seconds.
    pub(crate) fn of_times() -> Self {
        Self { of: NANOS, ..Self::default() }
    }

    /// A list of numbers that belong to two sides.
    pub(crate) fn by_side() -> Self {
        Self { by: Some(1), ..Self::default() }
    }

    /// Adds a side's next number; without sides, the side is 0.
    pub(crate) fn push(&mut self, side: usize, figure: Option<i64>) {
        let last = &mut self.last[side.min(1)];
        self.d.push(figure.map(|figure| figure.wrapping_sub(std::mem::replace(last, figure))));
    }

    /// Adds a side's next count.
    pub(crate) fn count(&mut self, side: usize, figure: Option<u64>) {
        self.push(side, figure.map(|figure| i64::try_from(figure).unwrap_or(i64::MAX)));
    }
}

/// The frames of segments: their numbers, or their names where there are several files.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Frames {
    Numbers(Differences),
    Names(Vec<Frame>),
}

impl FromIterator<Frame> for Frames {
    fn from_iter<I: IntoIterator<Item = Frame>>(frames: I) -> Self {
        let frames: Vec<Frame> = frames.into_iter().collect();
        if frames.iter().any(|frame| frame.file.is_some()) {
            return Self::Names(frames);
        }
        let mut numbers = Differences::default();
        frames.iter().for_each(|frame| numbers.count(0, Some(frame.number)));
        Self::Numbers(numbers)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::{Value, json, to_value};

    fn encoded(mut list: Differences, figures: &[(usize, Option<i64>)]) -> Value {
        figures.iter().for_each(|(side, figure)| list.push(*side, *figure));
        to_value(list).unwrap()
    }

    #[test]
    fn lists_are_differences_of_whole_figures() {
        let figures = [(0, Some(5)), (0, None), (0, Some(7)), (0, Some(3))];
        assert_eq!(encoded(Differences::default(), &figures), json!({ "d": [5, null, 2, -4], "of": 1 }));
        let times = [(0, Some(1)), (0, Some(1_500_000_000))];
        assert_eq!(encoded(Differences::of_times(), &times), json!({ "d": [1, 1_499_999_999], "of": 1_000_000_000 }));
        let sides = [(0, Some(10)), (1, Some(1000)), (0, Some(20)), (1, Some(1448))];
        assert_eq!(encoded(Differences::by_side(), &sides), json!({ "d": [10, 1000, 10, 448], "of": 1, "by": 1 }));
    }

    #[test]
    fn frames_of_several_files_stay_names() {
        let frame = |file, number| Frame { file, number };
        let frames: Frames = [frame(None, 7), frame(None, 9)].into_iter().collect();
        assert_eq!(to_value(frames).unwrap(), json!({ "d": [7, 2], "of": 1 }));
        let frames: Frames = [frame(Some(1), 17), frame(Some(0), 18)].into_iter().collect();
        assert_eq!(to_value(frames).unwrap(), json!(["2:17", "1:18"]));
    }
}
