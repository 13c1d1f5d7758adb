//! [`Decrypter`]: decrypts the payload of a connection and parses its messages.

use super::content::Content;
use super::kind::PayloadKind;
use super::messages::{Conversation, MessageFacts};
use super::protocol::Protocol;
use crate::tcp::quic_notes::QuicNotes;
use crate::tcp::segment::Seg;
use crate::tls::{KeyRing, Sent, Session};
use whyslow_analysis::types::{Decryption, Frame, Side, StreamBytes};

/// Decrypts a connection and parses its messages.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct Decrypter {
    /// `None` for a QUIC connection, whose packets are decrypted earlier.
    session: Option<Session>,
    messages: Conversation,
    /// Frame of the last segment with payload.
    last: Frame,
}

impl Decrypter {
    pub(in crate::tcp) fn new(ring: KeyRing) -> Box<Self> {
        let session = Some(Session::new(ring));
        Box::new(Self { session, messages: Conversation::default(), last: Frame::default() })
    }

    /// Creates one for a QUIC connection. `client`: the side that opened it.
    pub(in crate::tcp) fn of_quic(client: Side, is_http3: bool) -> Box<Self> {
        let messages = if is_http3 { Conversation::http3(client) } else { Conversation::unknown() };
        Box::new(Self { session: None, messages, last: Frame::default() })
    }

    /// Takes QUIC stream bytes of the next segment, or of earlier ones.
    pub(in crate::tcp) fn read_streams(&mut self, streams: &[StreamBytes]) {
        streams.iter().for_each(|piece| self.messages.read_stream(piece));
    }

    /// Takes a segment's payload, which begins at `start`. Returns its role in the conversation, if
    /// known.
    pub(super) fn read(&mut self, seg: &Seg, start: u64, payload: &[u8]) -> Option<PayloadKind> {
        self.last = seg.frame_ref.frame();
        let Some(session) = &mut self.session else {
            let kind = self.messages.kind_of_segment(seg.from());
            self.messages.begin_segment();
            return kind;
        };
        self.messages.begin_segment();
        let (from, len, time, frame) = (seg.from(), seg.len.into(), seg.time, self.last);
        session.push(&Sent { from, start, bytes: payload, len, time, frame }, &mut self.messages);
        self.messages.kind_of_segment(from)
    }

    /// Whether a side is in the middle of a message.
    pub(super) fn is_within(&self, side: Side) -> bool {
        self.messages.is_within(side)
    }

    /// Drops heads before these positions.
    pub(in crate::tcp) fn forget(&mut self, before: [u64; 2]) {
        self.messages.forget(before);
    }

    /// Adds the results to those of the encrypted payload.
    pub(in crate::tcp) fn note(&mut self, content: &mut [Content; 2]) {
        self.messages.note(content);
    }

    /// Completes the parsing. Returns how much was decrypted, if the connection is TLS or QUIC, and
    /// the facts about its messages. `of_quic`: the facts of a QUIC connection.
    pub(in crate::tcp) fn finish(
        self,
        content: &[Content; 2],
        client: Side,
        of_quic: Option<&QuicNotes>,
    ) -> (Option<Decryption>, Option<Box<MessageFacts>>) {
        let is_tls = content.iter().any(|content| content.protocol == Some(Protocol::Tls));
        let decryption = match &self.session {
            Some(session) if is_tls || session.has_begun() => Some(session.outcome(client, self.last)),
            Some(_) => None,
            None => of_quic.and_then(|notes| notes.decryption.clone()),
        };
        if decryption.is_none() {
            return (None, None);
        }
        (decryption, self.messages.finish().map(Box::new))
    }
}
