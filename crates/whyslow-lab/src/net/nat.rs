//! [`Nat`]: lets the client of a path reach services outside, by way of the server's host.
//!
//! ```text
//! client ── emulated link ── server's host ┊ this process ── the service
//!                            (every address,  (its own connection,
//!                             some ports)      in the outer namespace)
//! ```
//!
//! The server's host takes packets to any address as its own and accepts connections at the ports
//! that are passed. For each one this process connects to the address that was meant, from its own
//! namespace, and copies the bytes. So an ordinary user can do it, and this machine's routes,
//! filters and settings stay as they are. The TCP on the emulated link is that of the server's
//! host. Names are asked at port 53 of that host, which asks the resolver of this machine.

use super::device;
use super::error::{Context, Error};
use super::namespace::Namespace;
use socket2::{Domain, Protocol, Socket, Type};
use std::fs;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Connections and questions for names at the same time, at most.
const MOST: usize = 256;
/// How long a service may take to accept a connection, and a resolver to respond.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often a thread that waits looks whether it is to end.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Bytes that are copied at once.
const PIECE: usize = 64 << 10;
/// The largest message of DNS over UDP (RFC 6891).
const LONGEST_QUESTION: usize = 4096;
/// The routing table that holds all addresses.
const TABLE: u32 = 77;

/// Lets connections out until it is dropped.
pub(super) struct Nat {
    stop: Arc<AtomicBool>,
    /// The file that the client's programs see as /etc/resolv.conf.
    resolver: PathBuf,
}

impl Nat {
    /// Opens the way at the server's host, which has the address `host`, for these TCP ports and
    /// for names. `folder` holds a file until it is closed.
    pub(super) fn open(server: &Namespace, host: IpAddr, ports: &[u16], folder: &Path) -> Result<Self, Error> {
        let commands = format!("route add local default dev lo table {TABLE}\nrule add iif eth0 lookup {TABLE}\n");
        device::ip(server, "taking all addresses", &commands, None)?;
        let stop = Arc::new(AtomicBool::new(false));
        let room = Arc::new(AtomicUsize::new(0));
        for &port in ports {
            let listener = server.within(|| listen(port))?.doing(format!("listening at port {port} of the server"))?;
            let (stop, room) = (Arc::clone(&stop), Arc::clone(&room));
            start("nat", move || accept(&listener, &stop, &room))?;
        }
        let names = server.within(|| UdpSocket::bind((host, 53)))?.doing("listening at port 53 of the server")?;
        if let Some(resolver) = resolver() {
            let (stop, room) = (Arc::clone(&stop), room);
            start("names", move || resolve(&names, resolver, &stop, &room))?;
        }
        let file = folder.join("resolv.conf");
        let what = || format!("writing {}", file.display());
        fs::create_dir_all(folder).doing(what())?;
        fs::write(&file, format!("nameserver {host}\n")).doing(what())?;
        // Programs are started in other folders.
        let file = fs::canonicalize(&file).doing(what())?;
        Ok(Self { stop, resolver: file })
    }

    /// The file for the client's programs.
    pub(super) fn resolver(&self) -> &Path {
        &self.resolver
    }
}

impl Drop for Nat {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = fs::remove_file(&self.resolver);
    }
}

fn start(name: &str, work: impl FnOnce() + Send + 'static) -> Result<(), Error> {
    thread::Builder::new().name(name.to_owned()).spawn(work).map(|_| ()).doing("starting a thread")
}

/// A listener for connections to any address.
fn listen(port: u16) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_ip_transparent_v4(true)?;
    socket.set_reuse_address(true)?;
    socket.bind(&SocketAddr::from((Ipv4Addr::UNSPECIFIED, port)).into())?;
    socket.listen(1024)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

/// A place among those that are used at the same time.
struct Place(Arc<AtomicUsize>);

impl Place {
    fn take(room: &Arc<AtomicUsize>) -> Option<Self> {
        let taken = room.fetch_add(1, Ordering::Relaxed);
        let place = Self(Arc::clone(room));
        (taken < MOST).then_some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn accept(listener: &TcpListener, stop: &AtomicBool, room: &Arc<AtomicUsize>) {
    while !stop.load(Ordering::Relaxed) {
        let Ok((client, _)) = listener.accept() else {
            thread::sleep(LOOK_EVERY / 10);
            continue;
        };
        // One connection too many is reset.
        let Some(place) = Place::take(room) else {
            reset(&client);
            continue;
        };
        let _ = start("nat", move || {
            carry(client);
            drop(place);
        });
    }
}

/// Connects to the address that was meant, and copies both ways.
fn carry(client: TcpStream) {
    let service = client.local_addr().and_then(|meant| TcpStream::connect_timeout(&meant, PATIENCE));
    let (Ok(service), Ok(())) = (service, client.set_nonblocking(false)) else { return reset(&client) };
    let _ = (client.set_nodelay(true), service.set_nodelay(true));
    let (Ok(from_client), Ok(to_service)) = (client.try_clone(), service.try_clone()) else { return reset(&client) };
    let up = thread::Builder::new().spawn(move || copy(from_client, to_service));
    copy(service, client);
    let _ = up.map(thread::JoinHandle::join);
}

/// Copies until one side ends, and ends the other one in the same way.
fn copy(mut from: TcpStream, mut to: TcpStream) {
    let mut space = vec![0; PIECE];
    loop {
        match from.read(&mut space) {
            Ok(0) => return drop(to.shutdown(Shutdown::Write)),
            Ok(count) if to.write_all(&space[..count]).is_ok() => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            _ => {
                reset(&to);
                let _ = (to.shutdown(Shutdown::Both), from.shutdown(Shutdown::Both));
                return;
            }
        }
    }
}

/// Closing it sends a reset.
fn reset(stream: &TcpStream) {
    let _ = socket2::SockRef::from(stream).set_linger(Some(Duration::ZERO));
}

/// The first resolver of this machine.
fn resolver() -> Option<SocketAddr> {
    let text = fs::read_to_string("/etc/resolv.conf").ok()?;
    let address =
        text.lines().find_map(|line| line.trim().strip_prefix("nameserver")?.trim().parse::<IpAddr>().ok())?;
    Some(SocketAddr::new(address, 53))
}

/// Hands questions to the resolver, and its responses back.
fn resolve(names: &UdpSocket, resolver: SocketAddr, stop: &AtomicBool, room: &Arc<AtomicUsize>) {
    let _ = names.set_read_timeout(Some(LOOK_EVERY));
    let mut space = [0; LONGEST_QUESTION];
    while !stop.load(Ordering::Relaxed) {
        let Ok((count, client)) = names.recv_from(&mut space) else { continue };
        // The client asks again.
        let (Some(place), Ok(names)) = (Place::take(room), names.try_clone()) else { continue };
        let question = space[..count].to_vec();
        let _ = start("names", move || {
            let _ = ask(&question, resolver).and_then(|response| names.send_to(&response, client));
            drop(place);
        });
    }
}

fn ask(question: &[u8], resolver: SocketAddr) -> io::Result<Vec<u8>> {
    let own: IpAddr =
        if resolver.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { std::net::Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((own, 0))?;
    socket.connect(resolver)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    socket.send(question)?;
    let mut space = [0; LONGEST_QUESTION];
    let count = socket.recv(&mut space)?;
    Ok(space[..count].to_vec())
}
