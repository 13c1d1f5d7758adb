//! What a connection keeps of a segment: no borrowed bytes, so that it can wait until the vantage is known, and no more than
//! a cache line. SACK blocks, which few segments have, are kept beside it.

use crate::analysis::Frame;
use crate::flow::Side;
use crate::units::{Nanos, SeqNumber};
use crate::wire::{Flags, Segment};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Seg {
    pub time: Nanos,
    // Apart, so that what was just written in two pieces is not read as one, which the processor would have to wait for.
    frame: u64,
    pub timestamps: Option<(u32, u32)>,
    pub ack: Option<SeqNumber>,
    pub seq: SeqNumber,
    pub len: u32,
    pub ip_id: Option<u16>,
    pub flags: Flags,
    pub window: u16,
    file: Option<u16>,
    side: u8,
    /// Its own time was before that of an earlier packet, whose time it was given: no difference to it was measured.
    pub moved: bool,
    pub ttl: u8,
    /// The two ECN bits of the IP header.
    pub ecn: u8,
}

const _: () = assert!(size_of::<Seg>() <= 64, "a connection holds many of them");

impl Seg {
    #[inline(always)]
    pub fn new(segment: &Segment<'_>, from: Side, time: Nanos, frame: Frame) -> Self {
        Self {
            time,
            moved: false,
            frame: frame.number,
            file: frame.file,
            side: u8::from(from != 0),
            seq: segment.seq,
            ack: segment.flags.has(Flags::ACK).then_some(segment.ack),
            flags: segment.flags,
            window: segment.window,
            len: segment.payload_len,
            timestamps: segment.options.timestamps,
            ip_id: segment.ip_id,
            ttl: segment.ttl,
            ecn: segment.ecn,
        }
    }

    /// Where it is in the capture.
    #[inline(always)]
    pub fn frame(&self) -> Frame {
        Frame { file: self.file, number: self.frame }
    }

    /// Who sent it.
    #[inline(always)]
    pub fn from(&self) -> Side {
        usize::from(self.side & 1)
    }

    /// Sequence space that it takes: payload, SYN and FIN.
    pub fn space(&self) -> u32 {
        self.len
            .saturating_add(u32::from(self.flags.has(Flags::SYN)))
            .saturating_add(u32::from(self.flags.has(Flags::FIN)))
    }
}
