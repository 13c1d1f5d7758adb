//! Types and constants that the protocol parsers share.

/// The protocol of a stream's payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// TLS 1.0 to 1.3.
    Tls,
    /// HTTP/1.0 or 1.1 in the clear.
    Http,
    /// SSH, which is only recognised.
    Ssh,
}

/// Whether bytes belong to a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Yes,
    No,
    /// More bytes are needed.
    More,
}

/// Maximum bytes collected of a hello or head in several segments.
pub(super) const GATHER_MAX: usize = 16 << 10;

/// Maximum number of entries in [`Content::firsts`](super::Content::firsts) and
/// [`Content::heads`](super::Content::heads): the first ones are kept.
pub(super) const LIST_MAX: usize = 512;

/// Longest server name, in bytes (RFC 1035 section 2.3.4).
const NAME_MAX: usize = 255;

/// Whether `name` is a possible server name: not too long, and safe to print.
pub(super) fn is_name(name: &[u8]) -> bool {
    (1..=NAME_MAX).contains(&name.len()) && name.iter().all(u8::is_ascii_graphic)
}
