//! A program does not read what has come, and its window is shut: the sender waits for it.
//!
//! ## What it is
//! What comes waits in the receive buffer until the program reads it. When that is full the window
//! is zero, and the sender only asks from time to time whether there is room (a window probe). The
//! program is slower than the network, or busy elsewhere.
//!
//! ## How it is recognised
//! - Here: at least half of a connection's receive buffer is taken by data that the program has not
//!   read, and the window is less than a segment; what lies there has been there for a second or
//!   more.
//! - At the peer: its window is zero, this end's probe timer runs, and no data could be sent for a
//!   second or more; or the window was shut at an earlier look, too, and nothing was acknowledged
//!   since. A window that is shut at one instant is usual: a fast sender fills any window, and the
//!   reader opens it again.
//!
//! The counters `TcpExt.TCPToZeroWindowAdv` (this end shut a window) stand beside it.
//!
//! ## What it is confused with
//! - `receive-window`: the window is small, and never shut.
//!
//! ## The fix
//! Let the program read: in a thread of its own, without waiting for a disk or a downstream
//! connection. A larger buffer only fills later.
//!
//! ## To see that it worked
//! `ss -tn` shows a `Recv-Q` near zero, and `nstat -az TcpExtTCPToZeroWindowAdv` does not rise.
//!
//! ## References
//! RFC 9293 section 3.8.6.1; Linux SNMP counters.

use crate::host::causes::HostCause;
use crate::host::finding::{Evidence, Finding, Fix, Since, Source, Who, figure, text};
use crate::host::look::{Live, Look, Peer, dst};
use whyslow_live::host::TimerKind;
use whyslow_report::text::units;

/// Of the receive buffer, what lies unread.
const UNREAD: f64 = 0.5;
/// It has lain there, or the window has been shut, for this long, milliseconds.
const STOOD_MS: u32 = 1_000;
/// A window of less lets no full segment come, bytes: the smallest usual one.
const SEGMENT: u32 = 536;

pub(super) fn check(look: Look<'_>) -> Vec<Finding> {
    let here = Peer::all(look.live().filter(is_unread)).into_iter().filter_map(|peer| of_program(look, &peer));
    let there =
        Peer::all(look.live().filter(|live| is_told(look, live))).into_iter().filter_map(|peer| of_peer(look, &peer));
    here.chain(there).collect()
}

/// The program here does not read.
fn is_unread(live: &Live<'_>) -> bool {
    let Some(memory) = live.socket.memory else { return false };
    live.socket.recv_queue > 0
        && memory.rcvbuf > 0
        && f64::from(memory.rmem_alloc) >= UNREAD * f64::from(memory.rcvbuf)
        && live.info.rcv_wnd.is_some_and(|window| window < SEGMENT)
        && live.info.last_data_recv.is_some_and(|ms| ms >= STOOD_MS)
}

/// The peer's program does not read.
fn is_shut(live: &Live<'_>) -> bool {
    let probes = live.socket.timer.is_some_and(|timer| timer.kind == TimerKind::Probe);
    live.info.snd_wnd.is_some_and(|window| window < SEGMENT) && probes && live.socket.send_queue > 0
}

/// Whether the peer's window is shut, and has been for longer than an instant.
pub(super) fn is_told(look: Look<'_>, live: &Live<'_>) -> bool {
    is_shut(live) && has_stayed_shut(look, live)
}

/// Whether the window has been shut for longer than an instant.
fn has_stayed_shut(look: Look<'_>, live: &Live<'_>) -> bool {
    let is_long = live.info.last_data_sent.is_some_and(|ms| ms >= STOOD_MS);
    let was_shut = || {
        let (Some(before), Some((_, seconds))) = (live.before, look.earlier) else { return false };
        let acked = live.info.bytes_acked.zip(before.bytes_acked);
        let stood = seconds * 1e3 >= f64::from(STOOD_MS);
        stood && before.snd_wnd.is_some_and(|window| window < SEGMENT) && acked.is_some_and(|(now, then)| now == then)
    };
    is_long || was_shut()
}

fn of_program(look: Look<'_>, peer: &Peer<'_>) -> Option<Finding> {
    let longest = peer.connections.iter().max_by_key(|live| live.info.last_data_recv)?;
    let seconds = f64::from(longest.info.last_data_recv?) / 1e3;
    let owners = peer.owners();
    let who = if owners.is_empty() { "a program here".to_owned() } else { owners };
    let unread: u64 = peer.connections.iter().map(|live| u64::from(live.socket.recv_queue)).sum();
    let now = (Source::Sockets, Since::Now);
    let mut evidence = vec![
        figure("Recv-Q, received and not read", unread as f64, "B", now),
        figure("nothing came since, at most", seconds, "s", now),
    ];
    evidence.extend(counter(look, "TcpExt.TCPToZeroWindowAdv"));
    evidence.push(text("the longest", longest.line(), (Source::Socket, Since::Now)));
    Some(Finding {
        cause: HostCause::ZeroWindow,
        namespace: look.foreign_name(),
        peer: Some(peer.address.to_string()),
        seconds: Some(seconds),
        cost: format!("{} so far", units::figure(seconds, "s")),
        confidence: 0.85,
        summary: format!(
            "{who} does not read: {} from {} lie unread, its window is shut, and the peer has waited for {}",
            units::bytes(unread),
            peer.address,
            units::figure(seconds, "s"),
        ),
        evidence,
        fix: Fix {
            who: Who::Program,
            what: "read as data comes, in a thread of its own; a larger buffer only fills later".to_owned(),
            command: Some(look.command(&format!("ss -tnmp {}", dst(peer.address)))),
            verify: "`ss -tn` shows a Recv-Q near zero, and `nstat -az TcpExtTCPToZeroWindowAdv` does not rise"
                .to_owned(),
        },
    })
}

fn of_peer(look: Look<'_>, peer: &Peer<'_>) -> Option<Finding> {
    let longest = peer.connections.iter().max_by_key(|live| live.info.last_data_sent)?;
    let waiting: u64 = peer.connections.iter().map(|live| u64::from(live.socket.send_queue)).sum();
    let seconds = longest.info.last_data_sent.map(|ms| f64::from(ms) / 1e3);
    let mut evidence =
        vec![figure("Send-Q, written and not acknowledged", waiting as f64, "B", (Source::Sockets, Since::Now))];
    evidence
        .extend(longest.info.snd_wnd.map(|window| figure("snd_wnd", window.into(), "B", (Source::Socket, Since::Now))));
    evidence.extend(counter(look, "TcpExt.TCPWinProbe"));
    evidence.push(text("the longest", longest.line(), (Source::Socket, Since::Now)));
    Some(Finding {
        cause: HostCause::ZeroWindow,
        namespace: look.foreign_name(),
        peer: Some(peer.address.to_string()),
        seconds,
        cost: seconds.map_or("now".to_owned(), |seconds| format!("{} so far", units::figure(seconds, "s"))),
        confidence: 0.9,
        summary: format!(
            "the program at {} does not read: {} wait for its window, which is shut",
            peer.address,
            peer.words()
        ),
        evidence,
        fix: Fix {
            who: Who::Peer,
            what: "its program must read; nothing on this machine opens that window".to_owned(),
            command: None,
            verify: format!("`ss -tno {}` shows no timer of kind `persist`", dst(peer.address)),
        },
    })
}

fn counter(look: Look<'_>, name: &str) -> Option<Evidence> {
    let (count, seconds) = look.counter(name)?.newest();
    Some(figure(name, count as f64, "", (Source::Counter, seconds.map_or(Since::Boot, Since::Seconds))))
}
