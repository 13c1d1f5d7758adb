//! `compare`: two transfers side by side.

use crate::captures::{Captures, Explained};
use crate::clip;
use crate::failure::Failure;
use crate::findings::near;
use crate::reply::Reply;
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use whyslow_diagnosis::compare::{self, ChosenTransfer, Comparison, TransferName, TransferSummary};
use whyslow_report::text::units;
use whyslow_report::words::{self, Lang};

/// Phases and statements that are listed.
const PHASES: usize = 10;
const STATEMENTS: usize = 8;

/// Which two transfers.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// `FILE` (its largest transfer), `FILE#3` (of connection 3), or `FILE#3.2` (its transfer 2).
    a: String,
    /// The second transfer.
    b: String,
}

/// What differs, in seconds a phase.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Differences {
    a: Side,
    b: Side,
    /// What follows.
    statements: Vec<String>,
    /// Where the time of each went.
    phases: Vec<PhaseFacts>,
    /// What limits the comparison.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    caveats: Vec<String>,
}

/// One of the two.
#[derive(Debug, Serialize, JsonSchema)]
struct Side {
    transfer: String,
    ends: String,
    captured: &'static str,
    bytes: u64,
    duration_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    rtt_s: Option<f64>,
    verdict: String,
    /// Id of its costliest finding.
    #[serde(skip_serializing_if = "Option::is_none")]
    finding: Option<String>,
}

/// Time under one limit.
#[derive(Debug, Serialize, JsonSchema)]
struct PhaseFacts {
    limit: &'static str,
    a_s: f64,
    b_s: f64,
    /// b - a.
    difference_s: f64,
}

/// Compares.
///
/// # Errors
/// When a transfer does not exist, both are one, or a capture cannot be read.
pub(super) async fn call(
    args: Args,
    captures: &Captures,
    lang: Lang,
    context: &RequestContext<RoleServer>,
) -> Result<Reply, Failure> {
    let (first, one) = open(&args.a, captures, context).await?;
    let (second, two) = open(&args.b, captures, context).await?;
    let a = choose(&first, one)?;
    let b = choose(&second, two)?;
    if first.names == second.names && (a.connection.id, a.number) == (b.connection.id, b.number) {
        let what = format!("a and b are one transfer, {}#{}.{}", first.names.join(", "), a.connection.id, a.number);
        return Err(Failure::new(what, "name two, as FILE#1 and FILE#2"));
    }
    let comparison = compare::compare(&a, &b);
    let differences = differences(&comparison, lang);
    Reply::new(text(&differences), &differences)
}

/// A name with `#3.2` behind it is that transfer, unless a file has this name.
async fn open(
    name: &str,
    captures: &Captures,
    context: &RequestContext<RoleServer>,
) -> Result<(Arc<Explained>, TransferName), Failure> {
    let named = name.rsplit_once('#').filter(|_| captures.folders().find(name).is_err());
    let (file, which) = match named.and_then(|(file, which)| Some((file, TransferName::read(which)?))) {
        Some(found) => found,
        None => (name, TransferName::default()),
    };
    Ok((captures.open(&[file.to_owned()], context).await?, which))
}

fn choose(opened: &Explained, which: TransferName) -> Result<ChosenTransfer<'_>, Failure> {
    compare::choose(opened.analysis(), which).map_err(|error| {
        Failure::new(
            format!("{}: {error}", opened.names.join(", ")),
            "`explain` lists connections and transfers in the ids of its findings",
        )
    })
}

fn differences(comparison: &Comparison, lang: Lang) -> Differences {
    let [a, b] = &comparison.transfers;
    let phases = comparison.phases.iter().take(PHASES).map(|phase| {
        let [a, b] = phase.times.seconds;
        let difference_s = phase.times.difference_s.as_secs_f64();
        PhaseFacts { limit: phase.limit.slug(), a_s: a.as_secs_f64(), b_s: b.as_secs_f64(), difference_s }
    });
    let statements = comparison.statements.iter().take(STATEMENTS);
    let caveats = comparison.caveats.iter().take(STATEMENTS);
    Differences {
        a: side(a, lang),
        b: side(b, lang),
        statements: statements.map(|one| clip::sentence(&words::comparison_statement(one, lang))).collect(),
        phases: phases.collect(),
        caveats: caveats.map(|one| clip::sentence(&words::comparison_caveat(one, lang))).collect(),
    }
}

fn side(summary: &TransferSummary, lang: Lang) -> Side {
    let [client, server] = &summary.ends;
    let id = format!("{}.{}", summary.connection, summary.transfer);
    Side {
        transfer: format!("{}#{id}", clip::name(&summary.path)),
        ends: format!("{} → {}", clip::name(client), clip::name(server)),
        captured: near(summary.near),
        bytes: summary.bytes,
        duration_s: summary.duration_s.as_secs_f64(),
        rtt_s: summary.rtt_s.map(|rtt| rtt.as_secs_f64()),
        verdict: clip::sentence(&words::verdict_of(&summary.verdict, summary.finding.as_slice(), lang)),
        finding: summary.finding.as_ref().map(|finding| format!("{id}/{}", finding.cause)),
    }
}

fn text(differences: &Differences) -> String {
    let mut out = String::new();
    for (name, side) in [("A", &differences.a), ("B", &differences.b)] {
        let (bytes, took) = (units::bytes(side.bytes), units::figure(side.duration_s, "s"));
        out += &format!("{name}: {} ({}, captured {}): {bytes} in {took}", side.transfer, side.ends, side.captured);
        if let Some(rtt) = side.rtt_s {
            out += &format!(", RTT {}", units::figure(rtt, "s"));
        }
        out += &format!("; {}", side.verdict);
        if let Some(finding) = &side.finding {
            out += &format!(" [{finding}]");
        }
        out.push('\n');
    }
    for statement in &differences.statements {
        out += &format!("\n- {statement}");
    }
    out += "\n\nseconds: A, B, B - A";
    for phase in &differences.phases {
        out += &format!("\n{}: {:.3}, {:.3}, {:+.3}", phase.limit, phase.a_s, phase.b_s, phase.difference_s);
    }
    for caveat in &differences.caveats {
        out += &format!("\nnote: {caveat}");
    }
    out.push('\n');
    out
}
