//! Packets that are not segments: per row, one is stored for all with the same reason.

use std::collections::HashMap;
use whyslow_core::capture::Packet;
use whyslow_core::capture::condensed::build::MAX_VERBATIM;
use whyslow_core::capture::condensed::write::{PacketTime, RowWriter};
use whyslow_core::wire::{self, Skip};

/// Bytes of a packet stored in the first attempt.
const SHORT: usize = 192;
/// Maximum number of reasons remembered for a row.
const MAX_REASONS: usize = 4096;

/// The packets of a row that are stored unchanged, by the reason why they are not segments.
#[derive(Debug, Default)]
pub(super) struct SkippedPackets(HashMap<Skip, u64>);

impl SkippedPackets {
    /// Starts a new row.
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }

    pub(super) fn write(&mut self, row: &mut RowWriter, packet: &Packet<'_>, skip: Skip) {
        if let Some(&number) = self.0.get(&skip) {
            return row.repeated(number, PacketTime { time: packet.time, frame: packet.frame });
        }
        let short = packet.data.get(..SHORT).unwrap_or(packet.data);
        let is_enough = wire::decode(&Packet { data: short, ..*packet });
        let is_enough = is_enough.is_err_and(|short| short == skip || short.counted() == skip);
        let held = if is_enough { short } else { packet.data.get(..MAX_VERBATIM).unwrap_or(packet.data) };
        let number = row.verbatim(packet, held);
        if self.0.len() < MAX_REASONS {
            self.0.insert(skip, number);
        }
    }
}
