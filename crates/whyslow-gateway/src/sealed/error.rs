//! [`SealedError`]: an error, in S3's terms if S3 has one.

use crate::age::NoRandomness;
use crate::format::{Fault, MetadataFault, NameError, PartsError, TokenFault, WriteError};
use crate::pool::BodyError;
use crate::store::{ErrorKind, Repeat, StoreError};
use std::time::Duration;

/// The kind of error.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SealedErrorKind {
    /// There is no such object.
    NoSuchKey,
    /// There is no such bucket.
    NoSuchBucket,
    /// There is no such upload, or its id belongs to another one.
    NoSuchUpload,
    /// A part is not one of this upload.
    InvalidPart,
    /// The parts do not add up to the object that the client described.
    BadDigest,
    /// The parts' numbers do not ascend.
    InvalidPartOrder,
    /// A part is too small for the storage.
    EntityTooSmall,
    /// The object would be too large.
    EntityTooLarge,
    /// A condition does not hold (412).
    PreconditionFailed,
    /// The client already has this version of the object (304).
    NotModified,
    /// The range holds no byte of the object (416).
    InvalidRange,
    /// The bucket exists already.
    BucketExists,
    /// The bucket has objects.
    BucketNotEmpty,
    /// The storage refuses the gateway's credentials.
    Forbidden,
    /// The client's bytes failed, or are too few or too many.
    Content(BodyError),
    /// The object is not as it was sealed.
    Fault(Fault),
    /// The object's metadata is not that of this name, or was changed.
    Metadata(MetadataFault),
    /// No gateway stored this object.
    NotSealed,
    /// The storage is busy; come back after this time.
    SlowDown {
        /// The time that the storage asks for.
        retry_after: Duration,
    },
    /// The storage cannot be reached, or fails.
    Unavailable,
    /// The storage has no room left.
    Full,
    /// The bucket's objects are stored with other settings than this gateway's.
    OtherSettings,
    /// The upload has parts, or the bucket has uploads, that this gateway did not store.
    NotKnown,
    /// The key is empty or too long.
    InvalidName,
    /// The request is invalid, or the storage cannot do it.
    InvalidRequest,
    /// The gateway itself failed.
    Internal,
}

/// The reason why it was not done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}{}", .place.as_ref().map_or_else(String::new, |place| format!(" ({place})")))]
pub struct SealedError {
    /// The kind of error.
    pub kind: SealedErrorKind,
    /// The error as a sentence.
    pub message: String,
    /// A path of this machine: for logs, and never for clients.
    pub place: Option<String>,
}

impl SealedError {
    /// An error of this kind with this message.
    pub fn new(kind: SealedErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), place: None }
    }

    /// Adds the key to the error.
    pub(super) fn about(self, key: &str) -> Self {
        Self { message: format!("`{}`: {}", key.escape_debug(), self.message), ..self }
    }
}

impl From<StoreError> for SealedError {
    fn from(error: StoreError) -> Self {
        let message = error.public();
        let retry_after = match error.repeat {
            Repeat::After(time) | Repeat::MayBeDone(time) => time,
            Repeat::No => Duration::ZERO,
        };
        let kind = match error.kind {
            ErrorKind::NoSuchKey => SealedErrorKind::NoSuchKey,
            ErrorKind::NoSuchBucket => SealedErrorKind::NoSuchBucket,
            ErrorKind::NoSuchUpload => SealedErrorKind::NoSuchUpload,
            ErrorKind::Precondition => SealedErrorKind::PreconditionFailed,
            ErrorKind::NotModified => SealedErrorKind::NotModified,
            ErrorKind::Range => SealedErrorKind::InvalidRange,
            ErrorKind::Denied => SealedErrorKind::Forbidden,
            ErrorKind::Busy => SealedErrorKind::SlowDown { retry_after },
            ErrorKind::Server | ErrorKind::Connection(_) | ErrorKind::TimedOut(_) | ErrorKind::Answer => {
                SealedErrorKind::Unavailable
            }
            ErrorKind::Full => SealedErrorKind::Full,
            ErrorKind::Foreign => SealedErrorKind::NotSealed,
            ErrorKind::TooLarge => SealedErrorKind::EntityTooLarge,
            ErrorKind::BucketExists => SealedErrorKind::BucketExists,
            ErrorKind::BucketNotEmpty => SealedErrorKind::BucketNotEmpty,
            ErrorKind::InvalidPart => SealedErrorKind::InvalidPart,
            ErrorKind::Invalid | ErrorKind::Unsupported => SealedErrorKind::InvalidRequest,
            ErrorKind::Body(why) => SealedErrorKind::Content(why),
        };
        Self { kind, message, place: error.place }
    }
}

impl From<Fault> for SealedError {
    fn from(fault: Fault) -> Self {
        Self::new(SealedErrorKind::Fault(fault), fault.to_string())
    }
}

impl From<MetadataFault> for SealedError {
    fn from(fault: MetadataFault) -> Self {
        let kind = match fault {
            MetadataFault::Syntax => SealedErrorKind::NotSealed,
            MetadataFault::UnknownEpoch(_) | MetadataFault::Tag => SealedErrorKind::Metadata(fault),
        };
        Self::new(kind, fault.to_string())
    }
}

impl From<NameError> for SealedError {
    fn from(error: NameError) -> Self {
        Self::new(SealedErrorKind::InvalidName, error.to_string())
    }
}

impl From<WriteError> for SealedError {
    fn from(error: WriteError) -> Self {
        let kind = match error {
            WriteError::TooLong(_) => SealedErrorKind::EntityTooLarge,
            _ => SealedErrorKind::Internal,
        };
        Self::new(kind, error.to_string())
    }
}

impl From<PartsError> for SealedError {
    fn from(error: PartsError) -> Self {
        let kind = match error {
            PartsError::Count(_) => SealedErrorKind::InvalidPart,
            PartsError::Number(_) => SealedErrorKind::InvalidPartOrder,
            PartsError::TooLong => SealedErrorKind::EntityTooLarge,
            PartsError::Write(_) => SealedErrorKind::Internal,
        };
        Self::new(kind, error.to_string())
    }
}

impl From<NoRandomness> for SealedError {
    fn from(error: NoRandomness) -> Self {
        Self::new(SealedErrorKind::Internal, error.to_string())
    }
}

/// An error of an upload's id.
impl From<TokenFault> for SealedError {
    fn from(fault: TokenFault) -> Self {
        Self::new(SealedErrorKind::NoSuchUpload, format!("the upload id: {fault}"))
    }
}
