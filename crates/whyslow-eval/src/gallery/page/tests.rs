#![allow(clippy::unwrap_used)]
use super::*;

#[test]
fn a_line_is_drawn_in_steps_and_broken_where_nothing_was_read() {
    let line = vec![None, Some(10.0), Some(10.0), Some(5.0), None, Some(0.0)];
    assert_eq!(path(&line, 10.0), "M1 0.0H3V42.0H4M5 84.0H6");
    assert_eq!(path(&Line::new(), 10.0), "");
}

#[test]
fn a_row_has_unusual_settings_and_is_escaped() {
    let text = "name = \"g\"\ntitle = \"a < b\"\n[[case]]\nname = \"plain\"\nset = { cause = \"none\" }\n\
                [[case]]\nname = \"far\"\nset = { path.rtt = \"100ms\", server.tcp_wmem = [\"4096B\", \"4096B\", \"4096B\"] }\n";
    let experiment = whyslow_lab::scenario::load("g.toml", text, &[]).unwrap();
    let far = differs(&usual(&experiment), &experiment.runs[1].scenario);
    assert_eq!(far, ["path.rtt 100ms", "server.tcp_wmem 4KiB 4KiB 4KiB"]);
    let html = page(&experiment, &[], 5.0, &Machine::default());
    assert!(html.contains("<h1>a &lt; b</h1>") && html.contains("after 5 s"), "{html}");
}

#[test]
fn a_graph_has_its_largest_value_its_time_and_its_marks() {
    let graphs = Graphs {
        seconds: 2.5,
        acknowledged: vec![Some(0.0), Some(2_000_000.0)],
        retransmitted: vec![false, true],
        ..Graphs::default()
    };
    let svg = sequence(&graphs);
    assert!(svg.contains(">2.00 MB<") && svg.contains(">2.50 s<"), "{svg}");
    assert_eq!(svg.matches("class=resent").count(), 1);
    assert_eq!(rtt(&graphs), "<span class=none>nothing</span>");
}

/// A line that rises and falls.
fn line(most: f64, wave: usize) -> Line {
    (0..COLUMNS).map(|at| Some(most * ((at % wave) as f64 + 1.0) / wave as f64)).collect()
}

fn graphs() -> Graphs {
    Graphs {
        seconds: 60.0,
        rtt: line(0.113, 40),
        throughput: line(941_000_000.0, 90),
        acknowledged: (0..COLUMNS).map(|at| Some(at as f64 * 1e7)).collect(),
        retransmitted: (0..COLUMNS).map(|at| at % 30 == 7).collect(),
        window: line(3_000_000.0, 100),
        congestion_window: line(700_000.0, 50),
        in_flight: line(900_000.0, 25),
    }
}

fn result(label: &str, cause: &str) -> RunResult {
    let figures = [
        ("rtt", 0.112_4, [0.098_3, 0.112_4]),
        ("goodput", 940_123_456.0, [850_111_111.0, 940_123_456.0]),
        ("retransmitted", 12_345.0, [11_999.0, 12_877.0]),
        ("duplicate_acks", 1_234_567.0, [1_111_111.0, 1_345_678.0]),
        ("out_of_order", 1_234_567.0, [1_111_111.0, 1_345_678.0]),
        ("zero_window", 0.0, [0.0, 0.0]),
        ("window_full", 1_234_567.0, [1_111_111.0, 1_345_678.0]),
    ];
    let between = figures.iter().map(|(name, _, between)| ((*name).to_owned(), *between)).collect();
    let noise = whyslow_lab::noise::Noise { between, ..Default::default() };
    RunResult {
        schema: whyslow_lab::truth::SCHEMA.to_owned(),
        experiment: "gallery-buffers".to_owned(),
        label: label.to_owned(),
        values: BTreeMap::new(),
        repetition: 1,
        key: String::new(),
        cause: cause.to_owned(),
        voided: 0,
        noise,
        problems: Vec::new(),
        confirmed: true,
        claims: Vec::new(),
        figures: figures.iter().map(|(name, value, _)| ((*name).to_owned(), *value)).collect(),
    }
}

/// The widest that a row can be. A browser measures the same page: `web/test/gallery.test.mjs`.
#[test]
fn a_page_of_long_figures_a_broken_claim_and_a_run_without_result() {
    let experiment = whyslow_lab::experiments::open("buffers", &[]).unwrap();
    let claim = "server.rwnd_limited >= 10%".parse().unwrap();
    let results = [
        result("none", "none"),
        RunResult {
            claims: vec![whyslow_lab::truth::CheckedClaim { claim, measured: Some(0.04), holds: false }],
            ..result("receive-reorder", "receive-window")
        },
        RunResult {
            problems: vec!["this machine was busy: it may have added 33.3 s of 59.4 s, and the link's packets left up to 120 ms late".to_owned()],
            ..result("receive-duplicate", "receive-window")
        },
    ];
    let row = |result| Row { result, graphs: result.problems.is_empty().then(graphs) };
    let rows: Vec<Row<'_>> = results.iter().map(row).collect();
    let machine = Machine { kernel: "6.18.5".to_owned(), cpus: 2, ..Machine::default() };
    insta::assert_binary_snapshot!("gallery.html", page(&experiment, &rows, 60.0, &machine).into_bytes());
}

#[test]
fn large_figures_are_grouped_and_others_stay() {
    for (text, shown) in [
        ("1234567 (999 to 1300000)", "1,234,567 (999 to 1,300,000)"),
        ("10.2 Mbit/s (9.75 to 10.2)", "10.2 Mbit/s (9.75 to 10.2)"),
        ("0", "0"),
        ("0.05 ms", "0.05 ms"),
    ] {
        assert_eq!(grouped(text), shown);
    }
}
