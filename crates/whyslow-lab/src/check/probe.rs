//! The check's instruments: echoes that the kernel answers, numbered datagrams, a bulk transfer.

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrIn, recv, sendto, socket};
use nix::sys::socket::{setsockopt, sockopt};
use nix::sys::time::TimeVal;

/// Round-trip times of `count` ICMP echoes, one after the other, a few milliseconds apart. A lost
/// one is an error: nothing should be lost here.
pub(super) fn echo(to: IpAddr, count: u16) -> io::Result<Vec<Duration>> {
    let IpAddr::V4(to) = to else { return Err(io::Error::other("echoes are sent over IPv4")) };
    crate::sched::claim();
    let socket = socket(AddressFamily::Inet, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::Icmp)?;
    setsockopt(&socket, sockopt::ReceiveTimeout, &TimeVal::new(3, 0))?;
    let address = SockaddrIn::from(std::net::SocketAddrV4::new(to, 0));
    let mut times = Vec::with_capacity(count.into());
    for n in 0..count {
        let [high, low] = n.to_be_bytes();
        let mut message = [8, 0, 0, 0, 0x77, 0x6c, high, low];
        let sum: u32 = message.chunks(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]]))).sum();
        let checksum = !((sum & 0xffff) + (sum >> 16)) as u16;
        message[2..4].copy_from_slice(&checksum.to_be_bytes());
        let start = Instant::now();
        sendto(socket.as_raw_fd(), &message, &address, MsgFlags::empty())?;
        let mut reply = [0; 128];
        // Behind the IP header: type 0 (echo reply) with our identifier and number.
        loop {
            let length = recv(socket.as_raw_fd(), &mut reply, MsgFlags::empty())?;
            if length >= 28 && reply[20] == 0 && reply[24..28] == message[4..8] {
                break;
            }
        }
        times.push(start.elapsed());
        // Uneven gaps, so that no timer's rhythm is met.
        std::thread::sleep(Duration::from_micros(1_000 + u64::from(n) * 7_919 % 3_000));
    }
    Ok(times)
}

/// The arrivals of numbered datagrams.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Arrivals {
    pub(super) distinct: u64,
    pub(super) copies: u64,
    /// Arrived after one that was sent later.
    pub(super) late: u64,
}

/// Sends `count` numbered datagrams of 100 bytes, 20 a millisecond, then some that mark the end.
pub(super) fn send_numbered(to: SocketAddr, count: u32) -> io::Result<()> {
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    socket.connect(to)?;
    let mut next = Instant::now();
    for n in 0..count {
        let mut message = [0; 100];
        message[..4].copy_from_slice(&n.to_be_bytes());
        socket.send(&message)?;
        if n % 20 == 19 {
            next += Duration::from_millis(1);
            std::thread::sleep(next.saturating_duration_since(Instant::now()));
        }
    }
    Ok(())
}

/// Counts numbered datagrams until none comes for half a second.
pub(super) fn count_numbered(socket: &UdpSocket, count: u32) -> io::Result<Arrivals> {
    let mut received = vec![false; count as usize];
    let (mut arrivals, mut highest) = (Arrivals::default(), None);
    let mut message = [0; 200];
    socket.set_read_timeout(Some(Duration::from_secs(3)))?;
    loop {
        match socket.recv(&mut message) {
            Ok(4..) => {}
            Ok(_) => continue,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                return Ok(arrivals);
            }
            Err(error) => return Err(error),
        }
        socket.set_read_timeout(Some(Duration::from_millis(500)))?;
        let n = u32::from_be_bytes([message[0], message[1], message[2], message[3]]);
        match received.get_mut(n as usize) {
            Some(received) if !*received => *received = true,
            _ => {
                arrivals.copies += 1;
                continue;
            }
        }
        arrivals.distinct += 1;
        if highest.is_some_and(|highest| n < highest) {
            arrivals.late += 1;
        }
        highest = highest.max(Some(n));
    }
}

/// When to end a bulk transfer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Until {
    Bytes(u64),
    Time(Duration),
}

/// Accepts one connection and sends until `until`; waits for the other side to close.
pub(super) fn serve_bulk(listener: &TcpListener, until: Until) -> io::Result<u64> {
    let (mut stream, _) = listener.accept()?;
    stream.set_write_timeout(Some(Duration::from_secs(20)))?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let block = vec![0x55; 1 << 17];
    let (start, mut sent) = (Instant::now(), 0);
    loop {
        let left = match until {
            Until::Bytes(total) => total - sent,
            Until::Time(time) if start.elapsed() >= time => 0,
            Until::Time(_) => u64::MAX,
        };
        if left == 0 {
            break;
        }
        let part = block.get(..left.min(block.len() as u64) as usize).unwrap_or(&block);
        sent += stream.write(part)? as u64;
    }
    stream.shutdown(std::net::Shutdown::Write)?;
    let _ = stream.read(&mut [0; 1]);
    Ok(sent)
}

/// A receiver's view of a bulk transfer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Received {
    pub(super) bytes: u64,
    /// Over the time after `skip`, up to the last byte, in bits per second.
    pub(super) rate_bps: f64,
}

/// Receives a bulk transfer. The rate leaves out the first `skip`, in which the connection finds
/// its speed.
pub(super) fn receive_bulk(from: SocketAddr, skip: Duration) -> io::Result<Received> {
    let mut stream = TcpStream::connect_timeout(&from, Duration::from_secs(10))?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let mut block = vec![0; 1 << 17];
    let (start, mut total) = (Instant::now(), 0_u64);
    let (mut mark, mut last) = (None, (start, 0_u64));
    loop {
        let length = stream.read(&mut block)?;
        if length == 0 {
            break;
        }
        total += length as u64;
        last = (Instant::now(), total);
        if start.elapsed() >= skip {
            mark.get_or_insert(last);
        }
    }
    let (since, bytes) = mark.unwrap_or((start, 0));
    let seconds = last.0.duration_since(since).as_secs_f64();
    Ok(Received { bytes: total, rate_bps: if seconds > 0.0 { (last.1 - bytes) as f64 * 8.0 / seconds } else { 0.0 } })
}
