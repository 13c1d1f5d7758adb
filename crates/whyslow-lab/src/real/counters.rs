//! The kernel's counters for sockets of other processes: those of real programs on a host.
//!
//! Reads all TCP sockets of a namespace at once through sock_diag(7), as `ss -ti` does. A series
//! has the same columns as [`crate::sample`] gives for our own sockets. A socket that reuses the
//! addresses of an earlier one gets a series of its own. Connections of a host with itself are left
//! out. What happens after the last reading is missed: a series may end up to one interval early.

use crate::net::Path;
use crate::net::config::Host;
use crate::sample::{self, Accuracy, MAX_ROWS, Series};
use crate::truth::EndTruth;
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// `TCPDIAG_GETSOCK`: the old request, which asks for sockets of both families.
const GET_SOCKETS: u16 = 18;
const REQUEST_AND_DUMP: u16 = 0x301;
/// States whose sockets have a `struct tcp_info`: all but LISTEN, TIME-WAIT and those that wait for
/// the end of a handshake.
const STATES: u32 = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9 | 1 << 11;
/// Attributes of an answer (linux/inet_diag.h), which are asked for by bits: number 1 by the
/// lowest.
const INFO: u16 = 2;
const CONGESTION: u16 = 4;
const MEMORY: u16 = 7;
/// The addresses, ports and cookie of a socket, in a message.
const ID: usize = 4;
/// `struct inet_diag_msg`.
const MESSAGE: usize = 72;
/// `struct nlmsghdr`.
const HEADER: usize = 16;
const DONE: u16 = 3;
const ERROR: u16 = 2;

/// Reads all sockets of hosts again and again.
pub(crate) struct Counters {
    hosts: Vec<(Host, Sender<()>, JoinHandle<EndTruth>)>,
}

impl Counters {
    /// Starts reading on both hosts.
    pub(crate) fn of_both_ends(path: &Path, every: Duration) -> io::Result<Self> {
        let (client, server) = (
            path.address(Host::Client).map_err(io::Error::other)?,
            path.address(Host::Server).map_err(io::Error::other)?,
        );
        Self::start(path, vec![(Host::Client, vec![server]), (Host::Server, vec![client])], every)
    }

    /// Starts reading on each host its connections with these peers.
    pub(crate) fn start(path: &Path, of: Vec<(Host, Vec<IpAddr>)>, every: Duration) -> io::Result<Self> {
        let mut hosts = Vec::new();
        for (host, peers) in of {
            let (stop, stopped) = mpsc::channel::<()>();
            let socket = path.within(host, open).map_err(io::Error::other)??;
            let read = move || {
                sample::set_timer_slack();
                let mut reader = Reader { socket, peers, series: BTreeMap::new() };
                let mut accuracy = Accuracy { every_ms: every.as_secs_f64() * 1e3, ..Accuracy::default() };
                let mut before: Option<Instant> = None;
                loop {
                    let started = Instant::now();
                    if let Some(before) = before.replace(started) {
                        accuracy.longest_ms = accuracy.longest_ms.max((started - before).as_secs_f64() * 1e3);
                    }
                    accuracy.rounds += 1;
                    // A reading that fails is one reading fewer.
                    let _ = reader.read();
                    let left = every.saturating_sub(started.elapsed());
                    if !matches!(stopped.recv_timeout(left), Err(RecvTimeoutError::Timeout)) {
                        return reader.finish(accuracy);
                    }
                }
            };
            hosts.push((host, stop, path.thread(host, "counters", read).map_err(io::Error::other)?));
        }
        Ok(Self { hosts })
    }

    /// Stops, and returns the series by host.
    pub(crate) fn finish(self) -> BTreeMap<String, EndTruth> {
        let end = |(host, stop, thread): (Host, Sender<()>, JoinHandle<EndTruth>)| {
            drop(stop);
            (host.name().to_owned(), thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        };
        self.hosts.into_iter().map(end).collect()
    }
}

fn open() -> io::Result<OwnedFd> {
    // SAFETY: makes a descriptor and touches no memory.
    let fd = unsafe { libc::socket(libc::AF_NETLINK, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, libc::NETLINK_SOCK_DIAG) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just returned it, and it has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

struct Reader {
    socket: OwnedFd,
    peers: Vec<IpAddr>,
    /// By the kernel's cookie, which is unique.
    series: BTreeMap<u64, Series>,
}

impl Reader {
    /// Reads every socket once.
    fn read(&mut self) -> io::Result<()> {
        send(&self.socket, &request())?;
        let mut space = vec![0_u8; 64 * 1024];
        loop {
            let got = receive(&self.socket, &mut space)?;
            let t = sample::now();
            let mut rest = space.get(..got).unwrap_or_default();
            while let Some((kind, body)) = next_message(&mut rest) {
                match kind {
                    DONE | ERROR => return Ok(()),
                    _ => self.keep(t, body),
                }
            }
        }
    }

    fn keep(&mut self, t: u64, body: &[u8]) {
        let Some(counters) = SocketCounters::parse(body).filter(|counters| self.peers.contains(&counters.peer.ip()))
        else {
            return;
        };
        let row = sample::row(t, counters.info, &counters.memory, counters.unread, counters.unacknowledged);
        let connection = self.series.len();
        let series = self.series.entry(counters.cookie).or_insert_with(|| Series {
            connection,
            local: counters.local.to_string(),
            peer: counters.peer.to_string(),
            congestion: counters.congestion.to_owned(),
            ..Series::default()
        });
        if series.rows.last().is_some_and(|last| last.v == row.v) {
        } else if series.rows.len() < MAX_ROWS {
            series.rows.push(row);
        } else {
            series.dropped += 1;
        }
    }

    fn finish(self, sampling: Accuracy) -> EndTruth {
        let mut sockets: Vec<Series> = self.series.into_values().collect();
        sockets.sort_by_key(|series| series.connection);
        EndTruth { connections: Vec::new(), transfers: Vec::new(), sockets, sampling, cpu_us: 0, waited_us: 0 }
    }
}

/// One socket's part of a message.
struct SocketCounters<'a> {
    cookie: u64,
    local: SocketAddr,
    peer: SocketAddr,
    unread: u32,
    unacknowledged: u32,
    info: &'a [u8],
    memory: Vec<u32>,
    congestion: &'a str,
}

impl<'a> SocketCounters<'a> {
    fn parse(body: &'a [u8]) -> Option<Self> {
        let head = body.get(..MESSAGE)?;
        let word = |at: usize| Some(u32::from_ne_bytes(head.get(at..at + 4)?.try_into().ok()?));
        let port = |at: usize| Some(u16::from_be_bytes(head.get(at..at + 2)?.try_into().ok()?));
        let address = |at: usize| -> Option<IpAddr> {
            let bytes: [u8; 16] = head.get(at..at + 16)?.try_into().ok()?;
            let four = Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3]);
            let is_six = i32::from(head[0]) == libc::AF_INET6;
            Some(if is_six { Ipv6Addr::from(bytes).to_canonical() } else { four.into() })
        };
        let mut counters = Self {
            cookie: u64::from(word(ID + 40)?) | u64::from(word(ID + 44)?) << 32,
            local: SocketAddr::new(address(ID + 4)?, port(ID)?),
            peer: SocketAddr::new(address(ID + 20)?, port(ID + 2)?),
            unread: word(56)?,
            unacknowledged: word(60)?,
            info: &[],
            memory: Vec::new(),
            congestion: "",
        };
        let mut rest = body.get(MESSAGE..)?;
        while let Some((kind, value)) = next_attribute(&mut rest) {
            match kind {
                INFO => counters.info = value,
                MEMORY => {
                    counters.memory =
                        value.chunks_exact(4).filter_map(|v| Some(u32::from_ne_bytes(v.try_into().ok()?))).collect();
                }
                CONGESTION => {
                    counters.congestion = std::str::from_utf8(value).unwrap_or_default().trim_end_matches('\0')
                }
                _ => {}
            }
        }
        (!counters.info.is_empty()).then_some(counters)
    }
}

/// `struct nlmsghdr` and `struct inet_diag_req`.
fn request() -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend(((HEADER + 60) as u32).to_ne_bytes());
    bytes.extend(GET_SOCKETS.to_ne_bytes());
    bytes.extend(REQUEST_AND_DUMP.to_ne_bytes());
    // Sequence number and sender: this program is the only writer.
    bytes.extend([0; 8]);
    let wanted = [INFO, CONGESTION, MEMORY].iter().fold(0_u8, |bits, kind| bits | 1 << (kind - 1));
    bytes.extend([libc::AF_INET as u8, 0, 0, wanted]);
    bytes.extend([0; 48]);
    bytes.extend(STATES.to_ne_bytes());
    bytes.extend([0; 4]);
    bytes
}

fn send(socket: &OwnedFd, bytes: &[u8]) -> io::Result<()> {
    // SAFETY: reads `bytes.len()` bytes of a slice that outlives the call.
    let sent = unsafe { libc::send(socket.as_raw_fd(), bytes.as_ptr().cast(), bytes.len(), 0) };
    if sent < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn receive(socket: &OwnedFd, space: &mut [u8]) -> io::Result<usize> {
    // SAFETY: writes at most `space.len()` bytes to a slice that outlives the call.
    let got = unsafe { libc::recv(socket.as_raw_fd(), space.as_mut_ptr().cast(), space.len(), 0) };
    usize::try_from(got).map_err(|_| io::Error::last_os_error())
}

/// The first message of a buffer: its type and its bytes behind the header.
fn next_message<'a>(rest: &mut &'a [u8]) -> Option<(u16, &'a [u8])> {
    let len = u32::from_ne_bytes(rest.get(..4)?.try_into().ok()?) as usize;
    let kind = u16::from_ne_bytes(rest.get(4..6)?.try_into().ok()?);
    let body = rest.get(HEADER..len)?;
    *rest = rest.get(len.next_multiple_of(4)..).unwrap_or_default();
    Some((kind, body))
}

fn next_attribute<'a>(rest: &mut &'a [u8]) -> Option<(u16, &'a [u8])> {
    let len = usize::from(u16::from_ne_bytes(rest.get(..2)?.try_into().ok()?));
    let kind = u16::from_ne_bytes(rest.get(2..4)?.try_into().ok()?);
    let value = rest.get(4..len)?;
    *rest = rest.get(len.next_multiple_of(4)..).unwrap_or_default();
    Some((kind, value))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_sockets_account_is_the_same_for_every_user() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (far, _) = listener.accept().unwrap();
        near.write_all(&[7; 1000]).unwrap();
        let mut reader =
            Reader { socket: open().unwrap(), peers: vec![[127, 0, 0, 1].into()], series: BTreeMap::new() };
        reader.read().unwrap();
        let local = near.local_addr().unwrap().to_string();
        let counters = reader.series.values().find(|series| series.local == local).unwrap();
        use std::os::fd::AsFd;
        let own = Series { rows: vec![sample::read(near.as_fd()).unwrap()], ..Series::default() };
        for column in ["state", "snd_mss", "bytes_acked", "bytes_sent", "snd_cwnd", "sndbuf", "rcv_wnd", "rwnd_limited"]
        {
            assert!(counters.last(column).is_some(), "{column}");
            assert_eq!(counters.last(column), own.last(column), "{column}");
        }
        assert_eq!(counters.last("bytes_sent"), Some(1000));
        let unread = reader.series.values().find(|series| series.peer == local).unwrap();
        assert_eq!(unread.last("inq"), Some(1000));
        assert!(!counters.congestion.is_empty());
        drop(far);
    }

    #[test]
    fn what_is_cut_short_is_nothing() {
        let message = request();
        for cut in 0..message.len() {
            let mut rest = &message[..cut];
            assert_eq!(next_message(&mut rest), None);
            assert!(SocketCounters::parse(&message[..cut]).is_none());
        }
    }
}
