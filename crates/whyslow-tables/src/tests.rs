//! Tables of whole captures, and their documentation.

use crate::{Batches, Error, Format, Kind, ROWS, Table, TableWriter, write_all};
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_ipc::reader::StreamReader;
use proptest::prelude::*;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::LazyLock;
use whyslow_analysis::{Analysis, Connection, LimitingFactor};
use whyslow_diagnosis::explain::explain;

const SAMPLES: [&str; 4] = [
    "slow-start-client.pcap",
    "loss-client.pcap",
    "new-connection-each-time-server.pcap",
    "receive-window-client.pcap",
];

fn project() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn analysis(name: &str) -> Analysis {
    let capture = std::fs::read(project().join("samples").join(name)).expect("the sample is there");
    explain(name, &capture).expect("it is a capture")
}

fn batches(analysis: &Analysis, table: Table) -> Vec<RecordBatch> {
    Batches::new(analysis, table, "").map(|batch| batch.expect("it is a batch")).collect()
}

fn whole(analysis: &Analysis, table: Table) -> RecordBatch {
    batches(analysis, table).into_iter().next().expect("it has rows")
}

fn floats(batch: &RecordBatch, name: &str) -> Vec<Option<f64>> {
    batch.column_by_name(name).expect(name).as_primitive::<Float64Type>().iter().collect()
}

fn ints(batch: &RecordBatch, name: &str) -> Vec<Option<i64>> {
    batch.column_by_name(name).expect(name).as_primitive::<Int64Type>().iter().collect()
}

fn texts(batch: &RecordBatch, name: &str) -> Vec<Option<String>> {
    let column = batch.column_by_name(name).expect(name);
    column.as_string::<i32>().iter().map(|text| text.map(str::to_owned)).collect()
}

/// A table of the connections that are listed.
fn written(analysis: &Analysis, table: Table, format: Format) -> Vec<u8> {
    let mut out = Vec::new();
    let writer = TableWriter::new(table, format, &mut out).expect("it can be begun");
    let connections = analysis.connections.iter().cloned().map(Ok::<_, Error>);
    write_all(analysis, connections, &mut |_| Ok(Vec::new()), "", vec![writer]).expect("it is written");
    out
}

/// Rows that the analysis has for a table.
fn rows(analysis: &Analysis, table: Table) -> usize {
    let connections = &analysis.connections;
    let sum = |of: &dyn Fn(&Connection) -> usize| connections.iter().map(of).sum::<usize>();
    match table {
        Table::Connections => connections.len(),
        Table::Transfers => sum(&|one| one.transfers.len()),
        Table::Rounds => sum(&|one| one.transfers.iter().map(|transfer| transfer.rounds.len()).sum()),
        Table::Findings => {
            let of_transfers = sum(&|one| one.transfers.iter().map(|transfer| transfer.findings.len()).sum());
            analysis.findings.len() + of_transfers + sum(&|one| one.findings.len())
        }
        Table::Files => analysis.captures.len(),
        Table::Packets => 0,
        Table::Problems => {
            let of_files: usize = analysis.captures.iter().map(|capture| capture.problems.len()).sum();
            of_files + sum(&|one| one.problems.len())
        }
    }
}

#[test]
fn figures_are_those_of_the_analysis() {
    for name in SAMPLES {
        let analysis = analysis(name);
        let batch = whole(&analysis, Table::Transfers);
        let transfers: Vec<_> = analysis.connections.iter().flat_map(|one| &one.transfers).collect();
        let bytes: Vec<_> = transfers.iter().map(|one| i64::try_from(one.bytes).ok()).collect();
        assert_eq!(ints(&batch, "bytes"), bytes, "{name}");
        let causes: Vec<_> = transfers.iter().map(|one| Some(one.findings.first()?.cause.slug().to_owned())).collect();
        assert_eq!(texts(&batch, "cause"), causes, "{name}");
        for (row, transfer) in transfers.iter().enumerate() {
            let limits: f64 = LimitingFactor::ALL
                .iter()
                .filter_map(|limit| floats(&batch, &format!("limit_{}_s", limit.slug().replace('-', "_")))[row])
                .sum();
            assert!((limits - transfer.duration_s.as_secs_f64()).abs() < 1e-6, "{name}: limits sum to the duration");
        }
    }
}

#[test]
fn every_table_has_the_rows_of_the_analysis_and_the_types_of_its_schema() {
    for name in SAMPLES {
        let analysis = analysis(name);
        for table in Table::ALL {
            let schema = table.schema();
            let mut found = 0;
            for batch in batches(&analysis, table) {
                assert_eq!(*batch.schema(), schema);
                assert!((1..=ROWS).contains(&batch.num_rows()));
                found += batch.num_rows();
            }
            assert_eq!(found, rows(&analysis, table), "{name}: {}", table.name());
        }
    }
}

#[test]
fn a_stream_and_lines_hold_what_the_batches_hold() {
    let analysis = analysis("loss-client.pcap");
    for table in Table::ALL {
        let stream = written(&analysis, table, Format::Arrow);
        let reader = StreamReader::try_new(stream.as_slice(), None).expect("it is a stream");
        assert_eq!(*reader.schema(), table.schema());
        let read: Vec<_> = reader.map(|batch| batch.expect("it is a batch")).collect();
        assert_eq!(read, batches(&analysis, table), "{}", table.name());

        let lines = String::from_utf8(written(&analysis, table, Format::Tsv)).expect("it is text");
        let columns = table.columns().len();
        assert!(lines.lines().all(|line| line.split('\t').count() == columns), "{}", table.name());
        assert_eq!(lines.lines().count(), 1 + rows(&analysis, table), "{}", table.name());
    }
}

#[test]
fn a_connection_keeps_its_uid_and_another_place_gives_it_another() {
    let (here, again) = (analysis("loss-client.pcap"), analysis("loss-client.pcap"));
    let uid = |analysis: &Analysis, point: &str| {
        let batch = Batches::new(analysis, Table::Connections, point).next().expect("a batch").expect("it is whole");
        texts(&batch, "uid")
    };
    assert_eq!(uid(&here, ""), uid(&again, ""));
    assert_ne!(uid(&here, ""), uid(&here, "edge"));
    // What is stored must be found again by later versions.
    assert_eq!(uid(&here, "")[0].as_deref(), Some("0c008f397ce423938d8749a69fd0de3e"));
    let other = analysis("slow-start-client.pcap");
    assert_ne!(uid(&here, "")[0], uid(&other, "")[0]);
}

#[test]
fn a_name_that_holds_a_tab_stays_in_its_cell() {
    let mut analysis = analysis("loss-client.pcap");
    analysis.captures[0].path = "a\tb\nc\u{1b}[31m".to_owned();
    analysis.connections[0].server.name = Some("x\ty".to_owned());
    let batch = whole(&analysis, Table::Connections);
    assert_eq!(texts(&batch, "file")[0].as_deref(), Some("a\tb\nc\u{1b}[31m"), "the path opens the file");
    assert_eq!(texts(&batch, "server_name")[0].as_deref(), Some("x y"));
    let lines = String::from_utf8(written(&analysis, Table::Connections, Format::Tsv)).expect("it is text");
    assert_eq!(lines.lines().count(), 2);
    assert!(!lines.contains('\u{1b}'));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// However many rows there are, no batch is larger than the bound, and none is lost.
    #[test]
    fn batches_are_bounded_and_whole(connections in 0_usize..3 * ROWS) {
        static SAMPLE: LazyLock<Analysis> = LazyLock::new(|| analysis("slow-start-client.pcap"));
        let mut analysis = SAMPLE.clone();
        let mut one = analysis.connections.remove(0);
        one.transfers.clear();
        analysis.connections = (0..connections).map(|id| Connection { id: id as u64, ..one.clone() }).collect();
        let batches = batches(&analysis, Table::Connections);
        let ids: Vec<_> = batches.iter().flat_map(|batch| ints(batch, "connection")).collect();
        prop_assert_eq!(ids, (0..connections as i64).map(Some).collect::<Vec<_>>());
        prop_assert!(batches.iter().all(|batch| batch.num_rows() <= ROWS));
        prop_assert_eq!(batches.len(), connections.div_ceil(ROWS));
    }
}

/// Connections that the analysis lacks are in the tables as those that it lists, and in the count
/// of their file.
#[test]
fn connections_that_are_not_listed_have_rows() {
    let whole = analysis("new-connection-each-time-server.pcap");
    let mut cut = whole.clone();
    let mut place = 0;
    cut.connections.retain(|_| {
        place += 1;
        place % 3 == 0
    });
    assert!(!cut.connections.is_empty() && cut.connections.len() < whole.connections.len());
    for table in Table::ALL {
        for format in [Format::Arrow, Format::Tsv] {
            let mut out = Vec::new();
            let writer = TableWriter::new(table, format, &mut out).expect("it can be begun");
            let connections = whole.connections.iter().cloned().map(Ok::<_, Error>);
            write_all(&cut, connections, &mut |_| Ok(Vec::new()), "", vec![writer]).expect("it is written");
            assert!(out == written(&whole, table, format), "{}", table.name());
        }
    }
}

#[test]
fn names_are_valid_in_sql_and_end_with_their_unit() {
    for table in Table::ALL {
        let columns = table.columns();
        for column in &columns {
            let name = &column.name;
            assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'), "{name}");
            assert!(column.about.ends_with('.'), "{name}");
            let unit = match column.unit {
                "s" => name.ends_with("_s") || name == "seconds",
                "ms" => name.ends_with("_ms"),
                "ns" => name.ends_with("_ns"),
                "bit/s" => name.ends_with("_bps"),
                _ => !(name.ends_with("_ms") || name.ends_with("_bps")),
            };
            assert!(unit, "{name} in {}", column.unit);
            let found = columns.iter().filter(|other| other.name == *name).count();
            assert_eq!(found, 1, "{name} is there once");
        }
        assert_eq!(Table::from_name(table.name()), Some(table));
    }
}

/// The page of the columns.
fn documented() -> String {
    let mut text = "# All columns of the tables\n\nFor those who look up a column of [the tables](../tables.md): its type, unit and \
                    meaning. Generated.\n"
        .to_owned();
    for table in Table::ALL {
        let _ = write!(text, "\n## `{}`\n\n| column | type | unit | |\n|---|---|---|---|\n", table.name());
        for column in table.columns() {
            let name = match column.kind {
                Kind::Timestamp => "timestamp",
                kind => kind.name(),
            };
            let _ = writeln!(text, "| `{}` | {name} | {} | {} |", column.name, column.unit, column.about);
        }
    }
    text
}

/// `TABLES=update` writes the page.
#[test]
fn all_columns_are_documented() {
    let path = project().join("docs/reference/columns.md");
    if std::env::var_os("TABLES").is_some_and(|what| what == "update") {
        std::fs::write(&path, documented()).expect("the page can be written");
    } else {
        let page = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            page == documented(),
            "docs/reference/columns.md differs: TABLES=update cargo test -p whyslow-tables writes it"
        );
    }
}
