//! The party that is waited for while a limit holds, and the evidence for it.

use whyslow_analysis::types::{End, Limit};
use whyslow_analysis::{Grade, Party};

/// The party that was waited for under `limit`, in a message that `sender` sends.
pub(super) fn party(limit: Limit, sender: End) -> Party {
    let of = |end: End| if end == End::Client { Party::Client } else { Party::Server };
    match limit {
        Limit::Handshake
        | Limit::TlsHandshake
        | Limit::RequestWait
        | Limit::RoundTrip
        | Limit::LossRecovery
        | Limit::Timeout
        | Limit::Bandwidth => Party::Network,
        Limit::ServerThink => Party::Server,
        Limit::ClientThink => Party::Client,
        // Its congestion window, its buffer, its program, its pace, its Nagle algorithm.
        Limit::SlowStart
        | Limit::CongestionAvoidance
        | Limit::SenderCap
        | Limit::Application
        | Limit::Pacing
        | Limit::NagleDelayedAck => of(sender),
        Limit::ReceiveWindow | Limit::ZeroWindow | Limit::ProtocolWindow | Limit::AckDelay => of(sender.other()),
        Limit::Idle => Party::Nobody,
        Limit::Unknown => Party::Unknown,
    }
}

/// Evidence that `limit` applied: single packets, or the shape of flights and rates.
pub(super) const fn grade(limit: Limit) -> Grade {
    match limit {
        Limit::Handshake
        | Limit::TlsHandshake
        | Limit::RequestWait
        | Limit::RoundTrip
        | Limit::ServerThink
        | Limit::ClientThink
        | Limit::Idle
        | Limit::ReceiveWindow
        | Limit::ZeroWindow
        | Limit::NagleDelayedAck
        | Limit::AckDelay
        | Limit::LossRecovery
        | Limit::Timeout => Grade::Shown,
        Limit::SlowStart
        | Limit::CongestionAvoidance
        | Limit::SenderCap
        | Limit::ProtocolWindow
        | Limit::Application
        | Limit::Pacing
        | Limit::Bandwidth
        | Limit::Unknown => Grade::Inferred,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receive_window_is_the_receivers_and_application_the_senders() {
        assert_eq!(party(Limit::ReceiveWindow, End::Server), Party::Client);
        assert_eq!(party(Limit::Application, End::Server), Party::Server);
        assert_eq!(party(Limit::SlowStart, End::Client), Party::Client);
        assert_eq!(party(Limit::Idle, End::Client), Party::Nobody);
    }
}
