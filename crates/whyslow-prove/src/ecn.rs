//! Congestion marks: whether both ends use ECN, and which segments were marked (RFC 3168).

use super::captured::Captured;
use whyslow_analysis::End;
use whyslow_diagnosis::series::Flags;

impl Captured {
    /// Whether both ends agreed to ECN (section 6.1.1).
    pub fn uses_ecn(&self) -> bool {
        let syn = |end| self.packets.all.iter().rfind(|packet| packet.is_syn() && packet.from == end);
        let asks = syn(End::Client).is_some_and(|syn| syn.flags.has(Flags::ECE | Flags::CWR));
        asks && syn(End::Server).is_some_and(|syn| syn.flags.has(Flags::ECE) && !syn.flags.has(Flags::CWR))
    }

    /// One byte of each marked segment of an end: segments with the mark if the capture is behind
    /// the queue, otherwise those that its receiver's ACKs report.
    pub fn marked(&self, from: End) -> Vec<u64> {
        let carried: Vec<u64> = self.packets.data(from).filter(|packet| packet.marked).map(|it| it.start).collect();
        let mut places = if carried.is_empty() && self.uses_ecn() { self.echoed(from) } else { carried };
        places.sort_unstable();
        places
    }

    /// A receiver repeats a mark until the sender answers it (section 6.1.3): what is repeated
    /// behind the answer is another one.
    fn echoed(&self, from: End) -> Vec<u64> {
        let (mut places, mut repeats, mut answered) = (Vec::new(), false, None);
        for packet in self.packets.all.iter().filter(|packet| !packet.is_syn()) {
            if packet.from == from {
                if packet.flags.has(Flags::CWR) && packet.len > 0 {
                    answered = Some(packet.start);
                }
                continue;
            }
            let Some(ack) = packet.ack.filter(|ack| *ack > 0) else { continue };
            let is_new = !repeats || answered.is_some_and(|answer| ack > answer);
            repeats = packet.flags.has(Flags::ECE);
            if repeats && is_new {
                places.push(ack - 1);
                answered = None;
            }
        }
        places
    }
}
