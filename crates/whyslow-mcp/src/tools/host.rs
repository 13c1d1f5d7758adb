//! `host`: what of this machine makes transfers slow, as `whyslow host` finds it.

use crate::child;
use crate::clip;
use crate::failure::Failure;
use crate::reply::Reply;
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::Path;
use whyslow_report::text::units;

/// Findings and pieces of evidence that are listed.
const FINDINGS: usize = 10;
const EVIDENCE: usize = 6;

/// What to look at.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// Connections with this peer alone, as `192.0.2.1` or `192.0.2.0/24`.
    peer: Option<String>,
    /// Look for this many seconds, and count what happens meanwhile (at most 60).
    #[schemars(range(min = 1, max = 60))]
    seconds: Option<u64>,
}

/// What was found on this machine.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Machine {
    kernel: String,
    findings: Vec<MachineFinding>,
    findings_total: usize,
    /// What could not be read, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing: Vec<String>,
}

/// Something that costs.
#[derive(Debug, Serialize, JsonSchema)]
struct MachineFinding {
    cause: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    peer: Option<String>,
    cost: String,
    /// 0 to 1.
    confidence: f64,
    summary: String,
    evidence: Vec<String>,
    fix: String,
}

/// The document of `whyslow host --json`, as far as it is used.
#[derive(Deserialize)]
struct Document {
    findings: Vec<Found>,
    words: Words,
    host: Host,
}

#[derive(Deserialize)]
struct Host {
    kernel: String,
    #[serde(default)]
    missing: Vec<Missing>,
}

#[derive(Deserialize)]
struct Missing {
    what: String,
    why: String,
}

#[derive(Deserialize)]
struct Found {
    cause: String,
    peer: Option<String>,
    confidence: f64,
    evidence: Vec<Figure>,
    remedies: Vec<Commanded>,
}

/// The command of a remedy.
#[derive(Deserialize)]
struct Commanded {
    command: Option<String>,
}

/// The sentences, in the order of the findings.
#[derive(Deserialize)]
struct Words {
    en: Vec<Sentences>,
}

#[derive(Deserialize)]
struct Sentences {
    summary: String,
    cost: Option<String>,
    fixes: Vec<String>,
    verify: Option<String>,
}

#[derive(Deserialize)]
struct Figure {
    name: String,
    value: f64,
    unit: String,
    text: Option<String>,
}

/// Looks at this machine.
///
/// # Errors
/// When it cannot be read, or the request was cancelled.
pub(super) async fn call(args: Args, program: &Path, context: &RequestContext<RoleServer>) -> Result<Reply, Failure> {
    let peer = args.peer.map(|peer| format!("--peer={peer}"));
    let over = args.seconds.map(|seconds| format!("--for={}s", seconds.clamp(1, 60)));
    let options = peer.iter().chain(&over).map(String::as_str);
    let arguments: Vec<_> = ["host", "--json", "--words"].into_iter().chain(options).collect();
    let Document { findings, words, host } = child::run(program, &arguments, context).await?;
    let machine = Machine {
        kernel: host.kernel,
        findings_total: findings.len(),
        findings: findings.into_iter().zip(words.en).take(FINDINGS).map(finding).collect(),
        missing: host.missing.iter().map(|one| clip::sentence(&format!("{}: {}", one.what, one.why))).collect(),
    };
    Reply::new(text(&machine), &machine)
}

fn finding((found, words): (Found, Sentences)) -> MachineFinding {
    let commands = found.remedies.into_iter().filter_map(|remedy| remedy.command);
    let fix: Vec<String> = words.fixes.into_iter().chain(commands).chain(words.verify).collect();
    MachineFinding {
        cause: found.cause,
        peer: found.peer,
        cost: words.cost.unwrap_or_default(),
        confidence: found.confidence,
        summary: clip::sentence(&words.summary),
        evidence: found.evidence.iter().take(EVIDENCE).map(figure).collect(),
        fix: clip::sentence(&fix.join("; ")),
    }
}

fn figure(one: &Figure) -> String {
    let value = one.text.clone().unwrap_or_else(|| units::figure(one.value, &one.unit));
    clip::sentence(&format!("{}: {value}", one.name))
}

fn text(machine: &Machine) -> String {
    let mut out = format!("Linux {}: {}\n", machine.kernel, units::count(machine.findings_total as u64, "finding"));
    for one in &machine.findings {
        out += &format!("\n[{}] {}: {}", one.cause, one.cost, one.summary);
        for evidence in &one.evidence {
            out += &format!("\n- {evidence}");
        }
        out += &format!("\nfix: {}\n", one.fix);
    }
    for missing in &machine.missing {
        out += &format!("not seen: {missing}\n");
    }
    out
}
