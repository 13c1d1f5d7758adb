//! The verdict for a person: a page of text, as wide as the terminal.
//!
//! It begins with the verdict as a sentence and what to do about it; then come where the transfer
//! went, where its time went, and each finding with its rounds, its evidence and its fix. One slow
//! transfer fills one screen, and so do ten thousand connections: of these the causes are ranked by
//! the time that they cost, and the worst connections are named. The page is styled throughout, and
//! says nothing by colour alone.

mod beside;
mod connection;
mod exchanges;
mod facts;
mod finding;
pub(super) mod names;
mod notes;
mod overview;
mod pair;
pub(super) mod timeline;
mod transfer;
mod transfers;

pub use notes::SELECTION;

use crate::headline::{self, Headline, Tone};
use crate::text::{Line, Page, units};
use anstyle::{AnsiColor, Effects, Style};
use whyslow_core::analysis::{Analysis, Capture, Connection, Near, PARTIAL};

/// The least and the greatest width that a page is laid out for.
pub const WIDTHS: std::ops::RangeInclusive<usize> = 60..=200;

const BOLD: Style = Style::new().effects(Effects::BOLD);
const DIM: Style = Style::new().effects(Effects::DIMMED);
const GOOD: Style = AnsiColor::Green.on_default().effects(Effects::BOLD);
const UNSURE: Style = AnsiColor::Yellow.on_default().effects(Effects::BOLD);
const WARNING: Style = AnsiColor::Red.on_default();
const COMMAND: Style = AnsiColor::Cyan.on_default();

/// How the page is wanted.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// Columns of the terminal; the page takes [`WIDTHS`].
    pub width: usize,
    /// Of several connections, how many are shown with their findings; none: as many as fit.
    pub top: Option<usize>,
    /// Everything about the connections in the analysis, however many there are.
    pub full: bool,
}

/// Lays out an analysis.
pub fn page(analysis: &Analysis, view: View) -> String {
    let mut page = Page::new(view.width.clamp(*WIDTHS.start(), *WIDTHS.end()));
    if analysis.partial {
        print_partial(&mut page, analysis);
    }
    let once = crate::ranking::without_duplicates(analysis);
    let analysis = once.as_ref();
    if !beside::is_all(analysis) {
        print_headline(&mut page, &headline::of(analysis));
    }
    notes::print_grave(&mut page, analysis);
    let is_one = analysis.connections.len() == 1 && analysis.captures.len() == 1;
    if !is_one {
        page.gap();
        let captures = analysis.captures.iter().enumerate();
        captures.for_each(|(index, capture)| print_capture(&mut page, analysis, index, capture));
    }
    let both = |id: u64| analysis.pairs.iter().filter(move |pair| pair.connections.contains(&id));
    match analysis.connections.as_slice() {
        [] => {}
        connections if view.full => {
            for one in connections {
                connection::print_full(&mut page, one, &source(analysis, one));
                both(one.id).for_each(|both| pair::print(&mut page, both, one.id));
            }
        }
        [one] => {
            connection::print(&mut page, one, &source(analysis, one));
            both(one.id).for_each(|both| pair::print(&mut page, both, one.id));
        }
        _ => overview::print(&mut page, analysis, view.top),
    }
    if view.full || analysis.connections.len() < 2 {
        for finding in &analysis.findings {
            page.gap();
            finding::print(&mut page, finding, &finding::Context::default());
        }
    }
    for capture in &analysis.captures {
        beside::print(&mut page, capture);
    }
    notes::print_others(&mut page, analysis, view.full);
    page.finish()
}

/// That not all was read, before anything else is said.
fn print_partial(page: &mut Page, analysis: &Analysis) {
    let mut problems = analysis.captures.iter().flat_map(|capture| &capture.problems);
    let text = problems
        .find(|problem| problem.slug == PARTIAL)
        .map_or_else(|| "reading was stopped: something was not read".to_owned(), |problem| problem.detail.to_string());
    page.hanging(&Line::new().styled(WARNING, "partial: "), Style::new(), &text, 2);
}

/// The verdict, and what to do.
fn print_headline(page: &mut Page, headline: &Headline) {
    let style = match headline.tone {
        Tone::Slow => BOLD,
        Tone::Healthy => GOOD,
        Tone::Unknown => UNSURE,
    };
    page.wrapped(&Line::new(), style, &headline.sentence);
    if let Some(advice) = &headline.advice {
        page.wrapped(&Line::new(), Style::new(), advice);
    }
}

/// Where one connection's packets come from: `(slow.pcap, captured at the client)`; with several
/// captures the number of its, with several connections the place alone.
fn source(analysis: &Analysis, connection: &Connection) -> String {
    let name = match analysis.captures.get(connection.capture) {
        Some(_) if analysis.captures.len() > 1 => Some(format!("capture {}", connection.capture + 1)),
        Some(capture) if analysis.connections.len() == 1 => Some(name(capture).to_owned()),
        _ => None,
    };
    let place = near(connection.near).map(|near| match analysis.captures.len() {
        0 | 1 => near,
        _ => near.trim_start_matches("captured "),
    });
    let parts: Vec<_> = name.into_iter().chain(place.map(str::to_owned)).collect();
    if parts.is_empty() { String::new() } else { format!("({})", parts.join(", ")) }
}

/// Its path; standard input has none.
fn name(capture: &Capture) -> &str {
    if capture.path == "-" { "stdin" } else { &capture.path }
}

fn near(near: Near) -> Option<&'static str> {
    match near {
        Near::Client => Some("captured at the client"),
        Near::Server => Some("captured at the server"),
        Near::Middle => Some("captured between the two ends"),
        Near::Unknown => None,
    }
}

/// One line for a capture.
fn print_capture(page: &mut Page, analysis: &Analysis, index: usize, capture: &Capture) {
    let connections: Vec<_> = analysis.connections.iter().filter(|c| c.capture == index).collect();
    let mut said = units::count(capture.packets, "packet");
    if let Some(duration) = capture.duration_s {
        said += &format!(" in {}", units::seconds(duration));
    }
    if capture.tcp_packets < capture.packets {
        said += &format!(", {} of them TCP", units::thousands(capture.tcp_packets));
    }
    if !connections.is_empty() || analysis.pairs.is_empty() {
        said += &format!(", {}", units::count(connections.len() as u64, "connection"));
    }
    if let Some((first, rest)) = connections.split_first()
        && rest.iter().all(|connection| connection.near == first.near)
    {
        said += &near(first.near).map_or(String::new(), |near| format!(", {near}"));
    }
    let number = if analysis.captures.len() > 1 { format!("{}  ", index + 1) } else { String::new() };
    let head = Line::new().styled(DIM, &number).styled(BOLD, name(capture)).plain(": ");
    if head.width() * 2 > page.width() {
        page.line(&head);
        page.wrapped(&Line::new().pad(2), Style::new(), &said);
    } else {
        page.hanging(&head, Style::new(), &said, 4);
    }
}

#[cfg(test)]
mod tests;
