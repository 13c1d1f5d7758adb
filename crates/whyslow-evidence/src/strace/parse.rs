//! Reads a trace as a list of calls with their times.

use crate::report::Source;
use crate::text::{self, Text, number};
use std::collections::HashMap;

/// The tool.
pub(crate) const SOURCE: Source = Source::new("strace");

/// Maximum number of calls of a trace, and of descriptors that are named.
const CALLS: usize = 2_000_000;
const NAMED: usize = 100_000;

/// A trace.
#[derive(Debug, Default)]
pub(super) struct Trace {
    pub calls: Vec<Call>,
    /// What a descriptor is: its peer or its path, and whether it is a socket. By process.
    pub names: Vec<Named>,
    /// First and last time.
    pub span: Option<(f64, f64)>,
    /// Every call has its own time (`-T`).
    pub has_times: bool,
}

/// The kind of a descriptor.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub text: String,
    pub is_socket: bool,
}

/// A call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub what: What,
    /// Index in [`Trace::names`]; `None` if the descriptor was opened before the trace.
    pub on: Option<usize>,
    pub fd: Option<u32>,
    pub took_s: f64,
}

/// Kinds of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// `read`: of a socket or a file.
    Read,
    /// `write`: to a socket or a file.
    Write,
    /// `recv…`: of a socket.
    Receive,
    /// `send…`: to a socket.
    Send,
    /// `poll` and the like for data.
    PollIn,
    /// `poll` for room.
    PollOut,
    Connect,
    /// `fsync`, `open`, `stat`: the disk.
    Disk,
    Sleep,
    Lock,
}

fn what(name: &str, arguments: &str) -> Option<What> {
    Some(match name {
        "read" | "readv" | "preadv" | "pread64" => What::Read,
        "write" | "writev" | "pwrite64" | "pwritev" => What::Write,
        "recv" | "recvfrom" | "recvmsg" | "recvmmsg" => What::Receive,
        "send" | "sendto" | "sendmsg" | "sendmmsg" | "sendfile" | "sendfile64" | "splice" => What::Send,
        "poll" | "ppoll" | "ppoll_time64" if arguments.contains("POLLOUT") && !arguments.contains("POLLIN") => {
            What::PollOut
        }
        "poll" | "ppoll" | "ppoll_time64" | "epoll_wait" | "epoll_pwait" | "epoll_pwait2" | "select" | "pselect6"
        | "_newselect" => What::PollIn,
        "connect" => What::Connect,
        "fsync" | "fdatasync" | "open" | "openat" | "stat" | "statx" | "lstat" | "newfstatat" | "getdents64"
        | "unlink" | "rename" => What::Disk,
        "nanosleep" | "clock_nanosleep" | "clock_nanosleep_time64" => What::Sleep,
        "futex" | "futex_time64" => What::Lock,
        _ => return None,
    })
}

#[derive(Default)]
struct Reader {
    trace: Trace,
    /// Descriptors of each process.
    open: HashMap<(u32, u32), usize>,
    /// Calls that another process interrupted in the trace: the beginning of their line.
    unfinished: HashMap<u32, String>,
    /// The place of each process' last call whose time the next line shows.
    waiting: HashMap<u32, (usize, f64)>,
    lines: usize,
    timed: usize,
    clock: f64,
}

/// The calls of a text; empty if it is not of strace.
pub(super) fn trace(text: &Text<'_>) -> Trace {
    let mut reader = Reader::default();
    let mut pending = String::new();
    for line in text.lines() {
        // A line that a mail broke goes on until the result.
        let is_new = head(line.trim()).is_some();
        if is_new || pending.len() > 10_000 {
            reader.line(&std::mem::take(&mut pending));
        }
        if is_new {
            line.trim().clone_into(&mut pending);
        } else if !pending.is_empty() {
            pending.push(' ');
            pending.push_str(line.trim());
        }
    }
    reader.line(&pending);
    let mut trace = reader.trace;
    trace.has_times = 2 * reader.timed > reader.lines;
    if reader.lines < 2 {
        trace.calls.clear();
    }
    trace
}

/// Process, time as printed, and the rest of a line that begins with a call.
fn head(line: &str) -> Option<(u32, Option<f64>, bool, &str)> {
    let mut rest = line;
    let mut pid = 0;
    if let Some(after) = rest.strip_prefix("[pid") {
        let (number, after) = after.split_once(']')?;
        pid = number.trim().parse().ok()?;
        rest = after.trim_start();
    } else if let Some((word, after)) = rest.split_once(' ').filter(|(word, _)| !word.contains(['.', ':']))
        && let Ok(number) = word.parse()
    {
        pid = number;
        rest = after.trim_start();
    }
    let (mut time, mut is_relative) = (None, false);
    if let Some((word, after)) = rest.split_once(' ')
        && word.starts_with(|c: char| c.is_ascii_digit())
    {
        if word.contains(':') {
            time = text::time(word);
        } else {
            time = number(word).filter(|(_, rest)| rest.is_empty()).map(|(value, _)| value);
            is_relative = time.is_some_and(|time| time < 1e6);
        }
        rest = after.trim_start();
    }
    let name_end = rest.find('(').unwrap_or(0);
    let is_name = |name: &str| {
        !name.is_empty()
            && name.len() < 32
            && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
    };
    let is_call = is_name(&rest[..name_end]) || rest.starts_with("<... ");
    // Without a time the result distinguishes a call from prose.
    (is_call && (time.is_some() || rest.contains(") = ") || rest.contains("<unfinished"))).then_some((
        pid,
        time,
        is_relative,
        rest,
    ))
}

impl Reader {
    fn line(&mut self, line: &str) {
        let Some((pid, time, is_relative, rest)) = head(line) else { return };
        self.lines += 1;
        if let Some(time) = time {
            self.clock = if is_relative { self.clock + time } else { time };
            let (first, last) = self.trace.span.unwrap_or((self.clock, self.clock));
            self.trace.span = Some((first.min(self.clock), last.max(self.clock)));
            if let Some((at, since)) = self.waiting.remove(&pid)
                && let Some(call) = self.trace.calls.get_mut(at)
            {
                call.took_s = (self.clock - since).max(0.0);
            }
        }
        if let Some(begun) = rest.strip_suffix("<unfinished ...>") {
            if self.unfinished.len() < NAMED {
                self.unfinished.insert(pid, begun.trim_end().to_owned());
            }
            return;
        }
        if rest.starts_with("<... ") {
            let Some(begun) = self.unfinished.remove(&pid) else { return };
            let Some((_, after)) = rest.split_once("resumed>") else { return };
            self.call(pid, &format!("{begun}{after}"));
        } else {
            self.call(pid, rest);
        }
    }

    fn call(&mut self, pid: u32, text: &str) {
        let Some((name, rest)) = text.split_once('(') else { return };
        let (arguments, result) = rest.rsplit_once(" = ").unwrap_or((rest, ""));
        let took =
            result.rsplit_once('<').and_then(|(_, took)| number(took.trim_end_matches('>'))).map(|(took, _)| took);
        self.timed += usize::from(took.is_some());
        let returned = result.split_whitespace().next().and_then(|word| word.split('<').next()).unwrap_or("");
        let fd = descriptor(arguments);
        self.names(pid, name, arguments, returned);
        let Some(kind) = what(name, arguments) else { return };
        if self.trace.calls.len() >= CALLS {
            return;
        }
        let fd = match kind {
            What::PollIn | What::PollOut => polled(arguments),
            _ => fd,
        };
        let on = fd.and_then(|fd| self.open.get(&(pid, fd)).or_else(|| self.open.get(&(0, fd)))).copied();
        if took.is_none() {
            self.waiting.insert(pid, (self.trace.calls.len(), self.clock));
        }
        self.trace.calls.push(Call { what: kind, on, fd, took_s: took.unwrap_or(0.0) });
    }

    /// Learns what descriptors are.
    fn names(&mut self, pid: u32, name: &str, arguments: &str, returned: &str) {
        let fd = descriptor(arguments);
        let named = |text: &str, is_socket: bool| Named { text: text.to_owned(), is_socket };
        match name {
            "socket" => {
                let is_network = arguments.starts_with("AF_INET") || arguments.starts_with("PF_INET");
                self.open_as(pid, returned.parse().ok(), named("", is_network));
            }
            "accept" | "accept4" | "connect" => {
                let peer = peer(arguments).unwrap_or_default();
                let fd = if name == "connect" { fd } else { returned.parse().ok() };
                let is_network = arguments.contains("AF_INET") || arguments.contains("TCP");
                self.open_as(pid, fd, named(&peer, is_network));
            }
            "open" | "openat" => {
                let path = arguments.split('"').nth(1).unwrap_or_default();
                self.open_as(pid, returned.parse().ok(), named(path, false));
            }
            _ => {
                // -y: `7<TCP:[192.0.2.1:5000->192.0.2.2:443]>`, `3</var/log/x>`.
                let Some(fd) = fd.filter(|fd| !self.open.contains_key(&(pid, *fd))) else { return };
                let digits = arguments.find(|c: char| !c.is_ascii_digit()).unwrap_or(arguments.len());
                let Some(inner) = arguments[digits..].strip_prefix('<') else { return };
                if let Some((_, peer)) = inner.split_once("->").filter(|_| inner.starts_with("TCP")) {
                    let peer = peer.split(']').next().unwrap_or_default();
                    let peer = if inner.contains(":[[") {
                        inner.split("->").nth(1).and_then(|rest| rest.split("]>").next()).unwrap_or(peer)
                    } else {
                        peer
                    };
                    self.open_as(pid, Some(fd), named(peer, true));
                } else {
                    let path = inner.split('>').next().unwrap_or_default();
                    let is_socket = path.starts_with("TCP") || path.starts_with("UDP") || path.starts_with("socket");
                    self.open_as(pid, Some(fd), named(path, is_socket));
                }
            }
        }
    }

    fn open_as(&mut self, pid: u32, fd: Option<u32>, named: Named) {
        let Some(fd) = fd.filter(|_| self.trace.names.len() < NAMED) else { return };
        self.open.insert((pid, fd), self.trace.names.len());
        // Threads share descriptors.
        self.open.insert((0, fd), self.trace.names.len());
        self.trace.names.push(named);
    }
}

/// The descriptor that a call begins with.
fn descriptor(arguments: &str) -> Option<u32> {
    arguments.split([',', ')', '<']).next()?.trim().parse().ok()
}

/// The only descriptor that is polled.
fn polled(arguments: &str) -> Option<u32> {
    let mut found = arguments.match_indices("fd=").map(|(at, _)| &arguments[at + 3..]);
    let first = found.next()?.split([',', '<', '}']).next()?.parse().ok()?;
    let is_only =
        found.all(|rest| rest.split([',', '<', '}']).next().and_then(|word| word.parse().ok()) == Some(first));
    is_only.then_some(first)
}

/// `sin_port=htons(443), sin_addr=inet_addr("192.0.2.1")`, also of IPv6.
fn peer(arguments: &str) -> Option<String> {
    let port: u16 = arguments.split("_port=htons(").nth(1)?.split(')').next()?.parse().ok()?;
    let address = arguments
        .split("inet_addr(\"")
        .nth(1)
        .or_else(|| arguments.split("inet_pton(AF_INET6, \"").nth(1))?
        .split('"')
        .next()?;
    Some(if address.contains(':') { format!("[{address}]:{port}") } else { format!("{address}:{port}") })
}
