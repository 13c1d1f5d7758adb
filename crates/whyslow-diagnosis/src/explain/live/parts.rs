//! Reports in parts: of very many connections that end together an account each would fill the
//! memory.

use super::{Ended, LiveExplainer, MAX_CONNECTIONS_PER_PART, Pending, newly_forgotten};
use crate::assemble::ListedTransfers;
use crate::conclude;
use crate::explain::open_connection::OpenConnection;
use crate::rules;
use whyslow_core::flow::FlowEntry;
use whyslow_units::Time;

impl LiveExplainer {
    /// Reports the rest, a part at a time: no more packets come.
    pub fn finish_in_parts(mut self, mut give: impl FnMut(Ended)) {
        if self.explainer.first_time.is_none() {
            return;
        }
        let end = self.newest;
        // These are still in the table, and closed like all others.
        self.due.clear();
        let mut open = self.explainer.table.drain().into_iter();
        self.work = conclude::MAX_WORK;
        loop {
            for kept in open.by_ref().take(MAX_CONNECTIONS_PER_PART.saturating_sub(self.closed.len())) {
                self.explainer.close(kept, end);
            }
            self.take_closed();
            let mut ended = Ended::default();
            self.report_closed(&mut ended);
            self.complete(&mut ended, open.len());
            if !ended.more {
                ended.findings = self.window.finish(std::mem::take(&mut self.explainer.kept.flows), end);
                return give(ended);
            }
            if !ended.connections.is_empty() || ended.unlisted > 0 {
                give(ended);
            }
        }
    }

    /// Takes the connections that have left the table.
    pub(super) fn take_closed(&mut self) {
        self.closed.extend(self.explainer.leaving.as_mut().map(std::mem::take).unwrap_or_default());
    }

    /// Completes a part: the model's predictions, and whether there are more parts. `open`: the
    /// connections that are still to be closed.
    pub(super) fn complete(&mut self, ended: &mut Ended, open: usize) {
        let waiting = self.due.len() + self.closed.len() + open;
        ended.more = waiting > 0;
        let work = self.work / (1 + waiting.div_ceil(MAX_CONNECTIONS_PER_PART) as u64);
        self.work -= work;
        self.predict(ended, work);
        self.window.add(ended.connections.iter().map(|ended| &ended.connection));
    }

    /// Reports connections that have left the table.
    pub(super) fn report_closed(&mut self, ended: &mut Ended) {
        while ended.connections.len() < MAX_CONNECTIONS_PER_PART
            && let Some((mut kept, until)) = self.closed.pop_front()
        {
            if kept.value.is_opening() && has_cost_nothing(&mut kept, until) {
                continue;
            }
            self.waiting.remove(&kept.id);
            let reported = self.reported.remove(&kept.id).unwrap_or_default();
            if reported.over {
                self.over -= 1;
            } else {
                let (capture, ends) = (kept.value.capture(), kept.key.to_endpoints());
                let facts = kept.value.into_tcp().finish(ends);
                ended.unlisted += newly_forgotten(&facts, &reported);
                let listed = reported.until.map(|after| ListedTransfers { after, ..ListedTransfers::ALL });
                let pending = Pending { capture, reported, facts, listed, until, over: true };
                self.report(pending, ended);
            }
        }
    }
}

/// Returns whether a connection with a SYN alone cost no time.
fn has_cost_nothing(kept: &mut FlowEntry<OpenConnection>, until: Time) -> bool {
    let ends = kept.key.to_endpoints();
    kept.value.tcp().short_connection_bounds(until, &ends).is_some_and(|brief| rules::cost_nothing(&brief))
}
