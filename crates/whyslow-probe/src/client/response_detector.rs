//! [`ResponseDetector`]: follows HTTP to find where a request ends and its response begins.
//!
//! The answer begins with the status line (HTTP/1.1) or the HEADERS frame of our stream (HTTP/2)
//! that is final: interim answers (1xx), SETTINGS and whatever else comes first are none.

use crate::client::timed_socket::Arrival;

/// The bytes that open an HTTP/2 connection (RFC 9113 section 3.4).
const PREFACE: usize = 24;
const FRAME_HEADER: usize = 9;
/// Bytes of a header block that contain the status.
const BLOCK: usize = 16;
/// The most bytes of an answer's head, interim answers included: curl's limit is about the same.
pub(crate) const LONGEST_HEAD: usize = 256 << 10;
/// The most interim answers (1xx) before the answer itself; one each few seconds is usual.
const MOST_INTERIM: u32 = 100;
/// The most frames of HTTP/2 during a request that carry nothing of it, other than WINDOW_UPDATE.
const MOST_OTHERS: u32 = 10_000;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 0x1;
const PADDED: u8 = 0x8;
const PRIORITY: u8 = 0x20;

/// The event that it looks for.
#[derive(Debug)]
pub(crate) enum ResponseDetector {
    /// HTTP/1.1.
    One(One),
    /// HTTP/2.
    Two(Two),
}

impl ResponseDetector {
    pub(crate) fn http1() -> Self {
        Self::One(One::default())
    }

    pub(crate) fn http2() -> Self {
        Self::Two(Two { sent: Frames::after(PREFACE), ..Two::default() })
    }

    /// A request begins, with this many bytes of body.
    pub(crate) fn begin(&mut self, body: u64) {
        match self {
            Self::One(one) => *one = One { body, whole_body: body, ..One::default() },
            Self::Two(two) => {
                let stream = if two.stream == 0 { 1 } else { two.stream + 2 };
                two.begin(stream);
            }
        }
    }

    /// These bytes were written.
    pub(crate) fn wrote(&mut self, bytes: &[u8]) {
        match self {
            Self::One(one) => one.wrote(bytes),
            Self::Two(two) => two.wrote(bytes),
        }
    }

    /// These bytes were read, and came so.
    pub(crate) fn read(&mut self, bytes: &[u8], arrival: Arrival) {
        match self {
            Self::One(one) => one.read(bytes, arrival),
            Self::Two(two) => two.read(bytes, arrival),
        }
    }

    /// Whether the whole request was written.
    pub(crate) fn request_is_written(&self) -> bool {
        match self {
            Self::One(one) => one.head_is_written && one.body == 0,
            Self::Two(two) => two.is_written,
        }
    }

    /// Bytes of the request's body that were written.
    pub(crate) fn body_written(&self) -> u64 {
        match self {
            Self::One(one) => one.whole_body - one.body,
            Self::Two(two) => two.body_written,
        }
    }

    /// The kind of data that the server sends without end, if any; reading must then stop.
    pub(crate) fn excess(&self) -> Option<&'static str> {
        let (head_bytes, interim, others) = match self {
            Self::One(one) => (one.head_bytes + one.head.len() as u64, one.interim, 0),
            Self::Two(two) => (two.head_bytes, two.heads, two.others),
        };
        if interim > MOST_INTERIM {
            Some("more than 100 interim answers (1xx) and no other one")
        } else if head_bytes > LONGEST_HEAD as u64 {
            Some("the head of its answer is longer than 256 KiB")
        } else if others > MOST_OTHERS {
            Some("more than 10,000 frames of HTTP/2 that carry no answer")
        } else {
            None
        }
    }

    /// The time of the answer's beginning, if it has begun.
    pub(crate) fn answer(&self) -> Option<Arrival> {
        match self {
            Self::One(one) => one.answer,
            Self::Two(two) => two.answer,
        }
    }

    /// The head's bytes: as they came, compressed in HTTP/2.
    pub(crate) fn head_bytes(&self) -> u64 {
        match self {
            Self::One(one) => one.head_bytes,
            Self::Two(two) => two.head_bytes,
        }
    }
}

/// One request on an HTTP/1.1 connection.
#[derive(Debug, Default)]
pub(crate) struct One {
    /// Bytes of the body that are not written yet.
    body: u64,
    whole_body: u64,
    head_is_written: bool,
    /// The last bytes of the head written so far.
    written: Vec<u8>,
    /// The head so far; the bytes before `scanned` do not end it.
    head: Vec<u8>,
    scanned: usize,
    interim: u32,
    began: Option<Arrival>,
    answer: Option<Arrival>,
    head_bytes: u64,
    is_done: bool,
}

impl One {
    fn wrote(&mut self, bytes: &[u8]) {
        let mut body = bytes;
        if !self.head_is_written {
            let before = self.written.len();
            self.written.extend_from_slice(bytes);
            let Some(end) = head_end(&self.written) else { return };
            self.head_is_written = true;
            body = bytes.get(end - before..).unwrap_or_default();
        }
        self.body = self.body.saturating_sub(body.len() as u64);
    }

    fn read(&mut self, bytes: &[u8], arrival: Arrival) {
        if self.is_done || bytes.is_empty() {
            return;
        }
        self.began.get_or_insert(arrival);
        self.head.extend_from_slice(bytes);
        let mut start = 0;
        while let Some(end) = self.head.get(self.scanned..).and_then(head_end).map(|end| end + self.scanned) {
            // `HTTP/1.1 103 Early Hints`; 101 is final (RFC 9110 section 15.2.2).
            let status = self.head.get(start + 9..start + 12).unwrap_or_default();
            let is_interim = status.starts_with(b"1") && status != b"101";
            self.head_bytes += (end - start) as u64;
            if !is_interim {
                self.answer = self.began;
                self.is_done = true;
                self.head = Vec::new();
                return;
            }
            self.interim += 1;
            (start, self.scanned) = (end, end);
            self.began = (end < self.head.len()).then_some(arrival);
        }
        self.head.drain(..start);
        // The end of a head may come in two parts.
        self.scanned = self.head.len().saturating_sub(HEAD_END.len() - 1);
    }
}

const HEAD_END: &[u8] = b"\r\n\r\n";

fn head_end(head: &[u8]) -> Option<usize> {
    head.windows(HEAD_END.len()).position(|four| four == HEAD_END).map(|at| at + HEAD_END.len())
}

/// A frame's header, and as much of its payload as is wanted.
#[derive(Debug, Default)]
struct Frames {
    skip: usize,
    header: Vec<u8>,
    left: usize,
    start: Vec<u8>,
    began: Option<Arrival>,
}

/// A frame whose payload has come.
struct Frame<'a> {
    kind: u8,
    flags: u8,
    stream: u32,
    length: u64,
    start: &'a [u8],
    began: Option<Arrival>,
}

impl Frames {
    fn after(skip: usize) -> Self {
        Self { skip, ..Self::default() }
    }

    fn push(&mut self, mut bytes: &[u8], arrival: Option<Arrival>, mut each: impl FnMut(Frame<'_>)) {
        let skipped = self.skip.min(bytes.len());
        self.skip -= skipped;
        bytes = &bytes[skipped..];
        while !bytes.is_empty() || (self.header.len() == FRAME_HEADER && self.left == 0) {
            if self.header.len() < FRAME_HEADER {
                if self.header.is_empty() {
                    self.began = arrival;
                }
                let part = bytes.len().min(FRAME_HEADER - self.header.len());
                self.header.extend_from_slice(&bytes[..part]);
                bytes = &bytes[part..];
                if self.header.len() == FRAME_HEADER {
                    self.left = usize::from(self.header[0]) << 16
                        | usize::from(self.header[1]) << 8
                        | usize::from(self.header[2]);
                }
                continue;
            }
            let part = bytes.len().min(self.left);
            let wanted = part.min(BLOCK.saturating_sub(self.start.len()));
            self.start.extend_from_slice(&bytes[..wanted]);
            bytes = &bytes[part..];
            self.left -= part;
            if self.left == 0 {
                let h = &self.header;
                let length = u64::from(h[0]) << 16 | u64::from(h[1]) << 8 | u64::from(h[2]);
                let stream = u32::from_be_bytes([h[5], h[6], h[7], h[8]]) & 0x7fff_ffff;
                each(Frame { kind: h[3], flags: h[4], stream, length, start: &self.start, began: self.began });
                self.header.clear();
                self.start.clear();
            }
        }
    }
}

/// One request after the other on an HTTP/2 connection.
#[derive(Debug, Default)]
pub(crate) struct Two {
    stream: u32,
    sent: Frames,
    received: Frames,
    is_written: bool,
    answer: Option<Arrival>,
    /// The answer's status is known to be final, or its data has begun.
    is_final: bool,
    head_bytes: u64,
    /// Heads of this request's stream before the final one.
    heads: u32,
    /// Frames that carry nothing of this request.
    others: u32,
    body_written: u64,
}

impl Two {
    fn begin(&mut self, stream: u32) {
        self.stream = stream;
        self.is_written = false;
        self.answer = None;
        self.is_final = false;
        self.head_bytes = 0;
        (self.heads, self.others, self.body_written) = (0, 0, 0);
    }

    fn wrote(&mut self, bytes: &[u8]) {
        let Self { sent, stream, is_written, body_written, .. } = self;
        sent.push(bytes, None, |frame| {
            if frame.kind == DATA && frame.stream == *stream {
                *body_written += frame.length;
            }
            let ends = matches!(frame.kind, DATA | HEADERS) && frame.flags & END_STREAM != 0;
            *is_written |= ends && frame.stream == *stream;
        });
    }

    fn read(&mut self, bytes: &[u8], arrival: Arrival) {
        let Self { received, stream, answer, is_final, head_bytes, heads, others, .. } = self;
        received.push(bytes, Some(arrival), |frame| {
            if frame.stream != *stream {
                *others += u32::from(frame.kind != WINDOW_UPDATE);
                return;
            }
            match frame.kind {
                DATA => *is_final = true,
                CONTINUATION => *head_bytes += frame.length + FRAME_HEADER as u64,
                HEADERS if !*is_final => {
                    *heads += 1;
                    *head_bytes += frame.length + FRAME_HEADER as u64;
                    match status(&frame) {
                        Status::Interim => {}
                        // A later one takes its place, unless data has come before that.
                        Status::Unknown => *answer = frame.began,
                        Status::Final => {
                            *answer = frame.began;
                            *is_final = true;
                        }
                    }
                }
                _ => {}
            }
        });
    }
}

enum Status {
    Interim,
    Final,
    /// Named by an entry of the dynamic table, which is not kept here.
    Unknown,
}

/// The value of a header block's first field, which is `:status` (RFC 9113 section 8.3.2), by RFC
/// 7541: an entry of the static table, or the name's entry with the value's text.
fn status(frame: &Frame<'_>) -> Status {
    let padding = usize::from(frame.flags & PADDED != 0);
    let priority = if frame.flags & PRIORITY != 0 { 5 } else { 0 };
    let mut block = frame.start.get(padding + priority..).unwrap_or_default();
    // Updates of the dynamic table's size stand first.
    while let [0x20..=0x3f, rest @ ..] = block {
        block = rest;
    }
    match block {
        [0x88..=0x8e, ..] => Status::Final,
        // The value: Huffman's code of `1` is 00001; or as it is.
        [0x48..=0x4e | 0x08..=0x0e | 0x18..=0x1e, length, first, ..] => {
            let is_one = if length & 0x80 != 0 { first >> 3 == 0b00001 } else { *first == b'1' };
            if is_one { Status::Interim } else { Status::Final }
        }
        _ => Status::Unknown,
    }
}

#[cfg(test)]
mod tests;
