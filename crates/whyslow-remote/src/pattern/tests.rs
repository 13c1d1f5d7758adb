#![allow(clippy::unwrap_used)]

use super::*;
use async_trait::async_trait;
use object_store::ListResult;
use object_store::list::PaginatedListResult;
use object_store::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

/// A store whose lists have no end.
struct Endless {
    /// The folders that a page names.
    folders: Vec<Path>,
    /// Every page has the token of the page before.
    repeats: bool,
    pages: AtomicU32,
}

#[async_trait]
impl PaginatedListStore for Endless {
    async fn list_paginated(
        &self,
        _: Option<&str>,
        _: PaginatedListOptions,
    ) -> object_store::Result<PaginatedListResult> {
        let page = self.pages.fetch_add(1, Ordering::Relaxed);
        let token = if self.repeats { "again".to_owned() } else { page.to_string() };
        let result =
            ListResult { common_prefixes: self.folders.clone(), objects: Vec::new(), extensions: Default::default() };
        Ok(PaginatedListResult { result, page_token: Some(token) })
    }
}

async fn pages_asked_for(store: Endless) -> u32 {
    let level = Level { pattern: Pattern::new("*.pcap").unwrap(), literal: "", is_last: true };
    let mut pages = Pages { left: MOST_PAGES, empty: 0 };
    let stopped = level.list(&store, &mut pages, "", (&mut Vec::new(), &mut Vec::new())).await;
    assert!(matches!(stopped, Err(Stopped::Endless)), "{stopped:?}");
    store.pages.into_inner()
}

#[tokio::test]
async fn lists_without_end_are_given_up() {
    let endless = |folders: &[&str], repeats| Endless {
        folders: folders.iter().map(|folder| Path::from(*folder)).collect(),
        repeats,
        pages: AtomicU32::new(0),
    };
    assert_eq!(pages_asked_for(endless(&[], false)).await, MOST_EMPTY + 1);
    assert_eq!(pages_asked_for(endless(&["folder"], false)).await, MOST_PAGES);
    assert_eq!(pages_asked_for(endless(&["folder"], true)).await, 2);
}
