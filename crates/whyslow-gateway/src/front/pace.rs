//! [`Pace`]: the minimum rate of a client that we wait for.

use super::options::Limits;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::time::Sleep;

/// Counts waiting time, and the bytes that moved in it. Other time does not count.
#[derive(Debug)]
pub(super) struct Pace {
    stall: Duration,
    least: u64,
    waited: Duration,
    moved: u64,
    waits: Option<(Instant, Pin<Box<Sleep>>)>,
}

impl Pace {
    pub(super) fn new(limits: &Limits) -> Self {
        Self { stall: limits.stall, least: limits.stall_bytes, waited: Duration::ZERO, moved: 0, waits: None }
    }

    /// Counts `bytes` that moved; returns the waiting time.
    pub(super) fn moved(&mut self, bytes: u64) -> Duration {
        let waited = self.waits.take().map_or(Duration::ZERO, |(since, _)| since.elapsed());
        self.waited += waited;
        self.moved = self.moved.saturating_add(bytes);
        if self.moved >= self.least {
            (self.moved, self.waited) = (0, Duration::ZERO);
        }
        waited
    }

    /// Ready when nothing has moved for too long.
    pub(super) fn poll_wait(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let left = self.stall.saturating_sub(self.waited);
        let (_, sleep) = self.waits.get_or_insert_with(|| (Instant::now(), Box::pin(tokio::time::sleep(left))));
        sleep.as_mut().poll(cx)
    }

    /// Whether these bytes suffice for the permitted waiting time.
    pub(super) fn is_enough(&self, bytes: u64) -> bool {
        bytes >= self.least
    }

    /// Resets the counts.
    pub(super) fn restart(&mut self) {
        (self.moved, self.waited, self.waits) = (0, Duration::ZERO, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;

    #[tokio::test]
    async fn only_waiting_counts_and_enough_bytes_begin_it_anew() {
        let limits = Limits { stall: Duration::from_millis(30), stall_bytes: 100, ..Limits::default() };
        let mut pace = Pace::new(&limits);
        let begun = Instant::now();
        poll_fn(|cx| pace.poll_wait(cx)).await;
        assert!(begun.elapsed() >= limits.stall);
        assert!(pace.moved(99) >= limits.stall);
        assert!(pace.waited >= limits.stall, "too few to begin anew");
        poll_fn(|cx| pace.poll_wait(cx)).await;
        pace.moved(1);
        assert_eq!((pace.moved, pace.waited), (0, Duration::ZERO));
        assert_eq!(pace.moved(1), Duration::ZERO, "nobody waited");
    }
}
