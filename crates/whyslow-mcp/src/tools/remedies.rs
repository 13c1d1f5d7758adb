//! Remedies as tools give them, for `finding` and `predict`.

use crate::clip;
use crate::findings::Listed;
use schemars::JsonSchema;
use serde::Serialize;
use whyslow_analysis::{End, Form, Remedy};
use whyslow_report::text::units;
use whyslow_report::words::{self, Lang};
use whyslow_units::Nanos;

/// A fix, its actor, and the predicted time.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RemedyFacts {
    /// Its place, from 1; the recommended one is first.
    pub(super) number: usize,
    /// The actor, and the change.
    pub(super) what: String,
    /// Command for the host's platform.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) platform: Option<&'static str>,
    /// Line of the configuration of the program at that end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) configuration: Option<String>,
    /// Time with this remedy alone, by the model; left out if there is no estimate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) predicted_s: Option<f64>,
    /// Nine of ten such times lie between these, seconds; left out if no model gave the time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) predicted_range_s: Option<[f64; 2]>,
    /// The link must carry more than this for it, bit/s, and was not seen to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) needs_bps: Option<f64>,
}

/// The remedies of a finding.
pub(super) fn of(one: &Listed<'_>, lang: Lang) -> Vec<RemedyFacts> {
    let sender = one.transfer.map(|(_, transfer)| transfer.from);
    let remedies = one.finding.remedies.iter().enumerate();
    remedies.map(|(index, remedy)| facts(index + 1, remedy, sender, lang)).collect()
}

fn facts(number: usize, remedy: &Remedy, sender: Option<End>, lang: Lang) -> RemedyFacts {
    let place = words::place(remedy.actor, sender, lang);
    let printed = remedy.printed().and_then(|(platform, form)| Some((platform.name(), Form::command(form)?)));
    let (platform, command) = printed.unzip();
    let range = remedy.promise.and_then(|promise| promise.range_s);
    RemedyFacts {
        number,
        what: clip::sentence(&format!("{place}: {}", words::action(&remedy.action, lang))),
        platform,
        command,
        configuration: remedy.product_line().map(|(product, line)| format!("{}: {line}", product.name())),
        predicted_s: remedy.promise.map(|promise| promise.time_s.as_secs_f64()),
        predicted_range_s: range.map(|range| range.map(Nanos::as_secs_f64)),
        needs_bps: remedy.promise.and_then(|promise| promise.assumed).map(|assumed| assumed.needed_bps),
    }
}

impl RemedyFacts {
    /// In a few lines.
    pub(super) fn text(&self) -> String {
        let mut out = format!("{}. {}", self.number, self.what);
        if let (Some(command), Some(platform)) = (&self.command, self.platform) {
            out += &format!("\n   {platform}: {command}");
        }
        if let Some(configuration) = &self.configuration {
            out += &format!("\n   {configuration}");
        }
        if let Some(predicted) = self.predicted_s {
            out += &format!("\n   predicted: {}", units::figure(predicted, "s"));
        }
        if let Some(needs) = self.needs_bps {
            out += &format!(", if the link carries more than {}", units::rate(needs));
        }
        out
    }
}
