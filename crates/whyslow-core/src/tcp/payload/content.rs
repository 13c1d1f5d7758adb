//! What the payload of one direction showed.

use super::protocol::Protocol;
use crate::types::Product;

/// What the payload of one direction showed. Positions are relative sequence numbers, as they were
/// fed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// What the payload is; none when it was not recognised. HTTP that turns into TLS (a CONNECT
    /// tunnel) is TLS.
    pub protocol: Option<Protocol>,
    /// The product that the first Server or User-Agent field with a known one names.
    pub product: Option<Product>,
    /// The name in the ClientHello (RFC 6066 section 3), or else in the first Host header, without
    /// the port: 1 to 255 printable ASCII characters. Only one that was captured to its end.
    pub server_name: Option<String>,
    /// Whether the ServerHello chose TLS 1.3 (RFC 8446 section 4.2.1); none when that was not seen.
    pub tls13: Option<bool>,
    /// End of the last handshake record (content types 20 and 22) seen before the first
    /// application-data record. With TLS 1.3 the encrypted part of the handshake travels as
    /// application data. Where headers went unseen (a hole, a short snapshot length) this and the
    /// next may be others than the true last and first.
    pub handshake_end: Option<u64>,
    /// Start and end of the first application-data record (content type 23) seen.
    pub first_application_data: Option<(u64, u64)>,
    /// Start of the second one; none when a gap in the record chain before it leaves its rank
    /// unknown.
    pub second_application_data: Option<u64>,
    /// The first TLS record after each change of direction: start, end, content type. In order.
    /// And each one that may be the first behind a [greeting](Self::greeting).
    pub firsts: Vec<(u64, u64, u8)>,
    /// Where session tickets and settings of a server of TLS 1.3 begin and end, if any were
    /// recognised: they answer nothing.
    pub greeting: Option<(u64, u64)>,
    /// HTTP heads: start, and `GET /path` or `200 OK`, in printable ASCII (and `…` where it was
    /// cut). In order.
    pub heads: Vec<(u64, String)>,
    /// Start of HTTP messages whose length their head announces, and where they end at the latest.
    /// In order.
    pub announced: Vec<(u64, u64)>,
    /// A head wants the connection closed behind the response.
    pub wants_close: bool,
    /// It begins as a client of HTTP/2 in the clear does.
    pub is_http2: bool,
    /// TLS records whose header was seen.
    pub records: u64,
    /// The largest of them, in bytes with its header.
    pub largest_record: u32,
}

/// A record of TLS 1.3 that holds a Finished, bytes: header, message, content type and tag, with a
/// hash of 32 or 48 bytes (RFC 8446 sections 4.4.4 and 5.2).
const FINISHED_RECORD_LENS: [u64; 2] = [58, 74];

impl Content {
    /// Whether the protocol is known, or begins as HTTP/2 does.
    pub(crate) fn is_readable(&self) -> bool {
        self.protocol.is_some() || self.is_http2
    }

    /// Whether these bytes are a part of one message whose length is announced.
    pub(crate) fn is_announced(&self, (from, to): (u64, u64)) -> bool {
        let next = self.announced.partition_point(|(start, _)| *start <= from);
        self.announced[..next].last().is_some_and(|(_, end)| to <= *end)
    }

    /// Where the handshake ends of a side that sends no more in it than a Finished: behind that,
    /// which travels as application data in TLS 1.3.
    pub(crate) fn finished_end(&self) -> Option<u64> {
        let end = self.handshake_end?;
        let finished = self.first_application_data.filter(|(start, _)| *start == end);
        let finished = finished.filter(|(start, end)| FINISHED_RECORD_LENS.contains(&(end - start)));
        Some(finished.map_or(end, |(_, end)| end))
    }

    /// The record with which a message begins whose first byte has this number: start, end, content
    /// type. A [greeting](Self::greeting) in front of it is passed over.
    pub(crate) fn first_record(&self, start: u64) -> Option<(u64, u64, u8)> {
        let at = |start: u64| self.firsts.iter().copied().find(|&(at, ..)| at == start);
        let behind = self.greeting.filter(|greeting| greeting.0 == start).and_then(|(_, end)| at(end));
        behind.or_else(|| at(start))
    }
}
