//! Several URLs side by side: what each asks for and gives.

use super::floor::{Path, connect};
use super::kernel;
use crate::client::exchange::{Exchange, Hop};
use crate::requests::Request;
use crate::results::Results;
use whyslow_analysis::{Connection, End, Transfer};
use whyslow_diagnosis::compare::{TransferName, choose, compare};
use whyslow_report::render::compare as render;
use whyslow_report::text::{Column, Line, Page, Table, units};

/// The figures of one URL, of the fastest of its requests.
#[derive(Clone, Debug, serde::Serialize)]
pub(super) struct UrlFigures {
    url: String,
    pub rtt_s: Option<f64>,
    /// Round trips that the answer took.
    pub rounds: u64,
    /// Bytes of the first of them.
    pub first_flight: u64,
    /// Bytes that the connection carried: asked, answered, TLS and all.
    pub asked: u64,
    pub answered: u64,
    /// Answered for each byte asked.
    pub amplification: f64,
    /// The largest window that this end offered, bytes.
    pub own_window: Option<u32>,
    /// From packets, or by TCP_INFO alone.
    pub from: &'static str,
    pub connect_s: Option<f64>,
    pub total_s: f64,
}

/// All of them, in the order in which they were typed.
pub(super) fn all(results: &Results) -> Vec<UrlFigures> {
    let urls = urls(results);
    if urls.len() < 2 {
        return Vec::new();
    }
    urls.iter().filter_map(|url| one(results, url)).collect()
}

pub(super) fn urls(results: &Results) -> Vec<&str> {
    let mut urls: Vec<&str> = Vec::new();
    for request in &results.requests {
        if !urls.contains(&request.url.as_str()) {
            urls.push(&request.url);
        }
    }
    urls
}

/// Two URLs as `whyslow compare` sets their answers side by side: the fastest request of each.
pub(super) fn compared(results: &Results, width: usize) -> Option<String> {
    let analysis = &results.recorded.as_ref().ok()?.analysis;
    let urls = urls(results);
    let [a, b] = urls.as_slice() else { return None };
    let chosen = |url: &str| {
        let hop = fastest(results, url)?.last();
        let connection = connection(&analysis.connections, hop)?;
        choose(analysis, TransferName { connection: Some(connection.id), transfer: None }).ok()
    };
    Some(render::terminal(&compare(&chosen(a)?, &chosen(b)?), width))
}

pub(super) fn fastest<'a>(results: &'a Results, url: &str) -> Option<&'a Exchange> {
    let mine = results.requests.iter().filter(|request| request.url == url);
    mine.filter_map(answered).min_by_key(|exchange| exchange.took)
}

fn one(results: &Results, url: &str) -> Option<UrlFigures> {
    let mine = || results.requests.iter().filter(|request| request.url == url);
    let exchange = fastest(results, url)?;
    let hop = exchange.last();
    let rtt = Path::of(mine()).rtt();
    let recorded = results.recorded.as_ref().ok().and_then(|recorded| transfer(&recorded.analysis.connections, hop));
    let (rounds, first_flight, from) = match (recorded, rtt) {
        (Some(transfer), _) => {
            (transfer.rounds_total, transfer.rounds.first().map_or(0, |round| round.bytes), "packets")
        }
        (None, Some(rtt)) => {
            let rounds = kernel::rounds(hop, rtt);
            (rounds.len() as u64, rounds.first().copied().unwrap_or(0), "TCP_INFO")
        }
        (None, None) => (0, 0, "nothing"),
    };
    let [asked, answered] = hop.wire_bytes;
    Some(UrlFigures {
        url: url.to_owned(),
        rtt_s: rtt,
        rounds,
        first_flight,
        asked,
        answered,
        amplification: answered as f64 / asked.max(1) as f64,
        own_window: hop.samples.iter().filter_map(|sample| sample.info.rcv_wnd).max(),
        from,
        connect_s: connect(hop),
        total_s: exchange.took.as_secs_f64(),
    })
}

fn answered(request: &Request) -> Option<&Exchange> {
    request.outcome.as_ref().ok()
}

/// The connection of a request among those that were recorded: the last one of its addresses.
pub(super) fn connection<'a>(connections: &'a [Connection], hop: &Hop) -> Option<&'a Connection> {
    let (port, address) = (hop.local.port(), hop.remote.ip().to_string());
    connections.iter().rev().find(|c| c.client.port == port && c.server.address == address)
}

/// The answer's transfer: the largest from the server on the request's connection.
fn transfer<'a>(connections: &'a [Connection], hop: &Hop) -> Option<&'a Transfer> {
    let connection = connection(connections, hop)?;
    let from_server = connection.transfers.iter().filter(|transfer| transfer.from == End::Server);
    from_server.max_by_key(|transfer| transfer.bytes)
}

/// Prints them, where there are several.
pub(super) fn print(page: &mut Page, results: &Results) {
    let all = all(results);
    if all.len() < 2 {
        return;
    }
    let mut table = Table::new(vec![
        Column::words("URL"),
        Column::figures("RTT"),
        Column::figures("rounds"),
        Column::figures("first flight"),
        Column::figures("asked"),
        Column::figures("answered"),
        Column::figures("per byte asked"),
        Column::figures("own window"),
        Column::words("from").optional(),
    ]);
    for url in all {
        let known = |value: Option<String>| value.unwrap_or_else(|| "unknown".to_owned());
        table.row([
            url.url,
            known(url.rtt_s.map(|rtt| units::figure(rtt, "s"))),
            units::thousands(url.rounds),
            units::bytes(url.first_flight),
            units::bytes(url.asked),
            units::bytes(url.answered),
            units::figure(url.amplification, ""),
            known(url.own_window.map(|window| units::bytes(window.into()))),
            url.from.to_owned(),
        ]);
    }
    page.gap();
    page.line(&Line::new().plain("side by side, the fastest request of each:"));
    table.print(page, 0);
}
