//! What a connection keeps of a segment: no borrowed bytes, so that it can wait until the vantage is known.

use crate::analysis::Frame;
use crate::flow::Side;
use crate::units::{Nanos, SeqNumber};
use crate::wire::{Flags, SackBlocks, Segment};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Seg {
    pub time: Nanos,
    /// Its own time was before that of an earlier packet, whose time it was given: no difference to it was measured.
    pub moved: bool,
    pub frame: Frame,
    pub from: Side,
    pub seq: SeqNumber,
    pub ack: Option<SeqNumber>,
    pub flags: Flags,
    pub window: u16,
    pub len: u32,
    pub timestamps: Option<(u32, u32)>,
    pub sack: SackBlocks,
    pub ip_id: Option<u16>,
    pub ttl: u8,
    /// The two ECN bits of the IP header.
    pub ecn: u8,
}

impl Seg {
    pub fn new(segment: &Segment<'_>, from: Side, time: Nanos, frame: Frame) -> Self {
        Self {
            time,
            moved: false,
            frame,
            from,
            seq: segment.seq,
            ack: segment.flags.has(Flags::ACK).then_some(segment.ack),
            flags: segment.flags,
            window: segment.window,
            len: segment.payload_len,
            timestamps: segment.options.timestamps,
            sack: segment.options.sack,
            ip_id: segment.ip_id,
            ttl: segment.ttl,
            ecn: segment.ecn,
        }
    }

    /// Sequence space that it takes: payload, SYN and FIN.
    pub fn space(&self) -> u32 {
        self.len
            .saturating_add(u32::from(self.flags.has(Flags::SYN)))
            .saturating_add(u32::from(self.flags.has(Flags::FIN)))
    }

    /// The same packet captured a second time, and not the same segment sent a second time: nothing at all differs,
    /// and the sender's IP stack, which numbers its packets, did not number it anew.
    pub fn is_same_packet(&self, other: &Self) -> bool {
        self.from == other.from
            && self.ip_id.is_some_and(|id| id != 0)
            && self.ip_id == other.ip_id
            && self.seq == other.seq
            && self.ack == other.ack
            && self.flags == other.flags
            && self.window == other.window
            && self.len == other.len
            && self.timestamps == other.timestamps
            && self.sack == other.sack
    }
}
