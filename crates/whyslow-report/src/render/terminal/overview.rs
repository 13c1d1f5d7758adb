//! Many connections: the causes by the time that they cost, then the connections that lost most.

use super::finding::{self, Context};
use super::{BOLD, CAUSE, DIM, GOOD, connection, pair};
use crate::ranking::{self, CauseCost};
use crate::text::{Column, Line, Page, Table, units};
use anstyle::Style;
use std::collections::HashSet;
use whyslow_core::analysis::{Analysis, Connection};
use whyslow_core::units::Nanos;

/// Causes listed.
const CAUSES: usize = 12;
/// Connections named for each cause, on a page with room for them; one fewer on a narrow one.
const NAMED: usize = 3;
const NARROW: usize = 90;

/// Prints the table of causes, the findings that span connections, and the `top` worst connections.
pub(super) fn print(page: &mut Page, analysis: &Analysis, top: usize) {
    let worst = ranking::worst(analysis);
    page.gap();
    print_sum(page, analysis, worst.len());
    let causes = ranking::by_cause(analysis);
    if !causes.is_empty() {
        page.gap();
        print_causes(page, &causes);
    }
    for spanning in &analysis.findings {
        page.gap();
        finding::print(page, spanning, &Context::default());
    }
    let mut said = HashSet::new();
    // What connections share is said by now.
    let shared = ranking::shared(analysis);
    let is_shared =
        |c: &Connection| ranking::causes(c).first().is_some_and(|&(cause, _)| shared.contains(&(cause, c.id)));
    let apart = worst.iter().filter(|connection| !is_shared(connection));
    let told: Vec<_> = apart.take(top).collect();
    for told in &told {
        connection::print_header(page, told, Some(told.id));
        print_verdict(page, told);
        for both in analysis.pairs.iter().filter(|both| both.connections.contains(&told.id)) {
            if said.insert(both.connections) {
                pair::print_short(page, both);
            }
        }
    }
    pair::print_sum(page, &analysis.pairs);
    print_hint(page, worst.len() - told.len(), worst.first().map(|first| first.id));
}

fn print_sum(page: &mut Page, analysis: &Analysis, slowed: usize) {
    let total = analysis.connections.len();
    let transfers: u64 = analysis.connections.iter().map(|c| c.transfers_total).fold(0, u64::saturating_add);
    let of = format!("{}, {}", units::count(total as u64, "connection"), units::count(transfers, "transfer"));
    let untold =
        analysis.connections.iter().flat_map(|c| &c.transfers).filter(|told| told.is_verdict_unknown()).count() as u64;
    let rest = match untold {
        0 => String::new(),
        1 => "; what held back 1 transfer cannot be told".to_owned(),
        _ => format!("; what held back {} transfers cannot be told", units::thousands(untold)),
    };
    if slowed == 0 && untold > 0 {
        let others = if untold < transfers { ", and none of the others was" } else { "" };
        page.wrapped(&Line::new(), Style::new(), &format!("{of}{rest}{others}"));
        return;
    }
    if slowed == 0 && !analysis.findings.is_empty() {
        page.wrapped(&Line::new(), Style::new(), &format!("{of}; none was held back by itself"));
        return;
    }
    if slowed == 0 {
        page.wrapped(&Line::new().styled(GOOD, "healthy: "), Style::new(), &format!("{of}, and none was held back"));
        return;
    }
    let lost = ranking::total_cost(analysis);
    let (elapsed, total) = (units::span(lost.elapsed()), units::span(lost.total()));
    let of_it =
        if elapsed == total { String::new() } else { format!(", {total} in total as some of it ran at the same time") };
    let text = format!("{of}; {} lost {elapsed}{of_it}{rest}", units::thousands(slowed as u64));
    page.wrapped(&Line::new(), Style::new(), &text);
}

fn print_causes(page: &mut Page, causes: &[CauseCost]) {
    let mut table = Table::new(vec![
        Column::words("cause"),
        Column::figures("time lost"),
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
            (CAUSE, cost.cause.to_string()),
            (BOLD, if cost.seconds > Nanos::ZERO { units::span(cost.seconds) } else { "none".to_owned() }),
            (Style::new(), units::thousands(cost.connections.len() as u64)),
            (Style::new(), named.join(", ")),
        ]);
    }
    if let Some(left_out @ 1..) = causes.len().checked_sub(CAUSES) {
        table.remark(format!("… {}", units::count(left_out as u64, "more cause")));
    }
    table.print(page, 0);
}

/// The cause that cost a connection most, by its costliest finding, and its fix.
fn print_verdict(page: &mut Page, told: &Connection) {
    let causes = ranking::causes(told);
    let Some(((cause, seconds), others)) = causes.split_first() else { return };
    let of_transfers = told.transfers.iter().flat_map(|t| t.findings.iter().map(move |f| (Some(t), f)));
    let own = told.findings.iter().map(|finding| (None, finding));
    let of_cause: Vec<_> = of_transfers.chain(own).filter(|(_, finding)| finding.cause == *cause).collect();
    let Some(&(transfer, finding)) = of_cause.iter().max_by_key(|(_, finding)| finding.seconds) else { return };
    let cost = match of_cause.len() {
        1 => finding::cost(finding, transfer.map(|t| t.duration_s)),
        times => format!("{} in {} transfers", units::span(*seconds), units::thousands(times as u64)),
    };
    finding::print_head(page, finding, &cost, 2);
    if let Some(fix) = &finding.fix {
        finding::print_fix(page, fix, transfer.map(|t| t.from));
    }
    let others: Vec<_> = others
        .iter()
        .take(NAMED)
        .map(|&(cause, seconds)| finding::named(cause.slug(), units::short(seconds), seconds))
        .collect();
    if !others.is_empty() {
        page.wrapped(&finding::label("also"), Style::new(), &others.join(", "));
    }
}

fn print_hint(page: &mut Page, untold: usize, worst: Option<u64>) {
    let Some(worst) = worst else { return };
    page.gap();
    let mut text = format!("--connection {worst} tells everything about #{worst}");
    if untold > 0 {
        text = format!("{} not shown (--top N shows N); {text}", units::count(untold as u64, "more connection"));
    }
    page.wrapped(&Line::new(), DIM, &text);
}
