//! Turns: what begins another transfer.
//!
//! A *request* comes after all was delivered and acknowledged, whenever its program likes, of any
//! size; what follows it is another transfer. A protocol's *credit* comes while the sender still
//! has bytes to send, soon after what freed it, again and again at even amounts, and what follows
//! it is more of the same. Where the payload is readable it tells (`content::kind`). A small
//! message that comes as soon as all was acknowledged may be either: a boundary is drawn then, and
//! taken back if the next such messages come after as many bytes again.
//!
//! A *push* needs no request: after a pause in which nothing was outstanding, longer than any of
//! TCP's own, new data is another message.

use super::content::PayloadKind;
use super::facts::PeerMessage;
use super::outstanding::Recovery;
use super::peer_payload::{OpenTransfer, PeerPayload, PreviousTransfer, TurnOutcome};
use super::segment::Seg;
use super::sender::{PathEstimate, SenderState};
use crate::units::Nanos;

/// Nothing of TCP's own keeps a sender silent for so long without a reason in the capture: RFC
/// 6298's least timer, …
pub(super) const MIN_IDLE: Nanos = Nanos::from_millis(1_000);
/// … and so many round trips.
const IDLE_ROUND_TRIPS: f64 = 4.0;
/// Boundaries that may yet be taken back.
const MAX_OPEN_TRANSFERS: usize = 2;

/// What begins with new data.
pub(super) enum NewDataBegins {
    /// Nothing: it goes on.
    Nothing,
    /// A transfer that answers, or one that does not.
    Transfer(Option<PeerMessage>),
}

/// Whether two amounts are one quota: frames and records add to it a little more or less than a
/// hundredth.
fn is_same_quota(one: u64, other: u64) -> bool {
    one.abs_diff(other) * 100 <= one.max(other)
}

impl SenderState {
    /// What new data at `start` begins.
    pub(super) fn what_begins(&mut self, seg: &Seg, start: u64, path: &PathEstimate) -> NewDataBegins {
        let heard = self.peer_payload.take();
        let before = self.transfer.as_mut().map(|transfer| PreviousTransfer {
            bytes: transfer.facts().bytes(),
            request: self.turns.request_len,
            mss: self.negotiated_mss.unwrap_or(1460),
            rtt: path.rtt,
            loop_to_sender: path.loop_to_sender,
        });
        let then = heard.map(|heard| heard.turn_outcome(seg, before));
        if let Some(heard) = heard {
            heard.earlier_credit.into_iter().for_each(|place| self.turns.note_credit(place));
            if heard.kind == PayloadKind::Farewell {
                self.turns.note_credit(heard.seq_range);
            }
            if then == Some(TurnOutcome::GoesOn { resumed: false }) && heard.is_small() {
                self.turns.credit_len = Some(heard.first_len);
                self.turns.note_credit(heard.seq_range);
            }
        }
        match (then, heard) {
            _ if before.is_none() => self.begin_new_transfer(heard.map(|heard| heard.peer_message())),
            (Some(TurnOutcome::Turn), Some(heard)) => self.begin_new_transfer(Some(heard.peer_message())),
            (Some(TurnOutcome::Ambiguous), Some(heard)) => self.begin_ambiguous(heard, seg, start, path),
            _ if self.was_idle(seg, start, path) => {
                // It crossed what comes now, and is answered later.
                self.peer_payload = heard.filter(|_| then == Some(TurnOutcome::GoesOn { resumed: false }));
                self.begin_new_transfer(None)
            }
            (Some(TurnOutcome::GoesOn { resumed: true }), Some(heard)) => self.continue_transfer(heard, start),
            _ => NewDataBegins::Nothing,
        }
    }

    /// What was sent is over, however it was cut.
    fn begin_new_transfer(&mut self, asked: Option<PeerMessage>) -> NewDataBegins {
        self.finish_transfer();
        self.turns.request_len = asked.map(|asked| asked.bytes);
        NewDataBegins::Transfer(asked)
    }

    /// A message let it go on.
    fn continue_transfer(&mut self, heard: PeerPayload, start: u64) -> NewDataBegins {
        self.turns.note_credit(heard.seq_range);
        self.turns.credited_at = start;
        if let Some(transfer) = &mut self.transfer {
            transfer.facts().peer_resumes += 1;
        }
        NewDataBegins::Nothing
    }

    /// A small message, which came as soon as all was acknowledged, let it go on or asked for more.
    fn begin_ambiguous(&mut self, heard: PeerPayload, seg: &Seg, start: u64, path: &PathEstimate) -> NewDataBegins {
        let Some(sent) = self.transfer.as_mut().map(|transfer| transfer.facts().bytes()) else {
            return NewDataBegins::Transfer(Some(heard.peer_message()));
        };
        if self.turns.credit_len == Some(heard.first_len) {
            return self.continue_transfer(heard, start);
        }
        if let Some(quota) = self.turns.quota {
            // What stops short of its credit has stopped by itself.
            let used = sent.min(start.saturating_sub(self.turns.credited_at));
            return if used >= quota || is_same_quota(used, quota) {
                self.continue_transfer(heard, start)
            } else {
                self.begin_new_transfer(Some(heard.peer_message()))
            };
        }
        let last = self.turns.open_transfers.last_mut().map(|part| part.transfer.facts().bytes());
        if let Some(last) = last.filter(|&last| is_same_quota(last, sent)) {
            self.turns.quota = Some(sent.min(last));
            self.join_open_transfers(heard.bytes);
            return self.continue_transfer(heard, start);
        }
        let pause = self.pause_before(seg, path);
        if let Some(transfer) = self.transfer.take() {
            if self.turns.open_transfers.len() >= MAX_OPEN_TRANSFERS {
                let oldest = self.turns.open_transfers.remove(0);
                self.push_transfer(oldest.transfer, oldest.last);
            }
            self.turns.open_transfers.push(OpenTransfer { transfer, last: self.last_send, pause, message: heard });
        }
        NewDataBegins::Transfer(Some(heard.peer_message()))
    }

    /// The parts are one transfer after all, as far as messages of this size came between them.
    fn join_open_transfers(&mut self, message: u64) {
        let Some(mut whole) = self.transfer.take() else { return };
        let mut open = std::mem::take(&mut self.turns.open_transfers);
        // The oldest first, as their messages follow one another.
        let joined = open.iter().rev().take_while(|part| part.message.bytes == message).count();
        open.iter().rev().take(joined).rev().for_each(|part| self.turns.note_credit(part.message.seq_range));
        while let Some(part) = open.pop_if(|part| part.message.bytes == message) {
            let mut longer = part.transfer;
            longer.absorb(part.last, part.pause, whole);
            longer.facts().peer_resumes += 1;
            whole = longer;
        }
        for part in open {
            self.push_transfer(part.transfer, part.last);
        }
        self.transfer = Some(whole);
    }

    /// Nothing more is sent: whether what was heard last wanted no answer.
    pub(super) fn end_turns(&mut self) {
        let Some(heard) = self.peer_payload.take() else { return };
        heard.earlier_credit.into_iter().for_each(|place| self.turns.note_credit(place));
        let is_credit = match heard.kind {
            PayloadKind::Request => false,
            PayloadKind::Credit | PayloadKind::MaybeCredit | PayloadKind::Farewell => true,
            PayloadKind::Unread | PayloadKind::Continuation => {
                heard.is_small() && (!heard.acked_all || self.turns.credit_len == Some(heard.first_len))
            }
        };
        if is_credit {
            self.turns.note_credit(heard.seq_range);
        }
    }

    /// Transfers that were over, though they might have gone on.
    pub(super) fn close_open_transfers(&mut self) {
        for part in std::mem::take(&mut self.turns.open_transfers) {
            self.push_transfer(part.transfer, part.last);
        }
    }

    /// Whether the sender had nothing to do before this segment: all was acknowledged, the window
    /// was open, and it was silent for longer than TCP itself is. A silence may also be the
    /// timer's, for what was lost on the way here, or within the sender's host: away from the
    /// sender its last segment shows that it had no more, or its numbers that it sent nothing.
    /// Where they show that it sent what never came, and the silence is no longer than so many of
    /// its timers, it was that.
    fn was_idle(&self, seg: &Seg, start: u64, path: &PathEstimate) -> bool {
        let Some((last, _)) = self.last_send else {
            return false;
        };
        if seg.time - last <= MIN_IDLE {
            return false;
        }
        let (reached, since) = self.all_acked_at;
        let is_closed =
            self.zero_window_since.is_some() || self.since_send.met_zero_window() || self.is_window_shut(seg);
        let is_open = !is_closed && self.recovery == Recovery::None;
        if !is_open || seg.kind == PayloadKind::Continuation || start < self.snd_max || reached != self.snd_max {
            return false;
        }
        let rtt = self.srtt.srtt().max(path.rtt).unwrap_or_default();
        let least = MIN_IDLE.max(self.srtt.rto()).max(rtt.scale(IDLE_ROUND_TRIPS));
        let quiet = seg.time - since.max(last) - path.loop_to_sender;
        let together = self.sender_time_since_last_send(seg).is_some_and(|apart| apart.0 < quiet.0 / 2);
        let missing = self.missing_packets();
        let by_timers = |packets: u32| {
            packets > 0 && (self.ip_ids.are_exclusive() || seg.time - last <= self.max_timer_wait(packets).scale(1.25))
        };
        let may_be_lost = missing.is_some_and(by_timers);
        let at_end = path.near || self.app_limited || missing == Some(0);
        quiet > least && !together && at_end && !may_be_lost
    }
}
