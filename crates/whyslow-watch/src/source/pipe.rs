//! [`Pipe`]: a capture on standard input, as it comes.

use super::reads::{Reads, WAIT, summarize};
use crate::intake::Intake;
use anyhow::Context;
use std::io::{self, Read, stdin};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use whyslow_core::capture::Reader;

/// Bytes that are read at once, and how many such pieces wait.
const PIECE: usize = 256 << 10;
const PIECES: usize = 16;

/// Standard input, which a thread of its own waits for.
pub(crate) struct Pipe {
    pieces: Receiver<io::Result<Vec<u8>>>,
    reader: Reader,
}

impl Pipe {
    pub(super) fn start() -> Self {
        let (send, pieces) = sync_channel(PIECES);
        thread::spawn(move || {
            let mut input = stdin().lock();
            loop {
                let mut piece = vec![0; PIECE];
                let read = input.read(&mut piece).map(|length| {
                    piece.truncate(length);
                    piece
                });
                let is_last = !matches!(&read, Ok(piece) if !piece.is_empty());
                if send.send(read).is_err() || is_last {
                    return;
                }
            }
        });
        Self { pieces, reader: Reader::new() }
    }

    pub(super) fn read(&mut self, intake: &mut Intake) -> anyhow::Result<Reads> {
        let piece = match self.pieces.recv_timeout(WAIT) {
            Ok(Ok(piece)) if piece.is_empty() => return Ok(Reads::End),
            Err(RecvTimeoutError::Disconnected) => return Ok(Reads::End),
            Err(RecvTimeoutError::Timeout) => return Ok(Reads::Nothing),
            Ok(Err(error)) => return Err(error).context("standard input"),
            Ok(Ok(piece)) => piece,
        };
        self.reader.push(&piece, intake).context("standard input")?;
        Ok(Reads::More)
    }

    pub(super) fn finish(self, intake: &mut Intake) -> anyhow::Result<()> {
        summarize(self.reader, intake).context("standard input")
    }
}
