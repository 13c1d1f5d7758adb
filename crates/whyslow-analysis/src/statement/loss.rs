//! Statements about lost, repeated and reordered packets.

use crate::types::End;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;
use whyslow_units::Nanos;

/// A statement about lost, repeated and reordered packets.
#[derive(Clone, Debug, PartialEq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LossStatement {
    /// The network delivered packets twice.
    DeliveredTwice {
        /// Packets that came twice.
        packets: u64,
        /// Share of the packets in that direction, 0–1.
        share: f64,
        /// The time that the link spent on duplicates.
        cost_s: Nanos,
    },
    /// Segments were lost, too few to estimate a share.
    FewLost {
        /// Segments that were retransmitted.
        segments: u64,
        /// Time for repairs, and at a smaller window after them.
        cost_s: Nanos,
        /// The transfer.
        whole_s: Nanos,
    },
    /// Segments smaller than both ends had agreed on came, and larger ones never did.
    LargeSegmentsMissing {
        /// The largest segment that came, bytes.
        largest: u64,
        /// The segment size that both ends agreed on, bytes.
        agreed: u64,
        /// Silence in which the sender sent.
        silence_s: Nanos,
        /// Packets that it sent in this time.
        packets: u64,
    },
    /// Segments of one size did not pass, and smaller ones did.
    LargeSegmentsStuck {
        /// The size, bytes.
        size: u64,
        /// How often in a row.
        times: u64,
        /// Time spent waiting for the timer.
        cost_s: Nanos,
        /// The transfer.
        whole_s: Nanos,
    },
    /// The first packets of a response never came to the capture point.
    LateResponse {
        /// Delay of the response's beginning.
        wait_s: Nanos,
        /// Packets that the sender sent in this time.
        packets: u64,
    },
    /// A share of the bytes was lost.
    Lost {
        /// Share of all bytes sent, 0–1.
        share: f64,
        /// Segments that were retransmitted.
        segments: u64,
        /// Time for repairs, and at a smaller window after them.
        cost_s: Nanos,
        /// The transfer.
        whole_s: Nanos,
    },
    /// A share of the bytes was lost, neither by a full queue nor by a rate limit.
    LostAtRandom {
        /// Share of all bytes sent, 0–1.
        share: f64,
        /// Segments that were lost.
        segments: u64,
        /// Time for repairs, and at a smaller window after them.
        cost_s: Nanos,
        /// The transfer.
        whole_s: Nanos,
    },
    /// SACK is off, so each hole was repaired in a round trip of its own.
    NoSack {
        /// The end whose SYN lacks the option.
        missing: End,
        /// Recoveries.
        recoveries: u64,
        /// Their time.
        took_s: Nanos,
        /// The time that they would take with SACK.
        with_sack_s: Nanos,
    },
    /// Segments came after later ones.
    Reordered {
        /// Segments that were overtaken.
        segments: u64,
        /// All segments.
        of: u64,
        /// The largest delay; `None` if unknown.
        by_s: Option<Nanos>,
    },
    /// Retransmissions were lost too.
    RetransmissionsLost {
        /// Retransmissions that were lost.
        segments: u64,
        /// Time until the next ones.
        cost_s: Nanos,
        /// The transfer.
        whole_s: Nanos,
    },
    /// A router's ICMP error named the size that passes, and the sender ignored it.
    SizeIgnored {
        /// Address that sent the error.
        by: String,
        /// The longest packet that passes, bytes.
        mtu: u32,
    },
    /// Data was retransmitted although it had arrived.
    SpuriouslyRetransmitted {
        /// Spurious retransmissions.
        segments: u64,
        /// All retransmissions.
        of: u64,
        /// Their part of the time spent on repairs.
        cost_s: Nanos,
    },
    /// The end of a burst was lost, and no later segment showed it.
    TailLost {
        /// The sender's clock that repaired it.
        repaired_by: TailRepair,
        /// How often.
        times: u64,
        /// Time spent waiting.
        cost_s: Nanos,
        /// The transfer.
        whole_s: Nanos,
    },
    /// The sender waited for its retransmission timer.
    TimerWaits {
        /// How often.
        times: u64,
        /// Time spent waiting.
        cost_s: Nanos,
        /// The transfer.
        whole_s: Nanos,
    },
}

/// A mechanism by which a sender repairs the end of a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TailRepair {
    /// A tail loss probe (RFC 8985 section 7).
    Probe,
    /// The retransmission timer.
    Timer,
}

impl From<LossStatement> for super::Statement {
    fn from(statement: LossStatement) -> Self {
        Self::Loss(statement)
    }
}

impl LossStatement {
    /// Applies `act` to every host that it names.
    pub(super) fn each_host(&mut self, act: &dyn Fn(&mut String)) {
        match self {
            Self::SizeIgnored { by, .. } => act(by),
            Self::DeliveredTwice { .. }
            | Self::FewLost { .. }
            | Self::LargeSegmentsMissing { .. }
            | Self::LargeSegmentsStuck { .. }
            | Self::LateResponse { .. }
            | Self::Lost { .. }
            | Self::LostAtRandom { .. }
            | Self::NoSack { .. }
            | Self::Reordered { .. }
            | Self::RetransmissionsLost { .. }
            | Self::SpuriouslyRetransmitted { .. }
            | Self::TailLost { .. }
            | Self::TimerWaits { .. } => {}
        }
    }
}
