//! Lists: a walk through folders in the order of the keys, which leaves out what a page skips.
//!
//! A key that is left out of a list is deleted from mirrors. So a file that cannot be read, or that
//! no gateway stored, fails the list; only what is gone meanwhile does not.

use super::files;
use super::names;
use crate::store::{ErrorKind, ListQuery, Listing, StoreError};
use std::fs;
use std::io;
use std::path::Path;

/// Of a page, as S3 has it.
const PAGE: u32 = 1000;

/// One page of a bucket.
pub(super) fn list(bucket: &Path, query: &ListQuery) -> Result<Listing, StoreError> {
    if !bucket.is_dir() {
        return Err(StoreError::new(ErrorKind::NoSuchBucket, "").at(bucket));
    }
    let most = if query.max == 0 { PAGE } else { query.max.min(PAGE) } as usize;
    let (after, past) = match query.continuation.as_deref().map(|token| token.split_at_checked(1)) {
        Some(Some(("k", key))) => (key.to_owned(), String::new()),
        Some(Some(("p", prefix))) => (String::new(), prefix.to_owned()),
        Some(_) => return Err(StoreError::new(ErrorKind::Invalid, "this continuation token is none of ours")),
        None => (query.start_after.clone().unwrap_or_default(), String::new()),
    };
    let mut page = Page { query, most, after, past, listing: Listing::default(), last: String::new() };
    page.walk(bucket, "")?;
    Ok(page.listing)
}

struct Page<'a> {
    query: &'a ListQuery,
    most: usize,
    /// Keys up to this one are on earlier pages.
    after: String,
    /// So are keys that begin with this, and those before them.
    past: String,
    listing: Listing,
    /// What was listed last, as a token.
    last: String,
}

enum Next {
    GoOn,
    Full,
}

impl Page<'_> {
    /// Takes what is in a folder. `at` is what the keys in it begin with.
    fn walk(&mut self, folder: &Path, at: &str) -> Result<Next, StoreError> {
        let here = |error| files::failed(folder, &error);
        let mut entries = Vec::new();
        let listed = match fs::read_dir(folder) {
            // It went with its last object.
            Err(error) if error.kind() == io::ErrorKind::NotFound && !at.is_empty() => return Ok(Next::GoOn),
            listed => listed.map_err(here)?,
        };
        for entry in listed {
            let entry = entry.map_err(here)?;
            let kind = entry.file_type().map_err(here)?;
            let is_folder = kind.is_dir();
            if !is_folder && !kind.is_file() && !kind.is_symlink() {
                continue;
            }
            let Some(part) = entry.file_name().to_str().and_then(names::part) else { continue };
            let key = format!("{at}{part}{}", if is_folder { "/" } else { "" });
            entries.push((key, is_folder, entry.path()));
        }
        // With its slash a folder sorts as the keys in it do.
        entries.sort();
        for (key, is_folder, path) in entries {
            if self.skips(&key, is_folder) {
                continue;
            }
            let next = if is_folder { self.walk(&path, &key)? } else { self.take(&key, &path)? };
            if matches!(next, Next::Full) {
                return Ok(Next::Full);
            }
        }
        Ok(Next::GoOn)
    }

    fn skips(&self, key: &str, is_folder: bool) -> bool {
        let prefix = &self.query.prefix;
        let is_outside =
            if is_folder { !key.starts_with(prefix) && !prefix.starts_with(key) } else { !key.starts_with(prefix) };
        let is_before = |mark: &str| !mark.is_empty() && key <= mark && !(is_folder && mark.starts_with(key));
        let is_past = !self.past.is_empty() && (key.starts_with(&self.past) || is_before(&self.past));
        is_outside || is_past || is_before(&self.after)
    }

    fn take(&mut self, key: &str, path: &Path) -> Result<Next, StoreError> {
        if self.listing.objects.len() + self.listing.prefixes.len() == self.most {
            self.listing.next = Some(self.last.clone());
            return Ok(Next::Full);
        }
        let rest = &key[self.query.prefix.len()..];
        let delimiter = self.query.delimiter.as_deref().filter(|delimiter| !delimiter.is_empty());
        if let Some((place, delimiter)) = delimiter.and_then(|delimiter| Some((rest.find(delimiter)?, delimiter))) {
            let common = &key[..self.query.prefix.len() + place + delimiter.len()];
            self.past = common.to_owned();
            self.last = format!("p{common}");
            self.listing.prefixes.push(common.to_owned());
            return Ok(Next::GoOn);
        }
        match files::open(path, key) {
            Ok((_, mut info)) => {
                info.content_type = None;
                info.metadata.clear();
                self.last = format!("k{key}");
                self.listing.objects.push(info);
            }
            // It went while the list was made.
            Err(error) if error.kind == ErrorKind::NoSuchKey => {}
            Err(error) => return Err(StoreError { message: format!("`{key}`: {}", error.message), ..error }),
        }
        Ok(Next::GoOn)
    }
}
