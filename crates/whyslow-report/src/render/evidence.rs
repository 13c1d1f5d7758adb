//! Evidence without packets: a page for the terminal, and the JSON `whyslow-evidence/2`.

use super::json;
use crate::headline::confidence;
use crate::text::styles::{BOLD, COMMAND, DIM, GOOD, UNSURE, WARNING};
use crate::text::{Line, Page, units};
use crate::words::{self, Label, Lang, evidence};
use anstyle::Style;
use std::io::{self, Write};
use whyslow_analysis::Unit;
use whyslow_evidence::{Figure, Finding, Fix, Report, Subject, Verdict};

/// The narrowest and the widest page.
const WIDTHS: std::ops::RangeInclusive<usize> = 60..=120;
/// Where the label of a part stands, and where its text.
const LABEL: usize = 4;
const TEXT: usize = 16;
/// Subjects that are shown unless more are asked for.
const SHOWN: usize = 5;

/// The page.
pub fn terminal(report: &Report, width: usize, top: Option<usize>, lang: Lang) -> String {
    let mut page = Page::new(width.clamp(*WIDTHS.start(), *WIDTHS.end())).in_language(lang);
    print_headline(&mut page, report);
    let most = top.unwrap_or(SHOWN);
    let found = report.subjects.iter().filter(|subject| !subject.findings.is_empty()).count();
    // Without a finding, one stands for all.
    let shown = if found == 0 { 1 } else { found.max(report.inputs.len()) }.min(most).min(report.subjects.len());
    for subject in &report.subjects[..shown] {
        page.gap();
        print_subject(&mut page, subject, report);
    }
    if shown < report.subjects.len() {
        page.gap();
        let text = evidence::more(report.subjects.len() - shown, lang);
        page.wrapped(&Line::new().pad(2), DIM, &text);
    }
    page.finish()
}

fn print_headline(page: &mut Page, report: &Report) {
    let lang = page.lang();
    let worst = report.subjects.first().and_then(|subject| subject.findings.first());
    let Some(worst) = worst else {
        let known = report.subjects.first().is_some_and(|subject| subject.verdict == Verdict::Healthy);
        let style = if known { GOOD } else { UNSURE };
        page.wrapped(&Line::new(), style, evidence::no_finding(known, lang));
        return;
    };
    let text = capitalised(&evidence::statement(&worst.statement, lang));
    let (sure, stop) = (confidence(worst.confidence, lang), if lang == Lang::En { "." } else { "。" });
    let text = match lang {
        Lang::En if worst.confidence < 0.9 => format!("{text} ({sure}){stop}"),
        Lang::Zh if worst.confidence < 0.9 => format!("{text}（{sure}）{stop}"),
        _ => format!("{text}{stop}"),
    };
    page.wrapped(&Line::new(), BOLD, &text);
    if let Some(fix) = worst.remedies.first() {
        let head = Line::new().styled(BOLD, &format!("{}: ", capitalised(Label::Fix.text(lang))));
        page.wrapped(&head, Style::new(), &format!("{}{stop}", evidence::fix(fix, lang)));
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn print_subject(page: &mut Page, subject: &Subject, report: &Report) {
    let source = subject.source.slug();
    let mut head = Line::new().pad(2).styled(BOLD, source);
    if !subject.name.is_empty() {
        head = head.plain("   ").plain(&subject.name);
    }
    if report.inputs.len() > 1
        && let Some(input) = report.inputs.get(subject.input)
    {
        head = head.plain("   ").styled(DIM, &input.name);
    }
    page.line(&head);
    let figures: Vec<String> = subject.figures.iter().map(|figure| shown(figure, page.lang())).collect();
    if !figures.is_empty() {
        page.wrapped(&Line::new().pad(LABEL), DIM, &figures.join(", "));
    }
    for finding in &subject.findings {
        print_finding(page, finding);
    }
    if subject.findings.is_empty() {
        let known = subject.verdict == Verdict::Healthy;
        let style = if known { GOOD } else { UNSURE };
        page.wrapped(&Line::new().pad(LABEL), style, evidence::no_finding(known, page.lang()));
    }
    let open = subject.findings.iter().flat_map(|finding| &finding.to_confirm);
    for gap in subject.gaps.iter().filter(|gap| !open.clone().any(|other| other == *gap)) {
        let text = evidence::gap(*gap, page.lang());
        page.wrapped(&Line::new().pad(LABEL).styled(DIM, "· "), DIM, text);
    }
}

fn print_finding(page: &mut Page, finding: &Finding) {
    let lang = page.lang();
    let mut head = Line::new().pad(LABEL);
    if let Some(cause) = finding.cause {
        head = head.styled(WARNING, cause.slug()).plain("   ");
    }
    if let Some(cost) = finding.cost_s.filter(|cost| *cost > 0.0) {
        head = head.styled(BOLD, &units::figure(cost, "s")).plain("   ");
    }
    page.line(&head.styled(DIM, confidence(finding.confidence, lang)));
    page.wrapped(&Line::new().pad(LABEL), Style::new(), &evidence::statement(&finding.statement, lang));
    for figure in &finding.evidence {
        let value = units::figure(figure.value, &unit(figure, lang));
        page.line(
            &Line::new().pad(TEXT).right(TEXT + 12, &Line::new().plain(&value)).plain("   ").styled(DIM, &figure.name),
        );
    }
    for fix in &finding.remedies {
        let label = Line::new().pad(LABEL).styled(DIM, Label::Fix.text(lang)).pad(TEXT);
        page.wrapped(&label, Style::new(), &evidence::fix(fix, lang));
        if let Fix::OfCaptures(remedy) = fix
            && let Some(command) = remedy.action.command()
        {
            page.wrapped(&Line::new().pad(TEXT), COMMAND, &command);
        }
    }
    for gap in &finding.to_confirm {
        let label = Line::new().pad(LABEL).styled(DIM, Label::ToConfirm.text(lang)).pad(TEXT);
        page.wrapped(&label, Style::new(), evidence::gap(*gap, lang));
    }
}

fn unit(figure: &Figure, lang: Lang) -> String {
    if figure.unit == Unit::Times { String::new() } else { words::unit(figure.unit, figure.value, lang).to_owned() }
}

pub(super) fn shown(figure: &Figure, lang: Lang) -> String {
    format!("{} {}", figure.name, units::figure(figure.value, &unit(figure, lang)))
}

/// Writes the report as one indented object and a line feed.
///
/// # Errors
/// Only those of `out`.
pub fn pretty(report: &Report, out: &mut impl Write) -> io::Result<()> {
    json::object(report, out)
}

/// Writes the report as one line.
///
/// # Errors
/// Only those of `out`.
pub fn line(report: &Report, out: &mut impl Write) -> io::Result<()> {
    json::to_people(report, &mut *out)?;
    writeln!(out)
}

/// A line for each subject: its source, name and cause, and what happened.
pub fn lines(report: &Report, lang: Lang) -> String {
    let mut out = String::new();
    for subject in &report.subjects {
        let source = subject.source.slug();
        let text = match subject.findings.first() {
            Some(finding) => evidence::statement(&finding.statement, lang),
            None => evidence::no_finding(subject.verdict == Verdict::Healthy, lang).to_owned(),
        };
        let cause = subject.findings.first().and_then(|finding| finding.cause).map_or("-", |cause| cause.slug());
        out += &format!("{source}  {}  {cause}  {text}\n", subject.name);
    }
    out
}
