//! [`Sent`]: the segment derived from a datagram.

use crate::wire::{FlowKey, Segment};
use std::net::IpAddr;
use whyslow_analysis::types::{Decryption, End, Frame, Quic, QuicOpened, StreamBytes};
use whyslow_units::{Nanos, Time};

/// Address and port of an end.
pub(super) type Endpoint = (IpAddr, u16);

/// The segment derived from a datagram.
#[derive(Clone, Debug)]
pub struct Sent {
    /// The equivalent TCP segment.
    pub segment: Segment<'static>,
    /// Capture time.
    pub time: Time,
    /// Frame number.
    pub frame: Frame,
    /// The sender.
    pub from: End,
    /// Stream bytes since the last segment, if a key log decrypts them.
    pub streams: Vec<StreamBytes>,
}

impl Sent {
    /// The key of its connection.
    pub fn flow_key(&self) -> FlowKey {
        FlowKey::of(&self.segment).over_quic()
    }
}

/// Facts of a connection in addition to its segments.
#[derive(Clone, Debug)]
pub struct Known<'a> {
    /// Facts from the handshake and the packets.
    pub facts: &'a Quic,
    /// The server name (SNI).
    pub name: Option<&'a str>,
    /// Facts from decrypted packets.
    pub opened: Option<QuicOpened>,
    /// How many packets were decrypted; `None` without a key log.
    pub decryption: Option<Decryption>,
    /// Lowest round trips from the capture point to the client and to the server, if decrypted
    /// packets show them.
    pub loops: [Option<Nanos>; 2],
}
