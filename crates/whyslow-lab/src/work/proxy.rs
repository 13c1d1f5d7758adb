//! A userspace TCP proxy: accepts from the client, connects to the server, and copies bytes through
//! a buffer of its own. Each leg is a separate TCP connection with its own RTT, windows and losses.

use super::stream::Stream;
use super::{Opened, during};
use crate::sample::Sampler;
use crate::scenario::Leg;
use crate::scenario::host::SocketOptions;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};

const WINDOW_SCALING: &str = "/proc/sys/net/ipv4/tcp_window_scaling";

/// The settings of a proxy.
#[derive(Clone, Copy, Debug)]
pub struct Proxy<'a> {
    /// The server that it connects to.
    pub server: SocketAddr,
    /// The socket options of that leg.
    pub options: &'a SocketOptions,
    /// Bytes that it holds in each direction.
    pub buffer: usize,
    /// The leg without window scaling.
    pub unscaled: Option<Leg>,
}

/// Carries `connections` connections, one after the other.
pub fn run(
    proxy: &Proxy<'_>,
    connections: usize,
    listener: &TcpListener,
    sampler: &Sampler,
) -> io::Result<Vec<Opened>> {
    let Proxy { server, options, buffer, unscaled } = *proxy;
    let mut opened = Vec::new();
    for _ in 0..connections {
        // The kernel decides about window scaling when it answers or sends a SYN, so one leg can
        // differ from the other.
        scale(unscaled, Leg::Client)?;
        let near = Stream::accept(listener, None, sampler)?;
        scale(unscaled, Leg::Server)?;
        let far = Stream::connect(server, options, None, sampler)?;
        opened.push(near.opened.clone());
        opened.push(far.opened.clone());
        std::thread::scope(|scope| -> io::Result<()> {
            let up = scope.spawn(|| copy(near.tcp(), far.tcp(), buffer));
            let down = copy(far.tcp(), near.tcp(), buffer);
            let up = up.join().unwrap_or_else(|_| Err(io::Error::other("a thread of the proxy panicked")));
            down.and(up)
        })?;
        near.close_second()?;
        far.close_second()?;
    }
    Ok(opened)
}

/// Before the first connection the listener must already be set: called once more by the agent.
pub fn scale(unscaled: Option<Leg>, next: Leg) -> io::Result<()> {
    match unscaled {
        None => Ok(()),
        Some(leg) => {
            let value = if leg == next { "0" } else { "1" };
            std::fs::write(WINDOW_SCALING, value).map_err(during(WINDOW_SCALING))
        }
    }
}

/// Copies one direction until its sender closes, then closes that direction on the other leg.
fn copy(mut from: &TcpStream, mut to: &TcpStream, buffer: usize) -> io::Result<()> {
    let mut bytes = vec![0; buffer.clamp(1, 1 << 26)];
    loop {
        match from.read(&mut bytes) {
            Ok(0) => break,
            Ok(n) => to.write_all(bytes.get(..n).unwrap_or_default()).map_err(during("proxy write"))?,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(during("proxy read")(e)),
        }
    }
    let _ = to.shutdown(Shutdown::Write);
    Ok(())
}
