//! ONC RPC over TCP (RFC 5531), with the operations of NFS 3 and 4 (RFC 1813, RFC 8881).

use super::framed::{Format, Part, Request, Role, Split};

const NFS: u32 = 100_003;
const LAST: u32 = 1 << 31;
/// Longest record: a write of 1 MiB is usual, of 16 MiB possible.
const MAX_RECORD: u32 = 32 << 20;
/// Record mark, transaction ID, and message type.
const HEADER: usize = 12;
/// Up to 400 bytes of credentials precede the called procedure.
const HEAD: usize = 1024;

/// Procedures of NFS 3.
const NFS3: [&str; 22] = [
    "NULL",
    "GETATTR",
    "SETATTR",
    "LOOKUP",
    "ACCESS",
    "READLINK",
    "READ",
    "WRITE",
    "CREATE",
    "MKDIR",
    "SYMLINK",
    "MKNOD",
    "REMOVE",
    "RMDIR",
    "RENAME",
    "LINK",
    "READDIR",
    "READDIRPLUS",
    "FSSTAT",
    "FSINFO",
    "PATHCONF",
    "COMMIT",
];

/// Operations of NFS 4, by number.
const NFS4: [(u32, &str); 41] = [
    (3, "ACCESS"),
    (4, "CLOSE"),
    (5, "COMMIT"),
    (6, "CREATE"),
    (7, "DELEGPURGE"),
    (8, "DELEGRETURN"),
    (9, "GETATTR"),
    (10, "GETFH"),
    (11, "LINK"),
    (12, "LOCK"),
    (13, "LOCKT"),
    (14, "LOCKU"),
    (15, "LOOKUP"),
    (16, "LOOKUPP"),
    (18, "OPEN"),
    (20, "OPEN_CONFIRM"),
    (21, "OPEN_DOWNGRADE"),
    (22, "PUTFH"),
    (24, "PUTROOTFH"),
    (25, "READ"),
    (26, "READDIR"),
    (27, "READLINK"),
    (28, "REMOVE"),
    (29, "RENAME"),
    (30, "RENEW"),
    (31, "RESTOREFH"),
    (32, "SAVEFH"),
    (33, "SECINFO"),
    (34, "SETATTR"),
    (35, "SETCLIENTID"),
    (36, "SETCLIENTID_CONFIRM"),
    (38, "WRITE"),
    (42, "EXCHANGE_ID"),
    (43, "CREATE_SESSION"),
    (44, "DESTROY_SESSION"),
    (50, "LAYOUTGET"),
    (53, "SEQUENCE"),
    (57, "DESTROY_CLIENTID"),
    (58, "RECLAIM_COMPLETE"),
    (60, "COPY"),
    (62, "DEALLOCATE"),
];

#[derive(Clone, Debug, Default)]
pub(super) struct Rpc {
    /// Whether the record of a side continues.
    continues: [bool; 2],
    /// The transaction ID of the current message, and whether it is a call.
    current: [Option<(u32, bool)>; 2],
}

/// Whether a segment begins with a call.
pub(super) fn opens(bytes: &[u8]) -> bool {
    let word = |at: usize| bytes.get(at..).and_then(|rest| rest.first_chunk()).map(|word| u32::from_be_bytes(*word));
    // Programs of Sun and of the registry (RFC 5531 section 13).
    let is_call = word(8) == Some(0) && word(12) == Some(2);
    let mark = word(0).unwrap_or(0);
    is_call
        && (40..=MAX_RECORD).contains(&(mark & !LAST))
        && word(16).is_some_and(|program| (100_000..=400_200).contains(&program))
}

/// The words of a message.
struct Words<'a>(&'a [u8]);

impl Words<'_> {
    fn next(&mut self) -> Option<u32> {
        let (word, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_be_bytes(*word))
    }

    fn skip(&mut self, bytes: usize) -> Option<()> {
        self.0 = self.0.get(bytes..)?;
        Some(())
    }

    /// Skips bytes with a length prefix, padded to words.
    fn skip_opaque(&mut self) -> Option<()> {
        let length = self.next()? as usize;
        self.skip(length.checked_next_multiple_of(4)?)
    }
}

/// The name of the called procedure.
fn label(words: &mut Words<'_>) -> Option<String> {
    let (program, version, procedure) = (words.next()?, words.next()?, words.next()?);
    for _ in ["credentials", "verifier"] {
        words.next()?;
        words.skip_opaque()?;
    }
    Some(match (program, version, procedure) {
        (NFS, 3, _) => format!("NFS {}", NFS3.get(procedure as usize).unwrap_or(&"call")),
        (NFS, 4, 0) => "NFS NULL".to_owned(),
        (NFS, 4, _) => format!("NFS {}", operation(words).unwrap_or("COMPOUND")),
        (100_000, ..) => format!("portmap call {procedure}"),
        (100_005, ..) => format!("mount call {procedure}"),
        (100_021, ..) => format!("lock manager call {procedure}"),
        _ => format!("RPC {program} call {procedure}"),
    })
}

/// The first operation of a compound that does more than select its file.
fn operation(words: &mut Words<'_>) -> Option<&'static str> {
    words.skip_opaque()?;
    let _minor = words.next()?;
    let count = words.next()?;
    let mut name = None;
    for _ in 0..count.min(8) {
        let number = words.next()?;
        name = NFS4.iter().find(|(of, _)| *of == number).map(|(_, name)| *name).or(name);
        match number {
            22 => words.skip_opaque()?,
            24 | 31 | 32 => {}
            // A session ID and four words (RFC 8881 section 18.46).
            53 => words.skip(32)?,
            _ => return name,
        }
        if words.0.len() < 4 {
            return name;
        }
    }
    name
}

impl Format for Rpc {
    fn split(&self, from: Role, bytes: &[u8]) -> Split {
        let Some(mark) = bytes.first_chunk().map(|mark| u32::from_be_bytes(*mark)) else { return Split::Need(4) };
        let length = mark & !LAST;
        let begins = !self.continues.get(from as usize).copied().unwrap_or_default();
        if length > MAX_RECORD || (begins && length < 8) {
            return Split::Lost;
        }
        if begins && bytes.len() < HEADER {
            return Split::Need(HEADER);
        }
        let kind = bytes.get(8..).and_then(|rest| rest.first_chunk()).map(|kind| u32::from_be_bytes(*kind));
        if begins && !matches!(kind, Some(0 | 1)) {
            return Split::Lost;
        }
        Split::Message { len: u64::from(length) + 4, head: if begins { HEAD } else { 4 } }
    }

    fn part(&mut self, from: Role, head: &[u8], _len: u64) -> Part {
        let mut words = Words(head);
        let is_last = words.next().unwrap_or(LAST) & LAST != 0;
        let side = from as usize;
        let (Some(continues), Some(current)) = (self.continues.get_mut(side), self.current.get_mut(side)) else {
            return Part::Other;
        };
        let is_rest = std::mem::replace(continues, !is_last);
        if !is_rest {
            *current = words.next().zip(words.next().map(|kind| kind == 0));
        }
        match (*current, from) {
            (Some((number, true)), Role::Client) => {
                if is_rest {
                    return Part::Continues { ends: is_last };
                }
                words.next();
                let label = label(&mut words).unwrap_or_else(|| "RPC call".to_owned());
                Part::Request(Request { label, key: Some(number.into()), continues: !is_last, ..Request::default() })
            }
            (Some((number, false)), Role::Server) => {
                Part::Response { key: Some(number.into()), ends: is_last, error: None, status: None }
            }
            // A call from the server (callback).
            (Some((_, true)), Role::Server) => Part::Push,
            _ => Part::Other,
        }
    }

    fn resumes(&self, from: Role, bytes: &[u8]) -> bool {
        from == Role::Client && opens(bytes)
    }
}
