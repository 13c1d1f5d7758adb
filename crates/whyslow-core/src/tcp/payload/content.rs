//! Facts about the payload of one direction.

use super::protocol::Protocol;
use whyslow_analysis::types::Product;

/// Facts about the payload of one direction. Positions are relative sequence numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// The protocol; `None` if it was not recognised. HTTP that continues as TLS (a CONNECT tunnel)
    /// counts as TLS.
    pub protocol: Option<Protocol>,
    /// The product in the first Server or User-Agent field with a known one.
    pub product: Option<Product>,
    /// The name in the ClientHello (RFC 6066 section 3), otherwise in the first Host header without
    /// the port: 1 to 255 printable ASCII characters. Only a completely captured name.
    pub server_name: Option<String>,
    /// Whether the ServerHello chose TLS 1.3 (RFC 8446 section 4.2.1); `None` if not captured.
    pub tls13: Option<bool>,
    /// End of the last handshake record (content types 20 and 22) before the first application-data
    /// record. With TLS 1.3 the encrypted part of the handshake is sent as application data. If
    /// record headers were not captured (a gap, a short snapshot length), this and the next field
    /// may not be the true last and first records.
    pub handshake_end: Option<u64>,
    /// Start and end of the first captured application-data record (content type 23).
    pub first_application_data: Option<(u64, u64)>,
    /// Start of the second one; `None` if a gap in the record chain before it makes its position
    /// unknown.
    pub second_application_data: Option<u64>,
    /// The first TLS record after each change of direction: start, end, content type. In order.
    /// Includes each record that may be the first after a [greeting](Self::greeting).
    pub firsts: Vec<(u64, u64, u8)>,
    /// Start and end of the session tickets and settings of a TLS 1.3 server, if recognised: they
    /// are not a response.
    pub greeting: Option<(u64, u64)>,
    /// HTTP heads: start, and `GET /path` or `200 OK` in printable ASCII (with `…` if truncated).
    /// In order.
    pub heads: Vec<(u64, String)>,
    /// Start and latest end of HTTP messages whose length is in their head. In order.
    pub announced: Vec<(u64, u64)>,
    /// Whether a head asks to close the connection after the response.
    pub wants_close: bool,
    /// Whether it begins with the preface of an HTTP/2 client in the clear.
    pub is_http2: bool,
    /// TLS records whose header was captured.
    pub records: u64,
    /// The largest of them, header included, bytes.
    pub largest_record: u32,
}

/// Lengths of a TLS 1.3 record with a Finished, bytes: header, message, content type and tag, with
/// a hash of 32 or 48 bytes (RFC 8446 sections 4.4.4 and 5.2).
const FINISHED_RECORD_LENS: [u64; 2] = [58, 74];

impl Content {
    /// Whether the protocol is known, or begins like HTTP/2.
    pub fn is_readable(&self) -> bool {
        self.protocol.is_some() || self.is_http2
    }

    /// Whether these bytes are a part of one message with a known length.
    pub fn is_announced(&self, (from, to): (u64, u64)) -> bool {
        let next = self.announced.partition_point(|(start, _)| *start <= from);
        self.announced[..next].last().is_some_and(|(_, end)| to <= *end)
    }

    /// End of the handshake on the side that sends only a Finished in it: after the Finished, which
    /// TLS 1.3 sends as application data.
    pub fn finished_end(&self) -> Option<u64> {
        let end = self.handshake_end?;
        let finished = self.first_application_data.filter(|(start, _)| *start == end);
        let finished = finished.filter(|(start, end)| FINISHED_RECORD_LENS.contains(&(end - start)));
        Some(finished.map_or(end, |(_, end)| end))
    }

    /// The record that begins a message whose first byte has this number: start, end, content type.
    /// Skips a [greeting](Self::greeting) before it.
    pub fn first_record(&self, start: u64) -> Option<(u64, u64, u8)> {
        let at = |start: u64| self.firsts.iter().copied().find(|&(at, ..)| at == start);
        let behind = self.greeting.filter(|greeting| greeting.0 == start).and_then(|(_, end)| at(end));
        behind.or_else(|| at(start))
    }
}
