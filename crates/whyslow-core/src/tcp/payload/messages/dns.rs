//! DNS over TCP (RFC 1035 section 4.2.2): queries with their responses.

use super::framed::{Format, Part, Role, Split};

/// The length prefix, the header, and the question.
const HEADER: usize = 2 + 12;
const HEAD: usize = HEADER + 260;
const RESPONSE: u16 = 1 << 15;
/// Longest name, in characters (RFC 1035 section 3.1).
const MAX_NAME: usize = 253;

#[derive(Clone, Debug, Default)]
pub(super) struct Dns;

/// Whether a client's first bytes are a query.
pub(super) fn opens(bytes: &[u8], len: u64) -> bool {
    let Some((&[a, b], message)) = bytes.split_first_chunk() else { return false };
    let is_whole = u64::from(u16::from_be_bytes([a, b])) + 2 <= len;
    let flags = message.get(2..).and_then(|flags| flags.first_chunk()).map(|flags| u16::from_be_bytes(*flags));
    let is_query = flags.is_some_and(|flags| flags & (RESPONSE | 0x7800) == 0);
    is_whole && is_query && message.get(4..6) == Some(&[0, 1]) && question(message).is_some()
}

/// Type and name of the first question of a message.
pub(super) fn question(message: &[u8]) -> Option<String> {
    let (mut name, mut at) = (String::new(), 12);
    loop {
        let length = usize::from(*message.get(at)?);
        at += 1;
        if length == 0 {
            break;
        }
        let label =
            message.get(at..at + length).filter(|label| length < 64 && label.iter().all(u8::is_ascii_graphic))?;
        if !name.is_empty() {
            name.push('.');
        }
        name.push_str(std::str::from_utf8(label).ok()?);
        at += length;
        if name.len() > MAX_NAME {
            return None;
        }
    }
    let kind = message.get(at..).and_then(|kind| kind.first_chunk()).map(|kind| u16::from_be_bytes(*kind))?;
    let kind = match kind {
        1 => "A".to_owned(),
        2 => "NS".to_owned(),
        5 => "CNAME".to_owned(),
        6 => "SOA".to_owned(),
        12 => "PTR".to_owned(),
        15 => "MX".to_owned(),
        16 => "TXT".to_owned(),
        28 => "AAAA".to_owned(),
        33 => "SRV".to_owned(),
        65 => "HTTPS".to_owned(),
        252 => "AXFR".to_owned(),
        other => format!("TYPE{other}"),
    };
    Some(if name.is_empty() { format!("{kind} .") } else { format!("{kind} {name}") })
}

/// The error code of a response, as text.
pub(super) fn failure(flags: u16) -> Option<String> {
    match flags & 15 {
        0 => None,
        1 => Some("FORMERR".to_owned()),
        2 => Some("SERVFAIL".to_owned()),
        3 => Some("NXDOMAIN".to_owned()),
        5 => Some("REFUSED".to_owned()),
        other => Some(format!("RCODE {other}")),
    }
}

impl Format for Dns {
    fn split(&self, _from: Role, bytes: &[u8]) -> Split {
        let Some(length) = bytes.first_chunk().map(|length| u16::from_be_bytes(*length)) else { return Split::Need(2) };
        if length < 12 { Split::Lost } else { Split::Message { len: u64::from(length) + 2, head: HEAD } }
    }

    fn part(&mut self, from: Role, head: &[u8], _len: u64) -> Part {
        let message = head.get(2..).unwrap_or_default();
        let word = |at: usize| {
            let word = message.get(at..).and_then(|rest| rest.first_chunk());
            word.map_or(0, |word| u16::from_be_bytes(*word))
        };
        let (key, flags) = (Some(word(0).into()), word(2));
        match (from, flags & RESPONSE != 0) {
            (Role::Client, false) => Part::request(question(message).unwrap_or_else(|| "query".to_owned()), key),
            (Role::Server, true) => Part::Response { key, ends: true, error: failure(flags), status: None },
            _ => Part::Other,
        }
    }
}
