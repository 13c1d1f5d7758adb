//! Evidence that only large segments do not pass.

use super::icmp;
use super::rule_input::TransferView;
use whyslow_analysis::types::Side;
use whyslow_analysis::{Frame, LimitingFactor};
use whyslow_core::tcp::facts::{DirectionFacts, Facts, Fate, Release, SendPause, TransferFacts};
use whyslow_units::Nanos;

/// Minimum number of retransmissions of a large segment by the timer: one loss is common on any
/// path, two in a row are not (at a loss of 1 %, one in 10,000). RFC 4821 section 7.7 asks for
/// repeated timeouts too. Half and twice change none of 2,061 captures.
const MIN: u64 = 2;

/// The same if that size passes in the end: the path has changed, or two losses were chance, as
/// those of the first flight and its retransmission in a full queue. Follows from [`MIN`]: one
/// more. Half and twice change 1 and 1 of 2,061 captures.
const MIN_HEALED: u64 = 3;

/// Whether large segments alone do not pass here.
pub(super) fn is_black_hole(view: &TransferView<'_>) -> bool {
    is_seen(view) || unseen(view).is_some()
}

/// Large segments pass the capture point and go no farther.
pub(super) fn is_seen(view: &TransferView<'_>) -> bool {
    let (transfer, direction) = (view.transfer, view.direction());
    if direction.largest_acked_len >= transfer.stuck_size && transfer.stuck_large < MIN_HEALED {
        return false;
    }
    let small_pass = transfer.acknowledged && (1..transfer.stuck_size).contains(&direction.largest_acked_len);
    is_stuck(view.facts, view.sender, transfer) || (transfer.stuck_large >= MIN && small_pass)
}

/// Whether the transfer alone shows it.
pub(super) fn is_stuck(facts: &Facts, sender: Side, transfer: &TransferFacts) -> bool {
    // After a handshake small packets are known to pass both ways. With an ICMP error of a router
    // one retransmission is enough: the error names the cause.
    let is_seen = transfer.stuck_large >= MIN && facts.handshake.is_complete();
    is_seen || (transfer.stuck_large > 0 && is_reported(facts, sender, transfer))
}

/// Whether a router reported segments that large as too big, and the sender went on with them.
fn is_reported(facts: &Facts, sender: Side, transfer: &TransferFacts) -> bool {
    let packet = transfer.stuck_size + icmp::headers(facts, sender);
    icmp::notices_about(facts, sender, |fate| matches!(fate, Fate::TooBig(Some(mtu)) if u64::from(mtu) < packet))
        .any(|notice| icmp::was_heeded(facts, notice) != Some(true))
}

/// Large segments that never came to the capture point.
pub(super) struct Unseen {
    /// Packets that did not come, by the sender's IP numbers.
    pub packets: u64,
    pub waited: Nanos,
    pub frames: Vec<Frame>,
}

/// Nothing came that was as large as both ends had agreed on, though there was enough to fill such
/// a segment.
pub(super) fn lacks_full_size(facts: &Facts, direction: &DirectionFacts, transfer: &TransferFacts) -> bool {
    direction.largest_len < direction.mss && transfer.bytes() > direction.mss && facts.handshake.is_complete()
}

/// Whether the silence before the response may be one in which only large segments were sent: none
/// arrived, and there are no IP numbers to show it (IPv6, text).
pub(super) fn may_be_unseen(view: &TransferView<'_>) -> bool {
    !view.near_sender()
        && !view.direction().ip_ids_reliable
        && lacks_full_size(view.facts, view.direction(), view.transfer)
}

/// Lost segments that the sender's IP numbers show.
pub(super) fn unseen(view: &TransferView<'_>) -> Option<Unseen> {
    let (transfer, direction) = (view.transfer, view.direction());
    if !lacks_full_size(view.facts, direction, transfer) {
        return None;
    }
    let mut found = Unseen { packets: 0, waited: Nanos::ZERO, frames: Vec::new() };
    let mut add = |packets: u32, waited: Nanos, frames: &[Frame]| {
        found.packets += u64::from(packets);
        found.waited += waited;
        found.frames.extend(frames);
    };
    if u64::from(transfer.missing_before) >= MIN {
        add(transfer.missing_before, waited_before(view), &[transfer.frames.0]);
    }
    for gap in waits(view).filter(|gap| gap.after_len < direction.mss) {
        if let Some(missing) = gap.missing.filter(|&missing| u64::from(missing) >= MIN) {
            add(missing, gap.end - gap.start, &[gap.frames.0, gap.frames.1]);
        }
    }
    (found.packets >= MIN).then_some(found)
}

/// How long the first byte was late because its first copies did not come.
pub(super) fn waited_before(view: &TransferView<'_>) -> Nanos {
    view.before.iter().filter(|phase| phase.limit == LimitingFactor::Timeout).map(|phase| phase.time).sum()
}

pub(super) fn waits<'a>(view: &'a TransferView<'_>) -> impl Iterator<Item = &'a SendPause> {
    view.transfer.pauses.iter().filter(|gap| gap.release == Release::Timer)
}
