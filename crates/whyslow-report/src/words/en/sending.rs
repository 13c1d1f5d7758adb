//! Windows, segments and ACKs: a file for statements, one for remedies.

mod action;
mod statement;

pub(super) use action::action;

use crate::words::quantity::{count, thousands, time};
use whyslow_analysis::{Amount, SendingQuestion, SendingStatement, SmallSegmentReason};

pub(super) fn statement(statement: &SendingStatement) -> String {
    use SendingStatement as S;
    match statement {
        S::SlowStart { spent_s, whole_s, first_flight } => statement::slow_start(*spent_s, *whole_s, *first_flight),
        S::EarlyExit { segments, bytes, cost_s } => statement::early_exit(*segments, *bytes, *cost_s),
        S::RememberedThreshold { connections, sender, peer, segments, cost } => {
            statement::remembered_threshold(*connections, sender, peer, *segments, *cost)
        }
        S::NoWindowScaling { missing, window, rtt_s } => statement::no_window_scaling(missing, *window, *rtt_s),
        S::ReceiveWindowFull { window, full_s, whole_s, rtt_s } => {
            statement::receive_window_full(*window, *full_s, *whole_s, *rtt_s)
        }
        S::WindowClosed { closed_s, whole_s } => statement::window_closed(*closed_s, *whole_s),
        S::SenderCap { bytes, alternating, window, time_s } => {
            statement::sender_cap(*bytes, *alternating, *window, *time_s)
        }
        S::ProtocolWindow { bytes, rtt_s } => statement::protocol_window(*bytes, *rtt_s),
        S::FlowControlWindow { stream, bytes, granted_by, times, waited_s } => {
            statement::flow_control_window(*stream, *bytes, *granted_by, (*times, *waited_s))
        }
        S::ProtocolTurns { bytes, times, cost_s, whole_s } => {
            statement::protocol_turns(*bytes, *times, *cost_s, *whole_s)
        }
        S::SmallSegments { mean, mss, reason: SmallSegmentReason::Window { window } } => {
            statement::small_segments_of_window(*mean, *mss, *window)
        }
        S::SmallSegments { mean, mss, reason: SmallSegmentReason::Writes { cost_s, whole_s } } => {
            statement::small_segments_of_writes(*mean, *mss, *cost_s, *whole_s)
        }
        S::NagleWaits { segments, typical_s, delayed_ack } => {
            statement::nagle_waits(*segments, *typical_s, *delayed_ack)
        }
        S::DelayedAcks { acks, typical_s } => statement::delayed_acks(*acks, *typical_s),
        S::Paced { rate_bps, held_s, whole_s, flight } => statement::paced(*rate_bps, *held_s, *whole_s, *flight),
        S::Amplification { request, flight, filled_window, segments } => {
            statement::amplification(*request, *flight, *filled_window, *segments)
        }
        S::RestartAfterIdle { idle_s, flight, largest, cost_s } => {
            statement::restart_after_idle(*idle_s, *flight, *largest, *cost_s)
        }
    }
}

pub(super) fn question(question: &SendingQuestion) -> String {
    match question {
        SendingQuestion::FlightsEndShort => {
            "most flights end in a segment cut short, so that the program may have had no more to send: `ss -ti` on the sender shows app_limited if so".to_owned()
        }
        SendingQuestion::RememberedThreshold { peer: Some(peer), segments } => {
            format!("`ip tcp_metrics show {peer}` on the sender names a ssthresh of about {segments}")
        }
        SendingQuestion::RememberedThreshold { peer: None, segments } => format!(
            "on the sender, `ip tcp_metrics show` names a ssthresh of about {segments} for this peer, or `nstat` counts TCPHystart*"
        ),
        SendingQuestion::WindowFullInQueue { least_s, typical_s } => format!(
            "round trips had grown from {} to {} by then: the bytes in flight stood in a queue, so the link may have been full as well, and a larger window may change nothing",
            time(*least_s),
            time(*typical_s)
        ),
        SendingQuestion::WindowUnitUnknown => "capture the handshake too: without it the unit of the windows is unknown, and a full send buffer looks the same".to_owned(),
        SendingQuestion::SlowReaderOrBusyHost => {
            "a slow application and a busy host look the same from here: check the receiver's CPU".to_owned()
        }
        SendingQuestion::WhichCap { rounds, window_known } => format!(
            "{}a full send buffer, a proxy's buffer and a window of the application's protocol look the same after {}: run `ss -tmi` on the sender during a transfer",
            if *window_known { "" } else { "a full receive window, " },
            count(*rounds, "round")
        ),
        SendingQuestion::WindowOrAnswers { after } => format!(
            "an application that answers each {} looks the same: check which application keeps the window",
            match after {
                Amount::Segments(segments) => count(*segments, "segment"),
                Amount::Bytes(bytes) => format!("{} B", thousands(*bytes)),
            }
        ),
        SendingQuestion::WindowInSegments => "Linux counts its congestion window in segments; senders that count bytes are not slowed by small segments: `strace -e write,sendmsg` shows the size of the writes".to_owned(),
        SendingQuestion::TinyInitialWindow => "an initial window of one or two segments delays the rest of a write in the same way: `ss -ti` on the sender shows its cwnd".to_owned(),
        SendingQuestion::SenderOrNetworkRate => "`ss -ti` on the sender shows pacing_rate, delivery_rate and app_limited; if a second transfer at the same time adds its own rate, the network has room".to_owned(),
        SendingQuestion::ServerInitialWindow => "`ip route show` and `ss -ti` on the server show its initial window; the same first flight to every client proves it".to_owned(),
    }
}
