//! The party that is waited for while a limit holds, and the evidence for it.

use whyslow_analysis::types::{End, LimitingFactor};
use whyslow_analysis::{Grade, Party};

/// The party that was waited for under `limit`, in a message that `sender` sends.
pub(super) fn party(limit: LimitingFactor, sender: End) -> Party {
    let of = |end: End| if end == End::Client { Party::Client } else { Party::Server };
    match limit {
        LimitingFactor::Handshake
        | LimitingFactor::TlsHandshake
        | LimitingFactor::RequestWait
        | LimitingFactor::RoundTrip
        | LimitingFactor::LossRecovery
        | LimitingFactor::Timeout
        | LimitingFactor::Bandwidth => Party::Network,
        LimitingFactor::ServerThink => Party::Server,
        LimitingFactor::ClientThink => Party::Client,
        // Its congestion window, its buffer, its program, its pace, its Nagle algorithm.
        LimitingFactor::SlowStart
        | LimitingFactor::CongestionAvoidance
        | LimitingFactor::SenderCap
        | LimitingFactor::Application
        | LimitingFactor::Pacing
        | LimitingFactor::NagleDelayedAck => of(sender),
        LimitingFactor::ReceiveWindow
        | LimitingFactor::ZeroWindow
        | LimitingFactor::ProtocolWindow
        | LimitingFactor::AckDelay => of(sender.other()),
        LimitingFactor::Idle => Party::Nobody,
        LimitingFactor::Unknown => Party::Unknown,
    }
}

/// Evidence that `limit` applied: single packets, or the shape of flights and rates.
pub(super) const fn grade(limit: LimitingFactor) -> Grade {
    match limit {
        LimitingFactor::Handshake
        | LimitingFactor::TlsHandshake
        | LimitingFactor::RequestWait
        | LimitingFactor::RoundTrip
        | LimitingFactor::ServerThink
        | LimitingFactor::ClientThink
        | LimitingFactor::Idle
        | LimitingFactor::ReceiveWindow
        | LimitingFactor::ZeroWindow
        | LimitingFactor::NagleDelayedAck
        | LimitingFactor::AckDelay
        | LimitingFactor::LossRecovery
        | LimitingFactor::Timeout => Grade::Shown,
        LimitingFactor::SlowStart
        | LimitingFactor::CongestionAvoidance
        | LimitingFactor::SenderCap
        | LimitingFactor::ProtocolWindow
        | LimitingFactor::Application
        | LimitingFactor::Pacing
        | LimitingFactor::Bandwidth
        | LimitingFactor::Unknown => Grade::Inferred,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receive_window_is_the_receivers_and_application_the_senders() {
        assert_eq!(party(LimitingFactor::ReceiveWindow, End::Server), Party::Client);
        assert_eq!(party(LimitingFactor::Application, End::Server), Party::Server);
        assert_eq!(party(LimitingFactor::SlowStart, End::Client), Party::Client);
        assert_eq!(party(LimitingFactor::Idle, End::Client), Party::Nobody);
    }
}
