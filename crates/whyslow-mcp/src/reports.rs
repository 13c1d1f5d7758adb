//! Reports of captures as resources: `whyslow://report/markdown?file=slow.pcap`.
//!
//! Each open set of captures is listed in both formats; a template names any other.

use crate::captures::{Captures, Explained, MOST_FILES};
use crate::clip;
use crate::failure::Failure;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use rmcp::RoleServer;
use rmcp::model::{Resource, ResourceContents, ResourceTemplate};
use rmcp::service::RequestContext;
use std::collections::HashSet;
use std::fmt::Write;
use whyslow_report::headline;
use whyslow_report::ranking;
use whyslow_report::render::{json, summary};
use whyslow_report::words::Lang;

/// The beginning of every URI of a report.
const BEGIN: &str = "whyslow://report/";
/// Connections that a Markdown report describes: those that lost most.
const CONNECTIONS: usize = 5;
/// Largest report; the JSON of thousands of connections has many megabytes.
const LARGEST: usize = 4 << 20;
/// All but the unreserved characters of a query (RFC 3986) and slashes.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// A form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Markdown,
    Json,
}

impl Format {
    const ALL: [Self; 2] = [Self::Markdown, Self::Json];

    const fn name(self) -> &'static str {
        match self {
            Self::Markdown => "markdown",
            Self::Json => "json",
        }
    }

    const fn mime(self) -> &'static str {
        match self {
            Self::Markdown => "text/markdown",
            Self::Json => "application/json",
        }
    }

    const fn about(self) -> &'static str {
        match self {
            Self::Markdown => "verdict, findings and fixes of the worst connections",
            Self::Json => "all that was found (schema whyslow/2), up to 4 MiB",
        }
    }
}

/// The reports of open captures.
pub(crate) fn list(captures: &Captures) -> Vec<Resource> {
    let resource = |explained: &Explained, format: Format| {
        Resource::new(uri(format, &explained.names), format!("{} ({})", title(explained), format.name()))
            .with_description(format.about())
            .with_mime_type(format.mime())
    };
    let open = captures.open_sets();
    open.iter().flat_map(|explained| Format::ALL.map(|format| resource(explained, format))).collect()
}

/// Reports of any captures in the folders.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let template = |format: Format| {
        let (name, about) = (format.name(), format.about());
        ResourceTemplate::new(format!("{BEGIN}{name}{{?file*}}"), format!("report-{name}"))
            .with_title(format!("Report of captures ({name})"))
            .with_description(format!("Report of captures: {about}. Repeat `file` for captures that belong together."))
            .with_mime_type(format.mime())
    };
    Format::ALL.map(template).into()
}

/// Reads a report; captures that are not open are explained first.
///
/// # Errors
/// When the URI is none of these, or the captures cannot be read.
pub(crate) async fn read(
    uri: &str,
    captures: &Captures,
    lang: Lang,
    context: &RequestContext<RoleServer>,
) -> Result<ResourceContents, Failure> {
    let unknown = || {
        let hint = "resources are whyslow://report/markdown?file=FILE and whyslow://report/json?file=FILE";
        Failure::new(format!("there is no resource {}", clip::name(uri)), hint)
    };
    let (format, names) = parse(uri).ok_or_else(unknown)?;
    let explained = captures.open(&names, context).await?;
    let text = match format {
        Format::Markdown => markdown(&explained, lang),
        Format::Json => whole(&explained)?,
    };
    Ok(ResourceContents::text(text, uri).with_mime_type(format.mime()))
}

fn title(explained: &Explained) -> String {
    clip::name(&explained.names.join(", "))
}

fn uri(format: Format, names: &[String]) -> String {
    let mut uri = format!("{BEGIN}{}", format.name());
    for (index, name) in names.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = write!(uri, "{}file={}", if index == 0 { '?' } else { '&' }, utf8_percent_encode(name, ESCAPED));
    }
    uri
}

fn parse(uri: &str) -> Option<(Format, Vec<String>)> {
    let (format, query) = uri.strip_prefix(BEGIN)?.split_once('?')?;
    let format = Format::ALL.into_iter().find(|one| one.name() == format)?;
    let name = |part: &str| Some(percent_decode_str(part.strip_prefix("file=")?).decode_utf8().ok()?.into_owned());
    let names: Vec<_> = query.split('&').take(MOST_FILES + 1).map(name).collect::<Option<_>>()?;
    Some((format, names))
}

fn markdown(explained: &Explained, lang: Lang) -> String {
    let once = ranking::without_duplicates(explained.analysis());
    let analysis = once.as_ref();
    let verdict = headline::of(analysis, lang);
    let mut out = format!("# {}\n\n{}\n", title(explained), clip::sentence(&verdict.sentence));
    if let Some(advice) = &verdict.advice {
        out += &format!("{}\n", clip::sentence(advice));
    }
    let worst = ranking::worst(analysis);
    let met: HashSet<u64> = worst.iter().map(|connection| connection.id).collect();
    let others = analysis.connections.iter().filter(|connection| !met.contains(&connection.id));
    for connection in worst.iter().copied().chain(others).take(CONNECTIONS) {
        out.push('\n');
        out += &summary::markdown(analysis.captures.get(connection.capture), connection);
    }
    if let Some(more) = analysis.connections.len().checked_sub(CONNECTIONS).filter(|more| *more > 0) {
        out += &format!("\n{more} more connections are not described here.\n");
    }
    out
}

/// The whole analysis, as JSON.
fn whole(explained: &Explained) -> Result<String, Failure> {
    let mut out = Vec::new();
    json::pretty(explained.analysis(), &mut out).map_err(|_| Failure::fault())?;
    match String::from_utf8(out) {
        Ok(text) if text.len() <= LARGEST => Ok(text),
        Ok(text) => Err(Failure::new(
            format!("the JSON of this report has {} MiB, more than {}", text.len() >> 20, LARGEST >> 20),
            "read the Markdown report, or run `whyslow --json FILE` on the command line",
        )),
        Err(_) => Err(Failure::fault()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_names_its_files() {
        let names = ["a b&c.pcap".to_owned(), "x/ü?.pcap".to_owned()];
        for format in Format::ALL {
            let uri = uri(format, &names);
            assert_eq!(parse(&uri), Some((format, names.to_vec())), "{uri}");
        }
        assert_eq!(uri(Format::Json, &names[..1]), "whyslow://report/json?file=a%20b%26c.pcap");
    }

    #[test]
    fn other_uris_are_none() {
        for uri in ["", "whyslow://report/", "whyslow://report/markdown", "whyslow://report/html?file=a", "file:///a"] {
            assert_eq!(parse(uri), None, "{uri}");
        }
        assert_eq!(parse("whyslow://report/json?file=a&path=b"), None);
        assert_eq!(parse("whyslow://report/json?file=%ff"), None);
    }
}
