//! SMB 2 and 3 over TCP (MS-SMB2 sections 2.1 and 2.2).
//!
//! A label is the command; file names are removed. For encrypted messages only the length is known.

use super::framed::{Format, Part, Request, Role, Split};

/// The length prefix (RFC 1002 section 4.3.1), and the header.
const HEADER: usize = 4 + 64;
const SMB1: &[u8; 4] = b"\xffSMB";
const SMB2: &[u8; 4] = b"\xfeSMB";
const ENCRYPTED: &[u8; 4] = b"\xfdSMB";
const RESPONSE: u8 = 1;
const CANCEL: u16 = 12;
const ECHO: u16 = 13;
const CHANGE_NOTIFY: u16 = 15;
const PENDING: u32 = 0x103;
/// Statuses that are not failures: buffer overflow, more processing, no more files, end of file.
const EXPECTED: [u32; 5] = [0, 0x8000_0005, 0xc000_0016, 0x8000_0006, 0xc000_0011];

const COMMANDS: [&str; 19] = [
    "Negotiate",
    "SessionSetup",
    "Logoff",
    "TreeConnect",
    "TreeDisconnect",
    "Create",
    "Close",
    "Flush",
    "Read",
    "Write",
    "Lock",
    "Ioctl",
    "Cancel",
    "Echo",
    "QueryDirectory",
    "ChangeNotify",
    "QueryInfo",
    "SetInfo",
    "OplockBreak",
];

#[derive(Clone, Debug, Default)]
pub(super) struct Smb2;

/// Whether a segment begins with a message, and whether it is a request.
pub(super) fn opens(bytes: &[u8]) -> Option<bool> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let magic = rest.first_chunk::<4>()?;
    if length[0] != 0 {
        return None;
    }
    match magic {
        SMB2 if rest.get(4..6) == Some(&[64, 0]) => rest.get(16).map(|flags| flags & RESPONSE == 0),
        // The SMB 1 message in which a client offers its dialects.
        SMB1 if rest.get(4) == Some(&0x72) => rest.get(9).map(|flags| flags & 0x80 == 0),
        _ => None,
    }
}

impl Format for Smb2 {
    fn split(&self, _from: Role, bytes: &[u8]) -> Split {
        let Some(&[kind, a, b, c, ref magic @ ..]) = bytes.first_chunk::<8>() else { return Split::Need(8) };
        let len = u64::from(u32::from_be_bytes([0, a, b, c])) + 4;
        let is_known = [SMB1, SMB2, ENCRYPTED].contains(&magic) && kind == 0;
        if is_known { Split::Message { len, head: HEADER } } else { Split::Lost }
    }

    fn part(&mut self, from: Role, head: &[u8], _len: u64) -> Part {
        let header = head.get(4..).unwrap_or_default();
        if header.starts_with(SMB1) {
            return if from == Role::Client { Part::request("Negotiate", Some(0)) } else { Part::response(Some(0)) };
        }
        let fields = || {
            let status = u32::from_le_bytes(*header.get(8..)?.first_chunk()?);
            let command = u16::from_le_bytes(*header.get(12..)?.first_chunk()?);
            let next = u32::from_le_bytes(*header.get(20..)?.first_chunk()?);
            Some((status, command, next, u64::from_le_bytes(*header.get(24..)?.first_chunk()?)))
        };
        let Some((status, command, next, number)) = fields().filter(|_| header.starts_with(SMB2)) else {
            return Part::Other;
        };
        if command == ECHO {
            return Part::Heartbeat;
        }
        if from == Role::Server {
            let is_failure = status != PENDING && !EXPECTED.contains(&status);
            let error = is_failure.then(|| format!("status {status:#010x}"));
            // The break of an oplock or lease, without a request.
            if number == u64::MAX {
                return Part::Push;
            }
            return Part::Response { key: Some(number), ends: status != PENDING, error, status: None };
        }
        let name = COMMANDS.get(usize::from(command)).copied().unwrap_or("command");
        Part::Request(Request {
            // Several commands in one message are labelled by the first.
            label: if next > 0 { format!("{name}, …") } else { name.to_owned() },
            key: Some(number),
            is_unanswered: command == CANCEL,
            is_poll: command == CHANGE_NOTIFY,
            ..Request::default()
        })
    }

    fn resumes(&self, from: Role, bytes: &[u8]) -> bool {
        opens(bytes) == Some(from == Role::Client)
    }
}
