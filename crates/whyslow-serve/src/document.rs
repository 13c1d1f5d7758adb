//! [`Document`]: what the page is given.

use crate::closeups;
use crate::places::Places;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;
use serde_json::value::RawValue;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::Write;
use whyslow_core::analysis::{Analysis, Connection};
use whyslow_core::rules;
use whyslow_core::units::Nanos;
use whyslow_io::Input;
use whyslow_report::ranking;
use whyslow_report::render::markdown;

/// Most connections on the page: those that lost most time. What each cause cost is told over all of them.
pub const MOST_CONNECTIONS: usize = 2_000;

/// An analysis as the page takes it: compressed JSON, `"schema": "whyslow-page/1"`. The page and the program are of one
/// build, so that this is no contract; `whyslow --json` is.
#[derive(Clone, Debug)]
pub struct Document {
    analysis: Analysis,
    places: Places,
    compressed: Vec<u8>,
}

#[derive(Serialize)]
struct Content<'a> {
    schema: &'static str,
    version: &'static str,
    /// What was opened.
    name: &'a str,
    analysis: &'a Analysis,
    /// Connections in all; the analysis holds [`MOST_CONNECTIONS`] at most.
    connections_total: usize,
    causes: Vec<Cost>,
    docs: BTreeMap<&'static str, Doc>,
    /// Graphs of connections by their ids, where the page has nobody to ask for them.
    series: BTreeMap<u64, Box<RawValue>>,
}

/// What a cause cost over all connections.
#[derive(Serialize)]
struct Cost {
    cause: &'static str,
    seconds: Nanos,
    connections: usize,
}

/// A cause's documentation.
#[derive(Serialize)]
struct Doc {
    /// In a sentence.
    title: String,
    /// All of it.
    html: String,
}

impl Document {
    /// Of what was found in these inputs, for a page that can ask for graphs. `name` tells what a capture is called on the
    /// page.
    pub fn served(analysis: Analysis, inputs: &[Input], name: &dyn Fn(&str) -> String) -> Self {
        Self::new(analysis, inputs, name, |_, _| BTreeMap::new())
    }

    /// The same with the graphs of the connections that lost most time: the inputs are read once more for each of them.
    pub fn complete(analysis: Analysis, inputs: &[Input]) -> Self {
        Self::new(analysis, inputs, &str::to_owned, closeups::of_worst)
    }

    fn new(
        mut analysis: Analysis,
        inputs: &[Input],
        name: &dyn Fn(&str) -> String,
        series: impl FnOnce(&Analysis, &Places) -> BTreeMap<u64, Box<RawValue>>,
    ) -> Self {
        let places = Places::of(inputs, &analysis);
        let connections_total = analysis.connections.len();
        let causes = ranking::by_cause(&analysis)
            .into_iter()
            .map(|cost| Cost { cause: cost.cause, seconds: cost.seconds, connections: cost.connections.len() })
            .collect();
        keep_worst(&mut analysis);
        for capture in &mut analysis.captures {
            capture.path = name(&capture.path);
        }
        let docs = rules::causes().iter().map(|cause| (cause.slug, doc(&cause.markdown()))).collect();
        let names: Vec<&str> = analysis.captures.iter().map(|capture| capture.path.as_str()).collect();
        let content = Content {
            schema: "whyslow-page/1",
            version: env!("CARGO_PKG_VERSION"),
            name: &names.join(", "),
            series: series(&analysis, &places),
            analysis: &analysis,
            connections_total,
            causes,
            docs,
        };
        let compressed = compress(&content);
        Self { analysis, places, compressed }
    }

    /// gzip of JSON.
    pub fn compressed(&self) -> &[u8] {
        &self.compressed
    }

    pub(crate) fn connection(&self, id: u64) -> Option<&Connection> {
        self.analysis.connections.iter().find(|connection| connection.id == id)
    }

    pub(crate) fn places(&self) -> &Places {
        &self.places
    }
}

/// gzip of a value's JSON. Writing to memory does not fail, and nothing here has maps that JSON could not write.
pub(crate) fn compress(content: &impl Serialize) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    let written = serde_json::to_writer(&mut gzip, content);
    debug_assert!(written.is_ok());
    let _ = gzip.flush();
    gzip.finish().unwrap_or_default()
}

/// Leaves the connections that lost most time, in the order in which they were.
fn keep_worst(analysis: &mut Analysis) {
    if analysis.connections.len() <= MOST_CONNECTIONS {
        return;
    }
    analysis.connections.sort_by_cached_key(|connection| Reverse(ranking::cost(connection)));
    analysis.connections.truncate(MOST_CONNECTIONS);
    analysis.connections.sort_by_key(|connection| connection.id);
}

fn doc(text: &str) -> Doc {
    let (title, rest) = text.split_once('\n').unwrap_or((text, ""));
    Doc { title: title.trim_start_matches(['#', ' ']).to_owned(), html: markdown::html(rest) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::testing::{path, sample};
    use flate2::read::GzDecoder;
    use serde_json::Value;

    fn content(document: &Document) -> Value {
        serde_json::from_reader(GzDecoder::new(document.compressed())).unwrap()
    }

    #[test]
    fn a_document_holds_the_analysis_its_causes_and_their_documentation() {
        let analysis = sample("new-connection-each-time-server");
        let ids: Vec<u64> = analysis.connections.iter().map(|connection| connection.id).collect();
        let content = content(&Document::served(analysis, &[], &|_| "many.pcap".to_owned()));
        let told = content["analysis"]["connections"].as_array().unwrap();
        assert_eq!(told.iter().map(|connection| connection["id"].as_u64().unwrap()).collect::<Vec<_>>(), ids);
        assert_eq!(content["name"], "many.pcap");
        let seconds: Vec<f64> =
            content["causes"].as_array().unwrap().iter().map(|cause| cause["seconds"].as_f64().unwrap()).collect();
        assert!(!seconds.is_empty() && seconds.is_sorted_by(|a, b| a >= b));
        let doc = &content["docs"]["slow-start"];
        assert!(doc["title"].as_str().unwrap().starts_with("The sender spent most"));
        assert!(doc["html"].as_str().unwrap().contains("<h2>The fix</h2>"));
    }

    #[test]
    fn a_complete_document_has_graphs_of_what_was_slow() {
        let analysis = sample("loss-client");
        let packets = analysis.captures[0].tcp_packets;
        let content = content(&Document::complete(analysis, &[Input::Path(path("loss-client"))]));
        let answer = &content["series"]["1"][0];
        assert_eq!(answer["packets"], packets);
        assert_eq!(answer["points"]["t"].as_array().unwrap().len() as u64, packets);
        let resent = answer["points"]["kind"].as_str().unwrap().matches(['F', 'T', 'P', 'S']).count() as u64;
        let told = &content["analysis"]["connections"][0]["directions"][1]["retransmitted"];
        let counted: u64 =
            ["fast", "timeout", "tail_probe", "spurious"].iter().map(|kind| told[kind].as_u64().unwrap()).sum();
        assert!(resent > 0);
        assert_eq!(resent, counted);
    }

    #[test]
    fn of_very_many_connections_the_worst_are_kept_and_all_are_counted() {
        let worst = sample("receive-window-client").connections.remove(0);
        let mut analysis = sample("healthy-server");
        let healthy = analysis.connections.remove(0);
        assert!(ranking::cost(&worst) > ranking::cost(&healthy));
        analysis.connections = (1..=MOST_CONNECTIONS as u64 + 5)
            .map(|id| {
                let mut connection = if id == 2_003 { worst.clone() } else { healthy.clone() };
                connection.id = id;
                connection
            })
            .collect();
        let content = content(&Document::served(analysis, &[], &str::to_owned));
        let ids: Vec<u64> = content["analysis"]["connections"]
            .as_array()
            .unwrap()
            .iter()
            .map(|connection| connection["id"].as_u64().unwrap())
            .collect();
        assert_eq!(ids.len(), MOST_CONNECTIONS);
        assert!(ids.contains(&2_003) && ids.is_sorted());
        assert_eq!(content["connections_total"], MOST_CONNECTIONS + 5);
    }
}
