//! Uploads in parts: a folder each, with a file a part.

use super::files::{self, About, Draft, Placing, blocking, failed};
use super::names;
use crate::pool::Body;
use crate::store::{ErrorKind, ObjectName, Part, StoreError, Upload, UploadInfo};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

const ABOUT: &str = "about.json";
const MOST: u32 = 10_000;

#[derive(Debug, Serialize, Deserialize)]
struct Begun {
    bucket: String,
    key: String,
    about: About,
}

/// The folder of uploads.
pub(super) fn folder(root: &Path) -> PathBuf {
    root.join(names::OURS).join("uploads")
}

fn no_such_upload(id: &str) -> StoreError {
    StoreError::new(ErrorKind::NoSuchUpload, id)
}

fn of(root: &Path, upload: &Upload) -> Result<PathBuf, StoreError> {
    if upload.id.len() != 32 || !upload.id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(no_such_upload(&upload.id));
    }
    let path = folder(root).join(&upload.id);
    let begun = read(&path).map_err(|error| match error.kind {
        ErrorKind::NoSuchKey => no_such_upload(&upload.id),
        _ => error,
    })?;
    let is_same = (&begun.bucket, &begun.key) == (&upload.object.bucket, &upload.object.key);
    if is_same { Ok(path) } else { Err(no_such_upload(&upload.id)) }
}

fn read(path: &Path) -> Result<Begun, StoreError> {
    let file = path.join(ABOUT);
    let text = fs::read(&file).map_err(|error| failed(&file, &error))?;
    serde_json::from_slice(&text).map_err(|error| StoreError::new(ErrorKind::Server, error.to_string()))
}

pub(super) fn create(root: &Path, object: &ObjectName, about: About) -> Result<Upload, StoreError> {
    let id = format!("{:032x}", fastrand::u128(..));
    let path = folder(root).join(&id);
    let begun = Begun { bucket: object.bucket.clone(), key: object.key.clone(), about };
    let text = serde_json::to_vec(&begun).map_err(|error| StoreError::new(ErrorKind::Invalid, error.to_string()))?;
    let write = || -> io::Result<()> {
        fs::create_dir(&path)?;
        // Lists find it whole or not at all.
        let draft = path.join("draft");
        fs::write(&draft, text)?;
        fs::rename(draft, path.join(ABOUT))
    };
    write().map_err(|error| failed(&path, &error))?;
    Ok(Upload { object: object.clone(), id })
}

pub(super) async fn put_part(root: &Path, upload: &Upload, number: u32, body: &Body) -> Result<Part, StoreError> {
    if !(1..=MOST).contains(&number) {
        return Err(StoreError::new(ErrorKind::Invalid, format!("part {number}: parts are numbered from 1 to {MOST}")));
    }
    let path = of(root, upload)?;
    let mut draft = Draft::new(&root.join(names::OURS).join("drafts"))?;
    let size = draft.write(body).await?;
    let about = About::new(&crate::store::PutOptions::default());
    let tag = about.tag.clone();
    let file = path.join(number.to_string());
    let placed = blocking(move || draft.place(&about, &file, Placing::Within)).await?;
    placed.map_err(|error| if error.kind == ErrorKind::NoSuchKey { no_such_upload(&upload.id) } else { error })?;
    Ok(Part { number, tag, size, transfer: None })
}

/// Puts the parts one behind the other, and gives what the object is to be.
pub(super) fn assemble(root: &Path, upload: &Upload, parts: &[Part]) -> Result<(Draft, About), StoreError> {
    let path = of(root, upload)?;
    if parts.is_empty() || !parts.is_sorted_by(|a, b| a.number < b.number) {
        return Err(StoreError::new(ErrorKind::InvalidPart, "the parts are not in the order of their numbers"));
    }
    let mut draft = Draft::new(&root.join(names::OURS).join("drafts"))?;
    for part in parts {
        let file = path.join(part.number.to_string());
        let missing = || StoreError::new(ErrorKind::InvalidPart, format!("part {}", part.number));
        let mut source = File::open(&file).map_err(|error| match failed(&file, &error) {
            error if error.kind == ErrorKind::NoSuchKey => missing(),
            error => error,
        })?;
        if files::about(&source, &file)?.tag.trim_matches('"') != part.tag.trim_matches('"') {
            return Err(missing());
        }
        io::copy(&mut source, &mut draft.file).map_err(|error| failed(&file, &error))?;
    }
    Ok((draft, read(&path)?.about))
}

pub(super) fn remove(root: &Path, upload: &Upload) -> Result<(), StoreError> {
    let path = match of(root, upload) {
        Err(error) if error.kind == ErrorKind::NoSuchUpload => return Ok(()),
        path => path?,
    };
    fs::remove_dir_all(&path).map_err(|error| failed(&path, &error))
}

pub(super) fn parts(root: &Path, upload: &Upload, after: u32) -> Result<Vec<Part>, StoreError> {
    let path = of(root, upload)?;
    let here = |error| failed(&path, &error);
    let mut parts = Vec::new();
    for entry in fs::read_dir(&path).map_err(here)? {
        let entry = entry.map_err(here)?;
        let number = entry.file_name().to_str().and_then(|name| name.parse().ok());
        let Some(number) = number.filter(|&number| number > after) else { continue };
        let file = entry.path();
        let part = File::open(&file).map_err(here)?;
        let size = part.metadata().map_err(here)?.len();
        parts.push(Part { number, tag: files::about(&part, &file)?.tag, size, transfer: None });
    }
    parts.sort_by_key(|part| part.number);
    Ok(parts)
}

/// All of a bucket, by key and then by id.
pub(super) fn list(root: &Path, bucket: &str, prefix: &str) -> Result<Vec<UploadInfo>, StoreError> {
    let all = folder(root);
    let here = |error| failed(&all, &error);
    let mut uploads = Vec::new();
    for entry in fs::read_dir(&all).map_err(here)? {
        let entry = entry.map_err(here)?;
        let Ok(id) = entry.file_name().into_string() else { continue };
        let begun = match read(&entry.path()) {
            // It was completed or dropped in the meantime, or is about to begin.
            Err(error) if error.kind == ErrorKind::NoSuchKey => continue,
            begun => begun?,
        };
        if begun.bucket != bucket || !begun.key.starts_with(prefix) {
            continue;
        }
        let since = fs::metadata(entry.path().join(ABOUT)).and_then(|about| about.modified()).map_err(here)?;
        let object = ObjectName { bucket: begun.bucket, key: begun.key };
        uploads.push(UploadInfo { upload: Upload { object, id }, begun: since });
    }
    let key = |info: &UploadInfo| (info.upload.object.key.clone(), info.upload.id.clone());
    uploads.sort_by_key(key);
    Ok(uploads)
}
