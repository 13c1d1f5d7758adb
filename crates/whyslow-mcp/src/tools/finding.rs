//! `finding`: one finding with its evidence, its remedies and its open questions.

use super::args::one_or_more;
use super::remedies::{self, RemedyFacts};
use crate::captures::Captures;
use crate::clip;
use crate::failure::Failure;
use crate::findings::{self, Listed};
use crate::reply::Reply;
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use whyslow_analysis::{Analysis, Frame, Measurement};
use whyslow_report::headline::{self, confidence};
use whyslow_report::words::{self, Lang};

/// Frames of one measurement that are listed.
const FRAMES: usize = 12;
/// Ids that a message names.
const NAMED: usize = 8;

/// Which finding.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The files as they were given to `explain`.
    #[serde(deserialize_with = "one_or_more", alias = "file")]
    files: Vec<String>,
    /// The finding's id, as `1.2/slow-start`.
    #[serde(alias = "finding")]
    id: String,
}

/// A finding.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Details {
    id: String,
    cause: &'static str,
    /// Time that it cost.
    cost_s: f64,
    /// Time of the transfer, of which the cost is a part.
    #[serde(skip_serializing_if = "Option::is_none")]
    of_s: Option<f64>,
    /// 0 to 1; `certain` from 0.9.
    confidence: f64,
    sure: &'static str,
    /// What supports it: `shown` by single packets, `reproduced` by the model of the transfer,
    /// `inferred`, or `contradicted` by that model.
    grade: &'static str,
    summary: String,
    about: String,
    /// The connection, for the tool `packets`.
    #[serde(skip_serializing_if = "Option::is_none")]
    connection: Option<u64>,
    /// Where the capture was taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    captured: Option<&'static str>,
    evidence: Vec<Evidence>,
    remedies: Vec<RemedyFacts>,
    /// What shows that the fix worked.
    #[serde(skip_serializing_if = "Option::is_none")]
    verify: Option<String>,
    /// What this capture leaves open, and what would answer it.
    #[serde(skip_serializing_if = "Option::is_none")]
    to_confirm: Option<String>,
}

/// A measurement that supports the finding.
#[derive(Debug, Serialize, JsonSchema)]
struct Evidence {
    /// What was measured.
    what: String,
    /// With its unit.
    value: String,
    /// Frames that show it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    frames: Vec<String>,
    /// The two frames are the first and the last of a range.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    range: bool,
}

/// Gives one finding.
///
/// # Errors
/// When there is none of this id, or the captures cannot be read.
pub(super) async fn call(
    args: Args,
    captures: &Captures,
    lang: Lang,
    context: &RequestContext<RoleServer>,
) -> Result<Reply, Failure> {
    let opened = captures.open(&args.files, context).await?;
    let one = find(opened.analysis(), &args.id)?;
    let details = details(&one, lang);
    Reply::new(text(&details, &one, lang), &details)
}

/// The finding of this id.
///
/// # Errors
/// When there is none; with the ids that there are.
pub(super) fn find<'a>(analysis: &'a Analysis, id: &str) -> Result<Listed<'a>, Failure> {
    findings::find(analysis, id).ok_or_else(|| {
        let ids: Vec<_> = findings::all(analysis).into_iter().map(|one| one.id).take(NAMED).collect();
        let hint = match ids.as_slice() {
            [] => "these captures have no findings: `explain` gives the verdict".to_owned(),
            ids => format!("take an id that `explain` lists for the same files: {}", ids.join(", ")),
        };
        Failure::new(format!("there is no finding `{}`", clip::name(id)), hint)
    })
}

fn details(one: &Listed<'_>, lang: Lang) -> Details {
    let finding = one.finding;
    Details {
        id: one.id.clone(),
        cause: finding.cause.slug(),
        cost_s: finding.cost_s.as_secs_f64(),
        of_s: one.of().map(|of| of.as_secs_f64()),
        confidence: finding.confidence,
        sure: confidence(finding.confidence, lang),
        grade: finding.grade.slug(),
        summary: clip::sentence(&words::summary(finding, lang)),
        about: one.about(),
        connection: one.connection.map(|connection| connection.id),
        captured: one.connection.map(|connection| findings::near(connection.near)),
        evidence: finding.evidence.iter().map(|one| evidence(one, lang)).collect(),
        remedies: remedies::of(one, lang),
        verify: finding.remedy().and_then(|_| words::verify(finding, lang)).as_deref().map(clip::sentence),
        to_confirm: words::to_confirm(finding, lang).as_deref().map(clip::sentence),
    }
}

fn evidence(one: &Measurement, lang: Lang) -> Evidence {
    let mut frames: Vec<_> = one.frames.iter().map(Frame::to_string).collect();
    frames.dedup();
    frames.truncate(FRAMES);
    Evidence {
        what: clip::sentence(&words::measure(one, lang)),
        value: words::value(one, lang),
        range: one.frames.len() == 2 && frames.len() == 2,
        frames,
    }
}

fn text(details: &Details, one: &Listed<'_>, lang: Lang) -> String {
    let cost = headline::cost(one.finding.cost_s, one.of(), lang);
    let Details { id, sure, grade, summary, about, .. } = details;
    let mut out = format!("[{id}] {cost}, {sure} ({grade}): {summary}\n{about}");
    if let Some(captured) = details.captured {
        out += &format!(", captured {captured}");
    }
    out += "\n\nEvidence:";
    for one in &details.evidence {
        out += &format!("\n- {}: {}", one.what, one.value);
        match one.frames.as_slice() {
            [] => {}
            [only] => out += &format!(" (frame {only})"),
            [first, last] if one.range => out += &format!(" (frames {first} to {last})"),
            several => out += &format!(" (frames {})", several.join(", ")),
        }
    }
    if !details.remedies.is_empty() {
        out += "\n\nRemedies:";
    }
    for remedy in &details.remedies {
        out += &format!("\n{}", remedy.text());
    }
    if let Some(verify) = &details.verify {
        out += &format!("\n\nTo verify: {verify}");
    }
    if let Some(open) = &details.to_confirm {
        out += &format!("\n\nStill open: {open}");
    }
    out.push('\n');
    out
}
