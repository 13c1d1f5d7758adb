#![allow(clippy::unwrap_used)]

use super::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;

/// Gives what it is sent, a message a call; an empty one is its end.
struct Sent(Receiver<Vec<u8>>);

impl Read for Sent {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Ok(message) = self.0.recv() else { return Err(io::Error::other("the line is dead")) };
        buffer[..message.len()].copy_from_slice(&message);
        Ok(message.len())
    }
}

/// Reads until there is something.
fn take(ahead: &mut Ahead, most: usize) -> io::Result<Vec<u8>> {
    let mut buffer = vec![0; most];
    loop {
        match ahead.read(&mut buffer) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            read => return read.map(|read| buffer[..read].to_vec()),
        }
    }
}

#[test]
fn what_comes_is_given_out_without_waiting_for_more() {
    let (line, messages) = channel();
    let mut ahead = Ahead::of(Sent(messages), Pieces::Coming).unwrap();
    assert_eq!(ahead.read(&mut [0; 8]).unwrap_err().kind(), ErrorKind::WouldBlock);
    line.send(b"hello".to_vec()).unwrap();
    assert_eq!(take(&mut ahead, 3).unwrap(), b"hel");
    assert_eq!(take(&mut ahead, 9).unwrap(), b"lo");
    assert_eq!(ahead.read(&mut [0; 8]).unwrap_err().kind(), ErrorKind::WouldBlock);
    line.send(Vec::new()).unwrap();
    assert_eq!(take(&mut ahead, 9).unwrap(), b"");
    assert_eq!(ahead.read(&mut [0; 8]).unwrap(), 0);
}

#[test]
fn what_came_before_a_failure_is_given_out_first() {
    for pieces in [Pieces::Coming, Pieces::Of(100)] {
        let (line, messages) = channel();
        let mut ahead = Ahead::of(Sent(messages), pieces).unwrap();
        line.send(b"last words".to_vec()).unwrap();
        drop(line);
        assert_eq!(take(&mut ahead, 100).unwrap(), b"last words");
        assert_eq!(take(&mut ahead, 100).unwrap_err().to_string(), "the line is dead");
        assert_eq!(ahead.read(&mut [0; 8]).unwrap(), 0);
    }
}

/// Endless, and counts what was taken of it.
struct Endless(Arc<AtomicUsize>);

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        buffer.fill(1);
        self.0.fetch_add(buffer.len(), Ordering::SeqCst);
        Ok(buffer.len())
    }
}

#[test]
fn the_thread_is_ahead_by_a_few_blocks_and_ends_with_its_taker() {
    let read = Arc::new(AtomicUsize::new(0));
    let mut ahead = Ahead::of(Endless(Arc::clone(&read)), Pieces::Of(1_000)).unwrap();
    let mut taken = 0;
    while taken < 100 * BLOCK {
        taken += take(&mut ahead, BLOCK).unwrap().len();
        assert!(read.load(Ordering::SeqCst) <= taken + (WAITING + 2) * BLOCK);
    }
    drop(ahead);
    // The thread holds the reader: when that is gone, so is the thread.
    while Arc::strong_count(&read) > 1 {
        thread::yield_now();
    }
}

struct Broken;

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        panic!("as a decoder with a fault does");
    }
}

#[test]
fn a_thread_that_fails_is_no_end() {
    let mut ahead = Ahead::of(Broken, Pieces::Coming).unwrap();
    assert_eq!(take(&mut ahead, 8).unwrap_err().to_string(), "the thread that reads it has failed");
}
