//! An explainer gives away the connections that it does not list, as soon as that is certain.

use super::Explainer;
use super::omitted::OmittedSink;
use super::top_connections::Entry;

impl Explainer {
    /// Gives connections that are not listed to `sink`, while packets come and at the end. Each
    /// gets an account for that, which takes most of the time of a capture of short connections.
    /// All explainers that share connections need one.
    pub fn give_omitted_to(&mut self, sink: OmittedSink) {
        self.accounts.hold_dropped();
        self.omitted = Some(sink);
    }

    /// Gives away the entries that are not listed. Data of listed connections stays as it is.
    #[cold]
    pub(super) fn give_dropped(&mut self) {
        for entry in self.accounts.take_dropped() {
            let connection = match entry {
                Entry::Accounted(account) => account.connection,
                Entry::Unaccounted(size, entry) => {
                    let (replays, flows) = (std::mem::take(&mut self.replays), std::mem::take(&mut self.flows));
                    let account = self.account(size, *entry);
                    (self.replays, self.flows) = (replays, flows);
                    account.connection
                }
            };
            if let Some(sink) = &self.omitted {
                sink.take(connection);
            }
        }
    }
}
