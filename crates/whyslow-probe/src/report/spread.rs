//! [`Spread`]: how the times of many requests are spread, cold and warm apart.
//!
//! A request on a new connection pays for the name, the handshakes and a small first window; one on
//! an open connection does not. Together they would give a mean that no request takes.

use crate::requests::Request;
use serde::Serialize;
use whyslow_report::text::{Column, Line, Page, Table, units};

/// Requests that a spread needs.
const FEW: usize = 5;
/// Bars of the picture, and the width of the longest.
const BARS: usize = 10;
const LONGEST: usize = 40;

/// The times of requests to one URL, on new connections or on open ones.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Spread {
    pub url: String,
    /// Whether they were made on open connections.
    pub warm: bool,
    /// Requests that were answered.
    pub requests: usize,
    /// Seconds until the first byte of the answer.
    pub first_byte_s: Quantiles,
    /// Seconds in all.
    pub total_s: Quantiles,
    /// The mean of the totals so far: how it settles.
    pub running_mean: Vec<RunningMean>,
    /// The totals: how many lie in each of equally wide ranges.
    pub histogram: Vec<Bar>,
}

/// Quantiles of a figure, by nearest rank.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Quantiles {
    pub min: f64,
    pub mean: f64,
    pub p50: f64,
    pub p90: f64,
    pub p95: f64,
    pub p99: f64,
    pub max: f64,
}

/// The mean of the first requests.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct RunningMean {
    pub requests: usize,
    pub mean_s: f64,
    /// Seconds by which the mean of as many other requests may differ (one standard deviation).
    pub standard_error_s: f64,
}

/// A range of times.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Bar {
    pub from_s: f64,
    pub to_s: f64,
    pub requests: usize,
}

impl Quantiles {
    /// The spread of at least one value.
    fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let (first, last) = (*values.first()?, *values.last()?);
        let rank = |part: f64| ((part * values.len() as f64).ceil() as usize).clamp(1, values.len()) - 1;
        Some(Self {
            min: first,
            mean: values.iter().sum::<f64>() / values.len() as f64,
            p50: values[rank(0.5)],
            p90: values[rank(0.9)],
            p95: values[rank(0.95)],
            p99: values[rank(0.99)],
            max: last,
        })
    }
}

/// A URL and whether connections were open, with first byte and total of each answer.
type Group<'a> = ((&'a str, bool), Vec<[f64; 2]>);

/// The spreads of each URL and kind of connection with enough answers, in the order of the
/// requests.
pub(super) fn all(requests: &[Request]) -> Vec<Spread> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for request in requests {
        let Ok(exchange) = &request.outcome else { continue };
        let hop = exchange.last();
        let key = (request.url.as_str(), hop.is_reused);
        let times = [hop.times.starttransfer.as_secs_f64(), exchange.took.as_secs_f64()];
        match groups.iter_mut().find(|(other, _)| *other == key) {
            Some((_, all)) => all.push(times),
            None => groups.push((key, vec![times])),
        }
    }
    let groups = groups.into_iter().filter(|(_, times)| times.len() >= FEW);
    groups.filter_map(|((url, warm), times)| one(url, warm, &times)).collect()
}

fn one(url: &str, warm: bool, times: &[[f64; 2]]) -> Option<Spread> {
    let column = |index: usize| times.iter().map(|times| times[index]).collect::<Vec<f64>>();
    let total_s = Quantiles::of(column(1))?;
    Some(Spread {
        url: url.to_owned(),
        warm,
        requests: times.len(),
        first_byte_s: Quantiles::of(column(0))?,
        total_s,
        running_mean: running_mean(&column(1)),
        histogram: histogram(&column(1), total_s),
    })
}

/// The mean of the first 5, 10, 20, 50, 100, … values, and of all (Welford's method).
fn running_mean(values: &[f64]) -> Vec<RunningMean> {
    let (mut mean, mut squares) = (0.0, 0.0);
    let mut out = Vec::new();
    let mut next = FEW;
    for (index, value) in values.iter().enumerate() {
        let count = index + 1;
        let off = value - mean;
        mean += off / count as f64;
        squares += off * (value - mean);
        if count == next || count == values.len() {
            let variance = squares / (count.max(2) - 1) as f64;
            let standard_error_s = (variance / count as f64).sqrt();
            out.push(RunningMean { requests: count, mean_s: mean, standard_error_s });
        }
        if count == next {
            // 5, 10, 20, 50, 100, …
            next = if next.to_string().starts_with('2') { next / 2 * 5 } else { next * 2 };
        }
    }
    out
}

/// Equally wide ranges from the least to the largest value.
fn histogram(values: &[f64], of: Quantiles) -> Vec<Bar> {
    let width = (of.max - of.min) / BARS as f64;
    if width <= 0.0 {
        return vec![Bar { from_s: of.min, to_s: of.max, requests: values.len() }];
    }
    let mut bars: Vec<Bar> = (0..BARS)
        .map(|index| Bar {
            from_s: of.min + index as f64 * width,
            to_s: of.min + (index + 1) as f64 * width,
            requests: 0,
        })
        .collect();
    for value in values {
        bars[(((value - of.min) / width) as usize).min(BARS - 1)].requests += 1;
    }
    bars
}

/// Prints them: a table, and the picture of each.
pub(super) fn print(page: &mut Page, requests: &[Request]) {
    let all = all(requests);
    if all.is_empty() {
        return;
    }
    let are_many = all.iter().any(|spread| spread.url != all[0].url);
    page.gap();
    let mut table = Table::new(vec![
        Column::words(if are_many { "URL" } else { "" }),
        Column::words("connection"),
        Column::figures("requests"),
        Column::words(""),
        Column::figures("least"),
        Column::figures("mean").optional(),
        Column::figures("50 %"),
        Column::figures("90 %"),
        Column::figures("95 %").optional(),
        Column::figures("99 %"),
        Column::figures("most"),
    ]);
    for spread in &all {
        for (name, of) in [("first byte", spread.first_byte_s), ("total", spread.total_s)] {
            let mut row = vec![
                if are_many { spread.url.clone() } else { String::new() },
                kind(spread).to_owned(),
                units::thousands(spread.requests as u64),
                name.to_owned(),
            ];
            let times = [of.min, of.mean, of.p50, of.p90, of.p95, of.p99, of.max];
            row.extend(times.map(|time| units::figure(time, "s")));
            table.row(row);
        }
    }
    table.print(page, 0);
    for spread in all.iter().filter(|spread| spread.running_mean.len() > 1) {
        let url = if are_many { format!("{}, ", spread.url) } else { String::new() };
        let means = spread.running_mean.iter().map(|of| {
            let error = units::figure(of.standard_error_s, "s");
            format!("{} after {} (± {error})", units::figure(of.mean_s, "s"), units::thousands(of.requests as u64))
        });
        let text = format!("mean of the total, {url}{} connections: ", kind(spread));
        let means = means.collect::<Vec<_>>().join(", ");
        page.hanging(&Line::new().plain(&text), anstyle::Style::new(), &means, 2);
    }
    for spread in all.iter().filter(|spread| spread.histogram.len() > 1) {
        page.gap();
        let url = if are_many { format!("{}, ", spread.url) } else { String::new() };
        page.line(&Line::new().plain(&format!("{url}{} connections, total:", kind(spread))));
        let most = spread.histogram.iter().map(|bar| bar.requests).max().unwrap_or(1).max(1);
        for bar in &spread.histogram {
            let to = Line::new().plain(&format!("{} ", units::figure(bar.to_s, "s")));
            let filled = "█".repeat((bar.requests * LONGEST).div_ceil(most));
            page.line(&Line::new().plain("up to").right(18, &to).plain(&format!("{filled} {}", bar.requests)));
        }
    }
}

fn kind(spread: &Spread) -> &'static str {
    if spread.warm { "reused" } else { "new" }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn quantiles_are_of_values_that_were_measured() {
        let of = Quantiles::of((1..=100).map(f64::from).rev().collect()).unwrap();
        assert_eq!((of.min, of.p50, of.p90, of.p95, of.p99, of.max), (1.0, 50.0, 90.0, 95.0, 99.0, 100.0));
        assert!((of.mean - 50.5).abs() < 1e-9);
        let of = Quantiles::of(vec![3.0]).unwrap();
        assert_eq!((of.min, of.p50, of.p99, of.max), (3.0, 3.0, 3.0, 3.0));
        assert_eq!(Quantiles::of(Vec::new()), None);
    }

    #[test]
    fn the_running_mean_settles() {
        let means = running_mean(&(0..60).map(|index| if index % 2 == 0 { 1.0 } else { 3.0 }).collect::<Vec<_>>());
        assert_eq!(means.iter().map(|of| of.requests).collect::<Vec<_>>(), [5, 10, 20, 50, 60]);
        assert!((means[0].mean_s - 1.8).abs() < 1e-9 && (means[4].mean_s - 2.0).abs() < 1e-9);
        // The deviation of ones and threes is 1 (and 1/59 of it more, of a sample).
        assert!((means[4].standard_error_s - (60.0_f64 / 59.0 / 60.0).sqrt()).abs() < 1e-9);
        assert!(means[0].standard_error_s > means[4].standard_error_s);
        assert_eq!(running_mean(&[]), []);
    }

    #[test]
    fn each_value_is_in_one_bar() {
        let values: Vec<f64> = (0..=20).map(f64::from).collect();
        let bars = histogram(&values, Quantiles::of(values.clone()).unwrap());
        assert_eq!(bars.len(), BARS);
        assert_eq!(bars.iter().map(|bar| bar.requests).sum::<usize>(), values.len());
        assert_eq!(histogram(&[2.0, 2.0], Quantiles::of(vec![2.0, 2.0]).unwrap()).len(), 1);
    }
}
