//! AMQP 0-9-1 (the AMQP specification, sections 2.3 and 4.2; RabbitMQ's extensions).
//!
//! A label is the class and the method. Published and delivered messages are not requests.

use super::framed::{Format, Part, Role, Split};

const METHOD: u8 = 1;
const HEARTBEAT: u8 = 8;
const PROTOCOL: &[u8; 8] = b"AMQP\x00\x00\x09\x01";
/// Type, channel, size, class and method.
const HEAD: usize = 11;
/// Largest accepted frame; RabbitMQ's `frame_max` is 131,072 bytes by default.
const MAX_FRAME: u32 = 16 << 20;

#[derive(Clone, Debug, Default)]
pub(super) struct Amqp;

/// Whether these bytes are the first ones of a client, or a heartbeat.
pub(super) fn opens(bytes: &[u8]) -> bool {
    bytes.starts_with(PROTOCOL)
}

pub(super) fn is_heartbeat(bytes: &[u8]) -> bool {
    bytes == [HEARTBEAT, 0, 0, 0, 0, 0, 0, 0xce]
}

/// Client methods that get a response: class, method, and name.
const REQUESTS: [(u16, u16, &str); 22] = [
    (10, 40, "connection.open"),
    (10, 50, "connection.close"),
    (20, 10, "channel.open"),
    (20, 40, "channel.close"),
    (40, 10, "exchange.declare"),
    (40, 20, "exchange.delete"),
    (40, 30, "exchange.bind"),
    (40, 40, "exchange.unbind"),
    (50, 10, "queue.declare"),
    (50, 20, "queue.bind"),
    (50, 30, "queue.purge"),
    (50, 40, "queue.delete"),
    (50, 50, "queue.unbind"),
    (60, 10, "basic.qos"),
    (60, 20, "basic.consume"),
    (60, 30, "basic.cancel"),
    (60, 70, "basic.get"),
    (60, 110, "basic.recover"),
    (85, 10, "confirm.select"),
    (90, 10, "tx.select"),
    (90, 20, "tx.commit"),
    (90, 30, "tx.rollback"),
];

impl Format for Amqp {
    fn split(&self, _from: Role, bytes: &[u8]) -> Split {
        match bytes {
            [b'A', ..] if bytes.len() < 8 => Split::Need(8),
            _ if bytes.starts_with(b"AMQP") => Split::Message { len: 8, head: 8 },
            [METHOD..=HEARTBEAT, _, _, a, b, c, d, ..] => {
                let size = u32::from_be_bytes([*a, *b, *c, *d]);
                let is_frame = size <= MAX_FRAME;
                if is_frame { Split::Message { len: u64::from(size) + 8, head: HEAD } } else { Split::Lost }
            }
            [METHOD..=HEARTBEAT, ..] => Split::Need(7),
            _ => Split::Lost,
        }
    }

    fn part(&mut self, from: Role, head: &[u8], _len: u64) -> Part {
        if head.starts_with(b"AMQP") {
            return Part::Other;
        }
        let (kind, channel) = match *head {
            [kind, a, b, ..] => (kind, u64::from(u16::from_be_bytes([a, b]))),
            _ => return Part::Other,
        };
        match (kind, head.get(7..HEAD)) {
            (HEARTBEAT, _) => Part::Heartbeat,
            (METHOD, Some(&[c0, c1, m0, m1])) => {
                let (class, method) = (u16::from_be_bytes([c0, c1]), u16::from_be_bytes([m0, m1]));
                let of = |method: u16| REQUESTS.iter().find(|request| (request.0, request.1) == (class, method));
                // The response's method number is the next one, or the one after that
                // (basic.get-empty).
                let answers = of(method.wrapping_sub(1)).or_else(|| of(method.wrapping_sub(2)).filter(|_| class == 60));
                match from {
                    Role::Client => of(method).map_or(Part::Other, |(.., name)| Part::request(*name, Some(channel))),
                    Role::Server if (class, method) == (60, 60) => Part::Push,
                    Role::Server if answers.is_some() => Part::response(Some(channel)),
                    Role::Server => Part::Other,
                }
            }
            _ => Part::Other,
        }
    }

    fn resumes(&self, _from: Role, bytes: &[u8]) -> bool {
        is_heartbeat(bytes)
    }
}
