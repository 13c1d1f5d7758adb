//! Exchanges: a request, the server's time, the response, and the client's time before the next
//! request; or a push without a request.
//!
//! They follow from the transfers of both directions and the message that each one answers. All
//! times are those of the requester, usually the client, whose user waits. A packet to the client
//! arrives half a loop after the capture point, and a packet of the client was sent half a loop
//! before it.

use super::facts::{DirectionFacts, ExchangeFacts, HandshakeFacts, TransferFacts};
use super::payload::Content;
use super::sender::peer_payload::PROMPT_ANSWER;
use whyslow_analysis::types::Side;
use whyslow_units::{Nanos, Time};

/// Maximum number of exchanges that are kept: those with the longest wait.
const MAX_EXCHANGES: usize = 1024;

/// Largest payload of a GOAWAY and a close_notify in records, bytes.
const CLOSING_MESSAGE_MAX: u64 = 100;
/// Minimum time that a server waits before it closes an idle connection.
const SECOND: Nanos = Nanos::from_millis(1_000);

/// Ports where the end that accepts a connection sends the requests: OpenFlow controllers (6633
/// before IANA assigned 6653), and call home of NETCONF and RESTCONF (RFC 8071).
const SERVER_ASKS_PORTS: [u16; 5] = [4334, 4335, 4336, 6633, 6653];

/// Returns the side that sends requests on a connection that `client` opened to this port.
pub(super) fn requester(client: Side, port: u16) -> Side {
    if SERVER_ASKS_PORTS.contains(&port) { !client } else { client }
}

/// A connection's transfers and its vantage.
pub(super) struct Conversation<'a> {
    pub directions: &'a [DirectionFacts; 2],
    /// The side that sends requests; "client" in this module.
    pub requester: Side,
    /// Round-trip time from the capture point to each side.
    pub toward: [Option<Nanos>; 2],
    pub handshake: &'a HandshakeFacts,
}

/// Moves the arrival of a request to that of its last necessary retransmission.
pub(super) fn note_request_retransmits(directions: &mut [DirectionFacts; 2], requester: Side) {
    let [zero, one] = directions;
    let (requests, answers) = if requester == Side::A { (zero, one) } else { (one, zero) };
    let copied =
        |transfer: &&TransferFacts| transfer.retransmitted_bytes > 0 && transfer.spurious_tail_start().is_none();
    for request in requests.transfers.iter().filter(copied) {
        let is_answer = |answer: &&mut TransferFacts| {
            let asked = answer.answered.map(|asked| asked.last);
            asked.is_some_and(|last| last >= request.start && last <= request.last_send)
                && answer.start >= request.last_send
        };
        if let Some(asked) = answers.transfers.iter_mut().find(is_answer).and_then(|answer| answer.answered.as_mut()) {
            asked.last = request.last_send;
        }
    }
}

/// Marks data that a server sends immediately, when only the client's Finished has arrived: it is
/// not a response. If it comes late, the client waits for it, like for the greeting of a mail
/// server.
pub(super) fn note_greeting(
    directions: &mut [DirectionFacts; 2],
    client: Side,
    sent: &Content,
    loop_to_server: Option<Nanos>,
) {
    let end = sent.finished_end();
    let Some(finished) = directions[client].transfers.iter().find(|sent| end == Some(sent.seq.1)) else { return };
    let last = finished.last_send;
    let at_once = loop_to_server.unwrap_or_default() + PROMPT_ANSWER;
    for transfer in &mut directions[!client].transfers {
        let answers_finished = transfer.answered.is_some_and(|asked| asked.last == last);
        transfer.is_housekeeping |= answers_finished && transfer.start - last <= at_once;
    }
}

/// Marks the last payload of a server before its FIN as housekeeping if it came after a second or
/// more and is too small for a response: a GOAWAY of HTTP/2 (RFC 9113 section 6.8, 17 bytes and its
/// encryption) or a close_notify. `closed`: the server's FIN.
pub(super) fn note_closing_message(directions: &mut [DirectionFacts; 2], server: Side, closed: Option<Time>) {
    let Some((closed, last)) = closed.zip(directions[server].transfers.last_mut()) else { return };
    let waited = last.answered.map_or(Nanos::ZERO, |asked| last.start - asked.last);
    let is_closing_message =
        last.bytes() <= CLOSING_MESSAGE_MAX && closed - last.last_send <= PROMPT_ANSWER && waited >= SECOND;
    last.is_housekeeping |= is_closing_message;
}

impl Conversation<'_> {
    /// Returns the exchanges in time order, and their number.
    pub fn exchanges(&self) -> (Vec<ExchangeFacts>, u64) {
        let mut found: Vec<ExchangeFacts> = Vec::new();
        // The pending request, and the time when the last response was complete.
        let mut open: Option<usize> = None;
        for (side, index) in self.transfers_in_order() {
            let Some(transfer) = self.directions[side].transfers.get(index) else { continue };
            if side == self.requester {
                let before = self.before_request(transfer, found.last());
                open = Some(found.len());
                found.push(ExchangeFacts {
                    start: transfer.start,
                    end: self.complete_at(side, transfer),
                    request: Some(index),
                    before,
                    ..ExchangeFacts::default()
                });
            } else if let Some(asked) = transfer.answered {
                let server = self.toward[side].map(|way| (transfer.start - asked.last - way).or_zero());
                let asking = open.take().and_then(|open| found.get_mut(open));
                let end = self.complete_at(side, transfer);
                match asking {
                    Some(exchange) => {
                        // A transfer may contain flow-control credit before the request.
                        let later = (asked.first - exchange.start).or_zero();
                        exchange.before = exchange.before.map(|before| before + later);
                        exchange.start += later;
                        (exchange.answer, exchange.server, exchange.end) = (Some(index), server, end.max(exchange.end));
                    }
                    // The request was part of an earlier transfer.
                    None => found.push(ExchangeFacts {
                        start: asked.first,
                        end,
                        answer: Some(index),
                        server,
                        ..ExchangeFacts::default()
                    }),
                }
            } else {
                let end = self.complete_at(side, transfer);
                let start = transfer.start;
                found.push(ExchangeFacts { start, end, answer: Some(index), ..ExchangeFacts::default() });
            }
        }
        let total = self.total(found.len() as u64);
        if found.len() > MAX_EXCHANGES {
            let mut waits: Vec<Nanos> = found.iter().map(ExchangeFacts::wait).collect();
            let (_, &mut least, _) = waits.select_nth_unstable(found.len() - MAX_EXCHANGES);
            let mut spare = found.len() - MAX_EXCHANGES;
            found.retain(|exchange| {
                let keep = exchange.wait() > least || spare == 0;
                spare -= usize::from(!keep);
                keep
            });
        }
        (found, total)
    }

    /// Returns all transfers that are messages, in time order.
    fn transfers_in_order(&self) -> Vec<(Side, usize)> {
        let of = |side: Side| {
            let transfers = self.directions[side].transfers.iter().enumerate();
            transfers
                .filter(|(_, transfer)| !transfer.is_housekeeping)
                .map(move |(index, transfer)| (transfer.start, side, index))
        };
        let mut all: Vec<_> = of(Side::A).chain(of(Side::B)).collect();
        all.sort_unstable();
        all.into_iter().map(|(_, side, index)| (side, index)).collect()
    }

    /// Returns the time, by the client's clock, when the client had received the transfer, or knew
    /// that its own had arrived.
    fn complete_at(&self, sender: Side, transfer: &TransferFacts) -> Time {
        if sender == self.requester {
            transfer.end
        } else {
            transfer.last_send + self.toward[self.requester].unwrap_or_default()
        }
    }

    /// Returns the client's time before a request, since the last response or the handshake.
    fn before_request(&self, request: &TransferFacts, last: Option<&ExchangeFacts>) -> Option<Nanos> {
        let since = match last {
            Some(last) => last.end,
            None => self.handshake.ack?.0,
        };
        Some((request.start - since).or_zero())
    }

    /// Estimates the total if transfers were dropped: requests and responses alternate.
    fn total(&self, found: u64) -> u64 {
        let all = |direction: &DirectionFacts| {
            direction.transfers_total - direction.transfers.iter().filter(|t| t.is_housekeeping).count() as u64
        };
        let left_out = |direction: &DirectionFacts| direction.transfers_total > direction.transfers.len() as u64;
        if self.directions.iter().any(left_out) { self.directions.iter().map(all).fold(found, u64::max) } else { found }
    }
}

#[cfg(test)]
mod tests {
    use super::requester;
    use whyslow_analysis::types::Side;

    #[test]
    fn client_is_the_requester_except_on_call_home_ports() {
        assert_eq!((requester(Side::A, 443), requester(Side::B, 80)), (Side::A, Side::B));
        assert_eq!((requester(Side::A, 6653), requester(Side::B, 4334)), (Side::B, Side::A));
    }
}
