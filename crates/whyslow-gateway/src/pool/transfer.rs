//! [`Transfer`]: the result of one request, by phase and by limit.

use serde::Serialize;
use std::time::Duration;

/// The limit of a transfer at one instant. The names are those of whyslow's limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitingFactor {
    /// The body came too slowly, or the answer was not read.
    Application,
    /// The congestion window was still opening.
    SlowStart,
    /// The congestion window grew slowly.
    CongestionAvoidance,
    /// BBR sent at the rate that it measured.
    Bandwidth,
    /// The server's window was full.
    ReceiveWindow,
    /// The send buffer was full.
    SenderCap,
    /// Lost segments were retransmitted.
    LossRecovery,
    /// The last bytes' way to the server and their ACK's way back.
    RoundTrip,
    /// The server had the request, and had not begun to answer.
    ServerThink,
    /// Unknown: the receiver does not see the sender's limits.
    Unknown,
}

const LIMITS: [LimitingFactor; 10] = [
    LimitingFactor::Application,
    LimitingFactor::SlowStart,
    LimitingFactor::CongestionAvoidance,
    LimitingFactor::Bandwidth,
    LimitingFactor::ReceiveWindow,
    LimitingFactor::SenderCap,
    LimitingFactor::LossRecovery,
    LimitingFactor::RoundTrip,
    LimitingFactor::ServerThink,
    LimitingFactor::Unknown,
];

impl LimitingFactor {
    /// The name in whyslow's JSON.
    pub fn slug(self) -> &'static str {
        match self {
            Self::Application => "application",
            Self::SlowStart => "slow-start",
            Self::CongestionAvoidance => "congestion-avoidance",
            Self::Bandwidth => "bandwidth",
            Self::ReceiveWindow => "receive-window",
            Self::SenderCap => "sender-cap",
            Self::LossRecovery => "loss-recovery",
            Self::RoundTrip => "round-trip",
            Self::ServerThink => "server-think",
            Self::Unknown => "unknown",
        }
    }
}

/// Time under each limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits([Duration; LIMITS.len()]);

impl Limits {
    pub(crate) fn add(&mut self, limit: LimitingFactor, time: Duration) {
        if let Some(place) = LIMITS.iter().position(|&one| one == limit) {
            self.0[place] += time;
        }
    }

    pub(crate) fn add_all(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            *mine += theirs;
        }
    }

    /// The limits that took time, longest first.
    pub fn ranked(&self) -> Vec<(LimitingFactor, Duration)> {
        let mut all: Vec<_> = LIMITS.into_iter().zip(self.0).filter(|(_, time)| !time.is_zero()).collect();
        all.sort_by_key(|&(_, time)| std::cmp::Reverse(time));
        all
    }

    /// Time under one limit.
    pub fn of(&self, limit: LimitingFactor) -> Duration {
        LIMITS.iter().position(|&one| one == limit).map_or(Duration::ZERO, |place| self.0[place])
    }
}

/// A request's time by phase; a phase that did not happen took no time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    /// Waiting for a connection to be free.
    pub queued: Duration,
    /// Looking up the name.
    pub resolve: Duration,
    /// TCP's handshake.
    pub connect: Duration,
    /// The TLS handshake.
    pub tls: Duration,
    /// Until the kernel had all of the request.
    pub send: Duration,
    /// From then to the answer's first byte.
    pub wait: Duration,
    /// Until the answer's last byte.
    pub receive: Duration,
}

impl Phases {
    /// All of it.
    pub fn total(&self) -> Duration {
        self.queued + self.resolve + self.connect + self.tls + self.send + self.wait + self.receive
    }
}

/// The result of a request on its connection.
#[derive(Clone, Debug, Default)]
pub struct Transfer {
    /// The connection's number in the pool.
    pub connection: u64,
    /// Whether it had served requests before.
    pub is_reused: bool,
    /// Bytes that the congestion window allowed to send at once when the request began; `None` if
    /// the kernel does not report it.
    pub window_at_start: Option<u64>,
    /// The smoothed round trip at the end.
    pub rtt: Option<Duration>,
    /// Time by phase.
    pub phases: Phases,
    /// Time by limit, from the request's first byte on.
    pub limits: Limits,
    /// Bytes of the request's body.
    pub sent: u64,
    /// Bytes of the answer's body.
    pub received: u64,
    /// Segments that this side retransmitted.
    pub retransmitted: u64,
    /// Whether it is complete.
    pub is_whole: bool,
}

impl Transfer {
    /// The limit that took most of its time; `None` if the kernel reported nothing.
    pub fn limited_by(&self) -> Option<LimitingFactor> {
        self.limits.ranked().first().map(|&(limit, _)| limit)
    }

    /// Whether the body was larger than the window at the start.
    pub fn outgrew_window(&self) -> bool {
        self.window_at_start.is_some_and(|window| window < self.sent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_ranked_by_time() {
        let mut limits = Limits::default();
        limits.add(LimitingFactor::RoundTrip, Duration::from_millis(200));
        limits.add(LimitingFactor::SlowStart, Duration::from_millis(900));
        let transfer = Transfer { limits, ..Transfer::default() };
        assert_eq!(transfer.limited_by(), Some(LimitingFactor::SlowStart));
        assert_eq!(limits.ranked().len(), 2);
        assert_eq!(Transfer::default().limited_by(), None);
        for limit in LIMITS {
            assert_eq!(serde_json::to_string(&limit).ok(), Some(format!("\"{}\"", limit.slug())));
        }
    }
}
