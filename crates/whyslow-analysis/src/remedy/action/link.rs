//! Remedies for causes about the rate of the link and its queue, and about the hosts at its ends.

use super::super::step::Step;
use crate::types::ModelChange;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;
use whyslow_units::Nanos;

/// A remedy for a cause about the rate of the link and its queue, or about the hosts at its ends.
#[derive(Clone, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(tag = "kind", content = "parameters", rename_all = "kebab-case")]
pub enum LinkAction {
    /// Use a faster link.
    AddCapacity {
        /// Than this rate on the wire, bits per second; `None` if unknown.
        beyond_bps: Option<f64>,
    },
    /// Have the carrier shape instead of police.
    AskForShaping {
        /// The policed rate, payload bits per second.
        rate_bps: f64,
    },
    /// Look at the processors of the receiving host.
    CheckReceivingProcessors,
    /// Look at the processors of the sending host.
    CheckSendingProcessors,
    /// Manage the queue at the bottleneck.
    ManageQueue {
        /// The rate of the link, payload bits per second; `None` if unknown.
        rate_bps: Option<f64>,
    },
    /// Pace the sender below a policed rate.
    PaceBelow {
        /// The policed rate, payload bits per second.
        rate_bps: f64,
    },
    /// Have the policed rate raised.
    RaisePolicedRate {
        /// From this rate, bits per second.
        from_bps: f64,
    },
    /// Find the shaper, and have its rate raised.
    RaiseShapedRate {
        /// From this rate on the wire, bits per second.
        from_bps: f64,
        /// Its burst, bytes.
        burst: u64,
    },
    /// Run the transfers one after another.
    RunInTurn,
    /// Send fewer bytes.
    SendLess,
    /// Shape all transfers together below a policed rate.
    ShapeTogether {
        /// The policed rate on the wire, bits per second.
        rate_bps: f64,
    },
    /// Make the buffer at the bottleneck smaller.
    ShrinkBuffer,
    /// Fit the target of the queue that marks to the round trip.
    TuneMarking {
        /// The round trip; `None` if unknown.
        rtt_s: Option<Nanos>,
        /// `CoDel`'s target.
        target_s: Nanos,
        /// `CoDel`'s interval.
        interval_s: Nanos,
    },
}

/// Share of a rate to which a sender or a queue is set, so that it is the narrowest place itself:
/// `tc` shapers for home links use 5 to 15 % less (CAKE's documentation).
const BELOW: f64 = 0.95;

impl From<LinkAction> for super::Action {
    fn from(action: LinkAction) -> Self {
        Self::Link(action)
    }
}

impl LinkAction {
    /// See [`Action::step`](super::Action::step).
    pub(super) fn step(&self) -> Option<Step> {
        Some(match self {
            Self::CheckReceivingProcessors => Step::ReceivingProcessors,
            Self::CheckSendingProcessors => Step::SendingProcessors,
            Self::ManageQueue { rate_bps } => {
                Step::ManagedQueue(rate_bps.map(|rate| (BELOW * rate / 1e3).round() as u64))
            }
            Self::PaceBelow { rate_bps } => Step::Pacing((rate_bps * BELOW / 8.0).round() as u64),
            Self::RaiseShapedRate { .. } => Step::Queues,
            Self::TuneMarking { target_s, interval_s, .. } => Step::Marking {
                target: target_s.as_millis_f64().round() as u64,
                interval: interval_s.as_millis_f64().round() as u64,
            },
            Self::AddCapacity { .. }
            | Self::AskForShaping { .. }
            | Self::RaisePolicedRate { .. }
            | Self::RunInTurn
            | Self::SendLess
            | Self::ShapeTogether { .. }
            | Self::ShrinkBuffer => return None,
        })
    }

    /// See [`Action::changes`](super::Action::changes).
    pub(super) fn changes(&self) -> Option<&'static [ModelChange]> {
        match self {
            // Shaped instead of policed, the rate stays.
            Self::AskForShaping { .. } => Some(&[ModelChange::NoLosses, ModelChange::HeldToInterLossRate]),
            Self::AddCapacity { .. }
            | Self::CheckReceivingProcessors
            | Self::CheckSendingProcessors
            | Self::ManageQueue { .. }
            | Self::PaceBelow { .. }
            | Self::RaisePolicedRate { .. }
            | Self::RaiseShapedRate { .. }
            | Self::RunInTurn
            | Self::SendLess
            | Self::ShapeTogether { .. }
            | Self::ShrinkBuffer
            | Self::TuneMarking { .. } => None,
        }
    }

    /// Applies `act` to every host that it names: it names none.
    pub(super) fn each_host(&mut self, _act: &dyn Fn(&mut String)) {
        match self {
            Self::AddCapacity { .. }
            | Self::AskForShaping { .. }
            | Self::CheckReceivingProcessors
            | Self::CheckSendingProcessors
            | Self::ManageQueue { .. }
            | Self::PaceBelow { .. }
            | Self::RaisePolicedRate { .. }
            | Self::RaiseShapedRate { .. }
            | Self::RunInTurn
            | Self::SendLess
            | Self::ShapeTogether { .. }
            | Self::ShrinkBuffer
            | Self::TuneMarking { .. } => {}
        }
    }
}
