//! [`Row`]: a transfer as a line of the page's list.

use super::update::EndedTransfer;
use serde::Serialize;
use whyslow_analysis::{Connection, End, Endpoint};
use whyslow_page::resent;
use whyslow_units::Nanos;

/// The most causes listed for a transfer.
const MAX_CAUSES: usize = 3;

/// A line of the list.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    /// Its number among all transfers.
    pub(super) serial: u64,
    /// Its connection's.
    pub(super) id: u64,
    client: Host,
    server: Host,
    /// The sender; `None` for the connection as a whole.
    from: Option<End>,
    bytes: u64,
    label: Option<String>,
    process: Option<String>,
    revised: bool,
    /// Seconds from the first packet of all to its own, and to its last.
    start_s: Nanos,
    end_s: Nanos,
    pub(super) took_s: Nanos,
    pub(super) lost_s: Nanos,
    /// What it lost time to, most first.
    causes: Vec<&'static str>,
    /// What held it longest.
    limit: Option<(&'static str, Nanos)>,
    rtt_ms: Option<f64>,
    resent: u64,
    state: &'static str,
}

/// A name or an address, and a port.
type Host = (String, u16);

fn host(end: &Endpoint) -> Host {
    (end.name.clone().unwrap_or_else(|| end.address.clone()), end.port)
}

impl Row {
    pub(super) fn of(serial: u64, ended: &EndedTransfer) -> Self {
        let EndedTransfer { connection, process, revised, took, lost } = ended;
        let transfer = connection.transfers.first();
        let findings = transfer.map_or(&connection.findings, |transfer| &transfer.findings);
        let (start_s, duration) = transfer
            .map_or((connection.start_s, connection.duration_s), |transfer| (transfer.start_s, transfer.duration_s));
        let both = |of: fn(&whyslow_analysis::Direction) -> u64| connection.directions.iter().map(of).sum();
        let costly = findings.iter().filter(|finding| finding.cost_s > Nanos::ZERO);
        let longest = transfer.and_then(|transfer| transfer.limits.iter().max_by_key(|limit| limit.seconds));
        Self {
            serial,
            id: connection.id,
            client: host(&connection.client),
            server: host(&connection.server),
            from: transfer.map(|transfer| transfer.from),
            bytes: transfer.map_or_else(|| both(|direction| direction.bytes), |transfer| transfer.bytes),
            label: transfer.and_then(|transfer| transfer.label.clone()),
            process: process.clone(),
            revised: *revised,
            start_s,
            end_s: start_s + duration,
            took_s: *took,
            lost_s: *lost,
            causes: costly.map(|finding| finding.cause.slug()).take(MAX_CAUSES).collect(),
            limit: longest.map(|limit| (limit.limit.slug(), limit.seconds)),
            rtt_ms: connection.rtt_ms.p50,
            resent: both(|direction| resent(&direction.retransmitted)),
            state: connection.state.slug(),
        }
    }
}

/// Sender, content and start: they identify a transfer.
pub(super) fn identity(connection: &Connection) -> (u64, Option<(usize, Nanos)>) {
    let transfer = connection.transfers.first();
    (connection.id, transfer.map(|transfer| (transfer.from as usize, transfer.start_s)))
}
