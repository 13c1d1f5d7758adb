//! State from previous packets that reader and writer of a row share: only differences are stored.

use super::headers::{PacketForm, TcpHeaders};
use std::net::IpAddr;

/// A connection of a row.
#[derive(Clone, Debug)]
pub(super) struct ConnectionState {
    /// The ends; the sender of its first packet in this row comes first.
    pub(super) ends: [(IpAddr, u16); 2],
    pub(super) directions: [DirectionState; 2],
}

/// Expected values of a side's next packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct DirectionState {
    pub(super) seq: u32,
    pub(super) ack: u32,
    pub(super) flags: u16,
    pub(super) window: u16,
    pub(super) payload_len: u32,
    /// Captured bytes of a longer payload.
    pub(super) snap: u32,
    pub(super) stamps: Option<(u32, u32)>,
    pub(super) ip_id: u16,
    pub(super) ip_id_step: u16,
    pub(super) ttl: u8,
    pub(super) ecn: u8,
    pub(super) form: PacketForm,
}

impl DirectionState {
    const NEW: Self = Self {
        seq: 0,
        ack: 0,
        flags: 0x10,
        window: 0,
        payload_len: 0,
        snap: u32::MAX,
        stamps: None,
        ip_id: 0,
        ip_id_step: 1,
        ttl: 64,
        ecn: 0,
        form: PacketForm {
            tunnels: 0,
            fragment: false,
            lengthless: false,
            damaged: false,
            partial: false,
            off_by: [0; 2],
        },
    };

    /// Expected number of captured bytes of a payload with this length.
    pub(super) fn captured(&self, payload_len: u32) -> u32 {
        payload_len.min(self.snap)
    }

    pub(super) fn next_ip_id(&self) -> u16 {
        self.ip_id.wrapping_add(self.ip_id_step)
    }
}

impl ConnectionState {
    pub(super) fn new(ends: [(IpAddr, u16); 2]) -> Self {
        Self { ends, directions: [DirectionState::NEW; 2] }
    }

    /// Updates the state after a packet of this side.
    #[inline]
    pub(super) fn advance(&mut self, side: usize, headers: &TcpHeaders) {
        let (own, other) = match &mut self.directions {
            [own, other] if side == 0 => (own, other),
            [other, own] => (own, other),
        };
        let marks = u32::from(headers.flags & 2 != 0) + u32::from(headers.flags & 1 != 0);
        own.seq = headers.seq.wrapping_add(headers.payload_len).wrapping_add(marks);
        own.ack = headers.ack;
        if other.seq == 0 && other.ack == 0 {
            // The other side is expected to respond.
            (other.seq, other.ack) = (own.ack, own.seq);
        }
        own.flags = headers.flags;
        own.window = headers.window;
        own.payload_len = headers.payload_len;
        if headers.captured != own.captured(headers.payload_len) {
            own.snap = headers.captured;
        }
        own.stamps = headers.options.timestamps;
        // IDs with other steps are random.
        own.ip_id_step = Some(headers.ip_id.wrapping_sub(own.ip_id)).filter(|step| *step < 256).unwrap_or(1);
        own.ip_id = headers.ip_id;
        (own.ttl, own.ecn, own.form) = (headers.ttl, headers.ecn, headers.form);
    }
}
