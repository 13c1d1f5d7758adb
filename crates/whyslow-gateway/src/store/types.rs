//! Arguments and results of a store.

use crate::pool::{ByteStream, Transfer, Transfers};
use std::collections::BTreeMap;
use std::fmt;
use std::time::SystemTime;

/// A bucket and a key in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectName {
    /// The bucket.
    pub bucket: String,
    /// The key: up to 1,024 bytes of UTF-8.
    pub key: String,
}

impl ObjectName {
    /// Puts the two together.
    pub fn new(bucket: impl Into<String>, key: impl Into<String>) -> Self {
        Self { bucket: bucket.into(), key: key.into() }
    }
}

impl fmt::Display for ObjectName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.bucket, self.key)
    }
}

/// An entity tag as the store gave it, with its quotes if it has any.
pub type EntityTag = String;

/// The attributes that are stored with an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PutOptions {
    /// Content-Type.
    pub content_type: Option<String>,
    /// User metadata: names in lower case, without `x-amz-meta-`.
    pub metadata: BTreeMap<String, String>,
    /// Conditions on the existing object.
    pub conditions: Conditions,
}

/// Conditional requests (RFC 9110 section 13). None of them set: always.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Conditions {
    /// One of these tags, or `*`: any.
    pub if_match: Option<String>,
    /// The object has none of these tags; with `*` it does not exist.
    pub if_none_match: Option<String>,
    /// Changed since.
    pub if_modified_since: Option<SystemTime>,
    /// Not changed since.
    pub if_unmodified_since: Option<SystemTime>,
}

/// Bytes of an object (RFC 9110 section 14.1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Range {
    /// From the first to the last one, both included.
    FromTo(u64, u64),
    /// From this one to the end.
    From(u64),
    /// This many bytes at the end.
    Last(u64),
}

impl Range {
    /// The first byte and the one behind the last, of `size` bytes; `None` if it holds no byte.
    pub fn of(self, size: u64) -> Option<(u64, u64)> {
        let (first, end) = match self {
            Self::FromTo(first, last) => (first, last.saturating_add(1).min(size)),
            Self::From(first) => (first, size),
            Self::Last(count) => (size.saturating_sub(count), size),
        };
        (first < end).then_some((first, end))
    }

    /// As the Range field has it.
    pub fn field(self) -> String {
        match self {
            Self::FromTo(first, last) => format!("bytes={first}-{last}"),
            Self::From(first) => format!("bytes={first}-"),
            Self::Last(count) => format!("bytes=-{count}"),
        }
    }
}

/// How an object is read.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The result of each request is added here.
    pub transfers: Transfers,
}

/// The known properties of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectInfo {
    /// The key.
    pub key: String,
    /// Bytes.
    pub size: u64,
    /// Changes with the object.
    pub tag: EntityTag,
    /// When it was stored.
    pub modified: SystemTime,
    /// Content-Type; absent in lists.
    pub content_type: Option<String>,
    /// User metadata; absent in lists.
    pub metadata: BTreeMap<String, String>,
}

/// An object that was stored.
#[derive(Clone, Debug, Default)]
pub struct Stored {
    /// Its tag.
    pub tag: EntityTag,
    /// How the bytes went, where they went over the network.
    pub transfer: Option<Transfer>,
}

/// An object that is being read.
pub struct Download {
    /// The object; its size is that of all of it.
    pub info: ObjectInfo,
    /// The first byte that comes, and the one behind the last.
    pub range: (u64, u64),
    /// The bytes. A stream that ends early ends with an error.
    pub body: ByteStream,
}

impl fmt::Debug for Download {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Download").field("info", &self.info).field("range", &self.range).finish_non_exhaustive()
    }
}

/// The list to return.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListQuery {
    /// Keys that begin with this.
    pub prefix: String,
    /// Keys that have this behind the prefix are summed up as one common prefix.
    pub delimiter: Option<String>,
    /// Keys behind this one.
    pub start_after: Option<String>,
    /// The end of the page before: [`Listing::next`].
    pub continuation: Option<String>,
    /// Maximum number of objects and common prefixes on the page; 0 is the store's own choice,
    /// usually 1,000.
    pub max: u32,
}

/// A page of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Objects, by key.
    pub objects: Vec<ObjectInfo>,
    /// Common prefixes, in order.
    pub prefixes: Vec<String>,
    /// Where the next page begins; `None` at the end.
    pub next: Option<String>,
}

/// An upload in parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    /// The new name.
    pub object: ObjectName,
    /// The store's name for it.
    pub id: String,
}

/// A part that is stored.
#[derive(Clone, Debug)]
pub struct Part {
    /// 1–10,000.
    pub number: u32,
    /// Its tag.
    pub tag: EntityTag,
    /// Bytes.
    pub size: u64,
    /// How they went, when they went just now.
    pub transfer: Option<Transfer>,
}

/// An upload under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadInfo {
    /// Which one.
    pub upload: Upload,
    /// Since when.
    pub begun: SystemTime,
}

/// A page of uploads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UploadListing {
    /// By key.
    pub uploads: Vec<UploadInfo>,
    /// Whether there are more behind the last one.
    pub has_more: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_cut_to_the_object() {
        assert_eq!(Range::FromTo(2, 4).of(10), Some((2, 5)));
        assert_eq!(Range::FromTo(2, u64::MAX).of(10), Some((2, 10)));
        assert_eq!(Range::From(10).of(10), None);
        assert_eq!(Range::Last(4).of(10), Some((6, 10)));
        assert_eq!(Range::Last(40).of(10), Some((0, 10)));
        assert_eq!(Range::Last(0).of(10), None);
        assert_eq!(Range::Last(4).field(), "bytes=-4");
    }
}
