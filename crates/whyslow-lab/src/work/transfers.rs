//! Downloads and uploads: one or many, on new or on one reused connection, plain or as HTTP/1.1.

use super::stream::{Stream, Tls};
use super::{Opened, Transfer, during, metrics};
use crate::sample::{Sampler, now};
use crate::scenario::host::SocketOptions;
use crate::scenario::units::Size;
use crate::scenario::work::{Connection, Pace, Reader, Side, Transfers};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener};

/// Which way the payload goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the server.
    Down,
    /// From the client.
    Up,
}

/// The head of an HTTP message may not be longer.
const MAX_HEAD: usize = 16_384;

/// The client's part.
pub fn client(
    work: &Transfers,
    direction: Direction,
    peer: SocketAddr,
    options: &SocketOptions,
    tls: Option<&Tls>,
    sampler: &Sampler,
) -> io::Result<(Vec<Opened>, Vec<Transfer>)> {
    let (mut connections, mut transfers): (Vec<Opened>, Vec<Transfer>) = (Vec::new(), Vec::new());
    let mut open: Option<Stream> = None;
    let sizes = work.all_sizes();
    for (index, size) in sizes.iter().enumerate() {
        if index > 0 {
            std::thread::sleep(work.pause.duration());
        }
        let start = now();
        let mut stream = match open.take() {
            Some(stream) => stream,
            None => {
                if work.forget && direction == Direction::Up {
                    metrics::forget().map_err(during("forget tcp_metrics"))?;
                }
                let stream = Stream::connect(peer, options, tls, sampler)?;
                connections.push(stream.opened.clone());
                stream
            }
        };
        let last = index + 1 == sizes.len();
        let keep = work.connection == Connection::Reused && !last;
        let mut transfer = exchange(&mut stream, work, direction, *size, keep)?;
        transfer.start = start;
        transfer.connection = connections.len().saturating_sub(1);
        transfers.push(transfer);
        if keep {
            open = Some(stream);
        } else {
            close(stream, work.closes == Side::Client)?;
        }
    }
    Ok((connections, transfers))
}

fn exchange(
    stream: &mut Stream,
    work: &Transfers,
    direction: Direction,
    size: Size,
    keep: bool,
) -> io::Result<Transfer> {
    let request = now();
    let http = work.protocol.http();
    if http {
        let (method, length) = match direction {
            Direction::Down => ("GET", String::new()),
            Direction::Up => ("POST", format!("Content-Length: {}\r\n", size.0)),
        };
        let connection = if keep { "keep-alive" } else { "close" };
        let name = super::stream::SERVER_NAME;
        write!(
            stream,
            "{method} /{size} HTTP/1.1\r\nHost: {name}\r\nUser-Agent: whyslow-lab\r\n{length}Connection: {connection}\r\n\r\n",
        )
        .map_err(during("request"))?;
    }
    let first_byte = match direction {
        Direction::Down => {
            if !http {
                stream.send(work.request.0, &Pace::default())?;
            }
            let first = if http { Some(response(stream, size)?) } else { None };
            let body = stream.receive(size.0, &work.read)?;
            first.unwrap_or(body)
        }
        Direction::Up => {
            stream.send(size.0, &work.write)?;
            if http { response(stream, Size(0))? } else { stream.receive(work.request.0, &Reader::default())? }
        }
    };
    Ok(Transfer { connection: 0, start: 0, request, first_byte, end: now(), bytes: size.0 })
}

/// Reads the head of a response and returns when its first byte came.
fn response(stream: &mut Stream, body: Size) -> io::Result<u64> {
    let (head, first) = head(stream)?;
    let expected = format!("content-length: {}", body.0);
    let mut lines = head.lines();
    let fine = lines.next().is_some_and(|status| status.starts_with("HTTP/1.1 200 "))
        && lines.any(|line| line.to_ascii_lowercase() == expected);
    if fine { Ok(first) } else { Err(io::Error::other(format!("an unexpected response: {head:?}"))) }
}

/// Reads up to the blank line, a byte at a time so that nothing of the body is taken.
fn head(stream: &mut Stream) -> io::Result<(String, u64)> {
    let (mut text, mut first) = (Vec::new(), 0);
    let mut byte = [0];
    while !text.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).map_err(during("HTTP head"))?;
        if text.is_empty() {
            first = now();
        }
        text.extend_from_slice(&byte);
        if text.len() > MAX_HEAD {
            return Err(io::Error::other("the head of an HTTP message is too long"));
        }
    }
    Ok((String::from_utf8_lossy(&text).into_owned(), first))
}

fn close(stream: Stream, first: bool) -> io::Result<()> {
    if first { stream.close_first() } else { stream.close_second() }
}

/// The server's part: serves what the client will ask for and returns.
pub fn server(
    work: &Transfers,
    direction: Direction,
    listener: &TcpListener,
    tls: Option<&Tls>,
    sampler: &Sampler,
) -> io::Result<Vec<Opened>> {
    let mut connections = Vec::new();
    let mut open: Option<Stream> = None;
    let sizes = work.all_sizes();
    for (index, size) in sizes.iter().enumerate() {
        let mut stream = match open.take() {
            Some(stream) => stream,
            None => {
                if work.forget && direction == Direction::Down {
                    // The kernel remembers when the peer has acknowledged the end: not before half the pause, let us say.
                    std::thread::sleep(work.pause.duration() / 2);
                    metrics::forget().map_err(during("forget tcp_metrics"))?;
                }
                let stream = Stream::accept(listener, tls, sampler)?;
                connections.push(stream.opened.clone());
                stream
            }
        };
        serve(&mut stream, work, direction, *size)?;
        if work.connection == Connection::Reused && index + 1 < sizes.len() {
            open = Some(stream);
        } else {
            close(stream, work.closes == Side::Server)?;
        }
    }
    Ok(connections)
}

fn serve(stream: &mut Stream, work: &Transfers, direction: Direction, size: Size) -> io::Result<()> {
    let http = work.protocol.http();
    if http {
        head(stream)?;
    }
    match direction {
        Direction::Down => {
            if !http {
                stream.receive(work.request.0, &Reader::default())?;
            }
        }
        Direction::Up => {
            stream.receive(size.0, &work.read)?;
        }
    }
    std::thread::sleep(work.think.duration());
    if http {
        let length = if direction == Direction::Down { size.0 } else { 0 };
        let head = format!("HTTP/1.1 200 OK\r\nServer: whyslow-lab\r\nContent-Length: {length}\r\n\r\n");
        stream.write_all(head.as_bytes()).map_err(during("response"))?;
    }
    match direction {
        Direction::Down => stream.send(size.0, &work.write),
        Direction::Up if http => Ok(()),
        Direction::Up => stream.send(work.request.0, &Pace::default()),
    }
}
