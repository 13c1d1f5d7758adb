//! Parses heads of HTTP/1 messages (RFC 9112): the start line and the relevant fields.

use super::protocol::is_name;
use std::borrow::Cow;
use whyslow_analysis::types::Product;

/// Longest target or reason in a label, in characters.
const LABEL_MAX: usize = 80;

/// Request methods (RFC 9110 section 9, RFC 5789, RFC 4918, RFC 3253), with the space that follows.
const METHODS: [&[u8]; 17] = [
    b"GET ",
    b"HEAD ",
    b"POST ",
    b"PUT ",
    b"DELETE ",
    b"CONNECT ",
    b"OPTIONS ",
    b"TRACE ",
    b"PATCH ",
    b"PROPFIND ",
    b"PROPPATCH ",
    b"MKCOL ",
    b"COPY ",
    b"MOVE ",
    b"LOCK ",
    b"UNLOCK ",
    b"REPORT ",
];
/// How a status line starts.
const VERSION: &[u8] = b"HTTP/1.";

/// Result of parsing bytes as a head.
pub(super) enum Parsed<'a> {
    /// Not a head.
    No,
    /// More bytes are needed.
    More,
    /// A head.
    Head(Head<'a>),
}

/// A head; borrows its text if possible.
pub(super) struct Head<'a> {
    /// `GET /path` or `200 OK`, in UTF-8.
    pub label: Cow<'a, [u8]>,
    /// The Host field without the port, if it was completely captured and is printable.
    pub host: Option<&'a [u8]>,
    /// The product in a Server or User-Agent field.
    pub product: Option<Product>,
    /// Distance from the start of this head to the next one in this direction, bytes; `None` if the
    /// message's length is unknown.
    pub next: Option<u64>,
    /// Largest possible length of the message, if its length was captured; includes
    /// [`MAX_HEAD_REST`] if the head was not completely captured.
    pub announced: Option<u64>,
    /// Captured bytes of the head.
    pub len: u64,
    /// The body has chunked encoding (RFC 9112 section 7.1).
    pub is_chunked: bool,
    /// The sender asks to close the connection after the response (RFC 9112 section 9.3).
    pub wants_close: bool,
}

/// Maximum bytes of a head that may be missing after its captured part (nginx accepts at most 4 KiB
/// from a backend by default, `proxy_buffer_size`).
const MAX_HEAD_REST: u64 = 4_096;

/// Whether a head can start with this byte.
#[inline]
pub(super) const fn may_open(first: u8) -> bool {
    first.is_ascii_uppercase()
}

/// Whether a method or a status line starts with this byte.
pub(super) const fn may_begin(first: u8) -> bool {
    let mut index = 0;
    while index < METHODS.len() {
        if let [initial, ..] = METHODS[index]
            && *initial == first
        {
            return true;
        }
        index += 1;
    }
    first == b'H'
}

/// Whether the bytes begin with a complete method or status line (`true`) or with the start of one
/// (`false`); `None` for other bytes.
pub(super) fn begins(bytes: &[u8]) -> Option<bool> {
    let all = || METHODS.into_iter().chain([VERSION]);
    let is_prefix = || all().any(|known| known.starts_with(bytes));
    if all().any(|known| bytes.starts_with(known)) { Some(true) } else { is_prefix().then_some(false) }
}

/// Parses a head from its first byte. If `message` is false, a message may not start here, and a
/// request line must be completely captured. `more`: more bytes may follow; otherwise parses what
/// is available.
pub(super) fn parse(bytes: &[u8], message: bool, more: bool) -> Parsed<'_> {
    if !bytes.first().is_some_and(|&first| may_open(first)) {
        return Parsed::No;
    }
    let status = bytes.starts_with(VERSION);
    let method = if status { None } else { METHODS.iter().find(|method| bytes.starts_with(method)) };
    if !status && method.is_none() {
        let prefix = more && (VERSION.starts_with(bytes) || METHODS.iter().any(|method| method.starts_with(bytes)));
        return if prefix { Parsed::More } else { Parsed::No };
    }
    let (line, mut rest) = match split_line(bytes) {
        Some((line, rest)) => (line, Some(rest)),
        None if more => return Parsed::More,
        None => (bytes, None),
    };
    let whole = rest.is_some();
    let label = match method {
        Some(method) => request_label(line, method, whole, message),
        None => status_label(line, whole),
    };
    let Some(label) = label else { return Parsed::No };

    let mut fields = Fields::default();
    loop {
        match rest.and_then(split_line) {
            Some(([], body)) => {
                let head = (bytes.len() - body.len()) as u64;
                let next = fields.body(line, method.copied()).and_then(|len| head.checked_add(len));
                let wants_close = fields.wants_close(line);
                let Fields { host, product, is_chunked, .. } = fields;
                let announced = next;
                return Parsed::Head(Head {
                    label,
                    host,
                    product,
                    next,
                    announced,
                    len: head,
                    is_chunked,
                    wants_close,
                });
            }
            Some((field, following)) => {
                fields.read(field);
                rest = Some(following);
            }
            None if more => return Parsed::More,
            None => return Parsed::Head(fields.cut_head(label, rest, bytes.len() as u64)),
        }
    }
}

/// The fields with the host and the length of the body.
#[derive(Default)]
struct Fields<'a> {
    host: Option<&'a [u8]>,
    product: Option<Product>,
    length: Option<u64>,
    /// The body's length is given in another form, or not at all.
    length_unknown: bool,
    is_chunked: bool,
    /// Whether the Connection field asks to keep the connection open; `None` without one.
    keeps: Option<bool>,
}

impl<'a> Fields<'a> {
    fn read(&mut self, line: &'a [u8]) {
        let Some((name, value)) = split_field(line) else { return };
        if name.eq_ignore_ascii_case(b"host") {
            self.read_host(value);
        } else if name.eq_ignore_ascii_case(b"content-length") {
            self.length = std::str::from_utf8(value).ok().and_then(|value| value.parse().ok());
            self.length_unknown |= self.length.is_none();
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") || name.eq_ignore_ascii_case(b"upgrade") {
            self.length_unknown = true;
            let last = value.rsplit(|byte| matches!(byte, b',' | b' ')).next().unwrap_or_default();
            self.is_chunked |= last.eq_ignore_ascii_case(b"chunked");
        } else if name.eq_ignore_ascii_case(b"connection") {
            let has_option = |option: &[u8]| {
                value.split(|byte| *byte == b',').any(|one| one.trim_ascii().eq_ignore_ascii_case(option))
            };
            self.keeps = if has_option(b"close") {
                Some(false)
            } else {
                self.keeps.or(has_option(b"keep-alive").then_some(true))
            };
        } else if name.eq_ignore_ascii_case(b"server") || name.eq_ignore_ascii_case(b"user-agent") {
            self.product = self.product.or_else(|| Product::of_field(value));
        }
    }

    /// A truncated head of `len` captured bytes; the truncated line, if any, is in `rest`.
    fn cut_head(mut self, label: Cow<'a, [u8]>, rest: Option<&'a [u8]>, len: u64) -> Head<'a> {
        // A name followed by a port was completely captured even if the line was not.
        if let Some((name, value)) = rest.and_then(split_field)
            && name.eq_ignore_ascii_case(b"host")
            && without_port(value).len() < value.len()
        {
            self.read_host(value);
        }
        let length = self.length.filter(|_| !self.length_unknown);
        let announced = length.and_then(|length| length.checked_add(len + MAX_HEAD_REST));
        // The field may be in the uncaptured part.
        let wants_close = self.keeps == Some(false);
        let Self { host, product, is_chunked, .. } = self;
        Head { label, host, product, next: None, announced, len, is_chunked, wants_close }
    }

    fn read_host(&mut self, value: &'a [u8]) {
        let name = without_port(value);
        if self.host.is_none() && is_name(name) {
            self.host = Some(name);
        }
    }

    /// HTTP/1.0 closes by default.
    fn wants_close(&self, line: &[u8]) -> bool {
        !self.keeps.unwrap_or(!line.ends_with(b" HTTP/1.0"))
    }

    /// Length of the body (RFC 9112 section 6.3), if known. The response to HEAD has no body
    /// despite its fields; it is not recognised here, and the next turn corrects that.
    fn body(&self, line: &[u8], method: Option<&[u8]>) -> Option<u64> {
        let code = if method.is_none() { line.get(9..12) } else { None };
        match code {
            _ if self.length_unknown || method == Some(b"CONNECT ") || code == Some(b"101") => None,
            Some([b'1', ..] | b"204" | b"304") => Some(0),
            Some(_) => self.length,
            None => Some(self.length.unwrap_or(0)),
        }
    }
}

/// The label of a request line; `None` for other lines.
fn request_label<'a>(line: &'a [u8], method: &[u8], whole: bool, message: bool) -> Option<Cow<'a, [u8]>> {
    let rest = line.get(method.len()..)?;
    let (target, cut) = if whole {
        let (target, version) = rest.split_last_chunk::<9>()?;
        if !matches!(version, [b' ', b'H', b'T', b'T', b'P', b'/', b'1', b'.', b'0'..=b'9']) {
            return None;
        }
        (target, false)
    } else {
        let target = rest.split(|&byte| byte == b' ').next()?;
        let plausible = match method {
            // A host and its port (RFC 9110 section 9.3.6); NATS has a command with this name.
            b"CONNECT " => target.iter().all(|byte| byte.is_ascii_alphanumeric() || b".-:[]_".contains(byte)),
            _ => matches!(target, [b'/' | b'*', ..]) || target.starts_with(b"http"),
        };
        if !message || !plausible {
            return None;
        }
        (target, target.len() == rest.len())
    };
    if target.is_empty() {
        return None;
    }
    printable(line.get(..method.len() + target.len())?, method.len(), cut)
}

/// The label of a status line; `None` for other lines.
fn status_label(line: &[u8], whole: bool) -> Option<Cow<'_, [u8]>> {
    let (status, (code, reason)) = match line.get(VERSION.len()..)? {
        [b'0'..=b'9', b' ', status @ ..] => (status, status.split_first_chunk::<3>()?),
        _ => return None,
    };
    if !code.iter().all(u8::is_ascii_digit) || !matches!(reason, [] | [b' ', ..]) {
        return None;
    }
    match reason {
        [] | [_] => Some(Cow::Borrowed(code)),
        _ => printable(status, code.len() + 1, !whole),
    }
}

/// A printable label. The first `lead` bytes (a method or a code) are printable; in the others,
/// escapes everything but printable ASCII. Has at most [`LABEL_MAX`] characters; `…` marks that the
/// label was truncated, here or before (`cut`).
fn printable(label: &[u8], lead: usize, cut: bool) -> Option<Cow<'_, [u8]>> {
    let (lead, text) = label.split_at_checked(lead)?;
    if !cut && text.len() <= LABEL_MAX && text.iter().all(|&byte| is_printable(byte)) {
        return Some(Cow::Borrowed(label));
    }
    let mut label = String::from_utf8_lossy(lead).into_owned();
    push_escaped(&mut label, text, cut);
    Some(Cow::Owned(label.into_bytes()))
}

fn is_printable(byte: u8) -> bool {
    byte.is_ascii_graphic() || byte == b' '
}

fn push_escaped(label: &mut String, bytes: &[u8], mut cut: bool) {
    let mut room = LABEL_MAX;
    for (at, &byte) in bytes.iter().enumerate() {
        let width = if is_printable(byte) { 1 } else { 4 };
        // Keeps room for the ellipsis, except at the last byte.
        let needed = width + usize::from(cut || at + 1 < bytes.len());
        if needed > room {
            cut = true;
            break;
        }
        room -= width;
        if width == 1 {
            label.push(char::from(byte));
        } else {
            label.push_str(&format!("\\x{byte:02x}"));
        }
    }
    if cut {
        label.push('…');
    }
}

/// The first line without its line end, and the bytes after it; `None` without a line end.
fn split_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = end_of_line(bytes)?;
    let (line, rest) = bytes.split_at_checked(end)?;
    Some((line.strip_suffix(b"\r").unwrap_or(line), rest.get(1..)?))
}

/// Offset of the end of the first line; tests sixteen bytes at a time.
fn end_of_line(bytes: &[u8]) -> Option<usize> {
    let (chunks, _) = bytes.as_chunks::<16>();
    let has_end = |chunk: &[u8; 16]| chunk.iter().fold(false, |any, &byte| any | (byte == b'\n'));
    let before = 16 * chunks.iter().take_while(|chunk| !has_end(chunk)).count();
    Some(before + bytes.get(before..)?.iter().position(|&byte| byte == b'\n')?)
}

/// Name and value of a field line.
fn split_field(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = line.iter().position(|&byte| byte == b':')?;
    let (name, value) = line.split_at_checked(colon)?;
    Some((name, value.get(1..)?.trim_ascii()))
}

/// A host without its `:port`; an IPv6 address keeps its brackets.
pub(super) fn without_port(host: &[u8]) -> &[u8] {
    match host.iter().rposition(|&byte| byte == b':') {
        Some(colon) => match host.split_at(colon) {
            (name, [_, port @ ..])
                if port.iter().all(u8::is_ascii_digit) && (name.ends_with(b"]") || !name.contains(&b':')) =>
            {
                name
            }
            _ => host,
        },
        None => host,
    }
}
