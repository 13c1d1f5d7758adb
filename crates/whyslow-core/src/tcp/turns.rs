//! Turns: what begins another transfer.
//!
//! A *request* comes after all was delivered and acknowledged, whenever its program likes, of any size; what follows it is another
//! transfer. A protocol's *credit* comes while the sender still has bytes to send, soon after what freed it, again and again at even
//! amounts, and what follows it is more of the same. Where the payload is readable it tells (`content::kind`). A small message that
//! comes as soon as all was acknowledged may be either: a boundary is drawn then, and taken back if the next such messages come
//! after as many bytes again.
//!
//! A *push* needs no request: after a pause in which nothing was outstanding, longer than any of TCP's own, new data is another
//! message.

use super::content::PayloadKind;
use super::facts::Asked;
use super::half::{Half, View};
use super::peer_payload::{Before, Heard, Part, Then};
use super::segment::Seg;
use super::sent::Recovery;
use crate::units::Nanos;

/// Nothing of TCP's own keeps a sender silent for so long without a reason in the capture: RFC 6298's least timer, …
pub(super) const IDLE: Nanos = Nanos::from_millis(1_000);
/// … and so many round trips.
const IDLE_ROUND_TRIPS: f64 = 4.0;
/// Boundaries that may yet be taken back.
const MOST_OPEN: usize = 2;

/// What begins with new data.
pub(super) enum Begins {
    /// Nothing: it goes on.
    Nothing,
    /// A transfer that answers, or one that does not.
    Transfer(Option<Asked>),
}

/// Whether two amounts are one quota: frames and records add to it a little more or less than a hundredth.
fn is_even(one: u64, other: u64) -> bool {
    one.abs_diff(other) * 100 <= one.max(other)
}

impl Half {
    /// What new data at `start` begins.
    pub(super) fn begins(&mut self, seg: &Seg, start: u64, view: &View) -> Begins {
        let heard = self.heard.take();
        let before = self.transfer.as_mut().map(|transfer| Before {
            bytes: transfer.facts().bytes(),
            request: self.turns.request,
            mss: self.negotiated_mss.unwrap_or(1460),
            rtt: view.rtt,
            way: view.toward_sender,
        });
        let then = heard.map(|heard| heard.and_then(seg, before));
        if let Some(heard) = heard {
            heard.before.into_iter().for_each(|place| self.turns.note_credit(place));
            if heard.kind == PayloadKind::Farewell {
                self.turns.note_credit(heard.place);
            }
            if then == Some(Then::GoesOn { resumed: false }) && heard.is_small() {
                self.turns.credit = Some(heard.len);
                self.turns.note_credit(heard.place);
            }
        }
        match (then, heard) {
            _ if before.is_none() => self.begin_another(heard.map(|heard| heard.told())),
            (Some(Then::Turn), Some(heard)) => self.begin_another(Some(heard.told())),
            (Some(Then::Either), Some(heard)) => self.begin_either(heard, seg, start, view),
            _ if self.was_idle(seg, start, view) => {
                // It crossed what comes now, and is answered later.
                self.heard = heard.filter(|_| then == Some(Then::GoesOn { resumed: false }));
                self.begin_another(None)
            }
            (Some(Then::GoesOn { resumed: true }), Some(heard)) => self.go_on(heard, start),
            _ => Begins::Nothing,
        }
    }

    /// What was sent is over, however it was cut.
    fn begin_another(&mut self, asked: Option<Asked>) -> Begins {
        self.finish_transfer();
        self.turns.request = asked.map(|asked| asked.bytes);
        Begins::Transfer(asked)
    }

    /// A message let it go on.
    fn go_on(&mut self, heard: Heard, start: u64) -> Begins {
        self.turns.note_credit(heard.place);
        self.turns.credited_at = start;
        if let Some(transfer) = &mut self.transfer {
            transfer.facts().peer_resumes += 1;
        }
        Begins::Nothing
    }

    /// A small message, which came as soon as all was acknowledged, let it go on or asked for more.
    fn begin_either(&mut self, heard: Heard, seg: &Seg, start: u64, view: &View) -> Begins {
        let Some(sent) = self.transfer.as_mut().map(|transfer| transfer.facts().bytes()) else {
            return Begins::Transfer(Some(heard.told()));
        };
        if self.turns.credit == Some(heard.len) {
            return self.go_on(heard, start);
        }
        if let Some(quota) = self.turns.quota {
            // What stops short of its credit has stopped by itself.
            let used = sent.min(start.saturating_sub(self.turns.credited_at));
            return if used >= quota || is_even(used, quota) {
                self.go_on(heard, start)
            } else {
                self.begin_another(Some(heard.told()))
            };
        }
        let last = self.turns.open.last_mut().map(|part| part.transfer.facts().bytes());
        if let Some(last) = last.filter(|&last| is_even(last, sent)) {
            self.turns.quota = Some(sent.min(last));
            self.join_parts(heard.bytes);
            return self.go_on(heard, start);
        }
        let pause = self.pause_before(seg, view);
        if let Some(transfer) = self.transfer.take() {
            if self.turns.open.len() >= MOST_OPEN {
                let oldest = self.turns.open.remove(0);
                self.keep_transfer(oldest.transfer, oldest.last);
            }
            self.turns.open.push(Part { transfer, last: self.last_send, pause, message: heard });
        }
        Begins::Transfer(Some(heard.told()))
    }

    /// The parts are one transfer after all, as far as messages of this size came between them.
    fn join_parts(&mut self, message: u64) {
        let Some(mut whole) = self.transfer.take() else { return };
        let mut open = std::mem::take(&mut self.turns.open);
        // The oldest first, as their messages follow one another.
        let joined = open.iter().rev().take_while(|part| part.message.bytes == message).count();
        open.iter().rev().take(joined).rev().for_each(|part| self.turns.note_credit(part.message.place));
        while let Some(part) = open.pop_if(|part| part.message.bytes == message) {
            let mut longer = part.transfer;
            longer.absorb(part.last, part.pause, whole);
            longer.facts().peer_resumes += 1;
            whole = longer;
        }
        for part in open {
            self.keep_transfer(part.transfer, part.last);
        }
        self.transfer = Some(whole);
    }

    /// Nothing more is sent: whether what was heard last wanted no answer.
    pub(super) fn end_turns(&mut self) {
        let Some(heard) = self.heard.take() else { return };
        heard.before.into_iter().for_each(|place| self.turns.note_credit(place));
        let is_credit = match heard.kind {
            PayloadKind::Request => false,
            PayloadKind::Credit | PayloadKind::MaybeCredit | PayloadKind::Farewell => true,
            PayloadKind::Unread | PayloadKind::Continuation => {
                heard.is_small() && (!heard.acked_all || self.turns.credit == Some(heard.len))
            }
        };
        if is_credit {
            self.turns.note_credit(heard.place);
        }
    }

    /// Transfers that were over, though they might have gone on.
    pub(super) fn close_parts(&mut self) {
        for part in std::mem::take(&mut self.turns.open) {
            self.keep_transfer(part.transfer, part.last);
        }
    }

    /// Whether the sender had nothing to do before this segment: all was acknowledged, the window was open, and it was silent for longer
    /// than TCP itself is. A silence may also be the timer's, for what was lost on the way here, or within the sender's host: away from the
    /// sender its last segment shows that it had no more, or its numbers that it sent nothing. Where they show that it sent what never came,
    /// and the silence is no longer than so many of its timers, it was that.
    fn was_idle(&self, seg: &Seg, start: u64, view: &View) -> bool {
        let Some((last, _)) = self.last_send else {
            return false;
        };
        if seg.time - last <= IDLE {
            return false;
        }
        let (reached, since) = self.all_acked;
        let is_closed = self.zero_since.is_some() || self.since.zero_window() || self.is_shut(seg);
        let is_open = !is_closed && self.recovery == Recovery::None;
        if !is_open || seg.kind == PayloadKind::Continuation || start < self.sent_max || reached != self.sent_max {
            return false;
        }
        let rtt = self.smoothed.rtt().max(view.rtt).unwrap_or_default();
        let least = IDLE.max(self.smoothed.rto()).max(rtt.scale(IDLE_ROUND_TRIPS));
        let quiet = seg.time - since.max(last) - view.toward_sender;
        let together = self.sent_apart(seg).is_some_and(|apart| apart.0 < quiet.0 / 2);
        let missing = self.missing();
        let by_timers = |packets: u32| {
            packets > 0 && (self.numbers.are_exclusive() || seg.time - last <= self.timers(packets).scale(1.25))
        };
        let may_be_lost = missing.is_some_and(by_timers);
        let at_end = view.near || self.ran_dry || missing == Some(0);
        quiet > least && !together && at_end && !may_be_lost
    }
}
