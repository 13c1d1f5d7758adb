//! A transfer: how much in how long, where the time went, and why.

use super::finding::{self, Context};
use super::{BOLD, DIM, GOOD, names, timeline};
use crate::text::{Column, Line, Page, Table, units};
use anstyle::Style;
use whyslow_core::analysis::{End, Finding, HEALTHY_VERDICT, Round, Transfer};
use whyslow_core::units::Nanos;

/// Rounds shown where there is one screen for all.
const FEW_ROUNDS: usize = 8;

/// `562,687 B down in 0.184 s = 24.4 Mbit/s`.
pub(super) fn figures(transfer: &Transfer) -> String {
    let way = match transfer.from {
        End::Client => "up",
        End::Server => "down",
    };
    let mut text = format!("{} {way}", units::bytes(transfer.bytes));
    // A text may have no times.
    if transfer.duration_s > Nanos::ZERO || transfer.rate_bps.is_some() {
        text += &format!(" in {}", units::seconds(transfer.duration_s));
    }
    if let Some(rate) = transfer.rate_bps {
        text += &format!(" = {}", units::rate(rate));
    }
    text
}

/// Everything under a transfer's figures: its label, its timeline, its findings. In `full`, every
/// round. `blamed`: the connection has findings of its own, so that a transfer without any is not
/// called healthy for that.
pub(super) fn print(page: &mut Page, transfer: &Transfer, full: bool, blamed: bool) {
    if let Some(label) = &transfer.label {
        page.wrapped(&Line::new().pad(2), DIM, label);
    }
    timeline::print(page, transfer, full, 2);
    page.gap();
    if !(blamed && transfer.findings.is_empty()) {
        print_verdict(page, transfer);
    }
    for (index, cause) in transfer.findings.iter().enumerate() {
        page.gap();
        let rounds = (index == 0).then_some(if full { usize::MAX } else { FEW_ROUNDS });
        finding::print(page, cause, &Context { transfer: Some(transfer), rounds });
    }
    if transfer.findings.is_empty() && full && transfer.rounds.len() > 1 {
        print_rounds(page, transfer, usize::MAX, 4);
    }
}

/// The verdict in one sentence: of a healthy transfer, or of one that no single cause explains.
/// Where the first finding is the verdict, it is not said twice.
fn print_verdict(page: &mut Page, transfer: &Transfer) {
    let is_verdict = |first: &Finding| transfer.verdict == format!("{}: {}", first.cause, first.summary);
    if transfer.findings.first().is_some_and(is_verdict) || transfer.verdict.is_empty() {
        return;
    }
    if transfer.verdict == HEALTHY_VERDICT {
        page.wrapped(&Line::new().plain("  ").styled(GOOD, "healthy: "), Style::new(), &transfer.verdict);
    } else {
        page.wrapped(&Line::new().pad(2), BOLD, &transfer.verdict);
    }
}

/// The rounds, those in the middle left out when there are more than `most`.
pub(super) fn print_rounds(page: &mut Page, transfer: &Transfer, most: usize, indent: usize) {
    let rounds = &transfer.rounds;
    if rounds.len() < 2 {
        return;
    }
    let mut table = Table::new(vec![
        Column::figures("round"),
        Column::figures("sent"),
        Column::figures("in flight"),
        Column::figures("window"),
        Column::figures("took"),
        Column::words("held by"),
        Column::words("frames").optional(),
    ]);
    let untold = transfer.rounds_total.saturating_sub(rounds.len() as u64);
    // The last rounds matter only where they are the transfer's last.
    let tail = if untold == 0 { most / 4 } else { 0 };
    // Leaving out a single round would save no line.
    let (head, tail_start) = match rounds.len() {
        all if all <= most.saturating_add(1) => (all, all),
        all => (most - tail, all - tail),
    };
    for (index, round) in rounds.iter().enumerate().take(head) {
        table.row(round_cells(index, round));
    }
    let left_out = (tail_start - head) as u64 + untold;
    if left_out > 0 {
        table.remark(format!("  …  {}", units::count(left_out, "more round")));
    }
    for (index, round) in rounds.iter().enumerate().skip(tail_start) {
        table.row(round_cells(index, round));
    }
    table.print(page, indent);
}

fn round_cells(index: usize, round: &Round) -> [String; 7] {
    [
        (index + 1).to_string(),
        units::thousands(round.bytes),
        units::thousands(round.in_flight),
        round.window.map(units::thousands).unwrap_or_default(),
        units::span(round.duration_s),
        names::limit(round.limit).to_owned(),
        names::range(round.first_frame, round.last_frame),
    ]
}
