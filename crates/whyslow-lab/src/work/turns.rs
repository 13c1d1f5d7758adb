//! Small messages that wait for each other: request and response in turns, and the write-write-read
//! pattern that Nagle's algorithm and delayed ACKs make slow.

use super::stream::Stream;
use super::{Transfer, during};
use crate::sample::now;
use crate::scenario::units::Time;
use crate::scenario::work::{Pace, Reader, Turns, WriteWriteRead};
use std::io::{self, Write};

/// The common part of both kinds: messages up, one message down, repeated.
#[derive(Clone, Debug)]
pub struct Exchange {
    count: u32,
    /// Sizes of the writes.
    pieces: Vec<u64>,
    response: u64,
    think: Time,
    pause: Time,
}

impl From<&Turns> for Exchange {
    fn from(t: &Turns) -> Self {
        Self {
            count: t.count,
            pieces: vec![t.request.0],
            response: t.response.0,
            think: t.think,
            pause: Time::default(),
        }
    }
}

impl From<&WriteWriteRead> for Exchange {
    fn from(w: &WriteWriteRead) -> Self {
        Self {
            count: w.count,
            pieces: vec![w.head.0, w.body.0],
            response: w.response.0,
            think: Time::default(),
            pause: w.pause,
        }
    }
}

/// The client's part.
pub fn client(work: &Exchange, stream: &mut Stream, mut start: u64) -> io::Result<Vec<Transfer>> {
    let mut turns = Vec::with_capacity(work.count as usize);
    let pieces: Vec<Vec<u8>> = work.pieces.iter().map(|n| vec![b'q'; usize::try_from(*n).unwrap_or(0)]).collect();
    for turn in 0..work.count {
        if turn > 0 {
            std::thread::sleep(work.pause.duration());
            start = now();
        }
        let request = now();
        for piece in &pieces {
            stream.write_all(piece).map_err(during("write"))?;
        }
        let first_byte = stream.receive(work.response, &Reader::default())?;
        turns.push(Transfer { connection: 0, start, request, first_byte, end: now(), bytes: work.response });
    }
    Ok(turns)
}

/// The server's part.
pub fn server(work: &Exchange, stream: &mut Stream) -> io::Result<()> {
    let size = work.pieces.iter().sum();
    for _ in 0..work.count {
        stream.receive(size, &Reader::default())?;
        std::thread::sleep(work.think.duration());
        stream.send(work.response, &Pace::default())?;
    }
    Ok(())
}
