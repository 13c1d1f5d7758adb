//! [`Account`]: the kernel's `TCP_INFO` through one transfer, and the limits that it shows.
//!
//! `busy_time`, `rwnd_limited` and `sndbuf_limited` are the kernel's own sums. The rest of the busy
//! time is divided by the state of the connection at each sample.

use super::transfer::{LimitingFactor, Limits};
use std::time::{Duration, Instant};
use whyslow_tcpinfo::tcp_info::TcpInfo;

/// BBR paces above its bandwidth estimate by 2.77 while it looks for the path's rate, and by 1.25
/// at most later (`bbr_high_gain`, `bbr_pacing_gain`).
const STARTUP_GAIN: u64 = 2;
/// `TCP_CA_Recovery`, from which on segments count as lost.
const RECOVERY: u8 = 3;

/// The activity of the connection since the last sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The body is being sent.
    Sending {
        /// Its next bytes have not arrived yet.
        is_starved: bool,
    },
    /// The request is sent, and the answer has not begun.
    Waiting,
    /// The answer is being received.
    Receiving,
    /// The reader is busy with other work, and counts that time.
    Paused,
}

/// The account of one transfer.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    is_bbr: bool,
    at: Instant,
    first: Option<TcpInfo>,
    last: Option<TcpInfo>,
    limits: Limits,
}

impl Account {
    pub(crate) fn begin(at: Instant, info: Option<TcpInfo>, is_bbr: bool) -> Self {
        Self { is_bbr, at, first: info.clone(), last: info, limits: Limits::default() }
    }

    /// Time of the last sample.
    pub(crate) fn sampled(&self) -> Instant {
        self.at
    }

    pub(crate) fn limits(&self) -> Limits {
        self.limits
    }

    pub(crate) fn rtt(&self) -> Option<Duration> {
        self.last.as_ref()?.rtt.map(|rtt| Duration::from_micros(rtt.into()))
    }

    pub(crate) fn retransmitted(&self) -> u64 {
        let count = |info: &Option<TcpInfo>| info.as_ref().and_then(|info| info.total_retrans).unwrap_or(0);
        count(&self.last).saturating_sub(count(&self.first)).into()
    }

    /// Accounts for the time since the last sample.
    pub(crate) fn sample(&mut self, at: Instant, info: Option<TcpInfo>, stage: Stage) {
        let took = at.saturating_duration_since(self.at);
        self.at = at;
        let before = std::mem::replace(&mut self.last, info);
        match (&before, self.last.clone(), stage) {
            (_, _, Stage::Paused) => {}
            (Some(before), Some(now), Stage::Sending { .. } | Stage::Waiting) => self.share(took, before, &now, stage),
            _ => self.limits.add(LimitingFactor::Unknown, took),
        }
    }

    fn share(&mut self, took: Duration, before: &TcpInfo, now: &TcpInfo, stage: Stage) {
        let grown = |field: fn(&TcpInfo) -> Option<u64>| {
            let micros = field(now).unwrap_or(0).saturating_sub(field(before).unwrap_or(0));
            Duration::from_micros(micros)
        };
        // The kernel counts in ticks: its sums may be ahead of the clock by one tick.
        let busy = grown(|info| info.busy_time).min(took);
        let receive_window = grown(|info| info.rwnd_limited).min(busy);
        let sender_cap = grown(|info| info.sndbuf_limited).min(busy.saturating_sub(receive_window));
        self.limits.add(LimitingFactor::ReceiveWindow, receive_window);
        self.limits.add(LimitingFactor::SenderCap, sender_cap);
        self.limits.add(self.sender_state(now, stage), busy.saturating_sub(receive_window + sender_cap));
        let not_busy = if stage == Stage::Waiting { LimitingFactor::ServerThink } else { LimitingFactor::Application };
        self.limits.add(not_busy, took.saturating_sub(busy));
    }

    /// The limit of a sender that neither window nor buffer limited.
    fn sender_state(&self, info: &TcpInfo, stage: Stage) -> LimitingFactor {
        if info.ca_state.is_some_and(|state| state >= RECOVERY) {
            return LimitingFactor::LossRecovery;
        }
        let all_is_sent = info.notsent_bytes == Some(0);
        match stage {
            Stage::Sending { is_starved: true } if all_is_sent => return LimitingFactor::Application,
            Stage::Waiting if all_is_sent => return LimitingFactor::RoundTrip,
            _ => {}
        }
        if self.is_bbr {
            let (Some(pace), Some(rate)) = (info.pacing_rate, info.delivery_rate) else {
                return LimitingFactor::Unknown;
            };
            return if pace > rate * STARTUP_GAIN { LimitingFactor::SlowStart } else { LimitingFactor::Bandwidth };
        }
        match (info.snd_cwnd, info.snd_ssthresh) {
            (Some(_), None) => LimitingFactor::SlowStart,
            (Some(cwnd), Some(ssthresh)) if cwnd < ssthresh => LimitingFactor::SlowStart,
            (Some(_), Some(_)) => LimitingFactor::CongestionAvoidance,
            (None, _) => LimitingFactor::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(busy: u64, rwnd: u64, sndbuf: u64, notsent: u32) -> TcpInfo {
        TcpInfo {
            ca_state: Some(0),
            snd_cwnd: Some(10),
            rtt: Some(200_000),
            total_retrans: Some(0),
            busy_time: Some(busy),
            rwnd_limited: Some(rwnd),
            sndbuf_limited: Some(sndbuf),
            notsent_bytes: Some(notsent),
            ..TcpInfo::default()
        }
    }

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn the_kernels_sums_and_the_rest_make_up_the_time() {
        let start = Instant::now();
        let mut account = Account::begin(start, Some(info(0, 0, 0, 0)), false);
        account.sample(
            start + 100 * MS,
            Some(info(90_000, 20_000, 10_000, 5_000)),
            Stage::Sending { is_starved: false },
        );
        let limits = account.limits();
        assert_eq!(limits.of(LimitingFactor::ReceiveWindow), 20 * MS);
        assert_eq!(limits.of(LimitingFactor::SenderCap), 10 * MS);
        assert_eq!(limits.of(LimitingFactor::SlowStart), 60 * MS);
        assert_eq!(limits.of(LimitingFactor::Application), 10 * MS);
        account.sample(start + 400 * MS, Some(info(290_000, 20_000, 10_000, 0)), Stage::Waiting);
        let limits = account.limits();
        assert_eq!(limits.of(LimitingFactor::RoundTrip), 200 * MS);
        assert_eq!(limits.of(LimitingFactor::ServerThink), 100 * MS);
    }

    #[test]
    fn what_the_kernel_does_not_tell_is_unknown() {
        let start = Instant::now();
        let mut account = Account::begin(start, None, false);
        account.sample(start + MS, None, Stage::Waiting);
        assert_eq!(account.limits().of(LimitingFactor::Unknown), MS);
        assert_eq!((account.rtt(), account.retransmitted()), (None, 0));
    }

    #[test]
    fn the_state_divides_the_rest() {
        let account = Account::begin(Instant::now(), None, false);
        let sending = Stage::Sending { is_starved: false };
        let mut one = info(0, 0, 0, 1);
        one.snd_ssthresh = Some(5);
        assert_eq!(account.sender_state(&one, sending), LimitingFactor::CongestionAvoidance);
        one.ca_state = Some(4);
        assert_eq!(account.sender_state(&one, sending), LimitingFactor::LossRecovery);
        let starved = Stage::Sending { is_starved: true };
        assert_eq!(account.sender_state(&info(0, 0, 0, 0), starved), LimitingFactor::Application);
        let bbr = Account::begin(Instant::now(), None, true);
        one = TcpInfo { pacing_rate: Some(2_890), delivery_rate: Some(1_000), ..info(0, 0, 0, 1) };
        assert_eq!(bbr.sender_state(&one, sending), LimitingFactor::SlowStart);
        one.pacing_rate = Some(1_000);
        assert_eq!(bbr.sender_state(&one, sending), LimitingFactor::Bandwidth);
    }
}
