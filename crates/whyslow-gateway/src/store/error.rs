//! [`StoreError`]: what went wrong, and whether doing it again is safe.

use crate::pool::{BodyError, PoolError, Sent};
use std::fmt;
use std::path::Path;
use std::time::Duration;

/// The kind of error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// There is no such object.
    NoSuchKey,
    /// There is no such bucket.
    NoSuchBucket,
    /// There is no such upload; it was completed, aborted, or never begun.
    NoSuchUpload,
    /// A condition does not hold.
    Precondition,
    /// The object is as the asker has it (304).
    NotModified,
    /// The range holds no byte of the object.
    Range,
    /// The credentials are missing, wrong, or do not allow it.
    Denied,
    /// The store is busy, and asks to come back later.
    Busy,
    /// The store failed.
    Server,
    /// The connection could not be made, or broke; these bytes can have arrived.
    Connection(Sent),
    /// No byte moved, or no answer came; these bytes can have arrived.
    TimedOut(Sent),
    /// The bucket exists already.
    BucketExists,
    /// The bucket has objects.
    BucketNotEmpty,
    /// A part is missing, too small, or not the one that was named.
    InvalidPart,
    /// The object is larger than can be stored.
    TooLarge,
    /// The request is invalid for the store.
    Invalid,
    /// The store cannot do that.
    Unsupported,
    /// There is no room left in the store.
    Full,
    /// Something is there that this gateway cannot have stored.
    Foreign,
    /// The source of the body failed.
    Body(BodyError),
    /// The store's answer cannot be understood.
    Answer,
}

/// Whether to try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// It would fail again.
    No,
    /// Nothing was done: safe, after this time.
    After(Duration),
    /// It may have been done: safe only if twice is the same as once.
    MayBeDone(Duration),
}

/// Why a store did not do it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct StoreError {
    /// The kind of error.
    pub kind: ErrorKind,
    /// Whether to try again.
    pub repeat: Repeat,
    /// The message of the store or the kernel.
    pub message: String,
    /// A path of this machine: for logs, and never for clients.
    pub place: Option<String>,
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.public();
        match &self.place {
            None => f.write_str(&text),
            Some(place) => write!(f, "{text} ({place})"),
        }
    }
}

impl StoreError {
    /// The error, without the place.
    pub fn public(&self) -> String {
        let what = match self.kind {
            ErrorKind::NoSuchKey => "there is no such object",
            ErrorKind::NoSuchBucket => "there is no such bucket",
            ErrorKind::NoSuchUpload => "there is no such upload",
            ErrorKind::Precondition => "the object is not as the request demands",
            ErrorKind::NotModified => "the object has not changed",
            ErrorKind::Range => "the range is outside the object",
            ErrorKind::Denied => "the store refuses: look at the credentials and the bucket's policy",
            ErrorKind::Busy => "the store is busy",
            ErrorKind::Server => "the store failed",
            ErrorKind::Connection(_) => "no connection to the store",
            ErrorKind::TimedOut(_) => "the store does not answer in time",
            ErrorKind::BucketExists => "the bucket exists already",
            ErrorKind::BucketNotEmpty => "the bucket is not empty",
            ErrorKind::InvalidPart => "the parts are not those of the upload",
            ErrorKind::TooLarge => "the object is too large",
            ErrorKind::Invalid => "the store does not accept the request",
            ErrorKind::Unsupported => "the store cannot do that",
            ErrorKind::Full => "the store has no room left",
            ErrorKind::Foreign => "this was not stored by a gateway",
            ErrorKind::Body(_) => "the body ended early",
            ErrorKind::Answer => "the store's answer cannot be understood",
        };
        if self.message.is_empty() { what.to_owned() } else { format!("{what}: {}", self.message) }
    }

    /// At a path of this machine.
    #[must_use]
    pub fn at(self, place: &Path) -> Self {
        Self { place: Some(place.display().to_string()), ..self }
    }

    /// An error that a repetition would not change.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, repeat: Repeat::No, message: message.into(), place: None }
    }
}

/// A little later: what is busy now may not be then.
const SOON: Duration = Duration::from_millis(100);

impl From<PoolError> for StoreError {
    fn from(error: PoolError) -> Self {
        let sent = error.sent();
        let again = |time| if sent == Sent::All { Repeat::MayBeDone(time) } else { Repeat::After(time) };
        let (kind, repeat) = match &error {
            PoolError::Busy { retry_after, .. } => (ErrorKind::Busy, Repeat::After(*retry_after)),
            PoolError::NoConnection { .. } => (ErrorKind::Busy, Repeat::After(SOON)),
            PoolError::Endpoint(_) | PoolError::Tls { .. } => (ErrorKind::Connection(sent), Repeat::No),
            PoolError::Resolve { .. } | PoolError::Connect { .. } => {
                (ErrorKind::Connection(sent), Repeat::After(SOON * 5))
            }
            PoolError::Broken { .. } | PoolError::Cut { .. } => (ErrorKind::Connection(sent), again(SOON)),
            PoolError::Stalled { .. } | PoolError::NoAnswer { .. } => (ErrorKind::TimedOut(sent), again(SOON)),
            PoolError::Body(why) => (ErrorKind::Body(why.clone()), Repeat::No),
        };
        Self { kind, repeat, message: error.to_string(), place: None }
    }
}
