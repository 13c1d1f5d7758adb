//! An exchange, and whose time it took.

use crate::tcp::facts::ExchangeFacts;
use crate::units::Nanos;

/// A message of one segment, as large as Ethernet's are: loopback's hold a bulk, and where the
/// handshake is missing no size is known.
pub(crate) const SEGMENT: u64 = 1_460;

/// An exchange, and whose time it took.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    /// The exchange.
    pub exchange: ExchangeFacts,
    /// It is the first one behind the handshakes.
    pub is_first: bool,
    /// What the client's program took before it.
    pub client: Nanos,
    /// What passed before it, and nobody waited.
    pub idle: Nanos,
    /// What the server took within it; none where that is not known.
    pub server: Option<Nanos>,
    /// The request waited for something to happen, and nobody for the answer, or what the server
    /// said may have been no answer: it took the server so long.
    pub polled: Option<Nanos>,
}

impl Wait {
    /// Whether this transfer is the answer in it, or, if the client sends it, the request.
    pub fn is_of(&self, by_client: bool, transfer: usize) -> bool {
        (if by_client { self.exchange.request } else { self.exchange.answer }) == Some(transfer)
    }

    /// For how long its user waited.
    pub fn waited(&self) -> Nanos {
        (self.exchange.wait() - self.polled.unwrap_or_default()).or_zero()
    }
}

/// People begin to notice a wait so long.
pub const NOTICEABLE_WAIT: Nanos = Nanos::from_millis(50);
