//! Evidence that a proxy forwards another connection.

use super::rule_input::TransferView;
use whyslow_analysis::Frame;
use whyslow_analysis::types::MIN_NOTICEABLE_DELAY;
use whyslow_core::tcp::facts::Release;
use whyslow_units::{Nanos, Time};

/// Minimum interval of another connection, in round trips of this one. Half and twice change none
/// of 2,061 captures.
const FAR: f64 = 4.0;

/// Minimum number of bursts in a rhythm: two intervals to compare. Half and twice change 0 and 1 of
/// 2,061 captures.
const BURSTS: usize = 3;

/// Minimum growth of each burst: slow start doubles, or grows by 1.5 with an ACK for every second
/// segment (RFC 5681 section 3.1); some segments may slip. Half and twice the excess over 1 change
/// none of 2,061 captures.
const GROWTH: f64 = 1.4;

/// Largest difference between intervals, as a share: queues make round trips vary up to the factor
/// at which they are seen (1.15, `SEEN_FACTOR`). Half and twice change none of 2,061 captures.
const EVEN: f64 = 0.15;

/// Lowest TTL that is compared: packets that start with 64 or more (RFC 1700) rarely have less
/// left.
const MIN_TTL: u8 = 32;

/// Bursts in the rhythm of another connection's slow start.
pub(super) struct Rhythm {
    /// From the start of a burst to that of the next.
    pub interval: Nanos,
    /// Payload of the bursts that grew.
    pub bytes: Vec<u64>,
    pub frames: [Frame; 2],
}

/// Whether the transfer has such a rhythm.
pub(super) fn is_relayed(view: &TransferView<'_>) -> bool {
    rhythm(view).is_some()
}

pub(super) fn rhythm(view: &TransferView<'_>) -> Option<Rhythm> {
    let (transfer, rtt) = (view.transfer, view.context.rtt?);
    let far = rtt.scale(FAR).max(MIN_NOTICEABLE_DELAY);
    let silences = transfer.pauses.iter().filter(|gap| gap.release == Release::Nothing && gap.idle);
    // Each silence with the data after it begins a burst.
    let long = silences.filter(|gap| gap.end - gap.start > rtt.scale(2.0));
    let mut starts: Vec<(Time, Frame)> = vec![(transfer.start, transfer.frames.0)];
    starts.extend(long.map(|gap| (gap.end, gap.frames.1)));
    let bytes = |from: Time, to: Time| -> u64 {
        transfer.rounds.iter().filter(|round| round.start >= from && round.start < to).map(|round| round.bytes).sum()
    };
    let interval = starts.get(1)?.0 - starts[0].0;
    if interval < far {
        return None;
    }
    let (mut sizes, mut last) = (Vec::new(), starts[0].1);
    for pair in starts.windows(2) {
        let even = ((pair[1].0 - pair[0].0).0 - interval.0).abs() as f64 <= EVEN * interval.0 as f64;
        let size = bytes(pair[0].0, pair[1].0);
        let grown = sizes.last().is_none_or(|&before| size as f64 >= before as f64 * GROWTH);
        if !even || !grown {
            break;
        }
        sizes.push(size);
        last = pair[1].1;
    }
    (sizes.len() >= BURSTS).then_some(Rhythm { interval, bytes: sizes, frames: [starts[0].1, last] })
}

/// The far end's SYN and its data came over different distances, so that two machines may have
/// answered.
pub(super) fn is_two_machines(view: &TransferView<'_>) -> bool {
    // Routing protocols bind their packets to one hop.
    matches!(view.facts.ttl[view.sender], (Some(syn), Some(data)) if syn != data && syn.min(data) > MIN_TTL)
}
