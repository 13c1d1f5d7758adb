//! [`Sent`]: what a datagram did, as a segment.

use crate::types::Frame;
use crate::units::Time;
use crate::wire::{FlowKey, Segment};
use std::net::IpAddr;

/// One end.
pub(super) type Endpoint = (IpAddr, u16);

/// What a datagram did, as a segment.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// As TCP would have sent it.
    pub segment: Segment<'static>,
    /// When.
    pub time: Time,
    /// In which packet.
    pub frame: Frame,
}

impl Sent {
    /// Whose it is.
    pub fn flow_key(&self) -> FlowKey {
        FlowKey::of(&self.segment).over_quic()
    }
}
