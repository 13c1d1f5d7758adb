//! Why the kernel retransmitted each segment, from its own tracing.
//!
//! Uses the tracepoints `tcp:tcp_retransmit_skb`, with the kernel's call stack, and
//! `tcp:tcp_cong_state_set`. The stack names the mechanism (`tcp_send_loss_probe`,
//! `tcp_retransmit_timer`, `tcp_simple_retransmit`). For a retransmission by none of these, the
//! socket's state decides: fast recovery, or Loss, which continues what the timer began.
//!
//! The trace instance is private, so other tracing is not disturbed. It is removed when this value
//! is dropped; one that a killed process left is removed when the next trace starts. What did not
//! fit into the kernel's buffer is counted. The tracepoint does not give sequence numbers, so
//! [`crate::retransmissions`] joins by time. Without root there is no trace, and the reason is
//! recorded instead.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::ffi::CStr;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Memory for events, on each processor, KiB: about ten thousand retransmissions.
const BUFFER_KIB: &str = "4096";
/// Prefix of an instance's name; this process's id follows.
const NAME: &str = "whyslow-";
const EVENTS: [&str; 2] = ["tcp_retransmit_skb", "tcp_cong_state_set"];

/// The mechanism of a retransmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// ACKs reported the loss (or RACK's timer, which waits for reordering): fast recovery.
    Fast,
    /// The retransmission timer, or ACKs during the recovery that follows it.
    Timeout,
    /// A tail loss probe.
    TailProbe,
    /// Something else, such as a router that asks for smaller packets.
    Other,
}

/// One call of the kernel's retransmission: one segment, or several in one piece.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Nanoseconds since the Unix epoch, to the microsecond.
    pub t: u64,
    /// Sender's address.
    pub source: String,
    /// Sender's port.
    pub source_port: u16,
    /// Receiver's port.
    pub destination_port: u16,
    /// Its reason.
    pub why: Why,
}

/// All of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    /// In order.
    pub events: Vec<Event>,
    /// Events that the kernel's buffer could not hold.
    pub lost: u64,
    /// The reason for a missing trace; `None` if there is a trace.
    pub missing: Option<String>,
}

impl Trace {
    /// Nothing was traced.
    pub fn missing(why: impl Into<String>) -> Self {
        Self { missing: Some(why.into()), ..Self::default() }
    }
}

/// Tracing under way.
pub struct Tracer {
    // The folder is reached through it.
    _mount: OwnedFd,
    instance: PathBuf,
}

impl Tracer {
    /// Starts.
    ///
    /// # Errors
    /// Where tracing is not allowed, or this kernel does not have it.
    pub fn start() -> io::Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let mount = mount()?;
        let instances = PathBuf::from(format!("/proc/self/fd/{}/instances", mount.as_raw_fd()));
        remove_stale(&instances);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let instance = instances.join(format!("{NAME}{}-{number}", std::process::id()));
        fs::create_dir(&instance)?;
        let tracer = Self { _mount: mount, instance };
        tracer.put("trace_clock", "tai")?;
        tracer.put("buffer_size_kb", BUFFER_KIB)?;
        tracer.put("events/tcp/tcp_retransmit_skb/trigger", "stacktrace")?;
        for event in EVENTS {
            tracer.put(&format!("events/tcp/{event}/enable"), "1")?;
        }
        Ok(tracer)
    }

    fn put(&self, file: &str, text: &str) -> io::Result<()> {
        fs::write(self.instance.join(file), text)
    }

    /// Stops, and returns the trace.
    pub fn finish(self) -> Trace {
        let read = || -> io::Result<Trace> {
            self.put("tracing_on", "0")?;
            let text = fs::read(self.instance.join("trace"))?;
            Ok(parse(&String::from_utf8_lossy(&text), tai_ahead()))
        };
        read().unwrap_or_else(|error| Trace::missing(format!("reading the kernel's trace: {error}")))
    }
}

impl Drop for Tracer {
    fn drop(&mut self) {
        remove(&self.instance);
    }
}

/// Removes an instance; if that fails, the next process that traces does it.
fn remove(instance: &Path) {
    // The kernel keeps an instance whose events are on.
    for event in EVENTS {
        let _ = fs::write(instance.join(format!("events/tcp/{event}/enable")), "0");
    }
    let _ = fs::write(instance.join("events/tcp/tcp_retransmit_skb/trigger"), "!stacktrace");
    let _ = fs::remove_dir(instance);
}

/// The tracing file system, mounted nowhere: only this descriptor leads to it.
fn mount() -> io::Result<OwnedFd> {
    const NAME: &CStr = c"tracefs";
    const CREATE: libc::c_long = 6;
    let made = |result: libc::c_long| match i32::try_from(result) {
        // SAFETY: the kernel has just made this descriptor for us.
        Ok(fd) if fd >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        _ => Err(io::Error::last_os_error()),
    };
    // SAFETY: the name ends with a zero byte and outlives the call.
    let system = made(unsafe { libc::syscall(libc::SYS_fsopen, NAME.as_ptr(), 1_u32) })?;
    let nothing = std::ptr::null::<libc::c_char>();
    // SAFETY: FSCONFIG_CMD_CREATE takes no key and no value.
    let done = unsafe { libc::syscall(libc::SYS_fsconfig, system.as_raw_fd(), CREATE, nothing, nothing, 0) };
    if done < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: takes numbers only.
    made(unsafe { libc::syscall(libc::SYS_fsmount, system.as_raw_fd(), 1_u32, 0_u32) })
}

/// Removes instances of processes that are gone.
fn remove_stale(instances: &Path) {
    for entry in fs::read_dir(instances).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let id = name.to_str().and_then(|name| name.strip_prefix(NAME)?.split('-').next()?.parse::<u32>().ok());
        if id.is_some_and(|id| !Path::new(&format!("/proc/{id}")).exists()) {
            remove(&entry.path());
        }
    }
}

/// How far TAI is ahead of the clock of the captures, nanoseconds: whole seconds, zero if it was
/// never set.
fn tai_ahead() -> u64 {
    let now = |clock| nix::time::clock_gettime(clock).map_or(0.0, |t| t.tv_sec() as f64 + t.tv_nsec() as f64 / 1e9);
    let ahead = now(nix::time::ClockId::CLOCK_TAI) - now(nix::time::ClockId::CLOCK_REALTIME);
    ahead.round().max(0.0) as u64 * 1_000_000_000
}

/// The state of sockets that take all that was sent for lost (TCP_CA_Loss): after a timeout, or a
/// router's word.
const LOSS: u8 = 4;

/// A socket: sender's address, sender's port, receiver's port.
type Socket = (String, u16, u16);

/// Reads the kernel's text. A stack follows its event, but another processor's lines may come
/// between the two.
fn parse(text: &str, tai_ahead: u64) -> Trace {
    let mut trace = Trace::default();
    // The mechanism in the stack of each event; and how often its socket's state had changed by
    // then, and to which state.
    let mut transmissions: Vec<(Option<Why>, (u64, u8))> = Vec::new();
    let mut states: HashMap<Socket, (u64, u8)> = HashMap::new();
    // By processor: the event whose stack follows, or is being read.
    let mut open: HashMap<&str, usize> = HashMap::new();
    let mut stack = None;
    for line in text.lines() {
        if let Some(function) = line.trim_start().strip_prefix("=> ") {
            if let Some((reason, _)) = stack.and_then(|index: usize| transmissions.get_mut(index)) {
                *reason = reason.or(sent_by(function));
            }
            continue;
        }
        stack = None;
        if let Some(counts) = line.strip_prefix("# entries-in-buffer/entries-written: ") {
            let mut counts = counts.split([' ', '/']).filter_map(|count| count.parse::<u64>().ok());
            if let (Some(kept), Some(written)) = (counts.next(), counts.next()) {
                trace.lost = written.saturating_sub(kept);
            }
        } else if let Some((head, _)) = line.split_once(": <stack trace>") {
            stack = processor(head).and_then(|processor| open.remove(processor));
        } else if let Some((_, fields)) = line.split_once(": tcp_cong_state_set: ") {
            if let (Some(socket), Some(state)) = (socket(fields), number(fields, "cong_state=")) {
                let known = states.entry(socket).or_default();
                *known = (known.0 + 1, state);
            }
        } else if let Some((head, fields)) = line.split_once(": tcp_retransmit_skb: ")
            && let (Some(socket), Some(t)) = (socket(fields), time(head))
        {
            // An error: it never left the host.
            if number::<i32>(fields, "err=").is_some_and(|error| error != 0) {
                continue;
            }
            transmissions.push((None, states.get(&socket).copied().unwrap_or_default()));
            let (source, source_port, destination_port) = socket;
            let t = t.saturating_sub(tai_ahead);
            if let Some(processor) = processor(head) {
                open.insert(processor, trace.events.len());
            }
            trace.events.push(Event { t, source, source_port, destination_port, why: Why::Other });
        }
    }
    conclude(&mut trace.events, &transmissions);
    trace
}

/// If the stack does not show it, the state does: all retransmissions in the state Loss have the
/// reason that brought the socket there, which is not always the timer.
fn conclude(events: &mut [Event], transmissions: &[(Option<Why>, (u64, u8))]) {
    let mut brought: HashMap<Socket, (u64, Why)> = HashMap::new();
    for (event, (reason, (change, state))) in events.iter_mut().zip(transmissions) {
        let socket = (event.source.clone(), event.source_port, event.destination_port);
        event.why = match reason {
            Some(why) => *why,
            None if *state != LOSS => Why::Fast,
            None => brought.get(&socket).filter(|(at, _)| at == change).map_or(Why::Other, |(_, why)| *why),
        };
        if *state == LOSS && reason.is_some() {
            brought.insert(socket, (*change, event.why));
        }
    }
}

/// The reason that a function on the stack shows.
fn sent_by(function: &str) -> Option<Why> {
    // A compiler may append to a name.
    match function.split(['.', '+', ' ']).next()? {
        "tcp_send_loss_probe" => Some(Why::TailProbe),
        "tcp_retransmit_timer" => Some(Why::Timeout),
        "tcp_simple_retransmit" => Some(Why::Other),
        _ => None,
    }
}

fn field<'t>(fields: &'t str, name: &str) -> Option<&'t str> {
    fields.split(' ').find_map(|field| field.strip_prefix(name))
}

fn number<T: std::str::FromStr>(fields: &str, name: &str) -> Option<T> {
    field(fields, name)?.parse().ok()
}

fn socket(fields: &str) -> Option<(String, u16, u16)> {
    Some((field(fields, "saddr=")?.to_owned(), number(fields, "sport=")?, number(fields, "dport=")?))
}

/// `name-id [processor] flags seconds.microseconds`: from the end, for a name may hold anything.
fn processor(head: &str) -> Option<&str> {
    head.split_whitespace().rev().nth(2)
}

fn time(head: &str) -> Option<u64> {
    let (seconds, rest) = head.split_whitespace().next_back()?.split_once('.')?;
    let micros = rest.parse::<u64>().ok().filter(|_| rest.len() == 6)?;
    seconds.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(micros * 1000)
}

#[cfg(test)]
mod tests;
