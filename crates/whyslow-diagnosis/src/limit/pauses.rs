//! [`PauseInRound`]: which limits a silence of the sender falls under.

use super::plateau::fills_no_window;
use super::rounds::Shape;
use super::span::SpanCutter;
use crate::estimate::Context;
use whyslow_analysis::types::{LimitingFactor, SHORTEST_RTO};
use whyslow_core::message::SEGMENT;
use whyslow_core::tcp::facts::{Release, RoundFacts, SendPause, TransferFacts};
use whyslow_units::Nanos;
use whyslow_units::steps;

/// Minimum delay of a delayed ACK beyond the path's round trip: less than Linux's 40 ms
/// (`TCP_DELACK_MIN`), as the segment may have come up to a tick before. Half and twice change 11
/// and 32 of 2,061 captures.
pub const DELAYED_ACK: Nanos = Nanos::from_millis(25);
/// Longest delay of a delayed ACK (RFC 9293 section 3.8.6.3: less than 500 ms; Windows and macOS
/// use up to 200 ms).
pub const MAX_DELAYED_ACK: Nanos = Nanos::from_millis(500);

/// Maximum number of segments in flight for a delayed ACK: with more, the next one arrives before
/// the receiver has waited for long (RFC 5681 section 4.2). Half and twice change 19 and 16 of
/// 2,061 captures.
const MAX_FEW_SEGMENTS: u64 = 4;

/// Shortest timer or probe of a sender: two ticks of a kernel of 250 Hz (Linux `TCP_TIMEOUT_MIN`).
pub(crate) const MIN_PROBE_TIMER: Nanos = Nanos::from_millis(8);
/// Shortest RTO (RFC 6298 section 2.4): a segment that stands longer in a queue causes one.
const MIN_RTO: Nanos = Nanos::from_millis(1_000);

/// A path that becomes longer by up to this factor looks like a late sender: a route to another
/// continent, or a link to a satellite (35 to 100 ms). Half and twice change 0 and 1 of 2,061
/// captures.
const LONGER_PATH: f64 = 3.0;

/// Rounds of less than a segment, beyond which they are separate messages: a request in two writes
/// takes two. Half and twice change 4 and 1 of 2,061 captures.
const MIN_MESSAGE_ROUNDS: u64 = 3;

/// A pause and its context.
#[derive(Clone, Copy)]
pub(super) struct PauseInRound<'a> {
    pub gap: SendPause,
    pub transfer: &'a TransferFacts,
    /// The index of its round.
    pub round: usize,
    /// Limit of the round.
    pub base: LimitingFactor,
    /// At least half of a full window stood in a queue of the path.
    pub queued: bool,
    pub shape: &'a Shape,
    pub context: &'a Context,
}

impl PauseInRound<'_> {
    /// Whether a small segment waited for this ACK, though it was not late.
    fn is_held_by_nagle(&self) -> bool {
        let Self { gap, transfer, context, .. } = self;
        match self.base {
            LimitingFactor::SlowStart => is_nagled_remainder(gap, context),
            LimitingFactor::Application => is_nagled_message(gap, context) && !is_one_write_each(gap, transfer),
            _ => false,
        }
    }

    /// Adds its spans.
    pub(super) fn cut(&self, spans: &mut SpanCutter) {
        let Self { gap, base, context, .. } = self;
        let base = *base;
        if context.encrypted {
            spans.add(self.encrypted_limit(), gap.end);
            return;
        }
        if let Some((from, length)) = gap.closed.filter(|_| gap.release != Release::Timer) {
            // A window that closed was full before, and may be full again after it opened.
            let from = from.max(gap.start).min(gap.end);
            let until = (from + length).min(gap.end);
            spans.add(LimitingFactor::ReceiveWindow, from);
            spans.add(LimitingFactor::ZeroWindow, until);
            if until < gap.end {
                Self { gap: SendPause { start: until, closed: None, ..*gap }, ..*self }.cut(spans);
            }
            return;
        }
        let limit = match gap.release {
            Release::Timer => LimitingFactor::Timeout,
            // At least half of a full window stood in a queue of the path: a larger window would
            // only lengthen the queue.
            Release::WindowAck if self.queued => base,
            Release::WindowAck | Release::WindowUpdate => LimitingFactor::ReceiveWindow,
            // A small message after one of the other side answers it or grants credit.
            Release::Peer if base == LimitingFactor::Application => base,
            // Credit comes for whatever was read, and no window was full.
            Release::Peer if fills_no_window(self.transfer, context) => LimitingFactor::Application,
            Release::Peer => LimitingFactor::ProtocolWindow,
            // A full path loses nothing by repairs, unless it ran empty until the timer expired.
            Release::Ack if gap.recovering && (!is_rate_limit(base) || self.follows_timeout()) => {
                LimitingFactor::LossRecovery
            }
            Release::Ack => {
                let late = ack_delay_of(gap, &self.transfer.rounds[self.round], context);
                if late >= DELAYED_ACK && context.elided {
                    // If ACKs were left out, the next one shown comes late.
                    spans.add(base, gap.end - late);
                    spans.add(LimitingFactor::Unknown, gap.end);
                    return;
                }
                if late >= DELAYED_ACK && late <= MAX_DELAYED_ACK {
                    if is_nagle(gap, context) {
                        spans.add(LimitingFactor::NagleDelayedAck, gap.end);
                    } else {
                        spans.add(base, gap.end - late);
                        spans.add(LimitingFactor::AckDelay, gap.end);
                    }
                    return;
                }
                if self.is_held_by_nagle() { LimitingFactor::NagleDelayedAck } else { base }
            }
            Release::Nothing => {
                // Credit came, and the program used it late.
                if base == LimitingFactor::ProtocolWindow
                    && let Some(message) = gap.peer_payload_at
                {
                    spans.add(base, message);
                }
                self.idle_limit()
            }
        };
        spans.add(limit, gap.end);
    }

    /// Returns the limit of a pause of QUIC, whose acknowledgements and losses are not known. One
    /// that is longer than a lost packet explains is not the path's; a shorter one may be.
    fn encrypted_limit(&self) -> LimitingFactor {
        let Self { gap, base, context, .. } = self;
        let rtt = context.rtt.unwrap_or_default();
        match gap.end - gap.start {
            length if length <= rtt + context.epsilon => *base,
            length if length > probe_timeout(rtt) && gap.release == Release::Nothing => LimitingFactor::Application,
            _ if is_rate_limit(*base) => *base,
            _ => LimitingFactor::Unknown,
        }
    }

    /// Returns whether one segment followed the pause and waited for its ACK before the next.
    fn leaves_alone(&self) -> bool {
        let rounds = &self.transfer.rounds;
        let next = rounds.get(self.round + 1).filter(|_| self.round + 2 < rounds.len());
        next.is_some_and(|next| next.start == self.gap.end && next.bytes <= self.context.mss)
    }

    /// Returns whether the pause begins with a retransmission after a timeout.
    fn follows_timeout(&self) -> bool {
        let gaps = &self.transfer.pauses;
        let at = gaps.partition_point(|other| other.start < self.gap.start);
        let before = at.checked_sub(1).and_then(|at| gaps.get(at));
        before.is_some_and(|before| before.release == Release::Timer && before.end == self.gap.start)
    }

    /// Returns the limit of a pause that no captured packet ended.
    fn idle_limit(&self) -> LimitingFactor {
        let Self { gap, transfer, base, context, .. } = self;
        let base = *base;
        let length = gap.end - gap.start;
        // A short packet of QUIC may be what its congestion window left, which counts bytes.
        let app_limited = gap.app_limited && (gap.idle || !context.is_quic);
        if gap.ends_in_credit {
            // The messages were sent before it.
            return LimitingFactor::Idle;
        }
        if is_rate_limit(base) && !app_limited {
            return base;
        }
        // Sent together and separated by a queue on the path. With nothing in flight it was not a
        // queue of this transfer.
        if gap.sent_apart.is_some_and(|apart| apart.0 < length.0 / 2) {
            return if gap.idle { LimitingFactor::Unknown } else { base };
        }
        // If whole flights may be lost before the capture point, a silence of an RTO between full
        // segments is the wait for a retransmission that was not captured either, unless IP IDs
        // show that the sender sent nothing.
        let full = gap.before_len >= context.mss && gap.after_len >= context.mss && gap.missing != Some(0);
        if self.shape.lost_before && full && length >= MIN_PROBE_TIMER.max(context.rtt.unwrap_or_default().scale(2.0)) {
            return LimitingFactor::Timeout;
        }
        // So is a silence of at least the minimum RTO between full segments, after which the sender
        // has a window of one segment: an RTO leaves no more (RFC 5681 section 3.1), and an idle
        // sender would use its initial window.
        if full && !app_limited && self.leaves_alone() && length >= SHORTEST_RTO {
            return LimitingFactor::Timeout;
        }
        // Without timestamps the capture does not show whether the ACK that ended it was left out.
        if context.elided && (gap.unseen || gap.sent_apart.is_none()) {
            return LimitingFactor::Unknown;
        }
        // Bytes sent before, or lost, were available to send. No RTO is shorter than one RTT.
        let is_brief = context.rtt.is_some_and(|rtt| length <= rtt + context.epsilon);
        if (app_limited || gap.idle) && (gap.is_retransmit || (!gap.idle && has_lost(transfer, gap))) {
            return match is_brief {
                true if gap.is_retransmit => LimitingFactor::LossRecovery,
                true => base,
                false if length >= SHORTEST_RTO => LimitingFactor::Timeout,
                false => LimitingFactor::LossRecovery,
            };
        }
        // Packets that were not captured may have come at any time in it, and other data may use
        // another subflow.
        if gap.unseen || context.is_multipath {
            return LimitingFactor::Unknown;
        }
        // Amid losses it may also be an RTO.
        if is_between_messages(gap, transfer, context) {
            return LimitingFactor::Unknown;
        }
        // Far from the sender, the path may have become longer than when it was measured: late data
        // behind a full window may have left at once.
        let was_full = gap.window_room.is_some_and(|room| room < context.mss);
        if context.near_receiver && was_full && context.rtt.is_some_and(|rtt| length <= rtt.scale(LONGER_PATH)) {
            return LimitingFactor::ReceiveWindow;
        }
        // Next to the receiver only a timestamp shows when it was sent: full segments may have
        // stood in a queue behind others.
        let queued =
            context.next_to_receiver && gap.sent_apart.is_none() && gap.before_len >= context.mss && length < MIN_RTO;
        if app_limited || (gap.idle && !queued) {
            return LimitingFactor::Application;
        }
        // Shorter than one RTT with data in flight: part of the rhythm of the round.
        if is_brief { base } else { LimitingFactor::Unknown }
    }
}

/// After such a silence QUIC sends something if any of its data are not acknowledged, and after a
/// round trip more they may arrive (RFC 9002 sections 5.3 and 6.2.1: three round trips before the
/// variation is known, and the receiver's max_ack_delay, 25 ms by default). A timer that was backed
/// off is longer, and needs two losses in a row.
fn probe_timeout(rtt: Nanos) -> Nanos {
    (rtt.scale(4.0) + Nanos::from_millis(25)).max(MIN_SILENCE)
}

/// Minimum silence over QUIC: a shorter one may be the scheduling of a busy host, or a lost
/// packet's timer (RFC 9002 section 6.2). Half and twice change 0 and 1 of 2,061 captures.
const MIN_SILENCE: Nanos = Nanos::from_millis(200);

/// Returns whether one rate holds the transfer, whatever single pauses show.
pub(super) fn is_rate_limit(base: LimitingFactor) -> bool {
    matches!(base, LimitingFactor::Bandwidth | LimitingFactor::Pacing)
}

/// Returns the delay of the releasing ACK beyond the other ACKs of its round.
///
/// A receiver delays the ACK of one segment, not of two (RFC 1122 section 4.2.3.2). ACKs that come
/// while many segments are in flight are spaced by the path and its queue.
fn ack_delay_of(gap: &SendPause, round: &RoundFacts, context: &Context) -> Nanos {
    if !gap.last_ack && gap.in_flight > MAX_FEW_SEGMENTS * context.mss {
        return Nanos::ZERO;
    }
    let usual = round.ack_late.unwrap_or(Nanos::ZERO);
    if gap.ack_late > usual { (gap.ack_late - usual).min(gap.end - gap.start) } else { gap.lone_ack_late() }
}

/// Returns whether Nagle (RFC 896) held a small segment while another was outstanding, here for a
/// delayed ACK.
fn is_nagle(gap: &SendPause, context: &Context) -> bool {
    gap.after_len < context.mss && gap.before_len < context.mss && gap.in_flight < context.mss
}

/// Returns whether a small segment left with the bare ACK of the only other small one outstanding:
/// Nagle, although the ACK was not late.
fn is_nagled_message(gap: &SendPause, context: &Context) -> bool {
    is_nagle(gap, context) && gap.last_ack && !gap.with_peer_payload && gap.in_flight <= gap.before_len
}

/// Returns whether the pause is one of several in a row between segments of one size, each of which
/// left with the ACK of the one before. What Nagle holds back grows with each write: the program
/// wrote once a round trip, and waited itself.
fn is_one_write_each(gap: &SendPause, transfer: &TransferFacts) -> bool {
    let at = transfer.pauses.partition_point(|other| other.start < gap.start);
    let is_alike = |other: &SendPause| {
        let sizes = [other.before_len, other.after_len, gap.after_len];
        other.release == Release::Ack && !other.with_peer_payload && sizes == [gap.before_len; 3]
    };
    let before = at.checked_sub(1).and_then(|at| transfer.pauses.get(at)).filter(|before| before.end == gap.start);
    let behind = transfer.pauses.get(at + 1).filter(|behind| behind.start == gap.end);
    before.or(behind).is_some_and(is_alike) || behind.is_some_and(is_alike)
}

/// Returns whether the rest of a write, less than a segment, waited for an ACK although the initial
/// window had room: Nagle, and not the congestion window. Initial windows are up to 4 segments
/// (RFC 3390) or 10 (RFC 6928); a sender that has shown a smaller one has used it up.
fn is_nagled_remainder(gap: &SendPause, context: &Context) -> bool {
    if context.small_window.is_some_and(|window| gap.in_flight >= window && gap.in_flight <= 3 * context.mss) {
        return false;
    }
    let (small, whole) = (3 * context.mss, 9 * context.mss);
    let after = gap.in_flight + gap.after_len;
    gap.after_len < context.mss && (after <= small || (gap.in_flight > 4 * context.mss && after <= whole))
}

/// Returns whether any data outstanding before this pause was lost by then.
fn has_lost(transfer: &TransferFacts, gap: &SendPause) -> bool {
    steps::add(transfer.losses.len() as u64);
    let outstanding = gap.snd_max.saturating_sub(gap.in_flight)..gap.snd_max;
    transfer.losses.iter().any(|loss| outstanding.contains(&loss.seq) && loss.time <= gap.start)
}

/// Returns whether the receiver was not waiting for the data after this pause. Log lines, echoes of
/// keystrokes and chat messages are complete when sent, nothing is outstanding, and the capture
/// does not show whether more was due. Without a request, messages of a few segments are of this
/// kind. A response may be one message in several writes; it counts as several messages only if
/// each is less than a segment. If a header announces the length of the whole, it is one message.
pub(super) fn is_between_messages(gap: &SendPause, transfer: &TransferFacts, context: &Context) -> bool {
    if context.is_announced {
        return false;
    }
    let (segments, least) = match transfer.answered {
        // If neither side needs to ask, a screen that fits the first flight (RFC 6928) is one.
        _ if context.server_push.may_push_at(transfer.start) => (10, 0),
        None => (3, 0),
        // Less than a segment in all is a message or two, except heads and records, which may
        // announce more.
        Some(_) if transfer.bytes() < SEGMENT && !context.announces_length => (1, 1),
        Some(_) => (1, MIN_MESSAGE_ROUNDS),
    };
    // Without a request, data in flight is complete as well.
    let is_over = gap.idle || least == 0;
    let by_program =
        gap.release == Release::Nothing && is_over && gap.app_limited && gap.closed.is_none() && !gap.unseen;
    let small = transfer.max_in_flight < segments * SEGMENT + u64::from(segments > 1);
    by_program && small && transfer.rounds_total > least
}
