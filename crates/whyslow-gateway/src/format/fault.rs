//! [`Fault`]: an error in a stored object, and its place.

use super::slice::SliceHead;
use crate::keys::EpochId;

/// The stored object was not sealed like this. Bytes after the fault are not handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at byte {at} of the stored object: {problem}")]
pub struct Fault {
    /// Offset in the stored object of the slice or chunk with the fault.
    pub at: u64,
    /// The kind of fault.
    pub problem: Problem,
}

/// Kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// There is no header of this format.
    #[error("no slice begins here")]
    NotASlice,
    /// It is sealed to an epoch that is not available.
    #[error("it is sealed to epoch {0}, which is not in the keyring")]
    UnknownEpoch(EpochId),
    /// It belongs to another epoch than its object.
    #[error("it is sealed to epoch {0}, and the object to another one")]
    OtherEpoch(EpochId),
    /// The epoch's identity does not open it.
    #[error("its key was changed, or sealed to another identity")]
    Key,
    /// The header was changed.
    #[error("its header was changed")]
    Header,
    /// The header is intact, but no gateway made it.
    #[error("its header was made without the epoch's secret")]
    Forged,
    /// The slice is intact, but belongs elsewhere.
    #[error("a slice is there that belongs elsewhere: it is {found}, and this is the place of {expected}")]
    Misplaced {
        /// The expected slice.
        expected: SliceHead,
        /// The actual slice.
        found: SliceHead,
    },
    /// It is another version of the part than the one in the completed object.
    #[error("this version of part {0} is not the one that the object was completed with")]
    OtherVersion(u32),
    /// A chunk was changed, moved or cut.
    #[error("the chunk was changed, moved or cut")]
    Chunk,
    /// Bytes are missing.
    #[error("the object ends too early")]
    Truncated,
    /// There are more bytes than expected.
    #[error("there are more bytes than belong there")]
    Surplus,
    /// No object has this size.
    #[error("an object of {0} B cannot be whole: no plaintext has this size")]
    Size(u64),
    /// There is no locator of a manifest.
    #[error("the end does not say where the manifest is")]
    Locator,
    /// The manifest contradicts itself or the object's size.
    #[error("the manifest does not describe this object")]
    Manifest,
}

impl Problem {
    pub(super) fn at(self, at: u64) -> Fault {
        Fault { at, problem: self }
    }
}
