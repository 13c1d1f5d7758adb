//! Decides whether new data begins another transfer.
//!
//! A *request* comes after everything was delivered and acknowledged, at any time and with any
//! size; the data after it is another transfer. A protocol's *credit* comes while the sender still
//! has data to send, soon after buffer space became free, repeatedly and for equal amounts; the
//! data after it continues the transfer. Readable payload decides (`payload::kind`). A small
//! message immediately after everything was acknowledged may be either: it adds a boundary, which
//! is removed if the next such messages come after the same number of bytes.
//!
//! A *push* needs no request: new data is another message after a pause with nothing outstanding
//! that is longer than any pause of TCP itself. If more than an initial window follows the pause
//! without a request, it is the rest of the previous message, and the pause is a stall (`stalls`).

use super::peer_payload::{OpenTransfer, PROMPT_ANSWER, PeerPayload, PreviousTransfer, TurnOutcome};
use super::scoreboard::Recovery;
use super::{PathEstimate, SenderState};
use crate::tcp::facts::PeerMessage;
use crate::tcp::payload::PayloadKind;
use crate::tcp::segment::Seg;
use whyslow_units::Nanos;

/// TCP itself is not silent for longer without a reason in the capture: RFC 6298's minimum RTO, …
pub(in crate::tcp) const MIN_IDLE: Nanos = Nanos::from_millis(1_000);
/// … and this many RTTs.
pub(super) const IDLE_ROUND_TRIPS: f64 = 4.0;
/// Maximum number of boundaries that may still be removed.
const MAX_OPEN_TRANSFERS: usize = 2;

/// The element that begins with new data.
pub(super) enum NewDataBegins {
    /// The transfer continues.
    Nothing,
    /// Another transfer, and the message that it answers, if any.
    Transfer(Option<PeerMessage>),
}

/// Returns whether two amounts are the same quota: framing changes it by at most about one percent.
fn is_same_quota(one: u64, other: u64) -> bool {
    one.abs_diff(other) * 100 <= one.max(other)
}

/// Whether the peer's payload expects no response: an acknowledgment of settings.
fn expects_no_response(received: PeerPayload) -> bool {
    received.is_small() && received.kind != PayloadKind::Request
}

/// Whether this segment may answer the peer's payload, if that expects a response.
fn answers(seg: &Seg, received: Option<PeerPayload>) -> bool {
    received.is_none_or(|received| {
        expects_no_response(received) || seg.ack().is_none_or(|ack| ack.distance(received.end_of_first) >= 0)
    })
}

impl SenderState {
    /// Returns what begins with new data at `start`.
    pub(super) fn classify_new_data(&mut self, seg: &Seg, start: u64, path: &PathEstimate) -> NewDataBegins {
        if seg.kind == PayloadKind::Credit && !self.was_idle(seg, start, path) {
            // This data answers nothing: the peer's payload still expects a response.
            let continues = self.transfer.is_some();
            return if continues { NewDataBegins::Nothing } else { self.begin_new_transfer(None) };
        }
        let received = self.peer_payload.take();
        self.join_over_silences(received.is_some());
        let before = self.transfer.as_mut().map(|transfer| PreviousTransfer {
            bytes: transfer.facts().bytes(),
            request: self.turns.request_len,
            mss: self.segment_size.negotiated_or_usual(),
            rtt: path.rtt,
            loop_to_sender: path.loop_to_sender,
        });
        let then = received.map(|received| received.turn_outcome(seg, before));
        if let Some(received) = received {
            received.earlier_credit.into_iter().for_each(|place| self.turns.note_credit(place));
            if received.kind == PayloadKind::CloseNotify {
                self.turns.note_credit(received.seq_range);
            }
            if then == Some(TurnOutcome::Continues { resumed: false }) && received.is_small() {
                self.turns.credit_len = Some(received.first_len);
                self.turns.note_credit(received.seq_range);
            }
        }
        match (then, received) {
            _ if before.is_none() => self.begin_new_transfer(received.map(|received| received.peer_message())),
            _ if seg.kind == PayloadKind::BehindGreeting && self.was_greeting(path) && answers(seg, received) => {
                self.answer_behind_greeting(received)
            }
            (Some(TurnOutcome::Turn), Some(received)) => self.begin_new_transfer(Some(received.peer_message())),
            (Some(TurnOutcome::Ambiguous), Some(received)) => self.begin_ambiguous(received, seg, start, path),
            _ if self.was_idle(seg, start, path) => {
                // It crossed this segment, and a later one answers it.
                self.peer_payload = received.filter(|_| then == Some(TurnOutcome::Continues { resumed: false }));
                self.begin_after_silence(seg, path)
            }
            (Some(TurnOutcome::Continues { resumed: true }), Some(received)) => self.continue_transfer(received, start),
            _ => NewDataBegins::Nothing,
        }
    }

    /// Ends the transfer and its earlier parts.
    pub(super) fn begin_new_transfer(&mut self, asked: Option<PeerMessage>) -> NewDataBegins {
        self.finish_transfer();
        self.turns.request_len = asked.map(|asked| asked.bytes);
        NewDataBegins::Transfer(asked)
    }

    /// Whether the current transfer is only the unrequested data of a TLS 1.3 server, which came
    /// immediately.
    fn was_greeting(&mut self, path: &PathEstimate) -> bool {
        let Some(transfer) = &mut self.transfer else { return false };
        let greeting = transfer.facts();
        let at_once = |asked: PeerMessage| greeting.start - asked.last <= path.loop_to_sender + PROMPT_ANSWER;
        greeting.answered.is_some_and(at_once)
    }

    /// Begins the response to a request that crossed the greeting, or to the message that the
    /// greeting seemed to answer. Other payload since then acknowledges settings.
    fn answer_behind_greeting(&mut self, received: Option<PeerPayload>) -> NewDataBegins {
        let request = received.filter(|received| !expects_no_response(*received));
        if request.is_none() {
            received.into_iter().for_each(|received| self.turns.note_credit(received.seq_range));
        }
        let asked = self.transfer.as_mut().and_then(|greeting| {
            greeting.facts().is_housekeeping = true;
            greeting.facts().answered
        });
        self.begin_new_transfer(request.map(|request| request.peer_message()).or(asked))
    }

    /// Continues the transfer after credit.
    fn continue_transfer(&mut self, received: PeerPayload, start: u64) -> NewDataBegins {
        self.turns.note_credit(received.seq_range);
        self.turns.credited_at = start;
        if let Some(transfer) = &mut self.transfer {
            transfer.facts().peer_resumes += 1;
        }
        NewDataBegins::Nothing
    }

    /// Handles a small message immediately after everything was acknowledged: credit or a request.
    fn begin_ambiguous(&mut self, received: PeerPayload, seg: &Seg, start: u64, path: &PathEstimate) -> NewDataBegins {
        let Some(sent) = self.transfer.as_mut().map(|transfer| transfer.facts().bytes()) else {
            return NewDataBegins::Transfer(Some(received.peer_message()));
        };
        if self.turns.credit_len == Some(received.first_len) {
            return self.continue_transfer(received, start);
        }
        if let Some(quota) = self.turns.quota {
            // A transfer that ends before its credit is used up did not stop for lack of credit.
            let used = sent.min(start.saturating_sub(self.turns.credited_at));
            return if used >= quota || is_same_quota(used, quota) {
                self.continue_transfer(received, start)
            } else {
                self.begin_new_transfer(Some(received.peer_message()))
            };
        }
        let last = self.turns.open_transfers.last_mut().filter(|part| part.message.is_some());
        let last = last.map(|part| part.transfer.facts().bytes());
        if let Some(last) = last.filter(|&last| is_same_quota(last, sent)) {
            self.turns.quota = Some(sent.min(last));
            self.join_open_transfers(received.bytes);
            return self.continue_transfer(received, start);
        }
        self.hold_transfer(Some(received), seg, path);
        NewDataBegins::Transfer(Some(received.peer_message()))
    }

    /// Holds the transfer, because the next data may continue it. `ended_by`: the message that
    /// ended it; `None` after a silence.
    pub(super) fn hold_transfer(&mut self, ended_by: Option<PeerPayload>, seg: &Seg, path: &PathEstimate) {
        let pause = self.pause_before(seg, path);
        let Some(transfer) = self.transfer.take() else { return };
        if self.turns.open_transfers.len() >= MAX_OPEN_TRANSFERS {
            let oldest = self.turns.open_transfers.remove(0);
            self.push_transfer(oldest.transfer, oldest.last);
        }
        let last = self.last_send.at;
        self.turns.open_transfers.push(OpenTransfer { transfer, last, pause, message: ended_by });
    }

    /// Joins the parts into one transfer, if messages of this size separate them.
    fn join_open_transfers(&mut self, message: u64) {
        let Some(mut whole) = self.transfer.take() else { return };
        let mut open = std::mem::take(&mut self.turns.open_transfers);
        // Oldest first, in the order of their messages.
        let is_alike = |part: &OpenTransfer| part.message.is_some_and(|one| one.bytes == message);
        let joined = open.iter().rev().take_while(|part| is_alike(part)).count();
        let ranges = open.iter().rev().take(joined).rev().filter_map(|part| part.message);
        ranges.for_each(|message| self.turns.note_credit(message.seq_range));
        while let Some(part) = open.pop_if(|part| is_alike(part)) {
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

    /// At the end of the data: decides whether the last message expected no response.
    pub(super) fn end_turns(&mut self) {
        let Some(received) = self.peer_payload.take() else { return };
        self.join_over_silences(true);
        received.earlier_credit.into_iter().for_each(|place| self.turns.note_credit(place));
        let is_credit = match received.kind {
            PayloadKind::Request => false,
            PayloadKind::Credit | PayloadKind::MaybeCredit | PayloadKind::CloseNotify => true,
            PayloadKind::Unread | PayloadKind::Continuation | PayloadKind::BehindGreeting => {
                received.is_small() && (!received.acked_all || self.turns.credit_len == Some(received.first_len))
            }
        };
        if is_credit {
            self.turns.note_credit(received.seq_range);
        }
    }

    /// Finishes transfers that could still have continued.
    pub(super) fn close_open_transfers(&mut self) {
        for part in std::mem::take(&mut self.turns.open_transfers) {
            self.push_transfer(part.transfer, part.last);
        }
    }

    /// Returns whether the sender was idle before this segment: everything was acknowledged, the
    /// window was open, and the silence was longer than TCP's own. A silence may also be an RTO
    /// after a loss before the capture point, or in the sender's host. If the capture is not next
    /// to the sender, the last segment must show that it had no more data, or IP IDs that it sent
    /// nothing. If IP IDs show packets that were not captured, and the silence is not longer than
    /// that many timeouts, it was an RTO.
    fn was_idle(&self, seg: &Seg, start: u64, path: &PathEstimate) -> bool {
        let Some((last, _)) = self.last_send.at else {
            return false;
        };
        if seg.time - last <= MIN_IDLE {
            return false;
        }
        let (reached, since) = self.all_acked_at;
        let is_closed =
            self.window.closed_since.is_some() || self.since_send.met_zero_window() || self.is_window_shut(seg);
        let is_open = !is_closed && self.scoreboard.recovery == Recovery::None;
        if !is_open || seg.kind == PayloadKind::Continuation || start < self.snd_max || reached != self.snd_max {
            return false;
        }
        let least = self.longest_silence(path);
        let quiet = seg.time - since.max(last) - path.loop_to_sender;
        let together = self.sender_time_since_last_send(seg).is_some_and(|apart| apart.0 < quiet.0 / 2);
        let missing = self.missing_packets();
        let by_timers = |packets: u32| {
            packets > 0 && (self.ip_ids.are_exclusive() || seg.time - last <= self.max_timer_wait(packets).scale(1.25))
        };
        let may_be_lost = missing.is_some_and(by_timers);
        let at_end = path.near || self.last_send.app_limited || missing == Some(0);
        quiet > least && !together && at_end && !may_be_lost
    }
}
