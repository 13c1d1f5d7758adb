//! Where a capture stands.

use crate::words::quantity::time;
use whyslow_analysis::{End, VantageReason};

pub(in crate::words) fn vantage(reason: &VantageReason) -> String {
    match reason {
        VantageReason::NoPair => "no packet was captured together with its response".to_owned(),
        VantageReason::OneEnd => "packets of only one end were captured".to_owned(),
        VantageReason::WithinClockTick => {
            "packets and their responses were captured within one tick of the clock, or in one direction".to_owned()
        }
        VantageReason::ResponseTimes { near_s, far_s } => format!(
            "packets toward this end get a response after {}, those toward the other end after {}",
            time(*near_s),
            time(*far_s)
        ),
        VantageReason::RoundTripShare { client } => {
            format!("{:.0} % of the round trip lies on the client's side of the capture", client * 100.0)
        }
        VantageReason::CutAfterCapture => {
            "segments larger than the MSS were cut after the capture (TSO), which proves the sender's host".to_owned()
        }
        VantageReason::CutAfterCaptureWithDelay => {
            "segments larger than the MSS were cut after the capture (TSO), which proves the sender's host, though the host itself delays packets".to_owned()
        }
        VantageReason::JoinedBeforeCapture => {
            "segments larger than the MSS are acknowledged whole (GRO), which points to the receiver's host".to_owned()
        }
        VantageReason::UntouchedTtl { end: End::Client } => {
            "no router has decremented the time to live of the client's packets".to_owned()
        }
        VantageReason::UntouchedTtl { end: End::Server } => {
            "no router has decremented the time to live of the server's packets".to_owned()
        }
    }
}
