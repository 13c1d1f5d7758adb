//! [`LiveUpdate`]: the data that a watch sends to its page.

use super::packets::HeldPackets;
use serde::Serialize;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Connection, Finding, Problem};
use whyslow_report::words::WordSheet;
use whyslow_units::Nanos;

/// A transfer that has ended; or a connection that lost time as a whole.
#[derive(Clone, Debug)]
pub struct EndedTransfer {
    /// The connection with this transfer alone; with none, its findings are those of the whole.
    pub connection: Connection,
    /// The program on this machine that has the connection.
    pub process: Option<String>,
    /// It was reported before and went on.
    pub revised: bool,
    /// How long its user waited.
    pub took: Nanos,
    /// What its costliest finding cost.
    pub lost: Nanos,
}

/// What a kind of transfers lost.
#[derive(Clone, Debug, Serialize)]
pub struct NamedLoss<Name> {
    /// A cause, or a server.
    pub name: Name,
    /// Seconds, added up where transfers ran at the same time.
    pub seconds: Nanos,
    /// Transfers.
    pub transfers: u64,
}

/// What cost most, most first.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LossTables {
    /// By cause.
    pub causes: Vec<NamedLoss<Cause>>,
    /// By server.
    pub servers: Vec<NamedLoss<String>>,
}

/// Packets and transfers a second, of late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Rates {
    /// Packets a second.
    pub packets: f64,
    /// Bits a second, on the wire.
    pub bits: f64,
    /// Transfers that ended, a second.
    pub transfers: f64,
}

/// What connections of a minute have in common.
#[derive(Clone, Debug, Serialize)]
pub struct SharedFinding {
    /// When it was found, UTC.
    pub time: String,
    /// What they have in common.
    pub finding: Finding,
    /// Its sentences.
    pub words: WordSheet,
}

impl SharedFinding {
    /// A finding at a time, UTC.
    pub fn new(time: String, finding: Finding) -> Self {
        Self { time, words: WordSheet::of_finding(&finding), finding }
    }
}

/// The state of the watch without its transfers.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LiveState {
    /// Nothing more comes.
    pub is_over: bool,
    /// Why it broke off.
    pub failure: Option<String>,
    /// Time of the first packet, UTC; `None` before it.
    pub first_time: Option<String>,
    /// From the first packet to now, on the clock of the packets.
    pub elapsed_s: Nanos,
    /// Packets since the start.
    pub packets: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
    /// Connections that are open, or were a short time ago.
    pub connections: usize,
    /// Packets dropped because this program was too slow.
    pub dropped_by_ring: u64,
    /// Packets dropped by an interface.
    pub dropped_by_interface: u64,
    /// Packets of which only the first bytes were taken.
    pub cut_packets: u64,
    /// Transfers that have ended.
    pub transfers: u64,
    /// The ones among them with a cause.
    pub transfers_with_cause: u64,
    /// Transfers that ended and were not listed: one connection had too many at once.
    pub transfers_not_listed: u64,
    /// Of late.
    pub rates: Rates,
    /// What cost most in the last minute.
    pub minute: LossTables,
    /// What cost most since the start.
    pub total: LossTables,
    /// The newest of what connections have in common.
    pub together: Vec<SharedFinding>,
    /// The newest notes.
    pub notes: Vec<String>,
    /// Problems of the captures, at the end.
    pub problems: Vec<Problem>,
}

/// The new transfers and totals.
#[derive(Debug, Default)]
pub struct LiveUpdate {
    /// Transfers that have ended since the last one.
    pub transfers: Vec<EndedTransfer>,
    /// How all of it stands.
    pub state: LiveState,
}

/// Gives copies of a connection's packets that are still in memory, in all no longer than
/// [`MAX_PACKET_BYTES`](super::MAX_PACKET_BYTES); or the reason why there are none. A saved file
/// names the program that has the connection.
pub type PacketSupply = Box<dyn Fn(&Connection, Option<&str>) -> Result<HeldPackets, String> + Send + Sync>;
