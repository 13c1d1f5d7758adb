//! Many connections: causes by cost, then the connections that lost most. Always one screen.

use super::finding::{self, Context};
use super::{capture, connection, names, pair};
use crate::ranking::{self, CauseCost};
use crate::text::styles::{BOLD, DIM};
use crate::text::{Column, Line, Page, Table, units};
use crate::words;
use anstyle::Style;
use std::collections::HashSet;
use whyslow_analysis::{Analysis, Connection, Finding};
use whyslow_units::Nanos;

/// Causes listed.
const CAUSES: usize = 10;
/// Connections named for each cause, on a page with room for them; one fewer on a narrow one.
const NAMED: usize = 3;
const NARROW: usize = 90;
/// Up to this many connections, findings are shown in full; with more, in a line each.
const FEW: usize = 20;
/// Findings over many connections that have a line, and connections that have one.
const SHARED: usize = 4;
const WORST: usize = 8;

/// Prints the table of causes, the findings that span connections, the connections that lost most,
/// and the `top` first of them with their findings.
pub(super) fn print(page: &mut Page, analysis: &Analysis, top: Option<usize>) {
    let worst = ranking::worst(analysis);
    let are_few = analysis.connections.len() <= FEW;
    print_sum(page, analysis, worst.len());
    let causes = ranking::by_cause(analysis);
    if !causes.is_empty() {
        page.gap();
        print_causes(page, &causes);
    }
    let costliest = causes.first().map(|cost| cost.cause);
    let leads = |spanning: &&Finding| are_few && (Some(spanning.cause) == costliest);
    let (leading, others): (Vec<&Finding>, Vec<&Finding>) = analysis.findings.iter().partition(leads);
    let is_led = !leading.is_empty();
    for spanning in leading {
        page.gap();
        finding::print(page, spanning, &Context::default());
    }
    let top = top.unwrap_or(usize::from(are_few && !is_led));
    // Shared findings are printed above.
    let shared = ranking::shared(analysis);
    let is_shared =
        |c: &Connection| ranking::causes(c).first().is_some_and(|&(cause, _)| shared.contains(&(cause, c.id)));
    let shown: Vec<&Connection> = worst.iter().copied().filter(|one| !is_shared(one)).take(top).collect();
    if worst.len() > shown.len() {
        page.gap();
        print_worst(page, &worst);
    }
    let mut seen = HashSet::new();
    for shown in &shown {
        connection::print_main(page, shown, &capture::source(analysis, shown));
        for both in analysis.pairs.iter().filter(|both| both.connections.contains(&shown.id)) {
            if seen.insert(both.connections) {
                pair::print_short(page, both);
            }
        }
    }
    print_shared(page, &others);
    pair::print_sum(page, &analysis.pairs);
    print_hint(page, worst.len(), worst.first().map(|first| first.id));
}

fn print_sum(page: &mut Page, analysis: &Analysis, slowed: usize) {
    let total = analysis.connections.len();
    let transfers: u64 = analysis.connections.iter().map(|c| c.transfers_total).fold(0, u64::saturating_add);
    let mut text = format!("{}, {}", units::count(total as u64, "connection"), units::count(transfers, "transfer"));
    if slowed == 0 {
        text += "; none was slow by itself";
    } else {
        let lost = ranking::total_cost(analysis);
        let (elapsed, total) = (units::span(lost.elapsed()), units::span(lost.total()));
        let spans = analysis.findings.iter().any(|finding| !finding.shared && finding.cost_s > Nanos::ZERO);
        let alone = if spans { " each by itself" } else { "" };
        text += &format!("; {} lost {elapsed}{alone}", units::thousands(slowed as u64));
        if elapsed != total {
            text += &format!(" ({total} summed: some ran at the same time)");
        }
    }
    let all = analysis.connections.iter().flat_map(|c| &c.transfers);
    let unknown = all.filter(|one| one.is_verdict_unknown()).count() as u64;
    if unknown > 0 {
        text += &format!("; the cause is unknown for {}", units::count(unknown, "transfer"));
    }
    page.wrapped(&Line::new(), Style::new(), &text);
}

fn print_causes(page: &mut Page, causes: &[CauseCost]) {
    let mut table = Table::new(vec![
        Column::words("cause"),
        Column::figures("cost"),
        Column::figures("connections"),
        Column::words("worst"),
    ]);
    let most = if page.width() < NARROW { NAMED - 1 } else { NAMED };
    for cost in causes.iter().take(CAUSES) {
        let named: Vec<_> = cost
            .connections
            .iter()
            .take(most)
            .map(|(id, seconds)| match *seconds {
                Nanos::ZERO => format!("#{id}"),
                seconds => format!("#{id} {}", units::short(seconds)),
            })
            .collect();
        table.styled_row([
            (names::cause_color(cost.cause).bold(), cost.cause.to_string()),
            (BOLD, if cost.seconds > Nanos::ZERO { units::span(cost.seconds) } else { "none".to_owned() }),
            (Style::new(), units::thousands(cost.connections.len() as u64)),
            (Style::new(), named.join(", ")),
        ]);
    }
    if let Some(left_out @ 1..) = causes.len().checked_sub(CAUSES) {
        table.remark(format!("… {} (--json lists all)", units::count(left_out as u64, "more cause")));
    }
    table.print(page, 0);
}

/// The findings over several connections in a line each.
fn print_shared(page: &mut Page, findings: &[&Finding]) {
    if findings.is_empty() {
        return;
    }
    page.gap();
    let mut table = Table::new(vec![
        Column::words("shared by"),
        Column::words("cause"),
        Column::figures("cost"),
        Column::words(""),
    ]);
    for spanning in findings.iter().take(SHARED) {
        let count = units::count(spanning.connections.len() as u64, "connection");
        let room = page.width().saturating_sub(count.len() + spanning.cause.slug().len() + 20);
        table.styled_row([
            (Style::new(), count),
            (names::cause_color(spanning.cause), spanning.cause.to_string()),
            (Style::new(), units::span(spanning.cost_s)),
            (DIM, shortened(&words::summary(spanning, page.lang()), room)),
        ]);
    }
    if let Some(left_out @ 1..) = findings.len().checked_sub(SHARED) {
        table.remark(format!("… {} (--json lists all)", units::count(left_out as u64, "more shared cause")));
    }
    table.print(page, 0);
}

/// A text that ends where the room does.
fn shortened(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    let short: String = text.chars().take(room.saturating_sub(1)).collect();
    format!("{}…", short.trim_end())
}

/// A line a connection, those that lost most.
fn print_worst(page: &mut Page, worst: &[&Connection]) {
    let mut table = Table::new(vec![
        Column::figures("worst"),
        Column::words("client → server"),
        Column::figures("bytes up").optional(),
        Column::figures("bytes down").optional(),
        Column::figures("took").optional(),
        Column::figures("cost"),
        Column::words("cause"),
    ]);
    for one in worst.iter().take(WORST) {
        let [up, down] = ranking::payload(one);
        let causes = ranking::causes(one);
        let Some(&(cause, _)) = causes.first() else { continue };
        let others = if causes.len() > 1 { format!(" + {} more", causes.len() - 1) } else { String::new() };
        table.styled_row([
            (BOLD, format!("#{}", one.id)),
            (Style::new(), names::ends(one)),
            (Style::new(), units::thousands(up)),
            (Style::new(), units::thousands(down)),
            (Style::new(), units::span(one.duration_s)),
            (BOLD, units::span(ranking::cost(one))),
            (names::cause_color(cause), format!("{cause}{others}")),
        ]);
    }
    if let Some(left_out @ 1..) = worst.len().checked_sub(WORST) {
        table.remark(format!("… {}", units::count(left_out as u64, "more connection")));
    }
    table.print(page, 0);
}

fn print_hint(page: &mut Page, slowed: usize, worst: Option<u64>) {
    let Some(worst) = worst else { return };
    page.gap();
    let mut text = format!("--connection {worst} shows #{worst} in full");
    if slowed > 1 {
        text += "; --top N the N worst; --brief lists every transfer; -Y FILTER selects";
    }
    page.wrapped(&Line::new(), DIM, &text);
}
