//! Corrects facts derived from segments by the parsed messages of a protocol above TCP.

use super::facts::{DirectionFacts, SendPause};
use super::payload::MessageFacts;
use whyslow_analysis::types::Side;
use whyslow_units::Nanos;

/// Applies the corrections. `toward`: round trip from the capture point to each side.
pub(super) fn note(directions: &mut [DirectionFacts; 2], messages: &mut MessageFacts, toward: &[Option<Nanos>; 2]) {
    note_heartbeats(directions, messages);
    for (waits, toward) in messages.windows.iter_mut().flatten().zip(toward) {
        *waits = waits.iter().filter_map(|wait| wait.behind(toward.unwrap_or_default())).collect();
    }
    note_windows(directions, messages);
}

/// Marks transfers that consist only of heartbeats or their responses, which cost no time.
fn note_heartbeats(directions: &mut [DirectionFacts; 2], messages: &MessageFacts) {
    for side in Side::BOTH {
        for transfer in &mut directions[side].transfers {
            transfer.is_housekeeping |= messages.is_heartbeat(side as usize, transfer.seq);
        }
    }
}

/// If all flow control was parsed, a message of the peer grants credit only if a window was full:
/// other messages fell into a pause of the application by chance.
fn note_windows(directions: &mut [DirectionFacts; 2], messages: &MessageFacts) {
    let Some(windows) = &messages.windows else { return };
    for side in Side::BOTH {
        let waits = windows.get(side as usize).map_or(&[][..], Vec::as_slice);
        let is_waiting = |gap: &SendPause| waits.iter().any(|wait| wait.from < gap.end && wait.until > gap.start);
        let transfers = directions[side].transfers.iter_mut();
        for gap in transfers.flat_map(|transfer| &mut transfer.pauses).filter(|gap| !is_waiting(gap)) {
            (gap.with_peer_payload, gap.peer_payload_at) = (false, None);
        }
    }
}
