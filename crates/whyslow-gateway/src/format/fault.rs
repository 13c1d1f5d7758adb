//! [`Fault`]: what is wrong with a stored object, and where.

use super::slice::SliceHead;
use crate::keys::EpochId;

/// A stored object that was not sealed like this. No byte behind the fault is handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at byte {at} of the stored object: {problem}")]
pub struct Fault {
    /// Where in the stored object the slice or chunk begins that shows it.
    pub at: u64,
    /// What it is.
    pub problem: Problem,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// There is no header of this format.
    #[error("no slice begins here")]
    NotASlice,
    /// It is sealed to an epoch that is not at hand.
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
    /// The header is whole, and not by a gateway.
    #[error("its header was made without the epoch's secret")]
    Forged,
    /// It is whole, and belongs elsewhere.
    #[error("a slice is there that belongs elsewhere: it is {found}, and this is the place of {expected}")]
    Misplaced {
        /// What belongs there.
        expected: SliceHead,
        /// What is there.
        found: SliceHead,
    },
    /// It is this part, but not the one that the object was completed with.
    #[error("this version of part {0} is not the one that the object was completed with")]
    OtherVersion(u32),
    /// A chunk was changed, moved or cut.
    #[error("the chunk was changed, moved or cut")]
    Chunk,
    /// Bytes are missing.
    #[error("the object ends too early")]
    Truncated,
    /// There are more bytes than were asked for.
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
