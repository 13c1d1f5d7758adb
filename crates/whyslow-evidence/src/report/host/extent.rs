//! [`Extent`]: the cost of a machine's finding, if seconds alone do not express it.

use serde::Serialize;
use whyslow_analysis::Unit;

/// The cost of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Extent {
    /// Part of a time.
    Of {
        /// Seconds that it cost.
        seconds: f64,
        /// Out of this number of seconds.
        of_s: f64,
    },
    /// A time that still grows.
    SoFar {
        /// Seconds.
        seconds: f64,
        /// Whether it may be more.
        at_least: bool,
    },
    /// A time.
    Took {
        /// Seconds.
        seconds: f64,
        /// Whether it may be more.
        at_least: bool,
    },
    /// A time for each transfer of a size.
    OfEach {
        /// Seconds.
        seconds: f64,
        /// The transfer, bytes.
        bytes: u64,
    },
    /// A time after each pause.
    AfterEachPause {
        /// Seconds.
        seconds: f64,
    },
    /// A time in each round trip.
    InEachRoundTrip {
        /// Seconds.
        seconds: f64,
    },
    /// Handshakes within a time.
    Handshakes {
        /// Seconds that they took.
        seconds: f64,
        /// Within this number of seconds.
        within_s: f64,
    },
    /// A share of a count.
    Share {
        /// 0–1.
        share: f64,
        /// The base of the share.
        of: u64,
        /// Segments or packets.
        unit: Unit,
    },
    /// A count.
    Count {
        /// How many.
        count: u64,
        /// Connections or packets.
        unit: Unit,
    },
    /// Ports that are taken.
    Ports {
        /// How many.
        taken: u64,
        /// The base of the share.
        of: u64,
    },
    /// A rate that is not passed.
    HeldAt {
        /// Bits per second.
        rate_bps: f64,
    },
    /// A table that is nearly full.
    Filled {
        /// 0–1.
        share: f64,
    },
    /// A share of the time.
    OfTheTime {
        /// 0–1.
        share: f64,
    },
    /// A time within periods of a control group.
    InPeriods {
        /// Seconds.
        seconds: f64,
        /// Share of the periods, 0–1.
        share: f64,
    },
    /// Full at this moment.
    FullNow,
    /// At this moment.
    Now,
}
