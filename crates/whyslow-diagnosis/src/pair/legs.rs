//! The round trips of the path's three parts.

use super::align::Aligned;
use super::figures::{millis, percentile};
use super::placed::{PlacedPackets, Position};
use std::collections::VecDeque;
use whyslow_analysis::types::Side;
use whyslow_analysis::{Leg, OneWay, PairDirection, PathPart, Rtt};
use whyslow_core::wire::Flags;
use whyslow_units::{Nanos, Time};

/// Data that waits for its ACK, remembered at once.
const MAX_WAITING: usize = 4096;

/// The path's three parts.
pub(super) fn legs(aligned: &Aligned<'_>, order: [usize; 2], directions: &[PairDirection]) -> Vec<Leg> {
    // Toward the client it is the server's data that is acknowledged, and the other way round.
    let outer = |place: PathPart, which: usize, sender: Side| {
        let mut rtts = round_trips(&aligned.placed[which], sender);
        rtts.sort_unstable();
        let at = |share: f64| percentile(&rtts, share).map(millis);
        Leg { place, rtt_ms: Rtt { min: at(0.0), p50: at(0.5), p95: at(0.95), samples: rtts.len() as u64 } }
    };
    let sum = |figure: fn(&OneWay) -> Option<f64>| -> Option<f64> {
        let both: Option<f64> = directions.iter().map(|direction| figure(&direction.delay_ms)).sum();
        both.map(|sum| (sum * 1000.0).round() / 1000.0)
    };
    let between = Rtt {
        min: sum(|delay| delay.min),
        p50: sum(|delay| delay.p50),
        p95: sum(|delay| delay.p95),
        samples: directions.iter().map(|direction| direction.delay_ms.samples).min().unwrap_or(0),
    };
    vec![
        outer(PathPart::Client, order[0], Side::B),
        Leg { place: PathPart::Between, rtt_ms: between },
        outer(PathPart::Server, order[1], Side::A),
    ]
}

/// Data that waits for its ACK.
struct Unacknowledged {
    /// The byte behind it.
    end: i64,
    time: Time,
}

/// From a packet of `sender` to the ACK that first covers it, at one capture; `None` for
/// retransmissions (Karn and Partridge, "Improving round-trip time estimates in reliable transport
/// protocols", 1987).
fn round_trips(placed: &PlacedPackets<'_>, sender: Side) -> Vec<Nanos> {
    let mut rtts = Vec::new();
    let mut waiting: VecDeque<Unacknowledged> = VecDeque::new();
    let mut high = i64::MIN;
    for (record, &Position { seq, ack }) in placed.records.iter().zip(&placed.positions) {
        let space = i64::from(record.len) + i64::from((record.flags.0 & (Flags::SYN | Flags::FIN).0) != 0);
        if record.from == sender {
            let end = seq + space;
            if space > 0 && end > high {
                high = end;
                if waiting.len() < MAX_WAITING {
                    waiting.push_back(Unacknowledged { end, time: record.time });
                }
            } else if space > 0 {
                waiting.clear();
            }
            continue;
        }
        let mut covered = None;
        while let Some(&Unacknowledged { end, time }) = waiting.front()
            && record.ack.is_some()
            && end <= ack
        {
            covered = Some(time);
            waiting.pop_front();
        }
        rtts.extend(covered.map(|time| (record.time - time).or_zero()));
    }
    rtts
}
