//! HyStart as Linux has it (Ha and Rhee 2011; `tcp_cubic.c`): ends slow start before it loses, when
//! the round trip rises or a round's ACKs come in a train as long as half of it.

use super::AckSample;
use whyslow_units::{Nanos, Time};

/// The minimum window for HyStart, segments.
const HYSTART_LOW_WINDOW: f64 = 16.0;
/// Round trips looked at in a round.
const SAMPLES: u32 = 8;
/// The rise that ends slow start: an eighth of the minimum RTT, within these bounds.
const DELAY_RISE: (Nanos, Nanos) = (Nanos::from_millis(4), Nanos::from_millis(16));
/// ACKs less apart than this form a train.
const ACK_TRAIN_GAP: Nanos = Nanos::from_millis(2);

#[derive(Debug, Default)]
pub(super) struct HyStart {
    min_rtt: Option<Nanos>,
    round_start: Time,
    last_ack: Time,
    samples: u32,
    /// Minimum of this round's samples.
    round_min_rtt: Option<Nanos>,
}

impl HyStart {
    /// Whether slow start should end with this ACK, at this window in segments.
    pub(super) fn should_exit(&mut self, acked: &AckSample, window: f64) -> bool {
        let Some(rtt) = acked.rtt else { return false };
        if acked.new_round {
            self.round_start = acked.now;
            self.last_ack = acked.now;
            self.samples = 0;
            self.round_min_rtt = None;
        }
        let least = self.min_rtt.map_or(rtt, |least| least.min(rtt));
        self.min_rtt = Some(least);
        if window < HYSTART_LOW_WINDOW {
            return false;
        }
        if acked.now - self.last_ack <= ACK_TRAIN_GAP {
            self.last_ack = acked.now;
            if acked.now - self.round_start > least.scale(0.5) {
                return true;
            }
        }
        if self.samples < SAMPLES {
            self.samples += 1;
            self.round_min_rtt = Some(self.round_min_rtt.map_or(rtt, |known| known.min(rtt)));
            return false;
        }
        self.round_min_rtt.is_some_and(|rtt| rtt > least + least.scale(0.125).max(DELAY_RISE.0).min(DELAY_RISE.1))
    }
}
