//! The log of an endpoint says the same as a capture of the same run with its keys: aioquic.

use std::path::Path;
use whyslow_analysis::Analysis;
use whyslow_analysis::types::Near;
use whyslow_core::capture::Reader;
use whyslow_diagnosis::explain::Explainer;

fn explained(name: &str) -> Analysis {
    let bytes = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/qlog").join(name)).unwrap();
    let (mut reader, mut explainer) = (Reader::new(), Explainer::new());
    explainer.begin_capture(name);
    reader.push(&bytes, &mut explainer).unwrap();
    let summary = reader.finish(&mut explainer).unwrap();
    explainer.end_capture(summary);
    explainer.finish()
}

/// Causes by their cost, in milliseconds.
fn costs(analysis: &Analysis) -> Vec<(&'static str, f64)> {
    let connection = &analysis.connections[0];
    let all = connection.transfers.iter().flat_map(|one| &one.findings).chain(&connection.findings);
    let mut costs: Vec<(&str, f64)> = Vec::new();
    for finding in all {
        match costs.iter_mut().find(|one| one.0 == finding.cause.slug()) {
            Some(one) => one.1 += finding.cost_s.as_millis_f64(),
            None => costs.push((finding.cause.slug(), finding.cost_s.as_millis_f64())),
        }
    }
    costs.retain(|one| one.1 > 100.0);
    costs.sort_by(|a, b| a.0.cmp(b.0));
    costs
}

#[test]
fn log_of_an_end_has_the_verdict_of_its_capture() {
    for (name, cause) in
        [("think-client", "server-think"), ("think-server", "server-think"), ("trickle-server", "application")]
    {
        let [captured, logged] = ["pcapng", "qlog"].map(|kind| explained(&format!("{name}.{kind}")));
        let costs = [costs(&captured), costs(&logged)];
        let causes = costs.each_ref().map(|costs| costs.iter().map(|one| one.0).collect::<Vec<_>>());
        assert!(causes[0] == causes[1] && causes[0].contains(&cause), "{name}: {costs:?}");
        for (a, b) in costs[0].iter().zip(&costs[1]) {
            assert!((a.1 - b.1).abs() < 0.05 * a.1, "{name}: {costs:?}");
        }
        let requests = [&captured, &logged].map(|analysis| {
            let requests = analysis.connections[0].requests.iter();
            requests.map(|one| (one.label.clone(), one.status, one.complete)).collect::<Vec<_>>()
        });
        assert_eq!(requests[0], requests[1], "{name}");
        let near = if name.ends_with("client") { Near::Client } else { Near::Server };
        assert_eq!(logged.connections[0].near, near, "{name}");
        // The capture shows why the server waited, and the client's log only that it did.
        let sure = [&captured, &logged].map(|analysis| {
            let all = analysis.connections[0].transfers.iter().flat_map(|one| &one.findings);
            all.filter(|one| one.cause.slug() == cause).map(|one| one.confidence).fold(0.0, f64::max)
        });
        assert_eq!(sure[1], if name == "think-client" { 0.7 } else { sure[0] }, "{name}: {sure:?}");
        let bytes = [&captured, &logged]
            .map(|analysis| analysis.connections[0].directions.iter().map(|one| one.bytes).collect::<Vec<_>>());
        assert_eq!(bytes[0], bytes[1], "{name}");
    }
}
