//! State of an open connection.

use super::buffering::Buffering;
use super::facts::CaptureDefects;
use super::handshake::{HandshakeTracker, JoinedHandshake, PacketRef};
use super::icmp_notices::Notices;
use super::payload::streams::PayloadStreams;
use super::payload::{PayloadReaders, ReaderPlace};
use super::quic_notes::QuicNotes;
use super::recent_packets::RecentPackets;
use super::segment::Seg;
use super::sender::{PathEstimate, SenderState};
use super::trace;
use super::vantage::VantageEstimator;
use crate::dns::LookupFacts;
use crate::wire::{ChecksumTally, Flags, SackBlocks};
use std::num::NonZeroU8;
use whyslow_analysis::types::Side;
use whyslow_units::{SeqNumber, Time};

/// State of an open connection.
#[derive(Clone, Debug)]
pub struct Connection {
    /// Ports by side; the flow table has the addresses.
    pub(super) ports: [u16; 2],
    pub(super) first: PacketRef,
    pub(super) last: Time,
    pub(super) isns: [Option<SeqNumber>; 2],
    pub(super) opening: HandshakeTracker,
    pub(super) stage: Stage,
    pub(super) payload_streams: PayloadStreams,
    pub(super) closing: [Option<PacketRef>; 2],
    pub(super) fin: [Option<SeqNumber>; 2],
    pub(super) fin_acked: [bool; 2],
    pub(super) reset: Option<Reset>,
    /// The side that sent payload first.
    pub(super) first_payload_side: Option<Side>,
    pub(super) seen: [bool; 2],
    /// Number of correct and wrong checksums of each side, among the verified ones.
    pub(super) checksums: [ChecksumTally; 2],
    /// TTL of each side's SYN and first payload.
    pub(super) ttl: [[Option<NonZeroU8>; 2]; 2],
    /// Whether a plain segment of this side can change neither the opening nor the closing state.
    /// See [`note`](Self::note).
    pub(super) is_past_opening: [bool; 2],
    /// The same, and the connection is tracked without a trace. See
    /// [`fast_path`](super::fast_path).
    pub(super) uses_fast_path: [bool; 2],
    /// State that few connections need.
    pub(super) rare: Option<Box<Rare>>,
}

/// The first reset.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reset {
    pub(super) from: Side,
    /// Whether it has no ACK flag.
    pub(super) is_bare: bool,
    /// Whether the end with its source address continued to send after it.
    pub(super) is_denied: bool,
    pub(super) ttl: u8,
}

/// The stage of a connection. Most connections end in the buffering stage, so its state is small.
#[derive(Clone, Debug)]
pub(super) enum Stage {
    Buffering(Buffering),
    Tracking(Box<Tracking>),
}

/// Both directions from their senders' view.
#[derive(Clone, Debug, Default)]
pub(super) struct Tracking {
    pub(super) recent: [RecentPackets; 2],
    pub(super) estimator: VantageEstimator,
    pub(super) senders: [SenderState; 2],
    pub(super) paths: [PathEstimate; 2],
    pub(super) trace: Option<Box<trace::Trace>>,
    /// Whether a wrong checksum of each side indicates damage.
    pub(super) checksums_reliable: [bool; 2],
    /// A segment that waits until later ones show whether it arrived.
    pub(super) suspect: Option<Box<SuspectSegment>>,
    /// ACKs that wait for the data they acknowledge.
    pub(super) early: EarlyAcks,
    /// Segments that did not arrive, until their effects on the connection are undone.
    pub(super) dropped: Vec<Seg>,
}

/// Waiting segments of one side, in file order: the first acknowledges data that was not captured
/// yet.
#[derive(Clone, Debug, Default)]
pub(super) struct EarlyAcks {
    pub(super) segs: Vec<(Seg, SackBlocks)>,
    /// Time of the newest segment processed since.
    pub(super) passed: Time,
}

impl EarlyAcks {
    #[inline(always)]
    pub fn is_waiting(&self) -> bool {
        !self.segs.is_empty()
    }
}

/// State that few connections have.
#[derive(Clone, Debug, Default)]
pub(super) struct Rare {
    pub(super) capture_defects: CaptureDefects,
    pub(super) notices: Notices,
    /// The handshake, if known from another source than the capture.
    pub(super) joined: Option<JoinedHandshake>,
    /// Set for a QUIC connection.
    pub(super) quic: Option<Box<QuicNotes>>,
    /// The lookup of the server's name that the connection waited for.
    pub(super) lookup: Option<Box<LookupFacts>>,
    /// Parsers and decryption of the payload.
    pub(super) readers: PayloadReaders,
}

/// A segment that waits until later ones show whether it arrived.
#[derive(Clone, Debug)]
pub(super) struct SuspectSegment {
    pub(super) seg: Seg,
    pub(super) sack: SackBlocks,
    pub(super) reason: SuspectReason,
    /// The newest segment from the other side since then.
    pub(super) passed: Option<Time>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum SuspectReason {
    /// A wrong checksum.
    Sum,
    /// An implausible sequence number.
    Seq,
    /// An implausible acknowledgment number.
    Ack,
}

/// Records the TTL of a side's first payload, and which side sent the first payload of the
/// connection.
pub(super) fn note_payload(seg: &Seg, ttl: &mut Option<NonZeroU8>, first: &mut Option<Side>) {
    if !seg.flags.has(Flags::SYN) {
        *ttl = ttl.or(NonZeroU8::new(seg.ttl));
    }
    first.get_or_insert(seg.from());
}

impl ReaderPlace for Option<Box<Rare>> {
    fn readers(&mut self) -> Option<&mut PayloadReaders> {
        self.as_mut().map(|rare| &mut rare.readers)
    }

    fn make_readers(&mut self) -> &mut PayloadReaders {
        &mut self.get_or_insert_default().readers
    }
}
