//! [`PayloadReaders`]: who reads the payload of a connection beyond its framing: few have any.

use super::content::Content;
use super::decrypted::Decrypter;
use super::kind::PayloadKind;
use super::messages::{ClearReader, MessageFacts};
use crate::tcp::quic_notes::QuicNotes;
use crate::tcp::segment::Seg;
use crate::types::{Decryption, Side};

/// Who reads the payload of a connection.
#[derive(Clone, Debug, Default)]
pub(in crate::tcp) struct PayloadReaders {
    /// What decrypts it, if secrets were given.
    pub(in crate::tcp) decrypter: Option<Box<Decrypter>>,
    /// The reader of messages in clear, once their protocol was recognised.
    clear: Option<Box<ClearReader>>,
    /// No messages are read: the payload was not held.
    ignores_messages: bool,
}

/// Where the readers are kept.
pub(in crate::tcp) trait ReaderPlace {
    /// Those that there are.
    fn readers(&mut self) -> Option<&mut PayloadReaders>;
    /// The same, made if there are none.
    fn make_readers(&mut self) -> &mut PayloadReaders;
}

impl ReaderPlace for Option<PayloadReaders> {
    fn readers(&mut self) -> Option<&mut PayloadReaders> {
        self.as_mut()
    }

    fn make_readers(&mut self) -> &mut PayloadReaders {
        self.get_or_insert_default()
    }
}

impl PayloadReaders {
    /// Reads no messages in clear: the payload was not held.
    pub(in crate::tcp) fn ignore_messages(&mut self) {
        self.ignores_messages = true;
    }

    /// Whether the opening of a protocol may still be recognised.
    pub(super) fn awaits_opening(&self) -> bool {
        self.clear.is_none() && !self.ignores_messages
    }

    pub(super) fn read_clear(&mut self, reader: Box<ClearReader>) {
        self.clear = Some(reader);
    }

    /// Takes a segment's payload, which begins at `start`, and sharpens what it is.
    pub(super) fn read(&mut self, seg: &mut Seg, start: u64, payload: &[u8]) {
        if let Some(decrypter) = &mut self.decrypter
            && let Some(kind) = decrypter.read(seg, start, payload)
            && matches!(seg.kind, PayloadKind::Unread | PayloadKind::MaybeCredit)
        {
            seg.kind = kind;
        }
        if let Some(clear) = &mut self.clear
            && let Some(kind) = clear.read(seg, start, payload)
            && seg.kind != PayloadKind::Continuation
        {
            seg.kind = kind;
        }
    }

    /// Whether a side is in the middle of a message.
    pub(super) fn is_within(&self, side: Side) -> bool {
        self.decrypter.as_ref().is_some_and(|decrypter| decrypter.is_within(side))
            || self.clear.as_ref().is_some_and(|clear| clear.is_within(side))
    }

    /// Number of next bytes of a side that need not be read.
    pub(super) fn unread(&self, from: Side) -> u64 {
        let in_clear = self.clear.as_ref().map_or(u64::MAX, |clear| clear.unread(from));
        if self.decrypter.is_some() { 0 } else { in_clear }
    }

    /// This number of them has passed.
    pub(super) fn passed(&mut self, from: Side, bytes: u64) {
        if let Some(clear) = &mut self.clear {
            clear.passed(from, bytes);
        }
    }

    /// Gives up heads before these positions.
    pub(in crate::tcp) fn forget(&mut self, before: [u64; 2]) {
        self.decrypter.iter_mut().for_each(|decrypter| decrypter.forget(before));
        self.clear.iter_mut().for_each(|clear| clear.forget(before));
    }

    /// Adds what they found to what the payload shows otherwise.
    pub(in crate::tcp) fn note(&mut self, content: &mut [Content; 2]) {
        self.decrypter.iter_mut().for_each(|decrypter| decrypter.note(content));
        self.clear.iter_mut().for_each(|clear| clear.note(content));
    }

    /// How far it was decrypted, and what the messages showed, in clear or decrypted. `of_quic`:
    /// what is known of a QUIC connection.
    pub(in crate::tcp) fn finish(
        self,
        content: &[Content; 2],
        client: Side,
        of_quic: Option<&QuicNotes>,
    ) -> (Option<Decryption>, Option<Box<MessageFacts>>) {
        let (decryption, inside) =
            self.decrypter.map_or((None, None), |decrypter| decrypter.finish(content, client, of_quic));
        (decryption, inside.or_else(|| self.clear.and_then(|clear| clear.finish())))
    }
}
