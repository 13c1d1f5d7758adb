//! Types that several stages share.

mod connection;
mod frame;
mod limit;
mod model_change;
mod retransmission;
mod share;
mod side;
mod timers;

pub use connection::{End, Near, State};
pub use frame::Frame;
pub use limit::Limit;
pub use model_change::ModelChange;
pub use retransmission::{MAX_RETRANSMISSIONS, RetransmissionKind};
pub use share::Share;
pub use side::Side;
pub use timers::{RTO_MIN, SHORTEST_RTO};
