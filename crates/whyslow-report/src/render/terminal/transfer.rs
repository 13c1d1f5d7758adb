//! A transfer: how much in how long, where the time went, and why.

use super::finding::{self, Context};
use super::{DIM, names, timeline};
use crate::text::{Column, Line, Page, Table, units};
use anstyle::Style;
use whyslow_core::analysis::{End, Round, Transfer};
use whyslow_core::units::Nanos;

/// Rounds shown where there is one screen for all.
pub(super) const FEW_ROUNDS: usize = 8;

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
/// round.
pub(super) fn print(page: &mut Page, transfer: &Transfer, full: bool) {
    print_label(page, None, transfer);
    print_body(page, transfer, full);
}

/// Which transfer it is, where that is said here, and what it carried.
pub(super) fn print_label(page: &mut Page, which: Option<&str>, transfer: &Transfer) {
    let parts: Vec<&str> = which.into_iter().chain(transfer.label.as_deref()).collect();
    if !parts.is_empty() {
        page.wrapped(&Line::new().pad(2), DIM, &parts.join(": "));
    }
}

/// Its timeline and its findings.
pub(super) fn print_body(page: &mut Page, transfer: &Transfer, full: bool) {
    timeline::print(page, transfer, full, 2);
    for (index, cause) in transfer.findings.iter().enumerate() {
        page.gap();
        let rounds = (index == 0).then_some(if full { usize::MAX } else { FEW_ROUNDS });
        finding::print(page, cause, &Context { transfer: Some(transfer), rounds });
    }
    if transfer.findings.is_empty() && full {
        page.gap();
        print_rounds(page, transfer, usize::MAX, 4);
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
        Column::figures("in flight").optional(),
        Column::figures("window").optional(),
        Column::figures("took"),
        Column::words("limited by"),
        Column::words("frames"),
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
        table.styled_row(round_cells(index, round));
    }
    let left_out = (tail_start - head) as u64 + untold;
    if left_out > 0 {
        table.remark(format!("  …  {}", units::count(left_out, "more round")));
    }
    for (index, round) in rounds.iter().enumerate().skip(tail_start) {
        table.styled_row(round_cells(index, round));
    }
    table.print(page, indent);
}

fn round_cells(index: usize, round: &Round) -> [(Style, String); 7] {
    let plain = |cell: String| (Style::new(), cell);
    [
        plain((index + 1).to_string()),
        plain(units::thousands(round.bytes)),
        plain(units::thousands(round.in_flight)),
        plain(round.window.map(units::thousands).unwrap_or_default()),
        plain(units::span(round.duration_s)),
        (names::color(round.limit), names::limit(round.limit).to_owned()),
        plain(names::range(round.first_frame, round.last_frame)),
    ]
}
