//! `dns`: lookups of names, and the connections that waited for them.
//!
//! A [`LookupTable`] takes the queries and responses of a capture, over UDP and TCP. When a
//! connection begins, it returns the lookup whose response named the server's address to this
//! client shortly before.
//!
//! A *lookup* is all that a client asks for a name until it has its addresses: A and AAAA, queries
//! that are sent again or to another server, and the names with search domains that failed before
//! (resolv.conf(5): `search`, `ndots`). It lasts from the first query to the last response.
//!
//! Memory is bounded, and the result does not depend on the order of a hash table.

mod message;

use borsh::{BorshDeserialize, BorshSerialize};
use foldhash::HashMap;
use message::Message;
use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::Arc;
use whyslow_analysis::types::Frame;
use whyslow_units::{Nanos, Time};

/// The port of DNS (RFC 1035 section 4.2).
pub const PORT: u16 = 53;
/// Maximum bytes of a message that are read: larger answers than those of 1,232 bytes (DNS flag day
/// 2020) list no more addresses that a client tries.
pub const MAX_READ: usize = 2_048;

/// Maximum number of lookups that are remembered.
const MAX_LOOKUPS: usize = 4_096;
/// Maximum number of addresses of one name; and of types that are asked for at the same time.
const MAX_ADDRESSES: usize = 32;
const MAX_KINDS: usize = 8;
/// A connection that begins later after the response was not waiting for it. A client tries its
/// next address 250 ms after the previous one (RFC 8305 section 5).
const PROMPT: Nanos = Nanos::from_millis(250);
/// A client that has no response asks again sooner (resolv.conf(5): `timeout` is at most 30 s).
const LONGEST_WAIT: Nanos = Nanos::from_millis(30_000);

/// A lookup that a connection waited for.
#[derive(Clone, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub struct LookupFacts {
    /// The name, in lower case.
    pub name: Box<str>,
    /// The server that answered last.
    pub server: IpAddr,
    /// The first server that did not answer, while another did.
    pub silent: Option<IpAddr>,
    /// The first query.
    pub start: Time,
    /// The last response before the connection.
    pub end: Time,
    /// Number of queries.
    pub queries: u64,
    /// Number of these that got no response.
    pub unanswered: u64,
    /// Number of names with a search domain that failed before.
    pub searched: u64,
    /// Frames of the first query and of the last response.
    pub frames: [Frame; 2],
}

/// The ends of a message, with its time and frame.
#[derive(Clone, Copy, Debug)]
pub struct MessagePlace {
    /// The sender.
    pub from: (IpAddr, u16),
    /// The receiver.
    pub to: (IpAddr, u16),
    /// Capture time.
    pub time: Time,
    /// Its frame.
    pub frame: Frame,
}

#[derive(Clone, Debug)]
struct Lookup {
    client: IpAddr,
    name: Arc<str>,
    start: Time,
    first_frame: Frame,
    /// Last query or response.
    last: Time,
    /// Types of the queries without a response.
    open: Vec<u16>,
    queries: u64,
    unanswered: u64,
    searched: u64,
    first_server: IpAddr,
    has_first_answered: bool,
    /// Responses, with the server.
    responses: Vec<(Time, Frame, IpAddr)>,
    addresses: Vec<IpAddr>,
}

/// The lookups of a capture.
#[derive(Debug, Default)]
pub struct LookupTable {
    lookups: HashMap<u64, Lookup>,
    /// In order of their start.
    order: VecDeque<u64>,
    next: u64,
    by_name: HashMap<(IpAddr, Arc<str>), u64>,
    by_address: HashMap<(IpAddr, IpAddr), u64>,
    /// The last lookup of a client that found no address.
    failed: HashMap<IpAddr, u64>,
}

impl LookupTable {
    /// Whether no lookup is remembered.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Processes a message over UDP.
    pub fn observe(&mut self, bytes: &[u8], place: &MessagePlace) {
        let read = bytes.get(..MAX_READ).unwrap_or(bytes);
        let Some(message) = Message::parse(read) else { return };
        match message.is_response {
            false if place.to.1 == PORT => self.on_query(message, place),
            true if place.from.1 == PORT && !message.truncated => self.on_response(&message, place),
            _ => {}
        }
    }

    /// Processes the payload of a TCP segment: a message behind its length (RFC 1035 section
    /// 4.2.2). Messages over several segments are not read.
    pub fn observe_segment(&mut self, payload: &[u8], place: &MessagePlace) {
        if let Some((length, message)) = payload.split_first_chunk()
            && message.len() >= usize::from(u16::from_be_bytes(*length))
        {
            self.observe(message, place);
        }
    }

    /// The lookup that a connection from `client` to `server`, which begins now, waited for.
    pub fn before(&self, client: IpAddr, server: IpAddr, now: Time) -> Option<LookupFacts> {
        let lookup = self.lookups.get(self.by_address.get(&(client, server))?)?;
        let of_time = |(time, ..): &&(Time, Frame, IpAddr)| *time <= now;
        let &(end, frame, server) = lookup.responses.iter().rev().find(of_time)?;
        let is_prompt = now - end <= PROMPT && end >= lookup.start;
        is_prompt.then(|| LookupFacts {
            name: (&*lookup.name).into(),
            server,
            silent: (!lookup.has_first_answered && lookup.first_server != server).then_some(lookup.first_server),
            start: lookup.start,
            end,
            queries: lookup.queries,
            unanswered: lookup.unanswered,
            searched: lookup.searched,
            frames: [lookup.first_frame, frame],
        })
    }

    fn on_query(&mut self, message: Message, place: &MessagePlace) {
        let (client, time) = (place.from.0, place.time);
        let key = (client, Arc::<str>::from(message.name));
        let known = self.by_name.get(&key).copied();
        let id = match known.filter(|id| self.lookups.get(id).is_some_and(|one| one.continues(message.kind, time))) {
            Some(id) => id,
            None => self.begin(key, place),
        };
        let Some(lookup) = self.lookups.get_mut(&id) else { return };
        lookup.last = time;
        lookup.queries += 1;
        if lookup.open.contains(&message.kind) {
            lookup.unanswered += 1;
        } else if lookup.open.len() < MAX_KINDS {
            lookup.open.push(message.kind);
        }
    }

    /// Begins a lookup, which continues one of the same name with a search domain that just failed.
    fn begin(&mut self, key: (IpAddr, Arc<str>), place: &MessagePlace) -> u64 {
        let (client, name) = key.clone();
        let failed = self.failed.get(&client).and_then(|id| self.lookups.get(id)).filter(|failed| {
            let is_longer = failed.name.strip_prefix(&*name).is_some_and(|rest| rest.starts_with('.'));
            // The next search domain, or the name alone.
            let is_search = is_longer || first_label(&failed.name) == first_label(&name);
            failed.addresses.is_empty() && is_search && place.time - failed.last <= PROMPT
        });
        let new = Lookup {
            client,
            name,
            start: failed.map_or(place.time, |failed| failed.start),
            first_frame: failed.map_or(place.frame, |failed| failed.first_frame),
            last: place.time,
            open: Vec::new(),
            queries: failed.map_or(0, |failed| failed.queries),
            unanswered: failed.map_or(0, |failed| failed.unanswered),
            searched: failed.map_or(0, |failed| failed.searched + 1),
            first_server: place.to.0,
            has_first_answered: false,
            responses: Vec::new(),
            addresses: Vec::new(),
        };
        if self.order.len() >= MAX_LOOKUPS {
            self.forget_oldest();
        }
        let id = self.next;
        self.next += 1;
        self.order.push_back(id);
        self.by_name.insert(key, id);
        self.lookups.insert(id, new);
        id
    }

    fn on_response(&mut self, message: &Message, place: &MessagePlace) {
        let (client, server) = (place.to.0, place.from.0);
        let key = (client, Arc::<str>::from(&*message.name));
        let Some(&id) = self.by_name.get(&key) else { return };
        let Some(lookup) = self.lookups.get_mut(&id) else { return };
        let Some(at) = lookup.open.iter().position(|kind| *kind == message.kind) else { return };
        lookup.last = place.time;
        lookup.open.swap_remove(at);
        lookup.has_first_answered |= server == lookup.first_server;
        if lookup.responses.len() < MAX_KINDS {
            lookup.responses.push((place.time, place.frame, server));
        }
        for &address in &message.addresses {
            if lookup.addresses.len() < MAX_ADDRESSES {
                lookup.addresses.push(address);
                self.by_address.insert((client, address), id);
            }
        }
        if lookup.addresses.is_empty() {
            self.failed.insert(client, id);
        }
    }

    fn forget_oldest(&mut self) {
        let Some(id) = self.order.pop_front() else { return };
        let Some(lookup) = self.lookups.remove(&id) else { return };
        let is_its = |known: Option<&u64>| known == Some(&id);
        for address in lookup.addresses {
            let key = (lookup.client, address);
            if is_its(self.by_address.get(&key)) {
                self.by_address.remove(&key);
            }
        }
        if is_its(self.failed.get(&lookup.client)) {
            self.failed.remove(&lookup.client);
        }
        let key = (lookup.client, lookup.name);
        if is_its(self.by_name.get(&key)) {
            self.by_name.remove(&key);
        }
    }
}

impl Lookup {
    /// Whether a query of this type continues the lookup: one is open, or this one follows at once.
    fn continues(&self, kind: u16, time: Time) -> bool {
        let quiet = time - self.last;
        let is_open = !self.open.is_empty() && quiet <= LONGEST_WAIT;
        let is_new = self.addresses.is_empty() || self.queries == 1;
        is_open || (is_new && quiet <= PROMPT && !self.open.contains(&kind))
    }
}

fn first_label(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

#[cfg(test)]
mod tests;
