//! As many packets as can be sent, and a ring that takes them.

use crate::net::{Other, ip, raw_socket, veth};
use crate::sys::let_kernel_cut;
use nix::sys::socket::{LinkAddr, MsgFlags, MultiHeaders, sendmmsg};
use nix::time::{ClockId, clock_gettime};
use std::io::IoSlice;
use std::os::fd::AsRawFd;
use std::process::Command;
use std::time::{Duration, Instant};
use whyslow_live::watch::{Recorder, Ring, RingCounts, RingOptions};

/// Frames that one call sends.
const BATCH: usize = 8;
/// Packets that the kernel cuts a frame into.
const CUT: usize = 32;
const CONNECTIONS: u16 = 1000;
const SENDERS: usize = 2;
/// Frames that a sender gives are a multiple of it.
pub(crate) const ROUND: usize = SENDERS * BATCH * CUT;

/// A `virtio_net_hdr`, and an Ethernet frame to another machine's address, which is dropped.
fn frame(port: u16, flags: u8, payload: usize) -> Vec<u8> {
    let length = 40 + (CUT * payload) as u16;
    // The checksum is left to the kernel, and it cuts a packet of TCP in IPv4 to this payload.
    let mut out = vec![1, if payload > 0 { 1 } else { 0 }, 54, 0];
    out.extend((payload as u16).to_ne_bytes());
    out.extend([34_u16.to_ne_bytes(), 16_u16.to_ne_bytes()].concat());
    out.extend([2, 9, 9, 9, 9, 9, 2, 1, 1, 1, 1, 1, 8, 0, 0x45, 0]);
    out.extend(length.to_be_bytes());
    out.extend([0, 0, 0x40, 0, 64, 6, 0, 0, 10, 2, 0, 1, 10, 2, 0, 2]);
    out.extend([port.to_be_bytes(), 80_u16.to_be_bytes()].concat());
    out.extend([0, 0, 0, 1, 0, 0, 0, 1, 0x50, flags, 0xff, 0xff, 0, 0, 0, 0]);
    out.resize(out.len() + CUT * payload, 0x55);
    out
}

/// For this thread: the senders share the processors with the receiver, unlike in production.
pub(crate) fn renice(nice: i32) {
    let this = nix::unistd::gettid().to_string();
    let _ = Command::new("renice").args(["-n", &nice.to_string(), "-p", &this]).output();
}

/// Sends a SYN of each connection on the device `right`, and then this many packets of data, as
/// fast as this goes.
fn flood(packets: usize, payload: usize) {
    renice(5);
    let socket = raw_socket("right");
    let_kernel_cut(&socket).unwrap();
    for port in 0..CONNECTIONS {
        socket.send(&frame(port, 2, 0)).unwrap();
    }
    let frames: Vec<_> = (0..CONNECTIONS).map(|port| frame(port, 0x10, payload)).collect();
    let frames: Vec<_> = frames.iter().map(|frame| [IoSlice::new(frame)]).collect();
    let no_address = [None::<LinkAddr>; BATCH];
    let mut headers = MultiHeaders::<LinkAddr>::preallocate(BATCH, None);
    let mut sent = 0;
    for frames in frames.chunks_exact(BATCH).cycle() {
        let mut rest = frames;
        while !rest.is_empty() {
            let no_address = &no_address[..rest.len()];
            let done = sendmmsg(socket.as_raw_fd(), &mut headers, rest, no_address, [], MsgFlags::empty());
            let done = done.map_or(0, Iterator::count);
            rest = &rest[done..];
        }
        sent += BATCH * CUT;
        if sent >= packets {
            return;
        }
    }
}

/// The processor time of this thread.
fn computed() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap().into()
}

/// The result of a run; the test and the benchmark each read a part of it.
#[allow(dead_code)]
pub(crate) struct Run {
    pub(crate) counts: RingCounts,
    pub(crate) sending: Duration,
    pub(crate) computing: Duration,
    pub(crate) recorder: Recorder,
}

/// Watches a flood, with a pause after each block.
pub(crate) fn run(options: &RingOptions, packets: usize, payload: usize, pause: Duration) -> Run {
    let there = Other::new();
    veth(&there);
    ip("link set left arp off");
    // So that a packet of the kernel's is one on the wire.
    there.run(|| {
        let output = Command::new("ethtool").args(["-K", "right", "tso", "off"]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    });
    let mut ring = Ring::open(options).unwrap();
    let mut recorder = Recorder::new(64 << 20).unwrap();
    // Several threads share the work: one alone is slower than the tested receiver.
    let sending = std::thread::spawn(move || {
        let sending = there.run(move || {
            let begin = Instant::now();
            let send = || std::thread::spawn(move || flood(packets / SENDERS, payload));
            let senders: Vec<_> = (0..SENDERS).map(|_| send()).collect();
            senders.into_iter().for_each(|sender| sender.join().unwrap());
            begin.elapsed()
        });
        (sending, there)
    });
    let before = computed();
    loop {
        match ring.next_block(Duration::from_millis(500)).unwrap() {
            Some(mut block) => block.packets().for_each(|packet| recorder.record(&packet, 1)),
            None if sending.is_finished() => break,
            None => {}
        }
        std::thread::sleep(pause);
    }
    let computing = computed() - before;
    let (sending, _there) = sending.join().unwrap();
    let counts = ring.counts();
    // A packet for which the kernel had no room before the ring counts as the interface's.
    let all = counts.packets + counts.ring_drops + counts.duplicates + counts.interface_drops;
    assert_eq!(all, (packets + SENDERS * usize::from(CONNECTIONS)) as u64, "{counts:?}");
    Run { counts, sending, computing, recorder }
}
