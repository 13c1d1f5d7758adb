//! Queries for names, and when they were answered.
//!
//! Knows how tcpdump prints DNS over UDP: `12345+ A? example.com. (29)`, and the answer
//! `12345 1/0/0 A 192.0.2.1 (45)`, or `12345 NXDomain 0/1/0 (104)`. A name is resolved from the
//! first query to the first answer: a resolver that asks again keeps its number, or asks for the
//! same name and type from another port. Answers whose query is not in the text tell nothing.

use crate::capture::Lookup;
use crate::steps;
use crate::units::Time;
use foldhash::HashMap;
use std::collections::{BTreeMap, BTreeSet};

/// How many lookups are told, and how many that wait for their answer are remembered.
const MAX: usize = 256;
/// A name has 255 bytes at most (RFC 1035 section 2.3.4); escapes make more of them.
const MAX_NAME: usize = 1024;

/// What a line says of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DnsLine {
    /// Somebody asks.
    Query { client: Box<str>, server: Box<str>, id: u16, kind: Box<str>, name: Box<str> },
    /// Somebody answers.
    Answer { client: Box<str>, server: Box<str>, id: u16, answers: u64, refusal: Option<Box<str>> },
}

impl DnsLine {
    /// What the text of a packet that is not TCP says; none if it is no DNS.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (before, after) = text.split_once(" > ")?;
        let source = before.rsplit([' ', '\t']).next()?;
        let (target, said) = after.split_once(": ")?;
        let said = said.trim_start();
        // A checksum under -v: `[udp sum ok] `.
        let said = said.strip_prefix('[').and_then(|said| said.split_once("] ")).map_or(said, |(_, said)| said);
        let digits = said.bytes().take_while(u8::is_ascii_digit).count();
        let id = said.get(..digits)?.parse().ok()?;
        let words = said.get(digits..)?.trim_start_matches(|c: char| "+-*|$%".contains(c));
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
        // `q: A? example.com.` may stand before the counts, under -v.
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
    /// Those without an answer, numbered in the order of their first queries.
    open: BTreeMap<u64, (Open, Lookup)>,
    /// The open lookup of a client, a name and a type.
    by_name: HashMap<[Box<str>; 3], u64>,
    /// The open lookups of a query, by its ends and its number.
    by_query: HashMap<Query, BTreeSet<u64>>,
    numbers: u64,
    done: Vec<Lookup>,
    /// Those that were met when there was no more room.
    pub(super) beyond: u64,
}

/// Client, server and number of a query.
type Query = (Box<str>, Box<str>, u16);

#[derive(Debug)]
struct Open {
    /// The queries for it.
    asked: Vec<Query>,
}

/// Most queries for one lookup that are remembered.
const MAX_ASKED: usize = 16;

impl LookupTracker {
    /// Takes what was said at `time`.
    pub(super) fn observe(&mut self, talk: DnsLine, time: Time) {
        match talk {
            DnsLine::Query { client, server, id, kind, name } => {
                let address: Box<str> = host(&client).into();
                let known = self.by_name.get(&[address.clone(), name.clone(), kind.clone()]).copied();
                let number = known.unwrap_or(self.numbers);
                if known.is_none() {
                    self.begin([address, name, kind], &server, time);
                }
                self.note_query(number, (client, server, id));
            }
            DnsLine::Answer { client, server, id, answers, refusal } => {
                steps::count(1);
                let asked = self.by_query.get(&(client, server.clone(), id)).and_then(|those| those.first().copied());
                let Some(mut lookup) = asked.and_then(|number| self.take(number)) else { return };
                lookup.took = Some((time - lookup.start).or_zero());
                lookup.server = server.into();
                lookup.answers = Some(answers);
                lookup.refusal = refusal.map(String::from);
                self.keep(lookup);
            }
        }
    }

    /// Begins a lookup of `[client, name, kind]`.
    fn begin(&mut self, key: [Box<str>; 3], server: &str, time: Time) {
        let [client, name, kind] = key.clone().map(String::from);
        let server = server.to_owned();
        let lookup =
            Lookup { client, server, name, kind, start: time, took: None, queries: 0, answers: None, refusal: None };
        self.by_name.insert(key, self.numbers);
        self.open.insert(self.numbers, (Open { asked: Vec::new() }, lookup));
        self.numbers += 1;
        if self.open.len() > MAX
            && let Some((&oldest, _)) = self.open.first_key_value()
            && let Some(oldest) = self.take(oldest)
        {
            self.keep(oldest);
        }
    }

    /// Counts a query for an open lookup.
    fn note_query(&mut self, number: u64, query: Query) {
        steps::count(1);
        let Some((open, lookup)) = self.open.get_mut(&number) else { return };
        lookup.queries += 1;
        lookup.server = query.1.clone().into();
        if !open.asked.contains(&query) && open.asked.len() < MAX_ASKED {
            open.asked.push(query.clone());
            self.by_query.entry(query).or_default().insert(number);
        }
    }

    /// Removes an open lookup.
    fn take(&mut self, number: u64) -> Option<Lookup> {
        let (open, lookup) = self.open.remove(&number)?;
        let key = [&lookup.client, &lookup.name, &lookup.kind].map(|word| word.as_str().into());
        self.by_name.remove(&key);
        for query in open.asked {
            if let Some(those) = self.by_query.get_mut(&query) {
                those.remove(&number);
                if those.is_empty() {
                    self.by_query.remove(&query);
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

    /// All of them, in the order in which they began. Without a clock how long they took is not
    /// known.
    pub(super) fn finish(mut self, clock: bool) -> (Vec<Lookup>, u64) {
        for (_, lookup) in std::mem::take(&mut self.open).into_values() {
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
