//! A progress bar with the time left, on standard error; plain lines where that is not a terminal.

use crate::run::Progress;
use crate::truth::RunResult;
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
                if let Some(noise) = noise(result) {
                    self.line(&format!("{label}: {noise}"));
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

/// What the machine's noise did to a result that stands all the same: worth a word from half a
/// millisecond on.
fn noise(result: &RunResult) -> Option<String> {
    let links = result.figures.iter().filter(|(name, _)| name.ends_with(".late_p99"));
    let late = links.map(|(_, late)| *late).max_by(f64::total_cmp)?;
    if late <= 0.5e-3 || !result.problems.is_empty() {
        return None;
    }
    Some(format!(
        "this machine was busy: 1 % of the packets were {:.1} ms late or more, which the result bears",
        late * 1e3
    ))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn noise_is_told_where_it_is_worth_a_word() {
        let result = |late: f64, problems: &[&str]| RunResult {
            schema: String::new(),
            experiment: String::new(),
            label: String::new(),
            values: std::collections::BTreeMap::new(),
            repetition: 1,
            key: String::new(),
            cause: String::new(),
            voided: 0,
            problems: problems.iter().map(|&problem| problem.to_owned()).collect(),
            confirmed: true,
            claims: Vec::new(),
            figures: [("up.late_p99".to_owned(), 0.0), ("down.late_p99".to_owned(), late)].into(),
        };
        assert!(noise(&result(0.0042, &[])).unwrap().contains("4.2 ms late or more"));
        assert_eq!(noise(&result(0.0002, &[])), None);
        assert_eq!(noise(&result(0.02, &["link 0: 20 ms late"])), None, "that is told as the problem");
    }
}
