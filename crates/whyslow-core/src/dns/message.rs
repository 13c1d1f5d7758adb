//! A DNS message (RFC 1035 section 4.1), as far as a lookup of addresses needs it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Bytes of the header.
const HEADER: usize = 12;
/// Longest name, bytes (RFC 1035 section 2.3.4).
const MAX_NAME: usize = 255;
/// Maximum number of records that are read: an answer over UDP has at most 1,232 bytes, records of
/// 16 and more (RFC 1035 section 4.1.3; DNS flag day 2020).
const MAX_RECORDS: usize = 64;

const A: u16 = 1;
const AAAA: u16 = 28;

/// A query or a response with one question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Message {
    pub is_response: bool,
    /// The response was cut to fit a datagram: the client asks again over TCP.
    pub truncated: bool,
    /// In lower case, without the final dot.
    pub name: Box<str>,
    pub kind: u16,
    /// Addresses in the answer section.
    pub addresses: Vec<IpAddr>,
}

impl Message {
    /// Parses a message; `None` if it is not a query with one question or its response.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let header: &[u8; HEADER] = bytes.first_chunk()?;
        let [_, _, first, _, questions @ .., answers_high, answers_low, _, _, _, _] = header;
        let answers = u16::from_be_bytes([*answers_high, *answers_low]);
        // An ordinary query (opcode 0) with one question.
        if first & 0x78 != 0 || *questions != [0, 1] {
            return None;
        }
        let (name, after) = question_name(bytes)?;
        let kind = number(bytes, after)?;
        let is_response = first & 0x80 != 0;
        let addresses = if is_response { addresses(bytes, after + 4, answers) } else { Vec::new() };
        Some(Self { is_response, truncated: first & 2 != 0, name, kind, addresses })
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|two| u16::from_be_bytes(*two))
}

/// The name of the question, and the position after it. It is not compressed: nothing precedes it.
fn question_name(bytes: &[u8]) -> Option<(Box<str>, usize)> {
    let mut name = String::new();
    let mut at = HEADER;
    loop {
        let length = usize::from(*bytes.get(at)?);
        at += 1;
        match length {
            0 => break,
            1..64 => {}
            _ => return None,
        }
        let label = bytes.get(at..at + length)?;
        at += length;
        if at > HEADER + MAX_NAME {
            return None;
        }
        if !name.is_empty() {
            name.push('.');
        }
        // Other bytes are as RFC 1035 section 5.1 writes them.
        for &byte in label {
            match byte {
                b'.' | b'\\' => name.extend(['\\', byte.into()]),
                b'!'..=b'~' => name.push(byte.to_ascii_lowercase().into()),
                _ => name.push_str(&format!("\\{byte:03}")),
            }
        }
    }
    (!name.is_empty()).then(|| (name.into(), at))
}

/// The position after a name, which may end with a pointer.
fn skip_name(bytes: &[u8], mut at: usize) -> Option<usize> {
    for _ in 0..=MAX_NAME / 2 {
        let length = usize::from(*bytes.get(at)?);
        match length {
            0 => return Some(at + 1),
            1..64 => at += 1 + length,
            0xc0.. => return Some(at + 2),
            _ => return None,
        }
    }
    None
}

/// Addresses among these records, as far as they were captured.
fn addresses(bytes: &[u8], mut at: usize, records: u16) -> Vec<IpAddr> {
    let mut found = Vec::new();
    for _ in 0..usize::from(records).min(MAX_RECORDS) {
        let Some((address, next)) = record(bytes, at) else { break };
        found.extend(address);
        at = next;
    }
    found
}

/// The address in a record, if it is one of A or AAAA, and the position after the record.
fn record(bytes: &[u8], at: usize) -> Option<(Option<IpAddr>, usize)> {
    let fields = skip_name(bytes, at)?;
    let (kind, length) = (number(bytes, fields)?, usize::from(number(bytes, fields + 8)?));
    let data = bytes.get(fields + 10..fields + 10 + length)?;
    let address = match kind {
        A => <[u8; 4]>::try_from(data).ok().map(|bytes| Ipv4Addr::from(bytes).into()),
        AAAA => <[u8; 16]>::try_from(data).ok().map(|bytes| Ipv6Addr::from(bytes).into()),
        _ => None,
    };
    Some((address, fields + 10 + length))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const RESPONSE: &[u8] = b"\x12\x34\x81\x80\0\x01\0\x02\0\0\0\0\x03Www\x07example\0\0\x01\0\x01\
        \xc0\x0c\0\x05\0\x01\0\0\0\x3c\0\x04\x01a\xc0\x10\xc0\x2d\0\x01\0\x01\0\0\0\x3c\0\x04\xc0\0\x02\x07";

    #[test]
    fn response_has_the_addresses_behind_an_alias() {
        let message = Message::parse(RESPONSE).unwrap();
        assert_eq!((&*message.name, message.kind), ("www.example", 1));
        assert_eq!(message.addresses, [IpAddr::from([192, 0, 2, 7])]);
        assert!(message.is_response && !message.truncated);
    }

    #[test]
    fn damaged_messages_do_not_panic() {
        for cut in 0..RESPONSE.len() {
            let message = Message::parse(&RESPONSE[..cut]);
            assert!(message.is_none_or(|message| message.addresses.is_empty()), "{cut}");
        }
        for (at, value) in (0..RESPONSE.len()).flat_map(|at| [0, 0x3f, 0x40, 0xc0, 0xff].map(|value| (at, value))) {
            let mut bytes = RESPONSE.to_vec();
            bytes[at] = value;
            drop(Message::parse(&bytes));
        }
    }

    #[test]
    fn unusual_bytes_of_a_name_are_escaped() {
        let mut query = b"\0\0\x01\0\0\x01\0\0\0\0\0\0".to_vec();
        query.extend(b"\x04a.\x1bB\0\0\x01\0\x01");
        assert_eq!(&*Message::parse(&query).unwrap().name, "a\\.\\027b");
        query[4..6].copy_from_slice(&[0, 2]);
        assert_eq!(Message::parse(&query), None, "two questions");
    }
}
