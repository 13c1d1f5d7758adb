//! A conversation on one connection: each end writes its messages when it has read the data they
//! wait for, and reads meanwhile.

use super::stream::Stream;
use super::{Transfer, during, sleep_until};
use crate::sample::{now, queue};
use crate::scenario::script::{Growth, Reading, Script};
use crate::scenario::units::{Size, Time};
use crate::scenario::work::{Pace, Side};
use nix::sys::socket::getsockopt;
use nix::sys::socket::sockopt::TcpMaxSeg;
use std::io::{self, Read};
use std::net::TcpStream;
use std::os::fd::AsRawFd;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// The client's part.
pub fn client(work: &Script, stream: &mut Stream, start: u64) -> io::Result<Vec<Transfer>> {
    let (begun, arrived) = converse(stream, work, Side::Client)?;
    Ok(transfers(work, start, &begun, &arrived))
}

/// The server's part.
pub fn server(work: &Script, stream: &mut Stream) -> io::Result<()> {
    converse(stream, work, Side::Server).map(drop)
}

/// When each number of bytes had been read: ascending in both.
type Arrivals = Vec<(u64, u64)>;

/// Sends this side's messages. Returns when each of them began, when the data that it waited for
/// had been read, and when each message of the other side had been read.
fn converse(stream: &mut Stream, work: &Script, side: Side) -> io::Result<(Vec<u64>, Arrivals)> {
    let all = work.with_needs();
    let other = if side == Side::Client { Side::Server } else { Side::Client };
    let total = work.bytes_of(other);
    let shared = Arrived { state: Mutex::default(), changed: Condvar::new() };
    let reading = if side == Side::Client { &work.client_reads } else { &work.server_reads };
    let window = if side == Side::Client { work.client_window } else { work.server_window };
    let places = places(work, side);
    let socket = stream.tcp().try_clone()?;
    let begun = std::thread::scope(|scope| -> io::Result<Vec<u64>> {
        let reader = scope.spawn(|| read(socket, reading, total, &places, &shared));
        let own = all.iter().filter(|(message, _)| message.from == side);
        let (mut begun, mut seen, mut base, mut sent) = (Vec::new(), 0, now(), 0);
        for (message, needs) in own {
            if *needs > seen {
                base = shared.wait_for(*needs)?;
                seen = *needs;
            }
            // A late message does not delay the later ones.
            base = base.saturating_add(message.wait.0);
            sleep_until(base);
            begun.push(now());
            match window {
                Some(window) => send_within(stream, message.size.0, window, &mut sent)?,
                None => stream.send(message.size.0, &Pace { chunk: work.chunk, every: Time(0) })?,
            }
        }
        reader.join().unwrap_or_else(|_| Err(io::Error::other("the reader panicked")))?;
        Ok(begun)
    })?;
    let state = shared.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok((begun, state.arrivals))
}

/// Interval of reading the acknowledged bytes: far below a round trip for which a window
/// matters.
const LOOK: Duration = Duration::from_micros(100);

/// Sends a message with no more in flight than a window, of which `sent` bytes were used before.
/// As TCP does, it waits until a full segment fits (RFC 1122 section 4.2.3.4).
fn send_within(stream: &mut Stream, size: u64, window: Growth, sent: &mut u64) -> io::Result<()> {
    let segment = u64::from(getsockopt(stream.tcp(), TcpMaxSeg)?.max(1));
    let mut left = size;
    while left > 0 {
        let in_flight = queue(stream.tcp().as_raw_fd(), libc::TIOCOUTQ)
            .ok_or_else(|| io::Error::other("the kernel does not say what is in flight"))?;
        let acked = sent.saturating_sub(in_flight);
        let room = window.window(acked).saturating_sub(in_flight);
        if room < left.min(segment) && in_flight > 0 {
            std::thread::sleep(LOOK);
            continue;
        }
        let write = if room >= left { left } else { (room - room % segment).max(segment).min(left) };
        stream.send(write, &Pace { chunk: Size(write), every: Time(0) })?;
        *sent += write;
        left -= write;
    }
    Ok(())
}

/// The numbers of bytes whose arrival matters to this side: what its messages wait for, and where
/// messages of the other side begin and end.
fn places(work: &Script, side: Side) -> Vec<u64> {
    let mut places = Vec::new();
    let mut before = 0_u64;
    for (message, needs) in work.with_needs() {
        if message.from == side {
            places.push(needs);
        } else {
            places.push(before + 1);
            before = before.saturating_add(message.size.0);
            places.push(before);
        }
    }
    places.retain(|place| *place > 0);
    places.sort_unstable();
    places.dedup();
    places
}

/// When this many bytes had been read.
fn reached(arrivals: &Arrivals, bytes: u64) -> Option<u64> {
    arrivals.get(arrivals.partition_point(|(place, _)| *place < bytes)).map(|(_, at)| *at)
}

/// The received data.
struct Arrived {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    arrivals: Arrivals,
    /// Nothing more will come.
    is_over: bool,
}

impl Arrived {
    /// Waits until this many bytes have been read, and returns when that was.
    fn wait_for(&self, bytes: u64) -> io::Result<u64> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(at) = reached(&state.arrivals, bytes) {
                return Ok(at);
            }
            if state.is_over {
                let text = format!("the other end left before it had said {bytes} bytes");
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, text));
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
        self.changed.notify_all();
    }
}

/// Reads all bytes of the other end, and notes when the places had been reached.
fn read(mut socket: TcpStream, reading: &Reading, total: u64, places: &[u64], to: &Arrived) -> io::Result<()> {
    let done = read_all(&mut socket, reading, total, places, to);
    to.change(|state| state.is_over = true);
    done
}

fn read_all(socket: &mut TcpStream, reading: &Reading, total: u64, places: &[u64], to: &Arrived) -> io::Result<()> {
    let mut buffer = vec![0; reading.chunk.len().clamp(1, 1 << 22)];
    let mut stops = reading.stops.iter().peekable();
    let (mut done, mut first, mut reached) = (0_u64, None, 0);
    while done < total {
        // Not beyond a stop.
        let next = stops.peek().map_or(total, |stop| stop.at.0.clamp(done + 1, total));
        let want = usize::try_from(next - done).unwrap_or(usize::MAX).min(buffer.len());
        let n = match socket.read(buffer.get_mut(..want).unwrap_or_default()) {
            Ok(0) => {
                let text = format!("the connection ended after {done} of {total} bytes");
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, text));
            }
            Ok(n) => n as u64,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => return Err(during("read")(e)),
        };
        done += n;
        let at = now();
        let start = *first.get_or_insert(at);
        let end = reached + places.get(reached..).unwrap_or_default().partition_point(|place| *place <= done);
        if end > reached {
            let come = places.get(reached..end).unwrap_or_default();
            to.change(|state| state.arrivals.extend(come.iter().map(|place| (*place, at))));
            reached = end;
        }
        while let Some(stop) = stops.next_if(|stop| stop.at.0 <= done) {
            std::thread::sleep(stop.length.duration());
        }
        if let Some(rate) = reading.rate {
            let due = u128::from(done) * 8 * 1_000_000_000 / u128::from(rate.0.max(1));
            sleep_until(start.saturating_add(u64::try_from(due).unwrap_or(u64::MAX)));
        }
    }
    Ok(())
}

/// The client's account: an exchange for each run of the server's messages, with the client's last
/// message before it.
fn transfers(work: &Script, start: u64, begun: &[u64], arrived: &Arrivals) -> Vec<Transfer> {
    let when = |place: u64| reached(arrived, place);
    let mut begun = begun.iter().copied();
    let (mut request, mut sent, mut open) = (start, 0_u64, false);
    let mut all: Vec<Transfer> = Vec::new();
    for message in &work.messages {
        if message.from == Side::Client {
            request = begun.next().unwrap_or(request);
            open = false;
            continue;
        }
        if !open {
            let first_byte = when(sent + 1).unwrap_or(request);
            let began = if all.is_empty() { start } else { request };
            all.push(Transfer { connection: 0, start: began, request, first_byte, end: first_byte, bytes: 0 });
            open = true;
        }
        sent = sent.saturating_add(message.size.0);
        if let Some(last) = all.last_mut() {
            last.bytes += message.size.0;
            last.end = when(sent).unwrap_or(last.end);
        }
    }
    if all.is_empty() {
        let end = now();
        let bytes = work.bytes_of(Side::Client);
        all.push(Transfer { connection: 0, start, request, first_byte: end, end, bytes });
    }
    all
}
