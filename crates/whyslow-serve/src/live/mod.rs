//! [`Live`]: transfers of packets that do not end, for a page that follows them.
//!
//! ```text
//!   whoever watches ─▶ LiveUpdate ─▶ held transfers ─▶ news since a number ─▶ page
//!                  ◀─ which packets ─ opened connection ◀─ a click
//! ```
//!
//! The page asks for news since its last number, and waits if nothing
//! is. Memory is bounded: of too many transfers the newest, the slowest and the costliest stay, and
//! the others are counted.

mod change_feed;
mod packets;
mod pinned;
mod retained;
mod row;
mod update;

use change_feed::ChangeFeed;
use hyper::body::Bytes;
use pinned::PinnedConnection;
use retained::RetainedTransfers;
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use whyslow_page::{Doc, Query, compress_quickly, docs};

pub use packets::{HeldPacket, HeldPackets, MAX_PACKET_BYTES};
pub use update::{EndedTransfer, LiveState, LiveUpdate, LossTables, NamedLoss, PacketSupply, Rates, SharedFinding};

/// Connections whose packets stay with the page.
const MAX_OPENED: usize = 4;
/// How long a question waits where nothing is new.
const PATIENCE: Duration = Duration::from_secs(20);

/// Transfers of packets that do not end.
pub struct Live {
    /// What is watched.
    name: String,
    inner: Mutex<Inner>,
    /// The number of the last update.
    number: watch::Sender<u64>,
    opened: Mutex<VecDeque<Arc<PinnedConnection>>>,
    supply: PacketSupply,
}

#[derive(Debug, Default)]
struct Inner {
    held: RetainedTransfers,
    state: LiveState,
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Live").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What the page shows before the first news.
#[derive(Serialize)]
struct Content<'a> {
    schema: &'static str,
    version: &'static str,
    name: &'a str,
    /// Documentation of the causes.
    docs: BTreeMap<&'static str, Doc>,
    watch: bool,
}

impl Live {
    /// Creates one without transfers.
    pub fn new(name: String, supply: PacketSupply) -> Self {
        Self { name, inner: Mutex::default(), number: watch::Sender::new(0), opened: Mutex::default(), supply }
    }

    /// Takes an update, and wakes up waiting requests.
    pub fn update(&self, update: LiveUpdate) {
        let number = *self.number.borrow() + 1;
        {
            let mut inner = self.lock();
            inner.held.add(number, update.transfers);
            inner.state = update.state;
        }
        self.number.send_replace(number);
    }

    /// What the page needs at first, as compressed JSON.
    pub(crate) fn document(&self) -> Bytes {
        let content = Content {
            schema: "whyslow-page/1",
            version: env!("CARGO_PKG_VERSION"),
            name: &self.name,
            docs: docs(),
            watch: true,
        };
        compress_quickly(&content).into()
    }

    /// What is new since this update, as compressed JSON; waits for a while where nothing is.
    pub(crate) async fn news(&self, since: u64) -> Bytes {
        let mut numbers = self.number.subscribe();
        // A request with a number of an earlier run gets everything.
        if *numbers.borrow_and_update() == since {
            let _ = tokio::time::timeout(PATIENCE, numbers.changed()).await;
        }
        let (number, state, changes) = {
            let inner = self.lock();
            let number = *self.number.borrow();
            (number, inner.state.clone(), inner.held.since(since, number))
        };
        compress_quickly(&ChangeFeed::new(number, &state, &changes)).into()
    }

    /// Opens a connection again: its held transfers, and its packets.
    ///
    /// # Errors
    /// When no transfer of it is held.
    pub(crate) fn open(&self, id: u64) -> Result<Arc<PinnedConnection>, String> {
        let held = self.lock().held.of_connection(id);
        let opened = Arc::new(PinnedConnection::new(&held, &self.supply).ok_or(NOT_HELD)?);
        let mut all = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|one| one.id() != id);
        all.truncate(MAX_OPENED - 1);
        all.push_front(Arc::clone(&opened));
        Ok(opened)
    }

    /// A connection as it was opened last.
    ///
    /// # Errors
    /// As [`open`](Self::open), where it was not.
    pub(crate) fn opened(&self, id: u64) -> Result<Arc<PinnedConnection>, String> {
        let all = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let found = all.iter().find(|one| one.id() == id).cloned();
        drop(all);
        found.map_or_else(|| self.open(id), Ok)
    }

    /// The number in a question for news; without one it asks for all.
    pub(crate) fn since(query: Query<'_>) -> u64 {
        query.number("since").unwrap_or(u64::MAX)
    }

    /// A panic leaves it whole: an update changes one thing after the other.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const NOT_HELD: &str =
    "no transfer of this connection is held any more: newer, slower and costlier ones took its place";

#[cfg(test)]
mod tests;
