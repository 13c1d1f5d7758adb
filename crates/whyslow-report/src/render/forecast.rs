//! The forecast of a transfer (`whyslow predict`): a page, or JSON (`"schema":
//! "whyslow-predict/1"`, see `docs/json.md`).

pub mod grid;

use super::terminal::timeline;
use crate::text::styles::{BOLD, DIM};
use crate::text::{Column, Line, Page, Table, units};
use anstyle::Style;
use serde_json::{Value, json};
use whyslow_analysis::{LimitShare, LimitingFactor};
use whyslow_model::plan::{Change, Forecast, Idea, Plan, Way};
use whyslow_units::Nanos;

/// Rounds that are shown.
const FEW_ROUNDS: usize = 10;

/// A page of this width.
pub fn terminal(plan: &Plan, forecast: &Forecast, changes: &[Change], width: usize) -> String {
    let mut page = Page::new(width);
    print_head(&mut page, plan, forecast);
    let share = |&(limit, seconds): &(LimitingFactor, Nanos)| LimitShare { limit, seconds, share: 0.0 };
    timeline::legend(&mut page, &forecast.phases.iter().map(share).collect::<Vec<_>>(), 2);
    if let Some((low, high)) = forecast.spread {
        let text = format!(
            "with {} of the packets lost, one transfer takes {} at the 10th percentile and {} at the 90th",
            units::share(plan.loss),
            units::seconds(low),
            units::seconds(high),
        );
        page.wrapped(&Line::new().pad(2), Style::new(), &text);
    }
    if forecast.outcome.extrapolated {
        let text = "only the beginning was simulated; the rest is extrapolated at the rate of its last part";
        page.wrapped(&Line::new().pad(2), DIM, text);
    }
    print_rounds(&mut page, forecast);
    print_changes(&mut page, plan, forecast, changes);
    page.finish()
}

fn print_head(page: &mut Page, plan: &Plan, forecast: &Forecast) {
    let way = match plan.way {
        Way::Download => "down",
        Way::Upload => "up",
    };
    let times = if plan.count > 1 { format!("{} × ", units::thousands(plan.count)) } else { String::new() };
    let connection = if plan.reuse { "a reused connection" } else { "a new connection" };
    let rate = plan.rate.map_or(String::new(), |rate| format!(", {}", units::rate(rate)));
    let what =
        format!("{times}{} {way} on {connection}   RTT {}{rate}", units::bytes(plan.bytes), units::span(plan.rtt));
    let each = if plan.count > 1 { " each" } else { "" };
    let result = format!("{} = {}{each}", units::seconds(forecast.total), units::rate(forecast.goodput));
    let line = Line::new().plain(&what);
    let beside = Line::new().styled(BOLD, &result);
    if line.width() + 3 + beside.width() <= page.width() {
        let end = page.width();
        page.line(&line.right(end, &beside));
    } else {
        page.line(&line);
        page.line(&Line::new().pad(2).line(&beside));
    }
}

fn print_rounds(page: &mut Page, forecast: &Forecast) {
    let rounds = &forecast.outcome.rounds;
    if rounds.len() < 2 {
        return;
    }
    page.gap();
    let mut table = Table::new(vec![Column::figures("round"), Column::figures("start"), Column::figures("sent")]);
    for (index, (start, bytes)) in rounds.iter().take(FEW_ROUNDS).enumerate() {
        table.row([(index + 1).to_string(), units::span(*start), units::bytes(*bytes)]);
    }
    let more = forecast.outcome.rounds_total.saturating_sub(rounds.len().min(FEW_ROUNDS) as u64);
    if more > 0 {
        table.remark(format!("… {} more rounds", units::thousands(more)));
    }
    table.print(page, 2);
}

fn print_changes(page: &mut Page, plan: &Plan, forecast: &Forecast, changes: &[Change]) {
    page.gap();
    if changes.is_empty() {
        page.line(&Line::new().pad(2).plain("no change that the model knows would make it faster"));
        return;
    }
    let mut table = Table::new(vec![Column::words("change"), Column::figures("if changed"), Column::figures("saves")]);
    for change in changes {
        let saved = forecast.total - change.total;
        let share = units::share(saved.0 as f64 / forecast.total.0.max(1) as f64);
        table.row([
            words(change.idea, plan),
            units::seconds(change.total),
            format!("{} ({share})", units::span(saved)),
        ]);
    }
    table.print(page, 2);
}

/// A change in plain words.
fn words(idea: Idea, plan: &Plan) -> String {
    let segments = units::thousands;
    match idea {
        Idea::Reuse => "reuse an open connection".into(),
        Idea::KeepWindow => "keep the window while idle (tcp_slow_start_after_idle=0)".into(),
        Idea::Tls13 => "TLS 1.3".into(),
        Idea::NoThreshold => "forget the slow-start threshold (ip tcp_metrics delete)".into(),
        Idea::InitialWindow(to) => {
            format!("initial window {} → {} segments", segments(plan.initial_window), segments(to))
        }
        Idea::OneFlight(to) => {
            format!("initial window {} segments, first receive window {}", segments(to), units::bytes(plan.bytes))
        }
        Idea::ReceiveWindow(to) => {
            format!("receive window {} → {}", units::thousands(plan.receive_window), units::bytes(to))
        }
        Idea::SendBuffer(to) => {
            format!("sender's flight {} → {}", units::thousands(plan.send_buffer.unwrap_or_default()), units::bytes(to))
        }
        Idea::NoLoss => "no loss".into(),
        Idea::Bbr => "BBR at the sender".into(),
        Idea::NoThinking => "a server that answers at once".into(),
        Idea::HalfRoundTrip => "half the round trip: a nearer server".into(),
        Idea::TwiceRate => "twice the rate".into(),
    }
}

/// One indented JSON object and a line feed.
pub fn json(plan: &Plan, forecast: &Forecast, changes: &[Change]) -> String {
    let seconds = Nanos::as_secs_f64;
    let spread = forecast.spread;
    let rounds: Vec<Value> = forecast
        .outcome
        .rounds
        .iter()
        .map(|(start, bytes)| json!({ "start_s": seconds(*start), "bytes": bytes }))
        .collect();
    let phases: Vec<Value> = forecast
        .phases
        .iter()
        .map(|(limit, time)| json!({ "limit": limit.slug(), "seconds": seconds(*time) }))
        .collect();
    let changes: Vec<Value> = changes
        .iter()
        .map(|change| {
            json!({
                "change": words(change.idea, plan),
                "total_s": seconds(change.total),
                "saves_s": seconds(forecast.total - change.total),
            })
        })
        .collect();
    let document = json!({
        "schema": "whyslow-predict/1",
        "plan": {
            "bytes": plan.bytes,
            "rtt_s": seconds(plan.rtt),
            "rate_bps": plan.rate,
            "queue_bytes": plan.queue,
            "loss": plan.loss,
            "mss": plan.mss,
            "way": plan.way,
            "tls": plan.tls,
            "congestion_control": plan.algorithm.name(),
            "initcwnd": plan.initial_window,
            "ssthresh": plan.ssthresh,
            "initrwnd_bytes": plan.first_window,
            "rwnd_bytes": plan.receive_window,
            "sndbuf_bytes": plan.send_buffer,
            "think_s": seconds(plan.think),
            "reuse": plan.reuse,
            "idle_s": seconds(plan.idle),
            "starts_over": plan.starts_over,
            "count": plan.count,
        },
        "total_s": seconds(forecast.total),
        "p10_s": spread.map(|(low, _)| seconds(low)),
        "p90_s": spread.map(|(_, high)| seconds(high)),
        "goodput_bps": forecast.goodput.round(),
        "phases": phases,
        "rounds": rounds,
        "rounds_total": forecast.outcome.rounds_total,
        "resent": forecast.outcome.retransmitted,
        "extrapolated": forecast.outcome.extrapolated,
        "changes": changes,
    });
    format!("{document:#}\n")
}

#[cfg(test)]
mod tests;
