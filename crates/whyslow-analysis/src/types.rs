//! Types that several stages share.

mod connection;
mod connection_shard;
mod decryption;
mod frame;
mod host;
mod icmp;
mod limiting_factor;
mod model_change;
mod name_lookup;
mod path_estimate;
mod quic;
mod request_protocol;
mod retransmission;
mod side;
mod timers;
mod vantage_reason;

pub use connection::{End, Near, State};
pub use connection_shard::ConnectionShard;
pub use decryption::{DecryptedDirection, Decryption, Undecrypted};
pub use frame::Frame;
pub use host::{Application, Platform, Product, ProductEstimate, ProductEvidence, Stack, StackFields, StackReason};
pub use icmp::Fate;
pub use limiting_factor::LimitingFactor;
pub use model_change::ModelChange;
pub use name_lookup::NameLookup;
pub use path_estimate::{HiddenReason, PathEstimate, PathEstimates};
pub use quic::{FlowControl, Quic, QuicOpened, StreamBytes, TransportParameters};
pub use request_protocol::RequestProtocol;
pub use retransmission::{MAX_RETRANSMISSIONS, RetransmissionKind};
pub use side::Side;
pub use timers::{MIN_NOTICEABLE_DELAY, RTO_MIN, SHORTEST_RTO};
pub use vantage_reason::VantageReason;
