use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

proptest! {
    /// A receiver to which segments come from where it waits for one on, some of them twice.
    #[test]
    fn out_of_order_queue_equals_a_set_of_segments(offsets in prop::collection::vec(0usize..12, 0..200)) {
        let (mut early, mut set, mut next) = (OutOfOrderQueue::default(), BTreeSet::new(), 0);
        for offset in offsets {
            if offset == 0 {
                let mut expected = next + 1;
                while set.remove(&expected) {
                    expected += 1;
                }
                next = early.take(next + 1);
                prop_assert_eq!(next, expected);
            } else {
                early.insert(next + offset);
                set.insert(next + offset);
            }
            let listed: Vec<usize> = early.runs.iter().flat_map(|run| run.0..run.1).collect();
            prop_assert_eq!(&listed, &set.iter().copied().collect::<Vec<_>>());
            prop_assert!(early.runs.iter().zip(early.runs.iter().skip(1)).all(|(run, next)| run.1 < next.0), "{:?}", early.runs);
            prop_assert_eq!(early.is_empty(), set.is_empty());
        }
    }
}
