//! [`RetainedTransfers`]: the transfers that the page can show, in bounded memory.

use super::row::{Row, identity};
use super::update::EndedTransfer;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::Arc;
use whyslow_analysis::{Connection, Finding, Transfer};

/// The most transfers that are held, and their bytes, as far as they are counted.
const MAX_TRANSFERS: usize = 2_000;
const MAX_BYTES: usize = 64 << 20;
/// Number of removed transfers that are sent to the page one by one; beyond it the whole list is
/// sent.
const MAX_REMOVED: usize = 4_096;

/// A transfer that is held.
#[derive(Debug)]
pub(super) struct HeldTransfer {
    pub(super) row: Row,
    pub(super) connection: Connection,
    pub(super) process: Option<String>,
    /// The update with which it came, or changed.
    number: u64,
    bytes: usize,
}

/// The transfers that are held.
#[derive(Debug, Default)]
pub(super) struct RetainedTransfers {
    /// By serial number.
    all: BTreeMap<u64, Arc<HeldTransfer>>,
    bytes: usize,
    /// Transfers that came.
    serial: u64,
    /// Removed transfers: the update, and the serial number.
    removed: VecDeque<(u64, u64)>,
    /// Up to this update `removed` is not complete.
    forgotten: u64,
    /// How many have left.
    left_out: u64,
}

/// What differs from an earlier update.
#[derive(Debug)]
pub(super) struct Changes {
    /// The page must drop its list.
    pub(super) is_all: bool,
    /// New and changed ones.
    pub(super) held: Vec<Arc<HeldTransfer>>,
    /// Serial numbers of those that have left.
    pub(super) removed: Vec<u64>,
    /// How many have left since the start.
    pub(super) left_out: u64,
}

impl RetainedTransfers {
    /// Adds transfers with an update.
    pub(super) fn add(&mut self, number: u64, transfers: Vec<EndedTransfer>) {
        for ended in transfers {
            let known = ended.revised.then(|| self.find(&ended.connection)).flatten();
            let serial = known.unwrap_or_else(|| {
                self.serial += 1;
                self.serial
            });
            let row = Row::of(serial, &ended);
            let bytes = weight(&ended.connection);
            let held = HeldTransfer { row, connection: ended.connection, process: ended.process, number, bytes };
            self.bytes += bytes;
            if let Some(before) = self.all.insert(serial, Arc::new(held)) {
                self.bytes -= before.bytes;
            }
        }
        while self.all.len() > MAX_TRANSFERS || self.bytes > MAX_BYTES && self.all.len() > 1 {
            self.trim(number, self.all.len() * 3 / 4);
        }
    }

    fn find(&self, connection: &Connection) -> Option<u64> {
        let wanted = identity(connection);
        let found = self.all.iter().rev().find(|(_, held)| identity(&held.connection) == wanted);
        found.map(|(serial, _)| *serial)
    }

    /// Keeps at most this number: a third each for the newest, the slowest and the costliest.
    fn trim(&mut self, number: u64, most: usize) {
        let part = most / 3;
        let mut stay: HashSet<u64> = self.all.keys().rev().take(most - 2 * part).copied().collect();
        // Among equals the newest is the first.
        let mut others: Vec<&Row> = self.all.values().rev().map(|held| &held.row).collect();
        for key in [|row: &Row| row.took_s, |row: &Row| row.lost_s] {
            others.retain(|row| !stay.contains(&row.serial));
            others.sort_by_key(|row| Reverse(key(row)));
            stay.extend(others.iter().take(part).map(|row| row.serial));
        }
        let leaving: Vec<u64> = self.all.keys().filter(|serial| !stay.contains(serial)).copied().collect();
        for serial in leaving {
            if let Some(left) = self.all.remove(&serial) {
                self.bytes -= left.bytes;
                self.left_out += 1;
                self.removed.push_back((number, serial));
            }
        }
        while self.removed.len() > MAX_REMOVED {
            self.forgotten = self.removed.pop_front().map_or(number, |(at, _)| at);
        }
    }

    /// The changes since an update; `now` is the newest one.
    pub(super) fn since(&self, since: u64, now: u64) -> Changes {
        let is_all = since == 0 || since > now || since < self.forgotten;
        let is_new = |held: &&Arc<HeldTransfer>| is_all || held.number > since;
        let removed = self.removed.iter().filter(|(number, _)| !is_all && *number > since);
        Changes {
            is_all,
            held: self.all.values().filter(is_new).cloned().collect(),
            removed: removed.map(|(_, serial)| *serial).collect(),
            left_out: self.left_out,
        }
    }

    /// The transfers of a connection, in the order of their arrival.
    pub(super) fn of_connection(&self, id: u64) -> Vec<Arc<HeldTransfer>> {
        self.all.values().filter(|held| held.connection.id == id).cloned().collect()
    }
}

/// About how many bytes of memory a connection with one transfer takes: its lists are what grows.
fn weight(connection: &Connection) -> usize {
    let findings = |list: &[Finding]| {
        let evidence = list.iter().flat_map(|finding| &finding.evidence);
        size_of_val(list)
            + evidence.map(|one| size_of_val(one) + size_of_val(one.frames.as_slice()) + 64).sum::<usize>()
    };
    let of_transfer = |transfer: &Transfer| {
        size_of_val(transfer)
            + size_of_val(transfer.rounds.as_slice())
            + size_of_val(transfer.timeline.as_slice())
            + size_of_val(transfer.limits.as_slice())
            + findings(&transfer.findings)
    };
    size_of::<HeldTransfer>()
        + connection.transfers.iter().map(of_transfer).sum::<usize>()
        + findings(&connection.findings)
        + size_of_val(connection.directions.as_slice())
        + size_of_val(connection.icmp.as_slice())
        + 1_024
}
