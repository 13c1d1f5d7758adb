//! Inputs that hold no packets but the output of another tool: `ss`, `nstat`, iperf3, curl, ping.

use crate::output::Output;
use crate::settings::Format;
use std::fs::File;
use std::io::{self, IsTerminal, Read, stdin};
use whyslow_evidence::{MAX_BYTES, Report};
use whyslow_io::Input;
use whyslow_report::render::evidence;
use whyslow_report::words::Lang;

/// A larger text whose beginning shows nothing is taken for a capture.
const BEGINNING: usize = 64 << 10;

/// Inputs by what they hold.
#[derive(Debug)]
pub(crate) struct Sorted {
    pub report: Option<Report>,
    pub captures: Vec<Input>,
}

/// Reads the inputs that are the output of other tools. What cannot be opened is left to the reader
/// of captures, which reports it.
///
/// # Errors
/// When standard input cannot be read.
pub(crate) fn sort(inputs: &[Input]) -> anyhow::Result<Sorted> {
    let (mut texts, mut captures) = (Vec::new(), Vec::new());
    for input in inputs {
        let text = match input {
            Input::Path(path) => file(path).unwrap_or_default(),
            Input::Stdin if !stdin().is_terminal() => standard_input()?,
            Input::Stdin | Input::Object(_) => None,
        };
        match text {
            Some(text) => texts.push((input.name(), text)),
            None => captures.push(input.clone()),
        }
    }
    let texts: Vec<(&str, &[u8])> = texts.iter().map(|(name, text)| (name.as_str(), text.as_slice())).collect();
    Ok(Sorted { report: whyslow_evidence::read(&texts), captures })
}

/// The text of a file, if it is evidence.
fn file(path: &std::path::Path) -> io::Result<Option<Vec<u8>>> {
    if !path.metadata()?.is_file() {
        return Ok(None);
    }
    let mut file = File::open(path)?;
    let mut text = Vec::new();
    file.by_ref().take(BEGINNING as u64).read_to_end(&mut text)?;
    if !may_be_text(&text) {
        return Ok(None);
    }
    file.take((MAX_BYTES - BEGINNING) as u64).read_to_end(&mut text)?;
    Ok(whyslow_evidence::is_evidence(&text).then_some(text))
}

/// The text of standard input, if its beginning is evidence; else it can still be read.
fn standard_input() -> io::Result<Option<Vec<u8>>> {
    let undecided = |head: &[u8]| {
        may_be_text(head)
            && head.len() < MAX_BYTES
            && !has_packets(head)
            && (head.len() < BEGINNING || whyslow_evidence::is_evidence(head))
    };
    let (head, _) = whyslow_io::peek_stdin(undecided)?;
    Ok((may_be_text(&head) && whyslow_evidence::is_evidence(&head)).then_some(head))
}

/// A capture, and what is compressed, has bytes that no text has.
fn may_be_text(head: &[u8]) -> bool {
    let start = &head[..head.len().min(512)];
    !start.is_empty() && !start.iter().any(|byte| matches!(byte, 0..=8 | 14..=26 | 28..=31))
}

/// tcpdump prints as it captures: what waits for more would wait with it.
fn has_packets(head: &[u8]) -> bool {
    let head = &head[..head.len().min(BEGINNING)];
    [&b" IP "[..], b" IP6 ", b"Flags ["].iter().any(|mark| head.windows(mark.len()).any(|window| window == *mark))
}

/// Prints the report.
///
/// # Errors
/// Those of stdout.
pub(crate) fn print(report: &Report, format: Format, out: &mut Output) -> io::Result<()> {
    match format {
        Format::Json { .. } => out.raw(|out| evidence::pretty(report, out)),
        Format::JsonLines => out.raw(|out| evidence::line(report, out)),
        Format::Brief | Format::Tsv | Format::Table | Format::Junit | Format::Github | Format::Markdown => {
            out.write(&evidence::lines(report, Lang::En))
        }
        Format::Terminal { top, lang } => out.write(&evidence::terminal(report, out.width(), top, lang)),
    }
}
