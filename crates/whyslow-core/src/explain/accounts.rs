//! The accounts of connections that are over: of very many, those that lost most time, and how many others there were.

use crate::analysis::{Connection, MAX_CONNECTIONS};
use crate::flow::ConnectionId;
use crate::pair::Mark;
use crate::rules::Outline;
use crate::units::Nanos;
use std::cmp::Reverse;

/// What is known of a connection without accounting for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) id: ConnectionId,
    /// From its first packet to the last one that carried or answered payload or a SYN: all that it can have lost.
    pub(super) active: Nanos,
    /// Payload that was seen, copies included.
    pub(super) bytes: u64,
}

impl Size {
    /// What is listed first: what lost most, then what carried most, then what came first.
    fn rank(&self, lost: Nanos) -> Rank {
        (Reverse(lost.min(self.active)), Reverse(self.bytes), self.id)
    }
}

pub(super) type Rank = (Reverse<Nanos>, Reverse<u64>, ConnectionId);

/// What is left of a connection.
#[derive(Debug)]
pub(super) struct Account {
    size: Size,
    pub(super) connection: Connection,
    pub(super) outline: Outline,
    /// None for one without times.
    pub(super) mark: Option<Mark>,
    /// By its findings, which may speak of the same time twice.
    lost: Nanos,
}

impl Account {
    pub(super) fn new(size: Size, connection: Connection, outline: Outline, mark: Option<Mark>) -> Self {
        let findings = connection.transfers.iter().flat_map(|transfer| &transfer.findings).chain(&connection.findings);
        let lost = findings.map(|finding| finding.seconds).sum();
        Self { size, connection, outline, mark, lost }
    }

    pub(super) fn id(&self) -> ConnectionId {
        self.size.id
    }

    pub(super) fn lost(&self) -> Nanos {
        self.lost
    }

    pub(super) fn rank(&self) -> Rank {
        self.size.rank(self.lost)
    }
}

/// Accounts in any order.
#[derive(Debug)]
pub(super) struct Accounts {
    #[expect(clippy::vec_box, reason = "they are large, and change places often")]
    held: Vec<Box<Account>>,
    /// Most that will be listed; an eighth more are held before the least of them leave.
    most: usize,
    /// The last place among so many, once there were more.
    last: Option<Rank>,
    /// Connections that are not listed, and their payload in bytes.
    pub(super) unlisted: (u64, u64),
}

impl Default for Accounts {
    fn default() -> Self {
        Self::new(MAX_CONNECTIONS)
    }
}

impl Accounts {
    pub(super) fn new(most: usize) -> Self {
        Self { held: Vec::new(), most: most.max(1), last: None, unlisted: (0, 0) }
    }

    /// Whether a connection may be among those that are listed, if it has lost no more than this. So most of very many are never
    /// accounted for.
    pub(super) fn may_list(&self, size: &Size, lost: Nanos) -> bool {
        self.last.is_none_or(|last| size.rank(lost) < last)
    }

    /// A connection that is not listed.
    pub(super) fn pass_over(&mut self, size: &Size) {
        self.unlisted.0 += 1;
        self.unlisted.1 = self.unlisted.1.saturating_add(size.bytes);
    }

    pub(super) fn push(&mut self, account: Account) {
        self.held.push(Box::new(account));
        if self.held.len() > self.most + self.most / 8 {
            self.thin();
        }
    }

    /// Takes over those of another, of other connections.
    pub(super) fn merge(&mut self, other: Self) {
        self.held.extend(other.held);
        self.unlisted.0 += other.unlisted.0;
        self.unlisted.1 = self.unlisted.1.saturating_add(other.unlisted.1);
    }

    fn thin(&mut self) {
        if self.held.len() <= self.most {
            return;
        }
        let (_, last, _) = self.held.select_nth_unstable_by_key(self.most - 1, |account| account.rank());
        self.last = Some(last.rank());
        for account in self.held.split_off(self.most) {
            self.pass_over(&account.size);
        }
    }

    /// Those that are listed, in the order of their connections.
    pub(super) fn finish(&mut self) -> Vec<Account> {
        self.thin();
        let mut held = std::mem::take(&mut self.held);
        held.sort_unstable_by_key(|account| account.id());
        held.into_iter().map(|account| *account).collect()
    }
}
