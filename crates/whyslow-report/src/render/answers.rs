//! The kernel's account next to the findings of a capture: a part of the page.

use super::evidence::shown;
use crate::text::styles::{BOLD, DIM, GOOD, WARNING};
use crate::text::{Line, Page};
use crate::words::{Label, Lang, answers as words};
use anstyle::Style;
use whyslow_evidence::{Answer, Outcome};

/// The narrowest and the widest page.
const WIDTHS: std::ops::RangeInclusive<usize> = 60..=120;
/// Where the text of an answer stands.
const TEXT: usize = 4;
/// Answers that are printed; the JSON has all.
const SHOWN: usize = 12;

/// The answers, contradictions first; empty if there are none.
pub fn terminal(answers: &[Answer], width: usize, lang: Lang) -> String {
    if answers.is_empty() {
        return String::new();
    }
    let mut page = Page::new(width.clamp(*WIDTHS.start(), *WIDTHS.end())).in_language(lang);
    page.line(&Line::new().pad(2).styled(BOLD, words::heading(lang)));
    let (against, in_favour): (Vec<&Answer>, Vec<&Answer>) =
        answers.iter().partition(|answer| answer.outcome == Outcome::Contradicts);
    for answer in against.into_iter().chain(in_favour).take(SHOWN) {
        print(&mut page, answer);
    }
    page.finish()
}

fn print(page: &mut Page, answer: &Answer) {
    let lang = page.lang();
    let style = if answer.outcome == Outcome::Confirms { GOOD } else { WARNING };
    let place = format!("#{}.{} ", answer.connection, answer.transfer);
    let head = Line::new().pad(TEXT).plain(&place).styled(BOLD, answer.cause.slug()).plain("   ");
    page.line(&head.styled(style, words::outcome(answer.outcome, lang)));
    page.wrapped(&Line::new().pad(TEXT), Style::new(), &words::reading(&answer.reading, lang));
    let figures: Vec<String> = answer.evidence.iter().map(|figure| shown(figure, lang)).collect();
    let head = Line::new().pad(TEXT).styled(DIM, Label::Evidence.text(lang)).plain("  ");
    page.wrapped(&head, DIM, &figures.join(", "));
    if let Some(by) = words::matched_by(answer.matched_by, lang) {
        page.wrapped(&Line::new().pad(TEXT).styled(DIM, "· "), DIM, by);
    }
}
