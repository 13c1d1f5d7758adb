//! [`VantageReason`]: the evidence for the position of the capture.

use super::End;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;
use whyslow_units::Nanos;

/// The evidence for the capture's position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum VantageReason {
    /// No packet was captured together with its response.
    #[default]
    NoPair,
    /// Only packets of one end were captured.
    OneEnd,
    /// Packets and their responses have the same timestamp, or one direction is missing.
    WithinClockTick,
    /// Round-trip times from the capture to each end.
    ResponseTimes {
        /// To the end next to the capture.
        near_s: Nanos,
        /// Round trip to the other end.
        far_s: Nanos,
    },
    /// Fraction of the round trip between the capture and the client, 0–1.
    RoundTripShare {
        /// That fraction.
        client: f64,
    },
    /// Segments larger than the MSS were split after the capture (TSO), so the capture is on the
    /// sender's host.
    CutAfterCapture,
    /// The MSS is exceeded in the same way, but the host itself delays packets.
    CutAfterCaptureWithDelay,
    /// Segments larger than the MSS are acknowledged as a whole (GRO), so the capture may be on the
    /// receiver's host.
    JoinedBeforeCapture,
    /// No router has decremented the time to live of an end's packets.
    UntouchedTtl {
        /// The end.
        end: End,
    },
}
