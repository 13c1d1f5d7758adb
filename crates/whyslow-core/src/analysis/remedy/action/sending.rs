//! Remedies for causes about windows, segments and ACKs.

use super::super::commands::default_route;
use crate::types::{End, ModelChange};
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;

/// A remedy for a cause about windows, segments and ACKs.
#[derive(Clone, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum SendingAction {
    /// Keep the connection open and reuse it.
    ReuseConnection {
        /// The receiver's first window lets less out at once.
        cap: Option<FirstWindow>,
    },
    /// Raise the sender's initial congestion window.
    RaiseInitialWindow {
        /// From this many segments, if known.
        from: Option<u64>,
        /// To this many segments.
        to: u64,
        /// The receiver's first window lets less out at once.
        cap: Option<FirstWindow>,
        /// The peer is reached by IPv6.
        ipv6: bool,
    },
    /// Switch window scaling on where this SYN comes from, or stop a middlebox that strips the option.
    EnableWindowScaling {
        /// Whose SYN lacks the option.
        on: End,
    },
    /// Use BBR, or CUBIC without HyStart.
    DisableHystart,
    /// Delete the threshold that the sender remembers, and save none.
    ForgetThreshold {
        /// The sender, if several connections show it.
        sender: Option<String>,
        /// The peer; `None` for all.
        peer: Option<String>,
        /// The threshold, segments, if several connections show it.
        segments: Option<u64>,
    },
}

/// A receiver's first window that is smaller than the transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct FirstWindow {
    /// The window, bytes.
    pub window: u64,
    /// The same, segments.
    pub segments: u64,
    /// Segments of the transfer.
    pub needed: u64,
}

impl From<SendingAction> for super::Action {
    fn from(action: SendingAction) -> Self {
        Self::Sending(action)
    }
}

impl SendingAction {
    /// See [`Action::command`](super::Action::command).
    pub(super) fn command(&self) -> Option<String> {
        match self {
            Self::RaiseInitialWindow { to, ipv6, .. } => Some(default_route(*ipv6, &format!("initcwnd {to}"))),
            Self::EnableWindowScaling { .. } => Some("sysctl -w net.ipv4.tcp_window_scaling=1".to_owned()),
            Self::DisableHystart => Some("echo 0 > /sys/module/tcp_cubic/parameters/hystart".to_owned()),
            Self::ForgetThreshold { peer, .. } => {
                let which = peer.as_ref().map_or("flush all".to_owned(), |peer| format!("delete {peer}"));
                Some(format!("ip tcp_metrics {which}; sysctl -w net.ipv4.tcp_no_ssthresh_metrics_save=1"))
            }
            Self::ReuseConnection { .. } => None,
        }
    }

    /// See [`Action::changes`](super::Action::changes).
    pub(super) fn changes(&self) -> Option<&'static [ModelChange]> {
        match self {
            Self::ReuseConnection { .. } => Some(&[ModelChange::ReusedConnection]),
            Self::RaiseInitialWindow { .. } => Some(&[ModelChange::LargeInitialWindow]),
            Self::EnableWindowScaling { .. } => Some(&[ModelChange::UnlimitedReceiveWindow]),
            Self::DisableHystart | Self::ForgetThreshold { .. } => Some(&[ModelChange::SlowStartUntilLoss]),
        }
    }

    /// Applies `act` to every host that it names.
    pub(super) fn each_host(&mut self, act: &dyn Fn(&mut String)) {
        match self {
            Self::ForgetThreshold { sender, peer, .. } => sender.iter_mut().chain(peer).for_each(act),
            Self::ReuseConnection { .. }
            | Self::RaiseInitialWindow { .. }
            | Self::EnableWindowScaling { .. }
            | Self::DisableHystart => {}
        }
    }
}
