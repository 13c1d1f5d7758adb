//! `whyslow-gateway stats`: the limits of a running gateway's transfers.

use super::args::StatsArgs;
use super::serve::stats::{Report, SCHEMA};
use anyhow::{Context, bail};
use bytes::Bytes;
use http::Request;
use std::time::Duration;
use whyslow_gateway::pool::{Body, Endpoint, Pool, PoolOptions, Safety, Timeouts, Warmth};
use whyslow_text::json;
use whyslow_text::units::{bytes, count, figure, share, thousands};
use whyslow_text::{Align, Column, Line, Page, Table, harmless};

/// More bytes than 250 requests have.
const LONGEST: usize = 16 << 20;

/// The answer of the administrator's endpoint, as a page or unchanged.
pub(super) fn run(task: &StatsArgs, width: usize) -> anyhow::Result<String> {
    let text = ask(&task.url)?;
    let report: Report = serde_json::from_slice(&text)
        .ok()
        .filter(|report: &Report| report.schema == SCHEMA)
        .with_context(|| format!("{}: this is no gateway's administration, or another version's", task.url))?;
    if task.json {
        let mut text = Vec::new();
        json::object(&report, &mut text)?;
        return Ok(String::from_utf8(text)?);
    }
    Ok(page(&report, task.top, width))
}

fn ask(url: &str) -> anyhow::Result<Bytes> {
    let endpoint = Endpoint::parse(url.strip_suffix("/stats").unwrap_or(url))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let answer = runtime.block_on(async {
        let timeouts = Timeouts { answer: Duration::from_secs(10), ..Timeouts::default() };
        let warmth = Warmth { connections: 0, ..Warmth::default() };
        let pool = Pool::new(endpoint.clone(), PoolOptions { timeouts, warmth, ..PoolOptions::default() })?;
        let request = Request::get("/stats").header("host", endpoint.authority()).body(())?;
        let mut answer = pool.send(request, &Body::empty(), Safety::Idempotent).await?;
        let text = answer.read(LONGEST).await?;
        anyhow::Ok((answer.status(), text))
    });
    let (status, text) = answer.with_context(|| format!("is a gateway's administration at {endpoint}?"))?;
    if !status.is_success() {
        bail!("{endpoint}/stats: HTTP {}", status.as_u16());
    }
    Ok(text)
}

fn page(report: &Report, top: usize, width: usize) -> String {
    let mut page = Page::new(width);
    let (totals, storage, memory) = (&report.totals, &report.storage, &report.memory);
    let mut line = |text: &str| page.line(&Line::new().plain(&harmless(text)));
    line(&format!(
        "{} requests since {}, {} refused, {} failed; {} in, {} out",
        thousands(totals.requests),
        report.since.get(..19).unwrap_or(&report.since),
        thousands(totals.refused),
        thousands(totals.failed),
        bytes(totals.bytes_in),
        bytes(totals.bytes_out)
    ));
    line(&format!("storage {}", storage.store));
    if let Some(kept) = &storage.windows_kept_by {
        line(&format!(
            "  {} connections open, {} idle, {} opened; windows kept by {kept}",
            storage.open, storage.idle, storage.opened
        ));
        line(&format!(
            "  {} bursts, {}; {} heartbeats; {} uploads larger than the window they met; {} sent again",
            thousands(storage.bursts),
            bytes(storage.burst_bytes),
            thousands(storage.heartbeats),
            thousands(storage.window_misses),
            thousands(storage.replayed + storage.retried)
        ));
    }
    line(&format!(
        "memory {} in use, {} at most, {} allowed",
        bytes(memory.in_use),
        bytes(memory.peak),
        bytes(memory.limit)
    ));
    page.gap();
    if report.limits.is_empty() {
        page.line(&Line::new().plain("No transfer went over a network yet, so there is nothing that limited one."));
        return page.finish();
    }
    limits(&mut page, report);
    page.gap();
    slowest(&mut page, report, top);
    page.finish()
}

fn limits(page: &mut Page, report: &Report) {
    let all: f64 = report.limits.iter().map(|share| share.seconds).sum();
    page.line(&Line::new().plain(&format!("What limited {}", count(report.totals.transfers, "transfer"))));
    let columns =
        vec![Column::words("limit"), Column::figures("time"), Column::figures("share"), Column::words("").optional()];
    let mut table = Table::new(columns);
    for one in &report.limits {
        let of_all = if all > 0.0 { one.seconds / all } else { 0.0 };
        table.row([
            harmless(&one.limit).into_owned(),
            figure(one.seconds, "s"),
            share(of_all),
            meaning(&one.limit).to_owned(),
        ]);
    }
    table.print(page, 2);
}

fn slowest(page: &mut Page, report: &Report, top: usize) {
    page.line(&Line::new().plain("Slowest"));
    let column = |title, align, optional| Column { title, align, optional };
    let mut table = Table::new(vec![
        column("took", Align::Right, false),
        column("limited by", Align::Left, false),
        column("bytes", Align::Right, false),
        column("object", Align::Left, false),
        column("operation", Align::Left, true),
        column("connection", Align::Left, true),
        column("window", Align::Right, true),
        column("time", Align::Left, true),
    ]);
    for row in report.slowest.iter().take(top) {
        let Some(way) = &row.storage else { continue };
        let limit = way.limits.first();
        table.row([
            figure(row.took_s, "s"),
            limit.map_or_else(|| "unknown".to_owned(), |one| format!("{} {}", one.limit, figure(one.seconds, "s"))),
            bytes(way.sent.max(way.received)),
            harmless(&row.object()).into_owned(),
            harmless(row.operation.as_deref().unwrap_or(&row.method)).into_owned(),
            if way.reused { "reused" } else { "new" }.to_owned(),
            way.window_at_start.map_or_else(|| "unknown".to_owned(), bytes),
            row.time.get(..19).unwrap_or(&row.time).to_owned(),
        ]);
    }
    table.print(page, 2);
}

/// The meaning of a limit, as in the glossary.
pub(super) fn meaning(limit: &str) -> &'static str {
    match limit {
        "application" => "The sending application had nothing to send.",
        "slow-start" => "The congestion window was still opening.",
        "congestion-avoidance" => "The congestion window grew slowly.",
        "bandwidth" => "The link was full.",
        "receive-window" => "The receiver's window was full.",
        "sender-cap" => "The sender never had more in flight, though it might.",
        "loss-recovery" => "Lost segments were retransmitted after duplicate ACKs.",
        "round-trip" => "The last bytes' way to the receiver and their ACK's way back: what no setting can remove.",
        "server-think" => "The server had the request and had not begun to answer.",
        _ => "Not known.",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// The glossary and this table agree.
    #[test]
    fn limits_agree_with_the_glossary() {
        let glossary = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/glossary.md")).unwrap();
        for limit in [
            "application",
            "slow-start",
            "congestion-avoidance",
            "bandwidth",
            "receive-window",
            "sender-cap",
            "loss-recovery",
            "round-trip",
            "server-think",
            "unknown",
        ] {
            let line = format!("- `{limit}`: {}", meaning(limit));
            assert!(glossary.contains(&line), "{line}");
        }
    }
}
