//! Plain words, letters and colours for limits, and names for endpoints and frames.

use crate::text::units;
use anstyle::{AnsiColor, Effects, Style};
use whyslow_analysis::{Assumed, Cause, Connection, Endpoint, Frame, Limit};

/// What a promise rests on.
pub(in crate::render) fn assumed(assumed: Assumed) -> String {
    format!(
        "if the path carries more than {}, of which the capture shows {} (`--path-rate` says what it carries)",
        units::rate(assumed.needed_bps),
        units::rate(assumed.seen_bps)
    )
}

/// A limit in plain words.
pub(in crate::render) fn limit(limit: Limit) -> &'static str {
    match limit {
        Limit::Handshake => "handshake",
        Limit::TlsHandshake => "TLS",
        Limit::RequestWait => "wait",
        Limit::ServerThink => "server think",
        Limit::ClientThink => "client think",
        Limit::Idle => "idle",
        Limit::SlowStart => "slow start",
        Limit::CongestionAvoidance => "congestion avoidance",
        Limit::ReceiveWindow => "receive window",
        Limit::ZeroWindow => "zero window",
        Limit::SenderCap => "sender cap",
        Limit::ProtocolWindow => "protocol window",
        Limit::Application => "application",
        Limit::Pacing => "pacing",
        Limit::NagleDelayedAck => "Nagle + delayed ACK",
        Limit::AckDelay => "ACK delay",
        Limit::LossRecovery => "loss recovery",
        Limit::Timeout => "timeout",
        Limit::Bandwidth => "bandwidth",
        Limit::RoundTrip => "round trip",
        Limit::Unknown => "unknown",
    }
}

/// The letter that stands for a limit in a timeline.
pub(in crate::render) const fn letter(limit: Limit) -> char {
    match limit {
        Limit::Handshake => 'H',
        Limit::TlsHandshake => 'T',
        Limit::RequestWait => 'W',
        Limit::ServerThink => 'K',
        Limit::ClientThink => 'U',
        Limit::Idle => '.',
        Limit::SlowStart => 'S',
        Limit::CongestionAvoidance => 'C',
        Limit::ReceiveWindow => 'R',
        Limit::ZeroWindow => 'Z',
        Limit::SenderCap => 'M',
        Limit::ProtocolWindow => 'P',
        Limit::Application => 'A',
        Limit::Pacing => 'G',
        Limit::NagleDelayedAck => 'N',
        Limit::AckDelay => 'D',
        Limit::LossRecovery => 'L',
        Limit::Timeout => 'O',
        Limit::Bandwidth => 'B',
        Limit::RoundTrip => 'I',
        Limit::Unknown => '?',
    }
}

/// The colour of a limit: setting up blue, waiting for a program magenta, windows cyan, start
/// yellow, loss red, what the path itself takes green.
pub(in crate::render) fn color(limit: Limit) -> Style {
    let color = match limit {
        Limit::Handshake | Limit::TlsHandshake | Limit::RequestWait => AnsiColor::Blue,
        Limit::ServerThink | Limit::ClientThink | Limit::Application | Limit::Pacing => AnsiColor::Magenta,
        Limit::SlowStart | Limit::CongestionAvoidance => AnsiColor::Yellow,
        Limit::ReceiveWindow | Limit::ZeroWindow | Limit::SenderCap | Limit::ProtocolWindow => AnsiColor::Cyan,
        Limit::NagleDelayedAck | Limit::AckDelay => AnsiColor::BrightMagenta,
        Limit::LossRecovery | Limit::Timeout => AnsiColor::Red,
        Limit::Bandwidth | Limit::RoundTrip => AnsiColor::Green,
        Limit::Idle | Limit::Unknown => return Style::new().effects(Effects::DIMMED),
    };
    color.on_default()
}

/// The colour of a cause: that of the limit that it explains.
pub(in crate::render) fn cause_color(cause: Cause) -> Style {
    let limit = match cause {
        Cause::Application | Cause::ClientThink | Cause::HostCpu | Cause::ServerThink | Cause::Pacing => {
            Limit::Application
        }
        Cause::EarlySlowStartExit | Cause::RestartAfterIdle | Cause::SlowStart => Limit::SlowStart,
        Cause::NoWindowScaling
        | Cause::ProtocolWindow
        | Cause::ReceiveWindow
        | Cause::SenderCap
        | Cause::SmallSegments
        | Cause::ZeroWindow => Limit::ReceiveWindow,
        Cause::DelayedAck | Cause::NagleDelayedAck => Limit::AckDelay,
        Cause::Bandwidth | Cause::Bufferbloat | Cause::Ecn | Cause::PathLatency | Cause::Shaper => Limit::Bandwidth,
        Cause::NewConnectionEachTime | Cause::SlowLookup | Cause::TlsRecordBuffering | Cause::TurnTaking => {
            Limit::Handshake
        }
        _ => Limit::LossRecovery,
    };
    color(limit)
}

/// Both ends, with a mark for QUIC and none for TCP.
pub(in crate::render) fn ends(connection: &Connection) -> String {
    let quic = if connection.quic.is_some() { " (QUIC)" } else { "" };
    format!("{} → {}{quic}", endpoint(&connection.client), endpoint(&connection.server))
}

/// Its name, or its address, with its port; an IPv6 address in brackets (RFC 5952 section 6).
pub(in crate::render) fn endpoint(endpoint: &Endpoint) -> String {
    endpoint.host_and_port()
}

/// Frames as evidence lists them: two are a range, others are listed.
pub(in crate::render) fn frames(frames: &[Frame]) -> String {
    match frames {
        [] => String::new(),
        [one] => format!("frame {one}"),
        [one, same] if one == same => format!("frame {one}"),
        [first, last] => format!("frames {}", range(*first, *last)),
        several => {
            format!("frames {}", several.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
        }
    }
}

/// `18–91`, `2:18–91`, `1:900–2:14`.
pub(in crate::render) fn range(first: Frame, last: Frame) -> String {
    if first == last {
        first.to_string()
    } else if first.file == last.file {
        format!("{first}–{}", last.number)
    } else {
        format!("{first}–{last}")
    }
}
