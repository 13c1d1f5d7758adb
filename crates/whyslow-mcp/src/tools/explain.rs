//! `explain`: the verdict on captures, and their findings in the order of their cost.

use super::args::{offset, one_or_more};
use crate::captures::{Captures, Explained, MOST_FILES};
use crate::clip;
use crate::failure::Failure;
use crate::findings::{self, Listed};
use crate::reply::Reply;
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use whyslow_analysis::{Analysis, Cause, Connection};
use whyslow_diagnosis::ranking::{Conclusion, Status};
use whyslow_report::headline::{self, confidence};
use whyslow_report::ranking;
use whyslow_report::text::units;
use whyslow_report::words::{self, Lang};

/// Findings of one answer, unless more are asked for, and at most.
const FINDINGS: usize = 8;
const MOST_FINDINGS: usize = 50;
/// Causes, captures, problems of one capture, and statements about two captures that are listed.
const CAUSES: usize = 10;
const CAPTURES: usize = MOST_FILES;
const PROBLEMS: usize = 3;
const PAIRS: usize = 4;
/// Frames that are listed with a finding; `finding` has all.
const FRAMES: usize = 6;

/// What to explain.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// Capture files; several are read together: parts of one capture, or both ends of a path.
    #[serde(deserialize_with = "one_or_more", alias = "file")]
    files: Vec<String>,
    /// Findings of this connection alone.
    connection: Option<u64>,
    /// Findings with this cause alone, as `slow-start`.
    cause: Option<String>,
    /// Findings to list, at most 50 (default 8).
    #[schemars(range(min = 1, max = 50))]
    limit: Option<usize>,
    /// `next_cursor` of the answer before.
    cursor: Option<String>,
}

/// The verdict, and findings in the order of their cost.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Explanation {
    /// `slow`, `healthy`, or `unknown` where the captures do not show it.
    status: &'static str,
    /// The verdict in a sentence.
    headline: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
    /// In the order of the file numbers in frames.
    captures: Vec<CaptureFacts>,
    connections: usize,
    /// Cost of each cause over all connections.
    causes: Vec<CauseFacts>,
    findings: Vec<FindingFacts>,
    findings_total: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// What the captures of both ends show of the path.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    between_captures: Vec<String>,
}

/// A capture.
#[derive(Debug, Serialize, JsonSchema)]
struct CaptureFacts {
    file: String,
    packets: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<String>,
}

/// A cause over all connections.
#[derive(Debug, Serialize, JsonSchema)]
struct CauseFacts {
    cause: &'static str,
    cost_s: f64,
    connections: usize,
}

/// A finding, in short.
#[derive(Debug, Serialize, JsonSchema)]
struct FindingFacts {
    /// For the tools `finding` and `predict`.
    id: String,
    cause: &'static str,
    cost_s: f64,
    /// 0 to 1.
    confidence: f64,
    /// What happened.
    summary: String,
    about: String,
    /// Some of the frames that show it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    frames: Vec<String>,
}

/// Explains captures.
///
/// # Errors
/// When they cannot be read, or there is no such connection or cause.
pub(super) async fn call(
    args: Args,
    captures: &Captures,
    lang: Lang,
    context: &RequestContext<RoleServer>,
) -> Result<Reply, Failure> {
    let cause = args.cause.as_deref().map(cause).transpose()?;
    let offset = offset(args.cursor.as_deref())?;
    let opened = captures.open(&args.files, context).await?;
    let analysis = opened.analysis();
    if let Some(id) = args.connection {
        connection(analysis, id)?;
    }
    let is_wanted = |one: &Listed<'_>| {
        cause.is_none_or(|cause| one.finding.cause == cause)
            && args.connection.is_none_or(|id| {
                one.connection.map_or(one.finding.connections.contains(&id), |connection| connection.id == id)
            })
    };
    let listed: Vec<_> = findings::all(analysis).into_iter().filter(is_wanted).collect();
    let limit = args.limit.unwrap_or(FINDINGS).clamp(1, MOST_FINDINGS);
    let page = Page { listed: &listed, offset, limit };
    let explanation = explanation(&opened, &page, lang);
    Reply::new(text(&explanation, &page, lang), &explanation)
}

/// A part of a list.
struct Page<'a> {
    listed: &'a [Listed<'a>],
    offset: usize,
    limit: usize,
}

impl<'a> Page<'a> {
    fn shown(&self) -> &'a [Listed<'a>] {
        let rest = self.listed.get(self.offset..).unwrap_or_default();
        rest.get(..self.limit).unwrap_or(rest)
    }

    fn next(&self) -> Option<usize> {
        let end = self.offset.saturating_add(self.limit);
        (end < self.listed.len()).then_some(end)
    }
}

/// The connection of this number.
///
/// # Errors
/// When there is none.
pub(super) fn connection(analysis: &Analysis, id: u64) -> Result<&Connection, Failure> {
    analysis.connections.iter().find(|connection| connection.id == id).ok_or_else(|| {
        Failure::new(
            format!("there is no connection {id}"),
            format!("the captures hold {} listed connections, numbered from 1", analysis.connections.len()),
        )
    })
}

fn cause(slug: &str) -> Result<Cause, Failure> {
    Cause::from_slug(slug).ok_or_else(|| {
        Failure::new(format!("there is no cause `{}`", clip::name(slug)), "the tool `causes` lists all causes")
    })
}

fn explanation(opened: &Explained, page: &Page<'_>, lang: Lang) -> Explanation {
    let analysis = opened.analysis();
    let once = ranking::without_duplicates(analysis);
    let once = once.as_ref();
    let verdict = headline::of(once, lang);
    let costs = ranking::by_cause(once);
    let causes = costs.iter().take(CAUSES).map(|cost| CauseFacts {
        cause: cost.cause.slug(),
        cost_s: cost.seconds.as_secs_f64(),
        connections: cost.connections.len(),
    });
    let captures = analysis.captures.iter().take(CAPTURES).map(|capture| CaptureFacts {
        file: clip::name(&capture.path),
        packets: capture.packets,
        problems: capture
            .problems
            .iter()
            .take(PROBLEMS)
            .map(|one| clip::sentence(&words::problem(one, lang)))
            .collect(),
    });
    let statements = analysis.pairs.iter().flat_map(|pair| &pair.statements).take(PAIRS);
    Explanation {
        status: match Conclusion::of(once).status {
            Status::Slow => "slow",
            Status::Healthy => "healthy",
            Status::Unknown => "unknown",
        },
        headline: clip::sentence(&verdict.sentence),
        advice: verdict.advice.as_deref().map(clip::sentence),
        captures: captures.collect(),
        connections: analysis.connections.len(),
        causes: causes.collect(),
        findings: page.shown().iter().map(|one| facts(one, lang)).collect(),
        findings_total: page.listed.len(),
        next_cursor: page.next().map(|next| next.to_string()),
        between_captures: statements.map(|one| clip::sentence(&words::pair_statement(one, lang))).collect(),
    }
}

fn facts(one: &Listed<'_>, lang: Lang) -> FindingFacts {
    let mut frames = one.frames();
    frames.truncate(FRAMES);
    FindingFacts {
        id: one.id.clone(),
        cause: one.finding.cause.slug(),
        cost_s: one.finding.cost_s.as_secs_f64(),
        confidence: one.finding.confidence,
        summary: clip::sentence(&words::summary(one.finding, lang)),
        about: one.about(),
        frames,
    }
}

fn text(explanation: &Explanation, page: &Page<'_>, lang: Lang) -> String {
    let mut out = format!("{}\n", explanation.headline);
    if let Some(advice) = &explanation.advice {
        out += &format!("{advice}\n");
    }
    let several = explanation.captures.len() > 1;
    for (index, capture) in explanation.captures.iter().enumerate() {
        // As frames name it.
        let number = if several { format!("file {}: ", index + 1) } else { String::new() };
        out += &format!("\n{number}{}: {}", capture.file, units::count(capture.packets, "packet"));
        for problem in &capture.problems {
            out += &format!("\n  note: {problem}");
        }
    }
    out += &format!("\n{}, {}\n", units::count(explanation.connections as u64, "connection"), {
        units::count(explanation.findings_total as u64, "finding")
    });
    if explanation.connections > 1 {
        for cause in &explanation.causes {
            let connections = units::count(cause.connections as u64, "connection");
            out += &format!("  {} {} in {connections}\n", cause.cause, units::figure(cause.cost_s, "s"));
        }
    }
    for (one, facts) in page.shown().iter().zip(&explanation.findings) {
        let sure = confidence(facts.confidence, lang);
        let cost = headline::cost(one.finding.cost_s, one.of(), lang);
        out += &format!("\n[{}] {cost}, {sure}: {}\n  {}", facts.id, facts.summary, facts.about);
        if !facts.frames.is_empty() {
            out += &format!("\n  frames {}", facts.frames.join(", "));
        }
    }
    if let Some(next) = &explanation.next_cursor {
        out += &format!("\n… more findings: cursor \"{next}\"");
    }
    for statement in &explanation.between_captures {
        out += &format!("\nbetween the captures: {statement}");
    }
    out.push('\n');
    out
}
