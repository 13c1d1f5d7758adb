//! [`MessageFacts`]: what the messages of a connection showed.

use super::http2::WindowWait;
use super::requests::RequestFacts;
use crate::types::RequestProtocol;
use crate::units::Time;

/// What the messages of a connection showed. Positions are relative sequence numbers.
#[derive(Clone, Debug)]
pub struct MessageFacts {
    /// What they are written in.
    pub protocol: RequestProtocol,
    /// Requests with their responses, in the order in which they began: the first ones.
    pub requests: Vec<RequestFacts>,
    /// How many there were.
    pub requests_total: u64,
    /// The waits of each side for a window of HTTP/2; none where not all was read that fills and
    /// opens them.
    pub windows: Option<[Vec<WindowWait>; 2]>,
    /// Heartbeats of each side, and their answers: where they begin and end.
    pub heartbeats: [Vec<(u64, u64)>; 2],
    /// All of both sides was read, to the end.
    pub is_whole: bool,
}

impl MessageFacts {
    /// Whether all of these bytes of a side are heartbeats.
    pub(in crate::tcp) fn is_heartbeat(&self, side: usize, (from, to): (u64, u64)) -> bool {
        let list = self.heartbeats.get(side).map_or(&[][..], Vec::as_slice);
        list.iter().any(|&(start, end)| start <= from && to <= end)
    }

    /// Whether all requests of the connection are known, and what is no response to one was not
    /// asked for. (Of HTTP the requests are known by the framing of their heads, too.)
    pub(crate) fn shows_all_requests(&self) -> bool {
        use RequestProtocol::{Http1, Http2, Http3};
        let is_http = matches!(self.protocol, Http1 | Http2 | Http3);
        self.is_whole && !is_http && self.requests_total == self.requests.len() as u64
    }

    /// Whether a request waited for what begins with these bytes of the responder, at this time: a
    /// response to a request that does not wait for something to happen begins in them, or goes on.
    pub(crate) fn was_waited_for(&self, (from, to): (u64, u64), start: Time) -> bool {
        self.requests.iter().filter(|request| !request.is_poll).any(|request| {
            let begins = |seq: u64| (from..to).contains(&seq);
            let goes_on = |seq: u64| seq < from && request.latest.is_some_and(|latest| latest >= start);
            request.response_seq.is_some_and(|seq| begins(seq) || goes_on(seq))
        })
    }
}
