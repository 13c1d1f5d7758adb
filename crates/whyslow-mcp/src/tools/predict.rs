//! `predict`: how long a transfer takes with one of its remedies, by the model that must first
//! reproduce the transfer.

use super::args::one_or_more;
use super::finding::find;
use super::remedies::{self, RemedyFacts};
use crate::captures::Captures;
use crate::failure::Failure;
use crate::findings::Listed;
use crate::reply::Reply;
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use whyslow_report::text::units;
use whyslow_report::words::Lang;

/// Which finding, and which of its remedies.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The files as they were given to `explain`.
    #[serde(deserialize_with = "one_or_more", alias = "file")]
    files: Vec<String>,
    /// The finding's id, as `1.2/slow-start`.
    #[serde(alias = "finding")]
    id: String,
    /// The remedy's number (default: all of the finding).
    #[schemars(range(min = 1))]
    remedy: Option<usize>,
}

/// A transfer as it was, and with each remedy.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Prediction {
    id: String,
    about: String,
    /// As captured; of the transfer, or of the connections that the finding is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    measured_s: Option<f64>,
    /// What the model takes for the transfer as it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    model_s: Option<f64>,
    /// With each remedy alone. They do not add up.
    remedies: Vec<RemedyFacts>,
    /// Why there is no estimate for some of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    no_estimate: Option<String>,
}

/// Predicts.
///
/// # Errors
/// When there is no such finding or remedy, or the captures cannot be read.
pub(super) async fn call(
    args: Args,
    captures: &Captures,
    lang: Lang,
    context: &RequestContext<RoleServer>,
) -> Result<Reply, Failure> {
    let opened = captures.open(&args.files, context).await?;
    let one = find(opened.analysis(), &args.id)?;
    let mut remedies = remedies::of(&one, lang);
    if let Some(wanted) = args.remedy {
        let known = remedies.len();
        remedies.retain(|remedy| remedy.number == wanted);
        if remedies.is_empty() {
            let hint = match known {
                0 => "this finding has no remedies".to_owned(),
                known => format!("remedies of this finding are numbered 1 to {known}; `finding` lists them"),
            };
            return Err(Failure::new(format!("there is no remedy {wanted} of {}", one.id), hint));
        }
    }
    let prediction = prediction(&one, remedies);
    Reply::new(text(&prediction), &prediction)
}

fn prediction(one: &Listed<'_>, remedies: Vec<RemedyFacts>) -> Prediction {
    let transfer = one.transfer.map(|(_, transfer)| transfer);
    let connection = one.connection.map(|connection| connection.duration_s);
    Prediction {
        id: one.id.clone(),
        about: one.about(),
        measured_s: transfer.map(|transfer| transfer.duration_s).or(connection).map(|time| time.as_secs_f64()),
        model_s: transfer.and_then(|transfer| transfer.model_s).map(|time| time.as_secs_f64()),
        no_estimate: no_estimate(one, &remedies),
        remedies,
    }
}

/// Why some remedies have no estimate; `None` if all have one.
fn no_estimate(one: &Listed<'_>, remedies: &[RemedyFacts]) -> Option<String> {
    if remedies.is_empty() {
        return Some("this finding has no remedies".to_owned());
    }
    if remedies.iter().all(|remedy| remedy.predicted_s.is_some()) {
        return None;
    }
    let Some((_, transfer)) = one.transfer else {
        return Some("the finding is not about one transfer, which is what the model plays".to_owned());
    };
    Some(match (transfer.model_s, transfer.model_fits()) {
        _ if transfer.model_skipped => "the simulation reached its work limit".to_owned(),
        (Some(model), Some(false)) => format!(
            "the model does not reproduce the transfer: {} instead of {}, and no promise is made from it",
            units::span(model),
            units::span(transfer.duration_s)
        ),
        (None, _) => "the model was not run for this transfer".to_owned(),
        _ => "the model has no such change".to_owned(),
    })
}

fn text(prediction: &Prediction) -> String {
    let mut out = format!("[{}] {}", prediction.id, prediction.about);
    if let Some(measured) = prediction.measured_s {
        out += &format!("\nmeasured: {}", units::figure(measured, "s"));
    }
    if let Some(model) = prediction.model_s {
        out += &format!("\nthe model without a remedy: {}", units::figure(model, "s"));
    }
    out += "\n\nWith one remedy alone:";
    for remedy in &prediction.remedies {
        out += &format!("\n{}", remedy.text());
        if remedy.predicted_s.is_none() {
            out += "\n   predicted: no estimate";
        }
    }
    if let Some(why) = &prediction.no_estimate {
        out += &format!("\n\nNo estimate: {why}");
    }
    out.push('\n');
    out
}
