//! A table of states of machines: each is made in network namespaces, or at the ends of a path of
//! the lab, and `whyslow host` looks at it. A made state must be found, with its process and its
//! fix, and nothing else; a healthy one must have no finding.
//!
//! `states.toml` has the states. Those that take long run with WHYSLOW_SOAK=1 alone.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, missing_docs)]

use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use whyslow_testing::{Lack, skip, tools};

/// States that are made at the same time: most of them wait.
const AT_ONCE: usize = 8;
/// Findings of the whole machine: another program's load does not matter to a state.
const OF_THE_MACHINE: [&str; 3] = ["host-cpu", "softnet-drops", "cpu-throttled"];
/// Runs a script in namespaces of its own, whose programs end with it.
const UNSHARE: [&str; 8] =
    ["--user", "--map-root-user", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "sh"];
/// Links two namespaces.
const HERE: &str = "ip link set lo up
unshare --net sh there.sh & there=$!
for i in $(seq 100); do [ -e up ] && break; sleep 0.05; done
ip link add wire type veth peer name wire netns $there || exit 77
ip address add 10.3.0.1/24 dev wire; ip link set wire up; : >linked\n";
const THERE: &str = "ip link set lo up; : >up
for i in $(seq 100); do [ -e linked ] && break; sleep 0.05; done
ip address add 10.3.0.2/24 dev wire; ip link set wire up\n";

#[derive(Deserialize)]
struct States {
    state: Vec<State>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    name: String,
    #[serde(default)]
    soak: bool,
    alone: Option<String>,
    pair: Option<[String; 2]>,
    /// Options of the path, then the scripts of client and server.
    path: Option<Vec<String>>,
    here: Option<Expected>,
    there: Option<Expected>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    causes: Vec<String>,
    #[serde(default)]
    process: String,
    #[serde(default)]
    fix: String,
    /// Causes that appear at full speed if the processors are busy: a device drops or reorders.
    #[serde(default)]
    by_load: Vec<String>,
}

/// A row of the table.
struct Row {
    name: String,
    found: Vec<String>,
    /// Why it is wrong.
    wrong: Option<String>,
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/host_states")
}

fn states() -> Vec<State> {
    let text = std::fs::read_to_string(sources().join("states.toml")).unwrap();
    toml::from_str::<States>(&text).unwrap().state
}

impl State {
    fn is_healthy(&self) -> bool {
        self.sides().iter().all(|(_, expected)| expected.causes.is_empty())
    }

    fn sides(&self) -> Vec<(&'static str, &Expected)> {
        let sides = [("here", &self.here), ("there", &self.there)];
        sides.into_iter().filter_map(|(side, expected)| Some((side, expected.as_ref()?))).collect()
    }

    /// Makes it in a folder, with its snapshots.
    fn make(&self, folder: &Path) -> Output {
        let prelude = std::fs::read_to_string(sources().join("prelude.sh")).unwrap();
        let begin = format!(
            "cd {}\nW={}; R='python3 {}'\n{prelude}",
            folder.display(),
            env!("CARGO_BIN_EXE_whyslow"),
            sources().join("role.py").display()
        );
        let write = |name: &str, parts: &[&str]| {
            std::fs::write(folder.join(name), [&[begin.as_str()], parts].concat().join("\n")).unwrap();
        };
        let wait = |file: &str| format!("for i in $(seq 600); do [ -e {file} ] && break; sleep 0.1; done\n");
        match (&self.alone, &self.pair, &self.path) {
            (Some(script), None, None) => {
                write("main.sh", &["ip link set lo up", script]);
                unshared(folder)
            }
            (None, Some([here, there]), None) => {
                let looks_there = self.there.is_some();
                write("main.sh", &[HERE, &format!("({here}\n)"), &wait("end")]);
                let end = ": >end; sleep 60";
                match looks_there {
                    true => write("there.sh", &[THERE, &format!("({there}\n)"), end]),
                    false => write("there.sh", &[THERE, ": >end", there]),
                }
                unshared(folder)
            }
            (None, None, Some(path)) => {
                let [options @ .., client, server] = path.as_slice() else { panic!("{}: two scripts", self.name) };
                write("client.sh", &[&format!("({client}\n)\n: >client-done"), &wait("server-done")]);
                // The lab ends what runs when its first process does.
                let server = format!("(({server}\n)\n: >server-done) &");
                write("server.sh", &[&server, &wait("client-done"), &wait("server-done"), "sleep 0.3"]);
                let run = |name: &str| format!("exec sh {}/{name}", folder.display());
                let mut command = Command::new(env!("CARGO_BIN_EXE_whyslow"));
                command.args(["lab", "exec"]).args(options).args(["--server", &run("server.sh")]);
                command.args(["--client", &run("client.sh"), "--output"]).arg(folder.join("lab"));
                command.stdin(Stdio::null()).output().unwrap()
            }
            _ => panic!("{}: alone, a pair, or a path", self.name),
        }
    }

    /// Judges what was found.
    fn row(&self) -> Row {
        let folder = tempfile::tempdir().unwrap();
        let output = self.make(folder.path());
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        let mut row = Row { name: self.name.clone(), found: Vec::new(), wrong: None };
        if output.status.code() == Some(77) || message.contains("namespaces are not allowed") {
            skip(Lack::Machine, format!("{}: {message}", self.name));
            row.found.push("not made here".to_owned());
            return row;
        }
        for (side, expected) in self.sides() {
            let (found, wrong) = match std::fs::read_to_string(folder.path().join(side)) {
                Ok(text) => expected.compare(&serde_json::from_str(&text).unwrap()),
                Err(error) => (Vec::new(), Some(format!("no look: {error}: {message}"))),
            };
            row.found.extend(found);
            row.wrong = row.wrong.or(wrong.map(|wrong| format!("{side}: {wrong}")));
        }
        row
    }
}

/// Runs `main.sh`.
fn unshared(folder: &Path) -> Output {
    let mut command = Command::new("unshare");
    // A control group, and drops of an own device, take root: there it needs no user namespace.
    let is_root = rustix::process::geteuid().is_root();
    command.args(&UNSHARE[if is_root { 2 } else { 0 }..]).arg("main.sh");
    command.current_dir(folder).stdin(Stdio::null()).output().unwrap()
}

impl Expected {
    /// The causes that were found, and what is wrong with them.
    fn compare(&self, look: &Value) -> (Vec<String>, Option<String>) {
        let (mut causes, mut words) = (Vec::new(), String::new());
        for (finding, sentences) in
            look["findings"].as_array().unwrap().iter().zip(look["words"]["en"].as_array().unwrap())
        {
            let cause = finding["cause"].as_str().unwrap().to_owned();
            let of_load = OF_THE_MACHINE.contains(&cause.as_str()) || self.by_load.contains(&cause);
            if of_load && !self.causes.contains(&cause) {
                continue;
            }
            causes.push(cause);
            // Sentences as they are printed; of the rest commands and sockets.
            let _ = writeln!(words, "{} {}", sentences["summary"], sentences["fixes"]);
            for part in [&finding["remedies"], &finding["evidence"]] {
                let texts = part.as_array().unwrap().iter().flat_map(|part| [&part["command"], &part["text"]]);
                texts.filter_map(Value::as_str).for_each(|text| words += text);
            }
        }
        causes.sort();
        let mut expected = self.causes.clone();
        expected.sort();
        let wrong = match () {
            () if causes != expected => Some("other findings"),
            () if !words.contains(&self.process) => Some("not the process"),
            () if !words.contains(&self.fix) => Some("not the fix"),
            () => None,
        };
        let wrong = wrong.map(|wrong| format!("{wrong}: {causes:?}, not {expected:?}: {words}"));
        (causes, wrong)
    }
}

/// Makes all of them, several at a time.
fn rows(states: &[&State]) -> Vec<Row> {
    let (next, rows) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some((place, state)) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|place| Some((place, states.get(place)?)))
                {
                    // A processor may be taken away for longer than a state lasts.
                    let row = Some(state.row()).filter(|row| row.wrong.is_none()).unwrap_or_else(|| state.row());
                    rows.lock().unwrap().insert(place, row);
                }
            });
        }
    });
    rows.into_inner().unwrap().into_values().collect()
}

#[test]
fn made_states_are_found_and_healthy_ones_are_not() {
    if !tools(&["unshare", "ip", "python3", "curl", "tc", "ethtool", "sysctl"]) {
        return;
    }
    let possible = Command::new("unshare").args(UNSHARE).args(["-c", "ip link set lo up"]).output().unwrap();
    if !possible.status.success() {
        return skip(Lack::Machine, String::from_utf8_lossy(&possible.stderr));
    }
    let (all, is_soak) = (states(), std::env::var_os("WHYSLOW_SOAK").is_some_and(|value| value == "1"));
    let mut chosen: Vec<&State> = all.iter().filter(|state| is_soak || !state.soak).collect();
    // States that take longest begin first.
    chosen.sort_by_key(|state| state.path.is_none());
    let rows = rows(&chosen);
    let mut table = String::new();
    for row in &rows {
        let found = if row.found.is_empty() { "nothing".to_owned() } else { row.found.join(", ") };
        let _ = writeln!(table, "{:<60} {}", row.name, row.wrong.as_ref().unwrap_or(&found));
    }
    let wrong = rows.iter().filter(|row| row.wrong.is_some()).count();
    assert_eq!(wrong, 0, "\n{table}");
}

/// `TABLES=update` writes the page.
#[test]
fn the_documentation_lists_every_state() {
    let states = states();
    let healthy = states.iter().filter(|state| state.is_healthy()).count();
    assert!(healthy >= 10 && states.len() - healthy >= 30, "{healthy} of {}", states.len());
    let mut text = "# States of a machine that a test makes\n\nFor those who check what [`whyslow host`](../host.md) recognises: each \
                    state is made on the kernel's own TCP, and must have these findings and no others. Generated.\n\n\
                    | state | found |\n|---|---|\n"
        .to_owned();
    for state in &states {
        let mut causes: Vec<&str> =
            state.sides().iter().flat_map(|(_, expected)| &expected.causes).map(String::as_str).collect();
        causes.sort_unstable();
        causes.dedup();
        let causes: Vec<String> = causes.iter().map(|cause| format!("`{cause}`")).collect();
        let found = if causes.is_empty() { "nothing".to_owned() } else { causes.join(", ") };
        let _ = writeln!(text, "| {} | {found} |", state.name);
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/host-states.md");
    if std::env::var_os("TABLES").is_some_and(|wish| wish == "update") {
        std::fs::write(page, text).unwrap();
    } else {
        let written = std::fs::read_to_string(&page).unwrap_or_default();
        assert!(written == text, "TABLES=update cargo test -p whyslow --test host_states writes {}", page.display());
    }
}
