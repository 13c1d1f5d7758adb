//! A connection whose payload is read beyond its framing.

use super::connection::Connection;
use super::payload::{Content, Decrypter, PayloadReaders, ReaderPlace};
use crate::tls::KeyRing;

impl Connection {
    /// Decrypts the payload, as far as these secrets let it. Only before the first segment.
    pub fn decrypt(&mut self, ring: KeyRing) {
        self.rare.make_readers().decrypter = Some(Decrypter::new(ring));
    }

    /// Reads no messages of protocols above TCP: the payload was not held. Only before the first
    /// segment.
    pub fn ignore_messages(&mut self) {
        self.rare.make_readers().ignore_messages();
    }

    /// Takes what the payload showed, whether the first of each side is text, and who has read it.
    pub(super) fn take_content(&mut self) -> ([Content; 2], [bool; 2], PayloadReaders) {
        let begins_with_text = self.payload_streams.begins_with_text();
        let mut content = std::mem::take(&mut self.payload_streams).finish(self.isns, self.rare.readers());
        let mut readers = self.rare.as_mut().map(|rare| std::mem::take(&mut rare.readers)).unwrap_or_default();
        readers.note(&mut content);
        (content, begins_with_text, readers)
    }
}
