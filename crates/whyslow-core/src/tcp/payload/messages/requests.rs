//! [`Requests`]: requests with their responses, from decrypted or unencrypted messages.

use crate::tcp::payload::protocol::LIST_MAX;
use whyslow_units::Time;

/// Maximum number of requests of a connection that are kept: the first ones.
pub(super) const MAX_REQUESTS: usize = 1024;

/// A request and its response, with capture times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestFacts {
    /// Stream ID, for HTTP/2.
    pub stream: Option<u32>,
    /// The requested operation: for HTTP, method and path without the query.
    pub label: String,
    /// Status of the response.
    pub status: Option<u16>,
    /// Status of a gRPC call, from the response's trailers.
    pub grpc_status: Option<u16>,
    /// Error code of the response, if it is not an HTTP status.
    pub error: Option<String>,
    /// It waits for an event (a long poll).
    pub is_poll: bool,
    /// Start of the record or segment in which the request begins, as a relative sequence number of
    /// the requester.
    pub seq: u64,
    /// The same for the response, once it has begun.
    pub response_seq: Option<u64>,
    /// Time of the request's first byte.
    pub start: Time,
    /// Time of its last byte, once it is complete.
    pub sent: Option<Time>,
    /// Time of the response's head.
    pub headers: Option<Time>,
    /// Time of the first byte of the response's body.
    pub first_byte: Option<Time>,
    /// Time of the latest byte of the response.
    pub latest: Option<Time>,
    /// Whether the response is complete.
    pub is_complete: bool,
    /// Bytes of the bodies of request and response.
    pub bytes: [u64; 2],
}

impl RequestFacts {
    /// A request that begins at `seq` of its direction, without a response.
    pub fn new(label: String, seq: u64, start: Time) -> Self {
        Self {
            stream: None,
            label,
            status: None,
            grpc_status: None,
            error: None,
            is_poll: false,
            seq,
            response_seq: None,
            start,
            sent: None,
            headers: None,
            first_byte: None,
            latest: None,
            is_complete: false,
            bytes: [0; 2],
        }
    }

    /// Adds bytes of the response's body.
    pub(super) fn on_body(&mut self, bytes: u64, (first, last): (Time, Time)) {
        if bytes > 0 {
            self.first_byte.get_or_insert(first);
            self.latest = Some(last);
            self.bytes[1] += bytes;
        }
    }
}

/// The requests of a connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Requests {
    list: Vec<RequestFacts>,
    total: u64,
    /// Start and end of each side's messages with a known length.
    announced: [Vec<(u64, u64)>; 2],
}

impl Requests {
    /// Adds a request; returns its index, which does not change. `None` if the list is full.
    pub(super) fn push(&mut self, request: RequestFacts) -> Option<usize> {
        self.total += 1;
        let place = self.list.len();
        (place < MAX_REQUESTS).then(|| self.list.push(request)).map(|()| place)
    }

    pub(super) fn at(&mut self, place: Option<usize>) -> Option<&mut RequestFacts> {
        self.list.get_mut(place?)
    }

    /// Begins a message with a known length at this position of a side; returns its index.
    pub(super) fn begin_message(&mut self, from: usize, start: u64) -> Option<usize> {
        let list = self.announced.get_mut(from).filter(|list| list.len() < LIST_MAX)?;
        list.push((start, u64::MAX));
        Some(list.len() - 1)
    }

    /// Ends it before this position.
    pub(super) fn end_message(&mut self, from: usize, place: Option<usize>, end: u64) {
        let message = place.and_then(|place| self.announced.get_mut(from)?.get_mut(place));
        if let Some(message) = message {
            message.1 = end;
        }
    }

    /// Start and end of a side's messages with a known length, in order. Merges messages that
    /// overlap in time.
    pub(super) fn take_announced(&mut self, from: usize) -> Vec<(u64, u64)> {
        let mut messages = self.announced.get_mut(from).map(std::mem::take).unwrap_or_default();
        messages.sort_unstable();
        messages.dedup_by(|next, message| {
            let overlaps = next.0 < message.1;
            if overlaps {
                message.1 = message.1.max(next.1);
            }
            overlaps
        });
        messages
    }

    /// The list, and the number of all requests.
    pub(super) fn finish(self) -> (Vec<RequestFacts>, u64) {
        (self.list, self.total)
    }
}

/// A label without private parts: the query, and a user's name and password before a host.
pub(super) fn redact(label: &str) -> String {
    let (label, has_query) = match label.split_once(['?', '#']) {
        Some((path, _)) => (path, true),
        None => (label, false),
    };
    let mut redacted = match label.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest.find('/').map_or((rest, ""), |slash| rest.split_at(slash));
            let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
            format!("{scheme}://{host}{path}")
        }
        None => label.to_owned(),
    };
    if has_query {
        redacted.push_str("?…");
    }
    redacted
}

#[cfg(test)]
mod tests {
    use super::{Requests, redact};

    #[test]
    fn overlapping_messages_are_merged() {
        let mut requests = Requests::default();
        let [one, two, three] = [10, 20, 40].map(|start| requests.begin_message(1, start));
        requests.end_message(1, two, 25);
        requests.end_message(1, one, 30);
        assert_eq!(requests.clone().take_announced(1), [(10, 30), (40, u64::MAX)]);
        requests.end_message(1, three, 50);
        assert_eq!((requests.take_announced(0), requests.take_announced(1)), (vec![], vec![(10, 30), (40, 50)]));
    }

    #[test]
    fn queries_and_credentials_are_cut() {
        assert_eq!(redact("GET /a/b?token=secret#x"), "GET /a/b?…");
        assert_eq!(redact("GET http://user:word@host:80/a@b?c"), "GET http://host:80/a@b?…");
        assert_eq!(redact("OPTIONS *"), "OPTIONS *");
    }
}
