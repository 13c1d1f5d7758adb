//! What the readers of the protocols share.

/// What a stream's payload is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// TLS 1.0 to 1.3.
    Tls,
    /// HTTP/1.0 or 1.1 in the clear.
    Http,
    /// SSH; only its name is known here.
    Ssh,
}

/// What some bytes prove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Yes,
    No,
    /// The bytes that follow decide.
    More,
}

/// Most bytes kept of a hello or head that is spread over segments.
pub(super) const GATHER_MAX: usize = 16 << 10;

/// Most entries in [`Content::firsts`](super::Content::firsts) and
/// [`Content::heads`](super::Content::heads): the first ones are kept.
pub(super) const LIST_MAX: usize = 512;

/// Longest server name, in bytes (RFC 1035 section 2.3.4).
const NAME_MAX: usize = 255;

/// Whether `name` can stand as a server's name: as long as one may be, and harmless to print.
pub(super) fn is_name(name: &[u8]) -> bool {
    (1..=NAME_MAX).contains(&name.len()) && name.iter().all(u8::is_ascii_graphic)
}
