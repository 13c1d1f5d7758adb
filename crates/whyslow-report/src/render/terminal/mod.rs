//! The verdict for a person: a page of text, as wide as the terminal.
//!
//! It starts with the verdict and what to do about it. Then come the connection, where its time
//! went, and each finding with rounds, evidence and fix. One slow transfer fits one screen, and so
//! do ten thousand connections: then causes are ranked by cost and the worst connections are named.
//! Colour alone carries no meaning.

mod beside;
mod capture;
mod connection;
mod exchanges;
mod facts;
mod finding;
pub(super) mod names;
mod notes;
mod overview;
mod pair;
mod requests;
mod rounds;
pub(super) mod timeline;
mod transfer;
mod transfers;

use crate::headline::{self, Headline, Tone};
use crate::text::styles::{BOLD, GOOD, UNSURE, WARNING};
use crate::text::{Line, Page};
use crate::words::{self, Lang};
use anstyle::Style;
use whyslow_analysis::{Analysis, PARTIAL};

/// The narrowest and the widest page.
pub const WIDTHS: std::ops::RangeInclusive<usize> = 60..=200;

/// Options of the page.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// Columns of the terminal; the page stays within [`WIDTHS`].
    pub width: usize,
    /// Number of connections that are shown with their findings; `None` for as many as fit.
    pub top: Option<usize>,
    /// Show everything about the connections, however many there are.
    pub full: bool,
    /// The transfer that is shown of a connection in full, from 1; `None` for all.
    pub transfer: Option<usize>,
    /// The language of its sentences.
    pub lang: Lang,
}

/// Lays out an analysis.
pub fn page(analysis: &Analysis, view: View) -> String {
    let mut page = Page::new(view.width.clamp(*WIDTHS.start(), *WIDTHS.end())).in_language(view.lang);
    if analysis.partial {
        print_partial(&mut page, analysis);
    }
    let once = crate::ranking::without_duplicates(analysis);
    let analysis = once.as_ref();
    if !beside::is_all(analysis) {
        print_headline(&mut page, &headline::of(analysis, view.lang));
    }
    notes::print_grave(&mut page, analysis);
    let is_one = analysis.connections.len() == 1 && analysis.captures.len() == 1;
    if !is_one {
        page.gap();
        let captures = analysis.captures.iter().enumerate();
        captures.for_each(|(index, capture)| capture::print(&mut page, analysis, index, capture));
    }
    let both = |id: u64| analysis.pairs.iter().filter(move |pair| pair.connections.contains(&id));
    match analysis.connections.as_slice() {
        [] => {}
        connections if view.full => {
            for one in connections {
                connection::print_full(&mut page, one, view.transfer, &capture::source(analysis, one));
                both(one.id).for_each(|both| pair::print(&mut page, both, one.id));
            }
        }
        [one] => {
            connection::print(&mut page, one, &capture::source(analysis, one));
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

/// Prints first that not everything was read.
fn print_partial(page: &mut Page, analysis: &Analysis) {
    let mut problems = analysis.captures.iter().flat_map(|capture| &capture.problems);
    let text = problems.find(|problem| problem.slug == PARTIAL).map_or_else(
        || "reading was stopped: something was not read".to_owned(),
        |one| words::problem(one, page.lang()),
    );
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

#[cfg(test)]
mod tests;
