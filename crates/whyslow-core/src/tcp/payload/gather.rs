//! Collects the bytes of a stream until there are enough to parse.

use super::protocol::GATHER_MAX;

/// Value for an expected position: nothing is expected before the next message.
pub(super) const NOWHERE: u64 = u64::MAX;

/// Contiguous bytes, collected until there are enough to parse.
#[derive(Clone, Debug)]
pub(super) struct Gather {
    /// Position of the first byte.
    pub start: u64,
    /// Position after the last byte.
    pub at: u64,
    pub bytes: Vec<u8>,
    pub kind: GatherKind,
}

/// The kind of data that is collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GatherKind {
    /// A TLS handshake message, without the record headers.
    Hello,
    /// The start of unrecognised data or of an HTTP head; and whether a message must start here.
    Opening { message: bool },
}

impl Gather {
    pub fn new(start: u64, what: GatherKind) -> Box<Self> {
        Box::new(Self { start, at: start, bytes: Vec::new(), kind: what })
    }

    /// Takes as many of `bytes` as fit.
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

    /// The collected bytes as if they were one segment.
    pub fn piece(&self) -> Piece<'_> {
        Piece { start: self.start, end: self.at, bytes: &self.bytes }
    }
}

/// The payload of a segment: `bytes` from `start`, and possibly more uncaptured bytes up to `end`.
#[derive(Clone, Copy)]
pub(super) struct Piece<'a> {
    pub start: u64,
    pub end: u64,
    pub bytes: &'a [u8],
}

impl<'a> Piece<'a> {
    /// The captured bytes from position `at` on; `None` if that position was not captured.
    pub fn from(&self, at: u64) -> Option<&'a [u8]> {
        // Positions saturate: a saturated position must not match.
        if at == NOWHERE {
            return None;
        }
        let offset = usize::try_from(at.checked_sub(self.start)?).ok()?;
        self.bytes.get(offset..).filter(|rest| !rest.is_empty())
    }
}
