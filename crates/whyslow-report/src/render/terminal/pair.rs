//! One connection in two captures: what was lost and how long packets took between them.

use super::finding::label;
use crate::text::styles::{BOLD, DIM, WARNING};
use crate::text::{Column, Line, Page, Table, units};
use crate::words;
use anstyle::Style;
use whyslow_analysis::{End, MatchedBy, Pair, PairClock, PairDirection};

/// Changes of the path that are listed.
const CHANGES: usize = 8;
/// Number of listed frames of lost packets.
const FRAMES: usize = 6;

/// The full comparison of a connection in two captures, next to that of `shown`, one of the two.
pub(super) fn print(page: &mut Page, pair: &Pair, shown: u64) {
    page.gap();
    let [client, server] = pair.captures.map(|capture| capture + 1);
    let other = pair.connections.iter().find(|id| **id != shown).copied().unwrap_or(shown);
    let head = Line::new().pad(2).styled(BOLD, "both ends: ");
    let what = match pair.matched_by {
        MatchedBy::Addresses => "the same connection",
        MatchedBy::InitialNumbers => "the same connection, by its initial sequence numbers",
        MatchedBy::SynTimestamps => "the same connection, by its SYN's timestamp",
        MatchedBy::SequenceNumbers => "the same connection, by its sequence numbers and segments",
        MatchedBy::Payload => "two connections of a proxy, by their amounts of payload",
    };
    let mut text = format!("{what}, in captures {client} (nearer to the client) and {server} (nearer to the server).");
    text += &match () {
        () if pair.proxy.is_some() => format!(" --connection {other} shows the other one."),
        () if shown == pair.shown => {
            format!(" Measured at the sender's capture; --connection {other} shows the other one.")
        }
        () => format!(" --connection {other} shows it as measured at the sender's capture."),
    };
    page.hanging(&head, Style::new(), &text, 4);
    if pair.proxy.is_none() {
        print_ways(page, pair);
    }
    let lang = page.lang();
    let statements: Vec<_> = pair.statements.iter().map(|one| words::pair_statement(one, lang)).collect();
    print_list(page, "thus", statements.iter().map(String::as_str));
    if pair.proxy.is_none()
        && let Some(clock) = &pair.clock
    {
        page.wrapped(&label("clocks"), Style::new(), &clocks(clock, client, server));
    }
    let changes: Vec<_> = pair.changes.iter().take(CHANGES).map(|one| words::pair_change(one, lang)).collect();
    print_list(page, "changed", changes.iter().map(String::as_str));
    for caveat in &pair.caveats {
        let text = words::pair_caveat(caveat, lang);
        page.wrapped(&Line::new().pad(4).styled(WARNING, "! "), Style::new(), &text);
    }
}

/// Sentences one under the other, the first one after the label.
fn print_list<'a>(page: &mut Page, name: &str, sentences: impl Iterator<Item = &'a str>) {
    for (index, sentence) in sentences.enumerate() {
        page.wrapped(&label(if index == 0 { name } else { "" }), Style::new(), sentence);
    }
}

/// The first conclusion of a pair, next to the verdict on its connection.
pub(super) fn print_short(page: &mut Page, pair: &Pair) {
    if let Some(first) = pair.statements.first() {
        let first = words::pair_statement(first, page.lang());
        page.wrapped(&label("both"), Style::new(), &format!("{first} (captures {})", places(pair)));
    }
}

/// Losses between two captures of several connections.
pub(super) fn print_sum(page: &mut Page, pairs: &[Pair]) {
    let ways = || pairs.iter().filter(|pair| pair.proxy.is_none()).flat_map(|pair| &pair.directions);
    if pairs.len() < 2 || ways().next().is_none() {
        return;
    }
    let sum = |figure: fn(&PairDirection) -> u64| ways().map(figure).fold(0, u64::saturating_add);
    let text = format!(
        "{} are in two captures: of {} between these {} were lost (--connection ID shows which)",
        units::count(pairs.len() as u64, "connection"),
        units::count(sum(|way| way.sent), "packet"),
        units::thousands(sum(|way| way.lost))
    );
    page.gap();
    page.wrapped(&Line::new().styled(BOLD, "both ends: "), Style::new(), &text);
}

fn places(pair: &Pair) -> String {
    let [client, server] = pair.captures.map(|capture| capture + 1);
    format!("{client} and {server}")
}

fn name(end: End) -> &'static str {
    match end {
        End::Client => "client",
        End::Server => "server",
    }
}

fn print_ways(page: &mut Page, pair: &Pair) {
    let mut table = Table::new(vec![
        Column::words("one way"),
        Column::figures("packets"),
        Column::figures("lost"),
        Column::figures("duplicated").optional(),
        Column::figures("reordered").optional(),
        Column::figures("minimum"),
        Column::figures("median"),
        Column::figures("p95").optional(),
    ]);
    let time = |value: Option<f64>| value.map_or("?".to_owned(), units::millis);
    for way in &pair.directions {
        let lost = match way.lost {
            0 => "0".to_owned(),
            lost => format!("{} ({})", units::thousands(lost), units::share(way.lost_share)),
        };
        table.row([
            format!("to {}", name(way.from.other())),
            units::thousands(way.sent),
            lost,
            units::thousands(way.duplicated),
            units::thousands(way.reordered),
            time(way.delay_ms.min),
            time(way.delay_ms.p50),
            time(way.delay_ms.p95),
        ]);
    }
    table.print(page, 4);
    for way in pair.directions.iter().filter(|way| !way.lost_frames.is_empty()) {
        let frames: Vec<_> = way.lost_frames.iter().take(FRAMES).map(ToString::to_string).collect();
        let more = if way.lost > frames.len() as u64 { ", …" } else { "" };
        let text = format!("to the {}: frames {}{more}", name(way.from.other()), frames.join(", "));
        page.wrapped(&label("lost"), DIM, &text);
    }
}

fn clocks(clock: &PairClock, client: usize, server: usize) -> String {
    let offset = clock.offset_s;
    let (ahead, by) = if offset.0 < 0 { ("behind", offset.scale(-1.0)) } else { ("ahead of", offset) };
    let mut text = format!("capture {server}'s is {} {ahead} capture {client}'s", units::span(by));
    match clock.drift_ppm {
        Some(drift) if drift != 0.0 => {
            let error = clock.drift_error_ppm.unwrap_or_default();
            text += &format!(" and drifts by {drift:.1} (± {error:.1}) millionths");
        }
        _ => {}
    }
    text + ", if the minimum delay is the same both ways"
}
