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

/// Objects, and folders on the way to them, at most.
const MOST: usize = 100_000;

/// Whether a key stands for others.
pub(crate) fn is_pattern(key: &str) -> bool {
    key.contains(['*', '?'])
}

/// The objects that a key with `*` and `?` matches, in the order of their keys.
///
/// # Errors
/// When the bucket cannot be listed, or nothing or too much matches.
pub(crate) async fn expand(bucket: &Bucket, url: &str, key: &str) -> Result<Vec<ObjectMeta>, Error> {
    let mut folders = vec![String::new()];
    let mut found = Vec::new();
    let mut segments = key.split('/').peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        let list = |error| Error::client(url, io::Error::from(failure(bucket, &error)).to_string());
        if !is_last && !is_pattern(segment) {
            folders.iter_mut().for_each(|folder| *folder += &format!("{segment}/"));
            continue;
        }
        let level = Level { pattern: pattern(url, segment)?, literal: literal(segment), is_last };
        let mut next = Vec::new();
        for folder in &folders {
            level.list(&*bucket.lists, folder, &mut next, &mut found).await.map_err(list)?;
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
        folder: &str,
        folders: &mut Vec<String>,
        found: &mut Vec<ObjectMeta>,
    ) -> object_store::Result<()> {
        let prefix = format!("{folder}{}", self.literal);
        let mut options = PaginatedListOptions { delimiter: Some("/".into()), ..PaginatedListOptions::default() };
        loop {
            let prefix = Some(prefix.as_str()).filter(|prefix| !prefix.is_empty());
            let page = store.list_paginated(prefix, options.clone()).await?;
            let matches = |path: &object_store::path::Path| {
                path.as_ref().strip_prefix(folder).is_some_and(|name| self.pattern.matches(name))
            };
            if self.is_last {
                found.extend(page.result.objects.into_iter().filter(|object| matches(&object.location)));
            } else {
                let names = page.result.common_prefixes.into_iter().filter(matches);
                folders.extend(names.map(|path| format!("{path}/")));
            }
            options.page_token = page.page_token;
            if options.page_token.is_none() || found.len().max(folders.len()) > MOST {
                return Ok(());
            }
        }
    }
}

/// What stands before the first `*` or `?`.
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
