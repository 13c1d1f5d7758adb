//! [`VantageReason`]: the evidence for the place of a capture.

use super::End;
use crate::units::Nanos;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;

/// What shows where a capture stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum VantageReason {
    /// No packet was captured together with its response.
    #[default]
    NoPair,
    /// Packets of one end only were captured.
    OneEnd,
    /// Packets and their responses have the same time, or one direction is missing.
    WithinClockTick,
    /// Times from the capture to each end and back.
    ResponseTimes {
        /// To the end next to the capture.
        near_s: Nanos,
        /// To the other end.
        far_s: Nanos,
    },
    /// Part of the round trip that lies on the client's side, 0–1.
    RoundTripShare {
        /// That part.
        client: f64,
    },
    /// Segments larger than the MSS were cut after the capture (TSO), so it stands on the sender's
    /// host.
    CutAfterCapture,
    /// The same, though the host itself delays packets.
    CutAfterCaptureWithDelay,
    /// Segments larger than the MSS are acknowledged whole (GRO), so the capture may stand on the
    /// receiver's host.
    JoinedBeforeCapture,
    /// No router has decremented the time to live of an end's packets.
    UntouchedTtl {
        /// The end.
        end: End,
    },
}
