//! Handshake messages: the parameters in the two hellos, and the position of the Finished.

use super::key_log::Random;
use super::suite::Suite;

/// Handshake message types (RFC 8446 section 4).
const CLIENT_HELLO: u8 = 1;
const SERVER_HELLO: u8 = 2;
const FINISHED: u8 = 20;
const KEY_UPDATE: u8 = 24;
/// Extension types (RFC 8446 section 4.2).
const EARLY_DATA: u16 = 42;
const SUPPORTED_VERSIONS: u16 = 43;
/// Versions.
const TLS12: u16 = 0x0303;
const TLS13: u16 = 0x0304;
/// The random number of a HelloRetryRequest (RFC 8446 section 4.1.3).
const HELLO_RETRY: Random = [
    0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2, 0xa2, 0x11,
    0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
];
/// Bytes of a hello that are kept. A ClientHello with post-quantum key shares has about 2 KiB.
const MAX_HELLO: usize = 16 << 10;

/// A handshake message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Message {
    ClientHello {
        random: Random,
        /// Whether it offers 0-RTT data.
        early_data: bool,
    },
    ServerHello {
        random: Random,
        version: u16,
        suite: u16,
    },
    /// The server asks for another ClientHello.
    HelloRetry,
    Finished,
    KeyUpdate,
    Other,
}

impl Message {
    /// Whether this version is TLS 1.3.
    pub(super) fn is_tls13(version: u16) -> bool {
        version == TLS13
    }

    /// Returns the suite if records of this version and suite can be decrypted with keys.
    pub(super) fn readable(version: u16, suite: u16) -> Option<Suite> {
        // Suites of TLS 1.3 are only valid with TLS 1.3.
        let fits = version == TLS13 && suite >> 8 == 0x13 || version == TLS12 && suite >> 8 != 0x13;
        Suite::of(suite).filter(|_| fits)
    }
}

/// Splits the handshake stream of one direction into messages.
#[derive(Clone, Debug, Default)]
pub(super) struct Messages {
    header: [u8; 4],
    have: usize,
    /// Bytes of the message's body that are still missing.
    left: usize,
    /// The body, if the message is a hello.
    body: Vec<u8>,
}

impl Messages {
    /// Consumes `bytes` up to the end of the next handshake message, and returns the message.
    /// `None` if no message ends in them.
    pub(super) fn next(&mut self, bytes: &mut &[u8]) -> Option<Message> {
        while self.have < self.header.len() {
            *self.header.get_mut(self.have)? = *bytes.split_off_first()?;
            self.have += 1;
            if self.have == self.header.len() {
                let [_, a, b, c] = self.header;
                self.left = u32::from_be_bytes([0, a, b, c]) as usize;
            }
        }
        let body = bytes.split_off(..self.left.min(bytes.len()))?;
        self.left -= body.len();
        let kind = self.header[0];
        let room = MAX_HELLO.saturating_sub(self.body.len()).min(body.len());
        if matches!(kind, CLIENT_HELLO | SERVER_HELLO) {
            self.body.extend_from_slice(body.get(..room)?);
        }
        if self.left > 0 {
            return None;
        }
        self.have = 0;
        let body = std::mem::take(&mut self.body);
        Some(match kind {
            CLIENT_HELLO => client_hello(&body).unwrap_or(Message::Other),
            SERVER_HELLO => server_hello(&body).unwrap_or(Message::Other),
            FINISHED => Message::Finished,
            KEY_UPDATE => Message::KeyUpdate,
            _ => Message::Other,
        })
    }
}

fn client_hello(body: &[u8]) -> Option<Message> {
    let mut rest = body;
    take(&mut rest, 2)?; // version
    let random = *take(&mut rest, 32)?.first_chunk()?;
    let session = u8(&mut rest)?;
    take(&mut rest, session.into())?;
    let suites = u16(&mut rest)?;
    take(&mut rest, suites.into())?;
    let compressions = u8(&mut rest)?;
    take(&mut rest, compressions.into())?;
    let early_data = extension(rest, EARLY_DATA).is_some();
    Some(Message::ClientHello { random, early_data })
}

fn server_hello(body: &[u8]) -> Option<Message> {
    let mut rest = body;
    let legacy = u16(&mut rest)?;
    let random: Random = *take(&mut rest, 32)?.first_chunk()?;
    let session = u8(&mut rest)?;
    take(&mut rest, session.into())?;
    let suite = u16(&mut rest)?;
    take(&mut rest, 1)?; // compression
    if random == HELLO_RETRY {
        return Some(Message::HelloRetry);
    }
    let chosen = extension(rest, SUPPORTED_VERSIONS).and_then(|mut chosen| u16(&mut chosen));
    Some(Message::ServerHello { random, version: chosen.unwrap_or(legacy), suite })
}

/// Returns the body of an extension in a list that begins with its length.
fn extension(mut list: &[u8], wanted: u16) -> Option<&[u8]> {
    let len = u16(&mut list)?;
    let mut rest = list.get(..len.into()).unwrap_or(list);
    loop {
        let (kind, len) = (u16(&mut rest)?, u16(&mut rest)?);
        let body = take(&mut rest, len.into())?;
        if kind == wanted {
            return Some(body);
        }
    }
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    bytes.split_off(..count)
}

fn u8(bytes: &mut &[u8]) -> Option<u8> {
    bytes.split_off_first().copied()
}

fn u16(bytes: &mut &[u8]) -> Option<u16> {
    take(bytes, 2)?.first_chunk().map(|&two| u16::from_be_bytes(two))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_of_messages_changes_nothing() {
        let hello = [&[2, 0, 0, 46, 3, 3][..], &[7; 32], &[0, 0x13, 1, 0, 0, 6, 0, 43, 0, 2, 3, 4]].concat();
        let stream = [&hello[..], &[8, 0, 0, 2, 0, 0], &[20, 0, 0, 3, 1, 2, 3], &[24, 0, 0, 1, 0]].concat();
        let expected = [
            Message::ServerHello { random: [7; 32], version: TLS13, suite: 0x1301 },
            Message::Other,
            Message::Finished,
            Message::KeyUpdate,
        ];
        for size in 1..stream.len() {
            let mut messages = Messages::default();
            let mut found = Vec::new();
            for mut piece in stream.chunks(size) {
                found.extend(std::iter::from_fn(|| messages.next(&mut piece)));
            }
            assert_eq!(found, expected, "in pieces of {size}");
        }
    }

    #[test]
    fn truncated_hello_is_ignored() {
        let mut cut = &[1, 0, 0, 4, 3, 3, 1, 2][..];
        assert_eq!(Messages::default().next(&mut cut), Some(Message::Other));
    }
}
