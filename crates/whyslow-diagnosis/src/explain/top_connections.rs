//! Accounts of finished connections: of very many, those that lost the most time, and the number of
//! the others.
//!
//! An account costs far more than everything else about a short connection. A connection known to
//! have lost nothing is ranked by bytes alone and needs no account until it is certain to be
//! listed.

use super::open_connection::OpenConnection;
use crate::pair::ConnectionFingerprint;
use crate::rules::ConnectionSummary;
use borsh::io::{self, Read, Write};
use borsh::{BorshDeserialize, BorshSerialize};
use std::cmp::Reverse;
use whyslow_analysis::{Connection, MAX_CONNECTIONS};
use whyslow_core::flow::{ConnectionId, FlowEntry};
use whyslow_units::{Nanos, Time};

/// Data of a connection without an account.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub(super) struct ConnectionSize {
    pub(super) id: ConnectionId,
    /// No packets of it came up to this time.
    pub(super) until: Time,
    /// Time from its first packet to the last one that carried or answered payload or a SYN, or to
    /// the end of a wait for an answer: it cannot have lost more.
    pub(super) active: Nanos,
    /// Captured payload, retransmissions included.
    pub(super) bytes: u64,
}

impl ConnectionSize {
    /// Order of the list: most time lost, then most bytes, then first opened.
    fn rank(&self, lost: Nanos) -> Rank {
        (Reverse(lost.min(self.active)), Reverse(self.bytes), self.id)
    }
}

pub(super) type Rank = (Reverse<Nanos>, Reverse<u64>, ConnectionId);

/// Data that is kept of a connection.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(super) struct ConnectionAccount {
    size: ConnectionSize,
    pub(super) connection: Connection,
    pub(super) summary: ConnectionSummary,
    /// `None` for a connection without times.
    pub(super) fingerprint: Option<ConnectionFingerprint>,
    /// Cost of its findings, which may overlap in time.
    cost: Nanos,
}

impl ConnectionAccount {
    pub(super) fn new(
        size: ConnectionSize,
        connection: Connection,
        outline: ConnectionSummary,
        mark: Option<ConnectionFingerprint>,
    ) -> Self {
        let findings = connection.transfers.iter().flat_map(|transfer| &transfer.findings).chain(&connection.findings);
        let lost = findings.filter(|finding| finding.is_waited_for()).map(|finding| finding.cost_s).sum();
        Self { size, connection, summary: outline, fingerprint: mark, cost: lost }
    }

    pub(super) fn id(&self) -> ConnectionId {
        self.size.id
    }

    pub(super) fn cost(&self) -> Nanos {
        self.cost
    }

    pub(super) fn rank(&self) -> Rank {
        self.size.rank(self.cost)
    }
}

/// A connection that may be listed, or one that was.
#[derive(Debug)]
pub(super) enum Entry {
    /// It has an account.
    Accounted(Box<ConnectionAccount>),
    /// It lost nothing, or is not listed whatever it lost.
    Unaccounted(ConnectionSize, Box<FlowEntry<OpenConnection>>),
}

impl Entry {
    fn rank(&self) -> Rank {
        match self {
            Self::Accounted(account) => account.rank(),
            Self::Unaccounted(size, _) => size.rank(Nanos::ZERO),
        }
    }

    fn size(&self) -> &ConnectionSize {
        match self {
            Self::Accounted(account) => &account.size,
            Self::Unaccounted(size, _) => size,
        }
    }
}

/// Connections that are not listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub(super) struct Omitted {
    pub(super) count: u64,
    /// Their payload.
    pub(super) bytes: u64,
}

impl Omitted {
    fn add(&mut self, other: Self) {
        self.count += other.count;
        self.bytes = self.bytes.saturating_add(other.bytes);
    }

    fn one(size: &ConnectionSize) -> Self {
        Self { count: 1, bytes: size.bytes }
    }
}

/// Connections of one explainer that may be listed, in any order.
#[derive(Debug)]
pub(super) struct AccountList {
    held: Vec<Entry>,
    /// Maximum number of connections to list; an eighth more are kept before the lowest are
    /// dropped.
    most: usize,
    /// The lowest rank to keep, once there were more.
    last: Option<Rank>,
    omitted: Omitted,
    /// Entries that left the list since the last call; `None` if no caller wants them.
    dropped: Option<Vec<Entry>>,
}

impl Default for AccountList {
    fn default() -> Self {
        Self::new(MAX_CONNECTIONS)
    }
}

impl AccountList {
    pub(super) fn new(most: usize) -> Self {
        Self { held: Vec::new(), most: most.max(1), last: None, omitted: Omitted::default(), dropped: None }
    }

    /// Holds those that are not listed until they are [taken](Self::take_dropped).
    pub(super) fn hold_dropped(&mut self) {
        self.dropped.get_or_insert_default();
    }

    /// Takes those that are not listed.
    pub(super) fn take_dropped(&mut self) -> Vec<Entry> {
        self.dropped.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Returns whether there are any to take.
    #[inline]
    pub(super) fn has_dropped(&self) -> bool {
        self.dropped.as_ref().is_some_and(|dropped| !dropped.is_empty())
    }

    /// Returns whether a connection that lost no more than `lost` could be listed. Of very many
    /// connections most need no account.
    pub(super) fn could_be_listed(&self, size: &ConnectionSize, lost: Nanos) -> bool {
        self.last.is_none_or(|last| size.rank(lost) < last)
    }

    /// Counts a connection that is not listed.
    pub(super) fn skip(&mut self, size: ConnectionSize, entry: Box<FlowEntry<OpenConnection>>) {
        self.drop_entry(Entry::Unaccounted(size, entry));
    }

    fn drop_entry(&mut self, entry: Entry) {
        self.omitted.add(Omitted::one(entry.size()));
        if let Some(dropped) = &mut self.dropped {
            dropped.push(entry);
        }
    }

    /// Adds a connection with an account.
    pub(super) fn push(&mut self, account: ConnectionAccount) {
        self.insert(Entry::Accounted(Box::new(account)));
    }

    /// Adds a connection that lost nothing: it gets its account at the [end](Self::into_listed), if
    /// it is listed then.
    pub(super) fn push_cost_free(&mut self, size: ConnectionSize, entry: Box<FlowEntry<OpenConnection>>) {
        if self.could_be_listed(&size, Nanos::ZERO) {
            self.insert(Entry::Unaccounted(size, entry));
        } else {
            self.skip(size, entry);
        }
    }

    /// Returns the number that may be listed.
    #[cfg(test)]
    pub(super) fn held(&self) -> usize {
        self.held.len()
    }

    /// Returns the number without an account.
    #[cfg(test)]
    pub(super) fn cost_free_count(&self) -> usize {
        self.held.iter().filter(|entry| matches!(entry, Entry::Unaccounted(..))).count()
    }

    fn insert(&mut self, entry: Entry) {
        self.held.push(entry);
        if self.held.len() > self.most + self.most / 8 {
            self.drop_lowest();
        }
    }

    /// Drops entries beyond the listing limit.
    pub(super) fn drop_lowest(&mut self) {
        let others = split_off_least(&mut self.held, self.most, Entry::rank);
        if !others.is_empty() {
            self.last = self.held.iter().map(Entry::rank).max();
        }
        others.into_iter().for_each(|entry| self.drop_entry(entry));
    }

    /// Drops the entries beyond the limit over all of these together. No more connections come.
    pub(super) fn drop_lowest_of_all<'a>(all: impl Iterator<Item = &'a mut Self>) {
        let mut all: Vec<_> = all.collect();
        let most = all.first().map_or(1, |first| first.most);
        let mut ranks: Vec<_> = all.iter().flat_map(|accounts| accounts.held.iter().map(Entry::rank)).collect();
        if ranks.len() <= most {
            return;
        }
        let (_, &mut last, _) = ranks.select_nth_unstable(most - 1);
        for accounts in &mut all {
            let others: Vec<_> = accounts.held.extract_if(.., |entry| entry.rank() > last).collect();
            others.into_iter().for_each(|entry| accounts.drop_entry(entry));
        }
    }

    /// Accounts for all that are listed. No more connections come.
    pub(super) fn into_listed(
        mut self,
        mut account: impl FnMut(ConnectionSize, Box<FlowEntry<OpenConnection>>) -> ConnectionAccount,
    ) -> ListedAccounts {
        self.drop_lowest();
        debug_assert!(!self.has_dropped(), "a sink wants them");
        let accounts = self.held.into_iter().map(|entry| match entry {
            Entry::Accounted(account) => account,
            Entry::Unaccounted(size, entry) => Box::new(account(size, entry)),
        });
        ListedAccounts { accounts: accounts.collect(), most: self.most, omitted: self.omitted, others: Vec::new() }
    }
}

/// Keeps the first `most` ranks and returns the others.
fn split_off_least<T>(all: &mut Vec<T>, most: usize, rank: impl Fn(&T) -> Rank) -> Vec<T> {
    if all.len() <= most {
        return Vec::new();
    }
    all.select_nth_unstable_by_key(most, rank);
    all.split_off(most)
}

/// Accounts in any order.
#[derive(Debug)]
pub(super) struct ListedAccounts {
    #[expect(clippy::vec_box, reason = "they are large, and change places often")]
    accounts: Vec<Box<ConnectionAccount>>,
    /// Maximum that will be listed.
    most: usize,
    pub(super) omitted: Omitted,
    /// Entries that are not listed.
    #[expect(clippy::vec_box, reason = "they are large, and change places often")]
    others: Vec<Box<ConnectionAccount>>,
}

impl Default for ListedAccounts {
    fn default() -> Self {
        Self { accounts: Vec::new(), most: MAX_CONNECTIONS, omitted: Omitted::default(), others: Vec::new() }
    }
}

impl ListedAccounts {
    /// Adds the accounts of another explainer, and keeps those within the listing limit.
    pub(super) fn merge(&mut self, other: Self) {
        self.accounts.extend(other.accounts);
        self.omitted.add(other.omitted);
        self.drop_lowest();
    }

    fn drop_lowest(&mut self) {
        for account in split_off_least(&mut self.accounts, self.most, |account| account.rank()) {
            self.omitted.add(Omitted::one(&account.size));
            self.others.push(account);
        }
    }

    /// Returns the listed accounts in the order of their connections.
    pub(super) fn finish(&mut self) -> Vec<ConnectionAccount> {
        self.drop_lowest();
        let mut accounts = std::mem::take(&mut self.accounts);
        accounts.sort_unstable_by_key(|account| account.id());
        accounts.into_iter().map(|account| *account).collect()
    }

    /// Writes the entries that may be listed. The others must be taken before.
    ///
    /// # Errors
    /// When they cannot be written.
    pub(super) fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        borsh::to_writer(&mut *out, &(self.most as u64, self.omitted, self.accounts.len() as u64))?;
        self.accounts.iter().try_for_each(|account| borsh::to_writer(&mut *out, &**account))
    }

    /// Reads them.
    ///
    /// # Errors
    /// When they cannot be read, or are none.
    pub(super) fn read_from(input: &mut impl Read) -> io::Result<Self> {
        let (most, omitted, count) = <(u64, Omitted, u64)>::deserialize_reader(input)?;
        let most = usize::try_from(most).map_err(io::Error::other)?.min(MAX_CONNECTIONS);
        let account = |_| ConnectionAccount::deserialize_reader(input).map(Box::new);
        let accounts = (0..count).map(account).collect::<io::Result<_>>()?;
        Ok(Self { accounts, most, omitted, others: Vec::new() })
    }

    /// Takes those that are not listed so far.
    pub(super) fn take_others(&mut self) -> impl Iterator<Item = Connection> {
        std::mem::take(&mut self.others).into_iter().map(|account| account.connection)
    }
}
