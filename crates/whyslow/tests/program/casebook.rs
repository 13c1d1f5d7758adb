//! The casebook: a case for every cause, in which every page is what the program prints, every
//! scenario the recipe of its sample, and every derived capture what its commands make.
//! `CASEBOOK=update cargo test -p whyslow --test program casebook` rewrites pages (those of the
//! README and docs/ too), scenarios and the index' table of causes in place.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use whyslow_diagnosis::cause_pages;

/// Causes that come with another one, which takes more time.
const BESIDE: &[(&str, &str)] = &[
    ("bufferbloat", "bandwidth"),
    ("delayed-ack", "client-think"),
    ("duplication", "slow-start"),
    ("host-cpu", "slow-start"),
    ("lost-retransmission", "loss"),
    ("reordering", "slow-start"),
    ("small-segments", "receive-window"),
    ("tls-record-buffering", "slow-start"),
];

/// Causes whose case is not made again by `whyslow prove`: it is about several connections, about
/// what a capture lacks, or about what the lab cannot bring about from the capture alone.
const NOT_PROVED: &[&str] = &[
    "amplification-risk",
    "bad-checksums",
    "capture-loss",
    "clock-step",
    "coarse-times",
    "delayed-ack",
    "duplication",
    "elided-text",
    "host-cpu",
    "new-connection-each-time",
    "no-answer",
    "no-handshake",
    "offload",
    "one-direction",
    "path-latency",
    "reset",
    "short-snaplen",
    "slow-lookup",
    "spurious-retransmission",
    "terse-text",
    "timeout",
];

/// The beginning of the table of causes in the index.
const BY_CAUSE: &str = "\n## By cause\n\n| cause | in a sentence | the case |\n|---|---|---|\n";

pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The cases by the cause that each is about, with their text.
fn cases() -> BTreeMap<String, String> {
    let entries = fs::read_dir(root().join("casebook")).unwrap().map(|entry| entry.unwrap().path());
    entries
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), fs::read_to_string(&path).unwrap()))
        .filter(|(cause, _)| cause != "README")
        .collect()
}

fn causes() -> BTreeSet<String> {
    whyslow_analysis::cause::Cause::ALL.iter().map(|cause| cause.slug().to_owned()).collect()
}

/// The output of `whyslow ARGUMENTS` in the repository's folder.
#[track_caller]
fn whyslow(arguments: &str, more: &[&str]) -> String {
    whyslow_in(&root(), arguments, more)
}

#[track_caller]
fn whyslow_in(folder: &Path, arguments: &str, more: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whyslow"));
    let out = command.env_remove("COLUMNS").args(arguments.split(' ')).args(more).current_dir(folder).output().unwrap();
    assert!(out.status.success(), "whyslow {arguments}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

/// The commands `$ whyslow …` that a case shows.
fn shown(case: &str) -> Vec<&str> {
    case.lines().filter_map(|line| line.strip_prefix("    $ whyslow ")).collect()
}

/// The text with every page in it printed again: the indented lines below a line `$ whyslow …`.
fn with_pages(case: &str) -> String {
    let mut text = String::new();
    let mut lines = case.lines().peekable();
    while let Some(line) = lines.next() {
        text += line;
        text += "\n";
        let Some(arguments) = line.strip_prefix("    $ whyslow ") else { continue };
        let mut blank = 0;
        while let Some(next) = lines.peek().filter(|next| next.is_empty() || next.starts_with("    ")) {
            // Blank lines behind a page are the case's own.
            blank = if next.is_empty() { blank + 1 } else { 0 };
            lines.next();
        }
        // `| head -n 12` shows the beginning alone.
        let (arguments, most) = arguments.split_once(" | head -n ").unwrap_or((arguments, "1000"));
        for printed in whyslow(arguments, &[]).trim_end().lines().take(most.parse().unwrap()) {
            text += format!("    {printed}").trim_end();
            text += "\n";
        }
        text += &"\n".repeat(blank);
    }
    text
}

/// The recipe of a sample `NAME-END.pcap` that a case shows, if it is one.
fn recipe(case: &str) -> Option<PathBuf> {
    let samples = shown(case).into_iter().flat_map(|arguments| arguments.split(' '));
    let mut names = samples.filter_map(|path| path.strip_prefix("samples/")?.strip_suffix(".pcap")?.rsplit_once('-'));
    names.next().map(|(name, _)| root().join(format!("samples/recipes/{name}.toml"))).filter(|path| path.is_file())
}

/// The text with the recipe in place of its scenario, and whether there was one.
fn with_scenario(case: &str) -> (String, bool) {
    let Some((before, rest)) = case.split_once("```toml\n") else { return (case.to_owned(), false) };
    let (_, after) = rest.split_once("```\n").unwrap();
    let recipe =
        fs::read_to_string(recipe(case).expect("a case with a scenario shows a sample that has a recipe")).unwrap();
    (format!("{before}```toml\n{recipe}```\n{after}"), true)
}

/// The text with a line at the end of the section on fixes that gives the command to reproduce its
/// transfer, if that is possible.
fn with_proof(cause: &str, case: &str) -> String {
    const LINE: &str = "Prove it: ";
    const NEXT: &str = "## What it is confused with";
    let (before, after) = case.split_once(NEXT).unwrap();
    let old = before.split("\n\n").filter(|paragraph| !paragraph.starts_with(LINE));
    let mut text = old.collect::<Vec<_>>().join("\n\n").trim_end().to_owned();
    if !NOT_PROVED.contains(&cause) {
        let file = shown(case)[0];
        text += &format!(
            "\n\n{LINE}`whyslow prove {file}` makes this transfer again on your machine's own TCP, without and with its fix."
        );
    }
    format!("{text}\n\n{NEXT}{after}")
}

#[test]
fn every_cause_has_a_case() {
    assert_eq!(cases().into_keys().collect::<BTreeSet<_>>(), causes());
}

#[test]
fn every_case_has_its_parts() {
    let parts = [
        "## What was seen",
        "## How it was recorded",
        "## The picture",
        "## What whyslow prints",
        "## What to do",
        "## What it is confused with",
    ];
    for (cause, case) in cases() {
        assert!(case.starts_with("# "), "{cause} has no title");
        let headings: Vec<&str> = case.lines().filter(|line| line.starts_with("## ")).collect();
        assert_eq!(headings, parts, "{cause}");
        assert!(!shown(&case).is_empty(), "{cause} shows no page");
    }
}

#[test]
fn every_page_and_scenario_is_the_real_one() {
    let update = std::env::var_os("CASEBOOK").is_some_and(|wish| wish == "update");
    let mut wrong = Vec::new();
    for (cause, case) in cases() {
        let (text, scenario) = with_scenario(&with_proof(&cause, &with_pages(&case)));
        let by_commands = ["samples/derived/", "samples/programs/"];
        let derived = shown(&case).iter().any(|arguments| by_commands.iter().any(|folder| arguments.contains(folder)));
        assert!(scenario != derived, "{cause}: an experiment's sample has a scenario, another one commands");
        if update {
            fs::write(root().join(format!("casebook/{cause}.md")), text).unwrap();
        } else if text != case {
            wrong.push(format!("casebook/{cause}.md\n{}", first_difference(&case, &text)));
        }
    }
    for name in ["README.md", "docs/both-ends.md", "docs/tutorial.md"] {
        let written = fs::read_to_string(root().join(name)).unwrap();
        assert!(!shown(&written).is_empty(), "{name} shows no page");
        let text = with_pages(&written);
        if update {
            fs::write(root().join(name), text).unwrap();
        } else if text != written {
            wrong.push(format!("{name}\n{}", first_difference(&written, &text)));
        }
    }
    assert!(wrong.is_empty(), "not what is printed; CASEBOOK=update rewrites it:\n{}", wrong.join("\n"));
}

/// The table by which the index ends: each cause, the first sentence of its documentation, the
/// title of its case.
#[test]
fn the_index_lists_every_cause() {
    let path = root().join("casebook/README.md");
    let index = fs::read_to_string(&path).unwrap();
    let cases = cases();
    let mut real = format!("{}{BY_CAUSE}", index.split_once(BY_CAUSE).unwrap().0);
    for cause in whyslow_analysis::cause::Cause::ALL {
        let (slug, documentation) = (cause.slug(), cause_pages::of(*cause));
        let [sentence, title] = [&documentation, &cases[slug]].map(|text| text.lines().next().unwrap());
        let title = title.trim_start_matches("# ");
        real += &format!("| [{slug}]({slug}.md) | {sentence} | {title} |\n");
    }
    if std::env::var_os("CASEBOOK").is_some_and(|wish| wish == "update") {
        fs::write(path, real).unwrap();
    } else {
        assert!(index == real, "CASEBOOK=update rewrites casebook/README.md:\n{}", first_difference(&index, &real));
    }
}

fn first_difference(written: &str, real: &str) -> String {
    let differs = written.lines().zip(real.lines()).find(|(a, b)| a != b);
    differs.map_or("one is longer".to_owned(), |(a, b)| format!("written: {a}\nreal:    {b}"))
}

/// Seconds lost by cause, over the whole page; 0 for what a capture cannot show.
fn costs(analysis: &Value) -> BTreeMap<String, f64> {
    let mut costs = BTreeMap::new();
    let list = |holder: &Value, field: &str| holder[field].as_array().cloned().unwrap_or_default();
    let connections = list(analysis, "connections");
    let transfers = connections.iter().flat_map(|connection| list(connection, "transfers"));
    let holders = std::iter::once(analysis.clone()).chain(connections.iter().cloned()).chain(transfers);
    for finding in holders.flat_map(|holder| list(&holder, "findings")) {
        let cause = finding["cause"].as_str().unwrap().to_owned();
        *costs.entry(cause).or_default() += finding["cost_s"].as_f64().unwrap();
    }
    for problem in list(analysis, "captures").iter().chain(&connections).flat_map(|holder| list(holder, "problems")) {
        costs.entry(problem["slug"].as_str().unwrap().to_owned()).or_default();
    }
    costs
}

/// Above all others on the page is the cause that the case is about, and it is printed. A risk, and
/// what a capture cannot show, have no cost.
#[test]
fn each_case_is_about_the_cause_that_its_page_names() {
    for (cause, case) in cases() {
        let arguments = shown(&case)[0];
        let costs = costs(&serde_json::from_str(&whyslow(arguments, &["--json"])).unwrap());
        let own = *costs.get(&cause).unwrap_or_else(|| panic!("{cause} is not found: {costs:?}"));
        let beside = |other: &str| BESIDE.contains(&(cause.as_str(), other));
        if own > 0.0 {
            for (other, &cost) in costs.iter().filter(|(other, _)| !beside(other)) {
                // Two that share one stretch of time may differ by a rounding.
                assert!(own >= 0.99 * cost, "{cause} takes {own} s, {other} {cost} s");
            }
        }
        let page = whyslow(arguments, &[]);
        let names = |line: &str| {
            let line = line.trim_start().trim_start_matches("! ").trim_start_matches("notes  ");
            line.starts_with(&format!("{cause}: ")) || line.starts_with(&format!("{cause} "))
        };
        assert!(page.lines().any(names), "{cause} is not on its page");
    }
}

/// Each case with a proof can be built: its scenario is one of the lab's, and has the cause.
#[cfg(target_os = "linux")]
#[test]
fn every_case_that_is_proved_becomes_a_scenario() {
    let causes = causes();
    for cause in NOT_PROVED {
        assert!(causes.contains(*cause), "{cause} is no cause");
    }
    for (cause, case) in cases().into_iter().filter(|(cause, _)| !NOT_PROVED.contains(&cause.as_str())) {
        let file = shown(&case)[0];
        let built = whyslow(&format!("prove --scenario {file}"), &[]);
        let loaded = whyslow_lab::scenario::load(&cause, &built, &[]).unwrap_or_else(|e| panic!("{cause}: {e}"));
        let meant = &loaded.runs[0].scenario.cause;
        let beside = BESIDE.iter().any(|(own, other)| *own == cause && other == meant);
        assert!(*meant == cause || beside, "{cause}: {meant}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn every_scenario_loads_and_is_meant_for_its_cause() {
    for (cause, case) in cases() {
        let Some((_, rest)) = case.split_once("```toml\n") else { continue };
        let (scenario, _) = rest.split_once("```\n").unwrap();
        let loaded = whyslow_lab::scenario::load(&cause, scenario, &[]).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(loaded.runs.len(), 1, "{cause}");
        assert_eq!(loaded.runs[0].scenario.cause, cause);
    }
}

/// The commands of a case whose capture was derived from a sample make that capture: byte for byte,
/// or, where another version of a tool writes it in another way, one with the same explanation to
/// the last figure.
#[test]
fn what_was_derived_is_what_its_commands_make() {
    if !whyslow_testing::tools(&["editcap", "mergecap", "tshark", "tcpdump"]) {
        return;
    }
    let samples = root().join("samples");
    let mut made = BTreeSet::new();
    for (cause, case) in cases() {
        let Some((_, rest)) = case.split_once("```sh\n") else { continue };
        let (commands, _) = rest.split_once("```\n").unwrap();
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("samples/derived")).unwrap();
        for entry in fs::read_dir(&samples).unwrap().map(|entry| entry.unwrap()) {
            if entry.path().extension().is_some_and(|extension| extension == "pcap") {
                fs::copy(entry.path(), folder.path().join("samples").join(entry.file_name())).unwrap();
            }
        }
        // tcpdump's text has the time of day.
        let run =
            Command::new("sh").args(["-ec", commands]).env("TZ", "UTC").current_dir(folder.path()).output().unwrap();
        assert!(run.status.success(), "{cause}: {}", String::from_utf8_lossy(&run.stderr));
        for entry in fs::read_dir(folder.path().join("samples/derived")).unwrap().map(|entry| entry.unwrap()) {
            let name = entry.file_name().into_string().unwrap();
            let kept = fs::read(samples.join("derived").join(&name)).unwrap();
            let path = format!("samples/derived/{name}");
            let same = fs::read(entry.path()).unwrap() == kept
                || whyslow_in(folder.path(), &path, &["--json"]) == whyslow(&path, &["--json"]);
            assert!(same, "{cause}: the commands make another {name}");
            assert!(kept.len() <= 100_000, "{name} is too large");
            made.insert(name);
        }
    }
    let there = fs::read_dir(samples.join("derived")).unwrap();
    let there: BTreeSet<String> = there.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(there, made, "captures that no case derives");
}

/// The targets of the links in a Markdown text.
fn links(text: &str) -> Vec<&str> {
    text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target).collect()
}

/// The project's own Markdown.
fn texts() -> Vec<PathBuf> {
    let crates = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let folders = [
        "",
        "casebook",
        "docs",
        "docs/gateway",
        "docs/how-to",
        "docs/explanation",
        "docs/reference",
        "samples",
        ".github",
    ]
    .map(|folder| root().join(folder));
    let files = folders.into_iter().chain(crates).flat_map(|folder| fs::read_dir(folder).unwrap());
    let paths = files.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

#[test]
fn every_link_resolves() {
    let index = fs::read_to_string(root().join("casebook/README.md")).unwrap();
    let symptoms = index.split_once(BY_CAUSE).unwrap().0;
    let linked: BTreeSet<&str> = links(symptoms).into_iter().filter_map(|target| target.strip_suffix(".md")).collect();
    for cause in causes() {
        assert!(linked.contains(cause.as_str()), "no symptom in casebook/README.md leads to {cause}");
    }
    let texts = texts();
    assert!(texts.len() > causes().len());
    for path in texts {
        let text = fs::read_to_string(&path).unwrap();
        for target in links(&text).into_iter().filter(|target| !target.starts_with("http")) {
            let there = target.split('#').next().unwrap_or_default();
            assert!(path.parent().unwrap().join(there).exists(), "{}: {target} leads nowhere", path.display());
        }
    }
}

/// A page that is not the program's, or a scenario that is not the recipe's, is noticed.
#[test]
fn what_is_not_real_is_replaced() {
    let false_page = "x\n\n    $ whyslow samples/slow-start-client.pcap\n    all is well\n\n    and more\n\nafter\n";
    let real = with_pages(false_page);
    assert!(
        real.contains("congestion window was still growing (slow start): 502")
            && !real.contains("all is well")
            && !real.contains("and more")
    );
    assert!(real.starts_with("x\n\n    $ whyslow ") && real.ends_with("\n\nafter\n"));
    assert_eq!(with_pages(&real), real);
    let (scenario, _) = with_scenario(&format!("{real}```toml\nrtt = 1\n```\nend\n"));
    assert!(
        scenario.contains("size = \"512KiB\"") && scenario.ends_with("```\nend\n") && !scenario.contains("rtt = 1\n")
    );
}
