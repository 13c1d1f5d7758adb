//! An explainer gives away the connections that it does not list, as soon as that is certain.

use super::Explainer;
use super::accounts::Entry;
use super::unlisted::UnlistedSink;

impl Explainer {
    /// Gives connections that are not listed to `sink`, while packets come and at the end. Each
    /// gets an account for that, which takes most of the time of a capture of short connections.
    /// All explainers that share connections need one.
    pub fn give_unlisted_to(&mut self, sink: UnlistedSink) {
        self.accounts.hold_dropped();
        self.unlisted = Some(sink);
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
            if let Some(sink) = &self.unlisted {
                sink.take(connection);
            }
        }
    }
}
