//! A connection, with TLS 1.3 or without, and paced reads and writes on it.

use super::{Opened, during, sleep_until, socket};
use crate::sample::{Handle, Sampler, now};
use crate::scenario::host::SocketOptions;
use crate::scenario::work::{Pace, Reader};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, StreamOwned};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The name in the server's certificate and in the client's hello (reserved by RFC 2606).
pub const SERVER_NAME: &str = "server.lab.example";

/// The TLS configuration of an end.
#[derive(Clone)]
pub enum Tls {
    /// The end that connects.
    Client(Arc<ClientConfig>),
    /// The end that listens.
    Server(Arc<ServerConfig>),
}

/// A fresh self-signed certificate and its key, in DER.
pub fn certificate() -> io::Result<(Vec<u8>, Vec<u8>)> {
    let made = rcgen::generate_simple_self_signed(vec![SERVER_NAME.to_owned()]).map_err(io::Error::other)?;
    Ok((made.cert.der().to_vec(), made.signing_key.serialize_der()))
}

impl Tls {
    /// A client that trusts exactly this certificate.
    pub fn client(certificate: &[u8], record: usize) -> io::Result<Self> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from(certificate.to_vec())).map_err(io::Error::other)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(io::Error::other)?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.max_fragment_size = Some(record);
        // A resumed session would make the second handshake differ from the first.
        config.resumption = rustls::client::Resumption::disabled();
        Ok(Self::Client(Arc::new(config)))
    }

    /// A server with this certificate.
    pub fn server(certificate: Vec<u8>, key: Vec<u8>, record: usize) -> io::Result<Self> {
        let key = PrivateKeyDer::try_from(key).map_err(io::Error::other)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(io::Error::other)?
            .with_no_client_auth()
            .with_single_cert(vec![CertificateDer::from(certificate)], key)
            .map_err(io::Error::other)?;
        config.max_fragment_size = Some(record);
        Ok(Self::Server(Arc::new(config)))
    }
}

enum Layer {
    Plain(TcpStream),
    Client(Box<StreamOwned<ClientConnection, TcpStream>>),
    Server(Box<StreamOwned<ServerConnection, TcpStream>>),
}

/// A connection, watched by the sampler from its first moment.
pub struct Stream {
    layer: Layer,
    handle: Handle,
    /// When the received data is cut short.
    end: Option<Instant>,
    /// The program's record of its opening.
    pub opened: Opened,
}

impl Stream {
    /// Connects.
    pub fn connect(
        peer: SocketAddr,
        options: &SocketOptions,
        tls: Option<&Tls>,
        sampler: &Sampler,
    ) -> io::Result<Self> {
        let start = now();
        Self::wrap(socket::connect(peer, options, None).map_err(during("connect"))?, start, tls, sampler)
    }

    /// Connects without TLS, within a time limit.
    pub fn connect_within(
        peer: SocketAddr,
        options: &SocketOptions,
        patience: Option<Duration>,
        sampler: &Sampler,
    ) -> io::Result<Self> {
        let start = now();
        Self::wrap(socket::connect(peer, options, patience).map_err(during("connect"))?, start, None, sampler)
    }

    /// Accepts a connection.
    pub fn accept(listener: &TcpListener, tls: Option<&Tls>, sampler: &Sampler) -> io::Result<Self> {
        let (tcp, _) = listener.accept().map_err(during("accept"))?;
        Self::wrap(tcp, now(), tls, sampler)
    }

    fn wrap(tcp: TcpStream, start: u64, tls: Option<&Tls>, sampler: &Sampler) -> io::Result<Self> {
        let connected = now();
        let handle = sampler.watch(&tcp)?;
        let (rcvbuf, sndbuf) = socket::buffers(&tcp);
        let congestion = socket::congestion(&tcp)?;
        let nodelay = tcp.nodelay()?;
        let mut opened = Opened { start, connected, secured: None, rcvbuf, sndbuf, congestion, nodelay };
        let layer = match tls {
            None => Layer::Plain(tcp),
            Some(Tls::Client(config)) => {
                let name = ServerName::try_from(SERVER_NAME).map_err(io::Error::other)?;
                let tls = ClientConnection::new(Arc::clone(config), name).map_err(io::Error::other)?;
                let mut stream = StreamOwned::new(tls, tcp);
                handshake(&mut stream.conn, &mut stream.sock)?;
                opened.secured = Some(now());
                Layer::Client(Box::new(stream))
            }
            Some(Tls::Server(config)) => {
                let tls = ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
                let mut stream = StreamOwned::new(tls, tcp);
                handshake(&mut stream.conn, &mut stream.sock)?;
                opened.secured = Some(now());
                Layer::Server(Box::new(stream))
            }
        };
        Ok(Self { layer, handle, end: None, opened })
    }

    /// The socket below.
    pub fn tcp(&self) -> &TcpStream {
        match &self.layer {
            Layer::Plain(tcp) => tcp,
            Layer::Client(tls) => &tls.sock,
            Layer::Server(tls) => &tls.sock,
        }
    }

    /// Shuts down writing, waits for the other end to do so, and closes. Keeps the socket's last
    /// sample, in which everything is acknowledged.
    pub fn close_first(mut self) -> io::Result<()> {
        self.send_close_notify();
        self.drain()?;
        self.handle.close();
        Ok(())
    }

    /// Waits until the other end shuts down writing, then closes too.
    pub fn close_second(mut self) -> io::Result<()> {
        self.drain()?;
        self.handle.close();
        self.send_close_notify();
        Ok(())
    }

    /// Closes at once, with a reset, whatever was not sent or read.
    pub fn reset(self) -> io::Result<()> {
        self.handle.close();
        socket2::SockRef::from(self.tcp()).set_linger(Some(Duration::ZERO)).map_err(during("reset"))
    }

    /// Closes without waiting for the other end; the kernel sends the rest.
    pub fn leave(mut self) {
        self.handle.close();
        self.send_close_notify();
    }

    /// Sets the time limit for reads and writes; `None` removes it.
    pub fn wait_for(&self, time: Option<Duration>) -> io::Result<()> {
        self.tcp().set_read_timeout(time).map_err(during("read"))?;
        self.tcp().set_write_timeout(time).map_err(during("write"))
    }

    /// After this time received data is cut short; `None` is never.
    pub fn end_within(&mut self, time: Option<Duration>) -> io::Result<()> {
        self.end = time.map(|time| Instant::now() + time);
        if time.is_some() { self.wait_for(time) } else { Ok(()) }
    }

    fn send_close_notify(&mut self) {
        match &mut self.layer {
            Layer::Plain(_) => {}
            Layer::Client(tls) => {
                tls.conn.send_close_notify();
                let _ = tls.flush();
            }
            Layer::Server(tls) => {
                tls.conn.send_close_notify();
                let _ = tls.flush();
            }
        }
        // The other end may have closed already: nothing is lost then.
        let _ = self.tcp().shutdown(Shutdown::Write);
    }

    fn drain(&mut self) -> io::Result<()> {
        let mut rest = [0; 4096];
        loop {
            match self.read(&mut rest) {
                Ok(0) => return Ok(()),
                Ok(_) => {}
                // HAProxy ends its connections to a server by a reset. All was exchanged by then.
                Err(e) if matches!(e.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset) => {
                    return Ok(());
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(during("close")(e)),
            }
        }
    }

    /// Writes `size` bytes at the given pace.
    pub fn send(&mut self, size: u64, pace: &Pace) -> io::Result<()> {
        let chunk = filler(pace.chunk.len().min(1 << 22));
        let start = now();
        let (mut left, mut writes) = (size, 0_u64);
        while left > 0 {
            if pace.every.0 > 0 {
                sleep_until(start.saturating_add(writes.saturating_mul(pace.every.0)));
            }
            let n = usize::try_from(left).unwrap_or(usize::MAX).min(chunk.len());
            self.write_all(chunk.get(..n).unwrap_or(&chunk)).map_err(during("write"))?;
            left -= n as u64;
            writes += 1;
        }
        self.flush().map_err(during("write"))
    }

    /// Reads exactly `size` bytes as the reader does it; returns when the first of them was there.
    pub fn receive(&mut self, size: u64, reader: &Reader) -> io::Result<u64> {
        self.receive_into(&mut 0, size, reader)
    }

    /// As [`receive`](Self::receive), and counts the read bytes in `done`, in case it ends before.
    pub fn receive_into(&mut self, done: &mut u64, size: u64, reader: &Reader) -> io::Result<u64> {
        let mut buffer = vec![0; reader.chunk.len().clamp(1, 1 << 22)];
        let (mut first, mut paused) = (0_u64, false);
        let start = now();
        while *done < size {
            let want = usize::try_from(size - *done).unwrap_or(usize::MAX).min(buffer.len());
            let n = match self.read(buffer.get_mut(..want).unwrap_or_default()) {
                Ok(0) => {
                    let text = format!("the connection ended after {done} of {size} bytes");
                    return Err(io::Error::new(io::ErrorKind::UnexpectedEof, text));
                }
                Ok(n) => n as u64,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(during("read")(e)),
            };
            if first == 0 {
                first = now();
            }
            *done += n;
            if self.end.is_some_and(|end| Instant::now() > end) && *done < size {
                return Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    format!("the time was up after {done} of {size} bytes"),
                ));
            }
            if !paused && reader.pause_after.is_some_and(|after| *done >= after.0) {
                paused = true;
                std::thread::sleep(reader.pause.duration());
            }
            if let Some(rate) = reader.rate {
                let due = u128::from(*done) * 8 * 1_000_000_000 / u128::from(rate.0.max(1));
                sleep_until(start.saturating_add(u64::try_from(due).unwrap_or(u64::MAX)));
            }
        }
        Ok(first)
    }
}

/// The handshake to its end, so that its time is not counted as the first request's.
fn handshake<S: rustls::SideData>(tls: &mut rustls::ConnectionCommon<S>, tcp: &mut TcpStream) -> io::Result<()> {
    while tls.is_handshaking() || tls.wants_write() {
        tls.complete_io(tcp).map_err(during("TLS handshake"))?;
    }
    Ok(())
}

/// Bytes that do not compress and do not repeat at any segment size: a counter's low bytes would.
fn filler(len: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut bytes = Vec::with_capacity(len + 8);
    while bytes.len() < len {
        // xorshift64: any cheap generator will do.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(len);
    bytes
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.layer {
            Layer::Plain(tcp) => tcp.read(buffer),
            Layer::Client(tls) => tls.read(buffer),
            Layer::Server(tls) => tls.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.layer {
            Layer::Plain(tcp) => tcp.write(bytes),
            Layer::Client(tls) => tls.write(bytes),
            Layer::Server(tls) => tls.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.layer {
            Layer::Plain(tcp) => tcp.flush(),
            Layer::Client(tls) => tls.flush(),
            Layer::Server(tls) => tls.flush(),
        }
    }
}
