//! An explainer gives away the connections that it does not list, as soon as that is certain.

use super::Explainer;
use super::accounting::Accounting;
use super::omitted::OmittedSink;
use super::top_connections::Entry;
use crate::assemble::KeptTransfers;

impl Explainer {
    /// Gives connections that are not listed to `sink`, while packets come and at the end. Each
    /// gets an account for that, which takes most of the time of a capture of short connections.
    /// All explainers that share connections need one.
    pub fn give_omitted_to(&mut self, sink: OmittedSink) {
        self.accounts.hold_dropped();
        self.omitted = Some(sink);
    }

    /// Gives away the entries that are not listed.
    #[cold]
    pub(super) fn give_dropped(&mut self) {
        for entry in self.accounts.take_dropped() {
            let connection = match entry {
                Entry::Accounted(account) => account.connection,
                Entry::Unaccounted(size, entry) => {
                    // Its transfers are not listed: later steps need no data of them.
                    let mut discarded = KeptTransfers::default();
                    let accounting = Accounting { kept: &mut discarded, ..self.accounting() };
                    accounting.account(size, *entry).connection
                }
            };
            if let Some(sink) = &self.omitted {
                sink.take(connection);
            }
        }
    }
}
