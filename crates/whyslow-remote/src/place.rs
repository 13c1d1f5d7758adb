//! [`Place`]: what is asked of a place where an object's bytes lie.

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::stream::BoxStream;
use std::fmt::Debug;
use std::io;

/// The bytes of an object as they come.
pub(crate) type Pieces = BoxStream<'static, Result<Bytes, Failure>>;

/// A place where one object's bytes lie.
#[async_trait]
pub(crate) trait Place: Debug + Send + Sync {
    /// What there is, without its bytes. With a version it must be that one.
    async fn look(&self, version: Option<&Version>) -> Result<Facts, Failure>;

    /// The bytes from this offset to the end. With a version they must be of that one.
    async fn get(&self, from: u64, version: Option<&Version>) -> Result<(Facts, Pieces), Failure>;
}

/// The known properties of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Its size in bytes, if known.
    pub(crate) size: Option<u64>,
    pub(crate) version: Version,
}

/// Identifies one state of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Version {
    /// The ETag, with its quotation marks.
    pub(crate) tag: Option<String>,
    /// When it was changed last, as the place writes it.
    pub(crate) modified: Option<String>,
}

impl Version {
    /// The ETag, where it holds for each byte (RFC 9110 section 8.8.1).
    pub(crate) fn strong_tag(&self) -> Option<&str> {
        self.tag.as_deref().filter(|tag| !tag.starts_with("W/"))
    }

    /// Whether another state can be recognised.
    pub(crate) fn is_known(&self) -> bool {
        self.tag.is_some() || self.modified.is_some()
    }

    /// Whether both may be one state: what only one of them knows does not count.
    pub(crate) fn agrees(&self, other: &Self) -> bool {
        match (&self.tag, &other.tag) {
            (Some(a), Some(b)) => a == b,
            _ => self.modified.is_none() || other.modified.is_none() || self.modified == other.modified,
        }
    }
}

/// Why bytes did not come.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The connection or the server failed: asking again may help.
    Broken(String),
    /// The object is another one than it was.
    Changed,
    /// Asking again does not help.
    Refused(io::ErrorKind, String),
}

impl From<Failure> for io::Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Broken(why) => Self::other(why),
            Failure::Changed => Self::other(
                "the object was replaced since it was first looked at, and its parts do not belong together; \
                 read it again when nobody writes to it",
            ),
            Failure::Refused(kind, why) => Self::new(kind, why),
        }
    }
}
