//! Keys with `*` and `?`: what of a bucket they match.
//!
//! A pattern is followed folder by folder, as a shell does it, so that nothing is listed that
//! cannot match. Pages of a list are looked at one by one, and only what matches is held.

use crate::bucket::Bucket;
use crate::cloud::failure;
use crate::error::Error;
use glob::Pattern;
use object_store::ObjectMeta;
use object_store::list::{PaginatedListOptions, PaginatedListStore};
use std::io;

/// Maximum number of objects, and of folders on the way to them.
const MOST: usize = 100_000;
/// Maximum number of pages of a list; a page usually has 1,000 keys.
const MOST_PAGES: u32 = 20_000;
/// Pages in a row without a key, at most: S3 skips deleted objects in such pages.
const MOST_EMPTY: u32 = 1_000;

/// Whether a key stands for others.
pub(crate) fn is_pattern(key: &str) -> bool {
    key.contains(['*', '?'])
}

/// The objects that a key with `*` and `?` matches, in the order of their keys.
///
/// # Errors
/// When the bucket cannot be listed, or nothing or too much matches.
pub(crate) async fn expand(bucket: &Bucket, url: &str, key: &str) -> Result<Vec<ObjectMeta>, Error> {
    let (mut folders, mut found) = (vec![String::new()], Vec::new());
    let mut pages = Pages { left: MOST_PAGES, empty: 0 };
    let mut segments = key.split('/').peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        let list = |stopped| match stopped {
            Stopped::Store(error) => Error::client(url, io::Error::from(failure(bucket, &error)).to_string()),
            Stopped::Endless => Error::Endless { url: url.to_owned() },
        };
        if !is_last && !is_pattern(segment) {
            folders.iter_mut().for_each(|folder| *folder += &format!("{segment}/"));
            continue;
        }
        let level = Level { pattern: pattern(url, segment)?, literal: literal(segment), is_last };
        let mut next = Vec::new();
        for folder in &folders {
            level.list(&*bucket.lists, &mut pages, folder, (&mut next, &mut found)).await.map_err(list)?;
            if next.len().max(found.len()) > MOST {
                return Err(Error::TooMany { url: url.to_owned(), most: MOST });
            }
        }
        folders = next;
    }
    if found.is_empty() {
        return Err(Error::NoMatch { url: url.to_owned() });
    }
    found.sort_by(|a, b| a.location.cmp(&b.location));
    Ok(found)
}

/// Pages that may still be asked for.
struct Pages {
    left: u32,
    /// Pages without a key, since the last one with keys.
    empty: u32,
}

impl Pages {
    /// Counts a page.
    fn count(&mut self, keys: usize) -> Result<(), Stopped> {
        self.empty = if keys == 0 { self.empty + 1 } else { 0 };
        self.left = self.left.saturating_sub(1);
        if self.left == 0 || self.empty > MOST_EMPTY { Err(Stopped::Endless) } else { Ok(()) }
    }
}

/// Why a list ends early.
#[derive(Debug)]
enum Stopped {
    Store(object_store::Error),
    Endless,
}

/// A segment of the pattern.
struct Level<'a> {
    pattern: Pattern,
    /// What every name begins with.
    literal: &'a str,
    is_last: bool,
}

impl Level<'_> {
    /// Adds the folders or objects of a folder that match.
    async fn list(
        &self,
        store: &dyn PaginatedListStore,
        pages: &mut Pages,
        folder: &str,
        (folders, found): (&mut Vec<String>, &mut Vec<ObjectMeta>),
    ) -> Result<(), Stopped> {
        let prefix = format!("{folder}{}", self.literal);
        let mut options = PaginatedListOptions { delimiter: Some("/".into()), ..PaginatedListOptions::default() };
        loop {
            let prefix = Some(prefix.as_str()).filter(|prefix| !prefix.is_empty());
            let page = store.list_paginated(prefix, options.clone()).await.map_err(Stopped::Store)?;
            let keys = page.result.objects.len() + page.result.common_prefixes.len();
            let matches = |path: &object_store::path::Path| {
                path.as_ref().strip_prefix(folder).is_some_and(|name| self.pattern.matches(name))
            };
            if self.is_last {
                found.extend(page.result.objects.into_iter().filter(|object| matches(&object.location)));
            } else {
                let names = page.result.common_prefixes.into_iter().filter(matches);
                folders.extend(names.map(|path| format!("{path}/")));
            }
            if page.page_token.is_none() || found.len().max(folders.len()) > MOST {
                return Ok(());
            }
            if page.page_token == options.page_token {
                return Err(Stopped::Endless);
            }
            options.page_token = page.page_token;
            pages.count(keys)?;
        }
    }
}

/// The part before the first `*` or `?`.
fn literal(segment: &str) -> &str {
    segment.split(['*', '?']).next().unwrap_or_default()
}

/// A segment as a pattern, in which nothing else than `*` and `?` stands for others.
fn pattern(url: &str, segment: &str) -> Result<Pattern, Error> {
    let mut simple = segment.replace('[', "[[]");
    // Several are as good as one; the library has another meaning for them.
    while simple.contains("**") {
        simple = simple.replace("**", "*");
    }
    Pattern::new(&simple).map_err(|error| Error::Malformed { url: url.to_owned(), why: error.to_string() })
}

#[cfg(test)]
mod tests;
