//! The sender's limits and its rounds, recorded while a transfer is simulated; or not, if only its
//! time is needed.

use super::MAX_ROUNDS;
use super::sender::Packet;
use whyslow_analysis::types::LimitingFactor;
use whyslow_units::{Nanos, Time};

pub(super) trait Ledger: Default {
    /// Whether anything is recorded: data that is not recorded need not be computed.
    const KEEPS: bool;
    /// The sender waits: while packets are carried by the narrow link for that, and then under this
    /// limit.
    fn wait(&mut self, limit: LimitingFactor, carried: Nanos, rest: Nanos);
    /// Assigns the time since the last send or ACK to a limit.
    fn assign(&mut self, as_limit: Option<LimitingFactor>);
    /// A packet leaves, with `acknowledged` bytes acknowledged.
    fn send(&mut self, now: Time, packet: &Packet, acknowledged: u64);
}

/// Records nothing.
#[derive(Default)]
pub(super) struct NoLedger;

impl Ledger for NoLedger {
    const KEEPS: bool = false;
    fn wait(&mut self, _limit: LimitingFactor, _carried: Nanos, _rest: Nanos) {}
    fn assign(&mut self, _as_limit: Option<LimitingFactor>) {}
    fn send(&mut self, _now: Time, _packet: &Packet, _acknowledged: u64) {}
}

/// All of it.
#[derive(Debug)]
pub(super) struct FullLedger {
    /// Time since the last send or ACK, by limit: a timer that fires takes all of it.
    stretch: Vec<(LimitingFactor, Nanos)>,
    pub(super) limits: Vec<(LimitingFactor, Nanos)>,
    last: LimitingFactor,
    pub(super) rounds: Vec<(Nanos, u64)>,
    pub(super) rounds_total: u64,
    /// The byte that ends the round's first segment.
    round: u64,
}

impl Default for FullLedger {
    fn default() -> Self {
        Self {
            stretch: Vec::new(),
            limits: Vec::new(),
            last: LimitingFactor::Unknown,
            rounds: Vec::new(),
            rounds_total: 0,
            round: 0,
        }
    }
}

impl FullLedger {
    /// It goes on for so long as it ended.
    pub(super) fn carry_on(&mut self, more: Nanos) {
        add(&mut self.limits, self.last, more);
    }
}

impl Ledger for FullLedger {
    const KEEPS: bool = true;

    fn wait(&mut self, limit: LimitingFactor, carried: Nanos, rest: Nanos) {
        add(&mut self.stretch, LimitingFactor::Bandwidth, carried);
        add(&mut self.stretch, limit, rest);
        self.last = if carried > Nanos::ZERO { LimitingFactor::Bandwidth } else { limit };
    }

    fn assign(&mut self, as_limit: Option<LimitingFactor>) {
        for &(limit, time) in &self.stretch {
            add(&mut self.limits, as_limit.unwrap_or(limit), time);
        }
        self.stretch.clear();
    }

    fn send(&mut self, now: Time, packet: &Packet, acknowledged: u64) {
        if !packet.first_copy {
            return;
        }
        // A round begins with the first segment sent after the ACK of the one that began the last.
        if acknowledged >= self.round || self.rounds_total == 0 {
            self.round = packet.end;
            self.rounds_total += 1;
            if self.rounds.len() < MAX_ROUNDS {
                self.rounds.push((now - Time::ZERO, 0));
            }
        }
        if self.rounds_total as usize == self.rounds.len()
            && let Some(round) = self.rounds.last_mut()
        {
            round.1 += packet.end - packet.start;
        }
    }
}

fn add(sums: &mut Vec<(LimitingFactor, Nanos)>, limit: LimitingFactor, time: Nanos) {
    if time == Nanos::ZERO {
        return;
    }
    match sums.iter_mut().find(|(known, _)| *known == limit) {
        Some((_, sum)) => *sum += time,
        None => sums.push((limit, time)),
    }
}
