//! Files with what belongs to an object: written aside, then put in place in one step.

use super::attribute;
use crate::pool::Body;
use crate::store::{Conditions, ErrorKind, ObjectInfo, PutOptions, Repeat, StoreError};
use http_body_util::BodyExt;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind as Io, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A folder that is removed while a file is put into it is made again.
const ATTEMPTS: u32 = 10;

/// Attributes that a file system does not keep.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct About {
    pub tag: String,
    pub content_type: Option<String>,
    pub metadata: BTreeMap<String, String>,
}

impl About {
    pub(super) fn new(options: &PutOptions) -> Self {
        let tag = format!("\"{:032x}\"", fastrand::u128(..));
        Self { tag, content_type: options.content_type.clone(), metadata: options.metadata.clone() }
    }
}

/// Until a descriptor may be free again.
const SOON: Duration = Duration::from_millis(100);

/// An error of the file system, as a store has it.
pub(super) fn failed(path: &Path, error: &io::Error) -> StoreError {
    let kind = match error.kind() {
        Io::NotFound | Io::NotADirectory | Io::IsADirectory => ErrorKind::NoSuchKey,
        Io::PermissionDenied | Io::ReadOnlyFilesystem => ErrorKind::Denied,
        Io::AlreadyExists => ErrorKind::Precondition,
        Io::DirectoryNotEmpty => ErrorKind::BucketNotEmpty,
        Io::StorageFull | Io::QuotaExceeded => ErrorKind::Full,
        Io::FileTooLarge => ErrorKind::TooLarge,
        _ if has_no_descriptors(error) => ErrorKind::Busy,
        _ => ErrorKind::Server,
    };
    let repeat = if kind == ErrorKind::Busy { Repeat::After(SOON) } else { Repeat::No };
    StoreError { repeat, ..StoreError::new(kind, error.to_string()) }.at(path)
}

/// EMFILE and ENFILE, which have no name in `std`.
fn has_no_descriptors(error: &io::Error) -> bool {
    cfg!(unix) && matches!(error.raw_os_error(), Some(23 | 24))
}

/// How a file is put in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placing {
    /// Replaces the file; folders are made.
    Over,
    /// Only where nothing is; folders are made.
    New,
    /// Replaces the file, in a folder that must be there.
    Within,
}

/// A file that is being written; it goes when it is not put in place.
pub(super) struct Draft {
    pub file: File,
    path: PathBuf,
}

impl Drop for Draft {
    fn drop(&mut self) {
        // It is not there any more when it was put in place.
        let _ = fs::remove_file(&self.path);
    }
}

impl Draft {
    pub(super) fn new(folder: &Path) -> Result<Self, StoreError> {
        let path = folder.join(format!("{:032x}", fastrand::u128(..)));
        let file = File::create_new(&path).map_err(|error| failed(&path, &error))?;
        Ok(Self { file, path })
    }

    /// Writes a body as it comes.
    pub(super) async fn write(&mut self, body: &Body) -> Result<u64, StoreError> {
        let mut bytes = body.begin();
        let mut file = self.file.try_clone().map_err(|error| failed(&self.path, &error))?;
        let mut size = 0;
        while let Some(frame) = bytes.frame().await {
            let frame = frame.map_err(|error| StoreError::new(ErrorKind::Body(error), ""))?;
            let Ok(chunk) = frame.into_data() else { continue };
            size += chunk.len() as u64;
            let written = blocking(move || file.write_all(&chunk).map(|()| file)).await?;
            file = written.map_err(|error| failed(&self.path, &error))?;
        }
        Ok(size)
    }

    /// Makes it durable, and moves it into place in one step.
    pub(super) fn place(self, about: &About, to: &Path, placing: Placing) -> Result<(), StoreError> {
        let here = |error| failed(&self.path, &error);
        let text = serde_json::to_vec(about).map_err(|error| StoreError::new(ErrorKind::Invalid, error.to_string()))?;
        attribute::set(&self.file, &self.path, &text).map_err(here)?;
        self.file.sync_all().map_err(here)?;
        let folder = to.parent().unwrap_or(to);
        let mut attempt = 1;
        loop {
            if placing != Placing::Within {
                fs::create_dir_all(folder).map_err(|error| in_the_way(to, &error))?;
            }
            let is_new = placing == Placing::New;
            let placed = if is_new { fs::hard_link(&self.path, to) } else { fs::rename(&self.path, to) };
            match placed {
                Ok(()) => break,
                Err(error) if error.kind() == Io::NotFound && placing != Placing::Within && attempt < ATTEMPTS => {
                    attempt += 1;
                }
                Err(error) if error.kind() == Io::IsADirectory => return Err(in_the_way(to, &error)),
                Err(error) => return Err(failed(to, &error)),
            }
        }
        sync(folder).map_err(|error| failed(folder, &error))
    }
}

/// Makes the list of a folder's files durable.
#[cfg(unix)]
fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// NTFS has a journal of that, and nothing that could be asked for.
#[cfg(not(unix))]
fn sync(_: &Path) -> io::Result<()> {
    Ok(())
}

/// `a` and `a/b` cannot both be files.
fn in_the_way(path: &Path, error: &io::Error) -> StoreError {
    if matches!(error.kind(), Io::NotADirectory | Io::AlreadyExists | Io::IsADirectory) {
        let why = "a key of the same name is a file where this one needs a folder, or the other way round";
        return StoreError::new(ErrorKind::Invalid, why).at(path);
    }
    failed(path, error)
}

const NO_ATTRIBUTE: &str = "the file was not stored by the gateway, or was copied without its extended attribute \
                            (cp -a and rsync -X keep it)";

/// The attributes of an open file.
pub(super) fn about(file: &File, path: &Path) -> Result<About, StoreError> {
    let value = attribute::get(file, path).map_err(|error| failed(path, &error))?;
    let wrong = |why: &str| StoreError::new(ErrorKind::Foreign, why).at(path);
    let value = value.ok_or_else(|| wrong(NO_ATTRIBUTE))?;
    serde_json::from_slice(&value).map_err(|_| wrong("its extended attribute cannot be read"))
}

/// Opens an object.
pub(super) fn open(path: &Path, key: &str) -> Result<(File, ObjectInfo), StoreError> {
    let here = |error| failed(path, &error);
    let file = File::open(path).map_err(here)?;
    let metadata = file.metadata().map_err(here)?;
    if !metadata.is_file() {
        return Err(StoreError::new(ErrorKind::NoSuchKey, "").at(path));
    }
    let About { tag, content_type, metadata: own } = about(&file, path)?;
    let modified = metadata.modified().map_err(here)?;
    let info = ObjectInfo { key: key.to_owned(), size: metadata.len(), tag, modified, content_type, metadata: own };
    Ok((file, info))
}

/// Checks the conditions of a request (RFC 9110 section 13.2.2). `found` is the present object.
pub(super) fn check(conditions: &Conditions, found: Option<&ObjectInfo>) -> Result<(), StoreError> {
    let fails = |kind| Err(StoreError::new(kind, ""));
    let names = |tags: &str, info: &ObjectInfo| {
        tags.trim() == "*" || tags.split(',').any(|tag| tag.trim().trim_matches('"') == info.tag.trim_matches('"'))
    };
    // HTTP's dates have whole seconds.
    let is_later = |info: &ObjectInfo, than: SystemTime| {
        info.modified.duration_since(than).is_ok_and(|by| by >= Duration::from_secs(1))
    };
    if let Some(tags) = &conditions.if_match {
        match found {
            None => return fails(if tags.trim() == "*" { ErrorKind::Precondition } else { ErrorKind::NoSuchKey }),
            Some(info) if !names(tags, info) => return fails(ErrorKind::Precondition),
            Some(_) => {}
        }
    } else if let (Some(than), Some(info)) = (conditions.if_unmodified_since, found)
        && is_later(info, than)
    {
        return fails(ErrorKind::Precondition);
    }
    if let Some(tags) = &conditions.if_none_match {
        if found.is_some_and(|info| names(tags, info)) {
            return fails(ErrorKind::NotModified);
        }
    } else if let (Some(than), Some(info)) = (conditions.if_modified_since, found)
        && !is_later(info, than)
    {
        return fails(ErrorKind::NotModified);
    }
    Ok(())
}

/// Runs work that may wait for a disk.
pub(super) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, StoreError> {
    let ended = tokio::task::spawn_blocking(work).await;
    ended.map_err(|error| StoreError::new(ErrorKind::Server, error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn full_disk_and_missing_descriptors_are_named() {
        let of = |number| failed(Path::new("/srv/x"), &io::Error::from_raw_os_error(number));
        // ENOSPC and EDQUOT; EMFILE and ENFILE.
        for (number, kind) in
            [(28, ErrorKind::Full), (122, ErrorKind::Full), (24, ErrorKind::Busy), (23, ErrorKind::Busy)]
        {
            let error = of(number);
            assert_eq!((&error.kind, error.place.as_deref()), (&kind, Some("/srv/x")), "{error}");
            assert!(!error.public().contains("/srv"), "{error}");
        }
        assert_eq!(of(24).repeat, Repeat::After(SOON));
    }
}
