//! Data from Linux' kernel: packets, interfaces, sockets and rights.

mod block;
mod closed;
mod drops;
mod duplicates;
mod filter;
pub(super) mod interfaces;
mod join;
mod map;
mod rights;
mod ring;

pub use block::{Block, Packets};
pub use closed::{ClosedSocket, ClosedSockets};
pub use join::{JoinInfo, Joined, Listening, PodAddress, Reach, open_connections};
pub use rights::{FileUse, Rights, User, drop_rights};
pub use ring::{Ring, RingOptions};
