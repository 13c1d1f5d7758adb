//! Which packets are lost.

use super::config::Loss;
use super::dice::{ChanceStream, Knob};

/// The state of a loss model. It outlives a change of the model: counts and the bad state go on.
#[derive(Debug)]
pub(super) struct LossState {
    die: ChanceStream,
    bad: bool,
    data_packets: u64,
}

impl LossState {
    pub(super) fn new(seed: u64) -> Self {
        Self { die: ChanceStream::new(seed, Knob::Loss), bad: false, data_packets: 0 }
    }

    /// Is the next packet lost? `is_data`: it carries TCP payload.
    pub(super) fn loses(&mut self, model: &Loss, is_data: bool) -> bool {
        self.data_packets += u64::from(is_data);
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
        }
    }
}
