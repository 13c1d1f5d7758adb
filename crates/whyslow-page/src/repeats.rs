//! Connections that two captures hold: each counts once.
//!
//! Captures that are explained together are compared packet by packet, and their pairs show which
//! connections are the same. For captures that are only set side by side, addresses and byte counts
//! decide.

use std::collections::{HashMap, HashSet};
use whyslow_analysis::{Analysis, Connection};
use whyslow_report::ranking;

/// Connections that another one repeats, better or sooner.
pub(crate) fn repeats(analysis: &Analysis) -> HashSet<u64> {
    let mut repeats = ranking::repeats(analysis);
    let mut first: HashMap<_, &Connection> = HashMap::new();
    for connection in analysis.connections.iter().filter(|one| !repeats.contains(&one.id)).collect::<Vec<_>>() {
        let [up, down] = [0, 1].map(|side| connection.directions.get(side).map_or(0, |one| one.bytes));
        let end = |end: &'_ whyslow_analysis::Endpoint| (end.address.clone(), end.port);
        let key = (end(&connection.client), end(&connection.server), up, down);
        let one = *first.entry(key).or_insert(connection);
        if one.capture != connection.capture && up + down > 0 {
            repeats.insert(connection.id);
        }
    }
    repeats
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::testing::reading;

    #[test]
    fn both_ends_of_a_transfer_are_one_connection_however_they_are_opened() {
        let together = reading(&[&["loss-client", "loss-server"]]).analysis;
        let apart = reading(&[&["loss-client"], &["loss-server"]]).analysis;
        for analysis in [together, apart] {
            let once = ranking::without(&analysis, &repeats(&analysis)).into_owned();
            assert_eq!((analysis.connections.len(), once.connections.len()), (2, 1));
            let [cost] = &ranking::by_cause(&once)[..] else { panic!("one cause") };
            assert_eq!(cost.connections.len(), 1);
            assert!(cost.seconds.as_secs_f64() < 0.8, "{:?}", cost.seconds);
        }
    }

    #[test]
    fn two_transfers_of_the_same_capture_are_two() {
        let analysis = reading(&[&["new-connection-each-time-server"]]).analysis;
        assert!(repeats(&analysis).is_empty());
        let others = reading(&[&["loss-client"], &["slow-start-client"]]).analysis;
        assert!(repeats(&others).is_empty());
    }
}
