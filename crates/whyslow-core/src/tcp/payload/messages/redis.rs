//! Redis' protocol, RESP2 and RESP3, with pipelines and inline commands (Redis' documentation,
//! "Redis serialization protocol specification").
//!
//! A label is the command's name; keys and values are left out.

use super::framed::{Format, Part, Request, Role, Split};

/// Longest string (`proto-max-bulk-len` of the server), and largest number of elements of an
/// aggregate.
const MAX_BULK: u64 = 512 << 20;
const MAX_PARTS: u64 = 1 << 20;
/// Maximum bytes of a string that are parsed: command names are shorter.
const NAME: usize = 32;

/// Commands that wait for an event.
const POLLS: [&str; 11] = [
    "BLPOP",
    "BRPOP",
    "BLMOVE",
    "BLMPOP",
    "BRPOPLPUSH",
    "BZPOPMIN",
    "BZPOPMAX",
    "BZMPOP",
    "XREAD",
    "XREADGROUP",
    "WAIT",
];

#[derive(Clone, Debug, Default)]
pub(super) struct Redis {
    /// Number of elements still missing in the current message of each side.
    left: [u64; 2],
    /// Whether the name of the command comes next.
    awaits_name: bool,
    /// Whether the server's message was unrequested.
    is_push: bool,
}

/// Whether a client's first bytes are a command.
pub(super) fn opens(bytes: &[u8]) -> bool {
    let rest = bytes.strip_prefix(b"*").and_then(number_line);
    rest.is_some_and(|(parts, rest)| {
        (1..=MAX_PARTS).contains(&parts)
            && rest.strip_prefix(b"$").and_then(number_line).is_some_and(|(len, name)| {
                let name = name.get(..usize::try_from(len).unwrap_or(usize::MAX).min(name.len())).unwrap_or_default();
                (1..=NAME as u64).contains(&len) && name.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'.')
            })
    })
}

/// A line with a number, and the bytes after it.
fn number_line(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let end = bytes.iter().take(12).position(|&byte| byte == b'\r')?;
    let rest = bytes.get(end..)?.strip_prefix(b"\r\n")?;
    let number = std::str::from_utf8(bytes.get(..end)?).ok()?.parse().ok()?;
    Some((number, rest))
}

/// The number in a first line; `None` for null.
fn count(head: &[u8]) -> Option<u64> {
    number_line(head.get(1..)?).map(|(number, _)| number)
}

impl Format for Redis {
    fn split(&self, from: Role, bytes: &[u8]) -> Split {
        let kind = bytes.first().copied().unwrap_or_default();
        let is_inside = self.left.get(from as usize).is_some_and(|left| *left > 0);
        let is_known = match from {
            Role::Client if is_inside => kind == b'$',
            Role::Client => kind == b'*' || kind.is_ascii_alphabetic() || kind == b'\r' || kind == b'\n',
            Role::Server => b"+-:$*_,#!=%~>|(".contains(&kind),
        };
        if !is_known {
            return Split::Lost;
        }
        let Some(end) = bytes.iter().position(|&byte| byte == b'\n') else { return Split::Line };
        let line = end as u64 + 1;
        match kind {
            b'$' | b'!' | b'=' => match count(bytes) {
                Some(len) if len <= MAX_BULK => Split::Message { len: line + len + 2, head: end + 1 + NAME },
                Some(_) => Split::Lost,
                None => Split::Message { len: line, head: end + 1 },
            },
            b'*' | b'%' | b'~' | b'>' | b'|' if count(bytes).is_some_and(|parts| parts > MAX_PARTS) => Split::Lost,
            _ => Split::Message { len: line, head: end + 1 },
        }
    }

    fn part(&mut self, from: Role, head: &[u8], _len: u64) -> Part {
        let kind = head.first().copied().unwrap_or_default();
        let parts = match kind {
            b'*' | b'~' | b'>' => count(head).unwrap_or(0),
            b'%' => count(head).unwrap_or(0).saturating_mul(2),
            // Attributes precede the value that they belong to.
            b'|' => count(head).unwrap_or(0).saturating_mul(2).saturating_add(1),
            _ => 0,
        };
        let Some(left) = self.left.get_mut(from as usize) else { return Part::Other };
        let is_first = *left == 0;
        *left = left.saturating_sub(1).saturating_add(parts);
        let ends = *left == 0;
        match from {
            Role::Client if is_first && kind == b'*' => {
                self.awaits_name = parts > 0;
                if parts > 0 { Part::Opens } else { Part::Other }
            }
            Role::Client if is_first => match inline(head) {
                Some(name) => command(&name, true),
                None => Part::Other,
            },
            Role::Client if std::mem::take(&mut self.awaits_name) => command(&bulk(head), ends),
            Role::Client => Part::Continues { ends },
            Role::Server => {
                if is_first {
                    self.is_push = kind == b'>';
                }
                if self.is_push {
                    return Part::Push;
                }
                let is_error = is_first && matches!(kind, b'-' | b'!');
                let error = is_error.then(|| inline(head.get(1..).unwrap_or_default())).flatten();
                Part::Response { key: None, ends, error, status: None }
            }
        }
    }

    fn resumes(&self, from: Role, bytes: &[u8]) -> bool {
        from == Role::Client && self.left == [0; 2] && opens(bytes)
    }
}

/// The first word of a line, in upper case.
fn inline(line: &[u8]) -> Option<String> {
    let word = line.split(|byte| byte.is_ascii_whitespace()).next()?;
    let is_name = !word.is_empty() && word.len() <= NAME && word.iter().all(u8::is_ascii_alphanumeric);
    is_name.then(|| String::from_utf8_lossy(word).to_ascii_uppercase())
}

/// The captured part of a bulk string.
fn bulk(head: &[u8]) -> String {
    let rest = number_line(head.get(1..).unwrap_or_default());
    let name = rest.and_then(|(len, rest)| rest.get(..usize::try_from(len).ok()?)).unwrap_or_default();
    let is_name = !name.is_empty() && name.iter().all(u8::is_ascii_graphic);
    if is_name { String::from_utf8_lossy(name).to_ascii_uppercase() } else { "command".to_owned() }
}

fn command(name: &str, ends: bool) -> Part {
    Part::Request(Request {
        label: name.to_owned(),
        is_poll: POLLS.contains(&name),
        is_heartbeat: name == "PING",
        continues: !ends,
        ..Request::default()
    })
}
