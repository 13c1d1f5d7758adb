//! Namespaces, devices and connections to watch.

use nix::errno::Errno;
use nix::ifaddrs::getifaddrs;
use nix::sched::{CloneFlags, unshare};
use nix::sys::socket::bind;
use socket2::{Domain, Socket, Type};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use whyslow_live::watch::{Ring, RingOptions, RingPacket};
use whyslow_testing::Lack;

/// Runs a test in a namespace of its own, whose loopback device is up; or the calling test is
/// skipped.
#[track_caller]
pub(crate) fn in_namespace(test: impl FnOnce() + Send + 'static) {
    if !whyslow_testing::tools(&["ip"]) {
        return;
    }
    let thread = std::thread::current().name().unwrap_or("test").to_owned();
    let run = move || {
        if unshare(CloneFlags::CLONE_NEWNET) == Err(Errno::EPERM) {
            return false;
        }
        ip("link set lo up");
        test();
        true
    };
    match std::thread::Builder::new().name(thread).spawn(run).unwrap().join() {
        Ok(true) => {}
        Ok(false) => whyslow_testing::skip(Lack::Machine, "network namespaces need root"),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// Runs `ip`, which must succeed.
#[track_caller]
pub(crate) fn ip(arguments: &str) {
    let output = Command::new("ip").args(arguments.split(' ')).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "ip {arguments}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Another namespace, which a thread holds; jobs are run there.
pub(crate) struct Other {
    jobs: Option<mpsc::Sender<Box<dyn FnOnce() + Send>>>,
    thread: Option<JoinHandle<()>>,
    /// Names the namespace to `ip link … netns`.
    pub(crate) tid: i32,
}

impl Other {
    pub(crate) fn new() -> Self {
        let (jobs, todo) = mpsc::channel::<Box<dyn FnOnce() + Send>>();
        let (send_done, done) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            unshare(CloneFlags::CLONE_NEWNET).unwrap();
            ip("link set lo up");
            send_done.send(nix::unistd::gettid().as_raw()).unwrap();
            todo.into_iter().for_each(|job| job());
        });
        Self { jobs: Some(jobs), thread: Some(thread), tid: done.recv().unwrap() }
    }

    /// Does something there, and waits for it.
    pub(crate) fn run<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> T {
        let (send_done, done) = mpsc::channel();
        let job = Box::new(move || {
            let _ = send_done.send(job());
        });
        self.jobs.as_ref().unwrap().send(job).unwrap();
        done.recv().unwrap()
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        drop(self.jobs.take());
        let _ = self.thread.take().unwrap().join();
    }
}

/// A pair of devices: `left` here, with 10.1.0.1, and `right` there, with 10.1.0.2.
pub(crate) fn veth(there: &Other) {
    ip(&format!("link add left type veth peer name right netns {}", there.tid));
    ip("address add 10.1.0.1/24 dev left");
    ip("link set left up");
    there.run(|| {
        ip("address add 10.1.0.2/24 dev right");
        ip("link set right up");
    });
}

/// Sends a frame on a device as it is.
pub(crate) fn send_frame(device: &str, frame: &[u8]) {
    raw_socket(device).send(frame).unwrap();
}

/// A socket that sends frames on this device.
pub(crate) fn raw_socket(device: &str) -> Socket {
    let socket = Socket::new(Domain::PACKET, Type::RAW, None).unwrap();
    let mut addresses = getifaddrs().unwrap().filter(|address| address.interface_name == device);
    let address = addresses.find_map(|address| address.address?.as_link_addr().copied()).unwrap();
    bind(socket.as_raw_fd(), &address).unwrap();
    socket
}

/// A server that takes all that each connection sends and then answers a byte.
pub(crate) fn server(address: &str) -> std::net::SocketAddr {
    let listener = TcpListener::bind(address).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || {
                let mut space = vec![0; 1 << 16];
                while stream.read(&mut space).is_ok_and(|read| read > 0) {}
                let _ = stream.write_all(b"!");
            });
        }
    });
    address
}

/// Sends this many bytes, and waits for the answer.
pub(crate) fn send(to: std::net::SocketAddr, bytes: usize) {
    let mut stream = connect(to);
    stream.write_all(&vec![7; bytes]).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    assert_eq!(answer, b"!");
}

/// Devices that were just made may take a moment.
fn connect(to: std::net::SocketAddr) -> TcpStream {
    let begin = Instant::now();
    loop {
        match TcpStream::connect_timeout(&to, Duration::from_secs(5)) {
            Ok(stream) => return stream,
            Err(error) => assert!(begin.elapsed() < Duration::from_secs(20), "{to}: {error}"),
        }
    }
}

pub(crate) fn open(interfaces: &[&str]) -> Ring {
    Ring::open(&options(interfaces)).unwrap()
}

pub(crate) fn options(interfaces: &[&str]) -> RingOptions {
    let interfaces = interfaces.iter().map(|name| (*name).to_owned()).collect();
    RingOptions { interfaces, size: 8 << 20, ..RingOptions::default() }
}

/// A packet, with bytes of its own.
#[derive(Clone, Debug)]
pub(crate) struct Taken {
    pub(crate) interface: u32,
    pub(crate) link_type: u16,
    pub(crate) length: u32,
    pub(crate) bytes: Vec<u8>,
    pub(crate) segment_size: Option<u16>,
}

impl Taken {
    fn new(packet: &RingPacket<'_>) -> Self {
        let RingPacket { interface, link_type, length, bytes, segment_size, .. } = *packet;
        Self { interface, link_type, length, bytes: bytes.to_vec(), segment_size }
    }

    /// Bytes before the IP header.
    pub(crate) fn link_header(&self) -> usize {
        match (self.link_type, &self.bytes[12..14]) {
            (1, b"\x81\x00") => 18,
            (1, _) => 14,
            _ => 20,
        }
    }

    /// The TCP header's flags, of IPv4 without options.
    pub(crate) fn flags(&self) -> u8 {
        self.bytes[self.link_header() + 20 + 13]
    }

    /// Bytes of payload on the wire.
    pub(crate) fn payload(&self) -> u32 {
        let ip = self.link_header();
        let tcp_header = u32::from(self.bytes[ip + 20 + 12] >> 4) * 4;
        self.length - ip as u32 - 20 - tcp_header
    }
}

/// Packets until `enough` have arrived, and those within a while after; the timeout is long,
/// because this machine may be busy.
pub(crate) fn take(ring: &mut Ring, enough: impl Fn(&[Taken]) -> bool) -> Vec<Taken> {
    let mut taken = Vec::new();
    let begin = Instant::now();
    let mut deadline = begin + Duration::from_secs(30);
    let mut is_enough = false;
    while Instant::now() < deadline {
        if let Some(mut block) = ring.next_block(Duration::from_millis(50)).unwrap() {
            taken.extend(block.packets().map(|packet| Taken::new(&packet)));
        }
        if !is_enough && enough(&taken) {
            is_enough = true;
            deadline = Instant::now() + Duration::from_millis(300);
        }
    }
    assert!(is_enough, "{} packets are not enough", taken.len());
    taken
}

pub(crate) const SYN: u8 = 2;
pub(crate) const FIN: u8 = 1;

/// How many have exactly these flags.
pub(crate) fn with(flags: u8, packets: &[Taken]) -> usize {
    packets.iter().filter(|packet| packet.flags() == flags).count()
}

/// How many end a direction.
pub(crate) fn ends(packets: &[Taken]) -> usize {
    packets.iter().filter(|packet| packet.flags() & FIN != 0).count()
}
