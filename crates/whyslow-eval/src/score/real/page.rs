//! The report in Markdown.

use super::super::{HIGH, calibration};
use super::promise::Promise;
use super::report::{Report, Run};
use std::collections::BTreeMap;
use std::fmt::Write;

impl Report {
    /// For a person, in Markdown.
    pub(crate) fn page(&self) -> String {
        let mut page = String::new();
        let void = self.runs.iter().filter(|run| !run.problems.is_empty()).count();
        let unconfirmed = self.runs.iter().filter(|run| run.problems.is_empty() && !run.confirmed).count();
        let _ = writeln!(
            page,
            "Real programs, {} of every scenario, seed {}: {} runs, {void} without a result, {unconfirmed} whose label the counters do not \
             confirm; {} captures judged.\n",
            self.each,
            self.seed,
            self.runs.len(),
            self.captures
        );
        for (lack, scenarios) in &self.skipped {
            let _ = writeln!(
                page,
                "Skipped for want of {lack}: {} scenarios ({}).\n",
                scenarios.len(),
                scenarios.join(", ")
            );
        }
        let _ = writeln!(page, "## Right: {} of {}\n", self.right, self.captures);
        page += &self.table();
        let bold = self
            .runs
            .iter()
            .flat_map(|run| run.ends.iter().map(move |end| (run, end)))
            .filter(|(_, end)| end.is_bold());
        let _ = writeln!(
            page,
            "\n## Wrong at a confidence of {HIGH} or more: {} of {}\n",
            self.wrong_at_high_confidence, self.captures
        );
        for (run, end) in bold {
            if let Some(reported) = end.most_confident_error() {
                let _ = writeln!(
                    page,
                    "- {} at the {}: `{}` ({:.2})",
                    run.label, end.end, reported.cause, reported.confidence
                );
            }
        }
        page += "\n";
        page += &calibration::table(&self.calibration);
        if !self.promises.is_empty() {
            page += &self.fixes();
        }
        page += &self.mistakes();
        page
    }

    fn table(&self) -> String {
        let mut table =
            "| scenario | right is | at the client | at the server | said instead |\n|---|---|---|---|---|\n"
                .to_owned();
        let mut names: Vec<&str> = self.runs.iter().map(|run| run.scenario.as_str()).collect();
        names.dedup();
        for scenario in names {
            let runs: Vec<&Run> = self.runs.iter().filter(|run| run.scenario == scenario).collect();
            let at = |end: &str| {
                let of: Vec<_> = runs.iter().flat_map(|run| &run.ends).filter(|judged| judged.end == end).collect();
                let right = of.iter().filter(|judged| judged.wrong.is_none()).count();
                if of.is_empty() { "–".to_owned() } else { format!("{right}/{}", of.len()) }
            };
            let mut instead: BTreeMap<&str, usize> = BTreeMap::new();
            for wrong in runs.iter().flat_map(|run| &run.ends).filter_map(|judged| judged.wrong.as_deref()) {
                *instead.entry(wrong).or_default() += 1;
            }
            let instead: Vec<String> = instead.iter().map(|(reported, n)| format!("{reported} {n}")).collect();
            let right = runs.first().map_or(String::new(), |run| run.right.join(", "));
            let row = [at("client"), at("server"), instead.join(", ")];
            let _ = writeln!(table, "| {scenario} | {right} | {} |", row.join(" | "));
        }
        table
    }

    fn mistakes(&self) -> String {
        let mut text = "\n## What is wrong, and where it lies\n\n".to_owned();
        for run in &self.runs {
            for judged in &run.ends {
                let Some(wrong) = &judged.wrong else { continue };
                let is_top = !wrong.ends_with("beside it");
                let most = || judged.ruled_out.iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds));
                let reported = if is_top { judged.reported.as_ref() } else { most() };
                let sure = reported.map_or(String::new(), |s| format!(" ({:.2}, {:.3} s)", s.confidence, s.seconds));
                let capture = judged.capture.display();
                let _ = writeln!(
                    text,
                    "- {} at the {}: {wrong}{sure}, right is `{}`: {capture}",
                    run.label,
                    judged.end,
                    run.right.join("` or `")
                );
            }
            for problem in &run.problems {
                let _ = writeln!(text, "- {}: no result: {problem}", run.label);
            }
            if run.problems.is_empty() && !run.confirmed {
                let _ = writeln!(
                    text,
                    "- {}: not judged, the label does not hold: {}",
                    run.label,
                    run.unconfirmed.join("; ")
                );
            }
        }
        text
    }

    /// Promised and measured times of fixes.
    fn fixes(&self) -> String {
        let mut text = "\n## Fixes applied as printed\n\n| cause | promised | applied and measured | error, median | 90 % | worst | in the range |\n\
                        |---|---|---|---|---|---|---|\n"
            .to_owned();
        let mut causes: Vec<&str> = self.promises.iter().map(|promise| promise.cause).collect();
        causes.sort_unstable();
        causes.dedup();
        let row = |name: &str, of: &[&Promise]| {
            let mut errors: Vec<f64> = of.iter().filter_map(|promise| promise.error()).collect();
            errors.sort_by(f64::total_cmp);
            let at = |share: f64| {
                let last = errors.len().saturating_sub(1);
                let error = errors.get(((errors.len() as f64 * share) as usize).min(last));
                error.map_or("–".to_owned(), |error| format!("{:.1} %", 100.0 * error))
            };
            let inside: Vec<bool> = of.iter().filter_map(|promise| promise.is_in_range()).collect();
            let inside = format!("{} of {}", inside.iter().filter(|&&is_in| is_in).count(), inside.len());
            format!(
                "| {name} | {} | {} | {} | {} | {} | {inside} |\n",
                of.len(),
                errors.len(),
                at(0.5),
                at(0.9),
                at(1.0)
            )
        };
        for cause in causes {
            let of: Vec<&Promise> = self.promises.iter().filter(|promise| promise.cause == cause).collect();
            text += &row(&format!("`{cause}`"), &of);
        }
        text += &row("all", &self.promises.iter().collect::<Vec<_>>());
        text += "\n";
        for promise in &self.promises {
            let came = match promise.measured_s {
                Some(measured) => format!("measured {measured:.3} s"),
                None => format!("not measured: {}", promise.problems.join("; ")),
            };
            let Promise { label, end, cause, before_s, promised_s, command, what, .. } = promise;
            let done = command.as_ref().map_or_else(|| what.clone(), |command| format!("`{command}`"));
            let _ = writeln!(
                text,
                "- {label} at the {end}: `{cause}`, {before_s:.3} s, promised {promised_s:.3} s, {came}: {done}"
            );
        }
        text
    }
}
