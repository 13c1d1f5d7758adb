//! The kernel's state of a socket, sampled every few milliseconds while it works.
//!
//! Reads `TCP_INFO`, `SO_MEMINFO`, `SIOCINQ` and `SIOCOUTQ`. `TCP_INFO` is parsed up to the length
//! that the kernel returned, so older and newer kernels both work; a field that this kernel lacks
//! is null, never zero. A row that equals the one before is left out.

use serde::{Deserialize, Serialize};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The most rows of a socket; later ones are counted in [`Series::dropped`].
pub(crate) const MAX_ROWS: usize = 200_000;
/// Larger than any `struct tcp_info` so far (280 bytes in Linux 6.18).
const INFO_SPACE: usize = 512;
const MEMINFO_VARS: usize = 9;

/// The source of a column.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// One byte of `struct tcp_info` at this offset.
    U8(usize),
    /// Bits of the byte at this offset: shift and mask.
    Bits(usize, u8, u8),
    /// Two bytes.
    U16(usize),
    /// Four bytes.
    U32(usize),
    /// Eight bytes.
    U64(usize),
    /// An entry of `SO_MEMINFO`.
    Mem(usize),
    /// Bytes that the application has not read yet.
    InQueue,
    /// Bytes sent or not, and not yet acknowledged.
    OutQueue,
}

/// Every column of a series: its name, meaning and unit. Offsets are those of `struct tcp_info` in
/// `include/uapi/linux/tcp.h`; they only ever grow at the end.
const COLUMNS: &[(&str, &str, Source)] = &[
    ("state", "TCP state (1 is ESTABLISHED)", Source::U8(0)),
    ("ca_state", "0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss", Source::U8(1)),
    ("retransmits", "timeouts in a row without progress", Source::U8(2)),
    ("probes", "zero-window probes unanswered", Source::U8(3)),
    ("backoff", "exponent of the timer's back-off", Source::U8(4)),
    ("options", "bits: 1 timestamps, 2 SACK, 4 window scaling, 8 ECN, 16 ECN seen", Source::U8(5)),
    ("snd_wscale", "window scale that the peer uses", Source::Bits(6, 0, 0x0f)),
    ("rcv_wscale", "window scale that this end uses", Source::Bits(6, 4, 0x0f)),
    ("app_limited", "the delivery rate was limited by the application", Source::Bits(7, 0, 0x01)),
    ("rto", "retransmission timeout, us", Source::U32(8)),
    ("ato", "delayed-ACK timeout, us", Source::U32(12)),
    ("snd_mss", "bytes", Source::U32(16)),
    ("rcv_mss", "bytes", Source::U32(20)),
    ("unacked", "segments in flight", Source::U32(24)),
    ("sacked", "segments", Source::U32(28)),
    ("lost", "segments", Source::U32(32)),
    ("retrans", "segments retransmitted and in flight", Source::U32(36)),
    ("pmtu", "bytes", Source::U32(60)),
    ("rcv_ssthresh", "what the receiver would like to advertise at most, bytes", Source::U32(64)),
    ("rtt", "smoothed, us", Source::U32(68)),
    ("rttvar", "us", Source::U32(72)),
    ("snd_ssthresh", "segments; 2147483647 means none yet", Source::U32(76)),
    ("snd_cwnd", "segments", Source::U32(80)),
    ("reordering", "segments", Source::U32(88)),
    ("rcv_rtt", "RTT as the receiver estimates it, us", Source::U32(92)),
    ("rcv_space", "receive buffer autotuning, bytes per RTT", Source::U32(96)),
    ("total_retrans", "segments", Source::U32(100)),
    ("pacing_rate", "bytes per second", Source::U64(104)),
    ("bytes_acked", "bytes", Source::U64(120)),
    ("bytes_received", "bytes", Source::U64(128)),
    ("segs_out", "segments", Source::U32(136)),
    ("segs_in", "segments", Source::U32(140)),
    ("notsent", "bytes written and not yet sent", Source::U32(144)),
    ("min_rtt", "us", Source::U32(148)),
    ("delivery_rate", "bytes per second", Source::U64(160)),
    ("busy_time", "us with data outstanding", Source::U64(168)),
    ("rwnd_limited", "us of the busy time limited by the peer's window", Source::U64(176)),
    ("sndbuf_limited", "us of the busy time limited by the send buffer", Source::U64(184)),
    ("delivered", "segments", Source::U32(192)),
    ("delivered_ce", "segments marked congestion experienced", Source::U32(196)),
    ("bytes_sent", "bytes, retransmissions included", Source::U64(200)),
    ("bytes_retrans", "bytes", Source::U64(208)),
    ("dsack_dups", "segments that the peer reported as received twice", Source::U32(216)),
    ("reord_seen", "reordering events", Source::U32(220)),
    ("rcv_ooopack", "segments received out of order", Source::U32(224)),
    ("snd_wnd", "the peer's advertised window, bytes", Source::U32(228)),
    ("rcv_wnd", "the window advertised to the peer, bytes", Source::U32(232)),
    ("total_rto", "timeouts", Source::U16(240)),
    ("total_rto_time", "ms spent in timeout recovery", Source::U32(244)),
    ("rmem_alloc", "receive memory in use, bytes", Source::Mem(0)),
    ("rcvbuf", "receive buffer, bytes", Source::Mem(1)),
    ("wmem_alloc", "bytes handed to the device layer", Source::Mem(2)),
    ("sndbuf", "send buffer, bytes", Source::Mem(3)),
    ("wmem_queued", "send memory in use, bytes", Source::Mem(5)),
    ("drops", "segments dropped at the socket", Source::Mem(8)),
    ("inq", "bytes received and not yet read", Source::InQueue),
    ("outq", "bytes written and not yet acknowledged", Source::OutQueue),
];

/// Names of a row's columns, in order.
pub fn columns() -> Vec<String> {
    COLUMNS.iter().map(|(name, _, _)| (*name).to_owned()).collect()
}

/// Each column with its meaning, for the documentation.
pub fn column_docs() -> impl Iterator<Item = (&'static str, &'static str)> {
    COLUMNS.iter().map(|(name, meaning, _)| (*name, *meaning))
}

/// One reading of one socket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Nanoseconds since the Unix epoch, on the clock of the captures.
    pub t: u64,
    /// One value for each of [`columns`]; null if this kernel does not have it.
    pub v: Vec<Option<u64>>,
}

/// A socket's readings in order.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Series {
    /// Index of the connection in the order in which this end opened or accepted them.
    pub connection: usize,
    /// This end's address and port.
    pub local: String,
    /// Address of the other end.
    pub peer: String,
    /// Congestion control in force on this socket.
    pub congestion: String,
    /// The readings; one equal to the reading before it is left out.
    pub rows: Vec<Row>,
    /// Readings left out because there were too many.
    pub dropped: u64,
}

impl Series {
    /// The last value of a column, if the socket was ever read and the kernel has it.
    pub fn last(&self, column: &str) -> Option<u64> {
        let at = position(column)?;
        self.rows.last()?.v.get(at).copied().flatten()
    }

    /// The largest value of a column.
    pub fn max(&self, column: &str) -> Option<u64> {
        let at = position(column)?;
        self.rows.iter().filter_map(|r| r.v.get(at).copied().flatten()).max()
    }
}

/// The place of a column in a row.
pub fn position(column: &str) -> Option<usize> {
    COLUMNS.iter().position(|(name, _, _)| *name == column)
}

/// The results of the three system calls, before columns are extracted.
struct Raw {
    info: [u8; INFO_SPACE],
    info_len: usize,
    mem: [u32; MEMINFO_VARS],
    mem_len: usize,
    inq: Option<u64>,
    outq: Option<u64>,
}

impl Raw {
    fn value(&self, source: Source) -> Option<u64> {
        let info = self.info.get(..self.info_len)?;
        let bytes = |at: usize, n: usize| info.get(at..at.checked_add(n)?);
        match source {
            Source::U8(at) => info.get(at).map(|b| u64::from(*b)),
            Source::Bits(at, shift, mask) => info.get(at).map(|b| u64::from((b >> shift) & mask)),
            Source::U16(at) => Some(u64::from(u16::from_ne_bytes(bytes(at, 2)?.try_into().ok()?))),
            Source::U32(at) => Some(u64::from(u32::from_ne_bytes(bytes(at, 4)?.try_into().ok()?))),
            Source::U64(at) => Some(u64::from_ne_bytes(bytes(at, 8)?.try_into().ok()?)),
            Source::Mem(at) if at < self.mem_len => self.mem.get(at).map(|m| u64::from(*m)),
            Source::Mem(_) => None,
            Source::InQueue => self.inq,
            Source::OutQueue => self.outq,
        }
    }
}

/// Reads a socket once. `None` when it is not (or no longer) a TCP socket.
pub fn read(socket: BorrowedFd<'_>) -> Option<Row> {
    let fd = socket.as_raw_fd();
    let t = now();
    let mut raw = Raw { info: [0; INFO_SPACE], info_len: 0, mem: [0; MEMINFO_VARS], mem_len: 0, inq: None, outq: None };
    raw.info_len = getsockopt(fd, libc::IPPROTO_TCP, libc::TCP_INFO, raw.info.as_mut_ptr().cast(), INFO_SPACE)?;
    let mem_space = size_of_val(&raw.mem);
    // SO_MEMINFO is Linux 4.12 and later: without it the columns are null.
    raw.mem_len = getsockopt(fd, libc::SOL_SOCKET, libc::SO_MEMINFO, raw.mem.as_mut_ptr().cast(), mem_space)
        .map_or(0, |n| n / size_of::<u32>());
    raw.inq = queue(fd, libc::FIONREAD);
    raw.outq = queue(fd, libc::TIOCOUTQ);
    Some(Row { t, v: COLUMNS.iter().map(|(_, _, source)| raw.value(*source)).collect() })
}

/// The row that the kernel's account of a socket makes when it came another way: `struct tcp_info`,
/// the entries of `SO_MEMINFO`, bytes not read and bytes not acknowledged.
pub(crate) fn row(t: u64, tcp_info: &[u8], memory: &[u32], inq: u32, outq: u32) -> Row {
    let (info_len, mem_len) = (tcp_info.len().min(INFO_SPACE), memory.len().min(MEMINFO_VARS));
    let mut raw = Raw {
        info: [0; INFO_SPACE],
        info_len,
        mem: [0; MEMINFO_VARS],
        mem_len,
        inq: Some(u64::from(inq)),
        outq: Some(u64::from(outq)),
    };
    raw.info[..info_len].copy_from_slice(&tcp_info[..info_len]);
    raw.mem[..mem_len].copy_from_slice(&memory[..mem_len]);
    Row { t, v: COLUMNS.iter().map(|(_, _, source)| raw.value(*source)).collect() }
}

/// Nanoseconds since the Unix epoch.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| u64::try_from(d.as_nanos()).unwrap_or(u64::MAX))
}

fn getsockopt(fd: RawFd, level: i32, name: i32, space: *mut libc::c_void, len: usize) -> Option<usize> {
    let mut got = libc::socklen_t::try_from(len).ok()?;
    // SAFETY: `space` points to `len` writable bytes that outlive the call, and `got` holds that
    // length for the kernel.
    let result = unsafe { libc::getsockopt(fd, level, name, space, &raw mut got) };
    (result == 0).then(|| usize::try_from(got).unwrap_or(0).min(len))
}

/// Bytes in a queue of a socket.
pub(crate) fn queue(fd: RawFd, request: libc::Ioctl) -> Option<u64> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: both requests write one int to the pointer.
    let result = unsafe { libc::ioctl(fd, request, &raw mut bytes) };
    if result == 0 { u64::try_from(bytes).ok() } else { None }
}

struct Watched {
    socket: OwnedFd,
    series: Series,
    open: bool,
}

impl Watched {
    fn read(&mut self) {
        use std::os::fd::AsFd;
        let Some(row) = read(self.socket.as_fd()) else { return };
        if self.series.rows.last().is_some_and(|last| last.v == row.v) {
            return;
        }
        if self.series.rows.len() >= MAX_ROWS {
            self.series.dropped += 1;
            return;
        }
        self.series.rows.push(row);
    }
}

/// Samples its sockets on a thread of its own until it is stopped.
pub struct Sampler {
    watched: Arc<Mutex<Vec<Watched>>>,
    stop: mpsc::Sender<()>,
    thread: Option<JoinHandle<Accuracy>>,
}

/// How far apart the readings really were.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Accuracy {
    /// Rounds of readings.
    pub rounds: u64,
    /// The wanted distance, milliseconds.
    pub every_ms: f64,
    /// The longest distance between two rounds, milliseconds.
    pub longest_ms: f64,
}

/// A socket that is being read; call [`Handle::close`] before the socket closes, so that its last
/// state is kept.
#[derive(Clone)]
pub struct Handle {
    watched: Arc<Mutex<Vec<Watched>>>,
    index: usize,
}

impl Handle {
    /// Samples the socket a last time and releases it.
    pub fn close(&self) {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(w) = watched.get_mut(self.index)
            && w.open
        {
            w.read();
            w.open = false;
            // The duplicate would keep the connection from closing: put something harmless in its
            // place.
            if let Ok(null) = std::fs::File::open("/dev/null") {
                w.socket = null.into();
            }
        }
    }
}

impl Sampler {
    /// Starts reading every `every`.
    pub fn start(every: Duration) -> Self {
        let watched = Arc::new(Mutex::new(Vec::<Watched>::new()));
        let (stop, stopped) = mpsc::channel();
        let shared = Arc::clone(&watched);
        let thread = std::thread::spawn(move || {
            set_timer_slack();
            let mut accuracy = Accuracy { every_ms: every.as_secs_f64() * 1e3, ..Accuracy::default() };
            let mut before: Option<Instant> = None;
            loop {
                let started = Instant::now();
                if let Some(before) = before {
                    accuracy.longest_ms = accuracy.longest_ms.max(started.duration_since(before).as_secs_f64() * 1e3);
                }
                before = Some(started);
                accuracy.rounds += 1;
                for w in shared.lock().unwrap_or_else(PoisonError::into_inner).iter_mut().filter(|w| w.open) {
                    w.read();
                }
                let left = every.saturating_sub(started.elapsed());
                if !matches!(stopped.recv_timeout(left), Err(mpsc::RecvTimeoutError::Timeout)) {
                    return accuracy;
                }
            }
        });
        Self { watched, stop, thread: Some(thread) }
    }

    /// Starts to sample this socket (a duplicate of it: the caller goes on using its own).
    pub fn watch(&self, socket: &std::net::TcpStream) -> std::io::Result<Handle> {
        use std::os::fd::AsFd;
        let fd = socket.as_fd().try_clone_to_owned()?;
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        let index = watched.len();
        let name = |address: std::io::Result<std::net::SocketAddr>| address.map_or(String::new(), |a| a.to_string());
        let series = Series {
            connection: index,
            local: name(socket.local_addr()),
            peer: name(socket.peer_addr()),
            congestion: crate::work::socket::congestion(socket).unwrap_or_default(),
            rows: Vec::new(),
            dropped: 0,
        };
        let mut new = Watched { socket: fd, series, open: true };
        new.read();
        watched.push(new);
        Ok(Handle { watched: Arc::clone(&self.watched), index })
    }

    /// Stops and returns the series.
    pub fn finish(mut self) -> (Vec<Series>, Accuracy) {
        let _ = self.stop.send(());
        let accuracy = self.thread.take().and_then(|t| t.join().ok()).unwrap_or_default();
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        (std::mem::take(&mut *watched).into_iter().map(|w| w.series).collect(), accuracy)
    }
}

/// The kernel may delay a sleeping thread's wake-up by its slack, 50 us by default: ask for the
/// least.
pub(crate) fn set_timer_slack() {
    // SAFETY: PR_SET_TIMERSLACK takes a number and touches no memory.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1_usize, 0, 0, 0) };
}

#[cfg(test)]
mod tests;
