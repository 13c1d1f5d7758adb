//! Packets of this machine, as they come; and the last of them, to be kept when it turns out that
//! they matter.
//!
//! ```text
//!   kernel ─▶ Ring ─▶ blocks of packets ─┬▶ (whoever explains them)
//!     │  filter, snaplen                 └▶ Recorder ─▶ Keep: pcapng of what was slow
//!     └▶ open_connections: what the sockets know of connections that are older
//! ```
//!
//! 1. [`Ring::open`] takes packets by AF_PACKET with TPACKET_V3 (packet(7)), which needs
//!    CAP_NET_RAW; none before its filter, and on loopback each once.
//! 2. [`open_connections`] returns window scales, segment sizes, round trips and processes of
//!    connections that are open already.
//!    [`ClosedSockets`] reports connections that close, with the kernel's account of each.
//! 3. [`drop_rights`] gives all rights up, before other threads are started.
//! 4. [`Ring::next_block`] hands packets out; [`Ring::counts`] counts packets that were not
//!    captured, by the part that dropped them: the ring, an interface, the snaplen. A slow reader
//!    loses packets and does not delay the traffic.
//! 5. [`Recorder::record`] holds them in memory of fixed size, and [`Keep::save`] writes those of a
//!    connection, with its handshake and a note on missing packets.
//!
//! The ring and the sockets are Linux'; the recorder takes packets from anywhere.
//!
//! ```no_run
//! use std::time::Duration;
//! use whyslow_live::watch::{Recorder, Rights, Ring, RingOptions, drop_rights};
//!
//! # fn main() -> Result<(), whyslow_live::watch::WatchError> {
//! let filter = Some("tcp port 443".into());
//! let mut ring = Ring::open(&RingOptions { filter, ..RingOptions::default() })?;
//! drop_rights(Rights::none(None))?;
//! let mut recorder = Recorder::new(64 << 20)?;
//! while let Some(mut block) = ring.next_block(Duration::from_secs(1))? {
//!     (1..).zip(block.packets()).for_each(|(frame, packet)| recorder.record(&packet, frame));
//! }
//! println!("{:?} {:?}", ring.counts(), recorder.counts());
//! # Ok(())
//! # }
//! ```

mod counts;
mod error;
mod keep;
#[cfg(target_os = "linux")]
mod linux;
mod packet;
mod recorder;
pub(crate) mod segment;

pub use counts::RingCounts;
pub use error::{FilterError, WatchError};
pub use keep::{Keep, KeepOptions, KeepPlace, Saved, save_connection};
#[cfg(target_os = "linux")]
pub use linux::{
    Block, ClosedSocket, ClosedSockets, JoinInfo, Joined, Listening, Packets, PodAddress, Reach, Ring, RingOptions,
    open_connections,
};
#[cfg(target_os = "linux")]
pub use linux::{FileUse, Rights, User, drop_rights};
pub use packet::{ETHERNET, LINUX_SLL2, RingPacket};
pub use recorder::{HeldCounts, HeldPacket, Recorder, RecorderCounts};
pub use segment::Connection;
