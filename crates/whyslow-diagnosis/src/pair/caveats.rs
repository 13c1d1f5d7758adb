//! Limits of the comparison of two captures.

use super::align::Aligned;
use super::collector::ConnectionPackets;
use whyslow_analysis::{End, PairCaveat, PairDirection};
use whyslow_units::Nanos;

/// Share of packets that came twice, above which the capture took them twice.
const MIRRORED: f64 = 0.2;
/// Captures with a shorter round trip between them were taken at one place.
const ONE_PLACE: Nanos = Nanos::from_micros(100);

/// Limits of the comparison. `order` has the capture nearer to the client first.
pub(super) fn caveats(
    tracks: [&ConnectionPackets; 2],
    order: [usize; 2],
    aligned: &Aligned<'_>,
    directions: &[PairDirection],
    proxied: bool,
) -> Vec<PairCaveat> {
    let mut caveats = Vec::new();
    for (which, near) in order.into_iter().zip([End::Client, End::Server]) {
        let track = tracks[which];
        if track.dropped > 0 {
            caveats.push(PairCaveat::FirstPackets { near, packets: track.packets.len() as u64 });
        }
        let packets: u64 = track.duplicates.iter().sum();
        if packets as f64 > MIRRORED * track.packets.len() as f64 {
            caveats.push(PairCaveat::CapturedTwice { near, packets });
        }
    }
    if aligned.clock.round_trip < ONE_PLACE && !proxied {
        caveats.push(PairCaveat::OnePlace);
    }
    let missing = |of: fn(&PairDirection) -> u64| {
        directions.iter().map(move |way| (way.from, of(way))).filter(|&(_, packets)| packets > 0)
    };
    let at_receiver = missing(|way| way.uncaptured);
    caveats.extend(at_receiver.map(|(from, packets)| PairCaveat::MissingAtReceiver { from, packets }));
    let at_sender = missing(|way| way.unseen_before);
    caveats.extend(at_sender.map(|(from, packets)| PairCaveat::MissingAtSender { from, packets }));
    caveats
}
