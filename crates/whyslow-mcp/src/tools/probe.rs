//! `probe`: a request of its own, and where its time went, as `whyslow probe` measures it.

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

/// Maximum number of requests of one call.
const MOST_REQUESTS: u32 = 10;
/// Findings in their packets that are listed.
const FINDINGS: usize = 5;

/// What to ask for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// An http:// or https:// URL; it is asked for with GET.
    url: String,
    /// How often, at most 10 (default 1).
    #[schemars(range(min = 1, max = 10))]
    repeat: Option<u32>,
    /// All on one connection (default: each on its own).
    #[serde(default)]
    reuse: bool,
}

/// What came of the requests.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Probed {
    requests: Vec<RequestFacts>,
    /// What their packets show, if they could be recorded.
    findings: Vec<PacketFinding>,
    /// Why no packets were recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_recorded: Option<String>,
}

/// A request; times are seconds from its beginning.
#[derive(Debug, Serialize, JsonSchema)]
struct RequestFacts {
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    times: Option<Times>,
    /// Bytes of the body.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    /// What took longest, by the kernel's figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<String>,
}

/// When each step had ended.
#[derive(Debug, Serialize, JsonSchema)]
struct Times {
    name_s: f64,
    connect_s: f64,
    tls_s: f64,
    first_byte_s: f64,
    total_s: f64,
}

/// A finding in the packets of the requests.
#[derive(Debug, Serialize, JsonSchema)]
struct PacketFinding {
    cause: String,
    cost_s: f64,
    /// 0 to 1.
    confidence: f64,
}

/// The document of `whyslow probe --json`, as far as it is used.
#[derive(Deserialize)]
struct Document {
    requests: Vec<One>,
    recording: Recording,
    analysis: Option<Analysis>,
}

#[derive(Deserialize)]
struct Recording {
    missing: Option<String>,
}

#[derive(Deserialize)]
struct One {
    failure: Option<Failed>,
    curl: Option<Curl>,
    verdict: Option<Verdict>,
}

#[derive(Deserialize)]
struct Failed {
    what: String,
}

#[derive(Deserialize)]
struct Verdict {
    text: String,
}

#[derive(Deserialize)]
struct Curl {
    http_code: u16,
    size_download: u64,
    time_namelookup: f64,
    time_connect: f64,
    time_appconnect: f64,
    time_starttransfer: f64,
    time_total: f64,
}

#[derive(Deserialize)]
struct Analysis {
    connections: Vec<Connection>,
}

#[derive(Deserialize)]
struct Connection {
    findings: Vec<Found>,
    transfers: Vec<Transfer>,
}

#[derive(Deserialize)]
struct Transfer {
    findings: Vec<Found>,
}

#[derive(Deserialize)]
struct Found {
    cause: String,
    cost_s: f64,
    confidence: f64,
}

/// Makes requests.
///
/// # Errors
/// When the URL is none, no request can be made, or the call was cancelled.
pub(super) async fn call(args: Args, program: &Path, context: &RequestContext<RoleServer>) -> Result<Reply, Failure> {
    if !["http://", "https://"].iter().any(|scheme| args.url.starts_with(scheme)) {
        let what = format!("`{}` is no http:// or https:// URL", clip::name(&args.url));
        return Err(Failure::new(what, "give an absolute URL, as https://example.org/file"));
    }
    let repeat = format!("--repeat={}", args.repeat.unwrap_or(1).clamp(1, MOST_REQUESTS));
    let mut arguments = vec!["probe", "--json", "--max-time=60s", &repeat];
    if args.reuse {
        arguments.push("--reuse");
    }
    arguments.extend(["--", &args.url]);
    let document: Document = child::run(program, &arguments, context).await?;
    let probed = probed(document);
    Reply::new(text(&args.url, &probed), &probed)
}

fn probed(document: Document) -> Probed {
    let requests = document.requests.into_iter().map(|one| RequestFacts {
        status: one.curl.as_ref().map(|curl| curl.http_code),
        failure: one.failure.map(|failed| clip::sentence(&failed.what)),
        bytes: one.curl.as_ref().map(|curl| curl.size_download),
        verdict: one.verdict.map(|verdict| clip::sentence(&verdict.text)),
        times: one.curl.map(|curl| Times {
            name_s: curl.time_namelookup,
            connect_s: curl.time_connect,
            tls_s: curl.time_appconnect,
            first_byte_s: curl.time_starttransfer,
            total_s: curl.time_total,
        }),
    });
    let connections = document.analysis.map(|analysis| analysis.connections).unwrap_or_default();
    let found = connections
        .into_iter()
        .flat_map(|one| one.transfers.into_iter().flat_map(|transfer| transfer.findings).chain(one.findings));
    let mut findings: Vec<_> =
        found.map(|one| PacketFinding { cause: one.cause, cost_s: one.cost_s, confidence: one.confidence }).collect();
    findings.sort_by(|a, b| b.cost_s.total_cmp(&a.cost_s));
    findings.truncate(FINDINGS);
    Probed { requests: requests.collect(), findings, not_recorded: document.recording.missing }
}

fn text(url: &str, probed: &Probed) -> String {
    let mut out = format!("{}\n", clip::name(url));
    for (index, one) in probed.requests.iter().enumerate() {
        out += &format!("{}. ", index + 1);
        if let Some(failure) = &one.failure {
            out += &format!("failed: {failure}");
        }
        if let (Some(times), Some(status)) = (&one.times, one.status) {
            let [name, connect, tls, first, total] =
                [times.name_s, times.connect_s, times.tls_s, times.first_byte_s, times.total_s]
                    .map(|seconds| units::figure(seconds, "s"));
            out += &format!("status {status}: name {name}, connect {connect}, TLS {tls}, first byte {first}, ");
            out += &format!("total {total} (each from the beginning)");
        }
        if let Some(bytes) = one.bytes {
            out += &format!(", {}", units::bytes(bytes));
        }
        if let Some(verdict) = &one.verdict {
            out += &format!("\n   {verdict}");
        }
        out.push('\n');
    }
    for one in &probed.findings {
        out += &format!("packets show: {} {}, confidence {:.2}\n", one.cause, units::figure(one.cost_s, "s"), {
            one.confidence
        });
    }
    if let Some(why) = &probed.not_recorded {
        out += &format!("no packets were recorded: {why}\n");
    }
    out
}
