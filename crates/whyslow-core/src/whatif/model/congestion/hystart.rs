//! HyStart as Linux has it (Ha and Rhee 2011; `tcp_cubic.c`): ends slow start before it loses, when the round trip rises or a
//! round's ACKs come in a train as long as half of it.

use super::Acked;
use crate::units::Nanos;

/// Below this window it does nothing, segments.
const LOW_WINDOW: f64 = 16.0;
/// Round trips looked at in a round.
const SAMPLES: u32 = 8;
/// The rise that ends slow start: an eighth of the least round trip, within these bounds.
const RISE: (Nanos, Nanos) = (Nanos::from_millis(4), Nanos::from_millis(16));
/// ACKs less apart than this form a train.
const TRAIN: Nanos = Nanos::from_millis(2);

#[derive(Debug, Default)]
pub(super) struct HyStart {
    least: Option<Nanos>,
    round_start: Nanos,
    last_ack: Nanos,
    samples: u32,
    /// Least of this round's samples.
    of_round: Option<Nanos>,
}

impl HyStart {
    /// Whether slow start should end with this ACK, at a window of so many segments.
    pub(super) fn ends(&mut self, acked: &Acked, window: f64) -> bool {
        let Some(rtt) = acked.rtt else { return false };
        if acked.new_round {
            self.round_start = acked.now;
            self.last_ack = acked.now;
            self.samples = 0;
            self.of_round = None;
        }
        let least = self.least.map_or(rtt, |least| least.min(rtt));
        self.least = Some(least);
        if window < LOW_WINDOW {
            return false;
        }
        if acked.now - self.last_ack <= TRAIN {
            self.last_ack = acked.now;
            if acked.now - self.round_start > least.scale(0.5) {
                return true;
            }
        }
        if self.samples < SAMPLES {
            self.samples += 1;
            self.of_round = Some(self.of_round.map_or(rtt, |known| known.min(rtt)));
            return false;
        }
        self.of_round.is_some_and(|rtt| rtt > least + least.scale(0.125).max(RISE.0).min(RISE.1))
    }
}
