//! Remedies for causes about windows, segments and ACKs.

use super::super::step::Step;
use crate::types::{End, LimitingFactor, ModelChange};
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;
use whyslow_units::Nanos;

/// A remedy for a cause about windows, segments and ACKs.
#[derive(Clone, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(tag = "kind", content = "parameters", rename_all = "kebab-case")]
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
    /// Switch window scaling on where this SYN comes from, or stop a middlebox that strips the
    /// option.
    EnableWindowScaling {
        /// The end whose SYN lacks the option.
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
    /// Enlarge the receive buffer of the host, and remove SO_RCVBUF from the application.
    RaiseReceiveBuffer {
        /// The size, and where it comes from.
        need: BufferNeed,
    },
    /// The receiving application must read faster: its window fell as data lay unread.
    ReadUnread {
        /// The window before, bytes.
        before: u64,
        /// The window then, bytes.
        window: u64,
    },
    /// The receiving application must read faster: its ACKs for a full window came late.
    ReadForAcks {
        /// Median delay.
        late_s: Nanos,
    },
    /// The receiving application must read faster: its window closed.
    ReadFaster {
        /// How often.
        closings: u64,
    },
    /// Find the buffer that stops the sender, and enlarge it.
    RaiseSendBuffer {
        /// The limit of the sender, bytes.
        bytes: u64,
        /// The product that commonly has this size; `None` if unknown.
        usual: Option<UsualCap>,
        /// The size to use, and where it comes from.
        need: BufferNeed,
    },
    /// Raise the window of the application's protocol.
    RaiseProtocolWindow {
        /// The end that grants it, if known.
        at: Option<End>,
        /// The size to use; `None` if the round trip is unknown.
        need: Option<BufferNeed>,
    },
    /// Offer windows of many segments.
    OfferLargerWindows {
        /// The least buffer, bytes.
        bytes: u64,
    },
    /// Write larger pieces.
    WriteLargerPieces {
        /// The least piece, bytes.
        bytes: u64,
    },
    /// Set TCP_NODELAY, or write once.
    NoDelay {
        /// The ends whose segments waited.
        at: Vec<End>,
    },
    /// Acknowledge at once.
    QuickAck {
        /// The peer is reached by IPv6.
        ipv6: bool,
    },
    /// Find the limit of the sender's rate, and raise it.
    RaiseRateLimit {
        /// The rate, payload bits per second.
        rate_bps: f64,
    },
    /// Cap the initial congestion window.
    CapInitialWindow {
        /// Segments.
        segments: u64,
        /// The same value in bytes.
        bytes: u64,
        /// The peer is reached by IPv6.
        ipv6: bool,
    },
    /// Keep the congestion window of idle connections.
    KeepWindowWhenIdle,
}

/// A receiver's first window that is smaller than the transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct FirstWindow {
    /// The window, bytes.
    pub window: u64,
    /// The same value in segments.
    pub segments: u64,
    /// Segments of the transfer.
    pub needed: u64,
}

/// A buffer that the link needs: twice the bandwidth-delay product or twice the payload, as a part
/// of each buffer is the kernel's own.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct BufferNeed {
    /// The size, bytes.
    pub bytes: u64,
    /// The rate that it allows, payload bits per second.
    pub rate_bps: f64,
    /// The source of that rate.
    pub rate: RateSource,
    /// The quantity that determines the size.
    pub sized_by: SizedBy,
    /// The round trip.
    pub rtt_s: Nanos,
}

/// The source of a link's rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RateSource {
    /// The user gave it (`--path-rate`).
    Given,
    /// Bursts were delivered at it.
    Bursts,
    /// It is a multiple of the measured rate.
    Guess,
}

/// The quantity that determines a buffer's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SizedBy {
    /// The bandwidth-delay product.
    BandwidthDelay,
    /// The transfer: all of it goes out at once.
    Transfer,
    /// The most that is advised.
    Most,
}

/// A common reason why a sender stops at one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UsualCap {
    /// 16 KiB: a default SO_SNDBUF, or a TLS record at a time.
    SmallSendBuffer,
    /// 32 KiB: the send buffer of a proxy or balancer.
    ProxyBuffer,
    /// 65,535 B: a middlebox or stack that ignores window scaling.
    UnscaledWindow,
    /// 64 KiB to 1 MiB, a power of two: a socket or copy buffer.
    CopyBuffer,
    /// 2 MiB: an SSH or HTTP/2 window.
    ProtocolWindow,
    /// 4 MiB: the default limit of Linux' tcp_wmem.
    TcpWmem,
}

impl From<SendingAction> for super::Action {
    fn from(action: SendingAction) -> Self {
        Self::Sending(action)
    }
}

impl SendingAction {
    /// See [`Action::step`](super::Action::step).
    pub(super) fn step(&self) -> Option<Step> {
        Some(match self {
            Self::RaiseInitialWindow { to, ipv6, .. } => Step::InitialWindow { segments: *to, ipv6: *ipv6 },
            Self::EnableWindowScaling { .. } => Step::WindowScaling,
            Self::DisableHystart => Step::Hystart,
            Self::ForgetThreshold { peer, .. } => Step::Threshold { peer: peer.clone() },
            Self::RaiseReceiveBuffer { need } => Step::ReceiveBuffer(need.bytes),
            Self::RaiseSendBuffer { need, .. } => Step::SendBuffer(need.bytes),
            Self::OfferLargerWindows { bytes } => Step::ReceiveBuffer(*bytes),
            Self::NoDelay { .. } => Step::NoDelay,
            Self::QuickAck { ipv6 } => Step::QuickAck { ipv6: *ipv6 },
            Self::RaiseRateLimit { rate_bps } => Step::RateLimit((rate_bps / 8_000.0) as u64),
            Self::CapInitialWindow { segments, ipv6, .. } => Step::InitialWindow { segments: *segments, ipv6: *ipv6 },
            Self::KeepWindowWhenIdle => Step::IdleWindow,
            Self::ReuseConnection { .. }
            | Self::ReadUnread { .. }
            | Self::ReadForAcks { .. }
            | Self::ReadFaster { .. }
            | Self::RaiseProtocolWindow { .. }
            | Self::WriteLargerPieces { .. } => return None,
        })
    }

    /// See [`Action::runs_on`](super::Action::runs_on).
    pub(super) const fn runs_on(&self) -> Option<End> {
        match self {
            Self::EnableWindowScaling { on } => Some(*on),
            _ => None,
        }
    }

    /// See [`Action::changes`](super::Action::changes).
    pub(super) fn changes(&self) -> Option<&'static [ModelChange]> {
        match self {
            Self::ReuseConnection { .. } => Some(&[ModelChange::ReusedConnection]),
            Self::RaiseInitialWindow { .. } => Some(&[ModelChange::LargeInitialWindow]),
            Self::EnableWindowScaling { .. } => Some(&[ModelChange::UnlimitedReceiveWindow]),
            // Slow growth is flat around the window of an earlier loss (RFC 9438 section 4.2), and
            // looks like a cap there.
            Self::DisableHystart | Self::ForgetThreshold { .. } => {
                Some(&[ModelChange::SlowStartUntilLoss, ModelChange::NoSenderCap])
            }
            Self::RaiseReceiveBuffer { .. } => Some(&[ModelChange::UnlimitedReceiveWindow]),
            Self::ReadFaster { .. } => Some(&[
                ModelChange::PromptReader,
                ModelChange::NoSilence(LimitingFactor::ZeroWindow),
                // Shorter silences around a closed window, which nothing in the capture ended, come
                // from it too.
                ModelChange::NoSilence(LimitingFactor::Unknown),
            ]),
            Self::RaiseSendBuffer { .. } => Some(&[ModelChange::NoSenderCap, ModelChange::GrowingReceiveWindow]),
            Self::RaiseProtocolWindow { .. } => Some(&[
                ModelChange::NoSenderCap,
                ModelChange::GrowingReceiveWindow,
                ModelChange::NoSilence(LimitingFactor::ProtocolWindow),
            ]),
            Self::NoDelay { .. } => Some(&[ModelChange::NoSilence(LimitingFactor::NagleDelayedAck)]),
            Self::QuickAck { .. } => {
                Some(&[ModelChange::NoSilence(LimitingFactor::AckDelay), ModelChange::NoLateLastAck])
            }
            Self::RaiseRateLimit { .. } => Some(&[ModelChange::NoPacing]),
            Self::KeepWindowWhenIdle => Some(&[ModelChange::WindowKeptWhenIdle]),
            Self::ReadUnread { .. }
            | Self::ReadForAcks { .. }
            | Self::OfferLargerWindows { .. }
            | Self::WriteLargerPieces { .. }
            | Self::CapInitialWindow { .. } => None,
        }
    }

    /// Applies `act` to every host that it names.
    pub(super) fn each_host(&mut self, act: &dyn Fn(&mut String)) {
        match self {
            Self::ForgetThreshold { sender, peer, .. } => sender.iter_mut().chain(peer).for_each(act),
            Self::ReuseConnection { .. }
            | Self::RaiseInitialWindow { .. }
            | Self::EnableWindowScaling { .. }
            | Self::DisableHystart
            | Self::RaiseReceiveBuffer { .. }
            | Self::ReadUnread { .. }
            | Self::ReadForAcks { .. }
            | Self::ReadFaster { .. }
            | Self::RaiseSendBuffer { .. }
            | Self::RaiseProtocolWindow { .. }
            | Self::OfferLargerWindows { .. }
            | Self::WriteLargerPieces { .. }
            | Self::NoDelay { .. }
            | Self::QuickAck { .. }
            | Self::RaiseRateLimit { .. }
            | Self::CapInitialWindow { .. }
            | Self::KeepWindowWhenIdle => {}
        }
    }
}
