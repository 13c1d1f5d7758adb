//! [`Exchange`]: what became of a request.

use crate::client::dial::Attempt;
use crate::client::sampler::Sample;
use serde::Serialize;
use std::net::SocketAddr;
use std::time::{Duration, Instant, SystemTime};

/// A request with its redirects, answered in full.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// When it began.
    pub began: Instant,
    /// The same time on the clock of captures.
    pub began_at: SystemTime,
    /// The requests: one, and one for each redirect.
    pub hops: Vec<Hop>,
    /// From the beginning to the last byte.
    pub took: Duration,
    /// The last response redirects further than redirects are followed.
    pub redirects_on: bool,
}

impl Exchange {
    /// The response that was not a redirect.
    pub fn last(&self) -> &Hop {
        #[allow(clippy::expect_used, reason = "there is no exchange without a request")]
        self.hops.last().expect("a request")
    }
}

/// A request and its answer.
#[derive(Clone, Debug)]
pub struct Hop {
    /// The requested URL.
    pub url: String,
    /// When it began.
    pub began: Instant,
    /// The connection was there already.
    pub is_reused: bool,
    /// The proxy that the connection leads to: all times are between here and there.
    pub proxy: Option<String>,
    /// The addresses that were tried.
    pub attempts: Vec<Attempt>,
    /// Ends of the connection.
    pub local: SocketAddr,
    /// The other end.
    pub remote: SocketAddr,
    /// The TLS session.
    pub tls: Option<Tls>,
    /// When what happened.
    pub times: Times,
    /// The record with the head's first byte, where TLS has records.
    pub first_record: Option<FirstRecord>,
    /// The answer's status.
    pub status: u16,
    /// `1.0`, `1.1`, `2`.
    pub http: &'static str,
    /// Header fields.
    pub headers: u64,
    /// Their bytes with the status line, as they came.
    pub head_bytes: u64,
    /// Bytes of the body.
    pub body_bytes: u64,
    /// Its type.
    pub content_type: Option<String>,
    /// Whether a part was sent, of those that were asked for (206).
    pub is_part: bool,
    /// Bytes of the request's body that left this machine: a server may answer before it has all.
    pub sent_bytes: u64,
    /// Bytes of the request's whole body.
    pub upload_bytes: u64,
    /// Bytes that the connection carried for it, both ways, TLS included.
    pub wire_bytes: [u64; 2],
    /// The address of a redirect.
    pub location: Option<String>,
    /// The kernel's data on the connection while it lasted.
    pub samples: Vec<Sample>,
    /// The congestion control of this end.
    pub congestion_control: Option<String>,
}

/// Times since the hop began. What did not happen is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Time when the name's addresses were known.
    pub namelookup: Option<Duration>,
    /// The TCP connection was open.
    pub connect: Option<Duration>,
    /// The proxy had opened the tunnel.
    pub tunnel: Option<Duration>,
    /// The TLS handshake was over.
    pub appconnect: Option<Duration>,
    /// The request began to be sent.
    pub pretransfer: Duration,
    /// The kernel had taken all of it.
    pub posttransfer: Option<Duration>,
    /// None of it was left that had not been sent.
    pub sent: Option<Duration>,
    /// The peer had acknowledged all of it.
    pub acknowledged: Option<Duration>,
    /// The first packet of the answer had come.
    pub first_packet: Duration,
    /// The first byte of the answer could be read.
    pub starttransfer: Duration,
    /// All had come.
    pub total: Duration,
}

/// A TLS session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tls {
    /// `1.2`, `1.3`.
    pub version: &'static str,
    /// The cipher suite.
    pub cipher: String,
    /// The protocol that was agreed on.
    pub protocol: Option<String>,
    /// How the handshake went.
    pub handshake: Handshake,
}

/// A kind of TLS handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Handshake {
    /// With the server's certificate.
    Full,
    /// The same, after the server asked for another key share: a round trip more
    /// (RFC 8446 section 4.1.4).
    FullWithRetry,
    /// With the keys of an earlier session.
    Resumed,
}

/// The record that the answer begins in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirstRecord {
    /// With its header.
    pub bytes: u64,
}
