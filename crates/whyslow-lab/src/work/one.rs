//! Work on one connection without TLS, which both programs open, use and close.

use super::stream::Stream;
use super::{Opened, Transfer};
use crate::sample::{Sampler, now};
use crate::scenario::host::SocketOptions;
use std::io;
use std::net::{SocketAddr, TcpListener};

/// The client's: connects, does its part, and closes first. The part gets the start of connecting
/// as an argument.
pub fn connect(
    peer: SocketAddr,
    options: &SocketOptions,
    sampler: &Sampler,
    part: impl FnOnce(&mut Stream, u64) -> io::Result<Vec<Transfer>>,
) -> io::Result<(Vec<Opened>, Vec<Transfer>)> {
    let start = now();
    let mut stream = Stream::connect(peer, options, None, sampler)?;
    let transfers = part(&mut stream, start)?;
    let opened = stream.opened.clone();
    stream.close_first()?;
    Ok((vec![opened], transfers))
}

/// The server's: accepts, does its part, and closes behind the client.
pub fn accept(
    listener: &TcpListener,
    sampler: &Sampler,
    part: impl FnOnce(&mut Stream) -> io::Result<()>,
) -> io::Result<Vec<Opened>> {
    let mut stream = Stream::accept(listener, None, sampler)?;
    part(&mut stream)?;
    let opened = stream.opened.clone();
    stream.close_second()?;
    Ok(vec![opened])
}
