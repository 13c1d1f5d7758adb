//! [`OmittedConnections`]: connections beyond the listing limit, streamed to an optional sink.
//!
//! Of very many connections an analysis lists those that lost the most time. The others wait in
//! temporary files ([`Spill`]) until everything was read, and come back one at a time in the order
//! of their first packets.

use crate::error::Error;
use crate::join;
use crate::spill::{Merge, Spill};
use std::collections::VecDeque;
use std::iter::Peekable;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use whyslow_analysis::{Analysis, Connection};
use whyslow_diagnosis::explain::{Explainer, Fragment, OmittedCompletion, OmittedSink};

/// The rows that explainers of one set of captures emit.
#[derive(Clone, Debug, Default)]
pub(crate) struct OmittedSpill(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    spill: Spill,
    failed: Option<std::io::Error>,
}

impl OmittedSpill {
    /// Receives the connections that this explainer does not list.
    pub(crate) fn attach_to(&self, explainer: &mut Explainer) {
        let own = self.clone();
        explainer.give_omitted_to(OmittedSink::new(move |connection| own.put(&connection)));
    }

    fn put(&self, connection: &Connection) {
        // Encoded before the lock is taken: others encode theirs at the same time.
        let record = borsh::to_vec(connection);
        let mut state = self.lock();
        if state.failed.is_none() {
            let put = record.and_then(|record| state.spill.put(connection.id, &record));
            state.failed = put.err();
        }
    }

    /// Nothing is left half done under this lock that is used after a panic.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks that all could be kept so far.
    ///
    /// # Errors
    /// When one could not.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.lock().failed.take().map_or(Ok(()), |cause| Err(Error::NoRoom { cause }))
    }

    /// Everything was read: they can come back.
    ///
    /// # Errors
    /// If a connection could not be stored.
    pub(crate) fn finish(&self, completion: OmittedCompletion) -> Result<OmittedOfSet, Error> {
        Ok(OmittedOfSet { spill: self.take()?, completion })
    }

    /// All of them, before they are complete.
    ///
    /// # Errors
    /// If a connection could not be stored.
    pub(crate) fn take(&self) -> Result<Spill, Error> {
        self.check()?;
        Ok(std::mem::take(&mut self.lock().spill))
    }

    /// Takes what explainers elsewhere have given away.
    pub(crate) fn put_record(&self, key: u64, record: &[u8]) {
        let mut state = self.lock();
        if state.failed.is_none() {
            state.failed = state.spill.put(key, record).err();
        }
    }

    /// Takes the omitted connections when fragments are merged.
    pub(crate) fn attach_to_merged(&self, fragment: &mut Fragment) {
        let own = self.clone();
        fragment.give_omitted_to(OmittedSink::new(move |connection| own.put(&connection)));
    }
}

/// Rows of one set of captures.
#[derive(Debug)]
pub(crate) struct OmittedOfSet {
    spill: Spill,
    completion: OmittedCompletion,
}

impl OmittedOfSet {
    /// With the set's captures among all, and the number of connections in the sets before it.
    pub(crate) fn placed(self, captures: Range<usize>, before: u64) -> PlacedOmitted {
        PlacedOmitted { set: self, captures, before }
    }
}

/// Rows of a set, and its place among the others.
#[derive(Debug)]
pub(crate) struct PlacedOmitted {
    set: OmittedOfSet,
    captures: Range<usize>,
    before: u64,
}

/// The connections that an analysis does not list. They hold temporary files.
#[derive(Debug)]
pub struct OmittedConnections {
    pub(crate) sets: Vec<PlacedOmitted>,
    /// There are several sets, and frames name their file.
    pub(crate) is_apart: bool,
}

impl OmittedConnections {
    /// All connections: those that `analysis`, which was read with these, lists, and the others
    /// among them; set by set of captures that continue each other, in the order of their first
    /// packets. In a set beyond the limit, omitted numbers may follow those of
    /// the next set.
    ///
    /// # Errors
    /// When the temporary files cannot be written or read; so may each connection.
    pub fn with_listed(self, analysis: &Analysis) -> Result<EveryConnection<'_>, Error> {
        let is_apart = self.is_apart;
        let sets = self.sets.into_iter().map(|placed| OmittedReader::new(placed, is_apart));
        let sets = sets.collect::<Result<VecDeque<_>, _>>()?;
        Ok(EveryConnection { sets, listed: analysis.connections.iter().peekable() })
    }
}

/// Reads those of a set.
#[derive(Debug)]
struct OmittedReader {
    records: Merge,
    completion: OmittedCompletion,
    captures: Range<usize>,
    before: u64,
    is_apart: bool,
    /// The next one.
    next: Option<Connection>,
}

impl OmittedReader {
    fn new(placed: PlacedOmitted, is_apart: bool) -> Result<Self, Error> {
        let PlacedOmitted { set: OmittedOfSet { spill, completion }, captures, before } = placed;
        let records = spill.into_sorted().map_err(|cause| Error::NoRoom { cause })?;
        let mut reader = Self { records, completion, captures, before, is_apart, next: None };
        reader.advance()?;
        Ok(reader)
    }

    /// Takes the next one, and reads the one behind it.
    fn advance(&mut self) -> Result<Option<Connection>, Error> {
        let read = self.records.next().transpose();
        let read = read.and_then(|read| read.map(|(_, record)| borsh::from_slice(&record)).transpose());
        let mut next: Option<Connection> = read.map_err(|cause| Error::NoRoom { cause })?;
        if let Some(connection) = &mut next {
            self.completion.complete(connection);
            if self.is_apart {
                join::renumber_connection(connection, self.captures.start, self.before);
            }
        }
        Ok(std::mem::replace(&mut self.next, next))
    }
}

/// All connections of captures, one at a time.
#[derive(Debug)]
pub struct EveryConnection<'a> {
    sets: VecDeque<OmittedReader>,
    listed: Peekable<std::slice::Iter<'a, Connection>>,
}

impl Iterator for EveryConnection<'_> {
    type Item = Result<Connection, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        while let Some(set) = self.sets.front_mut() {
            let end = set.next.as_ref().map_or(u64::MAX, |omitted| omitted.id);
            let is_next = |listed: &&Connection| set.captures.contains(&listed.capture) && listed.id < end;
            if let Some(listed) = self.listed.next_if(is_next) {
                return Some(Ok(listed.clone()));
            }
            if let Some(next) = set.advance().transpose() {
                return Some(next);
            }
            self.sets.pop_front();
        }
        self.listed.next().cloned().map(Ok)
    }
}

#[cfg(test)]
pub(crate) mod tests;
