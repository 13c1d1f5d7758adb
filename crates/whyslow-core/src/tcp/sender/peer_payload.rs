//! The peer's payload since a side's last send, and what the side's behaviour shows about
//! flow-control credit.

use super::transfer_recorder::TransferRecorder;
use crate::tcp::facts::{PeerMessage, SendPause};
use crate::tcp::payload::{PayloadKind, SMALL};
use crate::tcp::segment::{FrameRef, Seg};
use whyslow_units::{Nanos, SeqNumber, Time};

/// The peer's payload since this side's last send.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct PeerPayload {
    pub first: Time,
    pub last: Time,
    pub(super) end_of_first: SeqNumber,
    /// Its range of the peer's sequence numbers.
    pub(super) seq_range: (SeqNumber, SeqNumber),
    /// The same for credit before it.
    pub(super) earlier_credit: Option<(SeqNumber, SeqNumber)>,
    /// Payload of its first segment, and of all segments.
    pub(super) first_len: u64,
    pub(super) bytes: u64,
    pub(super) frames: (FrameRef, FrameRef),
    pub(super) kind: PayloadKind,
    /// Whether its first segment acknowledged everything sent, or followed such an ACK.
    pub(super) acked_all: bool,
    /// Time from the ACK of everything to its first segment: the time of the peer's application.
    pub(super) idle_before: Nanos,
}

/// The event after a message of the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tcp) enum TurnOutcome {
    /// Another transfer: the response to a request.
    Turn,
    /// Unknown until the next messages.
    Ambiguous,
    /// The same transfer continues; `resumed`: it had waited for credit.
    Continues { resumed: bool },
}

/// The transfer that the peer's payload may have ended.
#[derive(Clone, Copy, Debug)]
pub(in crate::tcp) struct PreviousTransfer {
    /// Its payload length, bytes.
    pub bytes: u64,
    /// Payload length of the request that it answers, if any.
    pub request: Option<u64>,
    pub mss: u64,
    pub rtt: Option<Nanos>,
    /// Round trip from the capture point to its sender.
    pub loop_to_sender: Nanos,
}

impl PeerPayload {
    /// Adds a segment with payload. `state` returns whether it acknowledges everything, and since
    /// how long everything is acknowledged; it is called only until that is the case.
    #[inline]
    pub fn add(received: &mut Option<Self>, seg: &Seg, state: impl FnOnce() -> (bool, Nanos)) {
        if let Some(received) = received {
            // Earlier payload in mid-stream was credit; a message after all data is a separate one.
            let (acked_all, quiet) = if received.acked_all { (true, Nanos::ZERO) } else { state() };
            let is_message = received.kind == PayloadKind::Credit && seg.kind != PayloadKind::Credit;
            let another = acked_all && (is_message || (!received.acked_all && is_new_message(seg, quiet)));
            if !another {
                received.last = seg.time;
                received.frames.1 = seg.frame_ref;
                received.bytes += u64::from(seg.len);
                received.seq_range.1 = seg.seq + seg.len;
                return;
            }
            let before = received.is_small().then_some(received.seq_range);
            *received = Self { earlier_credit: before, ..Self::new(seg, (acked_all, quiet)) };
        } else {
            *received = Some(Self::new(seg, state()));
        }
    }

    fn new(seg: &Seg, (acked_all, quiet): (bool, Nanos)) -> Self {
        Self {
            first: seg.time,
            last: seg.time,
            end_of_first: seg.seq + seg.len,
            seq_range: (seg.seq, seg.seq + seg.len),
            earlier_credit: None,
            first_len: seg.len.into(),
            bytes: seg.len.into(),
            frames: (seg.frame_ref, seg.frame_ref),
            kind: seg.kind,
            acked_all,
            idle_before: quiet,
        }
    }

    /// Returns the effect of this message. `before` is the current transfer, if there is one.
    pub fn turn_outcome(&self, seg: &Seg, before: Option<PreviousTransfer>) -> TurnOutcome {
        // The message may have crossed this segment; then later ones may still answer it.
        let has_it = seg.ack().is_none_or(|ack| ack.distance(self.end_of_first) >= 0);
        let Some(before) = before else { return TurnOutcome::Turn };
        if !has_it || !self.acked_all {
            return TurnOutcome::Continues { resumed: false };
        }
        let soon = before.rtt.map_or(PROMPT_ANSWER, |rtt| rtt.max(PROMPT_ANSWER));
        let resumed = seg.time - self.last <= soon + before.loop_to_sender;
        match self.kind {
            PayloadKind::Request | PayloadKind::CloseNotify => TurnOutcome::Turn,
            // Credit gets no response, even if the rest comes late.
            PayloadKind::Credit => TurnOutcome::Continues { resumed },
            _ => {
                // A message of the same length as the first request is another request.
                let like_a_request = before.request == Some(self.bytes);
                let may_be_credit = self.bytes < SMALL && before.bytes >= MIN_BULK_SEGMENTS * before.mss;
                if may_be_credit && resumed && self.idle_before <= soon && !like_a_request {
                    TurnOutcome::Ambiguous
                } else {
                    TurnOutcome::Turn
                }
            }
        }
    }

    pub(super) fn is_small(&self) -> bool {
        self.first_len < SMALL
    }

    /// Converts it for [`TransferFacts`](crate::tcp::facts::TransferFacts).
    pub fn peer_message(&self) -> PeerMessage {
        let (first, last) = self.frames;
        PeerMessage {
            first: self.first,
            last: self.last,
            bytes: self.bytes,
            frames: (first.frame(), last.frame()),
            is_close_notify: self.kind == PayloadKind::CloseNotify,
        }
    }
}

/// The evidence that a side waited for flow-control credit.
#[derive(Clone, Debug, Default)]
pub(in crate::tcp) struct TurnTracker {
    /// Earlier parts of a possibly single transfer, oldest first.
    pub(super) open_transfers: Vec<OpenTransfer>,
    /// Payload length of the message known to be the request.
    pub(super) request_len: Option<u64>,
    /// Payload length of a small message in mid-stream.
    pub(super) credit_len: Option<u64>,
    /// Bytes granted by one credit, once known.
    pub(super) quota: Option<u64>,
    /// SND.MAX at the last credit.
    pub(super) credited_at: u64,
    /// Credit messages, as ranges of the peer's sequence numbers.
    pub credits: Vec<(SeqNumber, SeqNumber)>,
}

impl TurnTracker {
    pub(super) fn note_credit(&mut self, place: (SeqNumber, SeqNumber)) {
        if let Some(last) = self.credits.last_mut().filter(|last| last.1 == place.0) {
            last.1 = place.1;
        } else if self.credits.len() < MAX_CREDITS {
            self.credits.push(place);
        }
    }
}

/// A transfer that the next one may continue.
#[derive(Clone, Debug)]
pub(super) struct OpenTransfer {
    pub(super) transfer: TransferRecorder,
    /// Its last segment.
    pub(super) last: Option<(Time, FrameRef)>,
    /// The pause after it.
    pub(super) pause: Option<SendPause>,
    /// The message that ended it; `None` after a silence.
    pub(super) message: Option<PeerPayload>,
}

/// Returns whether a segment that acknowledges everything, after others that did not, is a message
/// and not credit.
fn is_new_message(seg: &Seg, quiet: Nanos) -> bool {
    seg.kind == PayloadKind::Request || u64::from(seg.len) >= SMALL || quiet > PROMPT_ANSWER
}

/// An application that answers immediately does so within this time, or within one RTT if that is
/// longer. (People begin to notice longer times.)
pub(in crate::tcp) const PROMPT_ANSWER: Nanos = Nanos::from_millis(50);

/// Minimum number of segments covered by a credit, because the window of a protocol allows a bulk
/// (HTTP/2 65,535 bytes, SSH 32 KiB and more).
const MIN_BULK_SEGMENTS: u64 = 10;

/// Maximum number of stored ranges of credit.
const MAX_CREDITS: usize = 1024;
