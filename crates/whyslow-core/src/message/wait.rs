//! An exchange, and the side whose time it took.

use crate::tcp::facts::ExchangeFacts;
use whyslow_units::Nanos;

/// Size limit of a message of one segment, from Ethernet's MSS: a segment on loopback can hold bulk
/// data, and without the handshake the MSS is unknown.
pub const SEGMENT: u64 = 1_460;

/// An exchange, and the side whose time it took.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    /// The exchange.
    pub exchange: ExchangeFacts,
    /// It is the first exchange after the handshakes.
    pub is_first: bool,
    /// Processing time of the client application before it.
    pub client: Nanos,
    /// Idle time before it, for which neither side waited.
    pub idle: Nanos,
    /// Processing time of the server; `None` if unknown.
    pub server: Option<Nanos>,
    /// Set if the response time does not count as a delay: the request waited for an event (a long
    /// poll), or the server's data may be unrequested. Holds the server's time.
    pub polled: Option<Nanos>,
}

impl Wait {
    /// Whether this transfer is the response, or, if the client sends it, the request of the
    /// exchange.
    pub fn is_of(&self, by_client: bool, transfer: usize) -> bool {
        (if by_client { self.exchange.request } else { self.exchange.answer }) == Some(transfer)
    }

    /// How long the user waited.
    pub fn waited(&self) -> Nanos {
        (self.exchange.wait() - self.polled.unwrap_or_default()).or_zero()
    }
}

/// People begin to notice a wait of this length.
pub const NOTICEABLE_WAIT: Nanos = Nanos::from_millis(50);
