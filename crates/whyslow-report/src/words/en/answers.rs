//! A kernel's account of a capture's findings.

use crate::words::quantity::{number, rate, seconds};
use whyslow_evidence::{MatchedBy, Outcome, Reading as R};

pub(in crate::words) fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Confirms => "confirmed",
        Outcome::Contradicts => "contradicted",
    }
}

pub(in crate::words) fn reading(reading: &R) -> String {
    match reading {
        R::PeerWindow { limited_s, busy_s } => format!(
            "the peer's receive window held the sender for {} of the {} with data to send",
            seconds(*limited_s),
            seconds(*busy_s)
        ),
        R::SendBuffer { limited_s, busy_s } => format!(
            "the send buffer held the sender for {} of the {} with data to send",
            seconds(*limited_s),
            seconds(*busy_s)
        ),
        R::NeitherBuffer { busy_s } => format!(
            "neither the peer's window nor the send buffer held the sender in the {} with data to send",
            seconds(*busy_s)
        ),
        R::NoData { idle_s: Some(idle), of_s } => {
            format!("the sending application had no data to send for {} of {}", seconds(*idle), seconds(*of_s))
        }
        R::NoData { idle_s: None, .. } => {
            "the sending application wrote less than could be sent at most looks (app_limited)".to_owned()
        }
        R::DataReady { busy_s, of_s } => {
            format!("the sending application had data to send for {} of {}", seconds(*busy_s), seconds(*of_s))
        }
        R::Queue { rtt_s, least_s } => {
            format!(
                "a queue stands on the path: the round trip is {} instead of {}",
                seconds(*rtt_s),
                seconds(*least_s)
            )
        }
        R::NoQueue { rtt_s, least_s } => format!(
            "no queue stands on the path: the round trip is {}, and {} at best",
            seconds(*rtt_s),
            seconds(*least_s)
        ),
        R::Retransmitted { segments } => format!(
            "the sender's kernel counts {} retransmitted {}",
            number(*segments),
            if *segments == 1.0 { "segment" } else { "segments" }
        ),
        R::NotRetransmitted => "the sender's kernel counts no retransmitted segment".to_owned(),
        R::Threshold { segments } => format!("slow start ended at a threshold of {} segments", number(*segments)),
        R::NoThreshold { window } => format!(
            "slow start has not ended: there is no threshold, and the congestion window is {} segments",
            number(*window)
        ),
        R::Paced { rate_bps } => format!("a setting or the application limits the sender to {}", rate(*rate_bps)),
        R::Unread { bytes } => {
            format!("the data reached the receiver's socket, and its application left {} B unread", number(*bytes))
        }
    }
}

pub(in crate::words) fn matched_by(by: MatchedBy) -> Option<&'static str> {
    match by {
        MatchedBy::Addresses => None,
        MatchedBy::Ports => Some("matched by both ports and one address; the other address is translated"),
        MatchedBy::OneEnd => Some("matched by one address and port and the amount of data"),
    }
}

pub(in crate::words) fn heading() -> &'static str {
    "What the kernel counted, about these findings"
}
