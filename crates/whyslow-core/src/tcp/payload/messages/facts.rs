//! [`MessageFacts`]: facts about the messages of a connection.

use super::http2::WindowWait;
use super::requests::RequestFacts;
use whyslow_analysis::types::RequestProtocol;
use whyslow_units::Time;

/// Requests of the login and of version negotiation, by protocol: the first words of their labels.
/// Later requests are those of the application.
const LOGINS: &[(RequestProtocol, &[&str])] = &[
    (RequestProtocol::Postgresql, &["startup"]),
    (RequestProtocol::Mysql, &["login"]),
    (RequestProtocol::Redis, &["HELLO", "AUTH", "CLIENT"]),
    (RequestProtocol::Mongodb, &["hello", "isMaster", "ismaster", "saslStart", "saslContinue"]),
    (RequestProtocol::Kafka, &["ApiVersions", "SaslHandshake", "SaslAuthenticate"]),
    (RequestProtocol::Amqp, &["connection", "channel.open"]),
    (RequestProtocol::Mqtt, &["CONNECT"]),
    (RequestProtocol::Smtp, &["EHLO", "HELO", "STARTTLS", "AUTH"]),
    (RequestProtocol::Imap, &["CAPABILITY", "STARTTLS", "LOGIN", "AUTHENTICATE"]),
    (RequestProtocol::Ftp, &["AUTH", "USER", "PASS"]),
    (RequestProtocol::Smb2, &["Negotiate", "SessionSetup", "TreeConnect"]),
];

/// Facts about the messages of a connection. Positions are relative sequence numbers.
#[derive(Clone, Debug)]
pub struct MessageFacts {
    /// Their protocol.
    pub protocol: RequestProtocol,
    /// The first requests with their responses, ordered by their start.
    pub requests: Vec<RequestFacts>,
    /// Number of all requests.
    pub requests_total: u64,
    /// The waits of each side for an HTTP/2 window; `None` unless all frames that fill and open
    /// windows were parsed.
    pub windows: Option<[Vec<WindowWait>; 2]>,
    /// Start and end of the heartbeats of each side and of their responses.
    pub heartbeats: [Vec<(u64, u64)>; 2],
    /// Both sides were parsed completely.
    pub is_whole: bool,
}

impl MessageFacts {
    /// Whether all of these bytes of a side are heartbeats.
    pub(in crate::tcp) fn is_heartbeat(&self, side: usize, (from, to): (u64, u64)) -> bool {
        let list = self.heartbeats.get(side).map_or(&[][..], Vec::as_slice);
        list.iter().any(|&(start, end)| start <= from && to <= end)
    }

    /// The first request after the login, if the connection begins with one.
    pub fn first_after_login(&self) -> Option<&RequestFacts> {
        let (_, logins) = LOGINS.iter().find(|(protocol, _)| *protocol == self.protocol)?;
        let is_login = |request: &RequestFacts| logins.iter().any(|word| request.label.starts_with(word));
        let behind = self.requests.iter().position(|request| !is_login(request)).filter(|&place| place > 0)?;
        self.requests.get(behind)
    }

    /// Whether all requests are known, so that all other data of the server is unrequested. (HTTP/1
    /// requests are also known from the framing of their heads.)
    pub fn shows_all_requests(&self) -> bool {
        use RequestProtocol::{Http1, Http2, Http3};
        let is_http = matches!(self.protocol, Http1 | Http2 | Http3);
        self.is_whole && !is_http && self.requests_total == self.requests.len() as u64
    }

    /// Whether a request waited for the responder's message in these bytes, at this time: a
    /// response begins in them or continues, and its request is not a long poll.
    pub fn was_waited_for(&self, (from, to): (u64, u64), start: Time) -> bool {
        self.requests.iter().filter(|request| !request.is_poll).any(|request| {
            let begins = |seq: u64| (from..to).contains(&seq);
            let goes_on = |seq: u64| seq < from && request.latest.is_some_and(|latest| latest >= start);
            request.response_seq.is_some_and(|seq| begins(seq) || goes_on(seq))
        })
    }
}
