//! [`PayloadReaders`]: optional parsers of a connection's payload; few connections need them.

use super::content::Content;
use super::decrypted::Decrypter;
use super::kind::PayloadKind;
use super::messages::{ClearReader, MessageFacts};
use crate::tcp::quic_notes::QuicNotes;
use crate::tcp::segment::Seg;
use whyslow_analysis::types::{Decryption, Side};

/// The optional parsers of a connection's payload.
#[derive(Clone, Debug, Default)]
pub(in crate::tcp) struct PayloadReaders {
    /// Decrypts it, if secrets were given.
    pub(in crate::tcp) decrypter: Option<Box<Decrypter>>,
    /// Parses unencrypted messages, once their protocol was recognised.
    clear: Option<Box<ClearReader>>,
    /// Messages are not parsed: the payload was not stored.
    ignores_messages: bool,
}

/// The location where the parsers are stored.
pub(in crate::tcp) trait ReaderPlace {
    /// The parsers, if there are any.
    fn readers(&mut self) -> Option<&mut PayloadReaders>;
    /// The parsers; creates them if there are none.
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
    /// Disables parsing of messages: the payload was not stored.
    pub(in crate::tcp) fn ignore_messages(&mut self) {
        self.ignores_messages = true;
    }

    /// Whether a protocol may still be recognised.
    pub(super) fn awaits_opening(&self) -> bool {
        self.clear.is_none() && !self.ignores_messages
    }

    pub(super) fn read_clear(&mut self, reader: Box<ClearReader>) {
        self.clear = Some(reader);
    }

    /// Takes a segment's payload, which begins at `start`, and refines the segment's role.
    pub(super) fn read(&mut self, seg: &mut Seg, start: u64, payload: &[u8]) {
        if let Some(decrypter) = &mut self.decrypter
            && let Some(kind) = decrypter.read(seg, start, payload)
            && matches!(seg.kind, PayloadKind::Unread | PayloadKind::MaybeCredit | PayloadKind::BehindGreeting)
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

    /// The side that sends requests in clear, if known.
    pub(in crate::tcp) fn client(&self) -> Option<Side> {
        self.clear.as_ref().and_then(|clear| clear.client())
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

    /// Passes over this number of them.
    pub(super) fn passed(&mut self, from: Side, bytes: u64) {
        if let Some(clear) = &mut self.clear {
            clear.passed(from, bytes);
        }
    }

    /// Drops heads before these positions.
    pub(in crate::tcp) fn forget(&mut self, before: [u64; 2]) {
        self.decrypter.iter_mut().for_each(|decrypter| decrypter.forget(before));
        self.clear.iter_mut().for_each(|clear| clear.forget(before));
    }

    /// Adds their results to the other facts about the payload.
    pub(in crate::tcp) fn note(&mut self, content: &mut [Content; 2]) {
        self.decrypter.iter_mut().for_each(|decrypter| decrypter.note(content));
        self.clear.iter_mut().for_each(|clear| clear.note(content));
    }

    /// How much was decrypted, and the facts about messages, unencrypted or decrypted. `of_quic`:
    /// the facts of a QUIC connection.
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
