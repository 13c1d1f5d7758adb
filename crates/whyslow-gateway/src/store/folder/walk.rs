//! Lists: a walk through folders in the order of the keys, which leaves out what a page skips.
//!
//! A key that is left out of a list is deleted from mirrors. So a file that cannot be read, or that
//! no gateway stored, fails the list. A file that is deleted meanwhile does not.

use super::entries::{Entries, Entry};
use super::files;
use crate::store::{ErrorKind, ListQuery, Listing, StoreError};
use std::path::Path;

/// Entries of a page, as in S3.
const PAGE: u32 = 1000;

/// One page of a bucket.
pub(super) fn list(bucket: &Path, query: &ListQuery, entries: &Entries) -> Result<Listing, StoreError> {
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
    let mut page = Page { entries, query, most, after, past, listing: Listing::default(), last: String::new() };
    page.walk(bucket, "")?;
    Ok(page.listing)
}

struct Page<'a> {
    entries: &'a Entries,
    query: &'a ListQuery,
    most: usize,
    /// Keys up to this one are on earlier pages.
    after: String,
    /// So are keys that begin with this, and those before them.
    past: String,
    listing: Listing,
    /// The last listed name, as a token.
    last: String,
}

enum Next {
    GoOn,
    Full,
}

impl Page<'_> {
    /// Takes the keys in a folder. `at` is their common beginning.
    fn walk(&mut self, folder: &Path, at: &str) -> Result<Next, StoreError> {
        let entries = match self.entries.of(folder) {
            // It went with its last object.
            Err(error) if error.kind == ErrorKind::NoSuchKey && !at.is_empty() => return Ok(Next::GoOn),
            entries => entries?,
        };
        let from = self.first(&entries, at);
        for entry in &entries[from..] {
            let key = format!("{at}{}", entry.part);
            if self.is_behind_prefix(&key) {
                break;
            }
            if self.skips(&key, entry.is_folder()) {
                continue;
            }
            let path = folder.join(entry.file_name());
            let next = if entry.is_folder() { self.walk(&path, &key)? } else { self.take(&key, &path)? };
            if matches!(next, Next::Full) {
                return Ok(Next::Full);
            }
        }
        Ok(Next::GoOn)
    }

    /// The first entry that may be on this page: those before it are on earlier pages, or sort
    /// before the prefix. A folder that one of these marks lies in is not before it.
    fn first(&self, entries: &[Entry], at: &str) -> usize {
        let marks = [self.after.as_str(), self.past.as_str(), self.query.prefix.as_str()];
        let first_for = |mark: &str| {
            let Some(rest) = mark.strip_prefix(at) else { return 0 };
            let index = entries.partition_point(|entry| entry.part.as_str() < rest);
            let is_inside = |entry: &Entry| entry.is_folder() && rest.starts_with(&entry.part);
            if index > 0 && is_inside(&entries[index - 1]) { index - 1 } else { index }
        };
        marks.into_iter().map(first_for).max().unwrap_or(0)
    }

    fn is_behind_prefix(&self, key: &str) -> bool {
        let prefix = self.query.prefix.as_str();
        key > prefix && !key.starts_with(prefix)
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
