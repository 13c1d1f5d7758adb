//! The verdict on a transfer.

use crate::words::quantity::time;
use crate::words::{Lang, summary};
use whyslow_analysis::{Finding, LimitingFactor, Verdict};
use whyslow_units::Nanos;

pub(in crate::words) fn verdict(verdict: &Verdict, findings: &[Finding]) -> String {
    match verdict {
        Verdict::Cause => {
            findings.first().map_or(String::new(), |first| format!("{}: {}", first.cause, summary(first, Lang::En)))
        }
        Verdict::Mixed => {
            let parts: Vec<String> =
                findings.iter().take(3).map(|one| format!("{} {}", one.cause, time(one.cost_s))).collect();
            format!("mixed: {}", parts.join(", "))
        }
        Verdict::PartlyShown { shown, whole } => format!(
            "what slowed it is known for {} of {} only: packets of it were left out of the text",
            time(*shown),
            time(*whole)
        ),
        Verdict::Healthy => "nothing slowed it beyond what the path needs".to_owned(),
        Verdict::Unknown => "the capture does not show the cause".to_owned(),
        Verdict::UnknownElided => "the text does not show the cause: packets were left out of it".to_owned(),
        Verdict::Unexplained { limits, whole } => unexplained(limits, *whole),
        Verdict::WaitedForOther => {
            "it waited for another connection between the same hosts, which worked meanwhile: this cost nothing"
                .to_owned()
        }
        Verdict::QueuedBehindOther => {
            "it stood in the queue of another transfer between the same hosts (bufferbloat)".to_owned()
        }
    }
}

fn unexplained(limits: &[(LimitingFactor, Nanos)], whole: Nanos) -> String {
    if let [(limit, took)] = limits {
        return format!("{} of {} went to {}, without a proven cause", time(*took), time(whole), limited_by(*limit));
    }
    let sum: Nanos = limits.iter().map(|(_, took)| *took).sum();
    let parts: Vec<String> =
        limits.iter().map(|(limit, took)| format!("{} {}", limited_by(*limit), time(*took))).collect();
    format!("{} of {} have no proven cause: {}", time(sum), time(whole), parts.join(", "))
}

/// A limit as the subject of a time.
fn limited_by(limit: LimitingFactor) -> &'static str {
    match limit {
        LimitingFactor::Handshake => "the handshake",
        LimitingFactor::TlsHandshake => "the TLS handshake",
        LimitingFactor::RequestWait => "the request's round trip",
        LimitingFactor::ServerThink => "the server's processing",
        LimitingFactor::ClientThink => "the client's processing",
        LimitingFactor::Idle => "idle time",
        LimitingFactor::SlowStart => "slow start",
        LimitingFactor::CongestionAvoidance => "congestion avoidance",
        LimitingFactor::ReceiveWindow => "a full receive window",
        LimitingFactor::ZeroWindow => "a closed receive window",
        LimitingFactor::SenderCap => "a limit of the sender",
        LimitingFactor::ProtocolWindow => "a full window of the application's protocol",
        LimitingFactor::Application => "pauses of the sending application",
        LimitingFactor::Pacing => "the sender's own rate",
        LimitingFactor::NagleDelayedAck => "small segments that waited for a delayed ACK",
        LimitingFactor::AckDelay => "late ACKs",
        LimitingFactor::LossRecovery => "loss recovery",
        LimitingFactor::Timeout => "retransmission timeouts",
        LimitingFactor::Bandwidth => "a full link",
        LimitingFactor::RoundTrip => "the last round trip",
        LimitingFactor::Unknown => "unknown limits",
    }
}
