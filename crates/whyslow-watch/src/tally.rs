//! [`Tally`]: what cost most, by server and by cause, over a minute and over all of the time.

use super::closed::ClosedTotals;
use super::record::Record;
use std::collections::{HashMap, VecDeque};
use whyslow_analysis::Transfer;
use whyslow_analysis::cause::Cause;
use whyslow_units::{Nanos, Time};

/// Maximum number of servers that are counted separately over all of the time; further ones are
/// counted together.
const MAX_SERVERS: usize = 10_000;
/// Maximum number of transfers of a minute that are remembered.
const MAX_RECENT: usize = 100_000;
/// How long a minute is.
const MINUTE: Nanos = Nanos::from_millis(60_000);
/// The name under which further servers are counted.
pub(crate) const OTHER: &str = "other";

/// What transfers of one kind lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Loss {
    /// Transfers.
    pub transfers: u64,
    /// What they lost together: those that ran at the same time are added up.
    pub seconds: Nanos,
}

impl Loss {
    fn add(&mut self, seconds: Nanos) {
        self.transfers += 1;
        self.seconds += seconds;
    }
}

/// Costs of one kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    pub servers: HashMap<String, Loss>,
    pub causes: HashMap<Cause, Loss>,
}

/// A transfer of the last minute.
#[derive(Clone, Debug)]
struct Recent {
    end: Time,
    server: String,
    lost: Nanos,
    causes: Vec<(Cause, Nanos)>,
}

/// Counts over all reports.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Transfers that have ended.
    pub transfers: u64,
    /// Transfers of these with a cause that cost time.
    pub slow: u64,
    /// Payload of them.
    pub bytes: u64,
    pub total: Table,
    pub closed: ClosedTotals,
    recent: VecDeque<Recent>,
}

impl Table {
    fn add(&mut self, server: &str, lost: Nanos, causes: &[(Cause, Nanos)], most: usize) {
        let name = if self.servers.len() < most || self.servers.contains_key(server) { server } else { OTHER };
        self.servers.entry(name.to_owned()).or_default().add(lost);
        for &(cause, seconds) in causes {
            self.causes.entry(cause).or_default().add(seconds);
        }
    }

    /// The servers that lost most.
    pub(crate) fn worst_servers(&self, most: usize) -> Vec<(&str, Loss)> {
        worst(self.servers.iter().map(|(name, loss)| (name.as_str(), *loss)), most)
    }

    /// The causes that cost most.
    pub(crate) fn worst_causes(&self, most: usize) -> Vec<(Cause, Loss)> {
        worst(self.causes.iter().map(|(cause, loss)| (*cause, *loss)), most)
    }
}

fn worst<K: Ord + Copy>(all: impl Iterator<Item = (K, Loss)>, most: usize) -> Vec<(K, Loss)> {
    let mut all: Vec<_> = all.filter(|(_, loss)| loss.seconds > Nanos::ZERO).collect();
    all.sort_unstable_by_key(|&(key, loss)| (std::cmp::Reverse(loss.seconds), key));
    all.truncate(most);
    all
}

impl Tally {
    /// Counts a transfer once: time that it loses after its report is not in the sums.
    pub(crate) fn add(&mut self, record: &Record) {
        if record.revised {
            return;
        }
        let server = record.connection.server.host_and_port();
        let waited = record.findings().iter().filter(|finding| finding.is_waited_for());
        let causes: Vec<_> = waited
            .map(|finding| (finding.cause, finding.cost_s))
            .filter(|(_, seconds)| *seconds > Nanos::ZERO)
            .collect();
        let lost = record.lost();
        if record.transfer().is_some() {
            self.transfers += 1;
            self.bytes += record.transfer().map_or(0, |transfer: &Transfer| transfer.bytes);
            self.slow += u64::from(lost > Nanos::ZERO);
        }
        if lost == Nanos::ZERO {
            return;
        }
        self.total.add(&server, lost, &causes, MAX_SERVERS);
        if self.recent.len() >= MAX_RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(Recent { end: record.end(), server, lost, causes });
    }

    /// Costs in the minute before `now`.
    pub(crate) fn minute(&mut self, now: Time) -> Table {
        // Their reports arrive roughly in the order of their ends.
        while self.recent.front().is_some_and(|recent| recent.end + MINUTE < now) {
            self.recent.pop_front();
        }
        let mut table = Table::default();
        for recent in self.recent.iter().filter(|recent| recent.end + MINUTE >= now) {
            table.add(&recent.server, recent.lost, &recent.causes, usize::MAX);
        }
        table
    }
}
