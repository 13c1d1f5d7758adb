//! [`ProblemDetail`]: a problem of a capture, with its quantities.

use crate::types::Frame;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;
use whyslow_units::Nanos;

/// A problem of a capture. Its count is in the problem itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ProblemDetail {
    /// Bytes were acknowledged and never captured.
    BytesNotCaptured {
        /// How many bytes.
        bytes: u64,
        /// The frame that shows the first of them.
        first: Frame,
    },
    /// Packets are older than the packet before.
    TimesGoBack,
    /// The earliest packet is older than the first.
    NotInOrder {
        /// The difference.
        earlier_s: Nanos,
    },
    /// A text has no usable times.
    NoTimes,
    /// Packets were left out of a text.
    LeftOutOfText {
        /// Payload that later packets show to have been sent.
        bytes: u64,
    },
    /// A text lacks fields.
    FieldsNotInText {
        /// The affected fields.
        fields: Vec<TextField>,
    },
    /// The handshake is incomplete.
    HandshakeIncomplete {
        /// Missing part of the handshake.
        missing: MissingHandshake,
        /// The assumed unit of windows, bytes; `None` if it is unknown.
        window_unit: Option<u64>,
    },
    /// Segments are larger than the MSS (TSO or GRO).
    LargerThanMss,
    /// Routers marked packets in place of dropping them (ECN).
    CongestionMarks {
        /// Data packets with the mark (CE), seen behind the router alone.
        marked: u64,
        /// ACKs that echo a mark (ECE).
        echoes: u64,
        /// Segments that report a smaller window (CWR).
        reductions: u64,
    },
    /// Packets of one end only were captured.
    OneDirection,
    /// Packets were captured twice.
    CapturedTwice,
    /// Sequence numbers are far outside the window.
    OutsideWindow,
    /// Segments, or holes between segments, beyond the tracking limit.
    SegmentsNotTracked,
    /// TCP option lists are cut or damaged.
    DamagedOptions,
    /// Window scale shifts are over 14 (RFC 7323 section 2.3).
    WindowScaleOver14,
    /// The TCP checksum is wrong, and others of that side are right.
    WrongChecksums,
    /// The TCP checksum is wrong in most segments, so it is ignored.
    MeaninglessChecksums {
        /// Connections with such segments.
        connections: u64,
        /// Part of the packets that was changed.
        rewritten: Rewritten,
    },
    /// Packets of no connection have a wrong checksum.
    DamagedPackets,
    /// ICMP errors fit no segment.
    IcmpUnmatched {
        /// Why not.
        reason: UnmatchedIcmp,
        /// The first frame with one.
        first: u64,
    },
    /// Connections were closed in the analysis because too many were open, or they were silent.
    ConnectionsLetGo,
    /// More connections than the list holds.
    ConnectionsNotListed {
        /// Their payload, copies included.
        bytes: u64,
    },
    /// The capturing machine dropped packets during the connection.
    DroppedMeanwhile,
    /// Another capture has the connection too, and the two cannot be compared.
    NotCompared {
        /// Why not.
        reason: NotCompared,
    },
    /// A message of a capture's reader.
    Text {
        /// The message.
        text: String,
    },
}

/// A field that a text capture may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TextField {
    /// The IP identification (`tcpdump -v`).
    IpId,
    /// The payload (`tcpdump -x`).
    Payload,
}

/// Missing part of a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingHandshake {
    /// The options of the SYNs are cut or damaged.
    Options,
    /// Both SYNs: the connection was open before the capture began.
    BothSyns,
    /// One of the two SYNs.
    OneSyn,
}

/// Part of the packets that was changed after the capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rewritten {
    /// Addresses or ports were rewritten.
    Addresses,
    /// Packets were rewritten, or captured before the network card completed them.
    Packets,
}

/// Why an ICMP error fits no segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnmatchedIcmp {
    /// Its connection is not in the capture, or no longer open.
    NoConnection,
    /// The quoted segment was not in flight.
    NotInFlight,
}

/// Why two captures of a connection cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NotCompared {
    /// Reading was stopped before the second pass.
    Stopped,
    /// A capture came through a pipe, which cannot be read twice.
    ReadOnce,
    /// Packets were left out of a text.
    LeftOutOfText,
    /// They have no packets in common in one direction.
    NothingInCommon,
    /// A clock jumps.
    ClockJumps,
    /// Segments overlap more than those of any sender.
    Overlaps,
}

impl ProblemDetail {
    /// The frame that it names.
    pub fn frame_mut(&mut self) -> Option<&mut Frame> {
        match self {
            Self::BytesNotCaptured { first, .. } => Some(first),
            _ => None,
        }
    }
}

impl From<String> for ProblemDetail {
    fn from(text: String) -> Self {
        Self::Text { text }
    }
}

impl From<&str> for ProblemDetail {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}
