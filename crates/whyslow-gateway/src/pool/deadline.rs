//! [`Watch`]: gives up on a transfer that does not move.

use super::options::Timeouts;
use std::time::{Duration, Instant};

/// The party that a transfer waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitsFor {
    /// This side: for bytes to send, or for room to read.
    Us,
    /// The network, which has this many bytes of ours.
    Path(u64),
    /// The server.
    Server,
}

/// The reason to give up a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Only this many bytes moved in this time.
    Stalled(u64, Duration),
    /// No answer came within this time.
    NoAnswer(Duration),
}

/// The watch of one transfer.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    since: Instant,
    moved: u64,
    silent_since: Instant,
    last: u64,
}

impl Watch {
    pub(crate) fn begin(now: Instant, moved: u64) -> Self {
        Self { since: now, moved, silent_since: now, last: moved }
    }

    /// Time between two checks.
    pub(crate) fn interval(timeouts: &Timeouts) -> Duration {
        (timeouts.stall.min(timeouts.answer) / 4).max(Duration::from_millis(10))
    }

    /// Checks the bytes that have moved on the connection since it began.
    pub(crate) fn check(&mut self, now: Instant, moved: u64, waits_for: WaitsFor, limits: &Timeouts) -> Option<Fault> {
        if moved != self.last || waits_for != WaitsFor::Server {
            self.silent_since = now;
        }
        self.last = moved;
        match waits_for {
            WaitsFor::Us => self.restart(now, moved),
            WaitsFor::Server => {
                self.restart(now, moved);
                let silent = now - self.silent_since;
                if silent >= limits.answer {
                    return Some(Fault::NoAnswer(silent));
                }
            }
            WaitsFor::Path(outstanding) => {
                let (took, came) = (now - self.since, moved.saturating_sub(self.moved));
                if took >= limits.stall {
                    if came < limits.stall_bytes.min(outstanding) {
                        return Some(Fault::Stalled(came, took));
                    }
                    self.restart(now, moved);
                }
            }
        }
        None
    }

    fn restart(&mut self, now: Instant, moved: u64) {
        (self.since, self.moved) = (now, moved);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Duration = Duration::from_secs(1);

    #[test]
    fn what_moves_may_take_as_long_as_it_takes() {
        let limits = Timeouts { stall: 10 * S, stall_bytes: 1000, answer: 60 * S, ..Timeouts::default() };
        let start = Instant::now();
        let mut watch = Watch::begin(start, 0);
        for n in 1..1000_u32 {
            let waits_for = WaitsFor::Path(1 << 20);
            assert_eq!(watch.check(start + S * n, 101 * u64::from(n), waits_for, &limits), None);
        }
        let (end, moved) = (start + 999 * S, 101 * 999);
        assert_eq!(watch.check(end + 300 * S, moved, WaitsFor::Us, &limits), None);
        assert_eq!(watch.check(end + 309 * S, moved, WaitsFor::Path(5), &limits), None);
        let fault = watch.check(end + 310 * S, moved, WaitsFor::Path(5), &limits);
        assert_eq!(fault, Some(Fault::Stalled(0, 10 * S)));
    }

    #[test]
    fn a_silent_server_times_out() {
        let limits = Timeouts { answer: 60 * S, ..Timeouts::default() };
        let start = Instant::now();
        let mut watch = Watch::begin(start, 0);
        assert_eq!(watch.check(start + 59 * S, 0, WaitsFor::Server, &limits), None);
        // A byte of white space keeps it.
        assert_eq!(watch.check(start + 59 * S, 1, WaitsFor::Server, &limits), None);
        assert_eq!(watch.check(start + 118 * S, 1, WaitsFor::Server, &limits), None);
        assert_eq!(watch.check(start + 119 * S, 1, WaitsFor::Server, &limits), Some(Fault::NoAnswer(60 * S)));
    }
}
