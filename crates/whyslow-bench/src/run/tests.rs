#![allow(clippy::unwrap_used)]

use super::contest::{CAT, JSON, PIPE, PIPE_ALONE, TCPTRACE, TSHARK, UNPACK, WALK};
use super::measure::{Memory, Sample, memory};
use super::report::figures;
use super::results::median;
use super::targets::{Bound, Target, judge};
use super::*;

fn row(input: &'static str, program: &'static str, walls: &[f64]) -> Row {
    let memory = Some(Memory { own: 50_000_000, peak: 150_000_000 });
    let sample = |wall: &f64| Sample { wall: *wall, cpu: wall * 1.5, memory, max_rss: 0 };
    Row {
        input,
        program,
        packets: 1_000_000,
        connections: 100_000,
        samples: walls.iter().map(sample).collect(),
        remark: None,
    }
}

fn target<'a>(targets: &'a [Target], what: &str) -> &'a Target {
    targets.iter().find(|target| target.what.contains(what)).unwrap()
}

#[test]
fn medians() {
    assert_eq!(median(&[]), None);
    assert_eq!(median(&[3.0]), Some(3.0));
    assert_eq!(median(&[1.0, 2.0]), Some(1.5));
    assert_eq!(median(&[1.0, 2.0, 9.0]), Some(2.0));
    assert_eq!(row("bulk", CAT, &[3.0, 1.0, 2.5]).of(|sample| sample.wall), Some([2.5, 1.0, 3.0]));
}

#[test]
fn numbers_are_printed_with_significant_places() {
    assert_eq!(figures(0.2345, 3), "0.234");
    assert_eq!(figures(12_345.678, 3), "12,346");
    assert_eq!(figures(999.94, 1), "999.9");
    assert_eq!(figures(0.0, 1), "0.0");
}

#[test]
fn targets_are_judged_by_medians() {
    let rows = vec![
        row("bulk", JSON, &[1.0, 2.0, 9.0]),
        row("bulk", TCPTRACE, &[19.0, 25.0]),
        row("bulk-sixteenth", TSHARK, &[599.0]),
        row("bulk", WALK, &[0.5]),
        row("wan", JSON, &[2.0]),
        row("wan", TCPTRACE, &[13.0]),
        row("flood", JSON, &[0.5]),
        row("bulk", PIPE, &[2.25]),
        row("bulk", PIPE_ALONE, &[1.0]),
        row("bulk-gzip", JSON, &[5.0]),
        row("bulk-gzip", UNPACK, &[4.0]),
        row("bulk-sixteenth", JSON, &[1.0]),
        row("open", JSON, &[1.0]),
        row("connections-10", JSON, &[1.0]),
        row("connections-10k", JSON, &[1.9]),
        row("connections-1m", JSON, &[1.2]),
    ];
    let results = Results { rows, processors: 2, ..Results::default() };
    let targets = judge(&results);
    let verdict = |what| {
        let target = target(&targets, what);
        (target.measured, target.is_met())
    };
    assert_eq!(verdict("tcptrace"), (Some(11.0), Some(true)));
    assert_eq!(verdict("tshark"), (Some(299.5), Some(false)));
    assert_eq!(verdict("record walk"), (Some(4.0), Some(false)));
    assert_eq!(verdict("wan"), (Some(6.5), Some(true)));
    assert_eq!(verdict("time a SYN"), (Some(500.0), Some(false)));
    assert_eq!(verdict("flood: own memory"), (Some(50.0), Some(true)));
    // 3 s and 1.5 s of two processors, which is longer than each of both alone; and 3 s and 6 s, of
    // which one takes 4 s.
    assert_eq!(verdict("standard input"), (Some(1.0), Some(true)));
    assert_eq!(verdict("gzip"), (Some(5.0 / 4.5), Some(true)));
    assert_eq!(verdict("against its first sixteenth"), (Some(2.0), Some(false)));
    assert_eq!(verdict("bulk: own memory"), (Some(50.0), Some(true)));
    assert_eq!(verdict("each open connection"), (Some(500.0), Some(true)));
    assert_eq!(verdict("10 k and 1 M"), (Some(1.9), Some(true)));
    // A target without a run is neither met nor failed.
    assert_eq!(verdict("full"), (None, None));
    assert_eq!(verdict("zstd"), (None, None));
    let at_most = Target { what: "", bound: Bound::AtMost(2.0), unit: "", measured: Some(2.1) };
    assert_eq!(at_most.is_met(), Some(false));
}

#[test]
fn own_memory_is_without_files() {
    let status = "VmHWM:\t  900000 kB\nVmRSS:\t  800000 kB\nRssAnon:\t    1000 kB\nRssFile:\t  798976 kB\nRssShmem:\t      24 kB\n";
    assert_eq!(memory(status), Some(Memory { own: 1_024 * 1_024, peak: 900_000 * 1_024 }));
    assert_eq!(memory("VmRSS:\t 1 kB\n"), None);
}

#[test]
fn a_missing_or_failing_program_is_reported() {
    assert!(!Program::new("gone", ["no-such-program-anywhere"]).is_there());
    assert!(!Program::new("gone", ["/no/such/program"]).is_there());
    assert!(Program::new("sh", ["sh"]).is_there());
    let error = measure(&Program::new("false", ["false"]), u64::MAX).err().unwrap().to_string();
    assert!(error.starts_with("false fails: "), "{error}");
}

#[test]
fn a_run_is_measured() {
    let busy = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
    let busy = Program::new("busy", ["sh", "-c", busy]);
    let Run::Done(sample) = measure(&busy, u64::MAX).unwrap() else { panic!("it was stopped") };
    assert!(sample.wall > 0.0 && sample.cpu > 0.0 && sample.cpu < sample.wall * 2.0, "{sample:?}");
    if cfg!(target_os = "linux") {
        assert!(sample.memory.unwrap().own > 10_000, "{sample:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, vec![0; 1 << 20]).unwrap();
    let piped =
        Program { through_pipe: Some(file), ..Program::new("count", ["sh", "-c", "test $(wc -c) -eq 1048576"]) };
    assert!(matches!(measure(&piped, u64::MAX).unwrap(), Run::Done(_)));
    // A run that exceeds all bounds is stopped.
    assert!(matches!(
        measure(&Program::new("endless", ["sh", "-c", "while :; do :; done"]), 1).unwrap(),
        Run::Stopped(1)
    ));
}

#[test]
fn a_whole_run_on_tiny_inputs() {
    let folder = tempfile::tempdir().unwrap();
    // A program of any system replaces whyslow, because this tests only the run.
    let whyslow = ["/bin/true", "/usr/bin/true"].map(PathBuf::from).into_iter().find(|path| path.is_file()).unwrap();
    let only = vec!["bulk-sixteenth".to_owned(), "flood".to_owned()];
    let settings = Settings { whyslow, folder: folder.path().to_owned(), smaller: 2_000, rounds: 2, only };
    let mut steps = Vec::new();
    // The yardstick is this crate's program, and this is its test: it is called with arguments that
    // it does not know.
    let report = run_without(WALK, &settings, &mut |step| steps.push(step.to_owned()));
    assert!(report.contains("2000 times fewer packets"), "{report}");
    assert!(report.contains("| bulk-sixteenth | 366 | cat | "), "{report}");
    assert!(report.contains("| flood | 2,500 | cat | "), "{report}");
    assert!(report.contains("| --top 10 against --json | ≤ 1.2 × | – | not measured |"), "{report}");
    assert_eq!(steps.iter().filter(|step| step.starts_with("making")).count(), 2);
    // An existing input is used again, and made again if the recipe is another one.
    steps.clear();
    run_without(WALK, &settings, &mut |step| steps.push(step.to_owned()));
    assert_eq!(steps.iter().filter(|step| step.starts_with("making")).count(), 0);
    run_without(WALK, &Settings { smaller: 1_000, ..settings }, &mut |step| steps.push(step.to_owned()));
    assert_eq!(steps.iter().filter(|step| step.starts_with("making")).count(), 2);
}

fn run_without(program: &'static str, settings: &Settings, notify: &mut dyn FnMut(&str)) -> String {
    let mut kept = Vec::new();
    let mut keep = |report: &str| {
        kept.push(report.to_owned());
        Ok(())
    };
    let report = Benchmark::new(settings, &|one| one.name != program, notify).unwrap().run(&mut keep).unwrap();
    assert_eq!(kept.len(), settings.only.len());
    assert!(!kept[0].contains("| flood | ") && kept.last() == Some(&report));
    report
}
