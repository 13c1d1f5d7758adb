//! Graphs for a report, which has nobody to ask: the connections that lost most time, whole, and the evidence of their findings
//! more closely, as long as the file stays small enough to be sent.

use crate::document::compress;
use crate::graphs::{Answer, Graphs};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use whyslow_core::analysis::{Connection, Finding};
use whyslow_core::units::Nanos;
use whyslow_io::Reading;
use whyslow_report::ranking;

/// Connections with graphs: each takes a reading of its capture.
const MOST_CONNECTIONS: usize = 24;
/// Bytes of all graphs, compressed; in base64 a third more.
const ROOM: usize = 1_900_000;
/// Columns of a whole connection.
const COLUMNS: usize = 4_096;
/// Columns of a closer look.
const CLOSE: usize = 2_048;
/// Closer looks at one connection.
const MOST_LOOKS: usize = 8;

/// The graphs of these connections, and of the worst ones; one that cannot be read once more is left out, and the page says so.
pub(crate) fn of_worst(reading: &Reading, first: &[u64]) -> BTreeMap<u64, Box<RawValue>> {
    let analysis = &reading.analysis;
    let mut order = ranking::worst(analysis);
    let mut healthy: Vec<&Connection> =
        analysis.connections.iter().filter(|connection| order.iter().all(|worse| worse.id != connection.id)).collect();
    let size = |connection: &Connection| connection.directions.iter().map(|direction| direction.bytes).max();
    healthy.sort_by_key(|connection| std::cmp::Reverse(size(connection)));
    order.append(&mut healthy);
    order.sort_by_key(|connection| !first.contains(&connection.id));
    let mut room = ROOM;
    let mut series = BTreeMap::new();
    for connection in order.into_iter().take(MOST_CONNECTIONS) {
        let Some(answers) = looks(connection, reading) else { continue };
        // The whole first: the closer looks are what is left out when there is no room.
        for keep in [answers.len(), 1] {
            let some = answers.get(..keep).unwrap_or_default();
            let taken = compress(&some).len();
            if taken <= room
                && let Ok(text) = serde_json::value::to_raw_value(some)
            {
                room -= taken;
                series.insert(connection.id, text);
                break;
            }
        }
    }
    series
}

fn looks(connection: &Connection, reading: &Reading) -> Option<Vec<Answer>> {
    let place = reading.place(connection)?;
    let graphs = Graphs::read(&place, connection, None).ok()?;
    let whole = graphs.answer(None, COLUMNS);
    let is_enough = whole.has_points();
    let mut answers = vec![whole];
    if !is_enough {
        let findings = connection.transfers.iter().flat_map(|transfer| &transfer.findings).chain(&connection.findings);
        let ranges = findings.filter_map(|finding| range(&graphs, finding)).take(MOST_LOOKS);
        for range in ranges {
            // The packets are read again only where the columns are too wide for a closer look.
            let close =
                if graphs.is_fine(range, CLOSE) { None } else { Graphs::read(&place, connection, Some(range)).ok() };
            answers.push(close.as_ref().unwrap_or(&graphs).answer(Some(range), CLOSE));
        }
    }
    Some(answers)
}

/// The time of a finding's evidence, with some room.
fn range(graphs: &Graphs, finding: &Finding) -> Option<(Nanos, Nanos)> {
    let frames = finding.evidence.iter().flat_map(|evidence| &evidence.frames);
    let times: Vec<Nanos> = frames.filter_map(|frame| graphs.time_of(*frame)).collect();
    let (first, last) = (*times.iter().min()?, *times.iter().max()?);
    let room = (last - first).scale(0.1) + Nanos::from_millis(1);
    Some((first - room, last + room))
}
