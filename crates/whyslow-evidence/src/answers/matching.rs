//! Which connection of the capture an account is about.

use crate::report::{Account, Place, Report};
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use whyslow_analysis::{Analysis, Connection, End, Endpoint};

/// How a connection and an account were found to be the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MatchedBy {
    /// Both addresses and both ports.
    Addresses,
    /// Both ports and one address: the other address is translated between the two.
    Ports,
    /// One address and its port, if only one connection has it, with the same amount of data.
    OneEnd,
}

/// An account of a connection.
pub(super) struct Found<'a> {
    pub connection: &'a Connection,
    /// The end whose kernel it is.
    pub end: End,
    pub account: &'a Account,
    /// Index of the subject.
    pub subject: usize,
    pub by: MatchedBy,
}

/// Amounts that differ by less are the same: a last piece may be under way.
const SAME: f64 = 0.1;

/// The index of a connection, and the end.
type At = (usize, End);

/// All pairs, in the order of the connections.
pub(super) fn matches<'a>(analysis: &'a Analysis, report: &'a Report) -> Vec<Found<'a>> {
    let connections = &analysis.connections;
    let accounts: Vec<(usize, &Account)> = report
        .subjects
        .iter()
        .enumerate()
        .filter_map(|(at, subject)| Some((at, subject.account.as_deref()?)))
        .collect();
    let mut found: HashMap<At, (usize, &Account, MatchedBy)> = HashMap::new();
    let mut taken: HashSet<usize> = HashSet::new();
    for by in [MatchedBy::Addresses, MatchedBy::Ports, MatchedBy::OneEnd] {
        let places = index(connections, by);
        let mut new: HashMap<At, Vec<(usize, &Account)>> = HashMap::new();
        for (subject, account) in &accounts {
            if !taken.contains(subject)
                && let Some(at) = only(connections, &places, account, by)
            {
                new.entry(at).or_default().push((*subject, account));
            }
        }
        // A connection that two accounts may be about is that of neither.
        for (at, accounts) in new {
            if let [(subject, account)] = accounts[..] {
                found.entry(at).or_insert((subject, account, by));
                taken.insert(subject);
            }
        }
    }
    let mut out: Vec<(At, (usize, &Account, MatchedBy))> = found.into_iter().collect();
    out.sort_by_key(|((at, end), _)| (*at, *end as u8));
    out.into_iter()
        .map(|((at, end), (subject, account, by))| Found { connection: &connections[at], end, account, subject, by })
        .collect()
}

/// What identifies a connection from one end: of local and remote place what the way compares.
type Key = (Option<String>, Option<u16>, Option<String>, Option<u16>);

fn keys(local: (&str, u16), remote: (&str, u16), by: MatchedBy) -> Vec<Key> {
    let (address, port) = (|place: (&str, u16)| Some(place.0.to_owned()), |place: (&str, u16)| Some(place.1));
    match by {
        MatchedBy::Addresses => vec![(address(local), port(local), address(remote), port(remote))],
        MatchedBy::Ports => {
            vec![(address(local), port(local), None, port(remote)), (None, port(local), address(remote), port(remote))]
        }
        MatchedBy::OneEnd => {
            vec![(address(local), port(local), None, None), (None, None, address(remote), port(remote))]
        }
    }
}

fn index(connections: &[Connection], by: MatchedBy) -> HashMap<Key, Vec<At>> {
    let mut out: HashMap<Key, Vec<At>> = HashMap::new();
    for (at, connection) in connections.iter().enumerate() {
        let place = |end: &'_ Endpoint| (end.address.clone(), end.port);
        let (client, server) = (place(&connection.client), place(&connection.server));
        for (end, local, remote) in [(End::Client, &client, &server), (End::Server, &server, &client)] {
            for key in keys((&local.0, local.1), (&remote.0, remote.1), by) {
                out.entry(key).or_default().push((at, end));
            }
        }
    }
    out
}

/// The only connection that an account can be about.
fn only(connections: &[Connection], places: &HashMap<Key, Vec<At>>, account: &Account, by: MatchedBy) -> Option<At> {
    fn place(place: &Place) -> Option<(&str, u16)> {
        Some((&place.address, place.port?))
    }
    let (local, remote) = (place(&account.local)?, place(&account.remote)?);
    let mut found: Vec<At> =
        keys(local, remote, by).iter().filter_map(|key| places.get(key)).flatten().copied().collect();
    found.dedup();
    if by == MatchedBy::Addresses {
        // The newest account of a reused four-tuple: an older one is no longer in the kernel.
        return found.last().copied();
    }
    let [at] = found[..] else { return None };
    (by == MatchedBy::Ports || has_same_amount(&connections[at.0], at.1, account)).then_some(at)
}

/// Whether an account has counted what the capture shows, either way.
fn has_same_amount(connection: &Connection, end: End, account: &Account) -> bool {
    let sent = |from: End| connection.directions.iter().find(|one| one.from == from).map(|one| one.bytes as f64);
    let is_same = |counted: Option<f64>, bytes: Option<f64>| {
        counted.zip(bytes).is_some_and(|(a, b)| b > 10_000.0 && (a - b).abs() <= SAME * b)
    };
    is_same(account.acked, sent(end)) || is_same(account.received, sent(end.other()))
}
