//! A finding: its cost, its evidence, and the fix.

use super::{names, rounds};
use crate::headline::{self, confidence};
use crate::text::styles::{BOLD, COMMAND, DIM};
use crate::text::{Line, Page, units, width};
use crate::words::{self, Label, Lang};
use anstyle::Style;
use whyslow_analysis::{End, Finding, Measurement, Platform, Remedy, Transfer};
use whyslow_units::Nanos;

/// Where the label of a part stands, and where its text.
const LABEL: usize = 4;
const TEXT: usize = 16;

/// What a finding is about.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Context<'a> {
    /// The transfer, when it is about one.
    pub transfer: Option<&'a Transfer>,
    /// The rounds that are shown with it, if any: it stands first then.
    pub rounds: Option<usize>,
}

/// Prints a finding.
pub(super) fn print(page: &mut Page, finding: &Finding, context: &Context<'_>) {
    print_head(page, finding, context.transfer.map(|transfer| transfer.duration_s));
    let lang = page.lang();
    page.wrapped(&Line::new().pad(LABEL), Style::new(), &words::summary(finding, lang));
    if let (Some(transfer), Some(most)) = (context.transfer, context.rounds) {
        rounds::print(page, transfer, most, LABEL);
    }
    print_evidence(page, &finding.evidence);
    for (index, remedy) in finding.remedies.iter().enumerate() {
        print_remedy(page, remedy, index == 0, context.transfer.map(|transfer| transfer.from));
        if index == 0
            && let Some(verify) = words::verify(finding, lang)
        {
            page.wrapped(&label(Label::Verify.text(lang)), Style::new(), &verify);
        }
        print_promise(page, finding, remedy, context);
    }
    if finding.predicted().is_none() {
        print_lack_of_estimate(page, context);
    }
    if let Some(open) = words::to_confirm(finding, lang) {
        page.wrapped(&label(Label::ToConfirm.text(lang)), Style::new(), &open);
    }
}

/// The cause, the time that it cost, and how sure that is.
fn print_head(page: &mut Page, finding: &Finding, of: Option<Nanos>) {
    let mut head = Line::new().pad(2).styled(names::cause_color(finding.cause).bold(), finding.cause.slug());
    if finding.cost_s > Nanos::ZERO {
        head = head.plain("   ").styled(BOLD, &headline::cost(finding.cost_s, of, page.lang()));
    }
    let sure = confidence(finding.confidence, page.lang());
    page.line(&head.plain("   ").styled(DIM, sure));
}

/// The time after a remedy.
fn print_promise(page: &mut Page, finding: &Finding, remedy: &Remedy, context: &Context<'_>) {
    if let Some(promise) = remedy.promise {
        let lang = page.lang();
        let mut text = units::span(promise.time_s);
        if let Some([low, high]) = promise.range_s {
            text += &words::time_range(low, high, lang);
        }
        match (context.transfer.map(|transfer| (transfer.duration_s, transfer.model_s)), lang) {
            (Some((measured, Some(model))), Lang::En) => {
                text +=
                    &format!(" (the model reproduces the capture: {})", headline::cost(model, Some(measured), lang));
            }
            (Some((measured, Some(model))), Lang::Zh) => {
                text += &format!("（模型重现了抓包：{}）", headline::cost(model, Some(measured), lang));
            }
            (Some((measured, None)), Lang::En) => text += &format!(" instead of {}", units::span(measured)),
            (Some((measured, None)), Lang::Zh) => text += &format!("，原为 {}", units::span(measured)),
            (None, Lang::En) if finding.connections.is_empty() => text += " for the connection",
            (None, Lang::En) => text += " for the connections together",
            (None, Lang::Zh) if finding.connections.is_empty() => text += "（整条连接）",
            (None, Lang::Zh) => text += "（各连接合计）",
        }
        if let Some(assumed) = promise.assumed {
            text += &format!("; {}", names::assumed(assumed));
        }
        page.wrapped(&label(Label::IfFixed.text(page.lang())), Style::new(), &text);
    }
}

/// Why there is no estimate of the time after a remedy.
fn print_lack_of_estimate(page: &mut Page, context: &Context<'_>) {
    let transfer = context.transfer;
    let Some(transfer) = transfer.filter(|_| context.rounds.is_some()) else { return };
    if transfer.model_skipped {
        page.wrapped(
            &label(Label::IfFixed.text(page.lang())),
            DIM,
            "no estimate: the simulation reached its work limit",
        );
    } else if let (Some(false), Some(model)) = (transfer.model_fits(), transfer.model_s) {
        let off = (model - transfer.duration_s).0.abs() as f64 / transfer.duration_s.0.max(1) as f64;
        let text = format!("no estimate: the model is off by {}", units::share(off));
        page.wrapped(&label(Label::IfFixed.text(page.lang())), DIM, &text);
    }
}

/// A cause and its cost; only the cause if it costs no time, as a risk.
pub(super) fn named(cause: &str, cost: String, seconds: Nanos) -> String {
    if seconds > Nanos::ZERO { format!("{cause} {cost}") } else { cause.to_owned() }
}

pub(super) fn label(text: &str) -> Line {
    Line::new().pad(LABEL).styled(DIM, text).pad(TEXT)
}

/// Prints the figures below each other, each with its frames.
fn print_evidence(page: &mut Page, evidence: &[Measurement]) {
    let lang = page.lang();
    let figures: Vec<String> = evidence.iter().map(|one| words::value(one, lang)).collect();
    let value_width = figures.iter().map(|figure| width(figure)).max().unwrap_or(0);
    let name_width = evidence.iter().map(|one| width(&words::measure(one, lang))).max().unwrap_or(0);
    let name_width = name_width.min(page.width().saturating_sub(TEXT + value_width + 2));
    for (index, (evidence, figure)) in evidence.iter().zip(&figures).enumerate() {
        let head = if index == 0 { label(Label::Evidence.text(lang)) } else { Line::new().pad(TEXT) };
        let end = TEXT + name_width + 2 + value_width;
        let line = head.plain(&words::measure(evidence, lang)).right(end, &Line::new().plain(figure));
        let frames = names::frames(&evidence.frames);
        if frames.is_empty() {
            page.line(&line);
        } else if line.width() + 3 + width(&frames) <= page.width() {
            page.line(&line.plain("   ").styled(DIM, &frames));
        } else {
            page.line(&line);
            page.wrapped(&Line::new().pad(TEXT + 2), DIM, &frames);
        }
    }
}

fn print_remedy(page: &mut Page, remedy: &Remedy, is_first: bool, sender: Option<End>) {
    let lang = page.lang();
    let place = words::place(remedy.actor, sender, lang);
    let text = format!("{place}: {}", words::action(&remedy.action, lang));
    page.wrapped(&label(if is_first { Label::Fix } else { Label::Or }.text(lang)), Style::new(), &text);
    print_command(page, remedy);
    if let Some((product, does)) = remedy.product_line() {
        page.line(&label("").styled(DIM, &format!("{}: ", product.name())).styled(COMMAND, &does.replace('\n', "; ")));
    }
}

/// Prints the command for the host's platform. It is named unless it is known to be Linux.
fn print_command(page: &mut Page, remedy: &Remedy) {
    let Some((platform, form)) = remedy.printed() else { return };
    let is_usual = remedy.host.platform == Some(Platform::Linux) || remedy.acts_at(Some(End::Client)).is_none();
    let named = if is_usual { label("") } else { label(platform.name()) };
    let Some(command) = form.command() else {
        page.wrapped(&named, DIM, words::lacks(page.lang()));
        return;
    };
    // Whole, to be copied; at the left edge where it would not fit otherwise.
    let fits = TEXT + width(&command) <= page.width();
    if fits || !is_usual {
        page.line(&if fits { named.styled(COMMAND, &command) } else { named });
    }
    if !fits {
        page.line(&Line::new().pad(LABEL).styled(COMMAND, &command));
    }
}
