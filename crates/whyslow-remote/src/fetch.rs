//! An object's bytes over as many connections as it takes.

use crate::place::{Facts, Failure, Pieces, Place, Version};
use bytes::Bytes;
use futures_util::StreamExt;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::Sender;

/// Number of further requests before the first byte: a user with a mistyped host waits less than a
/// second.
const OPENING: u32 = 3;
/// How often the rest is asked for again without a further byte: 13 s, enough for a server that
/// restarts.
const RESUMING: u32 = 7;
/// The wait before the first repetition; each one after it waits twice as long.
const PAUSE: Duration = Duration::from_millis(100);

/// The first bytes, and their object's state.
///
/// # Errors
/// When they do not come, or are of another version.
pub(crate) async fn open(place: &dyn Place, version: Option<&Version>) -> Result<(Facts, Pieces), Failure> {
    let mut tries = 0;
    loop {
        match place.get(0, version).await {
            Err(Failure::Broken(why)) => pause(&mut tries, OPENING, why).await?,
            result => return result,
        }
    }
}

/// Sends all bytes of an object, or the error that ends them. Waits while the receiver has enough.
pub(crate) async fn pump(place: Arc<dyn Place>, opened: (Facts, Pieces), to: Sender<io::Result<Bytes>>) {
    let (facts, mut pieces) = opened;
    let (mut at, mut tries) = (0_u64, 0);
    loop {
        let failure = match pieces.next().await {
            Some(Ok(piece)) => {
                at += piece.len() as u64;
                tries = 0;
                if to.send(Ok(piece)).await.is_err() {
                    return;
                }
                continue;
            }
            None if facts.size.is_none_or(|size| at >= size) => return,
            None => Failure::Broken("the connection was closed before the end".to_owned()),
            Some(Err(failure)) => failure,
        };
        match resume(&*place, at, &facts.version, &mut tries, failure).await {
            Ok(rest) => pieces = rest,
            Err(failure) => {
                // A closed channel means that the reader has stopped.
                let _ = to.send(Err(failure.into())).await;
                return;
            }
        }
    }
}

/// The bytes from here on, after this failure.
async fn resume(
    place: &dyn Place,
    at: u64,
    version: &Version,
    tries: &mut u32,
    mut failure: Failure,
) -> Result<Pieces, Failure> {
    loop {
        let Failure::Broken(why) = failure else { return Err(failure) };
        if !version.is_known() {
            let why = format!(
                "{why}; the rest was not asked for, as the server names neither ETag nor date that would show whether \
                 it is still the same: fetch it to a file and read that"
            );
            return Err(Failure::Refused(io::ErrorKind::Other, why));
        }
        pause(tries, RESUMING, why).await?;
        match place.get(at, Some(version)).await {
            Ok((_, pieces)) => return Ok(pieces),
            Err(next) => failure = next,
        }
    }
}

/// Waits before the next try.
///
/// # Errors
/// When it was tried often enough.
async fn pause(tries: &mut u32, most: u32, why: String) -> Result<(), Failure> {
    if *tries >= most {
        return Err(Failure::Refused(io::ErrorKind::Other, format!("{why} (tried {} times)", most + 1)));
    }
    tokio::time::sleep(PAUSE * (1 << *tries)).await;
    *tries += 1;
    Ok(())
}

#[cfg(test)]
mod tests;
