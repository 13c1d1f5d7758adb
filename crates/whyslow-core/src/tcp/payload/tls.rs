//! TLS record headers and the two hellos.

use super::protocol::{GATHER_MAX, Verdict, is_name};

/// Bytes of a record header.
pub(super) const HEADER_LEN: usize = 5;
/// Content types (RFC 8446 appendix B.1).
pub(super) const CHANGE_CIPHER_SPEC: u8 = 20;
pub(super) const HANDSHAKE: u8 = 22;
pub(super) const APPLICATION_DATA: u8 = 23;
/// Heartbeat (RFC 6520), the highest content type in use over TCP.
const HEARTBEAT: u8 = 24;
/// Longest record body: 2^14 bytes, and up to 2,048 added by a cipher (RFC 5246 section 6.2.3).
const BODY_MAX: u16 = 16_384 + 2_048;

/// Handshake message types (RFC 8446 section 4).
const CLIENT_HELLO: u8 = 1;
const SERVER_HELLO: u8 = 2;
/// Extension types (RFC 8446 section 4.2).
const SERVER_NAME: u16 = 0;
const SUPPORTED_VERSIONS: u16 = 43;
const TLS13: u16 = 0x0304;

/// A valid TLS record header.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    /// Content type.
    pub kind: u8,
    /// Protocol version in the record header.
    version: u16,
    /// Length of the record body.
    pub len: u16,
}

impl Header {
    /// Parses a header; `None` if there are fewer than five bytes, or if no TLS record starts like
    /// this.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let &[kind, major, minor, high, low, ..] = bytes else { return None };
        let len = u16::from_be_bytes([high, low]);
        let plausible = Self::may_start(bytes) && (1..=BODY_MAX).contains(&len);
        plausible.then_some(Self { kind, version: u16::from_be_bytes([major, minor]), len })
    }

    /// Whether these bytes, possibly fewer than five, can start a header.
    pub(super) fn may_start(bytes: &[u8]) -> bool {
        bytes.first().is_some_and(|&kind| may_open(kind))
            && bytes.get(1).is_none_or(|&major| major == 3)
            && bytes.get(2).is_none_or(|minor| (1..=4).contains(minor))
    }
}

/// Whether TLS can start with this byte.
pub(super) const fn may_open(first: u8) -> bool {
    matches!(first, CHANGE_CIPHER_SPEC..=HEARTBEAT)
}

/// Whether a handshake message of this type is a hello.
pub(super) const fn is_hello(kind: u8) -> bool {
    matches!(kind, CLIENT_HELLO | SERVER_HELLO)
}

/// Whether TLS starts with these bytes of a segment that continues for `len` bytes from here. At
/// the `first` bytes of a message one application-data header is sufficient, because the record may
/// be longer than the segment.
pub(super) fn opens(bytes: &[u8], len: u64, first: bool, more: bool) -> Verdict {
    if !Header::may_start(bytes) {
        return Verdict::No;
    }
    let open = if more { Verdict::More } else { Verdict::No };
    if bytes.len() < HEADER_LEN {
        return open;
    }
    let Some(header) = Header::read(bytes) else { return Verdict::No };
    if header.kind == HANDSHAKE {
        // The message's type and the first byte of its length, which is 0 in any hello (below 64
        // KiB).
        match bytes.get(HEADER_LEN..) {
            Some([CLIENT_HELLO | SERVER_HELLO, 0, ..]) => return Verdict::Yes,
            Some([] | [CLIENT_HELLO | SERVER_HELLO]) if more => return Verdict::More,
            _ => {}
        }
    }
    // Otherwise a second header must follow the first record, or the segment must end there.
    let second = HEADER_LEN as u64 + u64::from(header.len);
    let known = usize::try_from(second).ok().and_then(|second| bytes.get(second..)).filter(|rest| !rest.is_empty());
    let proven = match known {
        Some(rest) if rest.len() >= HEADER_LEN => Header::read(rest).is_some(),
        Some(_) | None if second == len => true,
        Some(rest) if !Header::may_start(rest) => false,
        _ => first && header.kind == APPLICATION_DATA && header.version == 0x0303,
    };
    if proven { Verdict::Yes } else { Verdict::No }
}

/// Whether `message` is a complete hello, or not a hello, so that no bytes need to be collected.
pub(super) fn is_whole(message: &[u8]) -> bool {
    match *message {
        [] | [CLIENT_HELLO | SERVER_HELLO] | [CLIENT_HELLO | SERVER_HELLO, _] | [CLIENT_HELLO | SERVER_HELLO, _, _] => {
            false
        }
        [CLIENT_HELLO | SERVER_HELLO, a, b, c, ref body @ ..] => {
            body.len() >= (u32::from_be_bytes([0, a, b, c]) as usize).min(GATHER_MAX)
        }
        _ => true,
    }
}

/// The relevant fields of a hello.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Hello {
    Client {
        server_name: Option<String>,
    },
    /// `None` if the extensions were not completely captured.
    Server {
        tls13: Option<bool>,
    },
}

/// Parses a ClientHello or ServerHello, which may be truncated; `None` for other messages.
pub(super) fn hello(message: &[u8]) -> Option<Hello> {
    let (&[kind, a, b, c], body) = message.split_first_chunk::<4>()?;
    let len = u32::from_be_bytes([0, a, b, c]) as usize;
    let (mut body, whole) = body.get(..len).map_or((body, false), |body| (body, true));
    match kind {
        CLIENT_HELLO => Some(Hello::Client { server_name: client_extensions(&mut body).and_then(server_name) }),
        SERVER_HELLO => Some(Hello::Server { tls13: chose_tls13(&mut body, whole) }),
        _ => None,
    }
}

/// The extensions of a ClientHello, as far as captured.
fn client_extensions<'a>(body: &mut &'a [u8]) -> Option<&'a [u8]> {
    take(body, 2 + 32)?; // version, random
    let session_id = u8(body)?;
    take(body, session_id.into())?;
    let cipher_suites = u16(body)?;
    take(body, cipher_suites.into())?;
    let compressions = u8(body)?;
    take(body, compressions.into())?;
    extension_list(body)
}

fn server_name(mut extensions: &[u8]) -> Option<String> {
    let mut list = extension(&mut extensions, SERVER_NAME)?;
    u16(&mut list)?; // length of the list, which has one entry
    let kind = u8(&mut list)?;
    let len = u16(&mut list)?;
    let name = take(&mut list, len.into())?;
    (kind == 0 && is_name(name)).then(|| String::from_utf8_lossy(name).into_owned())
}

fn chose_tls13(body: &mut &[u8], whole: bool) -> Option<bool> {
    take(body, 2 + 32)?; // version, random
    let session_id = u8(body)?;
    take(body, session_id.into())?;
    take(body, 2 + 1)?; // cipher suite, compression
    if whole && body.is_empty() {
        return Some(false);
    }
    let mut extensions = extension_list(body)?;
    match extension(&mut extensions, SUPPORTED_VERSIONS) {
        Some(mut chosen) => Some(u16(&mut chosen)? == TLS13),
        // Without the extension, the version is the one in the hello's version field, at most 1.2.
        None => (whole && extensions.is_empty()).then_some(false),
    }
}

fn extension_list<'a>(body: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = u16(body)?;
    Some(body.get(..len.into()).unwrap_or(body))
}

/// The body of the first extension of a type, if it was completely captured. Otherwise `extensions`
/// is the unreadable rest.
fn extension<'a>(extensions: &mut &'a [u8], wanted: u16) -> Option<&'a [u8]> {
    loop {
        let mut rest = *extensions;
        let kind = u16(&mut rest)?;
        let len = u16(&mut rest)?;
        let body = take(&mut rest, len.into())?;
        *extensions = rest;
        if kind == wanted {
            return Some(body);
        }
    }
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(taken)
}

fn u8(bytes: &mut &[u8]) -> Option<u8> {
    take(bytes, 1)?.first().copied()
}

fn u16(bytes: &mut &[u8]) -> Option<u16> {
    take(bytes, 2)?.first_chunk().map(|&two| u16::from_be_bytes(two))
}
