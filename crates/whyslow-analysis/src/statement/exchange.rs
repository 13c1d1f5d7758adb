//! Statements about applications, requests and connections.

mod parts;

pub use parts::{
    CloseKind, ClosedFirst, FirstReply, MessageKind, Opening, Pauses, UnansweredRequest, Undelivered, WaitEnd,
};

use crate::types::End;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;
use whyslow_units::Nanos;

/// A statement about applications, requests and connections.
#[derive(Clone, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ExchangeStatement {
    /// The sending application had no data to send.
    NothingToSend {
        /// Time in its pauses.
        paused_s: Nanos,
        /// The transfer.
        whole_s: Nanos,
        /// How many pauses.
        pauses: u64,
    },
    /// Nothing arrived from the sender: its application had no data, or all of its segments were
    /// lost.
    NothingArrived {
        /// Time in the pauses.
        paused_s: Nanos,
        /// The transfer.
        whole_s: Nanos,
        /// How many pauses.
        pauses: u64,
    },
    /// The sender was silent, and QUIC's encryption hides why.
    SilentUnderEncryption {
        /// Time in the pauses.
        paused_s: Nanos,
        /// The transfer.
        whole_s: Nanos,
        /// How many pauses.
        pauses: u64,
    },
    /// The first packets of a QUIC handshake were sent again.
    InitialRetransmitted {
        /// How often the client sent its first packet again.
        times: u64,
        /// The handshake, or the attempt.
        took_s: Nanos,
        /// Whether the connection opened.
        opening: Opening,
    },
    /// The sending application wrote small pieces at an even rate.
    SmallWrites {
        /// Its rate.
        rate_bps: f64,
        /// The mean segment, bytes.
        segment: u64,
        /// Time during which it wrote this way.
        spent_s: Nanos,
        /// The transfer.
        whole_s: Nanos,
    },
    /// An end began its response late.
    ResponseLate {
        /// The end that responds.
        by: End,
        /// Its processing time.
        took_s: Nanos,
        /// The round trip.
        rtt_s: Nanos,
    },
    /// The request that the response belongs to, as the payload shows it, in clear or decrypted.
    RequestWas {
        /// The request without its data.
        label: String,
        /// HTTP/2: its stream.
        stream: Option<u32>,
    },
    /// The client sent its requests late.
    RequestsLate {
        /// Between the handshake and the first request.
        first_s: Option<Nanos>,
        /// Before later requests.
        later: Option<Pauses>,
    },
    /// Each request waited for the response to the one before.
    RequestsOneByOne {
        /// How many requests.
        requests: u64,
        /// The round trip that each of them takes.
        rtt_s: Nanos,
        /// Their round trips together.
        spent_s: Nanos,
        /// The connection, without idle time.
        whole_s: Nanos,
    },
    /// The data arrived in bursts that grew as in the slow start of a connection behind a proxy.
    BurstsOfProxy {
        /// How many bursts.
        bursts: u64,
        /// From burst to burst.
        interval_s: Nanos,
        /// The round trip of this connection.
        rtt_s: Nanos,
    },
    /// The handshake was fast and the response slow, and they came over different numbers of hops.
    HopsDiffer {
        /// The handshake's round trip.
        handshake_s: Nanos,
        /// The wait for the response.
        response_s: Nanos,
    },
    /// A client opened a new connection for each exchange.
    NewConnections {
        /// How many connections.
        connections: u64,
        /// The server, with its port.
        server: String,
        /// The cost of opening them.
        opening_s: Nanos,
        /// Time of all these connections together.
        whole_s: Nanos,
        /// The end that closed the connections.
        closed: ClosedFirst,
    },
    /// An ICMP error reports that the SYN was not delivered.
    SynUndelivered {
        /// The server, with its port.
        server: String,
        /// The reason.
        reason: Undelivered,
        /// How many SYNs.
        syns: u64,
        /// From the first SYN on.
        waited_s: Nanos,
    },
    /// No response to the SYN arrived.
    SynUnanswered {
        /// The server, with its port.
        server: String,
        /// How many SYNs.
        syns: u64,
        /// From the first SYN on.
        waited_s: Nanos,
        /// How the wait ended.
        end: WaitEnd,
    },
    /// The client never acknowledged the SYN-ACK.
    SynAckUnanswered {
        /// The client, with its port.
        client: String,
        /// How many SYNs.
        syns: u64,
        /// How many SYN-ACKs.
        syn_acks: u64,
        /// From the first SYN on.
        waited_s: Nanos,
    },
    /// Data was retransmitted until the end, and never acknowledged.
    DataUnanswered {
        /// The end that does not respond.
        by: End,
        /// How often the data was sent.
        tries: u64,
        /// From the first try on.
        waited_s: Nanos,
        /// How the wait ended.
        end: WaitEnd,
    },
    /// An ICMP error gives the reason.
    Undelivered {
        /// The reason.
        reason: Undelivered,
    },
    /// A request was delivered, and no response arrived.
    RequestUnanswered {
        /// The request.
        request: UnansweredRequest,
        /// Time from the end of the request.
        waited_s: Nanos,
        /// How the wait ended.
        end: WaitEnd,
    },
    /// The server's response stopped at a full segment.
    ResponseStopped {
        /// Payload that arrived.
        bytes: u64,
        /// Time from the last segment of the request.
        waited_s: Nanos,
        /// How the wait ended.
        end: WaitEnd,
    },
    /// The server refused the connection with a RST.
    Refused {
        /// The server, with its port.
        server: String,
        /// How often.
        times: u64,
        /// From the first SYN on.
        waited_s: Nanos,
    },
    /// An end reset the connection in the middle of a message.
    ResetAmid {
        /// The end that sent the RST.
        by: End,
        /// The message.
        message: MessageKind,
        /// From the message's start; `None` if the message was one flight.
        into_s: Option<Nanos>,
        /// Bytes that were sent and never acknowledged.
        unacknowledged: u64,
    },
    /// The server reset the connection right behind a full segment of its response; all of it
    /// arrived.
    ResetBehindFullSegment {
        /// From the response's start.
        into_s: Nanos,
    },
    /// A request arrived after the server had closed the connection; it sent a RST.
    ClosedBeforeRequest {
        /// The request.
        request: UnansweredRequest,
    },
    /// The server responded to a request with a RST, at once.
    RequestReset {
        /// The request.
        request: UnansweredRequest,
    },
    /// The server reset the connection some time after a request, without a response.
    ResetWithoutResponse {
        /// The request.
        request: UnansweredRequest,
        /// From the request's end.
        waited_s: Nanos,
    },
    /// The client ended the connection before a response arrived.
    ClientLeft {
        /// From the request's end.
        waited_s: Nanos,
    },
    /// The server reset the connection before any data was sent.
    ResetBeforeData {
        /// From the SYN.
        waited_s: Nanos,
    },
    /// Connections waited for the lookup of names.
    LookupsSlow {
        /// The name of the longest lookup.
        name: String,
        /// Number of names.
        names: u64,
        /// The name server.
        server: String,
        /// A name server that was asked first and did not answer.
        silent: Option<String>,
        /// Number of connections.
        connections: u64,
        /// Number of queries.
        queries: u64,
        /// Queries that were sent again because no response came.
        unanswered: u64,
        /// Names with a search domain that were tried before, and failed.
        searched: u64,
        /// The time of the lookups; simultaneous ones count once.
        waited_s: Nanos,
        /// Time of the lookups and the connections together.
        whole_s: Nanos,
    },
    /// The first reply took longer than later round trips.
    FirstReplySlow {
        /// The reply.
        reply: FirstReply,
        /// Its time.
        took_s: Nanos,
        /// A later round trip.
        later_s: Nanos,
    },
    /// Packets of the handshake were retransmitted.
    HandshakeRetransmitted {
        /// Retransmitted SYNs.
        syns: u64,
        /// Retransmitted SYN-ACKs.
        syn_acks: u64,
        /// The handshake, or the attempt.
        took_s: Nanos,
        /// Whether the connection opened.
        opening: Opening,
    },
    /// The first TLS record of a response needed several flights.
    RecordSpansFlights {
        /// Delay of the first byte that the program could read.
        late_s: Nanos,
        /// The record, bytes.
        record: u64,
        /// Flights that carry it.
        flights: u64,
    },
}

impl From<ExchangeStatement> for super::Statement {
    fn from(statement: ExchangeStatement) -> Self {
        Self::Exchange(statement)
    }
}

impl ExchangeStatement {
    /// Applies `act` to every host that it names.
    pub(super) fn each_host(&mut self, act: &dyn Fn(&mut String)) {
        match self {
            Self::NewConnections { server: host, .. }
            | Self::SynUnanswered { server: host, .. }
            | Self::SynAckUnanswered { client: host, .. }
            | Self::Refused { server: host, .. } => act(host),
            Self::SynUndelivered { server, reason, .. } => {
                act(server);
                reason.each_host(act);
            }
            Self::Undelivered { reason } => reason.each_host(act),
            Self::LookupsSlow { server, silent, .. } => [server].into_iter().chain(silent).for_each(act),
            Self::NothingToSend { .. }
            | Self::NothingArrived { .. }
            | Self::SilentUnderEncryption { .. }
            | Self::InitialRetransmitted { .. }
            | Self::SmallWrites { .. }
            | Self::ResponseLate { .. }
            | Self::RequestWas { .. }
            | Self::RequestsLate { .. }
            | Self::RequestsOneByOne { .. }
            | Self::BurstsOfProxy { .. }
            | Self::HopsDiffer { .. }
            | Self::DataUnanswered { .. }
            | Self::RequestUnanswered { .. }
            | Self::ResponseStopped { .. }
            | Self::ResetAmid { .. }
            | Self::ResetBehindFullSegment { .. }
            | Self::ClosedBeforeRequest { .. }
            | Self::RequestReset { .. }
            | Self::ResetWithoutResponse { .. }
            | Self::ClientLeft { .. }
            | Self::ResetBeforeData { .. }
            | Self::FirstReplySlow { .. }
            | Self::HandshakeRetransmitted { .. }
            | Self::RecordSpansFlights { .. } => {}
        }
    }
}
