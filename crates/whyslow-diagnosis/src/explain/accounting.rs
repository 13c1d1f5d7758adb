//! [`Accounting`]: the account of a closed connection, from what the explainer knows of all.

use super::Explainer;
use super::capture_state::CaptureState;
use super::open_connection::OpenConnection;
use super::top_connections::{ConnectionAccount, ConnectionSize};
use crate::assemble::{self, ConnectionInput, KeptTransfers, ListedTransfers};
use crate::conclude::Names;
use crate::pair::ConnectionFingerprint;
use whyslow_core::capture::Clock;
use whyslow_core::flow::FlowEntry;
use whyslow_core::tcp::facts::Facts;
use whyslow_units::Time;

/// Context of a connection's account: part of an [`Explainer`], of which it changes `kept` alone.
pub(super) struct Accounting<'a> {
    pub captures: &'a [CaptureState],
    pub names: &'a Names,
    /// Times count from here.
    pub first: Time,
    /// Rate of the path as given by the user, payload bits per second.
    pub path_rate: Option<f64>,
    /// Receiver of data of transfers that later steps need.
    pub kept: &'a mut KeptTransfers,
}

impl Accounting<'_> {
    /// Returns the account of a connection.
    pub(super) fn account(self, size: ConnectionSize, entry: FlowEntry<OpenConnection>) -> ConnectionAccount {
        let FlowEntry { value: open, key: ends, .. } = entry;
        let capture = open.capture();
        let facts = open.into_tcp().finish(ends.to_endpoints());
        self.account_for(size, capture, facts, [ListedTransfers::ALL; 2])
    }

    /// Returns the account of a connection that began in a capture, with entries for some of its
    /// transfers.
    pub(super) fn account_for(
        self,
        size: ConnectionSize,
        capture: usize,
        mut facts: Facts,
        listed: [ListedTransfers; 2],
    ) -> ConnectionAccount {
        let id = size.id.0;
        let place = capture;
        let capture = self.captures.get(place);
        let clock = capture.and_then(|capture| capture.text.or(Some(capture.summary.as_ref()?.clock)));
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
            first: self.first,
            names: self.names,
            path_rate: self.path_rate,
            listed,
        };
        let (connection, outline) = assemble::connection(&input, self.kept);
        ConnectionAccount::new(size, connection, outline, mark)
    }
}

impl Explainer {
    pub(super) fn accounting(&mut self) -> Accounting<'_> {
        let Self { captures, host_names: names, first_time: first, path_rate, kept, .. } = self;
        Accounting { captures, names, first: first.unwrap_or_default(), path_rate: *path_rate, kept }
    }
}
