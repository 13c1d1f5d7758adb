//! A line for each capture: shows what many captures have in common and which stands out.

use super::terminal::{WIDTHS, names};
use crate::ranking;
use crate::text::styles::BOLD;
use crate::text::{Column, Page, Table, units};
use anstyle::Style;
use whyslow_analysis::{Analysis, Cause, Connection, Direction};
use whyslow_units::Nanos;

/// The values of a capture's line.
#[derive(Clone, Debug, Default)]
pub struct CaptureRow {
    name: String,
    connections: u64,
    /// Of the largest connection.
    rtt_ms: Option<f64>,
    /// Of the largest transfer.
    bytes: u64,
    rate_bps: Option<f64>,
    retransmitted: u64,
    duplicate_acks: u64,
    out_of_order: u64,
    zero_windows: u64,
    window_full: u64,
    cause: Option<(Cause, Nanos)>,
    /// Why the rest is missing: the file could not be read.
    error: Option<String>,
}

impl CaptureRow {
    /// The values of one capture.
    pub fn of(analysis: &Analysis) -> Self {
        let largest = |connection: &&Connection| connection.transfers.iter().map(|one| one.bytes).max();
        let main = analysis.connections.iter().max_by_key(largest);
        let transfer = main.and_then(|main| main.transfers.iter().max_by_key(|transfer| transfer.bytes));
        let all = || analysis.connections.iter().flat_map(|connection| &connection.directions);
        let sum = |count: fn(&Direction) -> u64| all().map(count).fold(0, u64::saturating_add);
        let once = ranking::without_duplicates(analysis);
        let cause = ranking::by_cause(&once).first().map(|cost| (cost.cause, cost.seconds));
        Self {
            name: analysis.captures.first().map_or(String::new(), |capture| capture.path.clone()),
            connections: analysis.connections.len() as u64,
            rtt_ms: main.and_then(|main| main.rtt_ms.min),
            bytes: transfer.map_or(0, |transfer| transfer.bytes),
            rate_bps: transfer.and_then(|transfer| transfer.rate_bps),
            retransmitted: sum(|one| one.retransmissions_total),
            duplicate_acks: sum(|one| one.duplicate_acks),
            out_of_order: sum(|one| one.out_of_order),
            zero_windows: sum(|one| one.zero_windows),
            window_full: sum(|one| one.window_full),
            cause,
            error: None,
        }
    }

    /// A capture that could not be read.
    pub fn unreadable(name: String, why: String) -> Self {
        Self { name, error: Some(why), ..Self::default() }
    }
}

/// The table. RTT and goodput are those of the largest transfer, all other figures of the whole
/// capture.
pub fn terminal(rows: &[CaptureRow], width: usize) -> String {
    let mut page = Page::new(width.max(*WIDTHS.start()));
    let mut table = Table::new(vec![
        Column::words("file"),
        Column::figures("conn.").optional(),
        Column::figures("min RTT"),
        Column::figures("bytes").optional(),
        Column::figures("goodput"),
        Column::figures("retrans."),
        Column::figures("dup. ACKs").optional(),
        Column::figures("out of order").optional(),
        Column::figures("zero window").optional(),
        Column::figures("window full").optional(),
        Column::words("cause"),
        Column::figures("cost"),
    ]);
    let plain = |text: String| (Style::new(), text);
    for row in rows {
        if let Some(error) = &row.error {
            table.remark(format!("{}: {error}", row.name));
            continue;
        }
        let (color, cause, cost) = match row.cause {
            Some((cause, cost)) => (names::cause_color(cause), cause.to_string(), units::span(cost)),
            None => (Style::new(), "none".to_owned(), String::new()),
        };
        table.styled_row([
            (BOLD, row.name.clone()),
            plain(units::thousands(row.connections)),
            plain(row.rtt_ms.map_or("unknown".to_owned(), units::millis)),
            plain(units::thousands(row.bytes)),
            plain(row.rate_bps.map_or("unknown".to_owned(), units::rate)),
            plain(units::thousands(row.retransmitted)),
            plain(units::thousands(row.duplicate_acks)),
            plain(units::thousands(row.out_of_order)),
            plain(units::thousands(row.zero_windows)),
            plain(units::thousands(row.window_full)),
            (color, cause),
            plain(cost),
        ]);
    }
    table.print(&mut page, 0);
    page.finish()
}
