//! [`ClosedConnection`]: a connection of this machine that has closed, with the kernel's account of
//! it. The kernel counts all of its segments, whether their packets are watched or not.

use super::holder::Holder;
use serde::Serialize;
use std::net::{IpAddr, SocketAddr};
use std::ops::AddAssign;
use std::sync::Arc;
use whyslow_live::tcp_info::TcpInfo;
use whyslow_units::{Nanos, Time};

/// Connections that wait for the next batch.
#[cfg(target_os = "linux")]
const WAITING: usize = 16_384;

/// A connection that has closed.
#[derive(Clone, Debug)]
pub(crate) struct ClosedConnection {
    /// When, on this machine's clock.
    pub time: Time,
    /// Its end on this machine.
    pub local: SocketAddr,
    pub remote: SocketAddr,
    /// The program that had it.
    pub holder: Option<Arc<Holder>>,
    pub account: Account,
}

/// An end of a connection, as the JSON has it.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Address {
    address: IpAddr,
    port: u16,
}

impl From<SocketAddr> for Address {
    fn from(end: SocketAddr) -> Self {
        Self { address: end.ip(), port: end.port() }
    }
}

/// The kernel's account of a connection's own data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Account {
    /// Payload that this end sent, each byte once.
    pub sent_bytes: u64,
    pub received_bytes: u64,
    /// Segments with payload that this end sent, with those that it sent again.
    pub sent_segments: u64,
    pub retransmitted_segments: u64,
    /// Time with data outstanding.
    pub sending_s: Nanos,
    /// The part of it in which the other end's window was full.
    pub receive_window_s: Nanos,
    /// The part of it in which the send buffer was full.
    pub send_buffer_s: Nanos,
    /// Least round trip of the last minutes; `None` if none was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rtt_ms: Option<f64>,
}

impl Account {
    /// What the kernel counted; 0 for what an older kernel does not count.
    pub(super) fn of(info: &TcpInfo) -> Self {
        let micros = |time: Option<u64>| Nanos::from_micros(time.unwrap_or(0).try_into().unwrap_or(i64::MAX / 1_000));
        let once = info.bytes_sent.map(|all| all.saturating_sub(info.bytes_retrans.unwrap_or(0)));
        Self {
            sent_bytes: once.or(info.bytes_acked).unwrap_or(0),
            received_bytes: info.bytes_received.unwrap_or(0),
            sent_segments: info.data_segs_out.unwrap_or(0).into(),
            retransmitted_segments: info.total_retrans.unwrap_or(0).into(),
            sending_s: micros(info.busy_time),
            receive_window_s: micros(info.rwnd_limited),
            send_buffer_s: micros(info.sndbuf_limited),
            min_rtt_ms: info.min_rtt.map(|rtt| f64::from(rtt) / 1_000.0),
        }
    }
}

/// The sums over closed connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct ClosedTotals {
    pub connections: u64,
    /// Those that closed faster than they were read, and are in no other sum.
    pub missed: u64,
    #[serde(flatten)]
    pub sum: Account,
}

impl ClosedTotals {
    pub(super) fn add(&mut self, account: &Account) {
        self.connections += 1;
        self.sum += *account;
    }
}

/// Sums; a least round trip is no sum, and stays as it is.
impl AddAssign for Account {
    fn add_assign(&mut self, more: Self) {
        self.sent_bytes += more.sent_bytes;
        self.received_bytes += more.received_bytes;
        self.sent_segments += more.sent_segments;
        self.retransmitted_segments += more.retransmitted_segments;
        self.sending_s += more.sending_s;
        self.receive_window_s += more.receive_window_s;
        self.send_buffer_s += more.send_buffer_s;
    }
}

/// Closed connections as they come from a thread that listens to the kernel.
#[cfg(target_os = "linux")]
pub(super) struct ClosedFeed {
    connections: std::sync::mpsc::Receiver<ClosedConnection>,
    missed: Arc<std::sync::atomic::AtomicU64>,
}

#[cfg(target_os = "linux")]
impl ClosedFeed {
    /// Begins to listen.
    ///
    /// # Errors
    /// If the kernel does not report closed connections, or no thread can be had.
    pub(super) fn listen() -> std::io::Result<Self> {
        use std::sync::atomic::{AtomicU64, Ordering};
        use std::sync::mpsc::{TrySendError, sync_channel};
        use whyslow_live::watch::{ClosedSocket, ClosedSockets};
        let mut sockets = ClosedSockets::listen()?;
        let (send, connections) = sync_channel(WAITING);
        let missed = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&missed);
        std::thread::Builder::new().name("closed".to_owned()).spawn(move || {
            let mut is_wanted = true;
            while is_wanted {
                let dropped = sockets.wait(|ClosedSocket { local, remote, info }| {
                    let account = Account::of(&info);
                    let closed = ClosedConnection { time: now(), local, remote, holder: None, account };
                    match send.try_send(closed) {
                        Ok(()) => {}
                        Err(TrySendError::Full(_)) => drop(counter.fetch_add(1, Ordering::Relaxed)),
                        Err(TrySendError::Disconnected(_)) => is_wanted = false,
                    }
                });
                match dropped {
                    // At least one: the kernel does not count them.
                    Ok(true) => drop(counter.fetch_add(1, Ordering::Relaxed)),
                    Ok(false) => {}
                    Err(_) => break,
                }
            }
        })?;
        Ok(Self { connections, missed })
    }

    /// Those that have come since the last call, and how many are missing in all.
    pub(super) fn take(&self) -> (Vec<ClosedConnection>, u64) {
        let missed = self.missed.load(std::sync::atomic::Ordering::Relaxed);
        (self.connections.try_iter().collect(), missed)
    }
}

/// The time on this machine's clock.
#[cfg(target_os = "linux")]
fn now() -> Time {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Time(i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn account_counts_each_sent_byte_once() {
        let info = TcpInfo {
            bytes_sent: Some(1_100),
            bytes_retrans: Some(100),
            bytes_acked: Some(1_001),
            busy_time: Some(2_000_000),
            rwnd_limited: Some(500_000),
            min_rtt: Some(20_500),
            ..TcpInfo::default()
        };
        let account = Account::of(&info);
        assert_eq!((account.sent_bytes, account.min_rtt_ms), (1_000, Some(20.5)));
        assert_eq!((account.sending_s, account.receive_window_s), (Nanos::from_millis(2_000), Nanos::from_millis(500)));
        let old = TcpInfo { bytes_acked: Some(1_001), ..TcpInfo::default() };
        assert_eq!(Account::of(&old), Account { sent_bytes: 1_001, ..Account::default() });
    }

    #[test]
    fn totals_are_the_sums_of_accounts() {
        let mut totals = ClosedTotals::default();
        let account = Account { sent_bytes: 7, retransmitted_segments: 1, ..Account::default() };
        totals.add(&account);
        totals.add(&account);
        assert_eq!((totals.connections, totals.sum.sent_bytes, totals.sum.retransmitted_segments), (2, 14, 2));
    }
}
