//! Two transfers side by side (`whyslow compare`): a page, or JSON
//! (`"schema": "whyslow-compare/2"`, see `docs/json.md`).

use super::terminal::{WIDTHS, names};
use crate::text::styles::{BOLD, DIM, WARNING};
use crate::text::{Column, Line, Page, Table, units};
use crate::words;
use anstyle::Style;
use std::io::{self, Write};
use whyslow_analysis::{End, Near};
use whyslow_diagnosis::compare::{Comparison, RoundSide, TransferSummary};
use whyslow_units::Nanos;

const NAMES: [&str; 2] = ["A", "B"];
/// Rounds that are shown.
const FEW_ROUNDS: usize = 12;
/// Writes one indented object and a line feed.
///
/// # Errors
/// Only those of `out`.
pub fn json(comparison: &Comparison, out: &mut impl Write) -> io::Result<()> {
    super::json::object(comparison, out)
}

/// A page of this width.
pub fn terminal(comparison: &Comparison, width: usize) -> String {
    let mut page = Page::new(width.clamp(*WIDTHS.start(), *WIDTHS.end()));
    for (name, summary) in NAMES.iter().zip(&comparison.transfers) {
        print_transfer(&mut page, name, summary);
    }
    page.gap();
    let lang = page.lang();
    for statement in &comparison.statements {
        let sentence = words::comparison_statement(statement, lang);
        page.hanging(&Line::new().plain("  "), Style::new(), &sentence, 4);
    }
    print_phases(&mut page, comparison);
    print_rounds(&mut page, comparison);
    print_settings(&mut page, comparison);
    if !comparison.caveats.is_empty() {
        page.gap();
    }
    for caveat in &comparison.caveats {
        let text = words::comparison_caveat(caveat, lang);
        page.hanging(&Line::new().styled(WARNING, "! "), Style::new(), &text, 2);
    }
    page.finish()
}

fn print_transfer(page: &mut Page, name: &str, summary: &TransferSummary) {
    page.line(&Line::new().styled(BOLD, name).plain("  ").styled(BOLD, &summary.path));
    let near = match summary.near {
        Near::Client => ", captured at the client",
        Near::Server => ", captured at the server",
        Near::Middle => ", captured between the two ends",
        Near::Unknown => "",
    };
    let which = format!("connection {}, transfer {}{near}", summary.connection, summary.transfer);
    page.wrapped(&Line::new().pad(3), DIM, &which);
    let [client, server] = &summary.ends;
    let way = match summary.from {
        End::Client => "up",
        End::Server => "down",
    };
    let mut figures = format!("{} {way} in {}", units::bytes(summary.bytes), units::seconds(summary.duration_s));
    if let Some(rate) = summary.rate_bps {
        figures += &format!(" = {}", units::rate(rate));
    }
    if let Some(rtt) = summary.rtt_s {
        figures += &format!("   RTT {}", units::span(rtt));
    }
    let lang = page.lang();
    page.wrapped(&Line::new().pad(3), Style::new(), &format!("{client} → {server}"));
    page.line(&Line::new().pad(3).plain(&figures));
    page.wrapped(&Line::new().pad(3), DIM, &words::verdict_of(&summary.verdict, summary.finding.as_slice(), lang));
}

fn signed(time: Nanos) -> String {
    match time {
        Nanos::ZERO => "0 ms".to_owned(),
        less if less < Nanos::ZERO => format!("−{}", units::short(Nanos::ZERO - less)),
        more => format!("+{}", units::short(more)),
    }
}

fn print_phases(page: &mut Page, comparison: &Comparison) {
    page.gap();
    let mut table = Table::new(vec![
        Column::words("where the time went"),
        Column::figures("A"),
        Column::figures("B"),
        Column::figures("B − A"),
    ]);
    let time = |time: Nanos| if time == Nanos::ZERO { "–".to_owned() } else { units::short(time) };
    for phase in &comparison.phases {
        let [a, b] = phase.times.seconds.map(time);
        table.styled_row([
            (names::color(phase.limit), names::limit(phase.limit).to_owned()),
            (Style::new(), a),
            (Style::new(), b),
            (Style::new(), signed(phase.times.difference_s)),
        ]);
    }
    let [a, b] = comparison.total.seconds.map(units::short);
    let cells = ["together".to_owned(), a, b, signed(comparison.total.difference_s)];
    table.styled_row(cells.map(|cell| (BOLD, cell)));
    table.print(page, 2);
}

fn print_rounds(page: &mut Page, comparison: &Comparison) {
    if comparison.rounds.is_empty() {
        return;
    }
    page.gap();
    let columns = |which: usize| {
        [
            Column::figures(["A start", "B start"][which]),
            Column::figures(["A sent", "B sent"][which]),
            Column::figures("growth"),
            Column::figures("window").optional(),
        ]
    };
    let mut table = Table::new([Column::figures("round")].into_iter().chain(columns(0)).chain(columns(1)).collect());
    for (index, round) in comparison.rounds.iter().take(FEW_ROUNDS).enumerate() {
        table.row([(index + 1).to_string()].into_iter().chain(round.iter().flat_map(cells)));
    }
    let most = comparison.rounds_total.iter().max().copied().unwrap_or(0);
    let more = most.saturating_sub(comparison.rounds.len().min(FEW_ROUNDS) as u64);
    if more > 0 {
        table.remark(format!("  …  {}", units::count(more, "more round")));
    }
    table.print(page, 2);
}

fn cells(side: &Option<RoundSide>) -> [String; 4] {
    let Some(side) = side else { return Default::default() };
    [
        units::short(side.start_s),
        units::thousands(side.bytes),
        side.growth.map_or(String::new(), |growth| format!("×{growth:.2}")),
        side.window.map(units::thousands).unwrap_or_default(),
    ]
}

fn print_settings(page: &mut Page, comparison: &Comparison) {
    let (differ, same): (Vec<_>, Vec<_>) = comparison.settings.iter().partition(|setting| setting.differs);
    let unknown = same.iter().filter(|setting| setting.values.iter().any(Option::is_none));
    let listed: Vec<_> = differ.iter().chain(unknown).collect();
    if !listed.is_empty() {
        page.gap();
        let mut table = Table::new(vec![Column::words("what differs"), Column::words("A"), Column::words("B")]);
        for setting in listed {
            let [a, b] = setting.values.clone().map(|value| value.unwrap_or_else(|| "unknown".to_owned()));
            table.row([title(setting.name).to_owned(), a, b]);
        }
        table.print(page, 2);
    }
    let alike: Vec<_> = same
        .iter()
        .filter_map(|setting| match &setting.values {
            [Some(value), Some(_)] => Some(format!("{} {value}", title(setting.name))),
            _ => None,
        })
        .collect();
    if !alike.is_empty() {
        page.gap();
        page.wrapped(&Line::new().pad(2).styled(DIM, "the same  "), DIM, &alike.join(", "));
    }
}

/// A setting in plain words.
fn title(name: &str) -> &str {
    match name {
        "round-trip" => "minimum RTT",
        "mss" => "MSS",
        "window-scale" => "window scale",
        "sack" => "SACK",
        "first-flight" => "first flight",
        "initial-window" => "initial window",
        "first-window" => "receiver's first window",
        "first-record" => "first TLS record",
        "largest-record" => "largest TLS record",
        name => name,
    }
}

#[cfg(test)]
mod tests;
