//! [`SocketSnapshot`]: a connection as `ss` shows it, with the look before.

use crate::limits::in_queue;
use crate::ss::parse::Socket;

/// Bytes that a connection has carried to be called a transfer.
pub(super) const BULK: f64 = 1e6;
/// Data was sent or came within, seconds.
pub(super) const RECENT_S: f64 = 1.0;

/// A connection as it is, and as it was at the look before.
#[derive(Clone, Copy)]
pub(super) struct SocketSnapshot<'a> {
    pub now: &'a Socket,
    pub before: Option<&'a Socket>,
    pub over: Option<f64>,
}

impl SocketSnapshot<'_> {
    /// A count: since the look before, else since the connection began.
    fn grown(self, get: impl Fn(&Socket) -> Option<f64>) -> Option<f64> {
        let now = get(self.now)?;
        Some((now - self.before.and_then(get).unwrap_or(0.0)).max(0.0))
    }

    pub(super) fn count(self, key: &str) -> Option<f64> {
        self.grown(|socket| socket.get(key))
    }

    pub(super) fn seconds(self, key: &str) -> Option<f64> {
        self.grown(|socket| socket.seconds(key))
    }

    pub(super) fn rtt(self) -> Option<f64> {
        self.now.get("rtt").map(|ms| ms / 1e3).filter(|rtt| *rtt > 0.0)
    }

    pub(super) fn least(self) -> Option<f64> {
        self.now.get("minrtt").map(|ms| ms / 1e3).filter(|rtt| *rtt > 0.0)
    }

    pub(super) fn queued(self) -> bool {
        self.rtt().zip(self.least()).is_some_and(|(rtt, least)| in_queue(rtt, least))
    }

    /// Segments retransmitted in all; `ss` leaves it out while it is zero.
    pub(super) fn retransmitted(self) -> f64 {
        self.grown(|socket| Some(socket.second("retrans").unwrap_or(0.0))).unwrap_or(0.0)
    }

    /// Segments with data that were sent.
    pub(super) fn sent(self) -> Option<f64> {
        let by_bytes = || Some((self.count("bytes_acked")? / self.now.get("mss")?).ceil());
        self.count("data_segs_out").or_else(by_bytes).or_else(|| self.count("segs_out")).filter(|sent| *sent > 0.0)
    }

    pub(super) fn unacked(self) -> f64 {
        self.now.get("unacked").unwrap_or(0.0)
    }

    pub(super) fn is_local(self) -> bool {
        let host = |address: &str| address.rsplit_once(':').map_or(String::new(), |(host, _)| host.to_owned());
        let (local, remote) = (host(&self.now.local), host(&self.now.remote));
        let loopback = remote.contains("127.0.0.1") || remote == "[::1]" || remote == "::1";
        !remote.is_empty() && (loopback || local == remote)
    }

    pub(super) fn is_recent(self, key: &str) -> bool {
        self.now.seconds(key).is_some_and(|seconds| seconds <= RECENT_S)
    }
}

/// Whether it is the same connection: its counts have not fallen.
pub(super) fn same(before: &Socket, now: &Socket) -> bool {
    ["bytes_acked", "bytes_received", "segs_out"].iter().all(|key| match (before.get(key), now.get(key)) {
        (Some(before), Some(now)) => before <= now,
        _ => true,
    })
}
