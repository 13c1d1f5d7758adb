//! A queue of contiguous elements: it derefs to a slice.

use std::ops::Deref;

/// First in, first out. Removed elements stay at the front of the memory until room is needed.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct SliceQueue<T> {
    all: Vec<T>,
    /// Number of removed elements at the front.
    removed: usize,
}

impl<T> Default for SliceQueue<T> {
    fn default() -> Self {
        Self { all: Vec::new(), removed: 0 }
    }
}

impl<T: Copy> SliceQueue<T> {
    /// Appends an element.
    #[inline(always)]
    pub fn push(&mut self, one: T) {
        if self.all.len() == self.all.capacity() {
            self.make_room();
        }
        self.all.push(one);
    }

    /// Moves at most one element per removed one, and grows only if at least half of the memory is
    /// used.
    #[inline(never)]
    fn make_room(&mut self) {
        if self.removed > self.all.len() / 2 {
            self.all.drain(..self.removed);
            self.removed = 0;
        }
    }

    /// Removes the first `count` elements, or all if there are fewer.
    #[inline(always)]
    pub fn drop_first(&mut self, count: usize) {
        if count < self.len() {
            self.removed += count;
        } else {
            self.all.clear();
            self.removed = 0;
        }
    }

    #[inline(always)]
    pub fn first(&self) -> Option<&T> {
        self.all.get(self.removed)
    }

    #[inline(always)]
    pub fn len(&self) -> usize {
        self.all.len() - self.removed
    }

    /// Returns whether it is empty: it never contains only removed elements.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns the capacity in elements.
    #[cfg(test)]
    pub fn capacity(&self) -> usize {
        self.all.capacity()
    }

    /// Releases unused memory.
    pub fn shrink_to_fit(&mut self) {
        self.all.drain(..self.removed);
        self.removed = 0;
        self.all.shrink_to_fit();
    }
}

impl<T> Deref for SliceQueue<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        self.all.get(self.removed..).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Push(u8),
        Skip(usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => any::<u8>().prop_map(Step::Push),
            2 => (0..6usize).prop_map(Step::Skip),
        ]
    }

    proptest! {
        #[test]
        fn slice_queue_agrees_with_a_deque(steps in prop::collection::vec(step(), 0..400)) {
            let (mut queue, mut other) = (SliceQueue::default(), VecDeque::new());
            let mut most = 4;
            for step in steps {
                match step {
                    Step::Push(one) => {
                        queue.push(one);
                        other.push_back(one);
                    }
                    Step::Skip(count) => {
                        queue.drop_first(count);
                        other.drain(..count.min(other.len()));
                    }
                }
                prop_assert!(other.iter().eq(queue.iter()));
                prop_assert_eq!((other.len(), other.is_empty()), (queue.len(), queue.is_empty()));
                prop_assert_eq!(other.front(), queue.first());
                most = most.max(other.len());
                prop_assert!(queue.all.len() <= 4 * most, "{} for {}", queue.all.len(), most);
            }
        }
    }
}
