//! Remedies for windows, segments and ACKs.

use crate::words::en::ends::{name, syn};
use crate::words::quantity::{count, rate, thousands, time};
use whyslow_analysis::{BufferNeed, End, FirstWindow, RateSource, SendingAction, SizedBy, UsualCap};

pub(in crate::words::en) fn action(action: &SendingAction) -> String {
    match action {
        SendingAction::ReuseConnection { cap } => format!("keep the connection open and reuse it{}", limited(*cap)),
        SendingAction::RaiseInitialWindow { from, to, cap, .. } => initial_window(*from, *to, *cap),
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
        SendingAction::RaiseReceiveBuffer { need } => receive_buffer(need),
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
        SendingAction::RaiseSendBuffer { bytes, usual, need } => send_buffer(*bytes, *usual, need),
        SendingAction::RaiseProtocolWindow { at, need } => protocol_window(*at, *need),
        SendingAction::OfferLargerWindows { bytes } => format!(
            "offer windows of many segments: remove SO_RCVBUF from the receiving application, or set it to at least {} B (16 segments)",
            thousands(*bytes)
        ),
        SendingAction::WriteLargerPieces { bytes } => format!(
            "write {} B or more at a time (writev, a buffered writer, TCP_CORK, MSG_MORE), and leave TCP_NODELAY off for small writes",
            thousands(*bytes)
        ),
        SendingAction::NoDelay { at } => no_delay(at),
        SendingAction::QuickAck { .. } => {
            "acknowledge at once, or let the sender have more in flight so that no flight ends in a lone segment"
                .to_owned()
        }
        SendingAction::RaiseRateLimit { rate_bps } => rate_limit(*rate_bps),
        SendingAction::CapInitialWindow { segments, bytes, .. } => format!(
            "cap the initial congestion window: {segments} segments are {} B here; find what ignores it (initcwnd of the route, a proxy or balancer in front)",
            thousands(*bytes)
        ),
        SendingAction::KeepWindowWhenIdle => "let idle connections keep their congestion window".to_owned(),
    }
}

fn initial_window(from: Option<u64>, to: u64, cap: Option<FirstWindow>) -> String {
    let from = from.map_or(String::new(), |from| format!(" from {from}"));
    format!(
        "raise the initial congestion window{from} to {to} segments; this may cause loss on slow links{}",
        limited(cap)
    )
}

fn receive_buffer(need: &BufferNeed) -> String {
    format!(
        "enlarge the receive buffer, from the start of each connection; if the application sets SO_RCVBUF (`iperf3 -w`, nginx `rcvbuf=`), remove it: it overrides the sysctl. {}",
        buffer(need)
    )
}

fn send_buffer(bytes: u64, usual: Option<UsualCap>, need: &BufferNeed) -> String {
    format!(
        "find what stops the sender at {} B ({}), most often a socket's send buffer: if the application or proxy sets SO_SNDBUF (nginx `sndbuf=`), remove it, and let the kernel's buffer grow. {}",
        thousands(bytes),
        usual_cap(usual),
        buffer(need)
    )
}

fn protocol_window(at: Option<End>, need: Option<BufferNeed>) -> String {
    format!(
        "{}raise the window of the application's protocol (HTTP/2 stream and connection window, SSH channel, outstanding reads){}",
        at.map_or(String::new(), |end| format!("on the {}, ", name(end))),
        need.map_or(String::new(), |need| format!(". {}", buffer(&need)))
    )
}

fn no_delay(at: &[End]) -> String {
    format!(
        "set TCP_NODELAY on the {}, or write header and body in one call",
        match at {
            [one] => format!("{}'s socket", name(*one)),
            _ => "sockets of both ends, as both of them waited".to_owned(),
        }
    )
}

fn rate_limit(rate_bps: f64) -> String {
    format!(
        "find what limits the sender to {} B/s ({}) and raise it: limit_rate or bwlim of a server or proxy, --limit-rate of a client, SO_MAX_PACING_RATE, a queueing discipline",
        thousands((rate_bps / 8.0) as u64),
        rate(rate_bps),
    )
}

fn limited(cap: Option<FirstWindow>) -> String {
    cap.map_or(String::new(), |FirstWindow { window, segments, needed }| {
        format!(
            "; the receiver's first window of {} B allows at most {} of the {} at once",
            thousands(window),
            thousands(segments),
            count(needed, "segment"),
        )
    })
}

/// The size of a buffer, and where it comes from.
fn buffer(need: &BufferNeed) -> String {
    let size = format!("{} B", thousands(need.bytes));
    let rate = rate(need.rate_bps);
    let from = match need.rate {
        RateSource::Given => format!("{rate}, the rate of the link"),
        RateSource::Bursts => format!("{rate}, the rate of bursts in this capture"),
        RateSource::Guess => format!(
            "{rate}, 8 times the measured rate: the capture does not show the rate of the link, so give it with --path-rate"
        ),
    };
    let rtt = time(need.rtt_s);
    match need.sized_by {
        SizedBy::BandwidthDelay => format!("Use at least {size}, twice what a round trip of {rtt} needs at {from}"),
        SizedBy::Transfer => {
            format!("Use at least {size}, so that all of this transfer goes out at once; assumed is {from}")
        }
        SizedBy::Most => format!("Begin with {size}, for a round trip of {rtt} at {from}"),
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
