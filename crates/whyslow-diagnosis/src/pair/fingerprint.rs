//! Matches the connections of two captures.

use super::span::TimeSpan;
use borsh::{BorshDeserialize, BorshSerialize};
use foldhash::fast::FixedState;
use std::collections::HashMap;
use std::net::IpAddr;
use whyslow_analysis::MatchedBy;
use whyslow_core::tcp::facts::Facts;
use whyslow_units::SeqNumber;

/// Connections of one four-tuple, or without a handshake, that are tried against each other.
const MAX_TRIED: usize = 64;
/// Minimum payload that shows a proxy, bytes: small responses are often of one size.
const MIN_PROXIED_PAYLOAD: u64 = 16_384;

/// Fingerprint of a connection. Pairs are `[client's, server's]`.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
#[non_exhaustive]
pub struct ConnectionFingerprint {
    /// Its id in its analysis.
    pub id: u64,
    /// Addresses and ports.
    pub ends: [(IpAddr, u16); 2],
    /// Sequence number before the first payload byte; that of the SYN where it was captured.
    pub numbers: [Option<SeqNumber>; 2],
    /// Whether the SYN was captured.
    pub opened: [bool; 2],
    /// First packet and last.
    pub time: TimeSpan,
    /// Payload as sequence space.
    pub bytes: [u64; 2],
    /// Packets.
    pub packets: u64,
}

impl ConnectionFingerprint {
    /// Fingerprint of a connection.
    pub(crate) fn new(id: u64, facts: &Facts) -> Self {
        let sides = [facts.client, !facts.client];
        Self {
            id,
            ends: sides.map(|side| facts.endpoints[side]),
            numbers: sides.map(|side| facts.origins[side]),
            opened: sides.map(|side| facts.handshake.offers[side].is_some()),
            time: TimeSpan { first: facts.first, last: facts.last },
            bytes: sides.map(|side| facts.directions[side].bytes),
            packets: facts.directions.iter().map(|direction| direction.packets).fold(0, u64::saturating_add),
        }
    }

    /// Both initial sequence numbers, where both SYNs were captured.
    fn initial_seqs(&self) -> Option<[u32; 2]> {
        match (self.numbers, self.opened) {
            ([Some(a), Some(b)], [true, true]) => Some([a.0, b.0]),
            _ => None,
        }
    }

    /// Returns the fingerprint with client and server exchanged.
    fn swapped(&self) -> Self {
        let turn = |[a, b]: [u64; 2]| [b, a];
        Self {
            ends: [self.ends[1], self.ends[0]],
            numbers: [self.numbers[1], self.numbers[0]],
            opened: [self.opened[1], self.opened[0]],
            bytes: turn(self.bytes),
            ..self.clone()
        }
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.time.overlaps(other.time)
    }

    /// Whether both sent some of the same sequence numbers, in one direction.
    fn shares_numbers(&self, other: &Self, direction: usize) -> bool {
        let (Some(a), Some(b)) = (self.numbers[direction], other.numbers[direction]) else { return false };
        let lead = i64::from(b.distance(a));
        let (of_a, of_b) = (self.bytes[direction], other.bytes[direction]);
        let length = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
        lead <= length(of_a) && -lead <= length(of_b)
    }
}

/// A connection that two captures hold.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MatchedConnection {
    /// Its fingerprints; the second one's client is the first one's, whichever end was taken for
    /// the client there.
    pub fingerprints: [ConnectionFingerprint; 2],
    /// Evidence that they belong together.
    pub by: MatchedBy,
}

/// Finds the connections that two captures both hold, those with the most payload first.
///
/// Initial sequence numbers are 64 bits that chance does not repeat, so they decide for any clocks
/// and addresses. All other matches need connections that overlap in time: sequence numbers in
/// common for the same addresses, sequence numbers in common both ways and about equal amounts of
/// payload for others without a handshake; and for a proxy, equal amounts of payload both ways that
/// no third connection has.
pub fn find(a: &[ConnectionFingerprint], b: &[ConnectionFingerprint]) -> Vec<MatchedConnection> {
    let mut search = Search { a, b, taken: [vec![false; a.len()], vec![false; b.len()]], found: Vec::new() };
    search.by_initial_numbers();
    search.by_addresses();
    search.by_sequence_numbers();
    search.by_payload();
    let mut found = search.found;
    found.sort_by_key(|found| {
        (std::cmp::Reverse(found.fingerprints[0].bytes.iter().sum::<u64>()), found.fingerprints[0].id)
    });
    found
}

struct Search<'a> {
    a: &'a [ConnectionFingerprint],
    b: &'a [ConnectionFingerprint],
    taken: [Vec<bool>; 2],
    found: Vec<MatchedConnection>,
}

impl Search<'_> {
    fn take(&mut self, i: usize, j: usize, other: ConnectionFingerprint, by: MatchedBy) {
        self.taken[0][i] = true;
        self.taken[1][j] = true;
        self.found.push(MatchedConnection { fingerprints: [self.a[i].clone(), other], by });
    }

    fn free(&self, which: usize) -> impl Iterator<Item = usize> + use<'_> {
        self.taken[which].iter().enumerate().filter(|(_, taken)| !**taken).map(|(index, _)| index)
    }

    fn by_initial_numbers(&mut self) {
        let mut there: HashMap<[u32; 2], usize, FixedState> = HashMap::default();
        for (index, fingerprint) in self.b.iter().enumerate() {
            there.extend(fingerprint.initial_seqs().map(|numbers| (numbers, index)));
        }
        for (i, fingerprint) in self.a.iter().enumerate() {
            let Some(&j) = fingerprint.initial_seqs().and_then(|numbers| there.get(&numbers)) else { continue };
            if !self.taken[1][j] {
                let other = self.b[j].clone();
                let same = fingerprint.ends == other.ends;
                self.take(i, j, other, if same { MatchedBy::Addresses } else { MatchedBy::InitialNumbers });
            }
        }
    }

    fn by_addresses(&mut self) {
        let key = |fingerprint: &ConnectionFingerprint| fingerprint.ends[0].min(fingerprint.ends[1]);
        let full =
            |fingerprint: &ConnectionFingerprint| (key(fingerprint), fingerprint.ends[0].max(fingerprint.ends[1]));
        let mut there: HashMap<_, Vec<usize>, FixedState> = HashMap::default();
        for j in self.free(1) {
            there.entry(full(&self.b[j])).or_default().push(j);
        }
        for i in self.free(0).collect::<Vec<_>>() {
            let fingerprint = &self.a[i];
            for &j in there.get(&full(fingerprint)).into_iter().flatten().take(MAX_TRIED) {
                let other = if self.b[j].ends == fingerprint.ends { self.b[j].clone() } else { self.b[j].swapped() };
                if self.taken[1][j] {
                    continue;
                }
                let same_syn = (0..2).any(|end| {
                    fingerprint.opened[end] && other.opened[end] && fingerprint.numbers[end] == other.numbers[end]
                });
                let whole = fingerprint.initial_seqs().is_some() && other.initial_seqs().is_some();
                let by = match (whole, fingerprint.overlaps(&other)) {
                    (true, true) => MatchedBy::SynTimestamps,
                    (false, _) if same_syn => MatchedBy::Addresses,
                    (false, true) if (0..2).any(|way| fingerprint.shares_numbers(&other, way)) => MatchedBy::Addresses,
                    _ => continue,
                };
                self.take(i, j, other, by);
                break;
            }
        }
    }

    fn by_sequence_numbers(&mut self) {
        let lacking = |fingerprints: &[ConnectionFingerprint], free: Vec<usize>| -> Vec<usize> {
            let candidates = free.into_iter().filter(|&index| fingerprints[index].bytes.iter().all(|&bytes| bytes > 0));
            candidates.take(MAX_TRIED).collect()
        };
        let there = lacking(self.b, self.free(1).collect());
        for i in lacking(self.a, self.free(0).collect()) {
            let fingerprint = &self.a[i];
            let fits = |other: &ConnectionFingerprint| {
                let both = fingerprint.initial_seqs().is_some() && other.initial_seqs().is_some();
                let alike = |way: usize| {
                    let (x, y) = (fingerprint.bytes[way], other.bytes[way]);
                    fingerprint.shares_numbers(other, way) && x.abs_diff(y) <= x.max(y) / 2
                };
                !both && fingerprint.overlaps(other) && alike(0) && alike(1)
            };
            let mut fitting = there.iter().copied().filter(|&j| !self.taken[1][j] && fits(&self.b[j]));
            if let (Some(j), None) = (fitting.next(), fitting.next()) {
                self.take(i, j, self.b[j].clone(), MatchedBy::SequenceNumbers);
            }
        }
    }

    fn by_payload(&mut self) {
        let amount = |fingerprint: &ConnectionFingerprint| {
            let whole = fingerprint.opened == [true; 2] && fingerprint.bytes.iter().all(|&bytes| bytes > 0);
            (whole && fingerprint.bytes.iter().sum::<u64>() >= MIN_PROXIED_PAYLOAD).then_some(fingerprint.bytes)
        };
        // Over all connections: an amount that an already matched one has too proves nothing.
        let mut having: HashMap<[u64; 2], [Vec<usize>; 2], FixedState> = HashMap::default();
        for (which, fingerprints) in [self.a, self.b].into_iter().enumerate() {
            for (index, fingerprint) in fingerprints.iter().enumerate() {
                if let Some(bytes) = amount(fingerprint) {
                    having.entry(bytes).or_default()[which].push(index);
                }
            }
        }
        let mut alone: Vec<(usize, usize)> = having
            .into_values()
            .filter_map(|[a, b]| Some((*a.first().filter(|_| a.len() == 1)?, *b.first().filter(|_| b.len() == 1)?)))
            .collect();
        alone.sort_unstable();
        for (i, j) in alone {
            if !self.taken[0][i] && !self.taken[1][j] && self.a[i].overlaps(&self.b[j]) {
                self.take(i, j, self.b[j].clone(), MatchedBy::Payload);
            }
        }
    }
}
