//! [`Requests`]: requests with their responses, as decrypted or clear messages show them.

use crate::tcp::payload::protocol::LIST_MAX;
use crate::units::Time;

/// Most requests of a connection that are kept: the first ones.
pub(super) const MAX_REQUESTS: usize = 1024;

/// A request and its response. Times are those at the capture point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestFacts {
    /// Of HTTP/2: the stream's number.
    pub stream: Option<u32>,
    /// What it asks for: of HTTP method and path, without the query.
    pub label: String,
    /// Of the response.
    pub status: Option<u16>,
    /// Of a gRPC call: the status in the response's trailers.
    pub grpc_status: Option<u16>,
    /// What the response says of a failure, where it has a code that is no HTTP status.
    pub error: Option<String>,
    /// It waits for something to happen.
    pub is_poll: bool,
    /// Where the record, or the segment, begins that the request begins in: a relative sequence
    /// number of the requester's.
    pub seq: u64,
    /// The same of the response, once that has begun.
    pub response_seq: Option<u64>,
    /// The request's first byte.
    pub start: Time,
    /// Its last byte, once it is complete.
    pub sent: Option<Time>,
    /// The response's head.
    pub headers: Option<Time>,
    /// The first byte of the response's body.
    pub first_byte: Option<Time>,
    /// The latest byte of the response.
    pub latest: Option<Time>,
    /// The response came to its end.
    pub is_complete: bool,
    /// Bytes of the bodies: of the request, and of the response.
    pub bytes: [u64; 2],
}

impl RequestFacts {
    pub(super) fn new(label: String, seq: u64, start: Time) -> Self {
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

    /// Bytes of the response's body came.
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
    /// Messages of each side whose length is announced: where they begin, and where they end.
    announced: [Vec<(u64, u64)>; 2],
}

impl Requests {
    /// Adds a request; returns its place, which stays. `None` if the list is full.
    pub(super) fn push(&mut self, request: RequestFacts) -> Option<usize> {
        self.total += 1;
        let place = self.list.len();
        (place < MAX_REQUESTS).then(|| self.list.push(request)).map(|()| place)
    }

    pub(super) fn at(&mut self, place: Option<usize>) -> Option<&mut RequestFacts> {
        self.list.get_mut(place?)
    }

    /// A message begins at this position of a side, and its length is announced; returns its place.
    pub(super) fn begin_message(&mut self, from: usize, start: u64) -> Option<usize> {
        let list = self.announced.get_mut(from).filter(|list| list.len() < LIST_MAX)?;
        list.push((start, u64::MAX));
        Some(list.len() - 1)
    }

    /// It ends before this position.
    pub(super) fn end_message(&mut self, from: usize, place: Option<usize>, end: u64) {
        let message = place.and_then(|place| self.announced.get_mut(from)?.get_mut(place));
        if let Some(message) = message {
            message.1 = end;
        }
    }

    /// The messages of a side whose length is announced: where they begin and end, in order. Those
    /// that are under way at the same time are one.
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

    /// The list, and how many there were.
    pub(super) fn finish(self) -> (Vec<RequestFacts>, u64) {
        (self.list, self.total)
    }
}

/// A label without what may be private: the query, and a user's name and password before a host.
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
    fn messages_under_way_at_once_are_one() {
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
