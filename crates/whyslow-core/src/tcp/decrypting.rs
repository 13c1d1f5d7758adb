//! A connection whose payload is decrypted.

use super::connection::Connection;
use super::payload::{Content, Decrypter};
use crate::tls::KeyRing;

impl Connection {
    /// Decrypts the payload, as far as these secrets let it. Only before the first segment.
    pub fn decrypt(&mut self, ring: KeyRing) {
        self.rare.get_or_insert_default().decrypter = Some(Decrypter::new(ring));
    }

    /// Takes what the payload showed, whether the first of each side is text, and what has
    /// decrypted it.
    pub(super) fn take_content(&mut self) -> ([Content; 2], [bool; 2], Option<Box<Decrypter>>) {
        let begins_with_text = self.payload_streams.begins_with_text();
        let mut content = std::mem::take(&mut self.payload_streams).finish(self.isns);
        let mut decrypter = self.rare.as_mut().and_then(|rare| rare.decrypter.take());
        decrypter.iter_mut().for_each(|decrypter| decrypter.note(&mut content));
        (content, begins_with_text, decrypter)
    }
}
