//! [`Greeting`]: data that a TLS 1.3 server sends before its first response.
//!
//! When the client has finished the handshake, a server sends session tickets (RFC 8446 section
//! 4.6.1), and an HTTP/2 server its settings (RFC 9113 section 3.4), without a request. Both are
//! encrypted, so only lengths show them: most servers send two tickets in records of equal length,
//! and other records are too short for anything but control frames. The response begins after them.

use super::tls;
use std::ops::RangeInclusive;

/// Body of a record with session tickets: an encrypted session state, or its ID.
const TICKET_LENS: RangeInclusive<u16> = 100..=2_048;

/// The records after the handshake that may not be a response.
#[derive(Clone, Debug)]
pub(super) struct Greeting {
    /// Length of the first ticket; 0 if there is none yet.
    ticket_len: u16,
    /// No record was too long, so the next one may be part of it.
    is_open: bool,
    /// Whether there are at least two tickets of each length: a single record may be the head of a
    /// response.
    is_certain: bool,
    /// Whether the version is certainly TLS 1.3: in a resumed TLS 1.2 session, the first record
    /// after the handshake belongs to the response.
    is_tls13: bool,
    start: u64,
    end: u64,
}

impl Greeting {
    /// Begins with the first record after the handshake; `None` if that is too long. `is_tls13`:
    /// the version, if known.
    pub(super) fn begin(header: tls::Header, (start, end): (u64, u64), is_tls13: Option<bool>) -> Option<Self> {
        if is_tls13 == Some(false) || header.kind != tls::APPLICATION_DATA || header.len > *TICKET_LENS.end() {
            return None;
        }
        let is_ticket = TICKET_LENS.contains(&header.len);
        let ticket_len = if is_ticket { header.len } else { 0 };
        let is_tls13 = is_tls13 == Some(true);
        Some(Self { ticket_len, is_open: true, is_certain: false, is_tls13, start, end })
    }

    /// Adds the next record, or ends before it.
    pub(super) fn add(&mut self, header: tls::Header, end: u64) {
        let is_ticket = TICKET_LENS.contains(&header.len);
        let is_another = is_ticket && (self.ticket_len == header.len || self.ticket_len == 0);
        let belongs = header.kind == tls::APPLICATION_DATA && (is_another || header.len < *TICKET_LENS.start());
        if !self.is_open || !belongs {
            self.is_open = false;
            return;
        }
        if is_another {
            self.is_certain = self.ticket_len == header.len;
            self.ticket_len = header.len;
        }
        self.end = end;
    }

    /// Whether the next record may be part of it.
    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Whether it may end there and may not be a response.
    pub(super) fn may_end_at(&self, at: u64) -> bool {
        self.is_open && self.end == at && (self.is_tls13 || self.is_certain)
    }

    /// Its position if it is certainly not a response, given that a response follows.
    pub(super) fn certain(&self) -> Option<(u64, u64)> {
        self.is_certain.then_some((self.start, self.end))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use crate::tcp::payload::Stream;
    use crate::tcp::payload::tests::{content, record, server_hello};

    /// A server's handshake, the client's turn, and these records of application data. Returns
    /// whether each may be the first of a response, and the position of the certain greeting
    /// relative to its start. Without a version, the hello is truncated before the version.
    fn behind_handshake(version: Option<u16>, lens: &[usize]) -> (Vec<bool>, Option<(u64, u64)>) {
        let mut stream = Stream::default();
        let hello = record(22, &server_hello(version));
        let captured = if version.is_some() { hello.len() } else { 40 };
        stream.feed(1, hello.len() as u64, &hello[..captured]);
        stream.on_turn();
        let begin = 1 + hello.len() as u64;
        let mut may_answer = Vec::new();
        let mut at = begin;
        for &len in lens {
            may_answer.push(stream.ends_with_greeting());
            let bytes = record(23, &vec![1; len]);
            stream.feed(at, bytes.len() as u64, &bytes);
            at += bytes.len() as u64;
        }
        let greeting = stream.finish().greeting;
        (may_answer, greeting.map(|(start, end)| (start - begin, end - begin)))
    }

    const TLS13: Option<u16> = Some(0x0304);

    #[test]
    fn response_follows_two_tickets() {
        let (may_answer, greeting) = behind_handshake(TLS13, &[282, 282, 16_401, 282]);
        assert_eq!((may_answer, greeting), (vec![false, true, true, false], Some((0, 574))));
    }

    #[test]
    fn settings_belong_to_the_greeting() {
        let (may_answer, greeting) = behind_handshake(TLS13, &[282, 282, 57, 26, 300, 16_401]);
        assert_eq!((may_answer[4], may_answer[5]), (true, false));
        assert_eq!(greeting, Some((0, 2 * 287 + 62 + 31)));
    }

    #[test]
    fn single_ticket_may_be_a_response_head() {
        let (may_answer, greeting) = behind_handshake(TLS13, &[179, 16_401]);
        assert_eq!((may_answer, greeting), (vec![false, true], None));
    }

    #[test]
    fn short_record_may_be_a_response_head() {
        let (may_answer, greeting) = behind_handshake(TLS13, &[81, 16_401]);
        assert_eq!((may_answer, greeting), (vec![false, true], None));
    }

    #[test]
    fn two_equal_records_without_a_version_are_tickets() {
        assert_eq!(behind_handshake(None, &[282, 282, 900]).0, [false, false, true]);
        assert_eq!(behind_handshake(None, &[282, 900]).0, [false, false]);
        assert_eq!(behind_handshake(None, &[57, 900]).0, [false, false]);
        assert_eq!(behind_handshake(Some(0x0303), &[282, 282, 900]).0, [false, false, false]);
    }

    #[test]
    fn greeting_needs_a_handshake() {
        let bytes = [record(23, &[1; 282]), record(23, &[1; 282]), record(23, &[1; 900])].concat();
        assert_eq!(content(&bytes, 2000, 2000).greeting, None);
    }

    #[test]
    fn open_connection_has_no_greeting() {
        let mut stream = Stream::default();
        let heartbeat = record(23, &[1; 51]);
        for at in [1, 1 + heartbeat.len() as u64] {
            stream.feed(at, heartbeat.len() as u64, &heartbeat);
            assert!(!stream.ends_with_greeting(), "its second message is a message");
        }
    }
}
