#![allow(clippy::unwrap_used)]
use super::*;
use crate::figures::Figures;
use crate::truth::{CheckedClaim, SCHEMA, check};

fn result(label: &str, repetition: u32, figures: &[(&str, f64)]) -> RunResult {
    let figures: Figures = figures.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let claims: Vec<CheckedClaim> = check(&["span <= 1s".parse().unwrap()], &figures);
    RunResult {
        schema: SCHEMA.to_owned(),
        experiment: "e".to_owned(),
        label: label.to_owned(),
        values: [("case".to_owned(), label.to_owned())].into(),
        repetition,
        key: String::new(),
        cause: "loss".to_owned(),
        voided: 0,
        noise: crate::noise::Noise::default(),
        problems: Vec::new(),
        confirmed: claims.iter().all(|c| c.holds),
        claims,
        figures,
    }
}

#[test]
fn a_table_has_units_and_its_csv_has_none() {
    let results = [result("a", 1, &[("span", 0.0634), ("goodput", 7.5e6)]), result("b, long", 1, &[("span", 0.5)])];
    assert_eq!(
        text(&results, &["span", "goodput"]),
        "run         span      goodput  cause  remark\n\
         a        63.4 ms  7.50 Mbit/s   loss\n\
         b, long   500 ms                loss\n"
    );
    assert_eq!(
        csv(&results, &["span", "goodput"]),
        "run,span,goodput,cause,remark\na,0.0634,7500000,loss,\n\"b, long\",0.5,,loss,\n"
    );
    assert_eq!(serde_json::from_str::<Vec<RunResult>>(&json(&results)).unwrap(), results);
}

#[test]
fn a_spoiled_run_shows_no_figure_and_a_broken_claim_is_printed() {
    let mut spoiled = result("a", 1, &[("span", 0.1)]);
    spoiled.problems = vec!["3 packets dropped by a device".to_owned()];
    let shown = text(&[spoiled, result("b", 1, &[("span", 2.0)])], &["span"]);
    assert!(shown.contains("no result: 3 packets dropped by a device"), "{shown}");
    assert!(!shown.contains("100 ms"), "{shown}");
    assert!(shown.contains("not confirmed: span <= 1s (2.00 s)"), "{shown}");
}

#[test]
fn repetitions_are_numbered_and_their_median_is_next_to_published_values() {
    let text_of = r#"
        name = "e"
        [[case]]
        name = "a"
        set = { path.rtt = "1ms" }
        [[case]]
        name = "b"
        set = { path.rtt = "2ms" }
        [[expect]]
        when = { case = "a" }
        figure = "span"
        is = "50ms"
        note = "with care"
    "#;
    let experiment = crate::scenario::load("e.toml", text_of, &[]).unwrap();
    let mut results: Vec<_> = [0.1, 0.06, 0.9].iter().zip(1..).map(|(s, n)| result("a", n, &[("span", *s)])).collect();
    assert!(text(&results, &["span"]).contains("a #3"));
    assert_eq!(
        published(&experiment, &results),
        "run  figure  measured  write-up  ratio\na      span    100 ms      50ms   2.00  with care\n"
    );
    for result in &mut results {
        result.problems = vec!["void".to_owned()];
    }
    assert_eq!(published(&experiment, &results), "", "a void run is no measurement");
}
