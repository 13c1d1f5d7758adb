//! [`ChangeFeed`]: the news for the page.

use super::retained::Changes;
use super::row::Row;
use super::update::LiveState;
use serde::Serialize;

/// What is new since an update.
#[derive(Serialize)]
pub(super) struct ChangeFeed<'a> {
    /// The update that the page then knows.
    number: u64,
    /// What the page has is replaced.
    is_all: bool,
    transfers: Vec<&'a Row>,
    removed: &'a [u64],
    /// Transfers that are held no more, since the start.
    left_out: u64,
    state: &'a LiveState,
}

impl<'a> ChangeFeed<'a> {
    pub(super) fn new(number: u64, state: &'a LiveState, changes: &'a Changes) -> Self {
        Self {
            number,
            is_all: changes.is_all,
            transfers: changes.held.iter().map(|held| &held.row).collect(),
            removed: &changes.removed,
            left_out: changes.left_out,
            state,
        }
    }
}
