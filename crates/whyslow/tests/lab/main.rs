//! The lab from its users' point of view: paths, programs and captures on this machine's own
//! kernel, and the program's own explanation of its captures. Runs as the current user and, if that
//! is root, as an ordinary user too. If the kernel forbids namespaces, or the machine is too busy
//! for reliable results, a test reports it and ends.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, missing_docs)]

mod gallery;
mod middle;
mod prove;

use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use whyslow_testing::{Lack, skip, soaks};

/// The user `nobody`.
const NOBODY: u32 = 65_534;

/// One at a time: a path shares its processors with nothing else of ours.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A user of the lab, in a folder of their own with a copy of the program.
struct User {
    name: &'static str,
    id: Option<u32>,
    folder: TempDir,
}

impl User {
    /// The current user, and an ordinary user if that is root; those that may have namespaces.
    fn all() -> Vec<Self> {
        let is_root = Command::new("id").arg("-u").output().unwrap().stdout == b"0\n";
        let users = if is_root {
            vec![("root", None), ("an ordinary user", Some(NOBODY))]
        } else {
            vec![("an ordinary user", None)]
        };
        users.into_iter().map(|(name, id)| Self::new(name, id)).filter(Self::may).collect()
    }

    fn new(name: &'static str, id: Option<u32>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o777)).unwrap();
        std::fs::copy(env!("CARGO_BIN_EXE_whyslow"), folder.path().join("whyslow")).unwrap();
        Self { name, id, folder }
    }

    fn may(&self) -> bool {
        let output = self.lab(&["exec", "--out", "try", "--server", "true", "--client", "true"]);
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        if complaint.contains("namespaces are not allowed") || complaint.contains("is not installed") {
            skip(Lack::Machine, format!("as {}: {complaint}", self.name));
            return false;
        }
        true
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.path("whyslow"));
        command.args(arguments).current_dir(self.folder.path()).env_remove("NO_COLOR").stdin(Stdio::null());
        if let Some(id) = self.id {
            command.uid(id).gid(id);
        }
        command
    }

    fn lab(&self, arguments: &[&str]) -> Output {
        let arguments: Vec<&str> = std::iter::once("lab").chain(arguments.iter().copied()).collect();
        self.command(&arguments).output().unwrap()
    }

    /// The explanation of a capture.
    fn explain(&self, capture: &Path) -> Value {
        let output = self.command(&["--json", capture.to_str().unwrap()]).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", text(&output.stderr)))
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The cause that cost most in any transfer.
fn top_cause(analysis: &Value) -> String {
    let connections = analysis["connections"].as_array().unwrap();
    let transfers = connections.iter().flat_map(|connection| connection["transfers"].as_array().unwrap());
    let findings = transfers.flat_map(|transfer| transfer["findings"].as_array().unwrap());
    let seconds = |finding: &&Value| finding["cost_s"].as_f64().unwrap();
    let top = findings.max_by(|a, b| seconds(a).total_cmp(&seconds(b)));
    top.map_or_else(|| "none".to_owned(), |finding| finding["cause"].as_str().unwrap().to_owned())
}

const EXPERIMENT: &str = r#"
    name = "two-troubles"
    path.rtt = "40ms"
    [work.download]
    size = "150KiB"
    [[case]]
    name = "small-window"
    set = { client.rcvbuf = "16KiB", cause = "receive-window", verify = ["server.rwnd_limited >= 60%"] }
    [[case]]
    name = "slow-server"
    set = { work.download.think = "400ms", cause = "server-think", verify = ["first_byte >= 400ms"] }
"#;

#[test]
fn what_the_lab_caused_is_what_the_explanation_finds_at_both_ends() {
    let _alone = alone();
    for user in User::all() {
        std::fs::write(user.path("two.toml"), EXPERIMENT).unwrap();
        let output = user.lab(&["run", "two.toml", "--attempts", "20"]);
        let (table, complaint) = (text(&output.stdout), text(&output.stderr));
        if complaint.contains("no result") && complaint.contains(" late ") {
            skip(Lack::Quiet, format!("as {}: this machine is too busy: {complaint}", user.name));
            continue;
        }
        assert!(output.status.success(), "{table}\n{complaint}");
        assert!(table.contains("small-window") && !table.contains("not confirmed"), "{table}");
        for (case, cause) in [("small-window", "receive-window"), ("slow-server", "server-think")] {
            for end in ["client", "server"] {
                let capture = user.path(&format!("lab-results/two-troubles/{case}-1/{end}.pcap"));
                let analysis = user.explain(&capture);
                assert_eq!(top_cause(&analysis), cause, "{case} at the {end}, as {}", user.name);
                assert_eq!(analysis["connections"][0]["near"], end);
            }
        }
        // Finished runs are kept, and can be shown again.
        let again = user.lab(&["run", "two.toml", "--json"]);
        assert!(text(&again.stderr).contains("small-window: kept"), "{}", text(&again.stderr));
        let shown = user.lab(&["show", "lab-results", "--json"]);
        let by_label = |output: &Output| {
            let mut results: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
            results.sort_by_key(|result| result["label"].to_string());
            results
        };
        assert!(by_label(&again) == by_label(&shown), "{}\n{}", text(&again.stdout), text(&shown.stdout));
    }
}

/// A run whose cause is known before it is explained, as `score` judges all of them.
#[test]
fn what_is_drawn_is_judged_at_both_ends() {
    let _alone = alone();
    let Some(user) = User::all().into_iter().next() else { return };
    let output = user.lab(&["score", "--each", "1", "--only", "slow-second-query", "--attempts", "20"]);
    let (page, complaint) = (text(&output.stdout), text(&output.stderr));
    if complaint.contains("no result") && complaint.contains(" late ") {
        skip(Lack::Quiet, format!("this machine is too busy: {complaint}"));
        return;
    }
    assert!(output.status.success(), "{complaint}");
    assert!(page.contains("1 runs, 0 without a result, 0 whose cause"), "{page}");
    assert_eq!(page.matches("| `slow-second-query` | 1/1 | – |  |").count(), 2, "{page}");
}

/// Real servers and clients, as `score --real` judges all of them. An ordinary user runs without
/// the scenarios that need root, and sees a message.
#[test]
fn real_programs_are_judged_at_both_ends() {
    let _alone = alone();
    if !whyslow_testing::tools(&["nginx", "curl", "redis-server", "redis-cli", "psql", "python3"]) {
        return;
    }
    for user in User::all() {
        // A server that is slow, and one that an ordinary user goes without, stand for the others.
        let scenarios = ["nginx-slow-backend", "pg-sleep", "redis-one-by-one", "wget-small-window"];
        let scenarios = &scenarios[..if soaks() { 4 } else { 2 }];
        let only = scenarios.iter().flat_map(|name| ["--only", name]);
        let all = ["score", "--real", "--json", "--each", "1", "--attempts", "20"];
        let command = all.into_iter().chain(only).collect::<Vec<_>>();
        // If the machine holds a packet back until a timer fires, its cause is not the only one.
        let is_confirmed = |output: &Output| {
            let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
            let runs = report["runs"].as_array();
            runs.is_none_or(|runs| runs.iter().all(|run| run["unconfirmed"] == Value::Array(vec![])))
        };
        let runs = || Some(user.lab(&command));
        let output =
            std::iter::from_fn(runs).enumerate().find(|(n, output)| *n == 2 || is_confirmed(output)).unwrap().1;
        let complaint = text(&output.stderr);
        if complaint.lines().any(|line| line.contains("no result") && line.contains(" late ")) {
            skip(Lack::Quiet, format!("as {}: this machine is too busy: {complaint}", user.name));
            continue;
        }
        assert!(output.status.success(), "as {}: {complaint}", user.name);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let runs = report["runs"].as_array().unwrap();
        let is_root = user.id.is_none() && user.name == "root";
        assert_eq!(runs.len(), scenarios.len() - usize::from(!is_root), "{complaint}");
        let skipped = report["skipped"]["the machine's root"].to_string();
        assert_eq!(skipped.contains("pg-sleep"), !is_root, "{skipped}");
        assert_eq!(complaint.contains("the machine's root is missing"), !is_root, "{complaint}");
        for run in runs {
            assert_eq!(
                (&run["problems"], &run["unconfirmed"]),
                (&Value::Array(vec![]), &Value::Array(vec![])),
                "{run}"
            );
            for (end, name) in run["ends"].as_array().unwrap().iter().zip(["client", "server"]) {
                assert_eq!((&end["end"], &end["wrong"]), (&Value::from(name), &Value::Null), "{run}");
                // The capture has the given path, and its explanation is the judged one.
                let analysis = user.explain(&user.path(end["capture"].as_str().unwrap()));
                assert_eq!(analysis["connections"][0]["near"], name, "{run}");
            }
        }
        // No folder of a program is left.
        let left = std::fs::read_dir(std::env::temp_dir()).unwrap().flatten();
        let left = left.filter(|entry| entry.file_name().to_string_lossy().starts_with("whyslow-real-"));
        let own = left.filter(|entry| {
            user.id.is_none_or(|id| std::os::unix::fs::MetadataExt::uid(&entry.metadata().unwrap()) == id)
        });
        assert_eq!(own.count(), 0);
    }
}

const LOSSY: &str = r#"
    name = "lossy"
    path.up = { delay = "20ms", loss = "3%" }
    path.down = { delay = "20ms", loss = "2%", duplicate = "1%" }
    work.download.size = "2MiB"
    [[case]]
    name = "plain"
    set = {}
    [[case]]
    name = "offload"
    set = { server.tso = true, client.gro = true }
    [[case]]
    name = "no-timestamps"
    set = { server.timestamps = false }
    [[case]]
    name = "queue"
    set = { path.down.rate = "20mbit", path.down.queue = "40KiB" }
"#;

/// Losses, delays and copies between both captures are those in the link's log.
#[test]
fn both_captures_together_show_the_links_actions() {
    let _alone = alone();
    let Some(user) = User::all().into_iter().next() else { return };
    std::fs::write(user.path("lossy.toml"), LOSSY).unwrap();
    // Losses that the lab did not cause, and those of a queue; the settings of the hosts matter
    // less.
    let cases = ["plain", "queue", "offload", "no-timestamps"];
    let cases = &cases[..if soaks() { 4 } else { 2 }];
    let only: Vec<&str> = cases.iter().flat_map(|case| ["--only", case]).collect();
    let output = user.lab(&[&["run", "lossy.toml", "--attempts", "20"], &only[..]].concat());
    let complaint = text(&output.stderr);
    if complaint.contains("no result") && complaint.contains(" late ") {
        skip(Lack::Quiet, format!("this machine is too busy: {complaint}"));
        return;
    }
    assert!(output.status.success(), "{complaint}");
    for case in cases {
        let folder = user.path(&format!("lab-results/lossy/{case}-1"));
        let truth: Value = serde_json::from_slice(&std::fs::read(folder.join("truth.json")).unwrap()).unwrap();
        let files = ["client.pcap", "server.pcap"].map(|file| folder.join(file).to_str().unwrap().to_owned());
        let output = user.command(&["--json", &files[0], &files[1]]).output().unwrap();
        let analysis: Value = serde_json::from_slice(&output.stdout).unwrap();
        let pairs = analysis["pairs"].as_array().unwrap();
        assert_eq!(pairs.len(), 1, "{case}");
        for direction in pairs[0]["directions"].as_array().unwrap() {
            let name = if direction["from"] == "client" { "up" } else { "down" };
            let links = truth["links"].as_array().unwrap();
            let records = links.iter().find(|link| link["direction"] == name).unwrap()["records"].as_array().unwrap();
            let lost: Vec<&Value> = records.iter().filter(|record| record["fate"] != "passed").collect();
            let bytes = |records: &[&Value]| records.iter().map(|r| r["payload_bytes"].as_u64().unwrap()).sum::<u64>();
            let count = |field: &str| direction[field].as_u64().unwrap();
            assert_eq!(count("lost") + count("unjudged"), lost.len() as u64, "{case} {name}: {direction}");
            assert!(count("unjudged") <= 1, "at most the last ACK: {case} {name}");
            assert_eq!(count("lost_bytes"), bytes(&lost), "{case} {name}");
            assert_eq!(count("sent") + count("unjudged"), records.len() as u64, "{case} {name}");
            let doubled = |record: &&Value| record["touched"].to_string().contains("duplicated");
            let came = |record: &&Value| record["fate"] == "passed";
            assert_eq!(
                count("duplicated"),
                records.iter().filter(came).filter(doubled).count() as u64,
                "{case} {name}"
            );
            let millis =
                |record: &Value| (record["out_ns"].as_f64().unwrap() - record["in_ns"].as_f64().unwrap()) / 1e6;
            let mut delays: Vec<f64> = records.iter().filter(came).map(millis).collect();
            delays.sort_by(f64::total_cmp);
            for (figure, share) in [("min", 0.0), ("p50", 0.5), ("p95", 0.95)] {
                let truth = delays[((delays.len() - 1) as f64 * share).round() as usize];
                let delay = direction["delay_ms"][figure].as_f64().unwrap();
                assert!((delay - truth).abs() < 1.0, "{case} {name} {figure}: {delay} ms, and the log has {truth}");
            }
        }
    }
}

#[test]
fn the_users_own_programs_are_run_and_explained() {
    const SERVE: &str = r#"exec python3 -c "import socket,time
s=socket.create_server(('',9000))
c,_=s.accept()
c.recv(100)
time.sleep(0.5)
c.sendall(b'x'*20000)
c.close()""#;
    const ASK: &str = r#"exec python3 -c "import socket,os
s=socket.create_connection((os.environ['SERVER'],9000))
s.sendall(b'please')
while s.recv(65536): pass""#;
    let _alone = alone();
    if !whyslow_testing::tools(&["python3"]) {
        return;
    }
    for user in User::all() {
        let exec = |client: &str| {
            user.lab(&["exec", "--rtt", "30ms", "--rate", "100mbit", "--json", "--server", SERVE, "--client", client])
        };
        let output = exec(ASK);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let analysis: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(top_cause(&analysis), "server-think", "as {}", user.name);
        assert!(user.path("lab-results/exec/truth.json").exists());
        let output = exec(&format!("{ASK}; exit 7").replace("exec ", ""));
        assert_eq!(output.status.code(), Some(2));
        assert!(
            text(&output.stderr).contains("the client's program failed: exit status: 7"),
            "{}",
            text(&output.stderr)
        );
        // The server's counts as much, whenever it ended.
        let server = format!("{SERVE}; exit 5").replace("exec ", "");
        for (server, client, connections) in [(server.as_str(), ASK, 1), ("exit 5", "true", 0)] {
            let output = user.lab(&["exec", "--json", "--server", server, "--client", client]);
            let complaint = text(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "as {}: {complaint}", user.name);
            assert!(complaint.contains("the server's program failed: exit status: 5"), "{complaint}");
            assert!(!complaint.contains("the client's program"), "{complaint}");
            let analysis: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(analysis["captures"].as_array().unwrap().len(), 2);
            assert!(analysis["connections"].as_array().unwrap().len() >= connections, "{analysis}");
        }
    }
}

/// A server that sends without end, and a client that reads it and prints a line when it has some.
const ENDLESS: [&str; 2] = [
    r#"exec python3 -c "import socket,time
s=socket.create_server(('',9000))
c,_=s.accept()
while True:
    c.sendall(b'x'*20000)
    time.sleep(0.01)""#,
    r#"exec python3 -c "import socket,os
s=socket.create_connection((os.environ['SERVER'],9000))
n=0
while n<500000: n+=len(s.recv(65536))
open('enough','w').close()
while s.recv(65536): pass""#,
];

#[test]
fn a_signal_ends_a_run_and_what_was_captured_by_then_is_explained() {
    let _alone = alone();
    if !whyslow_testing::tools(&["python3"]) {
        return;
    }
    for user in User::all() {
        for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
            let [server, client] = ENDLESS;
            let arguments = ["lab", "exec", "--rtt", "20ms", "--json", "--server", server, "--client", client];
            let mut command = user.command(&arguments);
            let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            wait_until(|| user.path("enough").exists());
            let sent = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
            assert!(sent.success());
            let output = child.wait_with_output().unwrap();
            let complaint = text(&output.stderr);
            assert_eq!(output.status.code(), Some(code), "{signal} as {}: {complaint}", user.name);
            assert!(complaint.contains("this is what was captured by then"), "{complaint}");
            assert!(!complaint.contains("program failed"), "{complaint}");
            let analysis: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(analysis["partial"], true);
            for capture in analysis["captures"].as_array().unwrap() {
                let problem = &capture["problems"][0];
                assert_eq!(problem["slug"], "partial");
                assert!(problem["detail"]["text"].as_str().unwrap().starts_with("the run was stopped"), "{problem}");
            }
            // The bytes that the client had read before its line had passed both captures.
            let folder = user.path("lab-results/exec");
            for end in ["client", "server"] {
                let analysis = user.explain(&folder.join(format!("{end}.pcap")));
                let down = &analysis["connections"][0]["directions"][1];
                assert!(down["bytes"].as_u64().unwrap() >= 500_000, "{end}: {down}");
            }
            let truth: Value = serde_json::from_slice(&std::fs::read(folder.join("truth.json")).unwrap()).unwrap();
            assert_eq!(truth["partial"], true);
            let mut left: Vec<_> =
                std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            left.sort();
            assert_eq!(left, ["client.pcap", "server.pcap", "truth.json"]);
            std::fs::remove_file(user.path("enough")).unwrap();
            wait_until(|| running(&user.path("whyslow")).is_empty());
        }
    }
}

#[test]
fn a_signal_before_the_handler_ends_the_run_too() {
    let _alone = alone();
    for user in User::all() {
        let arguments = ["lab", "exec", "--server", "touch begun; exec sleep 60", "--client", "touch asked"];
        let child = user.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        wait_until(|| user.path("begun").exists());
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
        assert!(text(&output.stderr).contains("\npartial: the run was stopped"), "{}", text(&output.stderr));
        assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
        assert!(!user.path("asked").exists(), "no client was started");
    }
}

#[test]
fn a_run_that_fails_leaves_the_captures_of_the_one_before() {
    let _alone = alone();
    for user in User::all() {
        let folder = user.path("kept");
        let run = |command: &mut Command| command.args(["--server", "true", "--client", "true"]).output().unwrap();
        let output = run(&mut user.command(&["lab", "exec", "--out", "kept"]));
        assert!(output.status.success(), "{}", text(&output.stderr));
        let names = || {
            let mut names: Vec<_> =
                std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            names
        };
        let before = names();
        assert_eq!(before, ["client.pcap", "server.pcap", "truth.json"]);
        std::fs::write(folder.join("client.pcap"), "old").unwrap();
        // A file may have nothing in it.
        let mut limited = Command::new("sh");
        let line = "trap '' XFSZ; ulimit -f 0; exec ./whyslow lab exec --out kept \"$@\"";
        limited.args(["-c", line, "sh"]).current_dir(user.folder.path()).stdin(Stdio::null());
        if let Some(id) = user.id {
            limited.uid(id).gid(id);
        }
        let output = run(&mut limited);
        let complaint = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{complaint}");
        assert!(complaint.contains("File too large"), "{complaint}");
        assert_eq!(std::fs::read_to_string(folder.join("client.pcap")).unwrap(), "old");
        assert_eq!(names(), before);
    }
}

#[test]
fn a_shell_stands_on_its_host_with_a_program_on_the_other() {
    let _alone = alone();
    for user in User::all() {
        let script = user.path("shell.sh");
        std::fs::write(&script, "#!/bin/sh\necho $CLIENT $SERVER\nip -brief address\nsleep 0.3\ncat told\nexit 9\n")
            .unwrap();
        std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
        let other = "ip -brief address > told";
        let mut command = user.command(&["lab", "shell", "client", "--rtt", "5ms", "--other", other]);
        let output = command.env("SHELL", &script).output().unwrap();
        let stdout = text(&output.stdout);
        let addresses: Vec<&str> = stdout.lines().next().unwrap().split(' ').collect();
        let shown = |address: &str| stdout.matches(&format!("{address}/")).count();
        assert_eq!((shown(addresses[0]), shown(addresses[1])), (1, 1), "{stdout}");
        assert_eq!(output.status.code(), Some(9));
    }
}

#[test]
fn an_interrupted_run_leaves_nothing_behind() {
    let _alone = alone();
    for user in User::all() {
        std::fs::write(user.path("long.toml"), "name = \"long\"\n[work.download]\nthink = \"60s\"\n").unwrap();
        let mut child = user.command(&["lab", "run", "long.toml"]).stderr(Stdio::null()).spawn().unwrap();
        let agents = || running(&user.path("whyslow")).len();
        wait_until(|| agents() >= 3);
        let interrupted = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(interrupted.success());
        assert!(!child.wait().unwrap().success());
        wait_until(|| agents() == 0);
        let left: Vec<_> =
            std::fs::read_dir(user.path("lab-results/long")).unwrap().map(|e| e.unwrap().file_name()).collect();
        // A namespace and its devices live as long as a process of it: there is none.
        assert_eq!(left, ["long-1.partial"]);
    }
}

/// Processes that run this program.
fn running(program: &Path) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let command = |entry: std::fs::DirEntry| std::fs::read(entry.path().join("cmdline")).ok();
    let lines = processes.filter_map(command).map(|line| text(&line));
    lines.filter(|line| line.starts_with(program.to_str().unwrap())).collect()
}

fn wait_until(done: impl Fn() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(20), "waited for 20 s");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_clients_output_is_stdout_and_the_explanation_is_not() {
    let _alone = alone();
    let Some(user) = User::all().into_iter().next() else { return };
    let client = "echo data; echo words >&2; exec true";
    let output = user.lab(&["exec", "--server", "true", "--client", client]);
    assert_eq!(text(&output.stdout), "data\n", "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("words\n") && text(&output.stderr).contains("the client ran for"));
    // The explanation is the data there.
    let output = user.lab(&["exec", "--json", "--server", "true", "--client", client]);
    assert!(serde_json::from_slice::<Value>(&output.stdout).is_ok(), "{}", text(&output.stdout));
    assert!(text(&output.stderr).contains("data\n"));
}

#[test]
fn a_path_delivers_as_a_trace_of_mahimahi_does() {
    let _alone = alone();
    let Some(user) = User::all().into_iter().next() else { return };
    // One packet each 10 ms, 1.2 Mbit/s: 60,000 B take 400 ms and more.
    std::fs::write(user.path("slow.down"), "10\n").unwrap();
    let serve = r#"exec python3 -c "import socket
s = socket.create_server(('', 7000)); c, _ = s.accept(); c.recv(1); c.sendall(b'x' * 60000); c.close()""#;
    let ask = r#"exec python3 -c "import socket, os
c = socket.create_connection((os.environ['SERVER'], 7000)); c.sendall(b'?')
while c.recv(65536): pass""#;
    let arguments = ["exec", "--down", "slow.down", "--profile", "cable", "--server", serve, "--client", ask];
    let output = user.lab(&arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let analysis = user.explain(&user.path("lab-results/exec/client.pcap"));
    let transfers = analysis["connections"][0]["transfers"].as_array().unwrap();
    let rate = transfers.iter().filter_map(|one| one["rate_bps"].as_f64()).fold(0.0, f64::max);
    // 40 packets of 1,448 B after the first one; the profile's own rate is 5 Mbit/s.
    assert!((1.0..1.25e6).contains(&rate), "{rate} bit/s");
}

#[test]
fn a_client_reaches_services_outside_if_it_may() {
    let _alone = alone();
    // An address of this machine that is not the client's own.
    let probe = std::net::UdpSocket::bind("0.0.0.0:0").unwrap();
    let own = probe.connect("192.0.2.1:9").and_then(|()| probe.local_addr()).map(|address| address.ip());
    let Some(own) = own.ok().filter(|own| !own.is_loopback()) else {
        return skip(Lack::Machine, "this machine has no address but loopback's");
    };
    let listener = std::net::TcpListener::bind((own, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = std::io::copy(&mut stream.try_clone().unwrap(), &mut stream);
        }
    });
    // It sends more than any buffer holds, ends its side, and reads the echo to the end.
    let client = format!(
        r#"exec python3 -c "import socket, threading
c = socket.create_connection(('{own}', {port}), 10)
def send(): c.sendall(b'x' * 3000000); c.shutdown(socket.SHUT_WR)
threading.Thread(target=send).start()
print(sum(iter(lambda: len(c.recv(65536)), 0)), open('/etc/resolv.conf').read().strip())""#
    );
    for user in User::all() {
        let nat = format!("--nat={port}");
        let output = user.lab(&["exec", &nat, "--rtt", "10ms", "--client", &client]);
        let complaint = text(&output.stderr);
        assert!(output.status.success(), "{}: {complaint}", user.name);
        assert_eq!(text(&output.stdout), "3000000 nameserver 10.77.0.2\n", "{complaint}");
        // The captures show the address that was meant, and the path's round trip.
        let analysis = user.explain(&user.path("lab-results/exec/client.pcap"));
        let connection = &analysis["connections"][0];
        assert_eq!(connection["server"]["address"], own.to_string());
        assert!(connection["rtt_ms"]["min"].as_f64().unwrap() >= 10.0, "{connection}");
        assert!(!user.path("lab-results/exec/resolv.conf").exists());
        // Without the option, and at other ports, there is nothing.
        let output = user.lab(&["exec", "--server", "true", "--client", &client]);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
        let output = user.lab(&["exec", "--nat=1", "--client", &client]);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
    }
}
