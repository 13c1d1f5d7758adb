//! What a side has heard from the other one since it sent last, and what it has shown of whether it
//! waits for credit.

use super::content::{PayloadKind, SMALL};
use super::facts::{Gap, PeerMessage};
use super::segment::{FrameRef, Seg};
use super::transfer_recorder::TransferRecorder;
use crate::units::{Nanos, SeqNumber};

/// The other side's payload since this side's last.
#[derive(Clone, Copy, Debug)]
pub(super) struct PeerPayload {
    pub first: Nanos,
    pub last: Nanos,
    pub(super) end_of_first: SeqNumber,
    /// Where it lies in the other side's sequence space.
    pub(super) seq_range: (SeqNumber, SeqNumber),
    /// The same, of what came in mid-stream before it.
    pub(super) earlier_credit: Option<(SeqNumber, SeqNumber)>,
    /// Payload of its first segment, and of all.
    pub(super) first_len: u64,
    pub(super) bytes: u64,
    pub(super) frames: (FrameRef, FrameRef),
    pub(super) kind: PayloadKind,
    /// Its first segment acknowledged all that this side had sent, or came later.
    pub(super) acked_all: bool,
    /// For how long all had been acknowledged when it came: what its program took.
    pub(super) idle_before: Nanos,
}

/// What a side sends after it has heard the other one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TurnOutcome {
    /// Another transfer: it had run dry, and answers only now.
    Turn,
    /// One or the other; the next messages tell.
    Ambiguous,
    /// More of the same; and whether it waited for a word that let it go on.
    GoesOn { resumed: bool },
}

/// What is known of the transfer that the other side's payload may have ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct PreviousTransfer {
    /// Its payload, bytes.
    pub bytes: u64,
    /// Payload of the message that it answers, if it answers one.
    pub request: Option<u64>,
    pub mss: u64,
    pub rtt: Option<Nanos>,
    /// From the capture point to its sender and back.
    pub loop_to_sender: Nanos,
}

impl PeerPayload {
    /// One more segment with payload, in addition to what was heard before it. `state` gives
    /// whether it acknowledges all, and for how long all has been acknowledged; it is asked for
    /// only as long as nothing has.
    #[inline(always)]
    pub fn add(heard: &mut Option<Self>, seg: &Seg, state: impl FnOnce() -> (bool, Nanos)) {
        if let Some(heard) = heard {
            // What came in mid-stream was credit; a message behind all of it is another.
            let (acked_all, quiet) = if heard.acked_all { (true, Nanos::ZERO) } else { state() };
            let another = !heard.acked_all && acked_all && is_new_message(seg, quiet);
            if !another {
                heard.last = seg.time;
                heard.frames.1 = seg.frame_ref;
                heard.bytes += u64::from(seg.len);
                heard.seq_range.1 = seg.seq + seg.len;
                return;
            }
            let before = heard.is_small().then_some(heard.seq_range);
            *heard = Self { earlier_credit: before, ..Self::new(seg, (acked_all, quiet)) };
        } else {
            *heard = Some(Self::new(seg, state()));
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

    /// What new payload is that comes behind it. `earlier_credit`: the transfer that goes on, if
    /// one does.
    pub fn turn_outcome(&self, seg: &Seg, before: Option<PreviousTransfer>) -> TurnOutcome {
        // It may have crossed this segment on the way; the next ones may yet answer it.
        let has_it = seg.ack().is_none_or(|ack| ack.distance(self.end_of_first) >= 0);
        let Some(before) = before else { return TurnOutcome::Turn };
        if !has_it || !self.acked_all {
            return TurnOutcome::GoesOn { resumed: false };
        }
        let soon = before.rtt.map_or(PROMPT_ANSWER, |rtt| rtt.max(PROMPT_ANSWER));
        let resumed = seg.time - self.last <= soon + before.loop_to_sender;
        match self.kind {
            PayloadKind::Request | PayloadKind::Farewell => TurnOutcome::Turn,
            PayloadKind::Credit if resumed => TurnOutcome::GoesOn { resumed },
            _ => {
                // A message like the one that asked for what was sent asks for more.
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

    /// As it is told of.
    pub fn peer_message(&self) -> PeerMessage {
        let (first, last) = self.frames;
        PeerMessage {
            first: self.first,
            last: self.last,
            bytes: self.bytes,
            frames: (first.frame(), last.frame()),
            is_farewell: self.kind == PayloadKind::Farewell,
        }
    }
}

/// What a side has shown of whether it waits for credit.
#[derive(Debug, Default)]
pub(super) struct TurnTracker {
    /// Parts of what may be one transfer, the oldest first: all before the one that goes on.
    pub(super) open_transfers: Vec<OpenTransfer>,
    /// Payload of the message that is known to have asked for what is sent.
    pub(super) request_len: Option<u64>,
    /// Payload of a small message that came in mid-stream.
    pub(super) credit_len: Option<u64>,
    /// Bytes that a credit has granted, once it is known that there are any.
    pub(super) quota: Option<u64>,
    /// What had been sent when the last one came.
    pub(super) credited_at: u64,
    /// Where such messages lie in the other side's sequence space.
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

/// A transfer that the one behind it may go on with.
#[derive(Debug)]
pub(super) struct OpenTransfer {
    pub(super) transfer: TransferRecorder,
    /// Its last segment.
    pub(super) last: Option<(Nanos, FrameRef)>,
    /// The pause behind it.
    pub(super) pause: Option<Gap>,
    /// The message that ended it.
    pub(super) message: PeerPayload,
}

/// Whether a segment that acknowledges all, behind others that did not, is no credit as they were.
fn is_new_message(seg: &Seg, quiet: Nanos) -> bool {
    seg.kind == PayloadKind::Request || u64::from(seg.len) >= SMALL || quiet > PROMPT_ANSWER
}

/// A program that answers what it has read does so within this time, or within a round trip where
/// that is longer. (It is where people begin to notice.)
const PROMPT_ANSWER: Nanos = Nanos::from_millis(50);

/// A credit is for more than this many segments: what a protocol's window grants is a bulk (HTTP/2
/// 65,535 bytes, SSH 32 KiB and more).
const MIN_BULK_SEGMENTS: u64 = 10;

/// Stretches of credit that are remembered.
const MAX_CREDITS: usize = 1024;
