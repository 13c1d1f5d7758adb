//! A finding: what cost the time, what that rests on, and what to do about it.

use super::{BOLD, CAUSE, COMMAND, DIM, names};
use crate::text::{Line, Page, units, width};
use anstyle::Style;
use whyslow_core::analysis::{Actor, End, Evidence, Finding, Fix, Transfer};
use whyslow_core::units::Nanos;

/// Where the label of a part stands, and where its text.
const LABEL: usize = 4;
const TEXT: usize = 12;

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
    print_head(page, finding, &cost(finding, context.transfer.map(|transfer| transfer.duration_s)), 2);
    if let (Some(transfer), Some(most)) = (context.transfer, context.rounds) {
        super::transfer::print_rounds(page, transfer, most, LABEL);
    }
    print_evidence(page, &finding.evidence);
    if let Some(fix) = &finding.fix {
        print_fix(page, fix, context.transfer.map(|transfer| transfer.from));
    }
    if let Some(predicted) = finding.predicted_s {
        let mut text = units::seconds(predicted);
        if context.transfer.is_none() {
            text +=
                if finding.connections.is_empty() { " for the connection" } else { " for the connections together" };
        }
        if let Some(transfer) = context.transfer {
            let measured = units::seconds(transfer.duration_s);
            text += &match transfer.model_s {
                Some(model) => format!(" (model: {} as it is, measured {measured})", units::seconds(model)),
                None => format!(" instead of {measured}"),
            };
        }
        if let Some(assumed) = finding.predicted_assumes {
            text += &format!("; {}", names::assumed(assumed));
        }
        page.wrapped(&label("then"), Style::new(), &text);
    } else if context.rounds.is_some() && context.transfer.is_some_and(|transfer| transfer.model_skipped) {
        page.wrapped(&label("then"), DIM, "no promise: the model's work went to transfers that lost more");
    } else if let (Some(_), Some(transfer)) = (context.rounds, context.transfer)
        && let (Some(false), Some(model)) = (transfer.model_fits(), transfer.model_s)
    {
        let text = format!(
            "no promise: the model takes {} for the transfer as it is, measured {}",
            units::seconds(model),
            units::seconds(transfer.duration_s)
        );
        page.wrapped(&label("then"), DIM, &text);
    }
    if let Some(settle) = &finding.settle {
        page.wrapped(&label("settle"), Style::new(), settle);
    }
}

/// `158 ms of 184 ms`; of what a finding cost before its transfer began, there is no share to tell.
pub(super) fn cost(finding: &Finding, of: Option<Nanos>) -> String {
    match of {
        Some(of) if finding.seconds <= of => format!("{} of {}", units::span(finding.seconds), units::span(of)),
        _ => units::span(finding.seconds),
    }
}

/// A cause and what it cost; the cause alone where that is no time, as a risk costs none.
pub(super) fn named(cause: &str, cost: String, seconds: Nanos) -> String {
    if seconds > Nanos::ZERO { format!("{cause} {cost}") } else { cause.to_owned() }
}

/// The cause, the sentence, and the time that it cost.
pub(super) fn print_head(page: &mut Page, finding: &Finding, cost: &str, indent: usize) {
    let sure = if finding.confidence < 0.5 { "possibly " } else { "" };
    let head = Line::new().pad(indent).plain(sure).styled(CAUSE, finding.cause.slug()).plain(": ");
    let beside = (finding.seconds > Nanos::ZERO).then(|| Line::new().styled(BOLD, cost));
    // A long sentence goes on under the cause.
    page.hanging(&head, Style::new(), &finding.summary, beside.as_ref(), indent + 2);
}

pub(super) fn label(text: &str) -> Line {
    Line::new().pad(LABEL).styled(DIM, text).pad(TEXT)
}

/// Figures one under the other, each with its frames.
fn print_evidence(page: &mut Page, evidence: &[Evidence]) {
    let figures: Vec<String> = evidence.iter().map(|e| units::figure(e.value, e.unit)).collect();
    let value_width = figures.iter().map(|figure| width(figure)).max().unwrap_or(0);
    let name_width = evidence.iter().map(|e| width(&e.figure)).max().unwrap_or(0);
    let name_width = name_width.min(page.width().saturating_sub(TEXT + value_width + 2));
    for (index, (evidence, figure)) in evidence.iter().zip(&figures).enumerate() {
        let head = if index == 0 { label("see") } else { Line::new().pad(TEXT) };
        let end = TEXT + name_width + 2 + value_width;
        let line = head.plain(&evidence.figure).right(end, &Line::new().plain(figure));
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

pub(super) fn print_fix(page: &mut Page, fix: &Fix, sender: Option<End>) {
    let end = |end: End| match end {
        End::Client => "on the client",
        End::Server => "on the server",
    };
    let place = match (fix.who, sender) {
        (Actor::Sender, Some(sender)) => end(sender),
        (Actor::Receiver, Some(sender)) => end(sender.other()),
        (Actor::Sender, None) => "at the sender",
        (Actor::Receiver, None) => "at the receiver",
        (Actor::Network, _) => "on the path",
        (Actor::Application, _) => "in the application",
        (Actor::Capture, _) => "when capturing",
    };
    page.wrapped(&label("fix"), Style::new(), &format!("{place}: {}", fix.what));
    if let Some(command) = &fix.command {
        // Not wrapped: it is there to be copied.
        page.line(&Line::new().pad(TEXT).styled(COMMAND, command));
    }
    if let Some(verify) = &fix.verify {
        page.wrapped(&label("verify"), Style::new(), verify);
    }
}
