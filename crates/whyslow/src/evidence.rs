//! Inputs that hold no packets but the output of another tool: `ss`, `nstat`, iperf3, curl, ping.

use crate::settings::Format;
use std::io::{self, IsTerminal, Read, stdin};
use whyslow_cli::interrupt::Interrupt;
use whyslow_cli::output::Output;
use whyslow_evidence::{MAX_BYTES, Report};
use whyslow_io::Input;
use whyslow_report::render::evidence;
use whyslow_report::words::Lang;

/// A larger text without evidence in its beginning counts as a capture.
const BEGINNING: usize = 64 << 10;

/// Inputs by kind of content.
#[derive(Debug)]
pub(crate) struct Sorted {
    pub report: Option<Report>,
    pub captures: Vec<Input>,
    /// Ctrl-C ended the reading of standard input.
    pub is_stopped: bool,
}

/// Reads the inputs that are the output of other tools. What cannot be opened is left to the reader
/// of captures, which reports it.
///
/// # Errors
/// When standard input cannot be read.
pub(crate) fn sort(inputs: &[Input]) -> anyhow::Result<Sorted> {
    let (mut texts, mut captures, mut is_stopped) = (Vec::new(), Vec::new(), false);
    for input in inputs {
        let text = match input {
            Input::Path(path) => file(path).unwrap_or_default(),
            Input::Stdin if !stdin().is_terminal() => {
                let (text, stopped) = standard_input()?;
                is_stopped |= stopped;
                text
            }
            Input::Stdin | Input::Object(_) => None,
        };
        match text {
            Some(text) => texts.push((input.name(), text)),
            None => captures.push(input.clone()),
        }
    }
    let texts: Vec<(&str, &[u8])> = texts.iter().map(|(name, text)| (name.as_str(), text.as_slice())).collect();
    Ok(Sorted { report: whyslow_evidence::read(&texts), captures, is_stopped })
}

/// The text of a file, compressed or not, if it is evidence.
fn file(path: &std::path::Path) -> io::Result<Option<Vec<u8>>> {
    if !path.metadata()?.is_file() {
        return Ok(None);
    }
    let mut file = whyslow_io::open_decompressed(path)?;
    let mut text = Vec::new();
    file.by_ref().take(BEGINNING as u64).read_to_end(&mut text)?;
    if !may_be_text(&text) {
        return Ok(None);
    }
    file.take((MAX_BYTES - BEGINNING) as u64).read_to_end(&mut text)?;
    Ok(whyslow_evidence::is_evidence(&text).then_some(text))
}

/// The text of standard input, if it begins like evidence; otherwise the input is still unread.
/// Ctrl-C ends the reading, and the text up to then is used. Also returns whether Ctrl-C was
/// pressed.
fn standard_input() -> io::Result<(Option<Vec<u8>>, bool)> {
    // Set only once the input is known to be text: captures have their own handler.
    let mut interrupt: Option<Interrupt> = None;
    let wants_more = |head: &[u8]| {
        if let Some(interrupt) = &interrupt {
            return head.len() < MAX_BYTES && !interrupt.is_asked();
        }
        if !may_be_text(head) || has_packets(head) {
            return false;
        }
        if whyslow_evidence::is_evidence(head)
            && let Ok(mut listening) = Interrupt::listen()
        {
            listening.has_read();
            interrupt = Some(listening);
        }
        interrupt.is_some() || head.len() < BEGINNING
    };
    let (head, is_all) = whyslow_io::peek_stdin(wants_more)?;
    let is_stopped = interrupt.as_ref().is_some_and(|interrupt| interrupt.is_asked()) && !is_all;
    interrupt.iter().for_each(Interrupt::is_done);
    let is_evidence = may_be_text(&head) && whyslow_evidence::is_evidence(&head);
    Ok((is_evidence.then_some(head), is_stopped && is_evidence))
}

/// Captures and compressed files contain bytes that no text has.
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
/// Errors of stdout.
pub(crate) fn print(report: &Report, format: Format, out: &mut Output) -> io::Result<()> {
    match format {
        Format::Json { .. } => out.raw(|out| evidence::pretty(report, out)),
        Format::JsonLines => out.raw(|out| evidence::line(report, out)),
        Format::Summary { .. }
        | Format::Brief
        | Format::Tsv
        | Format::Table
        | Format::Junit
        | Format::Github
        | Format::Markdown => out.write(&evidence::lines(report, Lang::En)),
        Format::Terminal { top, lang } => out.write(&evidence::terminal(report, out.width(), top, lang)),
    }
}
