//! [`AccessKey`] and [`Grant`]: a client's rights on objects.

use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, PoisonError, RwLock};
use zeroize::Zeroizing;

/// A right on objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    /// Their bytes and attributes are read.
    Read,
    /// They are stored, copied to, and deleted.
    Write,
    /// Their names are listed.
    List,
}

impl Right {
    const ALL: [(&'static str, Self); 3] = [("read", Self::Read), ("write", Self::Write), ("list", Self::List)];

    fn of(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(name, _)| *name == word).map(|(_, right)| *right)
    }
}

/// Rights on the keys of a bucket that begin with a prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The rights.
    pub rights: Vec<Right>,
    /// `None` for every bucket.
    pub bucket: Option<String>,
    /// Prefix of the keys; empty: all of them.
    pub prefix: String,
}

impl FromStr for Grant {
    type Err = &'static str;

    /// `read,list:BUCKET/PREFIX`; without a bucket it is for all buckets.
    fn from_str(text: &str) -> Result<Self, &'static str> {
        let (words, place) = text.split_once(':').map_or((text, None), |(words, place)| (words, Some(place)));
        let rights: Option<Vec<_>> = words.split(',').map(|word| Right::of(word.trim())).collect();
        let rights = rights.ok_or("rights are read, write and list, with commas between them")?;
        let (bucket, prefix) = place.map_or((None, ""), |place| {
            let (bucket, prefix) = place.split_once('/').unwrap_or((place, ""));
            (Some(bucket.to_owned()), prefix)
        });
        if bucket.as_ref().is_some_and(String::is_empty) {
            return Err("a bucket's name follows the colon, as read:photos/public/");
        }
        Ok(Self { rights, bucket, prefix: prefix.to_owned() })
    }
}

impl Grant {
    fn is_for(&self, bucket: &str) -> bool {
        self.bucket.as_ref().is_none_or(|own| own == bucket)
    }
}

/// A client's name and secret.
#[derive(Clone)]
pub struct AccessKey {
    /// The name, which is not secret.
    pub id: String,
    /// The secret.
    pub secret: Zeroizing<String>,
    /// Its rights; empty for all rights.
    pub grants: Vec<Grant>,
}

impl AccessKey {
    /// A key with all rights.
    pub fn new(id: impl Into<String>, secret: impl Into<String>) -> Self {
        Self { id: id.into(), secret: Zeroizing::new(secret.into()), grants: Vec::new() }
    }
}

/// Access keys, which may be replaced while requests are served. Clones share them.
#[derive(Clone, Debug)]
pub struct AccessKeys(Arc<RwLock<Arc<[AccessKey]>>>);

impl From<Vec<AccessKey>> for AccessKeys {
    fn from(keys: Vec<AccessKey>) -> Self {
        Self(Arc::new(RwLock::new(keys.into())))
    }
}

impl AccessKeys {
    /// The current keys.
    pub fn current(&self) -> Arc<[AccessKey]> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces them for requests whose header was not read yet.
    pub fn replace(&self, other: &Self) {
        let keys = other.current();
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = keys;
    }
}

/// Without the secret.
impl fmt::Debug for AccessKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessKey").field("id", &self.id).finish_non_exhaustive()
    }
}

/// The right that an operation needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// This right on the key.
    On(Right),
    /// This right on the whole bucket.
    OnBucket(Right),
    /// Any right in the bucket.
    Any,
    /// To list all buckets.
    Buckets,
    /// The keys are in the request's document, or the prefix is in its query: they are checked
    /// later.
    Each,
}

/// The right for an operation of this name. An unknown operation needs all rights.
pub(super) fn need(operation: &str) -> Need {
    match operation {
        "GetObject" | "HeadObject" | "GetObjectTagging" | "GetObjectAcl" | "GetObjectAttributes" => {
            Need::On(Right::Read)
        }
        "PutObject"
        | "DeleteObject"
        | "CopyObject"
        | "CreateMultipartUpload"
        | "UploadPart"
        | "UploadPartCopy"
        | "CompleteMultipartUpload"
        | "AbortMultipartUpload"
        | "ListParts"
        | "PutObjectTagging"
        | "DeleteObjectTagging"
        | "PutObjectAcl" => Need::On(Right::Write),
        "DeleteObjects" | "ListObjects" | "ListObjectsV2" | "ListObjectVersions" | "ListMultipartUploads" => Need::Each,
        "ListBuckets" => Need::Buckets,
        "HeadBucket" => Need::Any,
        other if other.starts_with("GetBucket") || other == "GetPublicAccessBlock" => Need::Any,
        "GetObjectLockConfiguration" => Need::Any,
        _ => Need::OnBucket(Right::Write),
    }
}

impl AccessKey {
    /// Whether it has a right on a key, or on all keys with this prefix. A key without grants has
    /// all rights.
    pub(super) fn may(&self, right: Right, bucket: &str, key: &str) -> bool {
        let allows =
            |grant: &Grant| grant.rights.contains(&right) && grant.is_for(bucket) && key.starts_with(&grant.prefix);
        self.grants.is_empty() || self.grants.iter().any(allows)
    }

    /// Whether it has any right in a bucket.
    pub(super) fn may_use(&self, bucket: &str) -> bool {
        self.grants.is_empty() || self.grants.iter().any(|grant| grant.is_for(bucket))
    }

    pub(super) fn may_list_buckets(&self) -> bool {
        let allows = |grant: &Grant| grant.rights.contains(&Right::List) && grant.bucket.is_none();
        self.grants.is_empty() || self.grants.iter().any(allows)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn key(grants: &[&str]) -> AccessKey {
        let grants = grants.iter().map(|text| text.parse().unwrap()).collect();
        AccessKey { grants, ..AccessKey::new("web", "secret") }
    }

    #[test]
    fn grants_are_written_with_a_bucket_and_a_prefix() {
        let all = Grant { rights: vec![Right::Read, Right::List], bucket: None, prefix: String::new() };
        assert_eq!("read,list".parse(), Ok(all.clone()));
        let bucket = Some("photos".to_owned());
        assert_eq!("read, list:photos".parse(), Ok(Grant { bucket: bucket.clone(), ..all.clone() }));
        assert_eq!("read,list:photos/a/b".parse(), Ok(Grant { bucket, prefix: "a/b".to_owned(), ..all }));
        for wrong in ["", "delete", "read:", "read:/a", "read,"] {
            assert!(wrong.parse::<Grant>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn key_may_do_what_a_grant_allows() {
        let web = key(&["read:photos/public/", "list:photos/public/", "write:uploads"]);
        assert!(web.may(Right::Read, "photos", "public/a") && web.may(Right::Write, "uploads", "x"));
        assert!(web.may(Right::List, "photos", "public/") && !web.may(Right::List, "photos", ""));
        assert!(!web.may(Right::Read, "photos", "private/a") && !web.may(Right::Write, "photos", "public/a"));
        assert!(!web.may(Right::Read, "uploads", "x") && !web.may(Right::Read, "other", "public/a"));
        assert!(web.may_use("photos") && !web.may_use("other") && !web.may_list_buckets());
        assert!(key(&["list"]).may_list_buckets());
        let everything = key(&[]);
        assert!(everything.may(Right::Write, "any", "") && everything.may_list_buckets());
    }

    #[test]
    fn unknown_operation_needs_the_whole_bucket() {
        assert_eq!(need("CreateBucket"), Need::OnBucket(Right::Write));
        assert_eq!(need("PutBucketPolicy"), Need::OnBucket(Right::Write));
        assert_eq!(need("Other"), Need::OnBucket(Right::Write));
        assert_eq!(need("GetBucketLocation"), Need::Any);
    }
}
