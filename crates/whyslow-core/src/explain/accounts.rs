//! The accounts of connections that are over: of very many, those that lost most time, and how many others there were.

use crate::analysis::{Connection, MAX_CONNECTIONS};
use crate::flow::ConnectionId;
use crate::pair::Mark;
use crate::rules::Outline;
use crate::units::Nanos;
use std::cmp::Reverse;

/// So many more than will be listed are held before the least of them leave.
const SLACK: usize = MAX_CONNECTIONS / 8;

/// What is left of a connection.
#[derive(Debug)]
pub(super) struct Account {
    pub(super) id: ConnectionId,
    pub(super) connection: Connection,
    pub(super) outline: Outline,
    /// None for one without times.
    pub(super) mark: Option<Mark>,
    /// By its findings.
    lost: Nanos,
}

impl Account {
    pub(super) fn new(id: ConnectionId, connection: Connection, outline: Outline, mark: Option<Mark>) -> Self {
        let findings = connection.transfers.iter().flat_map(|transfer| &transfer.findings).chain(&connection.findings);
        let lost = findings.map(|finding| finding.seconds).sum();
        Self { id, connection, outline, mark, lost }
    }

    /// What is listed first: what lost most, then what carried most, then what came first.
    fn rank(&self) -> impl Ord + use<> {
        (Reverse(self.lost), Reverse(self.outline.bytes), self.id)
    }
}

/// Accounts in any order, and which connections there were.
#[derive(Debug, Default)]
pub(super) struct Accounts {
    #[expect(clippy::vec_box, reason = "they are large, and change places often")]
    held: Vec<Box<Account>>,
    /// Of all connections, listed or not.
    ids: Vec<ConnectionId>,
    /// Connections that are not listed, and their payload in bytes.
    pub(super) unlisted: (u64, u64),
}

impl Accounts {
    pub(super) fn push(&mut self, account: Account) {
        self.ids.push(account.id);
        self.held.push(Box::new(account));
        if self.held.len() >= MAX_CONNECTIONS + SLACK {
            self.thin();
        }
    }

    /// Takes over those of another, of other connections.
    pub(super) fn merge(&mut self, other: Self) {
        self.held.extend(other.held);
        self.ids.extend(other.ids);
        self.unlisted.0 += other.unlisted.0;
        self.unlisted.1 = self.unlisted.1.saturating_add(other.unlisted.1);
    }

    fn thin(&mut self) {
        if self.held.len() <= MAX_CONNECTIONS {
            return;
        }
        self.held.select_nth_unstable_by_key(MAX_CONNECTIONS, |account| account.rank());
        for account in self.held.drain(MAX_CONNECTIONS..) {
            self.unlisted.0 += 1;
            self.unlisted.1 = self.unlisted.1.saturating_add(account.outline.bytes);
        }
    }

    /// Those that are listed, in the order of their connections, and all connections in order.
    pub(super) fn finish(&mut self) -> (Vec<Account>, Vec<ConnectionId>) {
        self.thin();
        let mut held = std::mem::take(&mut self.held);
        held.sort_unstable_by_key(|account| account.id);
        let mut ids = std::mem::take(&mut self.ids);
        ids.sort_unstable();
        (held.into_iter().map(|account| *account).collect(), ids)
    }
}
