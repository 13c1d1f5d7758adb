//! Which packets are lost, marked or held back.

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
    /// How often a segment with a listed byte was taken.
    taken: BTreeMap<u64, usize>,
}

impl LossState {
    pub(super) fn new(seed: u64, knob: Knob) -> Self {
        Self { die: ChanceStream::new(seed, knob), bad: false, data_packets: 0, stream: Stream::default() }
    }

    /// Is the next packet one of them?
    pub(super) fn takes(&mut self, model: &Loss, packet: &Meta) -> bool {
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
            Loss::Places(list) => is_data && self.stream.takes(list, packet),
        }
    }
}

impl Stream {
    /// A SYN that is sent again opens nothing new.
    fn open(&mut self, packet: &Meta) {
        let (ports, first) = ((packet.source_port, packet.destination_port), packet.seq.wrapping_add(1));
        if (self.ports, self.first) != (ports, Some(first)) {
            *self = Self { ports, first: Some(first), taken: BTreeMap::new() };
        }
    }

    /// Whether a listed byte is in the segment that is to be taken (again).
    fn takes(&mut self, list: &[u64], packet: &Meta) -> bool {
        let Some(first) = self.first.filter(|_| self.ports == (packet.source_port, packet.destination_port)) else {
            return false;
        };
        let start = u64::from(packet.seq.wrapping_sub(first));
        let end = start + u64::from(packet.payload_bytes);
        let (from, to) = (list.partition_point(|place| *place < start), list.partition_point(|place| *place < end));
        let mut is_taken = false;
        for same in list.get(from..to).unwrap_or_default().chunk_by(|a, b| a == b) {
            let taken = same.first().map(|place| self.taken.entry(*place).or_default());
            if let Some(taken) = taken.filter(|taken| **taken < same.len()) {
                *taken += 1;
                is_taken = true;
            }
        }
        is_taken
    }
}
