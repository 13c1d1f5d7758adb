//! Findings over connections of the same minute.

use crate::conclude;
use crate::rules::ConnectionSummary;
use crate::together::LargestFlows;
use std::collections::BTreeMap;
use whyslow_analysis::{Connection, Finding};
use whyslow_units::{Nanos, Time};

/// Time for which connections are collected.
const LENGTH: Nanos = Nanos::from_millis(60_000);
/// Maximum number of connections, and of transfers of all of them, that are compared: the first
/// ones.
const MAX_CONNECTIONS: usize = 4_096;
const MAX_TRANSFERS: usize = 16_384;

/// The connections that were reported within a minute.
#[derive(Debug, Default)]
pub(super) struct Window {
    since: Option<Time>,
    connections: BTreeMap<u64, Connection>,
    transfers: usize,
    summaries: BTreeMap<u64, ConnectionSummary>,
}

impl Window {
    pub(super) fn note_summary(&mut self, summary: ConnectionSummary) {
        if self.summaries.len() < MAX_CONNECTIONS {
            self.summaries.insert(summary.id, summary);
        }
    }

    pub(super) fn add<'a>(&mut self, ended: impl Iterator<Item = &'a Connection>) {
        for connection in ended {
            let is_full = self.transfers >= MAX_TRANSFERS || !self.summaries.contains_key(&connection.id);
            if is_full {
                continue;
            }
            self.transfers += connection.transfers.len();
            let mut connection = connection.clone();
            // Long parts that no rule across connections reads.
            connection.exchanges.clear();
            connection.directions.iter_mut().for_each(|direction| direction.retransmissions.clear());
            connection.transfers.iter_mut().for_each(|transfer| transfer.rounds.clear());
            match self.connections.get_mut(&connection.id) {
                Some(earlier) => {
                    let more = std::mem::take(&mut connection.transfers);
                    let transfers = std::mem::take(&mut earlier.transfers);
                    *earlier = connection;
                    earlier.transfers = transfers;
                    earlier.transfers.extend(more);
                }
                None => drop(self.connections.insert(connection.id, connection)),
            }
        }
    }

    /// Whether the minute is over; the first one begins now.
    pub(super) fn is_over(&mut self, now: Time) -> bool {
        now - *self.since.get_or_insert(now) >= LENGTH
    }

    /// Findings over them; the next minute begins.
    pub(super) fn finish(&mut self, flows: LargestFlows, now: Time) -> Vec<Finding> {
        let window = std::mem::replace(self, Self { since: Some(now), ..Self::default() });
        let mut connections: Vec<Connection> = window.connections.into_values().collect();
        let summaries: Vec<ConnectionSummary> = window.summaries.into_values().collect();
        conclude::together(&flows, &summaries, &mut connections).findings
    }
}
