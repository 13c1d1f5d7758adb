//! A packet socket, and the thread that empties it.

use super::file::{File, Packet};
use super::{Format, Recorded, filter};
use crate::bpf;
use crate::watch::segment::Segment;
use nix::cmsg_space;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{ControlMessageOwned, LinkAddr, MsgFlags, recvmsg, setsockopt, sockopt};
use nix::sys::time::TimeSpec;
use socket2::{Domain, Protocol, Socket, Type};
use std::collections::VecDeque;
use std::io::{self, IoSliceMut, Write};
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Room for packets that wait for the thread.
const ROOM: usize = 32 << 20;
/// How late the end may be noticed.
const NOTICED_WITHIN_MS: u8 = 20;
/// Time for the packets that close a connection, when it is dropped.
const AFTERWARDS: Duration = Duration::from_millis(60);

/// A connection that is recorded.
#[derive(Debug)]
struct Expected {
    port: u16,
    remote: SocketAddr,
    /// The device that its first packet passed: a packet passes others as well where devices stand
    /// on each other (bridges, bonds).
    device: Option<usize>,
}

#[derive(Debug)]
struct Shared {
    socket: Socket,
    expected: Mutex<VecDeque<Expected>>,
    is_over: AtomicBool,
}

impl Shared {
    fn expected(&self) -> MutexGuard<'_, VecDeque<Expected>> {
        self.expected.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn filter(&self, expected: &VecDeque<Expected>) -> io::Result<()> {
        let ports: Vec<u16> = expected.iter().map(|connection| connection.port).collect();
        bpf::attach(&self.socket, &filter::program(&ports))
    }
}

/// Records connections from their SYNs on, until it is finished.
#[derive(Debug)]
pub struct Recorder {
    shared: Arc<Shared>,
    thread: JoinHandle<io::Result<Recorded>>,
}

/// A socket for packets: opening it takes a right that recording does not.
#[derive(Debug)]
pub struct RecorderSocket(Socket);

impl RecorderSocket {
    /// Opens it. No packet is taken before a connection is expected.
    ///
    /// # Errors
    /// If the user may not record packets.
    pub fn open() -> io::Result<Self> {
        let every_protocol = i32::from((libc::ETH_P_ALL as u16).to_be());
        let socket = Socket::new(Domain::PACKET, Type::DGRAM, Some(Protocol::from(every_protocol)))?;
        // Packets before the filter belong to no expected connection.
        bpf::attach(&socket, &filter::program(&[]))?;
        setsockopt(&socket, sockopt::ReceiveTimestampns, &true)?;
        if setsockopt(&socket, sockopt::RcvBufForce, &ROOM).is_err() {
            let _ = socket.set_recv_buffer_size(ROOM);
        }
        Ok(Self(socket))
    }
}

impl Recorder {
    /// Begins to write to `out`, of each packet at most `snaplen` bytes.
    ///
    /// # Errors
    /// When nothing can be written.
    pub fn start(
        RecorderSocket(socket): RecorderSocket,
        format: Format,
        snaplen: u32,
        out: Box<dyn Write + Send>,
    ) -> io::Result<Self> {
        let file = File::begin(format, snaplen, out)?;
        let shared =
            Arc::new(Shared { socket, expected: Mutex::new(VecDeque::new()), is_over: AtomicBool::new(false) });
        let taker = Taker { shared: Arc::clone(&shared), file, packets: 0, space: vec![0; snaplen as usize] };
        Ok(Self { shared, thread: std::thread::spawn(move || taker.run()) })
    }

    /// A connection is about to be made from this port.
    ///
    /// # Errors
    /// Returns an error if the kernel refuses the filter.
    pub fn expect(&self, port: u16, remote: SocketAddr) -> io::Result<()> {
        let mut expected = self.shared.expected();
        expected.push_back(Expected { port, remote, device: None });
        while expected.len() > filter::MOST_PORTS {
            expected.pop_front();
        }
        self.shared.filter(&expected)
    }

    /// Waits for packets on their way, and ends the file.
    ///
    /// # Errors
    /// When something could not be received or written.
    pub fn finish(self) -> io::Result<Recorded> {
        self.shared.is_over.store(true, Ordering::Relaxed);
        self.thread.join().unwrap_or_else(|_| Err(io::Error::other("the recording thread panicked")))
    }
}

struct Taker {
    shared: Arc<Shared>,
    file: File<Box<dyn Write + Send>>,
    packets: u64,
    space: Vec<u8>,
}

impl Taker {
    fn run(mut self) -> io::Result<Recorded> {
        let mut over: Option<Instant> = None;
        loop {
            let mut wait = [PollFd::new(self.shared.socket.as_fd(), PollFlags::POLLIN)];
            let ready = match poll(&mut wait, PollTimeout::from(NOTICED_WITHIN_MS)) {
                Ok(ready) => ready,
                Err(nix::errno::Errno::EINTR) => 0,
                Err(error) => return Err(error.into()),
            };
            if ready > 0 {
                while self.take()? {}
            }
            if over.is_none() && self.shared.is_over.load(Ordering::Relaxed) {
                over = Some(Instant::now());
            }
            if over.is_some_and(|over| over.elapsed() >= AFTERWARDS) {
                let recorded = Recorded { packets: self.packets, dropped: dropped(&self.shared.socket) };
                self.file.end(recorded)?;
                return Ok(recorded);
            }
        }
    }

    /// Takes one packet, if there is one.
    fn take(&mut self) -> io::Result<bool> {
        let mut control = cmsg_space!(TimeSpec);
        let mut parts = [IoSliceMut::new(&mut self.space)];
        let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_TRUNC;
        let socket = self.shared.socket.as_raw_fd();
        let message = match recvmsg::<LinkAddr>(socket, &mut parts, Some(&mut control), flags) {
            Ok(message) => message,
            Err(nix::errno::Errno::EAGAIN) => return Ok(false),
            // A device went down: nothing was lost by it.
            Err(nix::errno::Errno::ENETDOWN | nix::errno::Errno::EINTR) => return Ok(true),
            Err(error) => return Err(error.into()),
        };
        let length = message.bytes;
        let link = message.address;
        let time = message.cmsgs()?.find_map(|control| match control {
            ControlMessageOwned::ScmTimestampns(time) => Some(time),
            _ => None,
        });
        let Some((link, time)) = link.zip(time) else { return Ok(true) };
        let kept = length.min(self.space.len());
        let (Ok(length), Ok(time)) = (u32::try_from(length), u64::try_from(Duration::from(time).as_nanos())) else {
            return Ok(true);
        };
        if let Some(segment) = Segment::ip(&self.space[..kept])
            && is_expected(&mut self.shared.expected(), [segment.from, segment.to], &link)
        {
            self.file.packet(Packet { time, length, bytes: &self.space[..kept] })?;
            self.packets += 1;
        }
        Ok(true)
    }
}

/// Whether a packet is of a connection that is recorded, and passes its device for the first time.
fn is_expected(expected: &mut VecDeque<Expected>, ends: [SocketAddr; 2], link: &LinkAddr) -> bool {
    let [from, to] = ends;
    let is = |connection: &&mut Expected| {
        (connection.port == from.port() && connection.remote == to)
            || (connection.port == to.port() && connection.remote == from)
    };
    let Some(connection) = expected.iter_mut().rev().find(is) else { return false };
    let is_first = *connection.device.get_or_insert(link.ifindex()) == link.ifindex();
    // The loopback device shows each packet when it leaves, and again when it comes.
    let is_echo = link.hatype() == libc::ARPHRD_LOOPBACK && link.pkttype() == libc::PACKET_OUTGOING;
    is_first && !is_echo
}

/// Packets that the kernel had no room for (`struct tpacket_stats`).
fn dropped(socket: &Socket) -> u64 {
    let mut bytes = [0; 8];
    match whyslow_tcpinfo::sys::getsockopt(socket.as_fd(), libc::SOL_PACKET, libc::PACKET_STATISTICS, &mut bytes) {
        Ok(8) => u32::from_ne_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]).into(),
        _ => 0,
    }
}
