//! [`Frames`]: the frames of one direction of HTTP/2 (RFC 9113 section 4).

use super::header_block::MAX_BLOCK;

/// Bytes of a frame's header.
const HEADER: usize = 9;
/// The client's first bytes (RFC 9113 section 3.4).
pub(super) const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Frame types (RFC 9113 section 6).
pub(super) mod kind {
    pub(in super::super) const DATA: u8 = 0;
    pub(in super::super) const HEADERS: u8 = 1;
    pub(in super::super) const RST_STREAM: u8 = 3;
    pub(in super::super) const SETTINGS: u8 = 4;
    pub(in super::super) const PUSH_PROMISE: u8 = 5;
    pub(in super::super) const PING: u8 = 6;
    pub(in super::super) const GOAWAY: u8 = 7;
    pub(in super::super) const WINDOW_UPDATE: u8 = 8;
    pub(in super::super) const CONTINUATION: u8 = 9;
}

/// A frame's header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) kind: u8,
    pub(super) flags: u8,
    pub(super) stream: u32,
    /// Length of the payload.
    pub(super) len: u32,
}

impl Frame {
    pub(super) fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// Next part of a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event<'a> {
    /// A DATA frame begins.
    DataBegins(Frame),
    /// Number of bytes of it that arrived, and of those that follow.
    Data(Frame, usize, u32),
    /// Another frame, complete.
    Whole(Frame, &'a [u8]),
    /// Another frame, too long to be buffered.
    Skipped(Frame),
}

/// Splits a plaintext stream into frames.
#[derive(Clone, Debug, Default)]
pub(super) struct Frames {
    /// Bytes of the preface that were parsed.
    preface: usize,
    has_preface: bool,
    header: [u8; HEADER],
    have: usize,
    frame: Frame,
    /// Remaining bytes of the frame.
    left: u32,
    /// Payload of a frame other than DATA.
    payload: Vec<u8>,
    in_frame: bool,
    begun: bool,
    /// Bytes of the frame's payload are missing.
    is_cut: bool,
    /// The position of the next frame is unknown.
    is_lost: bool,
}

impl Frames {
    /// Creates one for the client, which sends a preface first.
    pub(super) fn behind_preface() -> Self {
        Self { has_preface: true, ..Self::default() }
    }

    /// Whether the position of the next frame is unknown.
    pub(super) fn is_lost(&self) -> bool {
        self.is_lost
    }

    /// Number of next bytes that are only data and do not end the frame.
    pub(super) fn unread(&self) -> u64 {
        if self.is_lost {
            return u64::MAX;
        }
        let is_data = self.in_frame && self.frame.kind == kind::DATA;
        if is_data { u64::from(self.left).saturating_sub(1) } else { 0 }
    }

    /// Passes over `bytes` unreadable bytes.
    pub(super) fn pass(&mut self, bytes: u64, give: &mut dyn FnMut(Event<'_>)) {
        let Some(left) = u64::from(self.left).checked_sub(bytes).filter(|_| self.in_frame) else {
            (self.is_lost, self.payload) = (true, Vec::new());
            return;
        };
        self.left = left as u32;
        let frame = self.frame;
        if frame.kind == kind::DATA {
            if std::mem::take(&mut self.begun) {
                give(Event::DataBegins(frame));
            }
            give(Event::Data(frame, usize::try_from(bytes).unwrap_or(usize::MAX), self.left));
        } else {
            self.is_cut = true;
        }
        if left == 0 {
            self.in_frame = false;
            if frame.kind != kind::DATA {
                (self.payload, self.is_cut) = (Vec::new(), false);
                give(Event::Skipped(frame));
            }
        }
    }

    /// Whether a frame is incomplete.
    pub(super) fn is_within(&self) -> bool {
        self.in_frame || self.have > 0
    }

    /// Parses bytes and calls `give` for each event, until all bytes are consumed.
    pub(super) fn read(&mut self, mut bytes: &[u8], give: &mut dyn FnMut(Event<'_>)) {
        if self.is_lost {
            return;
        }
        while self.has_preface && self.preface < PREFACE.len() && !bytes.is_empty() {
            let taken = bytes.len().min(PREFACE.len() - self.preface);
            self.preface += taken;
            bytes = bytes.get(taken..).unwrap_or_default();
        }
        loop {
            if !self.in_frame && !self.head(&mut bytes) {
                return;
            }
            let taken = bytes.len().min(self.left as usize);
            let (body, rest) = bytes.split_at(taken);
            bytes = rest;
            self.left -= taken as u32;
            let frame = self.frame;
            if frame.kind == kind::DATA {
                if std::mem::take(&mut self.begun) {
                    give(Event::DataBegins(frame));
                }
                if !body.is_empty() || self.left == 0 {
                    give(Event::Data(frame, body.len(), self.left));
                }
            } else if frame.len as usize <= MAX_BLOCK {
                self.payload.extend_from_slice(body);
            }
            if self.left > 0 {
                return;
            }
            self.in_frame = false;
            if frame.kind != kind::DATA {
                let payload = std::mem::take(&mut self.payload);
                let is_kept = frame.len as usize <= MAX_BLOCK && !std::mem::take(&mut self.is_cut);
                give(if is_kept { Event::Whole(frame, &payload) } else { Event::Skipped(frame) });
            }
        }
    }

    /// Parses a frame header; returns whether it is complete.
    fn head(&mut self, bytes: &mut &[u8]) -> bool {
        let taken = bytes.len().min(HEADER - self.have);
        let (head, rest) = bytes.split_at(taken);
        self.header.iter_mut().skip(self.have).zip(head).for_each(|(to, from)| *to = *from);
        (self.have, *bytes) = (self.have + taken, rest);
        if self.have < HEADER {
            return false;
        }
        let [a, b, c, kind, flags, s0, s1, s2, s3] = self.header;
        let len = u32::from_be_bytes([0, a, b, c]);
        self.frame = Frame { kind, flags, stream: u32::from_be_bytes([s0 & 0x7f, s1, s2, s3]), len };
        (self.have, self.left, self.in_frame, self.begun) = (0, len, true, true);
        true
    }
}

/// The payload without padding (RFC 9113 section 6.1) and, for HEADERS, without priority.
pub(super) fn fragment(frame: Frame, payload: &[u8]) -> Option<&[u8]> {
    const PADDED: u8 = 0x8;
    const PRIORITY: u8 = 0x20;
    let mut rest = payload;
    let padding = if frame.has(PADDED) { usize::from(*rest.split_off_first()?) } else { 0 };
    let skipped = match frame.kind {
        kind::HEADERS if frame.has(PRIORITY) => 5,
        kind::PUSH_PROMISE => 4,
        _ => 0,
    };
    rest = rest.get(skipped..)?;
    rest.get(..rest.len().checked_sub(padding)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_cut_at_any_split() {
        let stream = [
            &PREFACE[..],
            &[0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0],
            &[0, 0, 5, 0, 1, 0, 0, 0, 3, 1, 2, 3, 4, 5],
            &[0, 0, 0, 0, 1, 0, 0, 0, 5],
        ]
        .concat();
        for size in 1..stream.len() {
            let mut frames = Frames::behind_preface();
            let (mut data, mut whole, mut begun) = (0, Vec::new(), Vec::new());
            for piece in stream.chunks(size) {
                frames.read(piece, &mut |event| match event {
                    Event::DataBegins(frame) => begun.push((frame.stream, frame.len)),
                    Event::Data(_, bytes, _) => data += bytes,
                    Event::Whole(frame, payload) => whole.push((frame.kind, payload.to_vec())),
                    Event::Skipped(_) => {}
                });
            }
            assert_eq!(begun, [(3, 5), (5, 0)]);
            assert_eq!(data, 5);
            assert_eq!(whole, [(kind::SETTINGS, vec![0, 4, 0, 1, 0, 0])]);
            assert!(!frames.is_within());
        }
    }

    #[test]
    fn padding_and_priority_are_cut() {
        let frame = Frame { kind: kind::HEADERS, flags: 0x28, stream: 1, len: 10 };
        assert_eq!(fragment(frame, &[2, 0, 0, 0, 0, 16, 7, 8, 0, 0]), Some(&[7, 8][..]));
        assert_eq!(fragment(frame, &[9, 0, 0, 0, 0, 16, 7, 8, 0, 0]), None);
    }
}
