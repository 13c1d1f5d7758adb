//! The verdict for a person: a page of text, as wide as the terminal.
//!
//! One slow transfer fills one screen: the capture, the connection, where its time went, and each
//! finding with its evidence and its fix. Of many connections the causes are ranked by the time
//! that they cost, and the worst connections are named. The page is styled throughout, and says
//! nothing by colour alone.

mod beside;
mod connection;
mod exchanges;
mod finding;
pub(super) mod names;
mod overview;
mod pair;
pub(super) mod timeline;
mod transfer;

use crate::text::{Line, Page, units};
use anstyle::{AnsiColor, Effects, Style};
use whyslow_core::analysis::{Analysis, Capture, Near, PARTIAL, Problem};

/// The least and the greatest width that a page is laid out for.
const WIDTHS: std::ops::RangeInclusive<usize> = 40..=100;

const BOLD: Style = Style::new().effects(Effects::BOLD);
const DIM: Style = Style::new().effects(Effects::DIMMED);
const CAUSE: Style = AnsiColor::Yellow.on_default().effects(Effects::BOLD);
const GOOD: Style = AnsiColor::Green.on_default().effects(Effects::BOLD);
const WARNING: Style = AnsiColor::Red.on_default();
const COMMAND: Style = AnsiColor::Cyan.on_default();

/// How the page is wanted.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// Columns of the terminal; the page takes 40 to 100.
    pub width: usize,
    /// Of several connections, how many are told of.
    pub top: usize,
    /// Everything about the connections in the analysis, however many there are.
    pub full: bool,
}

/// Lays out an analysis.
pub fn page(analysis: &Analysis, view: View) -> String {
    let mut page = Page::new(view.width.clamp(*WIDTHS.start(), *WIDTHS.end()));
    if analysis.partial {
        print_partial(&mut page, analysis);
    }
    for (index, capture) in analysis.captures.iter().enumerate() {
        print_capture(&mut page, analysis, index, capture);
    }
    let once = crate::ranking::without_duplicates(analysis);
    let analysis = once.as_ref();
    let both = |id: u64| analysis.pairs.iter().filter(move |pair| pair.connections.contains(&id));
    match analysis.connections.as_slice() {
        [] if beside::is_all(analysis) => {}
        [] => {
            page.gap();
            page.wrapped(&Line::new(), BOLD, "There is no TCP connection to explain.");
        }
        connections if view.full => {
            for connection in connections {
                connection::print_full(&mut page, connection);
                both(connection.id).for_each(|both| pair::print(&mut page, both, connection.id));
            }
        }
        [connection] => {
            connection::print(&mut page, connection);
            both(connection.id).for_each(|both| pair::print(&mut page, both, connection.id));
        }
        _ => overview::print(&mut page, analysis, view.top),
    }
    if view.full || analysis.connections.len() < 2 {
        for finding in &analysis.findings {
            page.gap();
            finding::print(&mut page, finding, &finding::Context::default());
        }
    }
    page.finish()
}

/// That not all was read, before anything else is said.
fn print_partial(page: &mut Page, analysis: &Analysis) {
    let mut problems = analysis.captures.iter().flat_map(|capture| &capture.problems);
    let text = problems
        .find(|problem| problem.slug == PARTIAL)
        .map_or_else(|| "reading was stopped: something was not read".to_owned(), |problem| problem.detail.to_string());
    page.hanging(&Line::new().styled(WARNING, "partial: "), Style::new(), &text, None, 2);
}

/// One line for a capture, and one for each of its problems.
fn print_capture(page: &mut Page, analysis: &Analysis, index: usize, capture: &Capture) {
    let connections: Vec<_> = analysis.connections.iter().filter(|c| c.capture == index).collect();
    let mut said = units::count(capture.packets, "packet");
    if let Some(duration) = capture.duration_s {
        said += &format!(" in {}", units::seconds(duration));
    }
    if capture.tcp_packets < capture.packets {
        said += &format!(", {} of them TCP", units::thousands(capture.tcp_packets));
    }
    said += &format!(", {}", units::count(connections.len() as u64, "connection"));
    if let Some((first, rest)) = connections.split_first()
        && rest.iter().all(|connection| connection.near == first.near)
    {
        said += match first.near {
            Near::Client => ", captured next to the client",
            Near::Server => ", captured next to the server",
            Near::Middle => ", captured between the two ends",
            Near::Unknown => "",
        };
    }
    let number = if analysis.captures.len() > 1 { format!("{}  ", index + 1) } else { String::new() };
    let head = Line::new().styled(DIM, &number).styled(BOLD, &capture.path).plain(": ");
    if head.width() * 2 > page.width() {
        page.line(&head);
        page.wrapped(&Line::new().pad(2), Style::new(), &said);
    } else {
        page.hanging(&head, Style::new(), &said, None, 4);
    }
    print_problems(page, &capture.problems, 2);
    beside::print(page, capture);
}

/// What limits what can be said, before anything is said.
fn print_problems(page: &mut Page, problems: &[Problem], indent: usize) {
    // What is said first of all is not said again.
    for problem in problems.iter().filter(|problem| problem.slug != PARTIAL) {
        let mut text = problem.detail.to_string();
        let count = units::thousands(problem.count);
        let is_told = text.contains(&count) || text.contains(&problem.count.to_string());
        if problem.count > 1 && !is_told {
            text += &format!(" ({count} times)");
        }
        let head = Line::new().pad(indent).styled(WARNING, &format!("! {}: ", problem.slug));
        page.hanging(&head, Style::new(), &text, None, indent + 2);
    }
}

#[cfg(test)]
mod tests;
