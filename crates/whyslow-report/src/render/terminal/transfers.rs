//! The transfers of a connection that has several: one in full, the others in a line each.

use super::{BOLD, DIM, finding, names, transfer};
use crate::ranking;
use crate::text::{Column, Line, Page, Table, units};
use anstyle::Style;
use std::cmp::Reverse;
use whyslow_core::analysis::{Connection, End, Transfer};
use whyslow_core::units::Nanos;

/// Transfers that have a line.
const LISTED: usize = 8;
/// Of the main one's time, what another must take to have a line although nothing slowed it.
const LISTED_SHARE: f64 = 0.2;

/// The place of the transfer that is shown in full: that of the headline, or else the slowest.
fn main(connection: &Connection) -> Option<usize> {
    let of_headline = ranking::main_cause(connection).and_then(|main| main.transfer);
    let all = &connection.transfers;
    of_headline.or_else(|| (0..all.len()).max_by_key(|&index| (all[index].cost(), all[index].waited(), index)))
}

/// The transfer that a connection is about: its only one, or the one beside which no other is worth
/// a line.
pub(super) fn alone(connection: &Connection) -> Option<&Transfer> {
    let index = main(connection)?;
    listed(connection, Some(index)).is_empty().then(|| &connection.transfers[index])
}

/// Whether there is such a transfer.
pub(super) fn is_alone(connection: &Connection) -> bool {
    alone(connection).is_some()
}

/// The places of the others that are worth a line: requests and other small change between the
/// transfers that took time are not.
fn listed(connection: &Connection, main: Option<usize>) -> Vec<usize> {
    let transfers = &connection.transfers;
    let enough = main.map_or(Nanos::ZERO, |index| transfers[index].waited().scale(LISTED_SHARE));
    // What slowed the connection as a whole says of each of them what there is to say.
    let is_said = ranking::main_cause(connection).is_some_and(|main| main.transfer.is_none());
    let is_slow = |index: usize| !is_said && transfers[index].waited() >= enough;
    let worth = |&index: &usize| !transfers[index].findings.is_empty() || is_slow(index);
    (0..transfers.len()).filter(|&index| Some(index) != main).filter(worth).collect()
}

/// Of several transfers the main one in full.
pub(super) fn print_main(page: &mut Page, connection: &Connection, transfers: &[Transfer]) {
    let Some(index) = main(connection) else { return };
    let Some(told) = transfers.get(index) else { return };
    print_header(page, connection, index, told);
    transfer::print_body(page, told, false);
}

/// All of them in full.
pub(super) fn print_all(page: &mut Page, connection: &Connection, transfers: &[Transfer]) {
    for (index, told) in transfers.iter().enumerate() {
        print_in_line(page, connection, index, told);
        transfer::print(page, told, true);
    }
    print_untold(page, connection, transfers.len());
}

/// The others, the slowest with a line each.
pub(super) fn print_others(page: &mut Page, connection: &Connection, transfers: &[Transfer]) {
    let main = main(connection);
    let mut listed = listed(connection, main);
    listed.sort_by_key(|&index| Reverse((transfers[index].cost(), transfers[index].waited(), index)));
    listed.truncate(LISTED);
    listed.sort_unstable();
    page.gap();
    if !listed.is_empty() {
        print_list(page, transfers, &listed);
    }
    print_untold(page, connection, listed.len() + usize::from(main.is_some()));
}

/// A line a transfer.
fn print_list(page: &mut Page, transfers: &[Transfer], listed: &[usize]) {
    let mut table = Table::new(vec![
        Column::figures("transfer"),
        Column::figures("start"),
        Column::figures("took"),
        Column::words("bytes"),
        Column::figures("rate").optional(),
        Column::words("cause"),
    ]);
    for &index in listed {
        let told = &transfers[index];
        let worst = told.findings.first();
        let cause = match worst {
            Some(worst) => finding::named(worst.cause.slug(), units::span(worst.seconds), worst.seconds),
            None if told.is_verdict_unknown() => "unknown".to_owned(),
            None => "none".to_owned(),
        };
        let cells = [
            (index + 1).to_string(),
            units::seconds(told.start_s),
            units::span(told.duration_s),
            match told.from {
                End::Client => format!("{} up", units::bytes(told.bytes)),
                End::Server => format!("{} down", units::bytes(told.bytes)),
            },
            told.rate_bps.map(units::rate).unwrap_or_default(),
        ];
        let color = worst.map_or(Style::new(), |worst| names::cause_color(worst.cause));
        table.styled_row(cells.into_iter().map(|cell| (Style::new(), cell)).chain([(color, cause)]));
    }
    table.print(page, 2);
}

/// Which transfer it is, and what it carried; its figures where the connection's header does not
/// have them.
pub(super) fn print_header(page: &mut Page, connection: &Connection, index: usize, told: &Transfer) {
    let which = which(connection, index, told);
    if is_alone(connection) {
        let which = (total(connection) > 1).then_some(which.as_str());
        transfer::print_label(page, which, told);
        return;
    }
    print_in_line(page, connection, index, told);
    transfer::print_label(page, None, told);
}

/// A line of its own: which transfer it is, and its figures.
fn print_in_line(page: &mut Page, connection: &Connection, index: usize, told: &Transfer) {
    page.gap();
    let head = Line::new().pad(2).styled(BOLD, &which(connection, index, told));
    let figures = Line::new().plain(&transfer::figures(told));
    if head.width() + 3 + figures.width() <= page.width() {
        page.line(&head.plain("   ").line(&figures));
    } else {
        page.line(&head);
        page.line(&Line::new().pad(2).line(&figures));
    }
}

fn which(connection: &Connection, index: usize, told: &Transfer) -> String {
    let timed = connection.duration_s > Nanos::ZERO;
    let start = if timed { format!(", starting at {}", units::seconds(told.start_s)) } else { String::new() };
    format!("transfer {} of {}{start}", index + 1, units::thousands(total(connection)))
}

fn total(connection: &Connection) -> u64 {
    connection.transfers_total.max(connection.transfers.len() as u64)
}

fn print_untold(page: &mut Page, connection: &Connection, told: usize) {
    let untold = total(connection).saturating_sub(told as u64);
    if untold > 0 {
        page.line(&Line::new().pad(2).styled(DIM, &format!("… and {}", units::count(untold, "shorter transfer"))));
    }
}
