//! [`IdleLimit`]: the server's limit for idle connections, learnt from how it closes them.

use std::collections::VecDeque;
use std::time::Duration;

/// Number of endings that are remembered: S3's limit varies between 5 and 20 s.
const REMEMBERED: usize = 16;
/// A connection that is closed sooner was closed with its answer: the server has no idle limit.
const NOT_IDLE: Duration = Duration::from_millis(500);
/// Minimum time before a request that only keeps a connection open.
const SOONEST: Duration = Duration::from_millis(500);

/// Knowledge about the limit.
#[derive(Debug)]
pub(crate) struct IdleLimit {
    guess: Duration,
    cap: Duration,
    endings: VecDeque<Duration>,
    announced: Option<Duration>,
}

impl IdleLimit {
    pub(crate) fn new(guess: Duration, cap: Duration) -> Self {
        Self { guess, cap, endings: VecDeque::new(), announced: None }
    }

    /// Called when the server closed a connection that had been idle for this time.
    pub(crate) fn closed_after(&mut self, idle: Duration) {
        if idle < NOT_IDLE {
            return;
        }
        if self.endings.len() == REMEMBERED {
            self.endings.pop_front();
        }
        self.endings.push_back(idle);
    }

    /// Called when the server sent `Keep-Alive: timeout=…` (RFC 2068 section 19.7.1.1).
    pub(crate) fn announced(&mut self, timeout: Duration) {
        self.announced = Some(timeout).filter(|timeout| *timeout >= NOT_IDLE);
    }

    /// The shortest observed limit; `None` without an observation.
    pub(crate) fn learnt(&self) -> Option<Duration> {
        self.endings.iter().copied().chain(self.announced).min()
    }

    /// Idle time for which a connection is expected to be open when the next request arrives: the
    /// server counts from its answer, and a request takes time to arrive.
    pub(crate) fn keep_within(&self, rtt: Duration) -> Duration {
        let limit = self.learnt().unwrap_or(self.guess);
        let safe = (limit * 4 / 5).min(limit.saturating_sub(rtt * 2));
        safe.max(SOONEST).min(self.cap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Duration = Duration::from_secs(1);
    const RTT: Duration = Duration::from_millis(200);

    #[test]
    fn the_least_ending_counts_and_old_ones_are_forgotten() {
        let mut limit = IdleLimit::new(5 * S, 60 * S);
        assert_eq!((limit.learnt(), limit.keep_within(RTT)), (None, 4 * S));
        limit.closed_after(20 * S);
        assert_eq!(limit.keep_within(RTT), 16 * S);
        limit.closed_after(6 * S);
        limit.closed_after(RTT);
        assert_eq!(limit.learnt(), Some(6 * S));
        for _ in 0..REMEMBERED {
            limit.closed_after(200 * S);
        }
        assert_eq!(limit.keep_within(RTT), 60 * S, "no longer than the cap");
        limit.announced(S);
        assert_eq!(limit.keep_within(RTT), S - RTT * 2);
        assert_eq!(limit.keep_within(S), SOONEST);
    }
}
