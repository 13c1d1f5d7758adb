//! MongoDB's wire protocol (MongoDB manual, "MongoDB Wire Protocol").
//!
//! A label is the command and its collection.

use super::framed::{Format, Part, Request, Role, Split};

const OP_REPLY: u32 = 1;
const OP_QUERY: u32 = 2004;
const OP_COMPRESSED: u32 = 2012;
const OP_MSG: u32 = 2013;
/// Longest message (`maxMessageSizeBytes`).
const MAX_MESSAGE: u32 = 48_000_000;
const HEADER: usize = 16;
/// Bytes with the first element of a command, and with the field that shows whether it waits.
const HEAD: usize = 512;
/// More messages follow without another request.
const MORE_TO_COME: u32 = 1 << 1;

#[derive(Clone, Debug, Default)]
pub(super) struct MongoDb;

/// A message's header: length, request ID, the ID that it answers, and opcode.
fn header(bytes: &[u8]) -> Option<[u32; 4]> {
    let (words, _) = bytes.get(..HEADER)?.as_chunks::<4>();
    let mut fields = words.iter().map(|word| u32::from_le_bytes(*word));
    let header = [fields.next()?, fields.next()?, fields.next()?, fields.next()?];
    let is_known = matches!(header[3], OP_REPLY | OP_QUERY | OP_COMPRESSED | OP_MSG);
    (is_known && (HEADER as u32 + 5..=MAX_MESSAGE).contains(&header[0])).then_some(header)
}

/// Whether a client's first bytes are a request.
pub(super) fn opens(bytes: &[u8], len: u64) -> bool {
    header(bytes).is_some_and(|[length, _, answers, kind]| {
        answers == 0 && kind != OP_REPLY && u64::from(length) <= len.max(1_460)
    })
}

/// The name of the command and its collection.
fn command(bytes: &[u8]) -> Option<String> {
    let first = bytes.get(4..)?;
    let (&kind, rest) = first.split_first()?;
    let end = rest.iter().take(40).position(|&byte| byte == 0)?;
    let name = rest.get(..end).filter(|name| !name.is_empty() && name.iter().all(u8::is_ascii_alphanumeric))?;
    let name = String::from_utf8_lossy(name).into_owned();
    let value = rest.get(end + 1..)?;
    if kind != 2 {
        return Some(name);
    }
    let text = value.get(4..)?;
    let collection = text.get(..text.iter().take(64).position(|&byte| byte == 0)?)?;
    let is_plain = collection.iter().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(byte));
    Some(if is_plain { format!("{name} {}", String::from_utf8_lossy(collection)) } else { name })
}

impl Format for MongoDb {
    fn split(&self, _from: Role, bytes: &[u8]) -> Split {
        if bytes.len() < HEADER {
            return Split::Need(HEADER);
        }
        match header(bytes) {
            Some([len, ..]) => Split::Message { len: len.into(), head: HEAD },
            None => Split::Lost,
        }
    }

    fn part(&mut self, from: Role, head: &[u8], _len: u64) -> Part {
        let Some([_, number, answers, kind]) = header(head) else { return Part::Other };
        let flags = head.get(HEADER..HEADER + 4).and_then(|flags| flags.first_chunk());
        let has_more = kind == OP_MSG && flags.is_some_and(|flags| u32::from_le_bytes(*flags) & MORE_TO_COME != 0);
        if from == Role::Server {
            return Part::response(Some(answers.into()));
        }
        let label = match kind {
            OP_MSG if head.get(HEADER + 4) == Some(&0) => head.get(HEADER + 5..).and_then(command),
            _ => None,
        };
        let label = label.unwrap_or_else(|| if kind == OP_QUERY { "query".to_owned() } else { "command".to_owned() });
        let is_awaiting = head.windows(14).any(|name| name == b"maxAwaitTimeMS");
        Part::Request(Request {
            key: Some(number.into()),
            is_unanswered: has_more,
            is_poll: is_awaiting,
            is_heartbeat: label == "ping",
            label,
            ..Request::default()
        })
    }

    fn resumes(&self, _from: Role, bytes: &[u8]) -> bool {
        header(bytes).is_some_and(|[.., kind]| kind == OP_MSG)
    }
}
