//! Handling of a closed connection: most are only counted, others get an account.

use super::Explainer;
use super::open_connection::OpenConnection;
use super::top_connections::{ConnectionAccount, ConnectionSize};
use crate::rules;
use whyslow_core::flow::FlowEntry;
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
        self.accounting().account(size, entry)
    }
}
