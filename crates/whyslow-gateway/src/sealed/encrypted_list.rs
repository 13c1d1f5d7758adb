//! A page of a list of encrypted names, which the storage has in another order.

use super::checked::OURS;
use super::error::{SealedError, SealedErrorKind};
use crate::format::{NameCipher, NameError};
use crate::store::{ListQuery, ObjectInfo, Store};
use std::collections::BTreeMap;

/// Entries of a page, as in S3.
const PAGE: u32 = 1000;

/// Objects with the client's key, common prefixes, and where the next page begins.
pub(super) type Page = (Vec<(String, ObjectInfo)>, Vec<String>, Option<String>);

/// Reads all of a folder's list, or of the folders below it if no delimiter ends them, and holds
/// the first entries in the order of the plain keys: the memory is that of a page.
pub(super) async fn page(
    store: &dyn Store,
    cipher: &NameCipher,
    (bucket, query): (&str, &ListQuery),
) -> Result<Page, SealedError> {
    let (prefix, _) = cipher.prefix(&query.prefix)?;
    // Encrypted keys have the same folders as plain ones; other delimiters exist only in plain
    // keys.
    let delimiter = query.delimiter.clone().filter(|delimiter| delimiter == "/");
    let mut asked = ListQuery { prefix, delimiter, ..ListQuery::default() };
    let mut found = Found::new(query);
    loop {
        let page = store.list(bucket, &asked).await?;
        for info in page.objects.into_iter().filter(|info| !info.key.starts_with(OURS)) {
            found.take(plain(cipher, &info.key)?, Some(info));
        }
        for prefix in page.prefixes.iter().filter(|prefix| !prefix.starts_with(OURS)) {
            found.take(plain(cipher, prefix)?, None);
        }
        asked.continuation = page.next;
        if asked.continuation.is_none() {
            return Ok(found.page());
        }
    }
}

/// The client's key. An unreadable one is an error: mirrors delete keys that a list leaves out.
fn plain(cipher: &NameCipher, stored: &str) -> Result<String, SealedError> {
    let foreign = |error: NameError| SealedError::new(SealedErrorKind::NotSealed, error.to_string()).about(stored);
    cipher.decrypt(stored).map_err(foreign)
}

/// The first entries so far.
struct Found<'q> {
    query: &'q ListQuery,
    most: usize,
    items: BTreeMap<String, Option<ObjectInfo>>,
    has_more: bool,
}

impl<'q> Found<'q> {
    fn new(query: &'q ListQuery) -> Self {
        let most = if query.max == 0 { PAGE } else { query.max.min(PAGE) };
        Self { query, most: most as usize, items: BTreeMap::new(), has_more: false }
    }

    /// Takes an object, or a common prefix of the storage.
    fn take(&mut self, key: String, info: Option<ObjectInfo>) {
        let query = self.query;
        let Some(rest) = key.strip_prefix(query.prefix.as_str()) else { return };
        let behind = |mark: Option<&str>| {
            let is_in = |mark: &str| info.is_none() && mark.len() > key.len() && mark.starts_with(key.as_str());
            mark.is_none_or(|mark| key.as_str() > mark || is_in(mark))
        };
        if query.continuation.is_none() && !behind(query.start_after.as_deref()) {
            return;
        }
        let delimiter = query.delimiter.as_deref().filter(|delimiter| !delimiter.is_empty());
        let common = delimiter.and_then(|delimiter| Some(rest.find(delimiter)? + delimiter.len()));
        let (item, info) = match common {
            Some(end) => (key[..query.prefix.len() + end].to_owned(), None),
            None => (key, info),
        };
        // True also if a page of the older kind ended there: its mark is the common prefix itself.
        let is_mark = query.continuation.is_none() && query.start_after.as_ref() == Some(&item);
        if is_mark || query.continuation.as_ref().is_some_and(|last| item <= *last) {
            return;
        }
        self.items.insert(item, info);
        if self.items.len() > self.most {
            self.items.pop_last();
            self.has_more = true;
        }
    }

    fn page(self) -> Page {
        let next = self.items.last_key_value().map(|(key, _)| key.clone()).filter(|_| self.has_more);
        let mut page: Page = (Vec::new(), Vec::new(), next);
        for (key, info) in self.items {
            match info {
                Some(info) => page.0.push((key, info)),
                None => page.1.push(key),
            }
        }
        page
    }
}
