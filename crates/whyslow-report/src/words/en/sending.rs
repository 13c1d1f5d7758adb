//! Windows, segments and ACKs.

use super::common::spread;
use crate::words::quantity::{count, rate, thousands, time, window_rate};
use whyslow_core::analysis::{End, FirstWindow, SendingAction, SendingQuestion, SendingStatement};

pub(super) fn statement(statement: &SendingStatement) -> String {
    match statement {
        SendingStatement::SlowStart { spent_s, whole_s, first_flight } => {
            let from =
                first_flight.map_or(String::new(), |bytes| format!(", from {} B a round trip", thousands(bytes)));
            format!("the sender spent {} of {} opening its congestion window{from}", time(*spent_s), time(*whole_s))
        }
        SendingStatement::EarlyExit { segments, bytes, cost_s } => format!(
            "the sender stopped doubling its window at {} ({} B) though nothing was lost, and took {} more to open it slowly",
            count(*segments, "segment"),
            thousands(*bytes),
            time(*cost_s),
        ),
        SendingStatement::RememberedThreshold { connections, sender, peer, segments, cost } => format!(
            "{} from {sender} to {peer} stopped doubling their windows at the same {}: the sender remembers a threshold for this peer, which cost {}",
            count(*connections, "connection"),
            count(*segments, "segment"),
            spread(*cost),
        ),
        SendingStatement::NoWindowScaling { missing, window, rtt_s } => {
            let missing: Vec<&str> = missing.iter().map(|end| syn(*end)).collect();
            format!(
                "there is no window scale option in {}, so no more than {} B can be in flight: {} B / {} = {}",
                missing.join(" and "),
                thousands(*window),
                thousands(*window),
                time(*rtt_s),
                rate(window_rate(*window, *rtt_s)),
            )
        }
    }
}

pub(super) fn question(question: &SendingQuestion) -> String {
    match question {
        SendingQuestion::FlightsEndShort => {
            "most flights end in a segment cut short, so that the program may have had no more to send: `ss -ti` on the sender says app_limited, or not".to_owned()
        }
        SendingQuestion::RememberedThreshold { peer: Some(peer), segments } => {
            format!("`ip tcp_metrics show {peer}` on the sender names a ssthresh of about {segments}")
        }
        SendingQuestion::RememberedThreshold { peer: None, segments } => format!(
            "on the sender, `ip tcp_metrics show` names a ssthresh of about {segments} for this peer, or `nstat` counts TCPHystart*"
        ),
    }
}

pub(super) fn action(action: &SendingAction) -> String {
    match action {
        SendingAction::ReuseConnection { cap } => format!("keep the connection open and reuse it{}", limited(cap)),
        SendingAction::RaiseInitialWindow { from, to, cap, .. } => {
            let from = from.map_or(String::new(), |from| format!(" from {from}"));
            format!(
                "raise the initial congestion window{from} to {to} segments; this may cause loss on slow links{}",
                limited(cap)
            )
        }
        SendingAction::EnableWindowScaling { on } => format!(
            "turn window scaling on where {} comes from, or find the balancer or firewall on the way that strips the option",
            syn(*on)
        ),
        SendingAction::DisableHystart => {
            "the round trip had risen, which HyStart takes for a queue: use BBR, or CUBIC without HyStart".to_owned()
        }
        SendingAction::ForgetThreshold { sender: Some(sender), peer: Some(peer), segments: Some(segments) } => {
            format!(
                "on {sender}, forget the threshold of {} for {peer}, and remember none",
                count(*segments, "segment")
            )
        }
        SendingAction::ForgetThreshold { .. } => {
            "forget the threshold that the sender remembers for this peer, and remember none".to_owned()
        }
    }
}

fn syn(end: End) -> &'static str {
    match end {
        End::Client => "the client's SYN",
        End::Server => "the server's SYN-ACK",
    }
}

fn limited(cap: &Option<FirstWindow>) -> String {
    cap.map_or(String::new(), |FirstWindow { window, segments, needed }| {
        format!(
            "; the receiver's first window of {} B lets no more than {} of the {} out at once in any case",
            thousands(window),
            count(segments, "segment"),
            thousands(needed),
        )
    })
}
