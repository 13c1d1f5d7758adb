//! Input of a time attribution besides the transfer.

use whyslow_core::message::ServerPush;
use whyslow_units::{Nanos, Time};

/// Input of a time attribution besides the transfer.
#[derive(Clone, Copy, Debug)]
pub struct Context {
    /// The MSS.
    pub mss: u64,
    /// Minimum RTT of the path.
    pub rtt: Option<Nanos>,
    /// Longest delay that counts as "at once".
    pub epsilon: Nanos,
    /// Only one direction was captured.
    pub one_direction: bool,
    /// Packets were left out of a text capture.
    pub elided: bool,
    /// Acknowledgements, windows and losses are encrypted (QUIC).
    pub encrypted: bool,
    /// Its packets are QUIC's, with or without keys.
    pub is_quic: bool,
    /// The capture point is nearer to the receiver than to the sender.
    pub near_receiver: bool,
    /// Both sides send timestamps.
    pub has_timestamps: bool,
    /// The capture point is next to the receiver.
    pub next_to_receiver: bool,
    /// A SYN was captured, so the first bytes captured are the first sent.
    pub opening_seen: bool,
    /// The sender's initial window, bytes, if it has shown one of less than four segments.
    pub small_window: Option<u64>,
    /// The transfer is a part of one message whose length is announced.
    pub is_announced: bool,
    /// The sender's protocol announces lengths: HTTP, or TLS with any content.
    pub announces_length: bool,
    /// HTTP/2 without TLS: its windows are at least as large as a frame.
    pub is_http2: bool,
    /// When this direction first retransmitted: the reduced window stays for later transfers.
    pub first_loss: Option<Time>,
    /// Most bytes in flight in all transfers of this direction: a buffer has room for as many.
    pub largest_flight: u64,
    /// When a side may send without a request.
    pub(crate) server_push: ServerPush,
    /// Rate of the path, payload bits per second, if the user gave it.
    pub path_rate: Option<f64>,
    /// The connection may carry only a part of a stream (Multipath TCP); the rest uses other
    /// subflows.
    pub is_multipath: bool,
    /// The rate between losses over all transfers of this direction, if it is one rate.
    pub pooled_rate: Option<PooledRate>,
}

/// Rate between the losses of all transfers of a connection, if it is one rate: the path is the
/// same for all of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PooledRate {
    /// Lower tenth, median and upper tenth of the rates, payload bits per second.
    pub(super) rates: [f64; 3],
    /// Number of stretches.
    pub(super) stretches: usize,
    /// Segments lost in all of them.
    pub losses: usize,
    /// Round trips were longer than the path needs when something was lost.
    pub queued: bool,
}
