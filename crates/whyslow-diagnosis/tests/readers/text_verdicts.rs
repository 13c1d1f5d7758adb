//! tcpdump's text of a capture must give the same findings as the capture, or a note about the
//! missing data. A text without some packets must not give certain findings that are wrong.
//!
//! Needs tcpdump; skipped without it.

use super::text_vs_pcap::{files, is_capture, tcpdump};
use std::path::{Path, PathBuf};
use whyslow_analysis::Verdict;
use whyslow_core::capture::{CaptureError, Reader};
use whyslow_diagnosis::explain::Explainer;

/// The findings of a capture: for each connection with payload (`CLIENT:PORT → SERVER:PORT`) its
/// causes, and the limitations that the program reports.
pub(super) struct Explanation {
    pub(super) causes: Vec<(String, &'static str, f64)>,
    problems: Vec<String>,
    verdicts: Vec<Verdict>,
}

impl Explanation {
    fn has(&self, slug: &str) -> bool {
        self.problems.iter().any(|problem| problem == slug)
    }

    /// The causes with a cost of each connection, the most expensive first.
    fn costly(&self) -> Vec<(&str, &'static str)> {
        self.causes.iter().map(|(ends, cause, _)| (ends.as_str(), *cause)).collect()
    }
}

/// Analyses a capture of any format.
pub(super) fn explain(bytes: &[u8]) -> Result<Explanation, CaptureError> {
    let mut explainer = Explainer::new();
    explainer.begin_capture("input");
    let mut reader = Reader::new();
    reader.push(bytes, &mut explainer)?;
    let summary = reader.finish(&mut explainer)?;
    explainer.end_capture(summary);
    let analysis = explainer.finish();
    let mut causes: Vec<(String, &'static str, f64)> = Vec::new();
    let of_all = analysis.findings.iter().map(|finding| (String::new(), finding));
    let of_connections = analysis.connections.iter().flat_map(|connection| {
        let of_transfers = connection.transfers.iter().flat_map(|transfer| &transfer.findings);
        let [client, server] = [&connection.client, &connection.server].map(|end| (&end.address, end.port));
        let ends = format!("{}:{} → {}:{}", client.0, client.1, server.0, server.1);
        of_transfers.chain(&connection.findings).map(move |finding| (ends.clone(), finding))
    });
    for (ends, finding) in of_connections.chain(of_all) {
        causes.push((ends, finding.cause.slug(), finding.confidence));
    }
    causes.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
    causes.dedup_by(|next, before| {
        let same = (&next.0, next.1) == (&before.0, before.1);
        before.2 = if same { before.2.max(next.2) } else { before.2 };
        same
    });
    let of_captures = analysis.captures.iter().flat_map(|capture| &capture.problems);
    let problems = of_captures.chain(analysis.connections.iter().flat_map(|connection| &connection.problems));
    let verdicts = analysis.connections.iter().flat_map(|connection| &connection.transfers);
    Ok(Explanation {
        causes,
        problems: problems.map(|problem| problem.slug.clone()).collect(),
        verdicts: verdicts.map(|transfer| transfer.verdict.clone()).collect(),
    })
}

/// The captures of the samples, without those that are made from others.
pub(super) fn samples() -> Vec<PathBuf> {
    let mut found = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples"), &mut found);
    found.retain(|path| is_capture(path) && !path.to_str().unwrap().contains("derived"));
    assert!(found.len() > 60);
    found
}

/// Combinations of tcpdump's options that people use.
const COMBINATIONS: [&[&str]; 20] = [
    &["-n"],
    &["-n", "-S"],
    &["-n", "-v"],
    &["-n", "-vv"],
    &["-n", "-t"],
    &["-n", "-tt"],
    &["-n", "-ttt"],
    &["-n", "-tttt"],
    &["-n", "-ttttt"],
    &["-n", "-e"],
    &["-n", "-q"],
    &["-n", "-A"],
    &["-n", "-x"],
    &["-n", "-X"],
    &["-n", "-#"],
    &["-n", "-e", "-vv", "-tt"],
    &["-n", "-S", "-v", "-ttt", "-#"],
    &["-nn", "-tttt", "-v", "-X"],
    &["-n", "-S", "-e", "-tttt", "-#"],
    &["-n", "-q", "-v", "-tt"],
];

/// Any printed form of a capture gives the capture's causes, or reports the missing data.
#[test]
fn text_has_the_findings_of_its_capture() {
    if !whyslow_testing::tools(&["tcpdump"]) {
        return;
    }
    let (mut texts, mut same, mut report) = (0, 0, String::new());
    // TLS at an unusual port is visible only in the payload: see below. Lookups in a text are
    // listed, and no connection is joined with one.
    let is_other = |path: &PathBuf| path.ends_with("tls-client.pcap") || path.ends_with("slow-lookup-client.pcap");
    for path in samples().into_iter().filter(|path| !is_other(path)) {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let expected = explain(&std::fs::read(&path).unwrap()).unwrap();
        for options in COMBINATIONS {
            let text = tcpdump(&path, options);
            let has = |option: &str| options.contains(&option);
            texts += 1;
            let found = match explain(&text) {
                Err(error) => {
                    assert!(has("-q") && error.message.contains("rerun tcpdump without -q"), "{name}: {error}");
                    continue;
                }
                Ok(found) => found,
            };
            assert!(!has("-q"), "{name}");
            assert!(!found.has("elided-text"), "{name} {options:?}: nothing was left out");
            if has("-t") {
                let none = found.causes.is_empty() && found.verdicts.iter().all(|verdict| *verdict == Verdict::Unknown);
                assert!(found.has("no-times") && none, "{name}: {:?}", found.verdicts);
                continue;
            }
            if found.costly() == expected.costly() {
                same += 1;
                continue;
            }
            // Without -v there are no IP headers, without -x no payload: both are reported, and
            // causes that need them are not certain.
            let is_terse = found.has("terse-text") && !(has("-x") || has("-X"));
            let new: Vec<_> =
                found.causes.iter().filter(|found| !expected.costly().contains(&(&found.0, found.1))).collect();
            if !is_terse || new.iter().any(|found| found.2 >= 0.6) {
                report += &format!("{name} {options:?}: {:?} for {:?}\n", found.causes, expected.causes);
            }
        }
    }
    println!("{texts} texts, {same} with the causes of their captures");
    assert!(report.is_empty(), "{report}");
    assert!(same * 10 > texts * 7);
}

/// Without payload, session tickets cannot be recognised: then a pause of the application within
/// its response is not certain.
#[test]
fn unreadable_tickets_give_no_certain_finding() {
    if !whyslow_testing::tools(&["tcpdump"]) {
        return;
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples/programs/tls-client.pcap");
    for options in [&["-n"][..], &["-n", "-v"]] {
        let found = explain(&tcpdump(&path, options)).unwrap();
        let sure: Vec<_> = found.causes.iter().filter(|found| found.1 == "application" && found.2 >= 0.6).collect();
        // Port 8443 is known for TLS; the other ports are unknown.
        assert!(sure.iter().all(|found| !found.0.ends_with(":8443")), "{options:?}: {sure:?}");
    }
}

/// A repeatable sequence of numbers (xorshift64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }
}

/// Removes lines: up to three sections, with marks, or most lines after some position, without
/// marks.
fn with_lines_left_out(lines: &[&str], numbers: &mut Numbers) -> String {
    let mark = ["...", "[snip]", "此处省略"][numbers.below(3)];
    let mut left: Vec<&str> = lines.to_vec();
    match numbers.below(3) {
        0 => {
            let from = 3 + numbers.below(left.len() / 2);
            let (head, tail) = left.split_at(from);
            let tail: Vec<&str> = tail.iter().filter(|_| numbers.below(10) < 3).copied().collect();
            left = [head, &tail].concat();
        }
        stretches => {
            for _ in 0..2 * stretches - 1 {
                if left.len() < 12 {
                    break;
                }
                let from = 3 + numbers.below(left.len() - 7);
                let until = (from + 2 + numbers.below(left.len() / 3)).min(left.len() - 2);
                left.splice(from..until, [mark]);
            }
        }
    }
    left.join("\n") + "\n"
}

/// Number of texts with removed lines for each capture.
const TIMES: usize = 6;

/// A text without some packets gives no certain finding that the complete text or the capture does
/// not have, and the missing packets are reported.
#[test]
fn missing_packets_give_no_certain_finding() {
    if !whyslow_testing::tools(&["tcpdump"]) {
        return;
    }
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let (mut texts, mut marked, mut report) = (0, 0, String::new());
    for path in samples() {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let text = String::from_utf8(tcpdump(&path, &["-n"])).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let wholes = [explain(text.as_bytes()).unwrap(), explain(&std::fs::read(&path).unwrap()).unwrap()];
        let known: Vec<_> = wholes.iter().flat_map(Explanation::costly).collect();
        for _ in 0..TIMES {
            let part = with_lines_left_out(&lines, &mut numbers);
            let found = explain(part.as_bytes()).unwrap();
            texts += 1;
            marked += u64::from(found.has("elided-text"));
            let new: Vec<_> =
                found.causes.iter().filter(|found| found.2 >= 0.6 && !known.contains(&(&found.0, found.1))).collect();
            if !new.is_empty() {
                report += &format!("{name}: {new:?} for {known:?}\n");
            }
        }
    }
    println!("{texts} texts, {marked} of them reported as incomplete");
    assert!(report.is_empty(), "{report}");
    // A missing retransmission or pure ACK may go unnoticed.
    assert!(marked * 100 >= texts * 97);
}
