//! Conclusions from a comparison, and its limits, as data.

use super::figures::{Lead, Reach, SameSize};
use serde::Serialize;
use whyslow_analysis::types::LimitingFactor;
use whyslow_units::Nanos;

/// A conclusion from a comparison. `which` is the place of a transfer: 0 or 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ComparisonStatement {
    /// When the first byte came after the request.
    FirstByte {
        /// Times of both.
        arrived_s: [Nanos; 2],
        /// Bytes that the application could read only later.
        late: Vec<LateRecord>,
    },
    /// How each sends.
    Flights {
        /// Flights of both.
        flights: [Flights; 2],
    },
    /// Which transfer is faster, by size.
    Leads {
        /// Ranges of sizes, in order.
        leads: Vec<Lead>,
    },
    /// One of them waited longer for something.
    LongerPhase {
        /// Index of the transfer that waited longer.
        which: usize,
        /// The limit.
        limit: LimitingFactor,
        /// The difference.
        by_s: Nanos,
        /// The wait of that one.
        wait_s: Nanos,
        /// The wait of the other one.
        other_s: Nanos,
    },
    /// The rate that one would come to if it went on.
    Reach {
        /// Index of the transfer.
        which: usize,
        /// The rate.
        reach: Reach,
    },
    /// Times for the number of bytes that both transfers carried.
    SameSize {
        /// Size and times.
        same: SameSize,
    },
    /// Times of both transfers, if packets are missing.
    WholeTransfers {
        /// First byte to the ACK of the last.
        seconds: [Nanos; 2],
        /// Payload.
        bytes: [u64; 2],
    },
}

/// A first byte that the application could not read at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LateRecord {
    /// The transfer.
    pub which: usize,
    /// Time from the request until the application could read.
    pub readable_s: Nanos,
    /// The TLS record that had to be whole, bytes.
    pub record: u64,
    /// Time from the arrival of the byte.
    pub later_s: Nanos,
}

/// How much a sender sends in a round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Flights {
    /// The first flight, bytes.
    pub first: u64,
    /// The minimum RTT, if known.
    pub rtt_s: Option<Nanos>,
    /// The flights after it.
    pub course: FlightCourse,
}

/// How flights go on after the first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "course", rename_all = "kebab-case")]
pub enum FlightCourse {
    /// They stay the same.
    Same {
        /// Number of rounds.
        rounds: u64,
    },
    /// They grow to the last one.
    Growing {
        /// The last one, bytes.
        to: u64,
        /// In this round.
        round: u64,
    },
    /// They go up and down.
    Varying {
        /// The smallest, bytes.
        least: u64,
        /// The largest, bytes.
        most: u64,
    },
}

/// A limit of a comparison. `which` is the place of a transfer: 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ComparisonCaveat {
    /// Packets were left out of the text that shows the transfer.
    Elided {
        /// Index of the transfer.
        which: usize,
    },
    /// It is of QUIC, which encrypts its windows, ACKs and losses.
    Encrypted {
        /// Index of the transfer.
        which: usize,
    },
    /// Only the first rounds are listed.
    FirstRounds {
        /// Which one.
        which: usize,
        /// How many.
        listed: u64,
    },
    /// Segments of the transfer were retransmitted.
    Lost {
        /// Index of the transfer.
        which: usize,
        /// How many.
        segments: u64,
    },
    /// The transfer has no full round.
    NoFullRound {
        /// Index of the transfer.
        which: usize,
    },
    /// It answers no request in its capture, and the other one does.
    NoRequest {
        /// Index of the transfer.
        which: usize,
    },
    /// No round trip was measured.
    NoRoundTrip {
        /// Index of the transfer.
        which: usize,
    },
    /// One is an upload, the other one a download.
    OppositeDirections,
}
