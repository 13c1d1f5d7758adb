//! The accounts of connections that are over: of very many, those that lost most time, and how many others there were.
//!
//! An account costs far more than all else that is done for a short connection. One that is known to have lost nothing has its
//! rank by its bytes alone, and needs none before it is certain that it will be listed.

use super::open::Open;
use crate::analysis::{Connection, MAX_CONNECTIONS};
use crate::flow::{ConnectionId, Kept};
use crate::pair::Mark;
use crate::rules::Outline;
use crate::units::Nanos;
use std::cmp::Reverse;

/// What is known of a connection without accounting for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) id: ConnectionId,
    /// Up to here no more packets of it came.
    pub(super) until: Nanos,
    /// From its first packet to the last one that carried or answered payload or a SYN, or to the end of a wait for an answer: all that
    /// it can have lost.
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
        let lost = findings.filter(|finding| finding.is_waited_for()).map(|finding| finding.seconds).sum();
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

/// One that may be listed.
#[derive(Debug)]
enum Entry {
    /// It is accounted for.
    Told(Box<Account>),
    /// It lost nothing.
    Free(Size, Box<Kept<Open>>),
}

impl Entry {
    fn rank(&self) -> Rank {
        match self {
            Self::Told(account) => account.rank(),
            Self::Free(size, _) => size.rank(Nanos::ZERO),
        }
    }

    fn size(&self) -> &Size {
        match self {
            Self::Told(account) => &account.size,
            Self::Free(size, _) => size,
        }
    }
}

/// Connections that are not listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Unlisted {
    pub(super) count: u64,
    /// Their payload.
    pub(super) bytes: u64,
}

impl Unlisted {
    fn add(&mut self, other: Self) {
        self.count += other.count;
        self.bytes = self.bytes.saturating_add(other.bytes);
    }

    fn one(size: &Size) -> Self {
        Self { count: 1, bytes: size.bytes }
    }
}

/// Those that may be listed of the connections of one explainer, in any order.
#[derive(Debug)]
pub(super) struct Accounts {
    held: Vec<Entry>,
    /// Most that will be listed; an eighth more are held before the least of them leave.
    most: usize,
    /// The last place among so many, once there were more.
    last: Option<Rank>,
    unlisted: Unlisted,
}

impl Default for Accounts {
    fn default() -> Self {
        Self::new(MAX_CONNECTIONS)
    }
}

impl Accounts {
    pub(super) fn new(most: usize) -> Self {
        Self { held: Vec::new(), most: most.max(1), last: None, unlisted: Unlisted::default() }
    }

    /// Whether a connection may be among those that are listed, if it has lost no more than this. So most of very many are never
    /// accounted for.
    pub(super) fn may_list(&self, size: &Size, lost: Nanos) -> bool {
        self.last.is_none_or(|last| size.rank(lost) < last)
    }

    /// A connection that is not listed.
    pub(super) fn pass_over(&mut self, size: &Size) {
        self.unlisted.add(Unlisted::one(size));
    }

    /// A connection that is accounted for.
    pub(super) fn push(&mut self, account: Account) {
        self.enter(Entry::Told(Box::new(account)));
    }

    /// A connection that lost nothing: it is accounted for at the [end](Self::tell), if it is listed then.
    pub(super) fn push_free(&mut self, size: Size, kept: Box<Kept<Open>>) {
        if self.may_list(&size, Nanos::ZERO) {
            self.enter(Entry::Free(size, kept));
        } else {
            self.pass_over(&size);
        }
    }

    /// How many may be listed.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.held.len()
    }

    /// How many of them are not accounted for unless they are listed.
    #[cfg(test)]
    pub(super) fn free(&self) -> usize {
        self.held.iter().filter(|entry| matches!(entry, Entry::Free(..))).count()
    }

    fn enter(&mut self, entry: Entry) {
        self.held.push(entry);
        if self.held.len() > self.most + self.most / 8 {
            self.thin();
        }
    }

    fn thin(&mut self) {
        let others = split_off_least(&mut self.held, self.most, Entry::rank);
        if !others.is_empty() {
            self.last = self.held.iter().map(Entry::rank).max();
        }
        others.iter().for_each(|entry| self.pass_over(entry.size()));
    }

    /// No more connections come to any of these: what is not listed of all of them together leaves.
    pub(super) fn thin_together<'a>(all: impl Iterator<Item = &'a mut Self>) {
        let mut all: Vec<_> = all.collect();
        let most = all.first().map_or(1, |first| first.most);
        let mut ranks: Vec<_> = all.iter().flat_map(|accounts| accounts.held.iter().map(Entry::rank)).collect();
        if ranks.len() <= most {
            return;
        }
        let (_, &mut last, _) = ranks.select_nth_unstable(most - 1);
        for accounts in &mut all {
            for other in accounts.held.extract_if(.., |entry| entry.rank() > last) {
                accounts.unlisted.add(Unlisted::one(other.size()));
            }
        }
    }

    /// No more connections come: those that are listed are accounted for.
    pub(super) fn tell(mut self, mut account: impl FnMut(Size, Box<Kept<Open>>) -> Account) -> Told {
        self.thin();
        let told = self.held.into_iter().map(|entry| match entry {
            Entry::Told(account) => account,
            Entry::Free(size, kept) => Box::new(account(size, kept)),
        });
        Told { accounts: told.collect(), most: self.most, unlisted: self.unlisted }
    }
}

/// Leaves so many of the first places, and gives the others.
fn split_off_least<T>(all: &mut Vec<T>, most: usize, rank: impl Fn(&T) -> Rank) -> Vec<T> {
    if all.len() <= most {
        return Vec::new();
    }
    all.select_nth_unstable_by_key(most, rank);
    all.split_off(most)
}

/// Accounts in any order.
#[derive(Debug)]
pub(super) struct Told {
    #[expect(clippy::vec_box, reason = "they are large, and change places often")]
    accounts: Vec<Box<Account>>,
    /// Most that will be listed.
    most: usize,
    pub(super) unlisted: Unlisted,
}

impl Default for Told {
    fn default() -> Self {
        Self { accounts: Vec::new(), most: MAX_CONNECTIONS, unlisted: Unlisted::default() }
    }
}

impl Told {
    /// Takes over those of another, of other connections.
    pub(super) fn merge(&mut self, other: Self) {
        self.accounts.extend(other.accounts);
        self.unlisted.add(other.unlisted);
    }

    /// Those that are listed, in the order of their connections.
    pub(super) fn finish(&mut self) -> Vec<Account> {
        let mut accounts = std::mem::take(&mut self.accounts);
        for account in split_off_least(&mut accounts, self.most, |account| account.rank()) {
            self.unlisted.add(Unlisted::one(&account.size));
        }
        accounts.sort_unstable_by_key(|account| account.id());
        accounts.into_iter().map(|account| *account).collect()
    }
}
