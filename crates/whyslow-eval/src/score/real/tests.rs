#![allow(clippy::unwrap_used)]
use super::super::calibration::ReportedCause;
use super::judge::{NamedCause, ScoredRun, calibration, wrong};
use super::promise::{Promise, PromiseScope};
use super::report::{Report, Run, SCHEMA};
use std::collections::BTreeMap;
use whyslow_analysis::{End, Grade};
use whyslow_lab::net::config::Host;
use whyslow_lab::real::Label;

const LABEL: Label =
    Label { right: &["loss", "random-loss"], never: &["policer"], why: "it loses", unseen: &[], enough: false };

fn named(cause: &'static str, confidence: f64) -> NamedCause {
    let surest = ReportedCause { cause, confidence, grade: Grade::Shown, weight: confidence };
    NamedCause { cause, confidence, seconds: 1.0, surest }
}

fn judged(top: Option<NamedCause>, ruled_out: Vec<NamedCause>) -> ScoredRun {
    let wrong = wrong(&LABEL, top.as_ref(), &[], &ruled_out);
    ScoredRun { end: "client", capture: "x/client.pcap".into(), reported: top, wrong, ruled_out }
}

#[test]
fn the_label_and_its_other_words_are_right_and_what_is_ruled_out_is_not() {
    assert_eq!(judged(Some(named("random-loss", 0.9)), Vec::new()).wrong, None);
    assert_eq!(judged(Some(named("timeout", 0.9)), Vec::new()).wrong.unwrap(), "`timeout`");
    assert_eq!(judged(None, Vec::new()).wrong.unwrap(), "nothing");
    let beside = judged(Some(named("loss", 0.9)), vec![named("policer", 0.65)]);
    assert_eq!(beside.wrong.as_deref(), Some("`policer` beside it"));
    assert_eq!(beside.most_confident_error().unwrap().cause, "policer");
    assert!(!beside.is_bold(), "what is right was bold, and not what is wrong");
    let nothing = Label { right: &["none"], ..LABEL };
    assert_eq!(wrong(&nothing, None, &[], &[]), None);
    assert_eq!(wrong(&nothing, Some(&named("loss", 0.9)), &[], &[]).unwrap(), "`loss`");
}

fn run(ends: Vec<ScoredRun>) -> Run {
    Run {
        scenario: "nginx-loss".to_owned(),
        label: "nginx-loss-1".to_owned(),
        right: LABEL.right,
        never: LABEL.never,
        why: LABEL.why,
        confirmed: true,
        problems: Vec::new(),
        unconfirmed: Vec::new(),
        ends,
    }
}

fn promise() -> Promise {
    Promise {
        label: "nginx-loss-1".to_owned(),
        end: "server",
        cause: "loss",
        command: Some("sysctl -w net.ipv4.tcp_sack=1".to_owned()),
        what: "let the receiver say what it has".to_owned(),
        before_s: 4.0,
        promised_s: 1.2,
        measured_s: Some(1.0),
        range_s: Some([1.1, 1.5]),
        problems: Vec::new(),
        host: Some(Host::Server),
        of: PromiseScope::Transfer { from: End::Server, nth: 0, bytes: 1000, before: 0 },
    }
}

#[test]
fn a_page_and_its_json_count_the_same() {
    let ends = vec![
        judged(Some(named("loss", 0.95)), Vec::new()),
        judged(Some(named("timeout", 0.85)), Vec::new()),
        judged(Some(named("loss", 0.95)), vec![named("policer", 0.65)]),
        judged(None, Vec::new()),
    ];
    let bins = calibration(&ends.iter().collect::<Vec<_>>());
    let count: Vec<_> = bins.iter().map(|bin| (bin.reported, bin.right)).collect();
    assert_eq!(count, [(0, 0), (1, 0), (0, 0), (1, 0), (2, 2)]);
    let report = Report {
        schema: SCHEMA,
        seed: 1,
        each: 1,
        captures: 4,
        right: 1,
        wrong_at_high_confidence: 1,
        calibration: bins,
        promises: vec![promise(), Promise { measured_s: None, problems: vec!["refused".to_owned()], ..promise() }],
        skipped: BTreeMap::from([("git".to_owned(), vec!["git-clone-narrow"])]),
        runs: vec![run(ends)],
    };
    let page = report.page();
    assert!(
        page.contains("| nginx-loss | loss, random-loss | 1/4 | – | `policer` beside it 1, `timeout` 1, nothing 1 |"),
        "{page}"
    );
    assert!(page.contains("- nginx-loss-1 at the client: `timeout` (0.85)"), "{page}");
    assert!(page.contains("| 0.9–1.0 | 2 | 2 | 1.00, said 0.95 |"), "{page}");
    assert!(page.contains("Skipped for want of git: 1 scenarios (git-clone-narrow)."), "{page}");
    assert!(page.contains("x/client.pcap"), "{page}");
    assert!(page.contains("| `loss` | 2 | 1 | 20.0 % | 20.0 % | 20.0 % |"), "{page}");
    assert!(page.contains("not measured: refused"), "{page}");
    let schema: serde_json::Value =
        serde_json::from_str(include_str!("../../../../../docs/schema/whyslow-real-1.schema.json")).unwrap();
    let json = serde_json::to_value(&report).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(&json).map(|error| error.to_string()).collect();
    assert_eq!(errors, [""; 0]);
}
