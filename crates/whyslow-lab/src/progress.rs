//! A progress bar with the time left, on standard error; plain lines where that is not a terminal.

use crate::run::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;

/// Shows the events of a run.
pub struct Bar {
    bar: ProgressBar,
    is_terminal: bool,
}

impl Bar {
    /// A bar for one experiment.
    pub fn new(experiment: &str) -> Self {
        Self::of(experiment, "{prefix} {bar:30} {pos}/{len}, {eta} left: {msg}")
    }

    /// A spinner for work of unknown length.
    pub fn waiting(work: &str) -> Self {
        Self::of(work, "{spinner} {prefix}, {elapsed}: {msg}")
    }

    fn of(prefix: &str, template: &str) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        let target = if is_terminal { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        // The templates are constants: a wrong one would be seen at once.
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_prefix(prefix.to_owned());
        bar.enable_steady_tick(std::time::Duration::from_millis(200));
        Self { bar, is_terminal }
    }

    /// Give this to [`crate::run::run`].
    pub fn show(&self, event: &Progress<'_>) {
        match event {
            Progress::Started { label, total, .. } => {
                self.bar.set_length(*total as u64);
                self.bar.set_message((*label).to_owned());
            }
            Progress::Void { label, why, attempt } => {
                self.line(&format!("{label}: try {attempt} is void: {}", why.join("; ")));
            }
            Progress::Finished { label, reused, result } => {
                for problem in &result.problems {
                    self.line(&format!("{label}: no result: {problem}"));
                }
                if result.problems.is_empty() && !result.noise.is_quiet() {
                    let added = result.noise.added();
                    self.line(&format!("{label}: this machine was busy: it may have added {added}"));
                }
                if !self.is_terminal {
                    self.line(&format!("{label}: {}", if *reused { "kept" } else { "done" }));
                }
                self.bar.inc(1);
            }
        }
    }

    /// The last step.
    pub fn message(&self, text: &str) {
        self.bar.set_message(text.to_owned());
    }

    /// A line that stays.
    fn line(&self, text: &str) {
        if self.is_terminal {
            self.bar.println(text);
        } else {
            eprintln!("{text}");
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
