//! Drives two [`Link`]s, one for each direction, between two ports: reads frames, asks the links,
//! sends the packets that are due.
//!
//! It logs every packet and how late each left. A packet's arrival time is the kernel's timestamp,
//! so waking up late delays only packets that were due in the meantime.

use std::net::Ipv4Addr;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

use crate::link::config::LinkConfig;
use crate::link::{Finished, Link};
use crate::log::{Direction, Fate, Impairments, LinkLog, Log};
use crate::net::config::Spin;
use crate::port::segment::{SuperPacket, complete};
use crate::port::{Clock, Epoch, Outgoing, Port, Received, frame};
use crate::sched;

/// A link to emulate.
pub(crate) struct Emulation {
    /// Its number in the path.
    pub(crate) index: usize,
    /// From the client's side to the server's.
    pub(crate) up: LinkConfig,
    /// Back.
    pub(crate) down: LinkConfig,
    /// The client's side and the server's.
    pub(crate) ports: [Box<dyn Port>; 2],
    /// The address that answers packets that are too big.
    pub(crate) router: Ipv4Addr,
    /// Send neighbouring segments as super-packets.
    pub(crate) fast: bool,
    /// The only processor to run on.
    pub(crate) cpu: Option<usize>,
    pub(crate) spin: Spin,
    pub(crate) log_limit: usize,
    /// Moment 0.
    pub(crate) epoch: Epoch,
    /// Readable or closed: drain and end.
    pub(crate) stop: OwnedFd,
}

/// The result of an emulation.
pub(crate) struct Emulated {
    pub(crate) logs: [LinkLog; 2],
    pub(crate) ports: [Box<dyn Port>; 2],
    /// Frames that a port refused to send.
    pub(crate) refused: u64,
    /// Frames that no link carries (multicast, not IPv4).
    pub(crate) ignored: u64,
}

/// A packet in a link: a frame, or a segment of a super-packet.
#[derive(Debug)]
enum Body {
    Frame(Vec<u8>),
    Segment(Rc<SuperPacket>, usize),
}

/// Frames read from a port before something is sent.
const READ_BATCH: usize = 64;
/// Frames sent before the clock is read again, so that lateness is honest.
const SEND_BATCH: usize = 16;
/// Sleep until this long before a packet is due, then spin.
const SPIN_NS: u64 = 100_000;
/// In fast mode packets may leave this early, together.
const QUANTUM_NS: u64 = 50_000;
/// How long after its stop an emulation waits for packets still under way.
const DRAIN_NS: u64 = 1_000_000_000;
/// After a sleep of this long, waking up takes longest, and a spin takes little of the processor's
/// time.
const LONG_SLEEP_NS: u64 = 10 * SPIN_NS;

impl Emulation {
    /// Runs until it is stopped, and then until the links are empty, for a second at most.
    pub(crate) fn run(self) -> Emulated {
        if let Some(cpu) = self.cpu {
            sched::pin(cpu);
        }
        sched::claim();
        let Self { up, down, ports, router, fast, log_limit, epoch, stop, index, spin, .. } = self;
        let lane = |config: LinkConfig| Lane { link: Link::new(config), log: Log::new(log_limit) };
        let mut driver = Driver {
            clock: Clock::new(epoch),
            lanes: [lane(up), lane(down)],
            ports,
            router,
            quantum: if fast { QUANTUM_NS } else { 0 },
            outbox: Outbox::default(),
            refused: 0,
            ignored: 0,
        };
        driver.run(&stop, spin);
        let [up, down] = driver.lanes.map(Lane::finish);
        Emulated {
            logs: [up.finish(index, Direction::Up), down.finish(index, Direction::Down)],
            ports: driver.ports,
            refused: driver.refused,
            ignored: driver.ignored,
        }
    }
}

/// One direction.
struct Lane {
    link: Link<Body>,
    log: Log,
}

impl Lane {
    fn finish(mut self) -> Log {
        self.link.drain().iter().for_each(|packet| self.log.add(packet.record));
        self.log
    }
}

struct Driver {
    clock: Clock,
    lanes: [Lane; 2],
    ports: [Box<dyn Port>; 2],
    router: Ipv4Addr,
    quantum: u64,
    outbox: Outbox,
    refused: u64,
    ignored: u64,
}

impl Driver {
    fn run(&mut self, stop: &OwnedFd, spin: Spin) {
        let mut deadline = None;
        let mut spin_until = 0;
        loop {
            self.clock.tune();
            let read = self.receive(0) + self.receive(1);
            self.deliver(0);
            self.deliver(1);
            let now = self.clock.now();
            if deadline.is_some_and(|end| now >= end || self.lanes.iter().all(|lane| lane.link.is_empty())) {
                return;
            }
            if read > 0 {
                continue;
            }
            let next = self.lanes.iter().filter_map(|lane| lane.link.next_event()).min();
            let wait = next.map(|at| at.saturating_sub(self.quantum).saturating_sub(now));
            let least = match spin {
                Spin::Never => u64::MAX,
                Spin::Auto => LONG_SLEEP_NS,
                Spin::Always => SPIN_NS,
            };
            let wait = match wait {
                // A frame may have ended the sleep early: then there is more than a spin left to
                // wait.
                Some(wait) if wait <= SPIN_NS && now + wait <= spin_until => continue,
                Some(wait) if wait >= least => {
                    spin_until = now + wait;
                    Some(wait - SPIN_NS)
                }
                Some(wait) if spin == Spin::Always => {
                    spin_until = now + wait;
                    continue;
                }
                other => other,
            };
            if self.sleep(stop, wait, deadline.is_some()) {
                let now = self.clock.now();
                deadline.get_or_insert(now + DRAIN_NS + self.longest_delay());
            }
        }
    }

    fn longest_delay(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.link.conditions().delay_ns).max().unwrap_or(0)
    }

    /// Sleeps until a frame comes, `wait` has passed or a stop is requested; returns the latter.
    fn sleep(&self, stop: &OwnedFd, wait: Option<u64>, is_stopping: bool) -> bool {
        let poll = |fd| PollFd::new(fd, PollFlags::POLLIN);
        let mut fds = [poll(self.ports[0].readiness()), poll(self.ports[1].readiness()), poll(stop.as_fd())];
        let watched = if is_stopping { &mut fds[..2] } else { &mut fds[..] };
        // While stopping, look at the deadline now and then.
        let wait = if is_stopping { Some(wait.unwrap_or(u64::MAX).min(10_000_000)) } else { wait };
        let timeout = wait.map(|ns| TimeSpec::from_duration(Duration::from_nanos(ns)));
        // An interrupted wait is a short one.
        let _ = ppoll(watched, timeout, None);
        !is_stopping && fds[2].any().unwrap_or(false)
    }

    /// Moves waiting frames from a port into its link.
    fn receive(&mut self, from: usize) -> usize {
        let Self { clock, lanes, ports, outbox, ignored, router, .. } = self;
        let lane = &mut lanes[from];
        let mut answers = Vec::new();
        let count = ports[from].receive(clock, READ_BATCH, &mut |received| {
            if !lane.take(&received, outbox, &mut answers, *router) {
                *ignored += 1;
            }
        });
        if !answers.is_empty() {
            self.refused += ports[from].send(&answers);
        }
        count
    }

    /// Sends the packets that are due in a direction.
    fn deliver(&mut self, from: usize) {
        let Self { clock, lanes, ports, outbox, quantum, refused, .. } = self;
        let lane = &mut lanes[from];
        let until = clock.now() + *quantum;
        while let Some(packet) = lane.link.poll(until) {
            if packet.record.fate == Fate::Passed {
                outbox.add(packet, *quantum > 0);
            } else {
                lane.log.add(packet.record);
                outbox.recycle(packet.body);
            }
            if outbox.records.len() >= SEND_BATCH && !outbox.may_grow() {
                *refused += outbox.flush(&mut *ports[1 - from], clock, &mut lane.log);
            }
        }
        *refused += outbox.flush(&mut *ports[1 - from], clock, &mut lane.log);
    }
}

impl Lane {
    /// Gives a frame to the link; false when no link carries it.
    fn take(
        &mut self,
        received: &Received<'_>,
        outbox: &mut Outbox,
        answers: &mut Vec<Outgoing>,
        router: Ipv4Addr,
    ) -> bool {
        let Some(layout) = frame::parse(received.bytes) else { return false };
        let meta = layout.meta;
        let mut bytes = outbox.buffer();
        bytes.extend_from_slice(received.bytes);
        if let Some(offload) = &received.offload {
            match SuperPacket::new(bytes, layout, offload) {
                Ok(whole) => {
                    let whole = Rc::new(whole);
                    for n in 0..whole.segments() {
                        let meta = whole.meta(n);
                        let dropped = self.link.push(received.at_ns, meta, Body::Segment(Rc::clone(&whole), n));
                        self.dropped(dropped, outbox, answers, router);
                    }
                    return true;
                }
                Err(whole) => bytes = whole,
            }
            complete(&mut bytes, offload);
        }
        let dropped = self.link.push(received.at_ns, meta, Body::Frame(bytes));
        self.dropped(dropped, outbox, answers, router);
        true
    }

    fn dropped(
        &mut self,
        dropped: Option<Finished<Body>>,
        outbox: &mut Outbox,
        answers: &mut Vec<Outgoing>,
        router: Ipv4Addr,
    ) {
        let Some(packet) = dropped else { return };
        self.log.add(packet.record);
        if let (Fate::TooBig, Some(mtu)) = (packet.record.fate, self.link.conditions().mtu.filter(|mtu| mtu.icmp)) {
            let mut whole = Outgoing::default();
            let bytes = match &packet.body {
                Body::Frame(bytes) => bytes,
                Body::Segment(of, n) => {
                    of.write(*n..n + 1, &mut whole);
                    &whole.bytes
                }
            };
            let answer = frame::too_big_answer(bytes, router, mtu.bytes);
            answers.extend(answer.map(|bytes| Outgoing { bytes, ..Outgoing::default() }));
        }
        outbox.recycle(packet.body);
    }
}

/// Frames on their way to a port, their records, and buffers to use again.
#[derive(Default)]
struct Outbox {
    frames: Vec<Outgoing>,
    records: Vec<crate::log::Record>,
    /// Neighbouring segments that may leave together.
    together: Option<(Rc<SuperPacket>, Range<usize>)>,
    spare: Vec<Vec<u8>>,
}

impl Outbox {
    fn buffer(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }

    fn keep(&mut self, mut buffer: Vec<u8>) {
        if self.spare.len() < 4096 {
            buffer.clear();
            self.spare.push(buffer);
        }
    }

    fn recycle(&mut self, body: Body) {
        match body {
            Body::Frame(bytes) => self.keep(bytes),
            Body::Segment(whole, _) => {
                if let Some(whole) = Rc::into_inner(whole) {
                    self.keep(whole.bytes);
                }
            }
        }
    }

    /// A batch ends between super-packets.
    fn may_grow(&self) -> bool {
        self.together.as_ref().is_some_and(|(whole, which)| which.end < whole.segments())
    }

    /// Prepares a packet to be sent. `together`: leave its neighbours room to join it.
    fn add(&mut self, packet: Finished<Body>, together: bool) {
        let touched = packet.record.touched;
        self.records.push(packet.record);
        let mut frame = match packet.body {
            Body::Segment(whole, n) if together && touched.is_empty() => {
                match &mut self.together {
                    Some((open, which)) if Rc::ptr_eq(open, &whole) && which.end == n => which.end += 1,
                    _ => {
                        self.close();
                        self.together = Some((whole, n..n + 1));
                    }
                }
                return;
            }
            Body::Segment(whole, n) => {
                let mut frame = Outgoing { bytes: self.buffer(), ..Outgoing::default() };
                whole.write(n..n + 1, &mut frame);
                self.recycle(Body::Segment(whole, n));
                frame
            }
            Body::Frame(bytes) => Outgoing { bytes, ..Outgoing::default() },
        };
        self.close();
        if touched.has(Impairments::MARKED) {
            frame::mark(&mut frame.bytes);
        }
        if touched.has(Impairments::CORRUPTED) {
            frame::corrupt(&mut frame.bytes);
        }
        if touched.has(Impairments::DUPLICATED) {
            let mut copy = Outgoing { bytes: self.buffer(), ..Outgoing::default() };
            copy.bytes.extend_from_slice(&frame.bytes);
            self.frames.push(copy);
        }
        self.frames.push(frame);
    }

    /// Writes the segments that leave together.
    fn close(&mut self) {
        if let Some((whole, which)) = self.together.take() {
            let mut frame = Outgoing { bytes: self.buffer(), ..Outgoing::default() };
            whole.write(which, &mut frame);
            self.frames.push(frame);
            self.recycle(Body::Segment(whole, 0));
        }
    }

    /// Sends all and logs it. Returns how many were refused.
    fn flush(&mut self, port: &mut dyn Port, clock: &Clock, log: &mut Log) -> u64 {
        self.close();
        if self.frames.is_empty() {
            return 0;
        }
        let refused = port.send(&self.frames);
        let out = clock.now();
        for mut record in self.records.drain(..) {
            record.out_ns = out;
            log.add(record);
        }
        while let Some(frame) = self.frames.pop() {
            self.keep(frame.bytes);
        }
        refused
    }
}
