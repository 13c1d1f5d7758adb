//! NFS in a line: `: NFS request xid 77 120 getattr`, `: NFS reply xid 77 reply ok 120 getattr`.
//!
//! tcpdump prints the meaning of the payload instead of its bytes. Rewritten as the head of the
//! call or reply (RFC 5531), it shows the response to each call and its time.

/// Flag of the last fragment of a record (RFC 5531 section 11).
const LAST: u32 = 1 << 31;
const NFS: u32 = 100_003;

/// tcpdump's names of NFS 3 procedures (`print-nfs.c`), by number (RFC 1813 section 3).
const PROCEDURES: [&str; 22] = [
    "null",
    "getattr",
    "setattr",
    "lookup",
    "access",
    "readlink",
    "read",
    "write",
    "create",
    "mkdir",
    "symlink",
    "mknod",
    "remove",
    "rmdir",
    "rename",
    "link",
    "readdir",
    "readdirplus",
    "fsstat",
    "fsinfo",
    "pathconf",
    "commit",
];

/// The head of a message that begins in a segment, from the text after the segment's length.
pub(super) fn head(tail: &str) -> Option<Vec<u8>> {
    let said = tail.strip_prefix(": NFS ")?;
    let (is_call, said) = match said.split_once(" xid ")? {
        ("request", said) => (true, said),
        ("reply", said) => (false, said),
        _ => return None,
    };
    let mut words = said.split(' ');
    let xid: u32 = words.next()?.parse().ok()?;
    let length: u32 = words.find_map(|word| word.parse().ok())?;
    let mut message = vec![LAST | (length & !LAST), xid];
    if is_call {
        let name = words.next()?;
        let procedure = PROCEDURES.iter().position(|known| *known == name)? as u32;
        // RPC version 2, NFS version 3, no credentials and no verifier.
        message.extend([0, 2, NFS, 3, procedure, 0, 0, 0, 0]);
    } else {
        // Accepted, no verifier, success.
        message.extend([1, 0, 0, 0, 0]);
    }
    Some(message.into_iter().flat_map(u32::to_be_bytes).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_and_its_reply_have_one_number() {
        let words = |tail: &str| {
            let head = head(tail).unwrap_or_default();
            head.as_chunks().0.iter().map(|word| u32::from_be_bytes(*word)).collect::<Vec<_>>()
        };
        let call = words(": NFS request xid 77 120 getattr fh 0,1/2");
        assert_eq!(call, [LAST | 120, 77, 0, 2, NFS, 3, 1, 0, 0, 0, 0]);
        let reply = words(": NFS reply xid 77 reply ok 112 getattr DIR 755");
        assert_eq!(reply, [LAST | 112, 77, 1, 0, 0, 0, 0]);
        for other in [": NFS request xid x 120 getattr", ": NFS request xid 7 120", ": HTTP: GET /", ""] {
            assert_eq!(head(other), None);
        }
    }
}
