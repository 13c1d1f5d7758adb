//! [`FrameTimes`]: the time of each frame, in bounded memory.

use std::collections::BTreeSet;
use whyslow_analysis::Frame;
use whyslow_units::Nanos;

/// Frames to remember in addition to the requested ones.
const MAX: usize = 2_048;

/// Times of every n-th frame of a connection, and of the requested frames. The page interpolates.
#[derive(Debug)]
pub(crate) struct FrameTimes {
    wanted: BTreeSet<Frame>,
    exact: Vec<(Frame, Nanos)>,
    some: Vec<(Frame, Nanos)>,
    /// One of this many frames is remembered; it doubles when there is no more room.
    stride: u64,
    met: u64,
    last: Option<(Frame, Nanos)>,
}

impl FrameTimes {
    pub(crate) fn new(wanted: BTreeSet<Frame>) -> Self {
        Self { wanted, exact: Vec::new(), some: Vec::new(), stride: 1, met: 0, last: None }
    }

    /// The next frame of the connection.
    pub(crate) fn push(&mut self, frame: Frame, time: Nanos) {
        self.last = Some((frame, time));
        if self.wanted.remove(&frame) {
            self.exact.push((frame, time));
        } else if self.met.is_multiple_of(self.stride) {
            if self.some.len() >= MAX {
                let mut keep = false;
                self.some.retain(|_| {
                    keep = !keep;
                    keep
                });
                self.stride = self.stride.saturating_mul(2);
            }
            self.some.push((frame, time));
        }
        self.met += 1;
    }

    /// All of them, in the order of frames.
    pub(crate) fn to_vec(&self) -> Vec<(Frame, Nanos)> {
        let mut all: Vec<_> = self.exact.iter().chain(&self.some).chain(&self.last).copied().collect();
        all.sort_unstable_by_key(|&(frame, _)| frame);
        all.dedup_by_key(|&mut (frame, _)| frame);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wanted_frames_are_exact_and_the_others_bounded() {
        let frame = |number| Frame { file: None, number };
        let wanted = [7, 99_999, 123_456].map(frame).into_iter().collect();
        let mut times = FrameTimes::new(wanted);
        for number in 1..=200_000_u64 {
            times.push(frame(number), Nanos(number as i64 * 10));
        }
        let kept = times.to_vec();
        assert!(kept.len() <= MAX + 4 && kept.len() > MAX / 2, "{}", kept.len());
        assert!(kept.is_sorted());
        for number in [1, 7, 99_999, 123_456, 200_000] {
            assert!(kept.contains(&(frame(number), Nanos(number as i64 * 10))), "{number}");
        }
    }
}
