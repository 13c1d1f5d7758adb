//! [`Pick`]: the packets of one connection as they are, for a slice of the capture.

use super::Wanted;
use crate::capture::{Packet, Sink};
use crate::flow::{ConnectionId, Gone, Table};
use crate::units::Nanos;
use crate::wire::{self, Ends};

/// Takes the packets of a capture once more, and gives those of one connection in a time range, whole.
pub struct Pick<'a> {
    wanted: Wanted,
    /// From the capture's first packet.
    range: (Nanos, Nanos),
    table: Table<()>,
    gone: Gone<()>,
    opened: u64,
    first: Option<Nanos>,
    give: &'a mut dyn FnMut(&Packet<'_>),
}

impl std::fmt::Debug for Pick<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pick").field("wanted", &self.wanted).field("range", &self.range).finish_non_exhaustive()
    }
}

impl<'a> Pick<'a> {
    /// `give` is called for each packet of the connection from `range.0` to `range.1`, in the capture's order.
    pub fn new(wanted: Wanted, range: (Nanos, Nanos), give: &'a mut dyn FnMut(&Packet<'_>)) -> Self {
        Self { wanted, range, table: Table::default(), gone: Vec::new(), opened: 0, first: None, give }
    }
}

impl Sink for Pick<'_> {
    fn packet(&mut self, packet: &Packet<'_>) {
        let first = *self.first.get_or_insert(packet.time);
        let Ok(segment) = wire::decode(packet) else { return };
        // The same table with the same segments tells the same connections apart as in the first pass.
        let ends = Ends::of(&segment);
        self.table.tick(packet.time, &mut self.gone);
        let next = ConnectionId(self.opened);
        let routed = self.table.route(&segment, (&ends, ends.hash()), packet.time, next, &mut self.gone, || ());
        let id = routed.id;
        self.opened += u64::from(routed.new);
        self.gone.clear();
        let time = packet.time - first;
        if id.0 + 1 == self.wanted.id && time >= self.range.0 && time <= self.range.1 {
            (self.give)(packet);
        }
    }
}
