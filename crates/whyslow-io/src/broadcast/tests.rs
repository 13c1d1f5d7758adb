#![allow(clippy::unwrap_used)]

use super::*;
use std::cell::Cell;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// Writes a number into a block, and fills this number of bytes.
fn number(block: &mut Block, number: u64, bytes: usize) -> Result<Filled, Error> {
    block.free(8).copy_from_slice(&number.to_le_bytes());
    block.add(bytes);
    Ok(Filled::Bytes)
}

fn read(block: &Block) -> u64 {
    u64::from_le_bytes(*block.first_chunk().unwrap())
}

fn failure() -> Error {
    Error::Read { name: "in".to_owned(), offset: 7, cause: io::Error::other("the disk is gone") }
}

#[test]
fn every_reader_takes_all_blocks_in_order_and_none_is_far_ahead() {
    const BLOCKS: u64 = 200;
    for (readers, helped) in [(1, false), (1, true), (2, false), (3, false), (8, false)] {
        let fetched = AtomicU64::new(0);
        let broadcast =
            BlockBroadcast::new(readers, |block: &mut Block| match fetched.fetch_add(1, Ordering::SeqCst) {
                BLOCKS => Ok(Filled::End),
                next => number(block, next, usize::MAX),
            });
        let take_all = |pace: u64| {
            let mut reader = broadcast.reader();
            for expected in 0..BLOCKS {
                let block = reader.next().unwrap();
                // The slower ones are not the same all the time.
                for _ in 0..(expected * pace) % 7 {
                    thread::yield_now();
                }
                assert_eq!(read(block), expected);
                assert!(fetched.load(Ordering::SeqCst) <= expected + LENGTH as u64);
            }
            assert!(reader.next().is_none() && reader.has_read_all());
        };
        thread::scope(|scope| {
            if helped {
                scope.spawn(|| broadcast.fetch_all());
            }
            for pace in 0..readers as u64 {
                scope.spawn(move || take_all(pace));
            }
        });
        assert!(matches!(broadcast.end(), Some(Ok(None))), "{readers} readers");
        // The end was met once.
        assert_eq!(fetched.into_inner(), BLOCKS + 1);
    }
}

#[test]
fn what_is_there_is_handed_over_before_more_is_waited_for() {
    thread_local! {
        /// The bytes that this thread has read.
        static WALKED: Cell<u64> = const { Cell::new(0) };
    }
    let mut next = 0;
    let broadcast = BlockBroadcast::new(2, |block: &mut Block| {
        assert_eq!(WALKED.get(), next, "whoever fetches has taken all that there was");
        next += 1;
        if next > 200 { Ok(Filled::Torn("here".to_owned())) } else { number(block, next, 100) }
    });
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut reader = broadcast.reader();
                while let Some(block) = reader.next() {
                    assert_eq!(block.len(), 100);
                    WALKED.set(read(block));
                }
            });
        }
    });
    assert!(matches!(broadcast.end(), Some(Ok(Some(detail))) if detail == "here"));
}

#[test]
fn an_error_comes_behind_the_blocks_before_it() {
    let mut next = 0;
    let broadcast = BlockBroadcast::new(2, |block: &mut Block| {
        next += 1;
        if next > 10 { Err(failure()) } else { number(block, next, usize::MAX) }
    });
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut reader = broadcast.reader();
                assert_eq!((0..10).map(|_| read(reader.next().unwrap())).sum::<u64>(), 55);
                assert!(reader.next().is_none() && !reader.has_read_all());
            });
        }
    });
    assert!(matches!(broadcast.end(), Some(Err(Error::Read { offset: 7, .. }))));
}

#[test]
fn a_reader_that_leaves_ends_the_others() {
    let mut next = 0;
    let broadcast = BlockBroadcast::new(3, |block: &mut Block| {
        next += 1;
        number(block, next, usize::MAX)
    });
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut reader = broadcast.reader();
            (0..5).for_each(|_| assert!(reader.next().is_some()));
        });
        for _ in 0..2 {
            scope.spawn(|| {
                let mut reader = broadcast.reader();
                while reader.next().is_some() {}
                assert!(!reader.has_read_all());
            });
        }
        scope.spawn(|| broadcast.fetch_all());
    });
    assert!(broadcast.end().is_none());
}

#[test]
fn an_error_of_the_source_ends_all_readers() {
    let mut next = 0;
    let broadcast = BlockBroadcast::new(1, |block: &mut Block| {
        next += 1;
        assert!(next < 9, "a fault");
        number(block, next, usize::MAX)
    });
    let failed = thread::scope(|scope| {
        let helper = scope.spawn(|| broadcast.fetch_all());
        let reader = scope.spawn(|| {
            let mut reader = broadcast.reader();
            while reader.next().is_some() {}
        });
        // Either of the two may have met it.
        [helper.join().is_err(), reader.join().is_err()]
    });
    assert_eq!(failed.iter().filter(|failed| **failed).count(), 1);
    assert!(broadcast.end().is_none());
}
