//! Windows, segments and ACKs.

use super::common::spread;
use crate::words::quantity::{count, rate, thousands, time, window_rate};
use whyslow_core::analysis::{
    Amount, BufferNeed, End, FirstWindow, RateSource, SendingAction, SendingQuestion, SendingStatement, SizedBy,
    SmallSegmentReason, UsualCap,
};

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
        SendingStatement::ReceiveWindowFull { window, full_s, whole_s, rtt_s } => format!(
            "the receiver's window of {} B was full for {} of {}: {} B / {} = {}",
            thousands(*window),
            time(*full_s),
            time(*whole_s),
            thousands(*window),
            time(*rtt_s),
            rate(window_rate(*window, *rtt_s)),
        ),
        SendingStatement::WindowClosed { closed_s, whole_s } => format!(
            "the receiver's window was closed for {} of {}: its application did not read",
            time(*closed_s),
            time(*whole_s)
        ),
        SendingStatement::SenderCap { bytes, alternating, window, time_s } => {
            let flight = if *alternating {
                format!("sent more than {} B in two round trips (a large flight and a small one)", thousands(*bytes))
            } else {
                format!("had more than {} B in flight", thousands(*bytes))
            };
            let allowed = match window {
                Some(window) => format!("although the receiver allowed {} B", thousands(*window)),
                None => "and the capture does not show whether the receiver allowed more".to_owned(),
            };
            format!(
                "the sender never {flight}, {allowed}: {} B / {} = {}",
                thousands(*bytes),
                time(*time_s),
                rate(window_rate(*bytes, *time_s))
            )
        }
        SendingStatement::ProtocolWindow { bytes, rtt_s } => format!(
            "the sender stopped at {} B in flight until a message of the receiver's application came: {} B / {} = {}",
            thousands(*bytes),
            thousands(*bytes),
            time(*rtt_s),
            rate(window_rate(*bytes, *rtt_s)),
        ),
        SendingStatement::ProtocolTurns { bytes, times, cost_s, whole_s } => format!(
            "the sender stopped after each {} B until a message of the receiver's application came, {}: {} of {}",
            thousands(*bytes),
            count(*times, "time"),
            time(*cost_s),
            time(*whole_s),
        ),
        SendingStatement::SmallSegments { mean, mss, reason: SmallSegmentReason::Window { window } } => format!(
            "segments of {mean} B on average where {} B fit, as the receiver's window is at most {} B; the cost is the window's",
            thousands(*mss),
            thousands(*window),
        ),
        SendingStatement::SmallSegments { mean, mss, reason: SmallSegmentReason::Writes { cost_s, whole_s } } => {
            format!(
                "segments of {mean} B on average where {} B fit: full ones would have saved about {} of {}",
                thousands(*mss),
                time(*cost_s),
                time(*whole_s),
            )
        }
        SendingStatement::NagleWaits { segments, typical_s, delayed_ack } => format!(
            "{} waited about {} each for {}: the application writes in small pieces and then reads",
            count(*segments, "small segment"),
            time(*typical_s),
            if *delayed_ack { "a delayed ACK" } else { "the ACK of the one before" },
        ),
        SendingStatement::DelayedAcks { acks, typical_s } => format!(
            "the receiver delayed {} by about {} while the sender had nothing else to send",
            count(*acks, "ACK"),
            time(*typical_s)
        ),
        SendingStatement::Paced { rate_bps, held_s, whole_s, flight } => format!(
            "the sender limited itself to {} for {} of {}: at most {} B in flight, no queue, no wait for an ACK",
            rate(*rate_bps),
            time(*held_s),
            time(*whole_s),
            thousands(*flight),
        ),
        SendingStatement::Amplification { request, flight, filled_window, segments } => format!(
            "the server answered a request of {} B with {} B before the first ACK{}: {:.0} times the request, {} segments where 10 are usual",
            thousands(*request),
            thousands(*flight),
            if *filled_window { ", the whole receive window" } else { "" },
            *flight as f64 / (*request).max(1) as f64,
            thousands(*segments),
        ),
        SendingStatement::RestartAfterIdle { idle_s, flight, largest, cost_s } => format!(
            "after {} of silence the sender started again with {} B in flight, down from {} B: {} in slow start again",
            time(*idle_s),
            thousands(*flight),
            thousands(*largest),
            time(*cost_s),
        ),
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
        SendingAction::RaiseReceiveBuffer { need } => format!(
            "enlarge the receive buffer, from the start of each connection; if the application sets SO_RCVBUF (`iperf3 -w`, nginx `rcvbuf=`), remove it: it overrides the sysctl. {}",
            buffer(need)
        ),
        SendingAction::ReadUnread { before, window } => format!(
            "make the receiving application read faster: its window fell from {} B to {} B as data lay unread; a larger buffer only fills later",
            thousands(*before),
            thousands(*window)
        ),
        SendingAction::ReadForAcks { late_s } => format!(
            "make the receiving application read faster: its ACKs for a full window came {} late (median), because it left data unread; a larger buffer only fills later",
            time(*late_s)
        ),
        SendingAction::ReadFaster { closings } => format!(
            "make the receiving application read faster: the window closed {}; the network is not at fault",
            count(*closings, "time")
        ),
        SendingAction::RaiseSendBuffer { bytes, usual, need } => format!(
            "find what stops the sender at {} B ({}), most often a socket's send buffer: if the application or proxy sets SO_SNDBUF (nginx `sndbuf=`), remove it, and let the kernel's buffer grow. {}",
            thousands(*bytes),
            usual_cap(*usual),
            buffer(need)
        ),
        SendingAction::RaiseProtocolWindow { at, need } => format!(
            "{}raise the window of the application's protocol (HTTP/2 stream and connection window, SSH channel, outstanding reads){}",
            at.map_or(String::new(), |end| format!("on the {}, ", name(end))),
            need.map_or(String::new(), |need| format!(". {}", buffer(&need)))
        ),
        SendingAction::OfferLargerWindows { bytes } => format!(
            "offer windows of many segments: remove SO_RCVBUF from the receiving application, or set it to at least {} B (16 segments)",
            thousands(*bytes)
        ),
        SendingAction::WriteLargerPieces { bytes } => format!(
            "write {} B or more at a time (writev, a buffered writer, TCP_CORK, MSG_MORE), and leave TCP_NODELAY off for small writes",
            thousands(*bytes)
        ),
        SendingAction::NoDelay { at } => format!(
            "set TCP_NODELAY on the {}, or write header and body in one call",
            match at.as_slice() {
                [one] => format!("{}'s socket", name(*one)),
                _ => "sockets of both ends, as both of them waited".to_owned(),
            }
        ),
        SendingAction::QuickAck { .. } => {
            "acknowledge at once, or let the sender have more in flight so that no flight ends in a lone segment"
                .to_owned()
        }
        SendingAction::RaiseRateLimit { rate_bps } => format!(
            "find what limits the sender to {} B/s ({}) and raise it: limit_rate or bwlim of a server or proxy, --limit-rate of a client, SO_MAX_PACING_RATE, a queueing discipline",
            thousands((*rate_bps / 8.0) as u64),
            rate(*rate_bps),
        ),
        SendingAction::CapInitialWindow { segments, bytes, .. } => format!(
            "cap the initial congestion window: {segments} segments are {} B here; find what ignores it (initcwnd of the route, a proxy or balancer in front)",
            thousands(*bytes)
        ),
        SendingAction::KeepWindowWhenIdle => "let idle connections keep their congestion window".to_owned(),
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

fn name(end: End) -> &'static str {
    match end {
        End::Client => "client",
        End::Server => "server",
    }
}

/// The size of a buffer, and where it comes from.
fn buffer(need: &BufferNeed) -> String {
    let size = format!("{} B", thousands(need.bytes));
    let rate = rate(need.rate_bps);
    let from = match need.rate {
        RateSource::Given => format!("the link carries {rate} (--path-rate)"),
        RateSource::Bursts => format!("the network delivered bursts at {rate}"),
        RateSource::Guess => {
            format!(
                "the capture does not show the rate of the link (give --path-rate); {rate} is 8 times the measured rate"
            )
        }
    };
    match need.sized_by {
        SizedBy::BandwidthDelay => format!(
            "At least {size}: {from}, and twice the bandwidth-delay product at a round trip of {} is needed",
            time(need.rtt_s)
        ),
        SizedBy::Transfer => format!("At least {size}: all of this transfer then goes out at once ({from})"),
        SizedBy::Most => format!("Start with {size} at a round trip of {}: {from}", time(need.rtt_s)),
    }
}

fn usual_cap(usual: Option<UsualCap>) -> &'static str {
    match usual {
        None => "SO_SNDBUF or tcp_wmem, a proxy's buffer, a clamped congestion window",
        Some(UsualCap::SmallSendBuffer) => "16 KiB: a default SO_SNDBUF or a TLS record at a time",
        Some(UsualCap::ProxyBuffer) => "32 KiB: the send buffer of a proxy or balancer",
        Some(UsualCap::UnscaledWindow) => "64 KiB − 1: a middlebox or stack that ignores window scaling",
        Some(UsualCap::CopyBuffer) => "a power of two: a socket or copy buffer",
        Some(UsualCap::ProtocolWindow) => "2 MiB: an SSH or HTTP/2 window",
        Some(UsualCap::TcpWmem) => "4 MiB: the default limit of Linux' tcp_wmem",
    }
}
