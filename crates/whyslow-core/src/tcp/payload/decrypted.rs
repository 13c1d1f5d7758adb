//! [`Decrypter`]: the payload of a connection whose secrets may be known, and the messages in it.

use super::content::Content;
use super::kind::PayloadKind;
use super::messages::{Conversation, MessageFacts};
use super::protocol::Protocol;
use crate::tcp::quic_notes::QuicNotes;
use crate::tcp::segment::Seg;
use crate::tls::{KeyRing, Sent, Session};
use crate::types::{Decryption, Frame, Side, StreamBytes};

/// Decrypts a connection, and reads the messages in it.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct Decrypter {
    /// None of a QUIC connection, whose packets are opened before.
    session: Option<Session>,
    messages: Conversation,
    /// Of the last segment with payload.
    last: Frame,
}

impl Decrypter {
    pub(in crate::tcp) fn new(ring: KeyRing) -> Box<Self> {
        let session = Some(Session::new(ring));
        Box::new(Self { session, messages: Conversation::default(), last: Frame::default() })
    }

    /// Of a QUIC connection. `client`: the side that opened it.
    pub(in crate::tcp) fn of_quic(client: Side, is_http3: bool) -> Box<Self> {
        let messages = if is_http3 { Conversation::http3(client) } else { Conversation::unknown() };
        Box::new(Self { session: None, messages, last: Frame::default() })
    }

    /// Takes bytes of streams of QUIC, which the next segment carries or which came before it.
    pub(in crate::tcp) fn read_streams(&mut self, streams: &[StreamBytes]) {
        streams.iter().for_each(|piece| self.messages.read_stream(piece));
    }

    /// Takes a segment's payload, which begins at `start`; returns what it shows of its part in the
    /// conversation, if that is known.
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

    /// Gives up heads before these positions.
    pub(in crate::tcp) fn forget(&mut self, before: [u64; 2]) {
        self.messages.forget(before);
    }

    /// Adds what it found to what the encrypted payload shows.
    pub(in crate::tcp) fn note(&mut self, content: &mut [Content; 2]) {
        self.messages.note(content);
    }

    /// Finishes it: how far it went, if the connection is one of TLS, or of QUIC, and what the
    /// messages showed. `of_quic`: what is known of a QUIC connection.
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
