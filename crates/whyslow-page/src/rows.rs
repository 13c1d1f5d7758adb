//! [`Rows`]: a row for every connection, for the page's list and timeline.
//!
//! Rows are sent as lists, one list for each column: ten thousand take 300 kB, a twentieth of the
//! connections themselves. The document holds the whole connection only for those that lost most.

use crate::differences::Differences;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use whyslow_analysis::{Analysis, Connection, LimitingFactor, Transfer};
use whyslow_report::ranking;
use whyslow_units::Nanos;

/// The longest stretches of time kept for a connection.
const MAX_SPANS: usize = 12;
/// The most causes of a connection; the list shows fewer, the filter searches all.
const MAX_CAUSES: usize = 16;
/// The most transfers of a connection that are searched for them.
const MAX_TRANSFERS: usize = 32;

/// A row for every connection.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Rows {
    id: Differences,
    capture: Vec<usize>,
    /// Places in `words`; and ports.
    client: Vec<usize>,
    client_port: Vec<u16>,
    server: Vec<usize>,
    server_port: Vec<u16>,
    start: Vec<Nanos>,
    duration: Vec<Nanos>,
    up: Vec<u64>,
    down: Vec<u64>,
    /// Milliseconds.
    rtt: Vec<Option<f64>>,
    resent: Vec<u64>,
    /// Places in `words` of the limits that held the connections longest.
    limit: Vec<Option<usize>>,
    /// Numbers in Wireshark.
    stream: Vec<Option<u64>>,
    /// Addresses of ends that have a name: the place in these lists, 0 for the client or 1 for the
    /// server, and the place in `words`.
    addresses: Vec<(usize, u8, usize)>,
    /// A place in `words`.
    state: Vec<&'static str>,
    lost: Vec<Nanos>,
    /// The place in the terminal's list, the worst first; connections without a finding share the
    /// last.
    rank: Vec<usize>,
    /// Places in `words`, the costliest first.
    causes: Vec<Vec<usize>>,
    /// The transfer that carried most, from 1; 0 where there is none.
    largest: Vec<usize>,
    /// Places in these lists of the connections of QUIC.
    quic: Vec<usize>,
    /// Another capture has the connection too.
    repeats: Vec<u8>,
    /// Limit as a place in `words`, start after the connection's beginning, and duration;
    /// microseconds.
    spans: Vec<Vec<(usize, i64, i64)>>,
    /// Hosts, causes, limits.
    words: Vec<String>,
}

/// The rest of the analysis about connections.
struct AnalysisIndex {
    /// By connection: the causes of findings over several connections.
    shared: HashMap<u64, Vec<&'static str>>,
    /// Connections that another capture shows better.
    repeats: HashSet<u64>,
    /// By connection with a finding: its rank, the worst first.
    ranks: HashMap<u64, usize>,
}

impl AnalysisIndex {
    fn of(analysis: &Analysis, repeats: HashSet<u64>) -> Self {
        let mut shared: HashMap<u64, Vec<&'static str>> = HashMap::new();
        for finding in &analysis.findings {
            for id in &finding.connections {
                shared.entry(*id).or_default().push(finding.cause.slug());
            }
        }
        let ranks = ranking::worst(analysis).iter().enumerate().map(|(place, one)| (one.id, place)).collect();
        Self { shared, repeats, ranks }
    }
}

impl Rows {
    pub(crate) fn of(analysis: &Analysis, repeats: HashSet<u64>) -> Self {
        let (mut rows, mut words) = (Self::default(), WordList::default());
        let around = AnalysisIndex::of(analysis, repeats);
        for connection in &analysis.connections {
            rows.push(connection, &around, &mut words);
        }
        rows.words = words.list;
        rows
    }

    fn push(&mut self, connection: &Connection, around: &AnalysisIndex, words: &mut WordList) {
        let Connection { client, server, directions, .. } = connection;
        let host = |end: &whyslow_analysis::Endpoint| end.name.clone().unwrap_or_else(|| end.address.clone());
        let bytes = |side: usize| directions.get(side).map_or(0, |direction| direction.bytes);
        if connection.quic.is_some() {
            self.quic.push(self.capture.len());
        }
        for (side, end) in [(0, client), (1, server)] {
            if end.name.is_some() {
                self.addresses.push((self.capture.len(), side, words.place(&end.address)));
            }
        }
        self.limit.push(ranking::main_limit(connection).map(|limit| words.place(limit.slug())));
        self.stream.push(connection.origin.stream);
        self.id.count(0, Some(connection.id));
        self.capture.push(connection.capture);
        self.client.push(words.place(&host(client)));
        self.client_port.push(client.port);
        self.server.push(words.place(&host(server)));
        self.server_port.push(server.port);
        self.start.push(connection.start_s);
        self.duration.push(connection.duration_s);
        self.up.push(bytes(0));
        self.down.push(bytes(1));
        self.rtt.push(connection.rtt_ms.p50.or(connection.rtt_ms.min));
        self.resent.push(directions.iter().map(|one| resent(&one.retransmitted)).sum());
        self.state.push(connection.state.slug());
        self.lost.push(ranking::cost(connection));
        self.rank.push(around.ranks.get(&connection.id).copied().unwrap_or(around.ranks.len()));
        self.causes.push(causes(connection, around).iter().map(|cause| words.place(cause)).collect());
        self.largest.push(largest(connection));
        self.repeats.push(u8::from(around.repeats.contains(&connection.id)));
        self.spans.push(spans(connection, words));
    }
}

/// A list of words without repetition.
#[derive(Default)]
struct WordList {
    list: Vec<String>,
    places: HashMap<String, usize>,
}

impl WordList {
    fn place(&mut self, word: &str) -> usize {
        if let Some(place) = self.places.get(word) {
            return *place;
        }
        self.list.push(word.to_owned());
        self.places.insert(word.to_owned(), self.list.len() - 1);
        self.list.len() - 1
    }
}

/// All retransmissions, of whatever kind.
pub fn resent(of: &whyslow_analysis::Retransmitted) -> u64 {
    of.fast + of.timeout + of.tail_probe + of.spurious
}

/// Its causes: its own, the costliest first, then those that it shares.
fn causes(connection: &Connection, around: &AnalysisIndex) -> Vec<&'static str> {
    let mut causes: Vec<&str> = ranking::causes(connection).into_iter().map(|(cause, _)| cause.slug()).collect();
    for cause in around.shared.get(&connection.id).into_iter().flatten() {
        if !causes.contains(cause) {
            causes.push(cause);
        }
    }
    causes.truncate(MAX_CAUSES);
    causes
}

fn largest(connection: &Connection) -> usize {
    let most = connection.transfers.iter().map(|transfer| transfer.bytes).max();
    connection.transfers.iter().position(|transfer| Some(transfer.bytes) == most).map_or(0, |at| at + 1)
}

/// A connection's longest limits, in order of time.
fn spans(connection: &Connection, words: &mut WordList) -> Vec<(usize, i64, i64)> {
    let mut spans: Vec<(LimitingFactor, Nanos, Nanos)> = Vec::new();
    for transfer in connection.transfers.iter().take(MAX_TRANSFERS) {
        for (limit, start, seconds) in in_time(transfer) {
            match spans.last_mut() {
                Some((last, from, length)) if *last == limit && *from + *length == start => *length += seconds,
                _ => spans.push((limit, start, seconds)),
            }
        }
    }
    spans.sort_by_key(|(_, _, seconds)| Reverse(*seconds));
    spans.truncate(MAX_SPANS);
    spans.sort_by_key(|(_, start, _)| *start);
    let micros = |time: Nanos| time.0 / 1_000;
    let as_row = |(limit, start, seconds): &(LimitingFactor, Nanos, Nanos)| {
        (words.place(limit.slug()), micros(*start - connection.start_s), micros(*seconds))
    };
    spans.iter().map(as_row).collect()
}

/// Phases before a transfer, which end where it starts.
fn in_time(transfer: &Transfer) -> impl Iterator<Item = (LimitingFactor, Nanos, Nanos)> {
    let waited: Nanos = transfer.before.iter().map(|wait| wait.seconds).sum();
    let mut at = transfer.start_s - waited;
    let before = transfer.before.iter().map(move |wait| {
        let start = at;
        at += wait.seconds;
        (wait.limit, start, wait.seconds)
    });
    let within = transfer.timeline.iter().map(|span| (span.limit, span.start_s, span.seconds));
    before.chain(within).filter(|(_, _, seconds)| *seconds > Nanos::ZERO)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::testing::sample;

    #[test]
    fn a_row_matches_its_connection() {
        let analysis = sample("new-connection-each-time-server");
        let rows = serde_json::to_value(Rows::of(&analysis, HashSet::new())).unwrap();
        let words = |at: &serde_json::Value| rows["words"][at.as_u64().unwrap() as usize].as_str().unwrap().to_owned();
        assert_eq!(rows["start"].as_array().unwrap().len(), analysis.connections.len());
        for (at, connection) in analysis.connections.iter().enumerate() {
            assert_eq!(
                words(&rows["server"][at]),
                connection.server.name.as_ref().unwrap_or(&connection.server.address).as_str()
            );
            assert_eq!(rows["lost"][at], serde_json::to_value(ranking::cost(connection)).unwrap());
            let causes: Vec<String> = rows["causes"][at].as_array().unwrap().iter().map(words).collect();
            assert!(causes.contains(&"new-connection-each-time".to_owned()), "{causes:?}");
            for span in rows["spans"][at].as_array().unwrap() {
                assert!(span[2].as_i64().unwrap() * 1_000 <= connection.duration_s.0, "{span}");
            }
        }
    }

    #[test]
    fn connections_rank_as_in_the_terminal() {
        let analysis = sample("new-connection-each-time-server");
        let rows = Rows::of(&analysis, HashSet::new());
        let worst: Vec<u64> = ranking::worst(&analysis).iter().map(|one| one.id).collect();
        let ranked =
            |place: usize| rows.rank.iter().position(|rank| *rank == place).map(|at| analysis.connections[at].id);
        assert!(!worst.is_empty());
        for (place, id) in worst.iter().enumerate() {
            assert_eq!(ranked(place), Some(*id));
        }
        let healthy = rows.rank.iter().filter(|rank| **rank == worst.len()).count();
        assert_eq!(healthy, analysis.connections.len() - worst.len());
    }
}
