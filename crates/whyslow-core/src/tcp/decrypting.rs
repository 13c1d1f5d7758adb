//! Selects the parsers of a connection's payload, and returns their results.

use super::connection::Connection;
use super::payload::{Content, Decrypter, PayloadReaders, ReaderPlace};
use crate::tls::KeyRing;

impl Connection {
    /// Decrypts the payload if these secrets allow it. Must be called before the first segment.
    pub fn decrypt(&mut self, ring: KeyRing) {
        self.rare.make_readers().decrypter = Some(Decrypter::new(ring));
    }

    /// Disables parsing of messages above TCP, if the payload was not stored. Must be called before
    /// the first segment.
    pub fn ignore_messages(&mut self) {
        self.rare.make_readers().ignore_messages();
    }

    /// Returns the results for the payload, whether the first payload of each side is text, and the
    /// parsers.
    pub(super) fn take_content(&mut self) -> ([Content; 2], [bool; 2], PayloadReaders) {
        let begins_with_text = self.payload_streams.begins_with_text();
        let mut content = std::mem::take(&mut self.payload_streams).finish(self.isns, self.rare.readers());
        let mut readers = self.rare.as_mut().map(|rare| std::mem::take(&mut rare.readers)).unwrap_or_default();
        readers.note(&mut content);
        (content, begins_with_text, readers)
    }
}
