//! [`Choice`]: selects the reports to show.

use super::record::Record;
use crate::select::Selection;
use whyslow_analysis::cause::Cause;
use whyslow_units::Nanos;

/// Selects the reports to show.
pub(super) struct Choice {
    pub(super) selection: Selection,
    pub(super) cause: Option<Cause>,
    pub(super) slower_than: Option<Nanos>,
}

impl Choice {
    /// Whether the record matches the filter.
    pub(super) fn concerns(&self, record: &Record) -> bool {
        let cause = self.cause.is_none_or(|cause| record.findings().iter().any(|finding| finding.cause == cause));
        cause && self.selection.selects(&record.connection)
    }

    /// Whether it took long enough to be listed.
    pub(super) fn lists(&self, record: &Record) -> bool {
        self.slower_than.is_none_or(|least| record.took() > least)
    }
}
