//! DNS queries and their response times.
//!
//! Supports tcpdump's form of DNS over UDP: `12345+ A? example.com. (29)`, and the response `12345
//! 1/0/0 A 192.0.2.1 (45)`, or `12345 NXDomain 0/1/0 (104)`. A lookup lasts from the first query to
//! the first response: a resolver that asks again keeps its query ID, or asks for the same name and
//! type from another port. Responses without their query in the text are ignored.

use crate::capture::Lookup;
use foldhash::HashMap;
use foldhash::fast::RandomState;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::BuildHasher;
use whyslow_units::Time;
use whyslow_units::steps;

/// Maximum number of reported lookups, and of open ones that are stored.
const MAX: usize = 256;
/// A name has at most 255 bytes (RFC 1035 section 2.3.4); escapes make it longer.
const MAX_NAME: usize = 1024;

/// A line about a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DnsLine {
    /// A query.
    Query { client: Box<str>, server: Box<str>, id: u16, kind: Box<str>, name: Box<str> },
    /// A response.
    Answer { client: Box<str>, server: Box<str>, id: u16, answers: u64, refusal: Option<Box<str>> },
}

impl DnsLine {
    /// Parses the text of a packet other than TCP; `None` if it is not DNS.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (before, after) = text.split_once(" > ")?;
        let source = before.rsplit([' ', '\t']).next()?;
        let (target, body) = after.split_once(": ")?;
        let body = body.trim_start();
        // A checksum under -v: `[udp sum ok] `.
        let body = body.strip_prefix('[').and_then(|body| body.split_once("] ")).map_or(body, |(_, body)| body);
        let digits = body.bytes().take_while(u8::is_ascii_digit).count();
        let id = body.get(..digits)?.parse().ok()?;
        let words = body.get(digits..)?.trim_start_matches(|c: char| "+-*|$%".contains(c));
        if is_server(target) {
            let mark = words.find("? ")?;
            let (kind, name) = (words.get(..mark)?.rsplit(' ').next()?, words.get(mark + 2..)?);
            let name = name.split([' ', ',']).next()?;
            let is_kind = !kind.is_empty() && kind.bytes().all(|b| b.is_ascii_alphanumeric());
            return (is_kind && !name.is_empty() && name.len() <= MAX_NAME).then(|| Self::Query {
                client: source.into(),
                server: host(target).into(),
                id,
                kind: kind.into(),
                name: name.strip_suffix('.').filter(|name| !name.is_empty()).unwrap_or(name).into(),
            });
        }
        if !is_server(source) {
            return None;
        }
        let counts = |word: &str| {
            let mut parts = word.split('/');
            let answers = parts.next()?.parse::<u64>().ok()?;
            (parts.clone().count() == 2 && parts.all(|part| part.parse::<u64>().is_ok())).then_some(answers)
        };
        let mut words = words.split_ascii_whitespace();
        // With -v, `q: A? example.com.` may precede the counts.
        let mut refusal = None;
        for word in words.by_ref().take(8) {
            if let Some(answers) = counts(word) {
                return Some(Self::Answer { client: target.into(), server: host(source).into(), id, answers, refusal });
            }
            let code = word.trim_end_matches(['*', '-', '|', '$']);
            if matches!(code, "NXDomain" | "ServFail" | "Refused" | "FormErr" | "NotImp" | "NotAuth") {
                refusal = Some(code.into());
            }
        }
        None
    }
}

fn is_server(end: &str) -> bool {
    end.rsplit('.').next().is_some_and(|port| matches!(port, "53" | "domain"))
}

fn host(end: &str) -> &str {
    end.rsplit_once('.').map_or(end, |(host, _)| host)
}

/// The lookups of a text.
#[derive(Debug, Default)]
pub(super) struct LookupTracker {
    /// Lookups without a response, numbered in the order of their first queries.
    open: BTreeMap<u64, Open>,
    /// The open lookup of a client, a name and a type, by their hash.
    by_name: HashMap<u64, u64>,
    /// The open lookups of a query, by the hash of its ends and its ID.
    by_query: HashMap<u64, BTreeSet<u64>>,
    hasher: RandomState,
    numbers: u64,
    done: Vec<Lookup>,
    /// Lookups that exceeded the limit.
    pub(super) beyond: u64,
}

#[derive(Debug)]
struct Open {
    lookup: Lookup,
    name_hash: u64,
    /// Hashes of its queries.
    queries: Vec<u64>,
}

/// Maximum number of stored queries of one lookup.
const MAX_QUERIES: usize = 16;

impl LookupTracker {
    /// Processes a query or response at `time`.
    pub(super) fn observe(&mut self, line: DnsLine, time: Time) {
        match line {
            DnsLine::Query { client, server, id, kind, name } => {
                let query_hash = self.hasher.hash_one((&client, &server, id));
                let name_hash = self.hasher.hash_one((host(&client), &name, &kind));
                let known = self.by_name.get(&name_hash).copied();
                let number = known.unwrap_or_else(|| {
                    let (client, server) = (host(&client).to_owned(), String::new());
                    let (name, kind, start) = (name.into(), kind.into(), time);
                    let (took, queries, answers, refusal) = (None, 0, None, None);
                    let lookup = Lookup { client, server, name, kind, start, took, queries, answers, refusal };
                    self.begin(Open { lookup, name_hash, queries: Vec::new() })
                });
                self.note_query(number, query_hash, server);
            }
            DnsLine::Answer { client, server, id, answers, refusal } => {
                steps::count(1);
                let query_hash = self.hasher.hash_one((&client, &server, id));
                let oldest = self.by_query.get(&query_hash).and_then(|those| those.first().copied());
                let Some(mut lookup) = oldest.and_then(|number| self.take(number)) else { return };
                lookup.took = Some((time - lookup.start).or_zero());
                lookup.server = server.into();
                lookup.answers = Some(answers);
                lookup.refusal = refusal.map(String::from);
                self.keep(lookup);
            }
        }
    }

    /// Begins a lookup, and returns its number.
    fn begin(&mut self, open: Open) -> u64 {
        let number = self.numbers;
        self.numbers += 1;
        self.by_name.insert(open.name_hash, number);
        self.open.insert(number, open);
        if self.open.len() > MAX
            && let Some((&oldest, _)) = self.open.first_key_value()
            && let Some(oldest) = self.take(oldest)
        {
            self.keep(oldest);
        }
        number
    }

    /// Counts a query for an open lookup.
    fn note_query(&mut self, number: u64, query_hash: u64, server: Box<str>) {
        steps::count(1);
        let Some(Open { lookup, queries, .. }) = self.open.get_mut(&number) else { return };
        lookup.queries += 1;
        lookup.server = server.into();
        if !queries.contains(&query_hash) && queries.len() < MAX_QUERIES {
            queries.push(query_hash);
            self.by_query.entry(query_hash).or_default().insert(number);
        }
    }

    /// Removes an open lookup.
    fn take(&mut self, number: u64) -> Option<Lookup> {
        let Open { lookup, name_hash, queries } = self.open.remove(&number)?;
        self.by_name.remove(&name_hash);
        for query_hash in queries {
            if let Some(those) = self.by_query.get_mut(&query_hash) {
                those.remove(&number);
                if those.is_empty() {
                    self.by_query.remove(&query_hash);
                }
            }
        }
        Some(lookup)
    }

    fn keep(&mut self, lookup: Lookup) {
        if self.done.len() < MAX {
            self.done.push(lookup);
        } else {
            self.beyond += 1;
        }
    }

    /// All lookups, ordered by their start. Without a clock their durations are unknown.
    pub(super) fn finish(mut self, clock: bool) -> (Vec<Lookup>, u64) {
        for Open { lookup, .. } in std::mem::take(&mut self.open).into_values() {
            self.keep(lookup);
        }
        self.done.sort_by_key(|lookup| lookup.start);
        if !clock {
            self.done.iter_mut().for_each(|lookup| lookup.took = None);
        }
        (self.done, self.beyond)
    }
}

#[cfg(test)]
mod tests;
