//! What `--keep` leaves: the scenarios, to be edited and run with `whyslow lab run`, and a picture
//! of the curves.

use super::captured::Captured;
use super::curves::{self, Curve, Of};
use super::outcome::Outcome;
use anyhow::Context;
use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};
use whyslow_analysis::End;
use whyslow_cli::output::{Sources, Target};
use whyslow_lab::scenario::Scenario;

/// The folder of the runs.
const RUNS: &str = "runs";

/// A scenario as a file of the lab.
///
/// # Errors
/// When it cannot be written as TOML.
pub(super) fn toml(scenario: &Scenario, captured: &Captured, name: &str) -> anyhow::Result<String> {
    let text = toml::to_string(scenario).context("the scenario as TOML")?;
    let way = if captured.from() == End::Server { "down" } else { "up" };
    let title = format!("{} bytes {way}, as they were captured", captured.transfer().bytes);
    Ok(format!("name = {name:?}\ntitle = {title:?}\n{text}"))
}

/// The folder of `--keep`, and its files.
pub(super) struct KeptFiles {
    folder: PathBuf,
    scenario: Target,
    curves: Target,
}

impl KeptFiles {
    /// Creates the folder and opens its files, before anything runs.
    ///
    /// # Errors
    /// Returns an error if a file or a run would replace the capture, or cannot be written.
    pub(super) fn open(folder: &Path, sources: &Sources) -> anyhow::Result<Self> {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        sources.refuse_folder(&folder.join(RUNS))?;
        let open = |name: &str| Target::open(Some(&folder.join(name)), sources);
        Ok(Self { folder: folder.to_owned(), scenario: open("again.toml")?, curves: open("curves.svg")? })
    }

    /// The folder of the runs.
    pub(super) fn runs(&self) -> PathBuf {
        self.folder.join(RUNS)
    }

    /// Writes all of it.
    ///
    /// # Errors
    /// Returns an error if a file would replace the capture, or cannot be written.
    pub(super) fn write(mut self, outcome: &Outcome, sources: &Sources) -> anyhow::Result<()> {
        let from = outcome.captured.from();
        self.scenario.write_all(toml(&outcome.built().scenario, &outcome.captured, "again")?.as_bytes())?;
        self.curves.write_all(picture(outcome).as_bytes())?;
        let mut files = vec![self.scenario, self.curves];
        for (tried, number) in outcome.fixes.iter().zip(1..).filter(|(tried, _)| tried.trial.is_some()) {
            let mut scenario = outcome.built().scenario.clone();
            tried.remedy.apply(from, &mut scenario);
            let name = format!("fix-{number}");
            let mut file = Target::open(Some(&self.folder.join(format!("{name}.toml"))), sources)?;
            file.write_all(toml(&scenario, &outcome.captured, &name)?.as_bytes())?;
            files.push(file);
        }
        Target::finish_all(files)
    }
}

const SIZE: (f64, f64) = (960.0, 480.0);
const LEFT: f64 = 80.0;
const BOTTOM: f64 = 50.0;
const TOP: f64 = 40.0;
const COLOURS: [&str; 3] = ["#555555", "#1f6feb", "#1a7f37"];

/// Bytes that were acknowledged by what time: captured, again, fixed.
fn picture(outcome: &Outcome) -> String {
    let curves = curves::of(outcome);
    let bytes = curves.iter().filter_map(|curve| curve.points.last()).map(|(_, bytes)| *bytes).max().unwrap_or(0);
    draw(&curves, bytes)
}

fn name(curve: &Curve) -> String {
    match (curve.of, &curve.what) {
        (Of::Captured, _) => "captured".to_owned(),
        (Of::Again, _) => "again".to_owned(),
        (Of::Fixed, what) => format!("fixed: {}", what.as_deref().unwrap_or_default()),
    }
}

fn draw(curves: &[Curve], bytes: u64) -> String {
    let longest = curves.iter().filter_map(|curve| curve.points.last()).map(|(time, _)| *time).fold(1e-3, f64::max);
    let x = |time: f64| LEFT + time / longest * (SIZE.0 - LEFT - 20.0);
    let y = |done: u64| SIZE.1 - BOTTOM - done as f64 / bytes.max(1) as f64 * (SIZE.1 - BOTTOM - TOP);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"14\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        SIZE.0, SIZE.1
    );
    // Writing to a string cannot fail.
    for part in 0..=4_u32 {
        let time = longest * f64::from(part) / 4.0;
        let done = bytes * u64::from(part) / 4;
        let _ = writeln!(
            svg,
            "<line x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{:.1}\" y2=\"{:.1}\" stroke=\"#dddddd\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{:.2} s</text>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{} kB</text>",
            SIZE.0 - 20.0,
            y(done),
            y(done),
            x(time),
            SIZE.1 - BOTTOM + 22.0,
            time,
            LEFT - 8.0,
            y(done) + 5.0,
            done / 1000
        );
    }
    for (curve, (colour, nth)) in curves.iter().zip(COLOURS.iter().zip(0_u32..)) {
        // The acknowledged bytes stay until the next ACK.
        let before = [0].into_iter().chain(curve.points.iter().map(|(_, done)| *done));
        let step = |((time, done), before): (&(f64, u64), u64)| {
            format!("{0:.1},{1:.1} {0:.1},{2:.1} ", x(*time), y(before), y(*done))
        };
        let path: String = curve.points.iter().zip(before).map(step).collect();
        let dashes = if nth == 0 { " stroke-dasharray=\"6 4\"" } else { "" };
        let _ = writeln!(
            svg,
            "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dashes} points=\"{}\"/>\
             <text x=\"{:.1}\" y=\"24\" fill=\"{colour}\">{}</text>",
            path.trim_end(),
            LEFT + 170.0 * f64::from(nth),
            whyslow_report::text::harmless(&name(curve)).replace('&', "&amp;").replace('<', "&lt;")
        );
    }
    svg + "</svg>\n"
}
