//! What `--keep` leaves: the scenarios, to be edited and run with `whyslow lab run`, and a picture
//! of the curves.

use super::captured::Captured;
use super::outcome::{Outcome, Tried};
use anyhow::Context;
use std::fmt::Write;
use std::path::Path;
use whyslow_core::analysis::End;
use whyslow_lab::scenario::Scenario;

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

/// Writes all of it.
///
/// # Errors
/// When the folder or a file cannot be written.
pub(super) fn write(outcome: &Outcome, folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let put = |name: &str, text: &str| {
        let file = folder.join(name);
        std::fs::write(&file, text).with_context(|| file.display().to_string())
    };
    let from = outcome.captured.from();
    put("again.toml", &toml(&outcome.built().scenario, &outcome.captured, "again")?)?;
    for (tried, number) in outcome.fixes.iter().zip(1..).filter(|(tried, _)| tried.trial.is_some()) {
        let mut scenario = outcome.built().scenario.clone();
        tried.remedy.apply(from, &mut scenario);
        let name = format!("fix-{number}");
        put(&format!("{name}.toml"), &toml(&scenario, &outcome.captured, &name)?)?;
    }
    put("curves.svg", &picture(outcome))
}

const SIZE: (f64, f64) = (960.0, 480.0);
const LEFT: f64 = 80.0;
const BOTTOM: f64 = 50.0;
const TOP: f64 = 40.0;
const COLOURS: [&str; 3] = ["#555555", "#1f6feb", "#1a7f37"];

/// Bytes that were acknowledged by what time: captured, again, fixed.
fn picture(outcome: &Outcome) -> String {
    let built = outcome.built();
    let captured = curve(&outcome.captured, outcome.captured.place, built.bytes);
    let again = curve(&outcome.fitted.trial.seen, built.place, built.bytes);
    let helps = |tried: &&Tried| tried.verdict == super::outcome::Verdict::Helps;
    let fixed = outcome.together.as_ref().filter(helps).or_else(|| outcome.fixes.iter().find(helps));
    let mut lines = vec![("captured".to_owned(), captured), ("again".to_owned(), again)];
    if let Some((tried, trial)) = fixed.and_then(|tried| Some((tried, tried.trial.as_ref()?))) {
        lines.push((format!("fixed: {}", tried.remedy.what), curve(&trial.seen, built.place, built.bytes)));
    }
    draw(&lines, built.bytes)
}

/// Times from the first byte on, and the bytes that had been acknowledged by then.
fn curve(of: &Captured, place: u64, bytes: u64) -> Vec<(f64, u64)> {
    let from = of.from();
    let Some(start) = of.packets.sent_at(from, place) else { return Vec::new() };
    let ahead = of.distance(from);
    let mut points = vec![(0.0, 0)];
    let mut most = 0;
    for packet in of.packets.all.iter().filter(|packet| packet.from != from && packet.at >= start) {
        let Some(ack) = packet.ack else { continue };
        let done = ack.saturating_sub(place).min(bytes);
        if done > most {
            most = done;
            points.push((packet.at - start + ahead, done));
        }
        if most == bytes {
            break;
        }
    }
    // What no eye can see apart is one.
    let step = (points.len() / 2_000).max(1);
    let last = points.last().copied();
    points.into_iter().step_by(step).chain(last).collect()
}

fn draw(lines: &[(String, Vec<(f64, u64)>)], bytes: u64) -> String {
    let longest = lines.iter().filter_map(|(_, points)| points.last()).map(|(time, _)| *time).fold(1e-3, f64::max);
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
    for ((name, points), (colour, nth)) in lines.iter().zip(COLOURS.iter().zip(0_u32..)) {
        let path: String = points.iter().map(|(time, done)| format!("{:.1},{:.1} ", x(*time), y(*done))).collect();
        let dashes = if nth == 0 { " stroke-dasharray=\"6 4\"" } else { "" };
        let _ = writeln!(
            svg,
            "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dashes} points=\"{}\"/>\
             <text x=\"{:.1}\" y=\"24\" fill=\"{colour}\">{}</text>",
            path.trim_end(),
            LEFT + 170.0 * f64::from(nth),
            whyslow_report::text::harmless(name).replace('&', "&amp;").replace('<', "&lt;")
        );
    }
    svg + "</svg>\n"
}
