//! The second pass: compares connections that two sets of captures hold, packet by packet.
//!
//! It runs only if there are such connections, reads only the sets that hold them, and keeps only
//! their packets, up to a bound. A pipe cannot be read twice: its connections are listed as not
//! compared.

use crate::error::Error;
use crate::feed::InputReader;
use crate::file_snapshot::FileSnapshot;
use crate::omitted::OmittedOfSet;
use crate::share_packets::ShareFiles;
use crate::stop::Stop;
use std::collections::{BTreeMap, HashMap, HashSet};
use whyslow_analysis::{Analysis, Connection, MAX_PAIRS, NotCompared};
use whyslow_diagnosis::pair::{
    self, ConnectionFingerprint, MatchedConnection, PacketCollector, Uncompared, WantedConnection,
};

/// A set of captures, as read the first time.
pub(crate) struct ReadSet {
    /// Its files in the order of reading; `None` if one of them was a pipe.
    pub(crate) files: Option<Vec<FileSnapshot>>,
    /// The same where each capture is in several files, by shares of the connections.
    pub(crate) shares: Vec<ShareFiles>,
    /// Its connections.
    pub(crate) fingerprints: Vec<ConnectionFingerprint>,
    /// Number of captures in the sets before it.
    pub(crate) captures: usize,
    /// Number of connections in the sets before it.
    pub(crate) connections: u64,
    /// Its omitted connections, if they are requested.
    pub(crate) omitted: Option<OmittedOfSet>,
}

/// A connection that two sets hold.
struct SharedConnection {
    sets: [usize; 2],
    found: MatchedConnection,
}

impl SharedConnection {
    /// Its place in each set: the set's place, and the connection's id there.
    fn places(&self) -> [(usize, u64); 2] {
        [0, 1].map(|which| (self.sets[which], self.found.fingerprints[which].id))
    }
}

/// Compares the connections that several sets hold, and adds the result to their joined analysis.
///
/// # Errors
/// When a file can no longer be read, or is shorter than before.
pub(crate) fn compare(
    sets: &[ReadSet],
    feed: &mut InputReader<'_>,
    stop: &Stop,
    joined: &mut Analysis,
) -> Result<(), Error> {
    let mut shared = shared(sets);
    let not_compared = shared.len().saturating_sub(MAX_PAIRS);
    shared.truncate(MAX_PAIRS);
    let mut collectors = if stop.is_asked() { BTreeMap::new() } else { collect(sets, &shared, feed, stop)? };
    if stop.is_asked() {
        // Packets that were not read again would count as lost.
        collectors.clear();
        joined.partial = true;
    }
    let id = |(set, id): (usize, u64)| sets.get(set).map_or(id, |sets| sets.connections + id);
    let listed: HashMap<u64, &Connection> =
        joined.connections.iter().map(|connection| (connection.id, connection)).collect();
    let (mut pairs, mut uncompared) = (Vec::new(), Vec::new());
    for shared in &shared {
        let ids = shared.places().map(id);
        let [a, b] = shared.places().map(|(set, id)| {
            let collector = collectors.get(&set)?;
            Some((collector.track(id)?, collector.time()?))
        });
        let ((Some(a), Some(b)), (Some(p), Some(q))) = ((a, b), (listed.get(&ids[0]), listed.get(&ids[1]))) else {
            let reason = match stop.is_asked() {
                true => NotCompared::Stopped,
                false => NotCompared::ReadOnce,
            };
            uncompared.push(Uncompared { connection: ids[0], reason });
            continue;
        };
        match pair::compare(&shared.found, [a.0, b.0], [a.1, b.1], [p, q]) {
            Ok(pair) => pairs.push(pair),
            Err(Some(reason)) => uncompared.push(Uncompared { connection: ids[0], reason }),
            Err(None) => {}
        }
    }
    pair::attach(joined, pairs, uncompared, not_compared as u64);
    Ok(())
}

/// The connections that any two sets share, largest first.
fn shared(sets: &[ReadSet]) -> Vec<SharedConnection> {
    let mut shared = Vec::new();
    for (i, a) in sets.iter().enumerate() {
        for (j, b) in sets.iter().enumerate().skip(i + 1) {
            let found = pair::find(&a.fingerprints, &b.fingerprints);
            shared.extend(found.into_iter().map(|found| SharedConnection { sets: [i, j], found }));
        }
    }
    let bytes = |shared: &SharedConnection| {
        shared.found.fingerprints[0].bytes.iter().fold(0, |sum: u64, more| sum.saturating_add(*more))
    };
    shared.sort_by_key(|shared| (std::cmp::Reverse(bytes(shared)), shared.places()));
    shared
}

/// Reads the sets that share connections again.
fn collect(
    sets: &[ReadSet],
    shared: &[SharedConnection],
    feed: &mut InputReader<'_>,
    stop: &Stop,
) -> Result<BTreeMap<usize, PacketCollector>, Error> {
    let readable = |set: usize| sets.get(set).is_some_and(|set| set.files.is_some() || !set.shares.is_empty());
    // In the order of their payload; one that three sets hold is read once in each.
    let mut wanted: Vec<(usize, &ConnectionFingerprint)> = Vec::new();
    let mut known = HashSet::new();
    for shared in shared.iter().filter(|shared| shared.sets.iter().all(|&set| readable(set))) {
        for (place, fingerprint) in shared.places().into_iter().zip(&shared.found.fingerprints) {
            if known.insert(place) {
                wanted.push((place.0, fingerprint));
            }
        }
    }
    let shares = pair::shares(wanted.iter().map(|(_, fingerprint)| fingerprint.packets));
    let mut by_set: BTreeMap<usize, Vec<WantedConnection>> = BTreeMap::new();
    for ((set, fingerprint), most) in wanted.into_iter().zip(shares) {
        by_set.entry(set).or_default().push(WantedConnection {
            id: fingerprint.id,
            client: fingerprint.ends[0],
            max_packets: most,
        });
    }
    let files = |set: &usize| sets.get(*set).and_then(|set| set.files.as_deref()).unwrap_or_default();
    for set in by_set.keys() {
        feed.expect(files(set).iter().map(|file| &file.input));
    }
    let mut collectors = BTreeMap::new();
    for (set, wanted) in by_set {
        let mut collector = PacketCollector::new(sets.get(set).map_or(0, |sets| sets.captures), wanted);
        for shares in sets.get(set).map_or(&[][..], |set| &set.shares) {
            collector.begin_capture();
            shares.read(stop, &mut collector)?;
        }
        for file in files(&set) {
            collector.begin_capture();
            let second = feed.read(&mut file.open(stop)?, &mut collector)?;
            // Packets that are missing now would count as lost.
            if !stop.is_asked() {
                file.is_all(&second)?;
            }
        }
        collectors.insert(set, collector);
    }
    Ok(collectors)
}
