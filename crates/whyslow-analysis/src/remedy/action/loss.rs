//! Remedies for causes about lost, repeated and reordered packets.

use super::super::step::Step;
use crate::types::{End, LimitingFactor, ModelChange};
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;
use whyslow_units::Nanos;

/// A remedy for a cause about lost, repeated and reordered packets.
#[derive(Clone, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(tag = "kind", content = "parameters", rename_all = "kebab-case")]
pub enum LossAction {
    /// Let the sender's host take ICMP errors that reach it.
    AcceptIcmp {
        /// Sender of the packets.
        from: String,
        /// The sender.
        on: End,
    },
    /// Balance over parallel links by flow.
    BalanceByFlow,
    /// Clamp the MSS at the narrow link.
    ClampMss {
        /// To this many bytes, if the size that passes is known.
        to: Option<u64>,
    },
    /// Let a sender find lost retransmissions by time.
    EnableRack,
    /// Switch SACK on.
    EnableSack {
        /// The end whose SYN lacks the option.
        on: End,
    },
    /// Switch SACK on, without which a sender sends no tail loss probe.
    EnableSackForProbes {
        /// The end whose SYN lacks the option.
        on: End,
    },
    /// Let the sender probe for lost tails.
    EnableTailProbes {
        /// A wait in which a probe was due and none came.
        missed_s: Option<Nanos>,
    },
    /// Find where several packets in a row are lost.
    FindBurstLoss,
    /// Find the link that damages packets.
    FindDamage {
        /// Share of its packets, 0–1.
        share: f64,
    },
    /// Find the device that duplicates packets.
    FindDuplication,
    /// Find where whole flights are lost.
    FindFlightLoss,
    /// Find where large packets are lost and smaller ones pass.
    FindLargeLoss,
    /// Find where packets are lost.
    FindLoss {
        /// Share of the packets, 0–1; `None` if only a few were lost.
        share: Option<f64>,
    },
    /// Find the firewall or balancer that strips the SACK option.
    FindSackStripper,
    /// Find where the last packets of bursts are lost.
    FindTailLoss {
        /// A faster repair that is possible in addition.
        repair: RepairSpeed,
    },
    /// Pace the sender.
    PaceSender,
    /// Let all ICMP errors about packet sizes pass.
    PassIcmp,
    /// Let ICMP errors of one router pass on.
    PassIcmpOf {
        /// The router.
        from: String,
        /// To this end.
        to: End,
    },
    /// Let the sender search for the size that passes.
    ProbeMtu,
    /// Raise the floor of the sender's retransmission timer.
    RaiseTimerFloor {
        /// The peer is reached by IPv6.
        ipv6: bool,
    },
    /// Update a sender with an old kernel.
    UpdateKernel,
    /// Use BBR on the sender.
    UseBbr,
}

/// How fast a sender repairs a lost tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RepairSpeed {
    /// As fast as TCP can.
    Best,
    /// Slower at times.
    Improvable,
}

impl From<LossAction> for super::Action {
    fn from(action: LossAction) -> Self {
        Self::Loss(action)
    }
}

impl LossAction {
    /// See [`Action::step`](super::Action::step).
    pub(super) fn step(&self) -> Option<Step> {
        Some(match self {
            Self::EnableRack => Step::Rack,
            Self::EnableSack { .. } | Self::EnableSackForProbes { .. } => Step::Sack,
            // SACK was in use where a probe was missed.
            Self::EnableTailProbes { missed_s } => Step::TailProbes { sack: missed_s.is_none() },
            Self::FindDamage { .. } => Step::ErrorCounters,
            Self::ProbeMtu => Step::MtuProbing,
            Self::RaiseTimerFloor { ipv6 } => Step::TimerFloor { ipv6: *ipv6 },
            Self::UseBbr => Step::Bbr,
            Self::AcceptIcmp { .. }
            | Self::BalanceByFlow
            | Self::ClampMss { .. }
            | Self::FindBurstLoss
            | Self::FindDuplication
            | Self::FindFlightLoss
            | Self::FindLargeLoss
            | Self::FindLoss { .. }
            | Self::FindSackStripper
            | Self::FindTailLoss { .. }
            | Self::PaceSender
            | Self::PassIcmp
            | Self::PassIcmpOf { .. }
            | Self::UpdateKernel => return None,
        })
    }

    /// See [`Action::runs_on`](super::Action::runs_on).
    pub(super) const fn runs_on(&self) -> Option<End> {
        match self {
            Self::EnableSack { on } | Self::EnableSackForProbes { on } => Some(*on),
            _ => None,
        }
    }

    /// See [`Action::changes`](super::Action::changes).
    pub(super) fn changes(&self) -> Option<&'static [ModelChange]> {
        match self {
            // A window that losses keep small grows far beyond all that was seen without them: the
            // rate of the link must be known.
            Self::FindBurstLoss | Self::FindDamage { .. } | Self::FindLoss { .. } | Self::RaiseTimerFloor { .. } => {
                Some(&[ModelChange::NoLosses, ModelChange::HeldToPathRate])
            }
            Self::FindFlightLoss | Self::FindLargeLoss | Self::FindTailLoss { .. } => Some(&[ModelChange::NoLosses]),
            Self::EnableSack { .. } | Self::FindSackStripper => Some(&[ModelChange::RepairWithoutTimer]),
            Self::AcceptIcmp { .. } | Self::ClampMss { .. } | Self::PassIcmp | Self::PassIcmpOf { .. } => {
                Some(&[ModelChange::NoLosses, ModelChange::NoSilence(LimitingFactor::Unknown)])
            }
            Self::BalanceByFlow
            | Self::EnableRack
            | Self::EnableSackForProbes { .. }
            | Self::EnableTailProbes { .. }
            | Self::FindDuplication
            | Self::PaceSender
            | Self::ProbeMtu
            | Self::UpdateKernel
            | Self::UseBbr => None,
        }
    }

    /// Applies `act` to every host that it names.
    pub(super) fn each_host(&mut self, act: &dyn Fn(&mut String)) {
        match self {
            Self::AcceptIcmp { from, .. } | Self::PassIcmpOf { from, .. } => act(from),
            Self::BalanceByFlow
            | Self::ClampMss { .. }
            | Self::EnableRack
            | Self::EnableSack { .. }
            | Self::EnableSackForProbes { .. }
            | Self::EnableTailProbes { .. }
            | Self::FindBurstLoss
            | Self::FindDamage { .. }
            | Self::FindDuplication
            | Self::FindFlightLoss
            | Self::FindLargeLoss
            | Self::FindLoss { .. }
            | Self::FindSackStripper
            | Self::FindTailLoss { .. }
            | Self::PaceSender
            | Self::PassIcmp
            | Self::ProbeMtu
            | Self::RaiseTimerFloor { .. }
            | Self::UpdateKernel
            | Self::UseBbr => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remedy_that_the_model_cannot_simulate_changes_nothing() {
        assert!(LossAction::FindLoss { share: None }.changes().is_some());
        assert!(LossAction::FindTailLoss { repair: RepairSpeed::Best }.changes().is_some());
        assert!(LossAction::FindFlightLoss.changes().is_some());
        for sender in [
            LossAction::EnableRack,
            LossAction::EnableTailProbes { missed_s: None },
            LossAction::EnableSackForProbes { on: End::Client },
            LossAction::UseBbr,
        ] {
            assert!(sender.changes().is_none() && sender.step().is_some(), "{sender:?}");
        }
    }
}
