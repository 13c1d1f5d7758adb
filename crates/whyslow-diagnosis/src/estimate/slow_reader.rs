//! Whether the receiver's program reads more slowly than bytes arrive.
//!
//! Unread data fills the receiver's buffer, and the right edge of the window moves only as the
//! application reads: the window closes, or it falls far below the size that the buffer has shown,
//! or the ACK of a whole flight is held back until there is room to offer.

use super::context::Context;
use whyslow_core::tcp::facts::{Release, SendPause, TransferFacts};
use whyslow_units::Nanos;

/// Minimum number of closings of a window: fewer may be an accident. Measured on 38 emulated runs:
/// 66 of 76 captures are right. Half and twice change none of 2,061 captures.
const CLOSINGS: usize = 8;
/// One in this number of rounds, or more, ended with a closed window. Measured on 38 emulated runs:
/// 66 of 76 captures are right. Half and twice change none of 2,061 captures.
const CLOSED: usize = 5;
/// One part in this number of the time, or more, has one of the other signs: more than late ACKs of
/// a busy host take. Half and twice change none of 2,061 captures.
const A_PART: i64 = 5;
/// Minimum number of full windows whose ACKs are examined. Measured on 38 emulated runs: 66 of 76
/// captures are right. Half and twice change none of 2,061 captures.
const MIN_FULL: usize = 4;
/// Minimum delay of an ACK for a whole flight: more than scheduling, and less than any delayed ACK
/// (Linux `TCP_DELACK_MIN`, 40 ms). Half and twice change none of 2,061 captures.
const HELD_BACK: Nanos = Nanos::from_millis(5);

/// Whether received data stays unread for a large part of the time.
pub(crate) fn is_unread(transfer: &TransferFacts, context: &Context) -> bool {
    let closings = transfer.pauses.iter().filter(|gap| gap.closed.is_some()).count();
    if closings >= CLOSINGS && closings * CLOSED >= transfer.rounds.len() {
        return true;
    }
    let whole = transfer.known_for();
    let is_a_part = |time: Nanos| time.0.saturating_mul(A_PART) >= whole.0;
    let full: Vec<&SendPause> = transfer.pauses.iter().filter(|gap| is_full(gap)).collect();
    let stopped: Nanos = full.iter().map(|gap| gap.end - gap.start).sum();
    let short: Nanos = transfer.rounds.iter().map(|round| round.window_full).sum();
    if !is_a_part(stopped + short) {
        return false;
    }
    let held: Vec<Nanos> = full.iter().map(|gap| held_back(gap, context)).collect();
    let often = held.iter().filter(|late| **late >= HELD_BACK).count() * 2 > held.len();
    let is_held = held.len() >= MIN_FULL && often && is_a_part(held.iter().copied().sum());
    is_held || is_a_part(transfer.window_low)
}

fn is_full(gap: &SendPause) -> bool {
    matches!(gap.release, Release::WindowAck | Release::WindowUpdate)
}

/// How late the ACK of a whole flight of several segments came. A receiver acknowledges every
/// second segment at least (RFC 5681 section 4.2), and ACKs of segments that stand in a queue come
/// one by one. Linux holds an ACK back as long as it could offer no larger window with it
/// (`__tcp_ack_snd_check`).
fn held_back(gap: &SendPause, context: &Context) -> Nanos {
    if gap.in_flight > 2 * context.mss { gap.lone_ack_late() } else { Nanos::ZERO }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::synthetic_transfer::{context, flights};

    /// Twelve full windows, each of which waits 100 ms for its ACK.
    fn full_windows() -> TransferFacts {
        flights(&[20_000; 12], Release::WindowAck)
    }

    #[test]
    fn window_far_below_its_size_is_unread() {
        let mut transfer = full_windows();
        transfer.window_low = Nanos::from_millis(900);
        assert!(is_unread(&transfer, &context(20)));
        transfer.window_low = Nanos::from_millis(100);
        assert!(!is_unread(&transfer, &context(20)));
    }

    #[test]
    fn acks_of_whole_flights_that_come_late_are_held_back() {
        let held = |late: i64, last_ack: bool| {
            let mut transfer = full_windows();
            for gap in &mut transfer.pauses {
                (gap.in_flight, gap.ack_late, gap.last_ack) = (20_000, Nanos::from_millis(late), last_ack);
            }
            is_unread(&transfer, &context(20))
        };
        assert!(held(50, true));
        assert!(!held(50, false), "segments of a queue are acknowledged one by one");
        assert!(!held(2, true));
    }

    #[test]
    fn window_that_stops_the_sender_for_a_moment_only_is_not_unread() {
        let mut transfer = flights(&[20_000; 12], Release::Ack);
        transfer.window_low = Nanos::from_millis(900);
        assert!(!is_unread(&transfer, &context(20)));
    }
}
