//! Heads of HTTP/1 messages (RFC 9112): the start line, and the three fields that matter here.

use super::is_name;

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

/// What bytes are, taken as a head.
pub(super) enum Parsed {
    /// Something else.
    No,
    /// The bytes that follow decide.
    More,
    /// A head.
    Head(Head),
}

/// A head.
pub(super) struct Head {
    /// `GET /path` or `200 OK`.
    pub label: String,
    /// The Host field without the port, if it was captured to its end and can be printed.
    pub host: Option<String>,
    /// Where the next head of this direction starts, in bytes from the start of this one, if the message's length tells.
    pub next: Option<u64>,
}

/// Whether a head can start with this byte.
#[inline(always)]
pub(super) const fn may_open(first: u8) -> bool {
    first.is_ascii_uppercase()
}

/// Reads a head from its first byte on. Where no `message` is known to start, a request line must have been captured
/// to its end. `more` is whether more bytes may follow those captured; without, what is there is read.
pub(super) fn parse(bytes: &[u8], message: bool, more: bool) -> Parsed {
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
                return Parsed::Head(Head { label, host: fields.host, next });
            }
            Some((field, following)) => {
                fields.read(field);
                rest = Some(following);
            }
            None if more => return Parsed::More,
            None => {
                // A name that ends in a port was captured to its end even if the line was not.
                if let Some((name, value)) = rest.and_then(split_field)
                    && name.eq_ignore_ascii_case(b"host")
                    && without_port(value).len() < value.len()
                {
                    fields.read_host(value);
                }
                return Parsed::Head(Head { label, host: fields.host, next: None });
            }
        }
    }
}

/// The fields that tell who is spoken to and how long the body is.
#[derive(Default)]
struct Fields {
    host: Option<String>,
    length: Option<u64>,
    /// The body's length is told in another way, or not at all.
    untold: bool,
}

impl Fields {
    fn read(&mut self, line: &[u8]) {
        let Some((name, value)) = split_field(line) else { return };
        if name.eq_ignore_ascii_case(b"host") {
            self.read_host(value);
        } else if name.eq_ignore_ascii_case(b"content-length") {
            self.length = std::str::from_utf8(value).ok().and_then(|value| value.parse().ok());
            self.untold |= self.length.is_none();
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") || name.eq_ignore_ascii_case(b"upgrade") {
            self.untold = true;
        }
    }

    fn read_host(&mut self, value: &[u8]) {
        let name = without_port(value);
        if self.host.is_none() && is_name(name) {
            self.host = Some(String::from_utf8_lossy(name).into_owned());
        }
    }

    /// Bytes of the body (RFC 9112 section 6.3), if that can be told. The answer to HEAD, which has none whatever it says,
    /// is not told from others: the turn that follows puts it right.
    fn body(&self, line: &[u8], method: Option<&[u8]>) -> Option<u64> {
        let code = if method.is_none() { line.get(9..12) } else { None };
        match code {
            _ if self.untold || method == Some(b"CONNECT ") || code == Some(b"101") => None,
            Some([b'1', ..] | b"204" | b"304") => Some(0),
            Some(_) => self.length,
            None => Some(self.length.unwrap_or(0)),
        }
    }
}

/// The label of a request line; none when it is no such line.
fn request_label(line: &[u8], method: &[u8], whole: bool, message: bool) -> Option<String> {
    let rest = line.get(method.len()..)?;
    let (target, cut) = if whole {
        let (target, version) = rest.split_last_chunk::<9>()?;
        if !matches!(version, [b' ', b'H', b'T', b'T', b'P', b'/', b'1', b'.', b'0'..=b'9']) {
            return None;
        }
        (target, false)
    } else {
        let target = rest.split(|&byte| byte == b' ').next()?;
        let plausible = matches!(target, [b'/' | b'*', ..]) || target.starts_with(b"http") || method == b"CONNECT ";
        if !message || !plausible {
            return None;
        }
        (target, target.len() == rest.len())
    };
    if target.is_empty() {
        return None;
    }
    let mut label = String::from_utf8_lossy(method).into_owned();
    push_printable(&mut label, target, cut);
    Some(label)
}

/// The label of a status line; none when it is no such line.
fn status_label(line: &[u8], whole: bool) -> Option<String> {
    let (code, reason) = match line.get(VERSION.len()..)? {
        [b'0'..=b'9', b' ', code @ ..] => code.split_first_chunk::<3>()?,
        _ => return None,
    };
    if !code.iter().all(u8::is_ascii_digit) || !matches!(reason, [] | [b' ', ..]) {
        return None;
    }
    let mut label = String::from_utf8_lossy(code).into_owned();
    if let Some(reason) = reason.get(1..).filter(|reason| !reason.is_empty()) {
        label.push(' ');
        push_printable(&mut label, reason, !whole);
    }
    Some(label)
}

/// Adds `bytes` with all but printable ASCII escaped, at most [`LABEL_MAX`] characters; a `…` tells that they were `cut`,
/// here or before.
fn push_printable(label: &mut String, bytes: &[u8], mut cut: bool) {
    let is_printable = |byte: u8| byte.is_ascii_graphic() || byte == b' ';
    if let Ok(text) = std::str::from_utf8(bytes)
        && !cut
        && bytes.len() <= LABEL_MAX
        && bytes.iter().all(|&byte| is_printable(byte))
    {
        label.push_str(text);
        return;
    }
    let mut room = LABEL_MAX;
    for (at, &byte) in bytes.iter().enumerate() {
        let width = if is_printable(byte) { 1 } else { 4 };
        // The last character's place is kept for the ellipsis, unless this is the last byte.
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

/// The first line without its end, and what follows; none when its end is not there.
fn split_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|&byte| byte == b'\n')?;
    let (line, rest) = bytes.split_at_checked(end)?;
    Some((line.strip_suffix(b"\r").unwrap_or(line), rest.get(1..)?))
}

/// Name and value of a field line.
fn split_field(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = line.iter().position(|&byte| byte == b':')?;
    let (name, value) = line.split_at_checked(colon)?;
    Some((name, value.get(1..)?.trim_ascii()))
}

/// A host without the `:port` behind it; an IPv6 address in brackets keeps them.
fn without_port(host: &[u8]) -> &[u8] {
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
