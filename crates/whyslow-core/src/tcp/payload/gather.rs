//! Bytes of a stream as they come, and those kept until they are enough to be read.

use super::protocol::GATHER_MAX;

/// In place of an awaited position: nothing is awaited before the next message.
pub(super) const NOWHERE: u64 = u64::MAX;

/// Contiguous bytes, kept until they are enough to be read.
#[derive(Clone, Debug)]
pub(super) struct Gather {
    /// Where they start.
    pub start: u64,
    /// Where they go on.
    pub at: u64,
    pub bytes: Vec<u8>,
    pub kind: GatherKind,
}

/// What is being gathered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GatherKind {
    /// A TLS handshake message, without the headers of the records that carry it.
    Hello,
    /// The start of something not yet recognised, or an HTTP head; and whether a message must start
    /// here.
    Opening { message: bool },
}

impl Gather {
    pub fn new(start: u64, what: GatherKind) -> Box<Self> {
        Box::new(Self { start, at: start, bytes: Vec::new(), kind: what })
    }

    /// Takes as much of `bytes` as there is room for.
    pub fn push(&mut self, bytes: &[u8]) {
        let room = GATHER_MAX.saturating_sub(self.bytes.len());
        let taken = bytes.get(..room).unwrap_or(bytes);
        self.bytes.extend_from_slice(taken);
        self.at = self.at.saturating_add(taken.len() as u64);
    }

    pub fn is_full(&self) -> bool {
        self.bytes.len() >= GATHER_MAX
    }

    /// Whether a message must start here.
    pub fn message(&self) -> bool {
        self.kind == GatherKind::Opening { message: true }
    }

    /// As if they had come in one segment.
    pub fn piece(&self) -> Piece<'_> {
        Piece { start: self.start, end: self.at, bytes: &self.bytes }
    }
}

/// The payload of a segment: `bytes` from `start`, and perhaps more, not captured, up to `end`.
#[derive(Clone, Copy)]
pub(super) struct Piece<'a> {
    pub start: u64,
    pub end: u64,
    pub bytes: &'a [u8],
}

impl<'a> Piece<'a> {
    /// The captured bytes from position `at` on; none when that one is not among them.
    pub fn from(&self, at: u64) -> Option<&'a [u8]> {
        // Positions saturate: none may be reached where they no longer move on.
        if at == NOWHERE {
            return None;
        }
        let offset = usize::try_from(at.checked_sub(self.start)?).ok()?;
        self.bytes.get(offset..).filter(|rest| !rest.is_empty())
    }
}
