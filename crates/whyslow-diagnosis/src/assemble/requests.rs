//! A connection's requests, as they are listed.

use std::cmp::Reverse;
use whyslow_analysis::types::RequestProtocol;
use whyslow_analysis::{MAX_REQUESTS, Request};
use whyslow_core::tcp::facts::Facts;
use whyslow_core::tcp::payload::RequestFacts;
use whyslow_units::{Nanos, Time};

/// Number of the first requests that are listed; the others are those that were waited for longest.
const LISTED_FIRST: usize = 16;

/// Returns the listed requests, and the number of all. Times count from `first`.
pub(super) fn list_requests(facts: &Facts, first: Time) -> (Vec<Request>, u64) {
    let Some(messages) = &facts.messages else { return (Vec::new(), 0) };
    let requests = &messages.requests;
    let mut order: Vec<usize> = (0..requests.len()).collect();
    if let Some(others) = order.get_mut(LISTED_FIRST..) {
        others.sort_by_key(|&index| (Reverse(wait(&requests[index])), index));
    }
    order.truncate(MAX_REQUESTS);
    order.sort_unstable();
    let entries = order.into_iter().map(|index| entry(messages.protocol, &requests[index], first));
    (entries.collect(), messages.requests_total)
}

/// `None` without a response.
fn wait(request: &RequestFacts) -> Option<Nanos> {
    Some((request.latest? - request.start).or_zero())
}

fn entry(protocol: RequestProtocol, request: &RequestFacts, first: Time) -> Request {
    let after = |time: Option<Time>| time.map(|time| (time - request.start).or_zero());
    let headers_s = after(request.headers);
    Request {
        protocol,
        stream: request.stream,
        label: request.label.clone(),
        status: request.status,
        grpc_status: request.grpc_status,
        error: request.error.clone(),
        poll: request.is_poll,
        start_s: request.start - first,
        sent_s: after(request.sent),
        headers_s,
        first_byte_s: after(request.first_byte).map(|time| (time - headers_s.unwrap_or_default()).or_zero()),
        wait_s: wait(request),
        complete: request.is_complete,
        request_bytes: request.bytes[0],
        response_bytes: request.bytes[1],
    }
}
