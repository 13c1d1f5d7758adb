//! PostgreSQL's protocol, version 3 (PostgreSQL manual, chapter "Frontend/Backend Protocol").
//!
//! A request is a simple query, or all messages of the extended protocol up to a Sync; its response
//! ends with ReadyForQuery. A label is the fingerprint of the statement, also for prepared ones.

use super::framed::{Format, Part, Request, Role, Split};
use super::reading::HEAD_MAX;
use super::sql::fingerprint;
use std::collections::BTreeMap;

/// Codes in the position of a version.
const SSL_REQUEST: u32 = 80_877_103;
const GSS_REQUEST: u32 = 80_877_104;
const CANCEL_REQUEST: u32 = 80_877_102;
/// Longest startup packet (`MAX_STARTUP_PACKET_LENGTH` of the server).
const MAX_STARTUP: u32 = 10_000;
/// Longest message (`PQ_LARGE_MESSAGE_LIMIT` of the server).
const MAX_MESSAGE: u32 = 1 << 30;
/// Maximum number of prepared statements that are remembered.
const MAX_STATEMENTS: usize = 256;

#[derive(Clone, Debug, Default)]
pub(super) struct Postgres {
    has_started: bool,
    /// The client asked for encryption: the server answers with one byte.
    asks_encryption: bool,
    /// A request of the extended protocol has begun and no Sync has followed.
    in_batch: bool,
    in_copy: bool,
    /// Labels of prepared statements, by name.
    statements: BTreeMap<Vec<u8>, String>,
}

/// Whether a client's first bytes are a startup packet or a packet that may precede it.
pub(super) fn opens(bytes: &[u8], len: u64) -> bool {
    let Some((&[a, b, c, d, e, f, g, h], _)) = bytes.split_first_chunk() else { return false };
    let (length, code) = (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]));
    match code {
        SSL_REQUEST | GSS_REQUEST => length == 8 && len == 8,
        CANCEL_REQUEST => length == 16 && len == 16,
        _ => code >> 16 == 3 && code & 0xffff <= 2 && (9..=MAX_STARTUP).contains(&length) && u64::from(length) == len,
    }
}

/// Whether a segment of a client contains exactly one simple query.
pub(super) fn is_query(bytes: &[u8], len: u64) -> bool {
    match bytes {
        &[b'Q', a, b, c, d, ref text @ ..] => {
            let is_text = text.iter().take(16).all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace());
            u64::from(u32::from_be_bytes([a, b, c, d])) + 1 == len && text.len() > 3 && is_text
        }
        _ => false,
    }
}

impl Postgres {
    /// Creates a parser for a connection that began before the capture.
    pub(super) fn begun() -> Self {
        Self { has_started: true, ..Self::default() }
    }

    fn client(&mut self, kind: u8, body: &[u8], len: u64) -> Part {
        let is_cut = len > HEAD_MAX as u64;
        match kind {
            b'Q' => Part::request(fingerprint(text(body).0, false, is_cut), None),
            b'F' => Part::request("function call", None),
            b'P' => {
                let (name, rest) = text(body);
                let label = fingerprint(text(rest).0, false, is_cut);
                if self.statements.len() < MAX_STATEMENTS || self.statements.contains_key(name) {
                    self.statements.insert(name.to_vec(), label.clone());
                }
                self.batch(label)
            }
            b'B' => {
                let (_portal, rest) = text(body);
                let label = self.statements.get(text(rest).0).cloned();
                self.batch(label.unwrap_or_else(|| "prepared statement".to_owned()))
            }
            b'D' | b'E' | b'C' | b'H' => self.batch("prepared statement".to_owned()),
            b'S' if std::mem::take(&mut self.in_batch) => Part::Continues { ends: true },
            b'S' => Part::request("sync", None),
            b'd' => Part::Continues { ends: false },
            b'c' | b'f' => {
                self.in_copy = false;
                Part::Continues { ends: true }
            }
            // The response to an authentication challenge.
            b'p' => Part::Continues { ends: true },
            _ => Part::Other,
        }
    }

    fn batch(&mut self, label: String) -> Part {
        if std::mem::replace(&mut self.in_batch, true) {
            return Part::Continues { ends: false };
        }
        Part::Request(Request { label, continues: true, ..Request::default() })
    }
}

/// A text that ends with a zero, and the bytes after it.
fn text(bytes: &[u8]) -> (&[u8], &[u8]) {
    match bytes.iter().position(|&byte| byte == 0) {
        Some(end) => (bytes.get(..end).unwrap_or_default(), bytes.get(end + 1..).unwrap_or_default()),
        None => (bytes, &[]),
    }
}

/// The SQLSTATE of an ErrorResponse.
fn sqlstate(mut body: &[u8]) -> Option<String> {
    loop {
        let (field, rest) = text(body);
        match field.split_first()? {
            (b'C', code) if code.len() == 5 && code.iter().all(u8::is_ascii_alphanumeric) => {
                return Some(format!("SQLSTATE {}", String::from_utf8_lossy(code)));
            }
            _ => body = rest,
        }
    }
}

impl Format for Postgres {
    fn split(&self, from: Role, bytes: &[u8]) -> Split {
        if from == Role::Client && !self.has_started {
            let Some((&[a, b, c, d, e, f, g, h], _)) = bytes.split_first_chunk() else { return Split::Need(8) };
            let length = u32::from_be_bytes([a, b, c, d]);
            let code = u32::from_be_bytes([e, f, g, h]);
            let is_known = code >> 16 == 3 || matches!(code, SSL_REQUEST | GSS_REQUEST | CANCEL_REQUEST);
            let is_message = is_known && (8..=MAX_STARTUP).contains(&length);
            return if is_message { Split::Message { len: length.into(), head: 8 } } else { Split::Lost };
        }
        let kind = bytes.first().copied().unwrap_or_default();
        if from == Role::Server && self.asks_encryption {
            return if kind == b'N' { Split::Message { len: 1, head: 1 } } else { Split::Lost };
        }
        let kinds: &[u8] = match from {
            Role::Client => b"QFPBDECHSdcfpX",
            Role::Server => b"RKSZTDCENA123ntGHWdcIsVv",
        };
        if !kinds.contains(&kind) {
            return Split::Lost;
        }
        let Some(&[_, a, b, c, d]) = bytes.first_chunk() else { return Split::Need(5) };
        let length = u32::from_be_bytes([a, b, c, d]);
        let head = if from == Role::Client && matches!(kind, b'Q' | b'P' | b'B') { HEAD_MAX } else { 5 };
        let head = if from == Role::Server && kind == b'E' { 256 } else { head };
        let is_message = (4..=MAX_MESSAGE).contains(&length);
        if is_message { Split::Message { len: u64::from(length) + 1, head } } else { Split::Lost }
    }

    fn part(&mut self, from: Role, head: &[u8], len: u64) -> Part {
        if from == Role::Client && !self.has_started {
            let code = head.get(4..8).and_then(|code| code.first_chunk()).map_or(0, |code| u32::from_be_bytes(*code));
            self.asks_encryption = matches!(code, SSL_REQUEST | GSS_REQUEST);
            self.has_started = code >> 16 == 3;
            return if self.has_started { Part::request("startup", None) } else { Part::Other };
        }
        if from == Role::Server && std::mem::take(&mut self.asks_encryption) {
            return Part::Other;
        }
        let kind = head.first().copied().unwrap_or_default();
        let body = head.get(5..).unwrap_or_default();
        match (from, kind) {
            (Role::Client, _) => self.client(kind, body, len),
            (Role::Server, b'Z') => Part::response(None),
            (Role::Server, b'E') => Part::Response { key: None, ends: false, error: sqlstate(body), status: None },
            (Role::Server, b'A') => Part::Push,
            // Notices and parameter changes may come between requests.
            (Role::Server, b'N' | b'S') => Part::Other,
            (Role::Server, b'G' | b'W') => {
                self.in_copy = true;
                Part::response_part()
            }
            (Role::Server, _) => Part::response_part(),
        }
    }
}
