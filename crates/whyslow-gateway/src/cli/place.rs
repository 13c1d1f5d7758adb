//! The place of objects, as typed.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// A store, with a bucket or without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A folder of this machine.
    Folder(PathBuf),
    /// An S3-compatible service; without a bucket all that it has.
    S3(Option<String>),
    /// A bucket of Google Cloud Storage.
    Google(String),
    /// A container of Azure Blob Storage.
    Azure(String),
}

impl FromStr for Place {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(folder) = text.strip_prefix("file:") {
            return match folder.strip_prefix("//").unwrap_or(folder) {
                "" => Err("file: names no folder".to_owned()),
                folder => Ok(Self::Folder(folder.into())),
            };
        }
        let (scheme, bucket) = text.split_once("://").ok_or(WRONG)?;
        let bucket = bucket.strip_suffix('/').unwrap_or(bucket);
        if bucket.contains(['/', '@', '?', '#']) {
            return Err(format!("`{text}`: only a bucket's name belongs behind {scheme}://"));
        }
        let named = || match bucket {
            "" => Err(format!("`{text}` names no bucket")),
            bucket => Ok(bucket.to_owned()),
        };
        match scheme {
            "s3" => Ok(Self::S3(named().ok())),
            "gs" => Ok(Self::Google(named()?)),
            "az" => Ok(Self::Azure(named()?)),
            _ => Err(WRONG.to_owned()),
        }
    }
}

const WRONG: &str = "a store is file:FOLDER, s3://BUCKET, s3:// for all buckets, gs://BUCKET or az://CONTAINER";

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => write!(f, "file:{}", folder.display()),
            Self::S3(bucket) => write!(f, "s3://{}", bucket.as_deref().unwrap_or_default()),
            Self::Google(bucket) => write!(f, "gs://{bucket}"),
            Self::Azure(container) => write!(f, "az://{container}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_and_printed() {
        for text in ["file:/srv/x", "s3://photos", "s3://", "gs://photos", "az://photos"] {
            assert_eq!(text.parse::<Place>().map(|place| place.to_string()), Ok(text.to_owned()));
        }
        assert_eq!("file:///srv/x".parse(), Ok(Place::Folder("/srv/x".into())));
        for wrong in ["", "/srv/x", "file:", "gs://", "s3://a/b", "s3://k:secret@a", "ftp://a"] {
            assert!(wrong.parse::<Place>().is_err(), "{wrong}");
        }
    }
}
