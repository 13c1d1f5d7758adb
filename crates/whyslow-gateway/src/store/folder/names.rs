//! Keys as paths of files, and back.
//!
//! A key's parts between `/` are names of files as they are. Names that no file can have, and the
//! gateway's own, are escaped: the empty name as `%`, `.` as `%2E`, `%` as `%25`.

use crate::store::{ErrorKind, StoreError};
use std::path::{Path, PathBuf};

/// Next to the buckets, for unfinished files.
pub(super) const OURS: &str = ".whyslow-gateway";
/// `NAME_MAX`.
const LONGEST: usize = 255;
/// Bytes of a key, as in S3.
const LONGEST_KEY: usize = 1024;

pub(super) fn file_name(part: &str) -> String {
    match part {
        "" => "%".to_owned(),
        "." => "%2E".to_owned(),
        ".." => "%2E%2E".to_owned(),
        part => part.replace('%', "%25"),
    }
}

/// The part of a key that a file's name encodes; `None` for a name that no key gives.
pub(super) fn part(name: &str) -> Option<String> {
    let part = match name {
        "%" => String::new(),
        "%2E" => ".".to_owned(),
        "%2E%2E" => "..".to_owned(),
        name => name.replace("%25", "%"),
    };
    (file_name(&part) == name).then_some(part)
}

fn refuse(what: &str, why: &str) -> StoreError {
    StoreError::new(ErrorKind::Invalid, format!("`{what}` {why}"))
}

pub(super) fn bucket(root: &Path, bucket: &str) -> Result<PathBuf, StoreError> {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    if bucket.is_empty() || bucket.len() > 63 || bucket.starts_with('.') || !bucket.bytes().all(is_name) {
        return Err(refuse(bucket, "is no name for a bucket"));
    }
    Ok(root.join(bucket))
}

pub(super) fn file(root: &Path, in_bucket: &str, key: &str) -> Result<PathBuf, StoreError> {
    if key.is_empty() || key.len() > LONGEST_KEY || key.contains('\0') {
        return Err(refuse(key, "is no key: 1 to 1,024 bytes, none of them zero"));
    }
    let mut path = bucket(root, in_bucket)?;
    for part in key.split('/') {
        let name = file_name(part);
        if name.len() > LONGEST {
            return Err(refuse(key, "has a part of more than 255 bytes, which no file can be called"));
        }
        path.push(name);
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn no_key_leaves_its_bucket() {
        let root = Path::new("/r");
        for (key, path) in [
            ("a/b.txt", "/r/b/a/b.txt"),
            ("../../etc/passwd", "/r/b/%2E%2E/%2E%2E/etc/passwd"),
            ("/a//b/", "/r/b/%/a/%/b/%"),
            ("50%", "/r/b/50%25"),
            ("...", "/r/b/..."),
        ] {
            assert_eq!(file(root, "b", key).unwrap(), Path::new(path));
            let parts: Option<Vec<_>> = path["/r/b/".len()..].split('/').map(part).collect();
            assert_eq!(parts.unwrap().join("/"), key);
        }
        for wrong in ["", "a\0", &"x".repeat(256), &"x/".repeat(600)] {
            assert!(file(root, "b", wrong).is_err());
        }
        for wrong in ["", ".", "..", OURS, "a/b", &"x".repeat(64)] {
            assert!(bucket(root, wrong).is_err(), "{wrong}");
        }
        assert_eq!(part("a%b"), None, "a file that no key gave");
    }
}
