//! Plain words, letters and colours for limits, and names for endpoints and frames.

use crate::text::units;
use anstyle::{AnsiColor, Effects, Style};
use whyslow_analysis::{Assumed, Cause, Connection, Endpoint, Frame, LimitingFactor};

/// What a promise rests on.
pub(in crate::render) fn assumed(assumed: Assumed) -> String {
    format!(
        "if the link carries more than {}; the capture shows {} (`--path-rate` gives the link's rate)",
        units::rate(assumed.needed_bps),
        units::rate(assumed.seen_bps)
    )
}

/// A limit in plain words.
pub(in crate::render) fn limit(limit: LimitingFactor) -> &'static str {
    match limit {
        LimitingFactor::Handshake => "handshake",
        LimitingFactor::TlsHandshake => "TLS",
        LimitingFactor::RequestWait => "wait",
        LimitingFactor::ServerThink => "server think",
        LimitingFactor::ClientThink => "client think",
        LimitingFactor::Idle => "idle",
        LimitingFactor::SlowStart => "slow start",
        LimitingFactor::CongestionAvoidance => "congestion avoidance",
        LimitingFactor::ReceiveWindow => "receive window",
        LimitingFactor::ZeroWindow => "zero window",
        LimitingFactor::SenderCap => "sender cap",
        LimitingFactor::ProtocolWindow => "protocol window",
        LimitingFactor::Application => "application",
        LimitingFactor::Pacing => "pacing",
        LimitingFactor::NagleDelayedAck => "Nagle + delayed ACK",
        LimitingFactor::AckDelay => "ACK delay",
        LimitingFactor::LossRecovery => "loss recovery",
        LimitingFactor::Timeout => "timeout",
        LimitingFactor::Bandwidth => "bandwidth",
        LimitingFactor::RoundTrip => "round trip",
        LimitingFactor::Unknown => "unknown",
    }
}

/// The letter that stands for a limit in a timeline.
pub(in crate::render) const fn letter(limit: LimitingFactor) -> char {
    match limit {
        LimitingFactor::Handshake => 'H',
        LimitingFactor::TlsHandshake => 'T',
        LimitingFactor::RequestWait => 'W',
        LimitingFactor::ServerThink => 'K',
        LimitingFactor::ClientThink => 'U',
        LimitingFactor::Idle => '.',
        LimitingFactor::SlowStart => 'S',
        LimitingFactor::CongestionAvoidance => 'C',
        LimitingFactor::ReceiveWindow => 'R',
        LimitingFactor::ZeroWindow => 'Z',
        LimitingFactor::SenderCap => 'M',
        LimitingFactor::ProtocolWindow => 'P',
        LimitingFactor::Application => 'A',
        LimitingFactor::Pacing => 'G',
        LimitingFactor::NagleDelayedAck => 'N',
        LimitingFactor::AckDelay => 'D',
        LimitingFactor::LossRecovery => 'L',
        LimitingFactor::Timeout => 'O',
        LimitingFactor::Bandwidth => 'B',
        LimitingFactor::RoundTrip => 'I',
        LimitingFactor::Unknown => '?',
    }
}

/// The colour of a limit: setting up blue, waiting for a program magenta, windows cyan, start
/// yellow, loss red, what the path itself takes green.
pub(in crate::render) fn color(limit: LimitingFactor) -> Style {
    let color = match limit {
        LimitingFactor::Handshake | LimitingFactor::TlsHandshake | LimitingFactor::RequestWait => AnsiColor::Blue,
        LimitingFactor::ServerThink
        | LimitingFactor::ClientThink
        | LimitingFactor::Application
        | LimitingFactor::Pacing => AnsiColor::Magenta,
        LimitingFactor::SlowStart | LimitingFactor::CongestionAvoidance => AnsiColor::Yellow,
        LimitingFactor::ReceiveWindow
        | LimitingFactor::ZeroWindow
        | LimitingFactor::SenderCap
        | LimitingFactor::ProtocolWindow => AnsiColor::Cyan,
        LimitingFactor::NagleDelayedAck | LimitingFactor::AckDelay => AnsiColor::BrightMagenta,
        LimitingFactor::LossRecovery | LimitingFactor::Timeout => AnsiColor::Red,
        LimitingFactor::Bandwidth | LimitingFactor::RoundTrip => AnsiColor::Green,
        LimitingFactor::Idle | LimitingFactor::Unknown => return Style::new().effects(Effects::DIMMED),
    };
    color.on_default()
}

/// The colour of a cause: that of the limit that it explains.
pub(in crate::render) fn cause_color(cause: Cause) -> Style {
    let limit = match cause {
        Cause::Application | Cause::ClientThink | Cause::HostCpu | Cause::ServerThink | Cause::Pacing => {
            LimitingFactor::Application
        }
        Cause::EarlySlowStartExit | Cause::RestartAfterIdle | Cause::SlowStart => LimitingFactor::SlowStart,
        Cause::NoWindowScaling
        | Cause::ProtocolWindow
        | Cause::ReceiveWindow
        | Cause::SenderCap
        | Cause::SmallSegments
        | Cause::ZeroWindow => LimitingFactor::ReceiveWindow,
        Cause::DelayedAck | Cause::NagleDelayedAck => LimitingFactor::AckDelay,
        Cause::Bandwidth | Cause::Bufferbloat | Cause::Ecn | Cause::PathLatency | Cause::Shaper => {
            LimitingFactor::Bandwidth
        }
        Cause::NewConnectionEachTime | Cause::SlowLookup | Cause::TlsRecordBuffering | Cause::TurnTaking => {
            LimitingFactor::Handshake
        }
        _ => LimitingFactor::LossRecovery,
    };
    color(limit)
}

/// Both ends; QUIC has a mark.
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
