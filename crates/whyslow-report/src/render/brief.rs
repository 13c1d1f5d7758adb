//! A line a transfer: for a person who looks for one of many ([`terminal`]), and as tab-separated
//! values for programs ([`tsv`]).

use super::terminal::{WIDTHS, names};
use crate::headline::confidence;
use crate::text::styles::BOLD;
use crate::text::{Column, Page, Table, harmless, units};
use crate::words::Lang;
use anstyle::Style;
use std::io::{self, Write};
use whyslow_analysis::{Analysis, Connection, End, Finding, Transfer};
use whyslow_units::Nanos;

/// The titles of the columns of [`tsv`].
const TITLES: &[&str] = &[
    "connection",
    "transfer",
    "client",
    "server",
    "from",
    "start_s",
    "duration_s",
    "bytes",
    "rate_bps",
    "rtt_ms",
    "cause",
    "cost_s",
    "confidence",
    "if_fixed_s",
];

/// A row: a transfer, or a connection without one.
struct Row<'a> {
    connection: &'a Connection,
    /// The transfer's number and the transfer.
    transfer: Option<(usize, &'a Transfer)>,
    /// Its costliest cause.
    finding: Option<&'a Finding>,
}

fn rows(analysis: &Analysis) -> impl Iterator<Item = Row<'_>> {
    analysis.connections.iter().flat_map(|connection| {
        let transfers = connection.transfers.iter().enumerate();
        let of_transfers = transfers.map(move |(index, transfer)| {
            // What cost a connection as a whole stands with its only transfer.
            let own = connection.findings.first().filter(|_| connection.transfers.len() == 1);
            let finding = transfer.findings.first().into_iter().chain(own).max_by_key(|finding| finding.cost_s);
            Row { connection, transfer: Some((index + 1, transfer)), finding }
        });
        let own = connection.findings.first().filter(|_| connection.transfers.len() != 1);
        let is_whole = connection.transfers.is_empty() || own.is_some();
        of_transfers.chain(is_whole.then_some(Row { connection, transfer: None, finding: own }))
    })
}

/// A line for each transfer, and one for what a connection of several lost as a whole.
pub fn terminal(analysis: &Analysis, width: usize) -> String {
    let mut page = Page::new(width.max(*WIDTHS.start()));
    let mut table = Table::new(vec![
        Column::words("transfer"),
        Column::words("client → server"),
        Column::figures("start").optional(),
        Column::figures("bytes"),
        Column::words(""),
        Column::figures("took"),
        Column::figures("rate").optional(),
        Column::words("cause"),
        Column::figures("cost"),
        Column::words("").optional(),
    ]);
    for row in rows(analysis) {
        let Row { connection, transfer, finding } = row;
        let ends = names::ends(connection);
        let (number, figures) = match transfer {
            Some((number, one)) => (format!("#{}.{number}", connection.id), figures(one)),
            None => (format!("#{}", connection.id), whole(connection)),
        };
        let [start, bytes, way, took, rate] = figures;
        let is_unknown = transfer.is_some_and(|(_, one)| one.is_verdict_unknown());
        let none = if is_unknown { "unknown" } else { "none" };
        let color = finding.map_or(Style::new(), |finding| names::cause_color(finding.cause));
        let plain = |text: String| (Style::new(), text);
        table.styled_row([
            (BOLD, number),
            plain(ends),
            plain(start),
            plain(bytes),
            plain(way),
            plain(took),
            plain(rate),
            (color, finding.map_or(none.to_owned(), |finding| finding.cause.to_string())),
            plain(finding.filter(|one| one.cost_s > Nanos::ZERO).map_or(String::new(), |one| units::span(one.cost_s))),
            plain(finding.map_or(String::new(), |finding| confidence(finding.confidence, Lang::En).to_owned())),
        ]);
    }
    table.print(&mut page, 0);
    page.finish()
}

fn figures(one: &Transfer) -> [String; 5] {
    let way = if one.from == End::Client { "up" } else { "down" };
    [
        units::seconds(one.start_s),
        units::thousands(one.bytes),
        way.to_owned(),
        units::span(one.duration_s),
        one.rate_bps.map(units::rate).unwrap_or_default(),
    ]
}

/// The same for a whole connection.
fn whole(connection: &Connection) -> [String; 5] {
    let bytes = crate::ranking::payload(connection).into_iter().fold(0, u64::saturating_add);
    [
        units::seconds(connection.start_s),
        units::thousands(bytes),
        "both".to_owned(),
        units::span(connection.duration_s),
        String::new(),
    ]
}

/// The same rows with a title line; an unknown value is empty.
///
/// # Errors
/// Only those of `out`.
pub fn tsv(analysis: &Analysis, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}", TITLES.join("\t"))?;
    for row in rows(analysis) {
        let cells: Vec<String> = cells(&row).into_iter().map(|cell| harmless(&cell).into_owned()).collect();
        writeln!(out, "{}", cells.join("\t"))?;
    }
    Ok(())
}

fn cells(row: &Row<'_>) -> [String; 14] {
    let Row { connection, transfer, finding } = row;
    let transfer = transfer.as_ref();
    let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    let seconds = |time: Nanos| time.as_secs_f64().to_string();
    let from = transfer.map_or("", |(_, one)| if one.from == End::Client { "client" } else { "server" });
    let bytes = match transfer {
        Some((_, one)) => one.bytes,
        None => crate::ranking::payload(connection).into_iter().fold(0, u64::saturating_add),
    };
    [
        connection.id.to_string(),
        transfer.map_or(String::new(), |(number, _)| number.to_string()),
        names::endpoint(&connection.client),
        names::endpoint(&connection.server),
        from.to_owned(),
        seconds(transfer.map_or(connection.start_s, |(_, one)| one.start_s)),
        seconds(transfer.map_or(connection.duration_s, |(_, one)| one.duration_s)),
        bytes.to_string(),
        number(transfer.and_then(|(_, one)| one.rate_bps)),
        number(connection.rtt_ms.min),
        finding.map_or(String::new(), |finding| finding.cause.to_string()),
        finding.map_or(String::new(), |finding| seconds(finding.cost_s)),
        number(finding.map(|finding| finding.confidence)),
        finding.and_then(|finding| finding.predicted()).map_or(String::new(), seconds),
    ]
}

#[cfg(test)]
mod tests;
