//! [`Meter`]: how far a series is, on stderr, for a person who waits.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use whyslow_probe::Request;
use whyslow_report::text::units;

/// A shorter series has no meter.
const PATIENCE: Duration = Duration::from_secs(1);

/// Shows the number of requests and their mean so far, on new and on open connections.
pub(super) struct Meter {
    began: Instant,
    is_shown: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    requests: u64,
    failed: u64,
    /// On new and on open connections.
    means: [Mean; 2],
    bar: Option<ProgressBar>,
}

#[derive(Clone, Copy, Default)]
struct Mean {
    count: u32,
    seconds: f64,
}

impl Mean {
    fn add(&mut self, seconds: f64) {
        self.count += 1;
        self.seconds += (seconds - self.seconds) / f64::from(self.count);
    }
}

impl Meter {
    pub(super) fn new() -> Self {
        Self { began: Instant::now(), is_shown: stderr().is_terminal(), state: Mutex::default() }
    }

    /// A request has ended.
    pub(super) fn add(&self, request: &Request) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.add(request);
        if !self.is_shown || self.began.elapsed() < PATIENCE {
            return;
        }
        let text = state.text();
        state.bar.get_or_insert_with(bar).set_message(text);
    }
}

impl State {
    fn add(&mut self, request: &Request) {
        self.requests += 1;
        match &request.outcome {
            Ok(exchange) => self.means[usize::from(exchange.last().is_reused)].add(exchange.took.as_secs_f64()),
            Err(_) => self.failed += 1,
        }
    }

    fn text(&self) -> String {
        let mut text = units::count(self.requests, "request");
        if self.failed > 0 {
            text += &format!(", {} failed", units::thousands(self.failed));
        }
        for (name, mean) in ["new", "reused"].iter().zip(self.means).filter(|(_, mean)| mean.count > 0) {
            text += &format!(", mean so far on {name} connections {}", units::figure(mean.seconds, "s"));
        }
        text
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        if let Some(bar) = &self.state.lock().unwrap_or_else(PoisonError::into_inner).bar {
            bar.finish_and_clear();
        }
    }
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    // The template is a constant; a wrong one would show in the plain style.
    if let Ok(style) = ProgressStyle::with_template("{msg}") {
        bar.set_style(style);
    }
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_of_new_and_of_open_connections_apart() {
        let mut state = State { requests: 4, failed: 1, ..State::default() };
        [0.1, 0.3].iter().for_each(|seconds| state.means[0].add(*seconds));
        state.means[1].add(0.05);
        let text = "4 requests, 1 failed, mean so far on new connections 200 ms, \
                    mean so far on reused connections 50.0 ms";
        assert_eq!(state.text(), text);
    }
}
