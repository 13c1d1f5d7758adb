//! Sockets with all options set before they connect or listen. Accepted connections inherit the
//! listener's options, and a buffer size that is set later no longer affects the window scale.

use crate::scenario::host::SocketOptions;
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::time::Duration;

/// A listener on `address`.
pub fn listen(address: SocketAddr, options: &SocketOptions) -> io::Result<TcpListener> {
    let socket = new(address, options)?;
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(128)?;
    Ok(socket.into())
}

/// Connects to `address`; waits until it is open, or for this long.
pub fn connect(address: SocketAddr, options: &SocketOptions, patience: Option<Duration>) -> io::Result<TcpStream> {
    let socket = new(address, options)?;
    match patience {
        // It counts whole milliseconds, and rounds the rest down.
        Some(time) => socket.connect_timeout(&address.into(), time + Duration::from_millis(1))?,
        None => socket.connect(&address.into())?,
    }
    Ok(socket.into())
}

fn new(address: SocketAddr, options: &SocketOptions) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    if let Some(size) = options.rcvbuf {
        socket.set_recv_buffer_size(size.len())?;
        granted("rcvbuf", "net.core.rmem_max", size.len(), socket.recv_buffer_size()?)?;
    }
    if let Some(size) = options.sndbuf {
        socket.set_send_buffer_size(size.len())?;
        granted("sndbuf", "net.core.wmem_max", size.len(), socket.send_buffer_size()?)?;
    }
    if !options.congestion.is_empty() {
        socket.set_tcp_congestion(options.congestion.as_bytes()).map_err(|e| {
            let text = format!("congestion control {}: {e} (is its module loaded?)", options.congestion);
            io::Error::new(e.kind(), text)
        })?;
    }
    socket.set_tcp_nodelay(options.nodelay)?;
    if let Some(rate) = options.max_pacing {
        max_pacing(&socket, rate.0 / 8)?;
    }
    Ok(socket)
}

/// The kernel doubles the requested size, and silently gives less if a system-wide limit is lower.
fn granted(what: &str, limit: &str, asked: usize, got: usize) -> io::Result<()> {
    if got >= asked.saturating_mul(2) {
        return Ok(());
    }
    let text = format!("{what}: asked the kernel for {asked} bytes and got {}; see {limit}", got / 2);
    Err(io::Error::other(text))
}

fn max_pacing(socket: &Socket, bytes_per_second: u64) -> io::Result<()> {
    // SAFETY: the option is an unsigned 64-bit number, which lives through the call.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MAX_PACING_RATE,
            (&raw const bytes_per_second).cast(),
            size_of::<u64>() as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The congestion control in force on a connection.
pub fn congestion(stream: &TcpStream) -> io::Result<String> {
    let name = SockRef::from(stream).tcp_congestion()?;
    Ok(String::from_utf8_lossy(&name).trim_end_matches('\0').to_owned())
}

/// Both buffers as the kernel has them: receive, send.
pub fn buffers(stream: &TcpStream) -> (u64, u64) {
    let socket = SockRef::from(stream);
    let size = |got: io::Result<usize>| got.map_or(0, |n| n as u64);
    (size(socket.recv_buffer_size()), size(socket.send_buffer_size()))
}
