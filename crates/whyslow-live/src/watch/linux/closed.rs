//! Connections as they close, with the kernel's account of each (sock_diag(7)). It needs no rights
//! and no packets, and costs nothing until a connection closes.

use crate::host::sockets::of_message;
use crate::tcp_info::TcpInfo;
use nix::sys::socket::SockProtocol;
use std::io;
use std::net::SocketAddr;
use whyslow_tcpinfo::netlink::Netlink;

/// `SKNLGRP_INET_TCP_DESTROY` and `SKNLGRP_INET6_TCP_DESTROY` (linux/sock_diag.h): group n is bit
/// n - 1.
const GROUPS: u32 = 1 | 1 << 2;

/// A connection that has closed.
#[derive(Clone, Debug, PartialEq)]
pub struct ClosedSocket {
    /// Its end on this machine.
    pub local: SocketAddr,
    /// Its other end.
    pub remote: SocketAddr,
    /// The kernel's account of all of it.
    pub info: TcpInfo,
}

/// Closed connections of the thread's network namespace.
pub struct ClosedSockets(Netlink);

impl ClosedSockets {
    /// Begins to listen.
    ///
    /// # Errors
    /// Those of socket(2) and bind(2).
    pub fn listen() -> io::Result<Self> {
        Netlink::listen(SockProtocol::NetlinkSockDiag, GROUPS).map(Self)
    }

    /// Waits for connections that close, two seconds at most, and passes them to `each`. Returns
    /// whether the kernel dropped some, because too many were waiting.
    ///
    /// # Errors
    /// Those of recv(2).
    pub fn wait(&mut self, mut each: impl FnMut(ClosedSocket)) -> io::Result<bool> {
        self.0.receive(|message| closed(message).into_iter().for_each(&mut each))
    }
}

/// The connection of a message; `None` for a socket that listened, or never had a peer.
fn closed(message: &[u8]) -> Option<ClosedSocket> {
    let socket = of_message(message)?;
    let info = socket.info.filter(|_| socket.remote.port() != 0)?;
    Some(ClosedSocket { local: socket.local, remote: socket.remote, info })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::time::{Duration, Instant};

    #[test]
    fn connection_that_closes_is_reported_with_its_bytes() {
        let mut sockets = ClosedSockets::listen().unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = listener.local_addr().unwrap();
        let serve = std::thread::spawn(move || {
            let (mut peer, _) = listener.accept().unwrap();
            let mut request = [0; 100];
            peer.read_exact(&mut request).unwrap();
            peer.write_all(&[7; 5_000]).unwrap();
        });
        let mut client = TcpStream::connect(server).unwrap();
        let own = client.local_addr().unwrap();
        client.write_all(&[1; 100]).unwrap();
        client.read_to_end(&mut Vec::new()).unwrap();
        drop(client);
        serve.join().unwrap();
        // Other tests close connections as well.
        let mut found = Vec::new();
        let began = Instant::now();
        while found.len() < 2 && began.elapsed() < Duration::from_secs(60) {
            let ours = |socket: &ClosedSocket| [socket.local, socket.remote].contains(&own);
            sockets.wait(|socket| found.extend(Some(socket).filter(ours))).unwrap();
        }
        let sent = |local: SocketAddr| {
            let of_end = found.iter().find(|socket| socket.local == local);
            of_end.and_then(|socket| socket.info.bytes_sent)
        };
        assert_eq!((sent(own), sent(server)), (Some(100), Some(5_000)));
    }

    #[test]
    fn truncated_message_is_no_connection() {
        assert_eq!(closed(&[2, 7, 0, 0, 0, 80]), None);
    }
}
