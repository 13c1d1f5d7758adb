//! `causes`: every cause in a sentence, or the documentation of one.

use crate::clip;
use crate::failure::Failure;
use crate::reply::Reply;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use whyslow_analysis::Cause;
use whyslow_diagnosis::cause_pages;

/// Which cause.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// Its name, as `slow-start` (default: list all).
    #[serde(alias = "name")]
    cause: Option<String>,
}

/// The list, or one with its documentation.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Causes {
    causes: Vec<CauseDoc>,
}

/// A cause.
#[derive(Debug, Serialize, JsonSchema)]
struct CauseDoc {
    cause: &'static str,
    /// In one sentence.
    summary: String,
    /// Its criteria, similar causes, and the fix (Markdown).
    #[serde(skip_serializing_if = "Option::is_none")]
    documentation: Option<String>,
}

/// Lists the causes, or explains one.
///
/// # Errors
/// When there is none of this name.
pub(super) fn call(args: &Args) -> Result<Reply, Failure> {
    let Some(slug) = &args.cause else {
        let causes: Vec<_> = Cause::ALL.iter().map(|&cause| doc(cause, false)).collect();
        let lines: String = causes.iter().map(|one| format!("{}: {}\n", one.cause, one.summary)).collect();
        return Reply::new(lines, &Causes { causes });
    };
    let cause = Cause::from_slug(&slug.to_lowercase().replace(['_', ' '], "-")).ok_or_else(|| {
        Failure::new(format!("there is no cause `{}`", clip::name(slug)), "without `cause`, all are listed")
    })?;
    let one = doc(cause, true);
    let text = format!("# {}\n\n{}\n", one.cause, one.documentation.as_deref().unwrap_or_default());
    Reply::new(text, &Causes { causes: vec![one] })
}

fn doc(cause: Cause, whole: bool) -> CauseDoc {
    let markdown = cause_pages::of(cause);
    let summary = markdown.lines().next().unwrap_or_default().trim_start_matches(['#', ' ']).to_owned();
    CauseDoc { cause: cause.slug(), summary, documentation: whole.then_some(markdown) }
}
