//! [`Document`]: the data that the page gets.

use crate::embedded_series::CompressedAnswer;
use crate::gzip::{compress, compress_quickly, plain};
use crate::rows::Rows;
use crate::worded::WordedComparison;
use crate::{Opening, Proof, TransferSpot, embedded_series, repeats};
use bytes::Bytes;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Analysis, Connection};
use whyslow_diagnosis::cause_pages;
use whyslow_diagnosis::compare::{self, ChosenTransfer, Comparison, NoSuchTransfer, TransferName};
use whyslow_io::{PacketSource, Progress, Reading};
use whyslow_report::headline::{self, Headline, Tone};
use whyslow_report::ranking;
use whyslow_report::render::markdown;
use whyslow_report::words::{Lang, WordSheet};
use whyslow_units::Nanos;

/// The most connections that a document holds in full: those that lost most time. All have a row,
/// and a served page asks for the rest.
pub const MAX_CONNECTIONS: usize = 200;

/// Size limit of a report's document, compressed, in bytes: in base64 and with the page, 3 MB.
const MAX_BYTES: usize = 2_150_000;
/// The most connections that a report holds in full if there is room, …
const MAX_IN_FILE: usize = 2_000;
/// … and always.
const FEW_CONNECTIONS: usize = 50;

/// An analysis for the page: JSON, `"schema": "whyslow-page/1"`. The page is always of the same
/// build, so this is not a contract; `whyslow --json` is.
#[derive(Clone, Debug)]
pub struct Document {
    reading: Reading,
    bytes: Bytes,
}

/// The purpose of a document.
enum Form<'a> {
    /// A page that has a server to ask.
    Served,
    /// A page that has a worker of its own to ask.
    InBrowser,
    /// A report's own file.
    File(&'a mut dyn FnMut(Progress)),
}

#[derive(Serialize)]
struct Content<'a> {
    schema: &'static str,
    version: &'static str,
    /// The name of the input.
    name: &'a str,
    analysis: &'a Analysis,
    /// Its sentences, in both languages.
    words: WordSheet,
    /// Number of all connections, each counted once; the analysis holds some of them.
    connections_total: usize,
    /// A row for every connection.
    rows: Rows,
    causes: Vec<Cost>,
    headline: Verdict,
    /// Documentation of the causes, which is ours: its line breaks are kept.
    docs: Option<&'a RawValue>,
    /// The transfers to compare first.
    compare: Option<[TransferSpot; 2]>,
    /// Why the requested comparison is missing.
    uncompared: Option<String>,
    /// The connection to show first, and its transfer, counted from 1.
    show: Option<(u64, Option<usize>)>,
    /// Why the requested connection or transfer is missing.
    unshown: Option<String>,
    /// Comparisons, if the page has no server to ask.
    comparisons: Vec<WordedComparison>,
    /// Graphs by connection, if the page has no server to ask.
    series: BTreeMap<u64, Vec<CompressedAnswer>>,
    /// The probe that made the packets, if any.
    probe: Option<&'a RawValue>,
    /// The result of a proof.
    proof: Option<&'a Proof>,
    /// Why the proof that was given is missing.
    unproved: Option<String>,
}

/// The verdict as a sentence, and what to do.
#[derive(Serialize)]
struct Verdict {
    is_good: bool,
    en: Sentences,
    zh: Sentences,
}

/// The verdict in one language.
#[derive(Serialize)]
struct Sentences {
    sentence: String,
    advice: Option<String>,
}

impl Verdict {
    fn of(analysis: &Analysis) -> Self {
        let sentences = |lang| {
            let Headline { sentence, advice, .. } = headline::of(analysis, lang);
            Sentences { sentence, advice }
        };
        let is_good = headline::of(analysis, Lang::En).tone == Tone::Healthy;
        Self { is_good, en: sentences(Lang::En), zh: sentences(Lang::Zh) }
    }
}

/// The cost of a cause over all connections.
#[derive(Serialize)]
struct Cost {
    cause: Cause,
    seconds: Nanos,
    connections: usize,
}

/// A cause's documentation.
#[derive(Serialize)]
pub struct Doc {
    /// One sentence.
    title: String,
    /// The whole text.
    html: String,
}

impl Document {
    /// The document for a page that has a server to ask.
    pub fn served(reading: Reading, opening: &Opening) -> Self {
        Self::new(reading, opening, Form::Served)
    }

    /// The same for a page in the same browser: what is not sent is not compressed, which takes
    /// longer than it saves.
    pub fn in_browser(reading: Reading, opening: &Opening) -> Self {
        Self::new(reading, opening, Form::InBrowser)
    }

    /// The document of a report: with the requested comparison, and with the graphs of the compared
    /// connections and of those that lost most time, as many as fit into a file of 3 MB. Reads the
    /// inputs again.
    pub fn complete(reading: Reading, opening: &Opening, progress: &mut dyn FnMut(Progress)) -> Self {
        Self::new(reading, opening, Form::File(progress))
    }

    /// The document of a page that is saved as a report. Reads the inputs again.
    pub(crate) fn as_file(&self, opening: &Opening, progress: &mut dyn FnMut(Progress)) -> Self {
        Self::complete(self.reading.clone(), opening, progress)
    }

    /// The whole analysis.
    pub(crate) fn analysis(&self) -> &Analysis {
        &self.reading.analysis
    }

    fn new(mut reading: Reading, opening: &Opening, form: Form) -> Self {
        let is_file = matches!(form, Form::File(_));
        // A connection in two captures counts once, and so does its cost.
        let repeats = repeats::repeats(&reading.analysis);
        let once = ranking::without(&reading.analysis, &repeats);
        let connections_total = once.connections.len();
        let headline = Verdict::of(&once);
        let causes = ranking::by_cause(&once)
            .into_iter()
            .map(|cost| Cost { cause: cost.cause, seconds: cost.seconds, connections: cost.connections.len() })
            .collect();
        for capture in &mut reading.analysis.captures {
            capture.path = opening.name(&capture.path);
        }
        if is_file {
            shorten(&mut reading.analysis);
        }
        let both = both(&reading, opening);
        let spots = |both: &[ChosenTransfer<'_>; 2]| both.map(|one| TransferSpot(one.connection.id, one.number));
        let (compare, uncompared) = result_or_why(both.as_ref().map(|both| both.as_ref().map(spots)));
        let both = both.ok().flatten().filter(|_| is_file);
        let comparisons = both.iter().map(|[a, b]| WordedComparison::new(compare::compare(a, b))).collect();
        let proof = opening.proof.as_ref().map(|proof| proof.fits(&reading.analysis).map(|()| proof)).transpose();
        let (show, unshown) = result_or_why(shown(&reading.analysis, opening.show));
        let compared = compare.iter().flatten().map(|spot| spot.0).chain(show.map(|(id, _)| id));
        let wanted: Vec<u64> = compared.chain(proof.iter().flatten().map(|proof| proof.connection())).collect();
        let rows = Rows::of(&reading.analysis, repeats);
        let most = if is_file { in_file(&reading.analysis, &wanted) } else { MAX_CONNECTIONS };
        let analysis = &worst(&reading.analysis, &wanted, most);
        let names: Vec<&str> = analysis.captures.iter().map(|capture| capture.path.as_str()).collect();
        let mut content = Content {
            schema: "whyslow-page/1",
            version: env!("CARGO_PKG_VERSION"),
            name: &names.join(", "),
            series: BTreeMap::new(),
            analysis,
            words: WordSheet::of_analysis(analysis),
            connections_total,
            rows,
            causes,
            headline,
            docs: DOCS.as_deref(),
            compare,
            uncompared,
            show,
            unshown,
            comparisons,
            probe: opening.probe.as_deref(),
            proof: proof.as_ref().ok().copied().flatten(),
            unproved: proof.err(),
        };
        let bytes = match form {
            Form::Served => compress(&content),
            Form::InBrowser => plain(&content),
            Form::File(progress) => {
                let room = MAX_BYTES.saturating_sub(compress(&content).len());
                content.series = embedded_series::of_worst(&reading, &wanted, room, progress);
                compress(&content)
            }
        };
        Self { reading, bytes: bytes.into() }
    }

    /// Two transfers side by side.
    ///
    /// # Errors
    /// When one is not there, or both are one.
    pub(crate) fn compare(&self, spots: [TransferName; 2]) -> Result<Comparison, String> {
        let find = |which| compare::choose(&self.reading.analysis, which).map_err(|why| why.to_string());
        let [a, b] = [find(spots[0])?, find(spots[1])?];
        if (a.connection.id, a.number) == (b.connection.id, b.number) {
            return Err("both are one transfer: choose two".to_owned());
        }
        Ok(compare::compare(&a, &b))
    }

    /// JSON, compressed with gzip unless it was made [`Document::in_browser`]. Shared by all
    /// recipients.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    pub(crate) fn connection(&self, id: u64) -> Option<&Connection> {
        self.reading.analysis.connections.iter().find(|connection| connection.id == id)
    }

    /// The place at which a connection's packets can be read again.
    pub(crate) fn place(&self, connection: &Connection) -> Option<PacketSource> {
        self.reading.place(connection)
    }
}

/// The result, or the reason why it is missing.
fn result_or_why<T>(found: Result<Option<T>, impl ToString>) -> (Option<T>, Option<String>) {
    match found {
        Ok(found) => (found, None),
        Err(why) => (None, Some(why.to_string())),
    }
}

/// The connection that was asked for, and its transfer; `None` if none was.
///
/// # Errors
/// If there is no such connection or transfer.
pub fn shown(analysis: &Analysis, which: TransferName) -> Result<Option<(u64, Option<usize>)>, NoSuchTransfer> {
    let Some(id) = which.connection else { return Ok(None) };
    let is_there = analysis.connections.iter().any(|connection| connection.id == id);
    // A connection without a transfer is shown as well.
    if which.transfer.is_some() || !is_there {
        compare::choose(analysis, which)?;
    }
    Ok(Some((id, which.transfer)))
}

/// The transfers to compare, if any.
fn both<'a>(reading: &'a Reading, opening: &Opening) -> Result<Option<[ChosenTransfer<'a>; 2]>, NoSuchTransfer> {
    let Some([a, b]) = opening.compare else { return Ok(None) };
    Ok(Some([a.find(reading)?, b.find(reading)?]))
}

/// Shortens paths to what distinguishes the captures: a file that is sent away does not show where
/// its sender keeps them.
fn shorten(analysis: &mut Analysis) {
    let split = |path: &str| path.split(['/', '\\']).map(str::to_owned).collect::<Vec<_>>();
    let parts: Vec<Vec<String>> = analysis.captures.iter().map(|capture| split(&capture.path)).collect();
    let shortest = parts.iter().map(Vec::len).min().unwrap_or(0);
    let is_common = |at: &usize| parts.iter().all(|path| path.get(*at) == parts[0].get(*at));
    let common = (0..shortest.saturating_sub(1)).take_while(is_common).count();
    for (capture, parts) in analysis.captures.iter_mut().zip(&parts) {
        capture.path = parts[common..].join("/");
    }
}

/// How many connections fit into a file, judged by the size of the worst ones.
fn in_file(analysis: &Analysis, wanted: &[u64]) -> usize {
    let few = worst(analysis, wanted, FEW_CONNECTIONS);
    let each = compress_quickly(&few.connections).len() / few.connections.len().max(1);
    // Half of the file: the other half is for graphs.
    (MAX_BYTES / 2 / each.max(1)).clamp(FEW_CONNECTIONS, MAX_IN_FILE)
}

/// The analysis with these connections and those that lost most time, in their original order.
fn worst(analysis: &Analysis, wanted: &[u64], most: usize) -> Analysis {
    let mut worst: Vec<&Connection> = analysis.connections.iter().collect();
    if worst.len() > most {
        worst.sort_by_cached_key(|one| (!wanted.contains(&one.id), Reverse(ranking::cost(one))));
        worst.truncate(most);
        worst.sort_by_key(|one| one.id);
    }
    let Analysis { schema, partial, threshold_s, pairs_total, .. } = *analysis;
    Analysis {
        schema,
        partial,
        threshold_s,
        captures: analysis.captures.clone(),
        connections: worst.into_iter().cloned().collect(),
        findings: analysis.findings.clone(),
        pairs: analysis.pairs.clone(),
        pairs_total,
    }
}

/// The same for every document, so it is made once.
static DOCS: LazyLock<Option<Box<RawValue>>> = LazyLock::new(|| to_raw_value(&docs()).ok());

/// Builds the common part of all documents in advance.
pub fn prepare() {
    LazyLock::force(&DOCS);
}

/// The documentation of all causes, by their names.
pub fn docs() -> BTreeMap<&'static str, Doc> {
    Cause::ALL.iter().map(|cause| (cause.slug(), doc(&cause_pages::of(*cause)))).collect()
}

fn doc(text: &str) -> Doc {
    let (title, rest) = text.split_once('\n').unwrap_or((text, ""));
    Doc { title: title.trim_start_matches(['#', ' ']).to_owned(), html: markdown::html(rest) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::SoughtTransfer;
    use crate::testing::{path, reading};
    use flate2::read::GzDecoder;
    use serde_json::Value;
    use whyslow_io::Input;

    fn content(document: &Document) -> Value {
        serde_json::from_reader(GzDecoder::new(document.bytes().as_ref())).unwrap()
    }

    #[test]
    fn a_document_holds_the_analysis_its_causes_and_their_documentation() {
        let reading = reading(&[&["new-connection-each-time-server"]]);
        let ids: Vec<u64> = reading.analysis.connections.iter().map(|connection| connection.id).collect();
        let mut opening = Opening::of(vec![Input::Path(path("new-connection-each-time-server"))]);
        opening.names.insert(reading.analysis.captures[0].path.clone(), "many.pcap".to_owned());
        let content = content(&Document::served(reading, &opening));
        let listed = content["analysis"]["connections"].as_array().unwrap();
        assert_eq!(listed.iter().map(|connection| connection["id"].as_u64().unwrap()).collect::<Vec<_>>(), ids);
        assert_eq!(content["name"], "many.pcap");
        let seconds: Vec<f64> =
            content["causes"].as_array().unwrap().iter().map(|cause| cause["seconds"].as_f64().unwrap()).collect();
        assert!(!seconds.is_empty() && seconds.is_sorted_by(|a, b| a >= b));
        let doc = &content["docs"]["slow-start"];
        assert_eq!(doc["title"], cause_pages::of(Cause::SlowStart).lines().next().unwrap());
        assert!(doc["html"].as_str().unwrap().contains("<h2>The fix</h2>"));
    }

    #[test]
    fn a_file_labels_its_captures_by_their_differences() {
        let mut one = reading(&[&["loss-client"]]).analysis;
        shorten(&mut one);
        assert_eq!(one.captures[0].path, "loss-client.pcap");
        let mut two = reading(&[&["loss-client"], &["loss-server"]]).analysis;
        two.captures[0].path = "/home/me/client/a.pcap".to_owned();
        two.captures[1].path = "/home/me/server/a.pcap".to_owned();
        shorten(&mut two);
        let names: Vec<&str> = two.captures.iter().map(|capture| capture.path.as_str()).collect();
        assert_eq!(names, ["client/a.pcap", "server/a.pcap"]);
    }

    #[test]
    fn a_complete_document_has_graphs_of_what_was_slow() {
        let reading = reading(&[&["loss-client"]]);
        let packets = reading.analysis.captures[0].tcp_packets;
        let content = content(&Document::complete(reading, &Opening::default(), &mut |_| {}));
        let answer = &content["series"]["1"][0];
        assert_eq!(answer["packets"], packets);
        assert_eq!(answer["points"]["t"]["d"].as_array().unwrap().len() as u64, packets);
        let resent = answer["points"]["kind"].as_str().unwrap().matches(['F', 'T', 'P', 'S']).count() as u64;
        let listed = &content["analysis"]["connections"][0]["directions"][1]["retransmitted"];
        let counted: u64 =
            ["fast", "timeout", "tail_probe", "spurious"].iter().map(|kind| listed[kind].as_u64().unwrap()).sum();
        assert!(resent > 0);
        assert_eq!(resent, counted);
    }

    #[test]
    fn of_very_many_connections_the_worst_are_kept_and_all_are_counted() {
        let worst = reading(&[&["receive-window-client"]]).analysis.connections.remove(0);
        let mut reading = reading(&[&["healthy-server"]]);
        let analysis = &mut reading.analysis;
        let healthy = analysis.connections.remove(0);
        assert!(ranking::cost(&worst) > ranking::cost(&healthy));
        analysis.connections = (1..=2 * MAX_CONNECTIONS as u64)
            .map(|id| {
                let mut connection = if id == 203 { worst.clone() } else { healthy.clone() };
                connection.id = id;
                connection
            })
            .collect();
        let content = content(&Document::served(reading, &Opening::default()));
        let ids: Vec<u64> = content["analysis"]["connections"]
            .as_array()
            .unwrap()
            .iter()
            .map(|connection| connection["id"].as_u64().unwrap())
            .collect();
        assert_eq!(ids.len(), MAX_CONNECTIONS);
        assert!(ids.contains(&203) && ids.is_sorted());
        assert_eq!(content["connections_total"], 2 * MAX_CONNECTIONS);
        assert_eq!(content["rows"]["lost"].as_array().unwrap().len(), 2 * MAX_CONNECTIONS);
    }

    #[test]
    fn a_comparison_is_in_a_complete_document_and_asked_of_a_served_one() {
        let reading = reading(&[&["sender-cap-client"], &["slow-start-client"]]);
        let sought = |group| SoughtTransfer { group: Some(group), which: TransferName::default() };
        let opening = Opening { compare: Some([sought(0), sought(1)]), ..Opening::default() };
        let complete = content(&Document::complete(reading.clone(), &opening, &mut |_| {}));
        assert_eq!(complete["compare"], serde_json::json!([[1, 2], [2, 2]]));
        assert!(complete["series"]["1"].is_array() && complete["series"]["2"].is_array());
        let served = Document::served(reading, &opening);
        assert!(content(&served)["comparisons"].as_array().unwrap().is_empty());
        let spots = [1, 2].map(|id| TransferName { connection: Some(id), transfer: Some(2) });
        let listed = serde_json::to_value(served.compare(spots).unwrap()).unwrap();
        assert_eq!(complete["comparisons"][0]["total"], listed["total"]);
        assert_eq!(complete["comparisons"][0]["transfers"][0]["path"], "sender-cap-client.pcap");
        assert_eq!(listed["leads"].as_array().unwrap().last().unwrap()["faster"], 1);
        assert!(served.compare([spots[0], spots[0]]).unwrap_err().contains("one transfer"));
        assert!(
            served
                .compare([spots[0], TransferName { connection: Some(3), transfer: None }])
                .unwrap_err()
                .contains("no connection 3")
        );
    }

    #[test]
    fn incomparable_transfers_are_reported_and_the_rest_is_complete() {
        let reading = reading(&[&["sender-cap-client"], &["slow-start-client"]]);
        let sought = |group, connection| SoughtTransfer { group, which: TransferName { connection, transfer: None } };
        let opening =
            Opening { compare: Some([sought(Some(0), None), sought(Some(1), Some(7))]), ..Opening::default() };
        let content = content(&Document::served(reading, &opening));
        assert!(content["uncompared"].as_str().unwrap().contains("there is no connection 7"));
        assert_eq!(content["analysis"]["connections"].as_array().unwrap().len(), 2);
    }
}
