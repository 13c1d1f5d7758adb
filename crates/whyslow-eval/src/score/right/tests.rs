#![allow(clippy::unwrap_used)]

use super::*;
use whyslow_analysis::cause::Cause;
use whyslow_io::{Input, Stop};
use whyslow_lab::draws;
use whyslow_lab::scenario::units::{Size, Time};
use whyslow_units::Nanos;

#[test]
fn only_indistinguishable_causes_are_right_for_each_other() {
    assert!(is_right("slow-start", Some("slow-start"), &[]));
    assert!(!is_right("slow-start", Some("receive-window"), &[]));
    assert!(!is_right("slow-start", None, &[]));
    assert!(is_right("none", None, &[]) && is_right("none", Some("bandwidth"), &[]));
    assert!(!is_right("none", Some("loss"), &[]));
    assert!(is_right("zero-window", Some("host-cpu"), &[]) && !is_right("protocol-window", Some("sender-cap"), &[]));
    assert!(!is_right("bufferbloat", Some("bandwidth"), &[]), "a deep queue must be said");
}

fn sample(name: &str) -> Analysis {
    let path = format!("{}/../../samples/{name}.pcap", env!("CARGO_MANIFEST_DIR"));
    whyslow_io::explain(&[Input::Path(path.into())], &Stop::default(), &mut |_| {}).unwrap()
}

/// A run of six small requests, with this cause.
fn requests(cause: &str) -> Variant {
    let runs = draws::draw(1, 1).unwrap().runs;
    let mut run = runs.into_iter().find(|run| run.label == "small-requests-1").unwrap();
    run.scenario.cause = cause.to_owned();
    run.scenario.work = Work::Download(Transfers { count: 6, ..Transfers::default() });
    run
}

#[test]
fn the_clients_own_time_is_found_and_nothing_may_be_charged_to_its_pauses() {
    let mut analysis = sample("client-think-server");
    let run = requests("client-think");
    assert_eq!(wrong(&run, &analysis), None);
    let reported = |run: &Variant, analysis: &Analysis| wrong(run, analysis).unwrap().reported;
    assert_eq!(reported(&requests("none"), &analysis), "`client-think`");
    // It ranks behind whatever was waited for, however short that was.
    let own =
        analysis.connections[0].findings.iter().find(|finding| finding.cause == Cause::ClientThink).unwrap().clone();
    let short = Finding { cause: Cause::SlowStart, cost_s: own.cost_s.scale(0.01), ..own.clone() };
    analysis.connections[0].transfers[0].findings.push(short);
    assert_eq!(reported(&run, &analysis), "`slow-start`");
    assert_eq!(reported(&requests("slow-start"), &analysis), "`client-think` beside it", "the pauses were nobody's");
    analysis.connections[0].findings.retain(|finding| finding.cause != Cause::ClientThink);
    assert_eq!(wrong(&requests("slow-start"), &analysis), None);
    analysis.connections[0].transfers[0].findings.push(Finding { cause: Cause::Application, ..own });
    let found = wrong(&requests("application"), &analysis).unwrap();
    assert_eq!((found.reported.as_str(), found.cause.unwrap().cause), ("`application` beside it", "application"));
}

#[test]
fn every_exchange_must_be_reported() {
    let mut analysis = sample("client-think-server");
    analysis.connections[0].exchanges_total = 5;
    assert_eq!(wrong(&requests("client-think"), &analysis).unwrap().reported, "5 exchanges for 6");
}

#[test]
fn a_shared_bottleneck_is_reported_for_all_its_connections() {
    let mut analysis = sample("bandwidth-server");
    let runs = draws::draw(1, 1).unwrap().runs;
    let mut run = runs.into_iter().find(|run| run.label == "shared-bottleneck-1").unwrap();
    let Work::Download(work) = &mut run.scenario.work else { panic!("downloads") };
    work.parallel = 2;
    assert_eq!(wrong(&run, &analysis).unwrap().reported, "shared by 0 of 2");
    let own = analysis.connections[0].transfers.iter().flat_map(|t| &t.findings).find(|f| f.cause == Cause::Bandwidth);
    let together = Finding { shared: true, connections: vec![1, 2], ..own.unwrap().clone() };
    analysis.findings.push(together);
    assert_eq!(wrong(&run, &analysis), None);
}

#[test]
fn what_never_came_to_an_end_is_not_judged_there() {
    let mut run = requests("none");
    let figures = |lost: f64| Figures::from([("up.packets".to_owned(), 4.0), ("up.lost".to_owned(), lost)]);
    assert!(is_invisible(&run, &figures(4.0), End::Server) && !is_invisible(&run, &figures(4.0), End::Client));
    assert!(!is_invisible(&run, &figures(3.0), End::Server) && !is_invisible(&run, &Figures::new(), End::Server));
    run.label = "syn-loss-2".to_owned();
    assert!(is_invisible(&run, &figures(1.0), End::Server));
}

#[test]
fn truncation_must_be_first_only_if_the_rest_is_known_to_be_missing() {
    let mut analysis = sample("reset-server");
    let mut run = requests("reset");
    let mut cut = |after: u64| {
        let reset_after = Some(Size(after));
        run.scenario.work = Work::Download(Transfers { reset_after, closes: Side::Server, ..Transfers::default() });
        run.label = "reset-1".to_owned();
        run.clone()
    };
    assert_eq!((wrong(&cut(0), &analysis), wrong(&cut(250_000), &analysis)), (None, None));
    let found = analysis.connections[0].findings.iter_mut().find(|finding| finding.cause == Cause::Reset).unwrap();
    found.cost_s = Nanos::ZERO;
    assert_eq!(wrong(&cut(250_000), &analysis), None);
    assert!(wrong(&cut(0), &analysis).is_some(), "nothing came of the answer");
    analysis.connections[0].findings.retain(|finding| finding.cause != Cause::Reset);
    assert!(wrong(&cut(250_000), &analysis).is_some());
}

#[test]
fn pushes_are_counted_by_what_is_written_at_once() {
    let run = draws::draw(1, 1).unwrap().runs.into_iter().find(|run| run.label == "pushes-1").unwrap();
    let (Work::Download(work) | Work::Upload(work)) = &run.scenario.work else { panic!("transfers") };
    assert!((3..=4).contains(&exchanges(&run).unwrap()), "{work:?}");
    assert!(work.write.every >= Time(1_600_000_000));
}
