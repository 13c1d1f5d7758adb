//! Handling of a closed connection: most are only counted, others get an account.

use super::Explainer;
use super::open_connection::OpenConnection;
use super::top_connections::{ConnectionAccount, ConnectionSize};
use crate::assemble::{self, ConnectionInput, KeptTransfers, ListedTransfers};
use crate::pair::ConnectionFingerprint;
use crate::rules;
use whyslow_core::capture::Clock;
use whyslow_core::flow::FlowEntry;
use whyslow_core::tcp::facts::Facts;
use whyslow_units::{Nanos, Time};

impl Explainer {
    /// Closes a connection without packets up to `until`: its account is kept, if it may be listed.
    pub(super) fn close(&mut self, mut entry: Box<FlowEntry<OpenConnection>>, until: Time) {
        if entry.value.is_opening()
            && let Some(leaving) = &mut self.leaving
        {
            leaving.push((entry, until));
            return;
        }
        if entry.value.is_opening() {
            let size = ConnectionSize { id: entry.id, until, active: Nanos::ZERO, bytes: 0 };
            if !self.accounts.could_be_listed(&size, size.active) {
                return self.skip_listing(size, entry);
            }
        }
        // Checked in place: among very many, most are never accounted for.
        let capture = entry.value.capture();
        let tcp = entry.value.tcp();
        if let Some(wrong) = tcp.bad_checksums()
            && let Some(capture) = self.captures.get_mut(capture)
            && capture.note_wrong_sums(wrong)
        {
            return;
        }
        if let Some(leaving) = &mut self.leaving {
            leaving.push((entry, until));
            return;
        }
        let size = ConnectionSize { id: entry.id, until, active: tcp.active_until(until), bytes: tcp.payload() };
        if !self.accounts.could_be_listed(&size, size.active) {
            return self.skip_listing(size, entry);
        } else if tcp
            .short_connection_bounds(until, &entry.key.to_endpoints())
            .is_some_and(|brief| rules::cost_nothing(&brief))
        {
            self.accounts.push_cost_free(size, entry);
        } else {
            let account = self.account(size, *entry);
            self.accounts.push(account);
        }
        if self.accounts.has_dropped() {
            self.give_dropped();
        }
    }

    fn skip_listing(&mut self, size: ConnectionSize, entry: Box<FlowEntry<OpenConnection>>) {
        self.accounts.skip(size, entry);
        if self.accounts.has_dropped() {
            self.give_dropped();
        }
    }

    pub(super) fn account(&mut self, size: ConnectionSize, entry: FlowEntry<OpenConnection>) -> ConnectionAccount {
        let FlowEntry { value: open, key: ends, .. } = entry;
        let capture = open.capture();
        let facts = open.into_tcp().finish(ends.to_endpoints());
        self.account_for(size, capture, facts, [ListedTransfers::ALL; 2])
    }

    /// The account of a connection that began in a capture, with entries for some of its transfers.
    pub(super) fn account_for(
        &mut self,
        size: ConnectionSize,
        capture: usize,
        mut facts: Facts,
        listed: [ListedTransfers; 2],
    ) -> ConnectionAccount {
        let id = size.id.0;
        let place = capture;
        let capture = self.captures.get(place);
        let clock = capture.and_then(|capture| capture.text.or(Some(capture.summary.as_ref()?.clock)));
        let first = self.first_time.unwrap_or_default();
        facts.timeless |= clock == Some(Clock::None);
        if let Some(capture) = capture.filter(|capture| capture.text.is_some()) {
            facts.mark_as_text(&capture.elision_marks);
        }
        facts.until = facts.until.max(size.until);
        facts.end_with(facts.until);
        let mark = (!facts.timeless).then(|| ConnectionFingerprint::new(id, &facts));
        let input = ConnectionInput {
            facts: &facts,
            id,
            capture: place,
            first,
            names: &self.host_names,
            path_rate: self.path_rate,
            listed,
        };
        let mut transfers = KeptTransfers { replays: &mut self.replays, flows: &mut self.flows };
        let (connection, outline) = assemble::connection(&input, &mut transfers);
        ConnectionAccount::new(size, connection, outline, mark)
    }
}
