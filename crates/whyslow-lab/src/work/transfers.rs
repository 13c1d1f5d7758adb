//! Downloads and uploads: one or many, on new or on one reused connection, plain or as HTTP/1.1.

use super::stream::{Stream, Tls};
use super::{Opened, Transfer, during, metrics};
use crate::sample::{Sampler, now};
use crate::scenario::host::SocketOptions;
use crate::scenario::units::Size;
use crate::scenario::work::{Connection, Pace, Reader, Side, Transfers};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

/// The direction of the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the server.
    Down,
    /// From the client.
    Up,
}

/// Added to the client's time limit for the server, because the client may start late on a busy
/// machine.
const LATER: Duration = Duration::from_secs(2);

/// The head of an HTTP message may not be longer.
const MAX_HEAD: usize = 16_384;

/// The client's part, or that of several at the same time.
#[derive(Clone, Copy)]
pub struct Client<'a> {
    /// Its workload.
    pub work: &'a Transfers,
    /// The direction of its payload.
    pub direction: Direction,
    /// The address to connect to.
    pub peer: SocketAddr,
    /// Its socket options.
    pub options: &'a SocketOptions,
    /// TLS, if the protocol has it.
    pub tls: Option<&'a Tls>,
    /// Samples its sockets.
    pub sampler: &'a Sampler,
}

impl Client<'_> {
    /// Makes the transfers. Returns its connections, and the times of each transfer.
    pub fn run(&self) -> io::Result<(Vec<Opened>, Vec<Transfer>)> {
        let (mut connections, mut transfers) = (Vec::new(), Vec::new());
        for (opened, moved) in at_once(self.work, || self.one())? {
            let before = connections.len();
            connections.extend(opened);
            transfers.extend(moved.into_iter().map(|t| Transfer { connection: before + t.connection, ..t }));
        }
        Ok((connections, transfers))
    }

    fn one(&self) -> io::Result<(Vec<Opened>, Vec<Transfer>)> {
        let Self { work, direction, .. } = *self;
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
                    let stream = match self.connect() {
                        Err(e) if work.breaks() && is_cut(&e) => {
                            transfers.push(never(start, connections.len()));
                            connections.push(Opened { start, connected: now(), ..Opened::default() });
                            continue;
                        }
                        stream => stream?,
                    };
                    connections.push(stream.opened.clone());
                    stream
                }
            };
            let last = index + 1 == sizes.len();
            let keep = work.connection == Connection::Reused && !last;
            let (mut transfer, is_whole) = exchange(&mut stream, work, direction, *size, keep)?;
            transfer.start = start;
            transfer.connection = connections.len().saturating_sub(1);
            transfers.push(transfer);
            if !is_whole {
                stream.leave();
                if keep {
                    break;
                }
            } else if keep {
                open = Some(stream);
            } else if work.reset_after.is_some() && work.closes == Side::Client {
                stream.reset()?;
            } else {
                tolerated(work, close(stream, work.closes == Side::Client))?;
            }
        }
        Ok((connections, transfers))
    }

    fn connect(&self) -> io::Result<Stream> {
        let Self { peer, options, tls, sampler, .. } = *self;
        match self.work.patience {
            // A transfer in TLS is not cut short.
            Some(patience) => Stream::connect_within(peer, options, Some(patience.duration()), sampler),
            None => Stream::connect(peer, options, tls, sampler),
        }
    }
}

/// Does the same as often as there are clients, at the same time.
fn at_once<T: Send>(work: &Transfers, one: impl Fn() -> io::Result<T> + Sync) -> io::Result<Vec<T>> {
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..work.parallel).map(|_| scope.spawn(&one)).collect();
        let own = one();
        let others = others.into_iter().map(|other| match other.join() {
            Ok(done) => done,
            Err(_) => Err(io::Error::other("a client's thread panicked")),
        });
        std::iter::once(own).chain(others).collect()
    })
}

/// The record of a connection that never opened.
fn never(start: u64, connection: usize) -> Transfer {
    let end = now();
    Transfer { connection, start, request: start, first_byte: end, end, bytes: 0 }
}

/// The record of a transfer, and whether it was complete.
fn exchange(
    stream: &mut Stream,
    work: &Transfers,
    direction: Direction,
    size: Size,
    keep: bool,
) -> io::Result<(Transfer, bool)> {
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
    let (mut bytes, mut is_whole) = (size.0, true);
    let first_byte = match direction {
        Direction::Down => {
            if !http {
                stream.send(work.request.0, &Pace::default())?;
            }
            stream.wait_for(work.patience.map(|time| time.duration()))?;
            let first = match http.then(|| response(stream, size)).transpose() {
                Err(e) if work.breaks() && is_cut(&e) => {
                    let end = now();
                    return Ok((Transfer { connection: 0, start: 0, request, first_byte: end, end, bytes: 0 }, false));
                }
                first => first?,
            };
            // A server that resets is read to its end.
            let enough = work.reset_after.filter(|_| work.closes == Side::Client);
            bytes = 0;
            stream.end_within(work.at_most.map(|time| time.duration()))?;
            let body = match stream.receive_into(&mut bytes, enough.map_or(size.0, |n| n.0.min(size.0)), &work.read) {
                Err(e) if work.breaks() && is_cut(&e) => {
                    is_whole = false;
                    now()
                }
                body => body?,
            };
            if is_whole {
                stream.wait_for(None)?;
            }
            first.unwrap_or(body)
        }
        Direction::Up => {
            stream.send(size.0, &work.write)?;
            if http { response(stream, Size(0))? } else { stream.receive(work.request.0, &Reader::default())? }
        }
    };
    Ok((Transfer { connection: 0, start: 0, request, first_byte, end: now(), bytes }, is_whole))
}

/// Whether the other end refused, closed or reset the connection, or did not answer in time.
fn is_cut(error: &io::Error) -> bool {
    use io::ErrorKind::{
        BrokenPipe, ConnectionRefused, ConnectionReset, NotConnected, TimedOut, UnexpectedEof, WouldBlock,
    };
    let cut = [BrokenPipe, ConnectionRefused, ConnectionReset, NotConnected, TimedOut, UnexpectedEof, WouldBlock];
    cut.contains(&error.kind())
}

/// Whether it completed. An early end is not an error if the workload allows it.
fn tolerated(work: &Transfers, done: io::Result<()>) -> io::Result<bool> {
    match done {
        Err(e) if work.breaks() && is_cut(&e) => Ok(false),
        done => done.map(|()| true),
    }
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

/// The server's part.
#[derive(Clone, Copy)]
pub struct Server<'a> {
    /// Its workload.
    pub work: &'a Transfers,
    /// The direction of the payload.
    pub direction: Direction,
    /// Accepts the clients' connections.
    pub listener: &'a TcpListener,
    /// TLS, if the protocol has it.
    pub tls: Option<&'a Tls>,
    /// Samples its sockets.
    pub sampler: &'a Sampler,
}

impl Server<'_> {
    /// Serves what the clients will ask for and returns its connections.
    pub fn run(self) -> io::Result<Vec<Opened>> {
        Ok(at_once(self.work, || serve_client(self))?.concat())
    }
}

/// Serves all transfers of one client.
fn serve_client(server: Server<'_>) -> io::Result<Vec<Opened>> {
    let Server { work, direction, listener, tls, sampler } = server;
    let mut connections = Vec::new();
    let mut open: Option<Stream> = None;
    let sizes = work.all_sizes();
    // Accepted sockets inherit it.
    let patience = work.patience.map(|patience| patience.duration() + work.pause.duration() + LATER);
    socket2::SockRef::from(listener).set_read_timeout(patience).map_err(during("accept"))?;
    for (index, size) in sizes.iter().enumerate() {
        let mut stream = match open.take() {
            Some(stream) => stream,
            None => {
                if work.forget && direction == Direction::Down {
                    // The kernel remembers when the peer has acknowledged the end: assume not
                    // before half the pause.
                    std::thread::sleep(work.pause.duration() / 2);
                    metrics::forget().map_err(during("forget tcp_metrics"))?;
                }
                let stream = match Stream::accept(listener, tls, sampler) {
                    // No client connected.
                    Err(e) if work.breaks() && is_cut(&e) => break,
                    stream => stream?,
                };
                stream.wait_for(patience)?;
                connections.push(stream.opened.clone());
                stream
            }
        };
        if !tolerated(work, serve(&mut stream, work, direction, index, *size))? {
            stream.leave();
            if work.connection == Connection::Reused {
                break;
            }
        } else if work.reset_after.is_some() && work.closes == Side::Server {
            stream.reset()?;
        } else if work.connection == Connection::Reused && index + 1 < sizes.len() {
            open = Some(stream);
        } else {
            tolerated(work, close(stream, work.closes == Side::Server))?;
        }
    }
    Ok(connections)
}

fn serve(stream: &mut Stream, work: &Transfers, direction: Direction, index: usize, size: Size) -> io::Result<()> {
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
    std::thread::sleep(work.think_before(index).duration());
    if direction == Direction::Down && work.is_unanswered(index) {
        return Ok(());
    }
    if http {
        let length = if direction == Direction::Down { size.0 } else { 0 };
        let head = format!("HTTP/1.1 200 OK\r\nServer: whyslow-lab\r\nContent-Length: {length}\r\n\r\n");
        stream.write_all(head.as_bytes()).map_err(during("response"))?;
    }
    match direction {
        Direction::Down if work.closes == Side::Server => {
            stream.send(work.reset_after.map_or(size.0, |after| size.0.min(after.0)), &work.write)
        }
        Direction::Down => stream.send(size.0, &work.write),
        Direction::Up if http => Ok(()),
        Direction::Up => stream.send(work.request.0, &Pace::default()),
    }
}
