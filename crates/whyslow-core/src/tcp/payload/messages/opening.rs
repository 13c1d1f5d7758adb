//! The start of a protocol's connection: chooses the parser from the first bytes of a side.

use super::framed::Framed;
use super::http1::Http1;
use super::http2::{self, Http2};
use super::reader::Reader;
use super::{amqp, dns, kafka, lines, mongodb, mqtt, mysql, postgres, redis, rpc, smb2};
use crate::tcp::payload::http;

/// The first bytes of a side.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opening<'a> {
    pub(super) from: usize,
    pub(super) bytes: &'a [u8],
    /// Length of the segment or record.
    pub(super) len: u64,
    /// Ports of both sides; 0 if they do not matter.
    pub(super) ports: [u16; 2],
}

/// Result of looking at the first bytes.
pub(super) enum Opened {
    Reader(Reader),
    /// More bytes are needed.
    More,
    No,
}

/// Usual ports of the protocols.
const POSTGRES: [u16; 3] = [5432, 5433, 6432];
const REDIS: [u16; 2] = [6379, 6380];
const KAFKA: [u16; 5] = [9092, 9093, 9094, 19092, 29092];
const AMQP: u16 = 5672;
const MQTT: u16 = 1883;
const DNS: u16 = 53;

impl Opening<'_> {
    fn port(&self, from: usize) -> u16 {
        self.ports.get(from).copied().unwrap_or_default()
    }
}

/// The parser for unencrypted data with these first bytes; for HTTP/1 only if it asks to upgrade to
/// HTTP/2.
pub(super) fn in_clear(opening: &Opening<'_>) -> Reader {
    let Opening { from, bytes, .. } = *opening;
    match http::begins(bytes) {
        Some(true) if asks_http2(bytes) => Reader::Http1(Box::new(Http1::upgrading(from))),
        Some(_) if !bytes.starts_with(b"P") && !bytes.starts_with(b"C") => Reader::Unknown,
        _ => match of_bytes(opening) {
            Opened::Reader(reader) => reader,
            Opened::More | Opened::No => Reader::Unknown,
        },
    }
}

/// The parser for decrypted data with these first bytes.
pub(super) fn in_plaintext(opening: &Opening<'_>, enough: usize) -> Opened {
    match http::begins(opening.bytes) {
        Some(true) => return Opened::Reader(Reader::Http1(Box::default())),
        Some(false) if opening.bytes.len() < enough => return Opened::More,
        _ => {}
    }
    of_bytes(opening)
}

/// Whether an HTTP/1 request asks to upgrade to HTTP/2 (RFC 7540 section 3.2).
fn asks_http2(head: &[u8]) -> bool {
    let head = head.get(..2048).unwrap_or(head);
    head.split(|&byte| byte == b'\n').any(|line| line.trim_ascii_end().eq_ignore_ascii_case(b"upgrade: h2c"))
}

fn of_bytes(opening: &Opening<'_>) -> Opened {
    let Opening { from, bytes, len, .. } = *opening;
    if let Some(is_client) = http2::opens(bytes) {
        let client = if is_client { from } else { 1 - from.min(1) };
        return Opened::Reader(Reader::Http2(Box::new(Http2::new(client))));
    }
    let to_port = opening.port(1 - from.min(1));
    match of_client(opening, to_port).or_else(|| of_server(opening)) {
        Some(reader) => Opened::Reader(reader),
        None if bytes.len() < 8 && (bytes.len() as u64) < len => Opened::More,
        None => Opened::No,
    }
}

/// The parser for a client's first bytes.
fn of_client(opening: &Opening<'_>, port: u16) -> Option<Reader> {
    let Opening { from, bytes, len, .. } = *opening;
    let first = *bytes.first()?;
    Some(match first {
        b'*' if redis::opens(bytes) => Reader::Redis(framed(redis::Redis::default(), from)),
        b'A' if amqp::opens(bytes) => Reader::Amqp(framed(amqp::Amqp, from)),
        8 if port == AMQP && amqp::is_heartbeat(bytes) => Reader::Amqp(framed(amqp::Amqp, from)),
        0x10 if mqtt::opens(bytes) => Reader::Mqtt(framed(mqtt::Mqtt, from)),
        0xc0 if port == MQTT && mqtt::is_ping(bytes) => Reader::Mqtt(framed(mqtt::Mqtt, from)),
        b'Q' if POSTGRES.contains(&port) && postgres::is_query(bytes, len) => {
            Reader::Postgres(framed(postgres::Postgres::begun(), from))
        }
        _ if postgres::opens(bytes, len) => Reader::Postgres(framed(postgres::Postgres::default(), from)),
        _ if mongodb::opens(bytes, len) => Reader::MongoDb(framed(mongodb::MongoDb, from)),
        _ if smb2::opens(bytes) == Some(true) => Reader::Smb2(framed(smb2::Smb2, from)),
        _ if rpc::opens(bytes) => Reader::Rpc(framed(rpc::Rpc::default(), from)),
        _ if port == DNS && dns::opens(bytes, len) => Reader::Dns(framed(dns::Dns, from)),
        _ if kafka::opens(bytes, len, KAFKA.contains(&port)) => Reader::Kafka(framed(kafka::Kafka, from)),
        _ if REDIS.contains(&port) && bytes.eq_ignore_ascii_case(b"PING\r\n") => {
            Reader::Redis(framed(redis::Redis::default(), from))
        }
        _ => return None,
    })
}

/// The parser for a server's first bytes.
fn of_server(opening: &Opening<'_>) -> Option<Reader> {
    let Opening { from, bytes, len, .. } = *opening;
    let client = 1 - from.min(1);
    if mysql::opens(bytes, len) {
        return Some(Reader::MySql(framed(mysql::MySql::default(), client)));
    }
    if smb2::opens(bytes) == Some(false) {
        return Some(Reader::Smb2(framed(smb2::Smb2, client)));
    }
    lines::opens(bytes, opening.port(from)).map(|lines| Reader::Lines(framed(lines, client)))
}

fn framed<F: super::framed::Format>(format: F, client: usize) -> Box<Framed<F>> {
    Box::new(Framed::new(format, client))
}
