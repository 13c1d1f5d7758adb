//! Segments that arrived beyond a hole, as runs: there are few, because nothing overtakes on the
//! path.

use std::collections::VecDeque;

#[derive(Debug, Default)]
pub(super) struct OutOfOrderQueue {
    /// Ascending and apart: first segment, and the one behind the last.
    runs: VecDeque<(usize, usize)>,
}

impl OutOfOrderQueue {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    pub(super) fn insert(&mut self, segment: usize) {
        let at = match self.runs.back() {
            // Mostly it is the next one.
            Some(last) if last.1 == segment => self.runs.len() - 1,
            _ => self.runs.partition_point(|run| run.1 < segment),
        };
        let follows = self.runs.get(at + 1).copied().filter(|next| next.0 == segment + 1);
        match self.runs.get_mut(at) {
            Some(run) if run.1 == segment => match follows {
                Some(next) => {
                    run.1 = next.1;
                    self.runs.remove(at + 1);
                }
                None => run.1 += 1,
            },
            Some(run) if run.0 <= segment => {}
            Some(run) if run.0 == segment + 1 => run.0 = segment,
            _ => self.runs.insert(at, (segment, segment + 1)),
        }
    }

    /// Takes the contiguous segments after all before `next` arrived; returns the next missing one.
    pub(super) fn take(&mut self, next: usize) -> usize {
        match self.runs.front() {
            Some(&(first, end)) if first == next => {
                self.runs.pop_front();
                end
            }
            _ => next,
        }
    }
}

#[cfg(test)]
mod tests;
