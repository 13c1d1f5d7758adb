#![allow(clippy::unwrap_used)]

use super::super::holder::tests::in_pod;
use super::format::Format;
use super::*;
use prometheus_client::encoding::text::encode;
use whyslow_core::capture::Reader;
use whyslow_diagnosis::explain::live::LiveExplainer;
use whyslow_testing::exposition::{self, Sample};

const HOSTILE: &str = "evil\" } 1\nwhyslow_packets_total 9 # \\ \u{202e}\u{9b}31m";

fn records() -> Vec<Record> {
    let (mut reader, mut explainer) = (Reader::new(), LiveExplainer::new());
    explainer.begin_capture("-");
    reader.push(include_bytes!("../../../../samples/timeout-server.pcap"), &mut explainer).unwrap();
    let first = explainer.first_time().unwrap();
    explainer.finish().connections.into_iter().flat_map(|ended| Record::split(ended, first)).collect()
}

/// The metrics of a hostile host and a hostile process.
fn hostile(servers: Servers) -> (String, Vec<Sample>) {
    let mut records = records();
    assert!(!records.is_empty());
    for record in &mut records {
        record.connection.server.name = Some(HOSTILE.to_owned());
        record.holders.client = Some(std::sync::Arc::new(in_pod(HOSTILE, "shop", HOSTILE)));
    }
    let (families, registry) = register();
    let metrics = Metrics { families, servers, state: Mutex::default() };
    let choice = Choice::default();
    metrics.add(&Batch { records, ..Batch::default() }, &choice);
    metrics.families.add_closed(&Account::default());
    let mut text = String::new();
    encode(&mut text, &registry).unwrap();
    let text = Format::Text.convert(&text).into_owned();
    let samples = exposition::check(&text).unwrap_or_else(|wrong| panic!("{wrong}\n{text}"));
    (text, samples)
}

fn labels<'a>(samples: &'a [Sample], of: &'a str) -> HashSet<&'a str> {
    samples.iter().filter_map(|(_, labels, _)| labels.get(of)).map(String::as_str).collect()
}

#[test]
fn a_hostile_name_is_one_label_and_the_page_stays_readable() {
    let (_, samples) = hostile(Servers::ByName);
    let shown = "evil\" } 1\\u{a}whyslow_packets_total 9 # \\ \\u{202e}\\u{9b}31m";
    assert_eq!(labels(&samples, "process"), HashSet::from([shown]));
    assert_eq!(labels(&samples, "server"), HashSet::from([format!("{shown}:5001").as_str()]));
    // A name of a pod is one of DNS, whatever the kubelet's files have.
    assert_eq!(labels(&samples, "pod"), HashSet::from([shown]));
    assert_eq!(labels(&samples, "namespace"), HashSet::from(["shop"]));
    let packets: Vec<_> = samples.iter().filter(|(name, ..)| name == "whyslow_packets_total").collect();
    assert!(packets.len() == 1 && packets[0].2 == 0.0, "{packets:?}");
}

#[test]
fn servers_are_labelled_by_address_unless_names_are_asked_for() {
    let (_, samples) = hostile(Servers::ByAddress);
    let servers = labels(&samples, "server");
    assert!(!servers.is_empty() && servers.iter().all(|server| !server.contains("evil")), "{servers:?}");
}

#[test]
fn names_behind_the_first_ones_are_counted_together_and_long_ones_are_cut() {
    let mut names = Names::default();
    let labels: Vec<Label> = (0..MAX_NAMES + 5).map(|index| names.label(&format!("server {index}"))).collect();
    let other = Label::new(OTHER);
    assert_eq!(labels.iter().filter(|label| **label == other).count(), 5);
    assert_eq!(names.label("server 0"), Label::new("server 0"));
    assert_eq!(names.label("server 52"), other);
    let mut pods = Pods::default();
    let first: Vec<_> = (0..MAX_PODS).map(|index| pods.label("shop", &format!("web-{index}"))).collect();
    assert_eq!(pods.label("shop", "web-300"), (other.clone(), other));
    assert_eq!(pods.label("shop", "web-0"), first[0]);
    let long = "x".repeat(100_000);
    assert_eq!(Label::new(&long), Label::new(&long[..1_000]));
}

#[test]
fn counters_have_their_name_in_both_formats() {
    let open = "# HELP a_seconds Time.\n# TYPE a_seconds counter\n# UNIT a_seconds seconds\na_seconds_total 1\n# EOF\n";
    let text = "# HELP a_seconds_total Time.\n# TYPE a_seconds_total counter\na_seconds_total 1\n";
    assert_eq!(Format::accepted(Some("text/html, application/openmetrics-text; version=1.0.0")).convert(open), open);
    for accept in [None, Some("*/*"), Some("text/plain;version=0.0.4")] {
        assert_eq!(Format::accepted(accept).convert(open), text, "{accept:?}");
    }
}

#[test]
fn the_check_refuses_what_promtool_refuses() {
    let good = "# HELP a_total A.\n# TYPE a_total counter\na_total{b=\"c\\\\\\\"\\n\"} 1\n";
    assert_eq!(exposition::check(good).unwrap()[0].1["b"], "c\\\"\n");
    for (from, to) in [
        ("# HELP a_total A.\n", ""),
        ("# TYPE a_total counter\n", ""),
        ("a_total", "a"),
        ("counter", "gauge"),
        ("c\\\\", "c\""),
        ("\\n", "\\u"),
        ("a_total", "aB_total"),
        ("a_total", "a_ms_total"),
        (" 1\n", " x\n"),
        ("{b", "{b=\"c\",b"),
    ] {
        let bad = good.replace(from, to);
        assert!(exposition::check(&bad).is_err(), "{bad}");
    }
}

#[test]
fn documentation_lists_all_metrics_with_their_meaning() {
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/metrics.md")).unwrap();
    let (text, _) = hostile(Servers::ByAddress);
    let helps: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("# HELP ")?.split_once(' ')).collect();
    for (name, meaning) in &helps {
        let row = page.lines().find(|line| line.starts_with(&format!("| `{name}`")));
        assert!(row.is_some_and(|row| row.contains(meaning.trim_end_matches('.'))), "{name}: {meaning}");
    }
    assert_eq!(page.matches("| `whyslow_").count(), helps.len());
}

#[test]
fn closed_connection_is_counted_by_what_held_it() {
    let (families, registry) = register();
    let account = Account {
        sent_segments: 10,
        retransmitted_segments: 2,
        sending_s: Nanos::from_millis(1_000),
        receive_window_s: Nanos::from_millis(250),
        ..Account::default()
    };
    families.add_closed(&account);
    let mut text = String::new();
    encode(&mut text, &registry).unwrap();
    for line in [
        "whyslow_closed_connections_total 1",
        "whyslow_closed_sending_seconds_total{by=\"receive_window\"} 0.25",
        "whyslow_closed_sending_seconds_total{by=\"network\"} 0.75",
        "whyslow_closed_segments_total{kind=\"retransmitted\"} 2",
    ] {
        assert!(text.lines().any(|other| other == line), "{line}\n{text}");
    }
}
