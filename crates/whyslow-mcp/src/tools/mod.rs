//! The tools: what assistants can call. Each has a file with its arguments, its result, and the
//! call; types and their comments are the schemas that clients get.

mod args;
mod causes;
mod compare;
mod explain;
mod finding;
mod host;
mod packets;
mod predict;
mod probe;
mod remedies;
mod window;

use crate::allowed::Allowed;
use crate::captures::Captures;
use crate::failure::Failure;
use crate::reply::Reply;
use rmcp::RoleServer;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use rmcp::service::RequestContext;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use whyslow_report::words::Lang;

/// The resources of tools.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    pub(crate) captures: &'a Captures,
    pub(crate) lang: Lang,
    pub(crate) allowed: Allowed,
    /// The program of `host` and `probe`.
    pub(crate) program: &'a Path,
}

/// The effect of a tool on its surroundings.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// It reads files of this machine, or nothing.
    Reads,
    /// It sends requests to others.
    Asks,
}

/// The tools that are on.
pub(crate) fn list(allowed: Allowed) -> Vec<Tool> {
    let host = allowed.host.then(|| {
        tool::<host::Args, host::Machine>(
            "host",
            "This machine",
            "Diagnoses the TCP stack of the machine that runs this server: sockets, settings, counters. \
             Linux only; changes nothing.",
            Effect::Reads,
        )
    });
    let probe = allowed.probe.then(|| {
        tool::<probe::Args, probe::Probed>(
            "probe",
            "Make a request",
            "Makes HTTP requests from the machine that runs this server, and reports where their time went.",
            Effect::Asks,
        )
    });
    of_captures().into_iter().chain(host).chain(probe).collect()
}

/// The tools that look at captures, or at nothing.
fn of_captures() -> Vec<Tool> {
    vec![
        tool::<explain::Args, explain::Explanation>(
            "explain",
            "Explain captures",
            "Explains why the TCP transfers in packet captures were slow: a verdict, and findings with their ids, cost, \
             confidence and frames, the costliest first. Call this first.",
            Effect::Reads,
        ),
        tool::<finding::Args, finding::Details>(
            "finding",
            "One finding",
            "Gives one finding: its evidence with frame numbers, remedies with commands, how to verify the fix, and \
             what the capture leaves open.",
            Effect::Reads,
        ),
        tool::<packets::Args, packets::Packets>(
            "packets",
            "Packets around a frame",
            "Lists the packets of a connection around a frame that a finding cites: TCP headers and their kind, \
             never payload.",
            Effect::Reads,
        ),
        tool::<predict::Args, predict::Prediction>(
            "predict",
            "Predict a remedy",
            "Gives the time that a captured transfer takes with one of its finding's remedies, by a model that \
             reproduces the transfer; or why there is no estimate.",
            Effect::Reads,
        ),
        tool::<compare::Args, compare::Differences>(
            "compare",
            "Compare two transfers",
            "Sets two transfers side by side, as of a fast and a slow capture: where the time of each went, and what \
             differs.",
            Effect::Reads,
        ),
        tool::<causes::Args, causes::Causes>(
            "causes",
            "Causes",
            "Lists the causes that whyslow knows, or explains one: its criteria, similar causes, and the fix.",
            Effect::Reads,
        ),
    ]
}

fn tool<I: JsonSchema, O: JsonSchema>(
    name: &'static str,
    title: &'static str,
    description: &'static str,
    effect: Effect,
) -> Tool {
    let reads = effect == Effect::Reads;
    let annotations =
        ToolAnnotations::from_raw(Some(title.to_owned()), Some(reads), Some(false), Some(reads), Some(!reads));
    let input = schema::<I>(SchemaSettings::draft2020_12(), Null::Given);
    let output = schema::<O>(SchemaSettings::draft2020_12().for_serialize(), Null::LeftOut);
    Tool::new(name, description, Arc::new(input))
        .with_title(title)
        .with_raw_output_schema(Arc::new(output))
        .with_annotations(annotations)
}

/// Whether unknown values are null.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Null {
    /// Clients may give it.
    Given,
    /// Answers leave the member out.
    LeftOut,
}

/// The schema of a type, without what assistants have no use for: each of its bytes is read by one.
fn schema<T: JsonSchema>(mut settings: SchemaSettings, null: Null) -> JsonObject {
    settings.meta_schema = None;
    let mut schema = Value::from(settings.into_generator().into_root_schema_for::<T>());
    trim(&mut schema, null);
    match schema {
        Value::Object(mut schema) => {
            schema.remove("title");
            schema.remove("description");
            schema
        }
        _ => JsonObject::new(),
    }
}

/// Removes formats and least values of numbers, which the types of the arguments check.
fn trim(schema: &mut Value, null: Null) {
    match schema {
        Value::Object(members) => {
            if members.get("format").is_some_and(Value::is_string) {
                members.remove("format");
                if members.get("minimum").is_some_and(|least| least == 0) {
                    members.remove("minimum");
                }
            }
            if let Some(Value::Array(kinds)) = members.get_mut("type")
                && null == Null::LeftOut
            {
                kinds.retain(|kind| kind != "null");
                if let [only] = kinds.as_slice() {
                    let only = only.clone();
                    members.insert("type".to_owned(), only);
                }
            }
            members.values_mut().for_each(|member| trim(member, null));
        }
        Value::Array(members) => members.iter_mut().for_each(|member| trim(member, null)),
        _ => {}
    }
}

/// A tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Name {
    Explain,
    Finding,
    Packets,
    Predict,
    Compare,
    Causes,
    Host,
    Probe,
}

impl Name {
    /// The tool of this name, whether it is on or not.
    pub(crate) fn read(name: &str) -> Option<Self> {
        Some(match name {
            "explain" => Self::Explain,
            "finding" => Self::Finding,
            "packets" => Self::Packets,
            "predict" => Self::Predict,
            "compare" => Self::Compare,
            "causes" => Self::Causes,
            "host" => Self::Host,
            "probe" => Self::Probe,
            _ => return None,
        })
    }
}

/// Calls a tool.
///
/// # Errors
/// When it is off, its arguments are wrong, or it has no result.
pub(crate) async fn call(
    name: Name,
    arguments: Option<JsonObject>,
    place: Place<'_>,
    context: &RequestContext<RoleServer>,
) -> Result<Reply, Failure> {
    let Place { captures, lang, allowed, program } = place;
    match name {
        Name::Explain => explain::call(args::read(arguments)?, captures, lang, context).await,
        Name::Finding => finding::call(args::read(arguments)?, captures, lang, context).await,
        Name::Packets => packets::call(args::read(arguments)?, captures, context).await,
        Name::Predict => predict::call(args::read(arguments)?, captures, lang, context).await,
        Name::Compare => compare::call(args::read(arguments)?, captures, lang, context).await,
        Name::Causes => causes::call(&args::read(arguments)?),
        Name::Host if allowed.host => host::call(args::read(arguments)?, program, context).await,
        Name::Probe if allowed.probe => probe::call(args::read(arguments)?, program, context).await,
        Name::Host => Err(off("host")),
        Name::Probe => Err(off("probe")),
    }
}

fn off(name: &str) -> Failure {
    Failure::new(
        format!("the tool {name} is off"),
        format!("whoever runs the server can turn it on: whyslow mcp --allow {name}"),
    )
}
