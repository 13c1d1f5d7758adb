//! Which packets are lost.

use super::config::Loss;
use super::dice::{ChanceStream, Knob};
use crate::log::Meta;
use std::collections::BTreeMap;

/// The SYN bit of the flags (RFC 9293 section 3.1).
const SYN: u8 = 2;

/// The state of a loss model. It outlives a change of the model: counts and the bad state go on.
#[derive(Debug)]
pub(super) struct LossState {
    die: ChanceStream,
    bad: bool,
    data_packets: u64,
    stream: Stream,
}

/// The connection that was opened last.
#[derive(Debug, Default)]
struct Stream {
    ports: (u16, u16),
    /// The sequence number of its first byte.
    first: Option<u32>,
    /// How often a segment with a listed byte was lost.
    lost: BTreeMap<u64, usize>,
}

impl LossState {
    pub(super) fn new(seed: u64) -> Self {
        Self { die: ChanceStream::new(seed, Knob::Loss), bad: false, data_packets: 0, stream: Stream::default() }
    }

    /// Is the next packet lost?
    pub(super) fn loses(&mut self, model: &Loss, packet: &Meta) -> bool {
        let is_data = packet.payload_bytes > 0;
        self.data_packets += u64::from(is_data);
        if packet.flags & SYN != 0 {
            self.stream.open(packet);
        }
        match model {
            Loss::None => false,
            Loss::Independent(p) => self.die.chance(*p),
            Loss::GilbertElliott { to_bad, to_good, loss_good, loss_bad } => {
                if self.die.chance(if self.bad { *to_good } else { *to_bad }) {
                    self.bad = !self.bad;
                }
                self.die.chance(if self.bad { *loss_bad } else { *loss_good })
            }
            Loss::DataPackets(list) => is_data && list.contains(&self.data_packets),
            Loss::Places(list) => is_data && self.stream.loses(list, packet),
        }
    }
}

impl Stream {
    /// A SYN that is sent again opens nothing new.
    fn open(&mut self, packet: &Meta) {
        let (ports, first) = ((packet.source_port, packet.destination_port), packet.seq.wrapping_add(1));
        if (self.ports, self.first) != (ports, Some(first)) {
            *self = Self { ports, first: Some(first), lost: BTreeMap::new() };
        }
    }

    /// Whether a listed byte is in the segment that is to be lost (again).
    fn loses(&mut self, list: &[u64], packet: &Meta) -> bool {
        let Some(first) = self.first.filter(|_| self.ports == (packet.source_port, packet.destination_port)) else {
            return false;
        };
        let start = u64::from(packet.seq.wrapping_sub(first));
        let end = start + u64::from(packet.payload_bytes);
        let (from, to) = (list.partition_point(|place| *place < start), list.partition_point(|place| *place < end));
        let mut is_lost = false;
        for same in list.get(from..to).unwrap_or_default().chunk_by(|a, b| a == b) {
            let lost = same.first().map(|place| self.lost.entry(*place).or_default());
            if let Some(lost) = lost.filter(|lost| **lost < same.len()) {
                *lost += 1;
                is_lost = true;
            }
        }
        is_lost
    }
}
