//! [`Sent`]: what a datagram did, as a segment.

use crate::types::{Decryption, End, Frame, Quic, QuicOpened, StreamBytes};
use crate::units::{Nanos, Time};
use crate::wire::{FlowKey, Segment};
use std::net::IpAddr;

/// One end.
pub(super) type Endpoint = (IpAddr, u16);

/// What a datagram did, as a segment.
#[derive(Clone, Debug)]
pub struct Sent {
    /// As TCP would have sent it.
    pub segment: Segment<'static>,
    /// When.
    pub time: Time,
    /// In which packet.
    pub frame: Frame,
    /// Which end sent it.
    pub from: End,
    /// Bytes of streams that passed since the last segment, if a key log opens them.
    pub streams: Vec<StreamBytes>,
}

impl Sent {
    /// Whose it is.
    pub fn flow_key(&self) -> FlowKey {
        FlowKey::of(&self.segment).over_quic()
    }
}

/// What is known of a connection beside its segments.
#[derive(Clone, Debug)]
pub struct Known<'a> {
    /// What the handshake and the packets show.
    pub facts: &'a Quic,
    /// The server's name.
    pub name: Option<&'a str>,
    /// What a key log opens.
    pub opened: Option<QuicOpened>,
    /// How far it opens the packets; `None` without one.
    pub decryption: Option<Decryption>,
    /// The least time from the capture point to the client and back, and to the server, as far as
    /// packets show it that are opened.
    pub loops: [Option<Nanos>; 2],
}
