//! Forecasts for several sizes and round trips: a table of times, and a picture of where the time
//! goes (JSON: `"schema": "whyslow-predict-grid/1"`).

use super::{BOLD, DIM, timeline};
use crate::render::terminal::{WIDTHS, names};
use crate::text::{Column, Line, Page, Table, units, width};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use whyslow_analysis::LimitingFactor;
use whyslow_model::plan::{Forecast, Plan, Way};
use whyslow_units::Nanos;

/// A bar is this wide, if there is room.
const BAR: std::ops::RangeInclusive<usize> = 6..=16;

/// One transfer.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The plan.
    pub plan: Plan,
    /// Its forecast.
    pub forecast: Forecast,
}

/// A page with a row for each size and a column for each round trip.
pub fn terminal(rows: &[Vec<Cell>], width: usize) -> String {
    let mut page = Page::new(width.clamp(*WIDTHS.start(), *WIDTHS.end()));
    let Some(first) = rows.first().and_then(|row| row.first()) else { return page.finish() };
    page.wrapped(&Line::new(), BOLD, &title(&first.plan));
    page.gap();
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut table = Table::new((0..=columns).map(|_| Column::figures("")).collect());
    let times = rows.first().into_iter().flatten().map(|cell| format!("RTT {}", units::short(cell.plan.rtt)));
    table.styled_row(["bytes".to_owned()].into_iter().chain(times).map(|title| (DIM, title)));
    for row in rows {
        table.row(row_name(row).into_iter().chain(row.iter().map(|cell| units::span(cell.forecast.total))));
    }
    table.print(&mut page, 2);
    page.gap();
    print_bars(&mut page, rows, columns);
    page.finish()
}

/// The common properties of all transfers.
fn title(plan: &Plan) -> String {
    let way = if plan.way == Way::Download { "Downloads" } else { "Uploads" };
    let connection = if plan.reuse { "reused connections" } else { "new connections" };
    let rate = plan.rate.map_or("an unlimited rate".to_owned(), units::rate);
    let loss = if plan.loss > 0.0 { format!(", {} loss", units::share(plan.loss)) } else { String::new() };
    format!("{way} on {connection} at {rate}{loss}: time by size and round trip")
}

fn row_name(row: &[Cell]) -> Option<String> {
    row.first().map(|cell| units::thousands(cell.plan.bytes))
}

/// A bar of letters a transfer, with what the letters mean, and how many times as long as the bare
/// path it takes.
fn print_bars(page: &mut Page, rows: &[Vec<Cell>], columns: usize) {
    let named = rows.iter().filter_map(|row| row_name(row)).map(|name| width(&name)).max().unwrap_or(0).max(5);
    let room = page.width().saturating_sub(2 + named) / columns.max(1);
    let bar = room.saturating_sub(2).clamp(*BAR.start(), *BAR.end());
    page.line(&Line::new().pad(2).styled(DIM, "where the time goes"));
    let mut limits = BTreeSet::new();
    for row in rows {
        let name = row_name(row).unwrap_or_default();
        let mut line = Line::new().pad(2 + named - width(&name)).plain(&name);
        for cell in row {
            limits.extend(cell.forecast.phases.iter().map(|phase| phase.0));
            line = line.plain("  ").line(&timeline::bar(&cell.forecast.phases, bar));
        }
        page.line(&line);
    }
    let names: Vec<String> =
        limits.into_iter().map(|limit| format!("{} {}", names::letter(limit), names::limit(limit))).collect();
    page.wrapped(&Line::new().pad(2), DIM, &names.join(" ▏"));
    page.gap();
    print_sufferers(page, rows);
}

/// Which sizes spend most of their time on limits that a setting could remove.
fn print_sufferers(page: &mut Page, rows: &[Vec<Cell>]) {
    let suffering: Vec<&Plan> =
        rows.iter().flatten().filter(|cell| avoidable(&cell.forecast) >= 0.5).map(|cell| &cell.plan).collect();
    let sizes = || suffering.iter().map(|plan| plan.bytes);
    let text = match (sizes().min(), sizes().max(), suffering.iter().map(|plan| plan.rtt).min()) {
        (Some(least), Some(most), Some(rtt)) => {
            let range = if least < most {
                format!("{} to {}", units::thousands(least), units::bytes(most))
            } else {
                units::bytes(least)
            };
            let rtt = units::span(rtt);
            format!("{range} suffer most: from an RTT of {rtt}, half of the time or more goes to windows or loss")
        }
        _ => "no size spends half of its time on windows or loss".to_owned(),
    };
    page.wrapped(&Line::new().pad(2), BOLD, &text);
}

/// The share of a transfer's time that is neither the path's round trips nor its bandwidth.
fn avoidable(forecast: &Forecast) -> f64 {
    let is_path = |limit| {
        matches!(
            limit,
            LimitingFactor::Handshake
                | LimitingFactor::TlsHandshake
                | LimitingFactor::RequestWait
                | LimitingFactor::RoundTrip
                | LimitingFactor::Bandwidth
                | LimitingFactor::ServerThink
        )
    };
    let all: Nanos = forecast.phases.iter().map(|phase| phase.1).sum();
    let rest: Nanos = forecast.phases.iter().filter(|phase| !is_path(phase.0)).map(|phase| phase.1).sum();
    rest.0 as f64 / all.0.max(1) as f64
}

/// One indented JSON object and a line feed.
pub fn json(rows: &[Vec<Cell>]) -> String {
    let seconds = Nanos::as_secs_f64;
    let cell = |Cell { plan, forecast }: &Cell| {
        let phases = forecast.phases.iter();
        let phases: Vec<Value> =
            phases.map(|(limit, time)| json!({ "limit": limit.slug(), "seconds": seconds(*time) })).collect();
        json!({
            "bytes": plan.bytes,
            "rtt_s": seconds(plan.rtt),
            "total_s": seconds(forecast.total),
            "goodput_bps": forecast.goodput.round(),
            "phases": phases,
        })
    };
    let cells: Vec<Value> = rows.iter().flatten().map(cell).collect();
    format!("{:#}\n", json!({ "schema": "whyslow-predict-grid/1", "forecasts": cells }))
}

#[cfg(test)]
mod tests;
