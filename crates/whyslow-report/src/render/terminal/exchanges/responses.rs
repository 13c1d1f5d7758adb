//! The response times of a series of exchanges: their spread, and what delayed ACKs added.

use crate::text::styles::DIM;
use crate::text::{Line, Page, units};
use anstyle::Style;
use whyslow_analysis::{Connection, Exchange, LimitingFactor};
use whyslow_units::Nanos;

/// Columns of the histogram, and its steps.
const COLUMNS: usize = 24;
const STEPS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Median, 95th percentile and maximum of all exchanges in words. If all of them are listed, also a
/// histogram, and the median without delayed ACKs.
pub(super) fn print(page: &mut Page, connection: &Connection, total: u64) {
    let Some(all) = connection.response_times else { return };
    let [median, p95, most] = [all.p50_s, all.p95_s, all.max_s].map(units::span);
    let of =
        if all.count < total { format!(", {} of them measured", units::thousands(all.count)) } else { String::new() };
    let text =
        format!("{}{of}: response time median {median}, p95 {p95}, maximum {most}", units::count(total, "exchange"),);
    page.wrapped(&Line::new().pad(2), Style::new(), &text);
    if total <= connection.exchanges.len() as u64 {
        print_listed(page, connection);
    }
}

/// The histogram of the listed exchanges, and what delayed ACKs added to them.
fn print_listed(page: &mut Page, connection: &Connection) {
    let times: Vec<Nanos> = sorted(connection.exchanges.iter().map(|exchange| exchange.wait_s));
    let (Some(&least), Some(&most)) = (times.first(), times.last()) else { return };
    if most > least {
        let bars = Line::new().pad(4).styled(DIM, &units::span(least)).plain(" ").plain(&histogram(&times));
        page.line(&bars.plain(" ").styled(DIM, &units::span(most)));
    }
    let without = sorted(connection.exchanges.iter().map(|one| one.wait_s - ack_delay(connection, one)));
    let (with, without) = (percentile(&times, 0.5), percentile(&without, 0.5));
    if with - without >= Nanos::from_micros(100) {
        let text = format!(
            "delayed ACKs added {} at the median: without them {}",
            units::span(with - without),
            units::span(without)
        );
        page.wrapped(&Line::new().pad(4), Style::new(), &text);
    }
}

/// The time within an exchange in which an ACK was waited for that the other end held back.
fn ack_delay(connection: &Connection, exchange: &Exchange) -> Nanos {
    let transfers = exchange.transfers.iter().filter_map(|&index| connection.transfers.get(index));
    let is_delay = |limit| matches!(limit, LimitingFactor::AckDelay | LimitingFactor::NagleDelayedAck);
    let shares = transfers.flat_map(|transfer| transfer.before.iter().chain(&transfer.limits));
    let delay: Nanos = shares.filter(|share| is_delay(share.limit)).map(|share| share.seconds).sum();
    delay.min(exchange.wait_s)
}

fn sorted(times: impl Iterator<Item = Nanos>) -> Vec<Nanos> {
    let mut times: Vec<Nanos> = times.collect();
    times.sort_unstable();
    times
}

/// By the nearest rank; zero of none.
fn percentile(sorted: &[Nanos], share: f64) -> Nanos {
    let rank = (sorted.len() as f64 * share).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}

/// How many times lie in each part of the range.
fn histogram(sorted: &[Nanos]) -> String {
    let (Some(first), Some(last)) = (sorted.first(), sorted.last()) else { return String::new() };
    let range = (*last - *first).0.max(1) as f64;
    let mut counts = [0_usize; COLUMNS];
    for time in sorted {
        let column = (*time - *first).0 as f64 / range * (COLUMNS - 1) as f64;
        counts[(column.round() as usize).min(COLUMNS - 1)] += 1;
    }
    let most = counts.iter().max().copied().unwrap_or(1).max(1);
    // Any count above zero is visible.
    let step = |count: usize| STEPS[(count * STEPS.len()).div_ceil(most).saturating_sub(1).min(STEPS.len() - 1)];
    counts.iter().map(|&count| if count == 0 { ' ' } else { step(count) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_one_of_the_times() {
        let times: Vec<Nanos> = (1..=20).map(Nanos::from_millis).collect();
        assert_eq!(percentile(&times, 0.5), Nanos::from_millis(10));
        assert_eq!(percentile(&times, 0.95), Nanos::from_millis(19));
        assert_eq!(percentile(&[], 0.5), Nanos::ZERO);
    }

    #[test]
    fn a_histogram_shows_where_the_times_lie() {
        let times = sorted([1, 1, 1, 1, 2, 24].into_iter().map(Nanos::from_millis));
        assert_eq!(histogram(&times), format!("█▂{}▂", " ".repeat(COLUMNS - 3)));
        assert_eq!(histogram(&[]), "");
    }
}
