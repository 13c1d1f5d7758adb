#![allow(clippy::unwrap_used)]
use super::*;

fn row(measured: f64, verdict: Verdict) -> Row {
    Row {
        what: "added RTT, 10 ms".to_owned(),
        unit: "ms",
        expected: 10.0,
        least: 9.7,
        most: Some(10.3),
        measured,
        detail: "deviation 0.1".to_owned(),
        verdict,
        void: vec!["7 packets dropped by a device".to_owned()],
    }
}

#[test]
fn the_table_shows_what_was_asked_and_what_was_measured() {
    let report = Report { rows: vec![row(10.066, Verdict::Good), row(12.0, Verdict::Void)] };
    assert!(report.is_good(), "a void row says nothing about the emulator");
    let table = report.table();
    let lines: Vec<&str> = table.lines().collect();
    assert!(lines[1].starts_with("added RTT, 10 ms"), "{table}");
    assert!(lines[1].contains("10.07") && lines[1].contains("9.7 to 10.3 ms") && lines[1].contains("good"), "{table}");
    assert_eq!(lines.len(), 4, "a reason is shown for the void row alone: {table}");
    assert!(lines[3].contains("7 packets dropped"));
    assert!(!Report { rows: vec![row(12.0, Verdict::Bad)] }.is_good());
}

#[test]
fn figures_have_four_digits() {
    let shown = [1448.2, 956.41, 95.641, 9.5641, 0.95641, 0.01].map(figure);
    assert_eq!(shown, ["1448", "956.4", "95.64", "9.564", "0.9564", "0.01"]);
}

#[test]
fn a_binomial_interval_is_the_textbooks() {
    // 10,000 draws of 1 %: 100 ± 2.576 · √99 = 100 ± 25.6.
    let figure = binomial("loss", 0.01, 120, 10_000);
    assert!((figure.least - 0.744).abs() < 0.001 && (figure.most.unwrap() - 1.256).abs() < 0.001);
    assert_eq!(figure.measured, 1.2);
}
