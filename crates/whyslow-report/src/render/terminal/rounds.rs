//! A transfer's rounds as a table.

use super::names;
use crate::text::{Column, Page, Table, units};
use anstyle::Style;
use whyslow_analysis::{Round, Transfer};

/// Rounds shown if everything must fit one screen.
pub(super) const FEW: usize = 8;

/// Prints the rounds; if there are more than `most`, those in the middle are left out.
pub(super) fn print(page: &mut Page, transfer: &Transfer, most: usize, indent: usize) {
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
    let unlisted = transfer.rounds_total.saturating_sub(rounds.len() as u64);
    // The last rounds matter only where they are the transfer's last.
    let tail = if unlisted == 0 { most / 4 } else { 0 };
    // Leaving out a single round would save no line.
    let (head, tail_start) = match rounds.len() {
        all if all <= most.saturating_add(1) => (all, all),
        all => (most - tail, all - tail),
    };
    for (index, round) in rounds.iter().enumerate().take(head) {
        table.styled_row(cells(index, round));
    }
    let left_out = (tail_start - head) as u64 + unlisted;
    if left_out > 0 {
        table.remark(format!("  …  {}", units::count(left_out, "more round")));
    }
    for (index, round) in rounds.iter().enumerate().skip(tail_start) {
        table.styled_row(cells(index, round));
    }
    table.print(page, indent);
}

fn cells(index: usize, round: &Round) -> [(Style, String); 7] {
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
