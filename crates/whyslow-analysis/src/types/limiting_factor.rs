//! [`LimitingFactor`]: what limited a transfer at one instant.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;

/// What limited a transfer at one instant. The slugs are public: see `causes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitingFactor {
    /// The TCP handshake.
    Handshake,
    /// The TLS handshake.
    TlsHandshake,
    /// The request and the first byte of the response were on their way.
    RequestWait,
    /// The server had the request and had not begun to respond.
    ServerThink,
    /// The client application processed before its next request.
    ClientThink,
    /// The connection was idle: neither side waited.
    Idle,
    /// The congestion window was still opening.
    SlowStart,
    /// The congestion window grew slowly.
    CongestionAvoidance,
    /// The receiver's window was full.
    ReceiveWindow,
    /// The receiver's window was closed.
    ZeroWindow,
    /// The sender kept less in flight than its windows allowed.
    SenderCap,
    /// A window of the application protocol was full.
    ProtocolWindow,
    /// The sending application had nothing to send.
    Application,
    /// The sender spaced its segments evenly.
    Pacing,
    /// A small segment waited for a delayed ACK.
    NagleDelayedAck,
    /// An ACK was late.
    AckDelay,
    /// Lost segments were retransmitted after duplicate ACKs.
    LossRecovery,
    /// The sender waited for its retransmission timer.
    Timeout,
    /// The link was full.
    Bandwidth,
    /// Transit time of the last bytes and of their ACK. No setting can remove it.
    RoundTrip,
    /// Unknown.
    Unknown,
}

impl LimitingFactor {
    /// All limits, in the order of their definition.
    pub const ALL: [Self; 21] = [
        Self::Handshake,
        Self::TlsHandshake,
        Self::RequestWait,
        Self::ServerThink,
        Self::ClientThink,
        Self::Idle,
        Self::SlowStart,
        Self::CongestionAvoidance,
        Self::ReceiveWindow,
        Self::ZeroWindow,
        Self::SenderCap,
        Self::ProtocolWindow,
        Self::Application,
        Self::Pacing,
        Self::NagleDelayedAck,
        Self::AckDelay,
        Self::LossRecovery,
        Self::Timeout,
        Self::Bandwidth,
        Self::RoundTrip,
        Self::Unknown,
    ];

    /// Public name.
    pub const fn slug(self) -> &'static str {
        match self {
            Self::Handshake => "handshake",
            Self::TlsHandshake => "tls-handshake",
            Self::RequestWait => "request-wait",
            Self::ServerThink => "server-think",
            Self::ClientThink => "client-think",
            Self::Idle => "idle",
            Self::SlowStart => "slow-start",
            Self::CongestionAvoidance => "congestion-avoidance",
            Self::ReceiveWindow => "receive-window",
            Self::ZeroWindow => "zero-window",
            Self::SenderCap => "sender-cap",
            Self::ProtocolWindow => "protocol-window",
            Self::Application => "application",
            Self::Pacing => "pacing",
            Self::NagleDelayedAck => "nagle-delayed-ack",
            Self::AckDelay => "ack-delay",
            Self::LossRecovery => "loss-recovery",
            Self::Timeout => "timeout",
            Self::Bandwidth => "bandwidth",
            Self::RoundTrip => "round-trip",
            Self::Unknown => "unknown",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::LimitingFactor;

    #[test]
    fn all_limits_are_listed_in_order() {
        assert!(LimitingFactor::ALL.iter().enumerate().all(|(place, limit)| *limit as usize == place));
        assert_eq!(LimitingFactor::ALL.last(), Some(&LimitingFactor::Unknown));
    }
}
