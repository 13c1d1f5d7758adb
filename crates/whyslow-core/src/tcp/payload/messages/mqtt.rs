//! MQTT 3.1, 3.1.1 and 5.0 (OASIS standards, section 2).
//!
//! A label is the packet's name; topics and messages are left out.

use super::framed::{Format, Part, Role, Split};

const PINGREQ: [u8; 2] = [0xc0, 0];
const PINGRESP: [u8; 2] = [0xd0, 0];

#[derive(Clone, Debug, Default)]
pub(super) struct Mqtt;

/// Whether a client's first bytes are a CONNECT.
pub(super) fn opens(bytes: &[u8]) -> bool {
    match bytes {
        [0x10, rest @ ..] => remaining(rest).is_some_and(|(_, used)| {
            let name = rest.get(used..).unwrap_or_default();
            name.starts_with(b"\x00\x04MQTT") || name.starts_with(b"\x00\x06MQIsdp")
        }),
        _ => false,
    }
}

/// Whether a segment is a ping or its response.
pub(super) fn is_ping(bytes: &[u8]) -> bool {
    bytes == PINGREQ || bytes == PINGRESP
}

/// The remaining length, and the length of its encoding.
fn remaining(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut length = 0;
    for (at, &byte) in bytes.iter().take(4).enumerate() {
        length |= u64::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Some((length, at + 1));
        }
    }
    None
}

/// The packet identifier; in a PUBLISH it follows the topic.
fn number(head: &[u8]) -> Option<u64> {
    let (&first, rest) = head.split_first()?;
    let (_, used) = remaining(rest)?;
    let mut body = rest.get(used..)?;
    if first >> 4 == 3 {
        let topic = usize::from(u16::from_be_bytes(*body.first_chunk()?));
        body = body.get(topic + 2..)?;
    }
    body.first_chunk().map(|number| u64::from(u16::from_be_bytes(*number)))
}

/// The key of a packet. Packets that wait for different responses have different keys.
fn key(kind: u64, number: Option<u64>) -> Option<u64> {
    Some(kind << 32 | number?)
}

impl Format for Mqtt {
    fn split(&self, _from: Role, bytes: &[u8]) -> Split {
        let kind = bytes.first().map_or(0, |first| first >> 4);
        if kind == 0 {
            return Split::Lost;
        }
        match remaining(bytes.get(1..).unwrap_or_default()) {
            Some((length, used)) => {
                let head = if kind == 3 { 512 } else { used + 5 };
                Split::Message { len: length + 1 + used as u64, head }
            }
            None if bytes.len() < 5 => Split::Need(bytes.len() + 1),
            None => Split::Lost,
        }
    }

    fn part(&mut self, from: Role, head: &[u8], _len: u64) -> Part {
        let first = head.first().copied().unwrap_or_default();
        let number = number(head);
        match (from, first >> 4) {
            (Role::Client, 1) => Part::request("CONNECT", key(2, Some(0))),
            (Role::Server, 2) => Part::response(key(2, Some(0))),
            (Role::Client, 3) => match (first >> 1) & 3 {
                0 => Part::Other,
                quality => Part::request("PUBLISH", key(3 + u64::from(quality), number)),
            },
            (Role::Server, 3) => Part::Push,
            (Role::Server, kind @ (4 | 5 | 7)) => Part::response(key(kind.into(), number)),
            (Role::Client, 6) => Part::request("PUBREL", key(7, number)),
            (Role::Client, 8) => Part::request("SUBSCRIBE", key(9, number)),
            (Role::Client, 10) => Part::request("UNSUBSCRIBE", key(11, number)),
            (Role::Server, kind @ (9 | 11)) => Part::response(key(kind.into(), number)),
            (_, 12 | 13) => Part::Heartbeat,
            _ => Part::Other,
        }
    }

    fn resumes(&self, _from: Role, bytes: &[u8]) -> bool {
        is_ping(bytes)
    }
}
