//! What a reader must know of the two captures.

use super::align::Aligned;
use super::collector::ConnectionPackets;
use super::words;
use crate::analysis::PairDirection;
use crate::rules::say;
use crate::units::Nanos;

/// Where more than this share of the packets came twice, the capture took them twice.
const MIRRORED: f64 = 0.2;

/// What limits the comparison. `order` has the capture nearer to the client first.
pub(super) fn caveats(
    tracks: [&ConnectionPackets; 2],
    order: [usize; 2],
    aligned: &Aligned<'_>,
    directions: &[PairDirection],
    proxied: bool,
) -> Vec<String> {
    let mut caveats = Vec::new();
    for (which, place) in order.into_iter().zip(["the client", "the server"]) {
        let track = tracks[which];
        if track.dropped > 0 {
            caveats.push(format!(
                "only the first {} that the capture nearer to {place} has of it were compared",
                say::count(track.packets.len() as u64, "packet")
            ));
        }
        let duplicates: u64 = track.duplicates.iter().sum();
        if duplicates as f64 > MIRRORED * track.packets.len() as f64 {
            caveats.push(format!(
                "the capture nearer to {place} has {} twice: it took them twice (several interfaces or mirror ports), and the \
                 network duplicated none of these",
                say::count(duplicates, "packet")
            ));
        }
    }
    if aligned.clock.round_trip < Nanos::from_micros(100) && !proxied {
        caveats.push("the two captures stand at one place: less than 0.1 ms lies between them".to_owned());
    }
    for direction in directions.iter().filter(|direction| direction.uncaptured > 0) {
        caveats.push(format!(
            "{} from the {} reached the other end, which acknowledged what it holds, and is not in the capture there: that \
             capture is not complete, and packets without payload that it lacks may not have been lost",
            say::count(direction.uncaptured, "packet"),
            words::name(direction.from)
        ));
    }
    for direction in directions.iter().filter(|direction| direction.unseen_before > 0) {
        caveats.push(format!(
            "{} from the {who} arrived that the capture nearer to the {who} does not have: that capture is not complete",
            say::count(direction.unseen_before, "packet"),
            who = words::name(direction.from)
        ));
    }
    caveats
}
