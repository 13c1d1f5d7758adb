//! Three lines for chats and tickets: when it was slow, why, and the fix.

use crate::headline;
use crate::text::units;
use crate::words::Lang;
use whyslow_analysis::{Analysis, Connection, Transfer};
use whyslow_units::{Nanos, Time, iso_8601, read_iso_8601};

/// Characters of an instant: `2026-11-21T02:51:58.223`, and where its time of day begins.
const INSTANT: usize = 23;
const CLOCK: usize = 11;

/// When the costliest part was, the verdict, and the fix, a line each; the first line is about the
/// capture if nothing was slow.
pub fn three_lines(analysis: &Analysis, lang: Lang) -> String {
    let headline = headline::of(analysis, lang);
    let when = match slow_part(analysis) {
        Some((connection, transfer)) => of_transfer(analysis, connection, transfer, lang),
        None => of_captures(analysis, lang),
    };
    let nothing = match lang {
        Lang::En => "Fix: none needed.",
        Lang::Zh => "解决办法：不需要。",
    };
    format!("{when}\n{}\n{}\n", headline.sentence, headline.advice.as_deref().unwrap_or(nothing))
}

/// The connection that the costliest cause slowed most, and its transfer that this cause slowed
/// most.
fn slow_part(analysis: &Analysis) -> Option<(&Connection, Option<&Transfer>)> {
    let data = headline::data(analysis)?;
    let first = data.connections.first()?;
    let connection = analysis.connections.iter().find(|connection| connection.id == *first)?;
    let cost = |transfer: &Transfer| {
        let of_cause = transfer.findings.iter().filter(|finding| finding.cause == data.cause);
        of_cause.map(|finding| finding.cost_s).max()
    };
    let slowed = connection.transfers.iter().filter(|transfer| cost(transfer).is_some());
    Some((connection, slowed.max_by_key(|transfer| cost(transfer))))
}

fn of_transfer(analysis: &Analysis, connection: &Connection, transfer: Option<&Transfer>, lang: Lang) -> String {
    let (start, length) = match transfer {
        Some(transfer) => {
            let before: Nanos = transfer.before.iter().map(|wait| wait.seconds).sum();
            (transfer.start_s - before, transfer.duration_s + before)
        }
        None => (connection.start_s, connection.duration_s),
    };
    let ends = format!("{} → {}", connection.client.host_and_port(), connection.server.host_and_port());
    let when = span(analysis, start, length, lang);
    match lang {
        Lang::En => format!("When: {when}, connection {}, {ends}.", connection.id),
        Lang::Zh => format!("时间：{when}，连接 {}，{ends}。", connection.id),
    }
}

fn of_captures(analysis: &Analysis, lang: Lang) -> String {
    let ends = analysis.connections.iter().map(|one| one.start_s + one.duration_s);
    let of_captures = analysis.captures.iter().filter_map(|capture| capture.duration_s);
    let last = ends.chain(of_captures).max().unwrap_or_default();
    let when = span(analysis, Nanos::ZERO, last, lang);
    let total = analysis.connections.len() as u64;
    match lang {
        Lang::En => format!("When: {when}, {}.", units::count(total, "connection")),
        Lang::Zh => format!("时间：{when}，{} 条连接。", units::thousands(total)),
    }
}

/// `2026-11-21 02:51:58.223 to 02:51:58.826 UTC`; without a clock the seconds of the capture.
fn span(analysis: &Analysis, start: Nanos, length: Nanos, lang: Lang) -> String {
    let first = analysis.captures.iter().filter_map(|capture| read_iso_8601(capture.first_time.as_deref()?)).min();
    let (from, to, clock) = match first {
        Some(first) => {
            let (from, to) = (instant(first + start), instant(first + start + length));
            let is_same_day = from.get(..CLOCK) == to.get(..CLOCK);
            let to = if is_same_day { to.get(CLOCK..).unwrap_or_default().to_owned() } else { to };
            (from, to, " UTC")
        }
        None => (units::span(start), units::span(start + length), ""),
    };
    match lang {
        Lang::En => format!("{from} to {to}{clock}"),
        Lang::Zh => format!("{from} 至 {to}{clock}"),
    }
}

/// To the millisecond.
fn instant(time: Time) -> String {
    let mut text = iso_8601(time).replacen('T', " ", 1);
    text.truncate(INSTANT);
    text
}

#[cfg(test)]
mod tests {
    use super::super::example;
    use super::*;

    #[test]
    fn digests_of_one_several_and_no_transfer_have_three_lines() {
        let cases = [
            ("one slow transfer", example::slow_start()),
            ("many connections", example::many()),
            ("nothing slow", example::healthy()),
            ("no connection", example::analysis(Vec::new())),
        ];
        let mut shown = String::new();
        for (name, analysis) in &cases {
            for lang in [Lang::En, Lang::Zh] {
                let text = three_lines(analysis, lang);
                assert_eq!(text.lines().count(), 3, "{name}: {text}");
                shown += &format!("# {name}\n{text}\n");
            }
        }
        insta::assert_snapshot!("digest", shown);
    }
}
