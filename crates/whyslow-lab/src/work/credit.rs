//! A window that the two programs keep above TCP, as an SSH channel (RFC 4254 section 5.2) or an
//! HTTP/2 stream (RFC 9113 section 6.9) does. The sender stops when its credit is used up, whatever
//! TCP would allow.

use super::stream::Stream;
use super::{Transfer, during};
use crate::sample::now;
use crate::scenario::work::{Credit, Pace, Reader};
use std::io::{self, Read, Write};
use std::sync::{Condvar, Mutex, PoisonError};

/// A grant on the wire: the size of an HTTP/2 WINDOW_UPDATE frame.
const GRANT: usize = 13;
/// The request that starts the download.
const REQUEST: u64 = 100;

/// The client's part: reads, and grants the read bytes again.
pub fn client(work: &Credit, stream: &mut Stream, start: u64) -> io::Result<Vec<Transfer>> {
    let request = now();
    stream.send(REQUEST, &Pace::default())?;
    let (mut done, mut owed, mut first_byte) = (0_u64, 0_u64, 0);
    let mut buffer = vec![0; work.message.len().clamp(1, 1 << 22)];
    while done < work.size.0 {
        let n = stream.read(&mut buffer).map_err(during("read"))? as u64;
        if n == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, format!("ended after {done} bytes")));
        }
        if first_byte == 0 {
            first_byte = now();
        }
        done += n;
        owed += n;
        // A grant that is no longer needed would only meet a closed socket.
        if owed >= work.grant.0 && done < work.size.0 {
            let mut frame = [0; GRANT];
            frame[..8].copy_from_slice(&owed.to_be_bytes());
            stream.write_all(&frame).map_err(during("grant"))?;
            owed = 0;
        }
    }
    Ok(vec![Transfer { connection: 0, start, request, first_byte, end: now(), bytes: work.size.0 }])
}

/// The server's part: sends while it has credit. A second thread reads the grants.
pub fn server(work: &Credit, stream: &mut Stream) -> io::Result<()> {
    stream.receive(REQUEST, &Reader::default())?;
    let mut grants = stream.tcp().try_clone()?;
    // The credit, or `None` when the other end has gone.
    let credit = (Mutex::new(Some(work.window.0)), Condvar::new());
    std::thread::scope(|scope| -> io::Result<()> {
        let shared = &credit;
        scope.spawn(move || {
            let mut frame = [0; GRANT];
            loop {
                let granted = grants
                    .read_exact(&mut frame)
                    .ok()
                    .map(|()| frame.first_chunk::<8>().map_or(0, |bytes| u64::from_be_bytes(*bytes)));
                let mut credit = shared.0.lock().unwrap_or_else(PoisonError::into_inner);
                *credit = credit.zip(granted).map(|(have, more)| have.saturating_add(more));
                shared.1.notify_one();
                if granted.is_none() {
                    return;
                }
            }
        });
        let mut left = work.size.0;
        while left > 0 {
            let message = work.message.0.min(left);
            let mut have = credit.0.lock().unwrap_or_else(PoisonError::into_inner);
            while have.is_some_and(|have| have < message) {
                have = credit.1.wait(have).unwrap_or_else(PoisonError::into_inner);
            }
            match have.as_mut() {
                Some(have) => *have -= message,
                None => return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the client left")),
            }
            drop(have);
            stream.send(message, &Pace::default())?;
            left -= message;
        }
        Ok(())
    })
}
