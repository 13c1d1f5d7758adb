//! The transfers of a connection that has several: one in full, the others in a line each.

use super::{finding, names, transfer};
use crate::ranking;
use crate::text::styles::{BOLD, DIM};
use crate::text::{Column, Line, Page, Table, units};
use anstyle::Style;
use std::cmp::Reverse;
use whyslow_analysis::{Connection, End, Transfer};
use whyslow_units::Nanos;

/// The most transfers with a line each.
const LISTED: usize = 8;
/// The least share of the main transfer's time that gives a healthy one a line.
const LISTED_SHARE: f64 = 0.2;

/// The place of the transfer that is shown in full: that of the headline, or else the slowest.
fn main(connection: &Connection) -> Option<usize> {
    let of_headline = ranking::main_cause(connection).and_then(|main| main.transfer);
    let all = &connection.transfers;
    of_headline.or_else(|| (0..all.len()).max_by_key(|&index| (all[index].cost(), all[index].waited(), index)))
}

/// The main transfer of a connection: its only one, or the one next to which no other is worth
/// a line.
pub(super) fn alone(connection: &Connection) -> Option<&Transfer> {
    let index = main(connection)?;
    listed(connection, Some(index)).is_empty().then(|| &connection.transfers[index])
}

/// Whether there is one.
pub(super) fn is_alone(connection: &Connection) -> bool {
    alone(connection).is_some()
}

/// The places of the other transfers that deserve a line; small requests between them do not.
fn listed(connection: &Connection, main: Option<usize>) -> Vec<usize> {
    let transfers = &connection.transfers;
    let enough = main.map_or(Nanos::ZERO, |index| transfers[index].waited().scale(LISTED_SHARE));
    // Findings of the connection as a whole cover each of them.
    let is_said = ranking::main_cause(connection).is_some_and(|main| main.transfer.is_none());
    let is_slow = |index: usize| !is_said && transfers[index].waited() >= enough;
    let worth = |&index: &usize| !transfers[index].findings.is_empty() || is_slow(index);
    (0..transfers.len()).filter(|&index| Some(index) != main).filter(worth).collect()
}

/// Prints the main one of several transfers in full.
pub(super) fn print_main(page: &mut Page, connection: &Connection, transfers: &[Transfer]) {
    let Some(index) = main(connection) else { return };
    let Some(one) = transfers.get(index) else { return };
    print_header(page, connection, index, one);
    transfer::print_body(page, one, false);
}

/// Prints all in full.
pub(super) fn print_all(page: &mut Page, connection: &Connection, transfers: &[Transfer]) {
    for (index, one) in transfers.iter().enumerate() {
        print_one(page, connection, index, one);
    }
    print_unlisted(page, connection, transfers.len());
}

/// Prints one of several in full.
pub(super) fn print_one(page: &mut Page, connection: &Connection, index: usize, transfer: &Transfer) {
    print_in_line(page, connection, index, transfer);
    transfer::print(page, transfer, true);
}

/// Prints the others, the slowest with a line each.
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
    print_unlisted(page, connection, listed.len() + usize::from(main.is_some()));
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
        let one = &transfers[index];
        let worst = one.findings.first();
        let cause = match worst {
            Some(worst) => finding::named(worst.cause.slug(), units::span(worst.cost_s), worst.cost_s),
            None if one.is_verdict_unknown() => "unknown".to_owned(),
            None => "none".to_owned(),
        };
        let cells = [
            (index + 1).to_string(),
            units::seconds(one.start_s),
            units::span(one.duration_s),
            match one.from {
                End::Client => format!("{} up", units::bytes(one.bytes)),
                End::Server => format!("{} down", units::bytes(one.bytes)),
            },
            one.rate_bps.map(units::rate).unwrap_or_default(),
        ];
        let color = worst.map_or(Style::new(), |worst| names::cause_color(worst.cause));
        table.styled_row(cells.into_iter().map(|cell| (Style::new(), cell)).chain([(color, cause)]));
    }
    table.print(page, 2);
}

/// The transfer's number and content; its figures if the connection's header does not
/// have them.
pub(super) fn print_header(page: &mut Page, connection: &Connection, index: usize, one: &Transfer) {
    let which = which(connection, index, one);
    if is_alone(connection) {
        let which = (total(connection) > 1).then_some(which.as_str());
        transfer::print_label(page, which, one);
        return;
    }
    print_in_line(page, connection, index, one);
    transfer::print_label(page, None, one);
}

/// Prints a line that names the transfer, with its figures.
fn print_in_line(page: &mut Page, connection: &Connection, index: usize, one: &Transfer) {
    page.gap();
    let head = Line::new().pad(2).styled(BOLD, &which(connection, index, one));
    let figures = Line::new().plain(&transfer::figures(one));
    if head.width() + 3 + figures.width() <= page.width() {
        page.line(&head.plain("   ").line(&figures));
    } else {
        page.line(&head);
        page.line(&Line::new().pad(2).line(&figures));
    }
}

fn which(connection: &Connection, index: usize, one: &Transfer) -> String {
    let timed = connection.duration_s > Nanos::ZERO;
    let start = if timed { format!(", starting at {}", units::seconds(one.start_s)) } else { String::new() };
    format!("transfer {} of {}{start}", index + 1, units::thousands(total(connection)))
}

fn total(connection: &Connection) -> u64 {
    connection.transfers_total.max(connection.transfers.len() as u64)
}

fn print_unlisted(page: &mut Page, connection: &Connection, listed: usize) {
    let unlisted = total(connection).saturating_sub(listed as u64);
    if unlisted > 0 {
        page.line(&Line::new().pad(2).styled(DIM, &format!("… and {}", units::count(unlisted, "shorter transfer"))));
    }
}
