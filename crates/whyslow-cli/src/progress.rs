//! A progress bar on stderr, for a person who waits.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};
use whyslow_io::Progress;

/// A shorter reading has no bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// Shows how far the reading has come, once it has taken a while.
pub struct Meter {
    /// Start of the reading; `None` if there is no terminal.
    began: Option<Instant>,
    bar: Option<ProgressBar>,
}

impl Meter {
    /// Without a terminal on stderr it shows nothing.
    pub fn new() -> Self {
        Self { began: stderr().is_terminal().then(Instant::now), bar: None }
    }

    /// Shows how far the reading has come.
    pub fn update(&mut self, progress: Progress) {
        let Some(bar) = &self.bar else {
            if self.began.is_some_and(|began| began.elapsed() > PATIENCE) {
                self.bar = Some(bar(progress));
            }
            return;
        };
        // Captures of two places are read twice.
        if bar.length() != progress.total
            && let Some(total) = progress.total
        {
            bar.set_length(total);
        }
        bar.set_position(progress.read);
    }
}

impl Default for Meter {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn bar(Progress { read, total }: Progress) -> ProgressBar {
    let template = match total {
        Some(_) => "{wide_bar} {bytes}/{total_bytes}, {bytes_per_sec}, {eta} left",
        None => "{spinner} {bytes} read, {bytes_per_sec}",
    };
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
    // The templates are constants; a wrong one would show in the plain style.
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    // The speed is that from now on: the data before was read in one step, which would distort it.
    bar.set_position(read);
    bar.reset_eta();
    bar.set_draw_target(ProgressDrawTarget::stderr());
    bar
}
