//! The documentation of causes: it stands at the top of each rule's own file, and comes from there.

use anyhow::bail;
use std::fmt::Write;
use whyslow_analysis::cause::Cause;
use whyslow_diagnosis::cause_pages;
#[cfg(target_os = "linux")]
use whyslow_host::causes;
use whyslow_report::render::markdown;

/// The documentation is laid out no wider than reads well.
const WIDEST: usize = 100;

/// One cause: of captures, of a host, or of both.
///
/// # Errors
/// If there is no cause of that name; the error suggests a similar name.
pub fn one(slug: &str, width: usize) -> anyhow::Result<String> {
    let document = match (Cause::from_slug(slug), of_host(slug)) {
        (None, None) => bail!(unknown(slug, &names())),
        (Some(cause), None) => cause_pages::of(cause),
        (None, Some(host)) => host,
        (Some(cause), Some(host)) => {
            format!("{}\n\n# {slug}, as `whyslow host` finds it\n\n{host}", cause_pages::of(cause))
        }
    };
    Ok(markdown::terminal(&format!("# {slug}\n\n{document}"), width.min(WIDEST)))
}

/// Every cause with its first sentence.
pub fn list(width: usize) -> String {
    let mut document = String::new();
    for &cause in Cause::ALL {
        // Writing to a string cannot fail.
        let _ = writeln!(document, "- **{}**: {}", cause, summary(&cause_pages::of(cause)));
    }
    document += &list_of_host();
    document += "\n`whyslow causes CAUSE` explains one.\n";
    markdown::terminal(&document, width.min(WIDEST))
}

/// The documentation of a finding of `whyslow host`.
#[cfg(target_os = "linux")]
fn of_host(slug: &str) -> Option<String> {
    causes::from_slug(slug).map(causes::markdown)
}

#[cfg(not(target_os = "linux"))]
fn of_host(_: &str) -> Option<String> {
    None
}

/// Findings that captures do not have.
#[cfg(target_os = "linux")]
fn list_of_host() -> String {
    let own = causes::ALL.iter().filter(|cause| Cause::from_slug(cause.slug()).is_none());
    let lines = own.map(|cause| format!("- **{cause}**: {}\n", summary(&causes::markdown(*cause))));
    format!("\n## Found by `whyslow host` alone\n\n{}", lines.collect::<String>())
}

#[cfg(not(target_os = "linux"))]
fn list_of_host() -> String {
    String::new()
}

/// The names of all causes.
fn names() -> Vec<&'static str> {
    let captures = Cause::ALL.iter().map(|cause| cause.slug());
    #[cfg(target_os = "linux")]
    let captures = captures.chain(causes::ALL.iter().map(|cause| cause.slug()));
    captures.collect()
}

/// Whether a cause has this name.
pub fn is_cause(name: &str) -> bool {
    names().contains(&name)
}

/// Takes the name of a cause that there is a rule for.
///
/// # Errors
/// For any other name; the error suggests a similar one.
pub fn known(slug: &str) -> Result<Cause, String> {
    let names: Vec<_> = Cause::ALL.iter().map(|cause| cause.slug()).collect();
    Cause::from_slug(slug).ok_or_else(|| unknown(slug, &names))
}

fn summary(markdown: &str) -> String {
    markdown.lines().next().unwrap_or_default().trim_start_matches(['#', ' ']).to_owned()
}

fn unknown(slug: &str, names: &[&str]) -> String {
    match nearest(slug, names.iter().copied()) {
        Some(near) => format!("there is no cause `{slug}`; did you mean `{near}`? `whyslow causes` lists all"),
        None => format!("there is no cause `{slug}`; `whyslow causes` lists all"),
    }
}

/// The name that is most like this one, if any is.
pub fn nearest<'a>(slug: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let slug = slug.to_lowercase().replace(['_', ' '], "-");
    names
        .map(|name| (strsim::jaro_winkler(&slug, name), name))
        .filter(|(likeness, _)| *likeness > 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_misspelt_finds_the_one_that_was_meant() {
        let names = ["slow-start", "early-slow-start-exit", "loss", "tail-loss", "receive-window"];
        let near = |slug| nearest(slug, names.into_iter());
        assert_eq!(near("slowstart"), Some("slow-start"));
        assert_eq!(near("Slow_Start"), Some("slow-start"));
        assert_eq!(near("recieve-window"), Some("receive-window"));
        assert_eq!(near("los"), Some("loss"));
        assert_eq!(near("xyzzy"), None);
        assert_eq!(near(""), None);
    }
}
