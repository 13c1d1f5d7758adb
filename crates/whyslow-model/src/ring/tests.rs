#![allow(clippy::unwrap_used)]

use super::*;
use std::collections::VecDeque;

/// Equal to a deque with a separate counter.
#[test]
fn entries_are_found_by_number_as_the_ring_moves() {
    let (mut ring, mut deque, mut gone) = (Ring::new(9), VecDeque::new(), 0);
    for step in 0..5_000usize {
        let (comes, goes) = (step * 7 % 5, step * 11 % 4);
        for _ in 0..comes {
            ring.push(step);
            deque.push_back(step);
        }
        for _ in 0..goes {
            ring.pop();
            gone += usize::from(deque.pop_front().is_some());
        }
        assert_eq!(ring.end(), gone + deque.len());
        assert_eq!((ring.front(), ring.back()), (deque.front(), deque.back()));
        for number in [gone, gone + deque.len() / 2, gone + deque.len()] {
            assert_eq!(ring.get(number), deque.get(number - gone), "{number} of {gone}+{}", deque.len());
        }
        assert_eq!(gone.checked_sub(1).and_then(|before| ring.get(before)), None);
    }
    *ring.get_mut(gone + 1).unwrap() = 77;
    assert_eq!(ring.get(gone + 1), Some(&77));
    ring.pop_before(gone + 1);
    assert_eq!(ring.front(), Some(&77));
    ring.pop_before(usize::MAX);
    assert_eq!((ring.front(), ring.end()), (None, gone + deque.len()));
}
