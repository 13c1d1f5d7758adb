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
    /// When a side first sent what nobody had asked for.
    pub first_push: Option<Time>,
    /// All of both sides was read, to the end.
    pub is_whole: bool,
}

impl MessageFacts {
    /// Whether all of these bytes of a side are heartbeats.
    pub(in crate::tcp) fn is_heartbeat(&self, side: usize, (from, to): (u64, u64)) -> bool {
        let list = self.heartbeats.get(side).map_or(&[][..], Vec::as_slice);
        list.iter().any(|&(start, end)| start <= from && to <= end)
    }

    /// Whether the request that begins within these bytes waits for something to happen, and all
    /// that begin there do.
    pub(crate) fn is_poll(&self, (from, to): (u64, u64)) -> bool {
        let mut of = self.requests.iter().filter(|request| (from..to).contains(&request.seq)).peekable();
        of.peek().is_some() && of.all(|request| request.is_poll)
    }
}
