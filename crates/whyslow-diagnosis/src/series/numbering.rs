//! [`ConnectionNumbering`]: assigns segments to the connection numbers of the first pass.
//!
//! The same segments in the same order get the same numbers again, because this uses the flow table
//! of the first pass.

use whyslow_analysis::types::Side;
use whyslow_core::flow::{ConnectionId, FlowTable};
use whyslow_core::quic::Sent;
use whyslow_core::wire::{FastPacket, FlowKey, Icmp, PlainSegment, Segment};
use whyslow_units::Time;

/// Numbers the connections in a second pass over a capture.
#[derive(Debug, Default)]
pub(super) struct ConnectionNumbering {
    table: FlowTable<()>,
    /// Number of connections so far.
    opened: u64,
}

impl ConnectionNumbering {
    /// Like [`of`](Self::of), for a plain segment of a known connection. For all others the caller
    /// must call `of`.
    pub fn of_plain<'a>(&mut self, fast: &FastPacket<'a>, time: Time) -> Option<(u64, Side, PlainSegment<'a>)> {
        self.advance_time(time);
        let found = self.table.find(&fast.flow_key().into())?;
        let plain = fast.plain()?;
        let (id, from) = (found.id(), found.from);
        found.on_plain_segment(time);
        Some((id.0 + 1, from, plain))
    }

    /// The id of the connection that an ICMP error belongs to, if known, and the side that sent the
    /// quoted packet.
    pub fn of_error(&mut self, error: &Icmp) -> Option<(u64, Side)> {
        let found = self.table.find(&error.flow_key().into())?;
        Some((found.id().0 + 1, found.from))
    }

    /// The segment's connection id in an analysis, and the side that sent the segment.
    pub fn of(&mut self, segment: &Segment<'_>, time: Time) -> (u64, Side) {
        self.advance_time(time);
        self.with_key(segment, FlowKey::of(segment))
    }

    /// Like [`of`](Self::of), for a QUIC packet.
    pub fn of_quic(&mut self, sent: &Sent) -> (u64, Side) {
        self.table.note_time(sent.time);
        self.with_key(&sent.segment, sent.flow_key())
    }

    fn with_key(&mut self, segment: &Segment<'_>, key: FlowKey) -> (u64, Side) {
        let next = ConnectionId(self.opened);
        let routed = self.table.route(segment, &key.into(), next, || ());
        let (id, from) = (routed.id, routed.from);
        self.opened += u64::from(routed.new);
        (id.0 + 1, from)
    }

    fn advance_time(&mut self, time: Time) {
        self.table.advance_time(time);
        if self.table.has_evicted() {
            self.table.take_evicted();
        }
    }
}
