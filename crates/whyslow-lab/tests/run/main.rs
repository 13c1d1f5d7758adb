//! Whole runs on this machine's own kernel: programs, captures, truth. This program is its own
//! agent.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

#[path = "../common/runner.rs"]
mod runner;
mod schema;

use std::path::Path;
use std::process::{ExitCode, ExitStatus};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use whyslow_lab::run::{self, Progress, Settings};
use whyslow_lab::scenario::{self, Experiment};
use whyslow_lab::truth::RunResult;
use whyslow_lab::{agent, exec, show};
use whyslow_testing::{Lack, skip};

use runner::{Test, tests};

const TESTS: &[Test] = tests![
    a_run_keeps_all_and_confirms_its_cause,
    losses_of_the_link_are_retransmissions_of_the_kernel,
    a_finished_run_is_kept_until_its_scenario_changes,
    a_run_over_its_time_limit_has_no_result,
    a_proxy_drops_window_scaling_on_one_leg,
    memory_of_a_peer_is_flushed,
    a_connection_may_never_open,
    the_users_own_programs_run_at_the_two_ends,
];

fn main() -> ExitCode {
    if let Some(code) = agent::maybe_run() {
        return ExitCode::from(u8::try_from(code).unwrap_or(1));
    }
    runner::run(&[TESTS])
}

fn experiment(text: &str) -> Experiment {
    scenario::load("test.toml", text, &[]).unwrap_or_else(|e| panic!("{e}"))
}

/// Runs it in `out`, with patience for a busy machine; `None` (and a word about it) when the
/// machine spoiled every try.
#[track_caller]
fn results(text: &str, out: &Path) -> Option<Vec<RunResult>> {
    let settings = Settings { attempts: 20, ..Settings::new(out) };
    let results = run::run(&experiment(text), &settings, &|_| {}).unwrap();
    if let Some(spoiled) = results.iter().find(|r| r.problems.iter().any(|p| p.contains(" late "))) {
        skip(Lack::Quiet, format!("this machine is too busy: {}", spoiled.problems.join("; ")));
        return None;
    }
    for result in &results {
        assert_eq!(result.problems, [""; 0], "{}", result.label);
    }
    Some(results)
}

const SMALL_WINDOW: &str = r#"
    name = "small-window"
    cause = "receive-window"
    verify = ["server.rwnd_limited >= 60%", "server.retransmitted <= 0"]
    [path]
    rtt = "40ms"
    [client]
    rcvbuf = "16KiB"
    [work.download]
    size = "100KiB"
"#;

fn a_run_keeps_all_and_confirms_its_cause() {
    let out = tempfile::tempdir().unwrap();
    let Some(results) = results(SMALL_WINDOW, out.path()) else { return };
    let result = &results[0];
    assert!(result.confirmed, "{:?}", result.claims);
    let figure = |name: &str| result.figures[name];
    assert!((0.0395..0.045).contains(&figure("rtt_min")), "{}", figure("rtt_min"));
    assert!((10_000.0..40_000.0).contains(&figure("server.max_in_flight")));
    assert!(figure("window_full") >= 3.0);
    assert_eq!(figure("retransmitted"), 0.0);
    let folder = out.path().join("small-window/small-window-1");
    let text = std::fs::read_to_string(folder.join("truth.json")).unwrap();
    let truth: serde_json::Value = serde_json::from_str(&text).unwrap();
    schema::check(&truth, "truth");
    let text = std::fs::read_to_string(folder.join("result.json")).unwrap();
    schema::check(&serde_json::from_str(&text).unwrap(), "result");
    // The requested settings were in force.
    assert_eq!(truth["ends"]["client"]["connections"][0]["rcvbuf"], 32_768);
    assert_eq!(truth["ends"]["server"]["sockets"][0]["congestion"], "cubic");
    assert_eq!(truth["hosts"]["server"]["sysctls"]["net.ipv4.tcp_slow_start_after_idle"], "1");
    assert!(
        truth["hosts"]["server"]["routes"].as_str().unwrap().contains("initcwnd 10"),
        "{}",
        truth["hosts"]["server"]["routes"]
    );
    // The recorded scenario is the scenario.
    let scenario: scenario::Scenario = serde_json::from_value(truth["scenario"].clone()).unwrap();
    assert_eq!(scenario.key(), result.key);
    // Link, captures and kernel have seen the same packets.
    let packets = |direction: &str| {
        let links = truth["links"].as_array().unwrap();
        links.iter().find(|l| l["direction"] == direction).unwrap()["counts"]["arrived"].as_f64().unwrap()
    };
    assert_eq!(packets("up") + packets("down"), figure("packets"));
    assert_eq!(show::find(out.path()).unwrap(), results);
}

fn losses_of_the_link_are_retransmissions_of_the_kernel() {
    let out = tempfile::tempdir().unwrap();
    let text = r#"
        name = "listed"
        cause = "loss"
        path.rtt = "20ms"
        path.down.loss = { packets = [12, 30, 31, 55] }
        [work.download]
        size = "200kB"
    "#;
    let Some(results) = results(text, out.path()) else { return };
    let figure = |name: &str| results[0].figures[name];
    assert_eq!(figure("down.lost"), 4.0);
    assert_eq!(figure("server.retransmitted") - figure("server.dsack_dups"), 4.0);
    assert_eq!(figure("retransmitted"), figure("server.retransmitted"), "counted in the capture");
    assert!(figure("out_of_order") >= 4.0, "the holes that were filled late");
}

fn a_finished_run_is_kept_until_its_scenario_changes() {
    let out = tempfile::tempdir().unwrap();
    let run = |text: &str| {
        let kept = Mutex::new(Vec::new());
        let note = |event: Progress<'_>| {
            if let Progress::Finished { reused: is_reused, .. } = event {
                kept.lock().unwrap().push(is_reused);
            }
        };
        let settings = Settings { attempts: 20, repeat: 2, ..Settings::new(out.path()) };
        let results = run::run(&experiment(text), &settings, &note).unwrap();
        (kept.into_inner().unwrap(), results.iter().all(|r| r.problems.is_empty()))
    };
    let text = "name = \"kept\"\npath.rtt = \"20ms\"\nwork.turns = { count = 2 }\n";
    let (first, is_result) = run(text);
    if !is_result {
        skip(Lack::Quiet, "this machine is too busy");
        return;
    }
    assert_eq!(first, [false, false]);
    // A try that was interrupted leaves its folder; it is neither a result nor in the way.
    std::fs::create_dir(out.path().join("kept/kept-1.partial")).unwrap();
    assert_eq!(run(text).0, [true, true]);
    assert_eq!(run(&text.replace("count = 2", "count = 3")).0, [false, false]);
}

fn a_run_over_its_time_limit_has_no_result() {
    let out = tempfile::tempdir().unwrap();
    let text = "name = \"slow\"\ntimeout = \"300ms\"\nwork.download = { size = \"1kB\", think = \"30s\" }\n";
    let started = Instant::now();
    let results = run::run(&experiment(text), &Settings::new(out.path()), &|_| {}).unwrap();
    assert!(started.elapsed() < Duration::from_secs(10));
    assert!(results[0].problems[0].contains("not done in time"), "{:?}", results[0].problems);
    assert!(!results[0].confirmed && results[0].figures.is_empty());
}

fn a_proxy_drops_window_scaling_on_one_leg() {
    let out = tempfile::tempdir().unwrap();
    let text = r#"
        name = "balancer"
        cause = "no-window-scaling"
        verify = ["proxy.max_peer_window <= 65535B"]
        path.rtt = "20ms"
        proxy = { unscaled = "client", path = { rtt = "2ms" } }
        client.tcp_rmem = ["4KiB", "1MiB", "8MiB"]
        [work.download]
        size = "400kB"
    "#;
    let Some(results) = results(text, out.path()) else { return };
    assert!(results[0].confirmed, "{:?}", results[0].claims);
    let text = std::fs::read_to_string(out.path().join("balancer/balancer-1/truth.json")).unwrap();
    let truth: serde_json::Value = serde_json::from_str(&text).unwrap();
    let scaling = truth["socket_columns"].as_array().unwrap().iter().position(|c| c == "options").unwrap();
    let offered = |socket: usize| {
        let rows = truth["ends"]["proxy"]["sockets"][socket]["rows"].as_array().unwrap();
        rows.last().unwrap()["v"][scaling].as_u64().unwrap() & 4 != 0
    };
    assert!(!offered(0), "towards the client");
    assert!(offered(1), "towards the server");
    assert!(out.path().join("balancer/balancer-1/proxy.pcap").exists());
}

fn memory_of_a_peer_is_flushed() {
    let text = |forget: bool| {
        format!(
            r#"
            name = "memory-{forget}"
            path.rtt = "10ms"
            path.down.loss = {{ packets = [12, 30, 31, 55] }}
            server = {{ no_metrics_save = false, no_ssthresh_metrics_save = false }}
            [work.download]
            size = "300kB"
            count = 2
            pause = "200ms"
            forget = {forget}
            "#
        )
    };
    let out = tempfile::tempdir().unwrap();
    let Some(remembered) = results(&text(false), out.path()) else { return };
    let Some(flushed) = results(&text(true), out.path()) else { return };
    assert!(remembered[0].figures["server.first_ssthresh"] < 1e3, "{:?}", remembered[0].figures);
    assert!(flushed[0].figures["server.first_ssthresh"] > 1e9, "{:?}", flushed[0].figures);
}

fn a_connection_may_never_open() {
    let out = tempfile::tempdir().unwrap();
    let text = r#"
        name = "closed"
        path.rtt = "20ms"
        [[case]]
        name = "unanswered"
        set = { path.up.loss = "100%", work.download.patience = "1300ms" }
        [[case]]
        name = "refused"
        set = { work.download = { refused = true, count = 2 } }
    "#;
    let Some(results) = results(text, out.path()) else { return };
    let figure = |nth: usize, name: &str| results[nth].figures.get(name).copied();
    assert!(figure(0, "transfer.1").unwrap() >= 1.3);
    assert_eq!((figure(0, "syn_retransmitted"), figure(0, "server.resets")), (Some(1.0), Some(0.0)));
    assert_eq!(figure(0, "up.lost"), figure(0, "up.packets"));
    assert_eq!((figure(1, "server.resets"), figure(1, "goodput")), (Some(2.0), Some(0.0)));
    assert!((0.02..0.2).contains(&figure(1, "connect").unwrap()));
}

fn the_users_own_programs_run_at_the_two_ends() {
    let out = tempfile::tempdir().unwrap();
    let scenario = experiment("path.rtt = \"20ms\"").runs.remove(0).scenario;
    let serve =
        "import socket,sys\ns=socket.create_server(('',9000))\nc,_=s.accept()\nc.sendall(b'x'*50000)\nc.close()";
    let ask = "import socket,os\ns=socket.create_connection((os.environ['SERVER'],9000))\nn=0\n\
               while (b:=s.recv(65536)): n+=len(b)\nassert n==50000,n";
    fn lines<'a>(server: &'a str, client: &'a str) -> exec::CommandLines<'a> {
        exec::CommandLines { server: Some(server), client, client_output: exec::ClientOutput::Stderr, outside: &[] }
    }
    let python = |code: &str| format!("exec python3 -c \"{code}\"");
    if !whyslow_testing::tools(&["python3"]) {
        return;
    }
    let stop = AtomicBool::new(false);
    let done = exec::exec(&scenario, &lines(&python(serve), &python(ask)), out.path(), &stop).unwrap();
    assert!(done.client.is_some_and(|status| status.success()), "{:?}", done.client);
    assert!(done.took > Duration::from_millis(40), "a handshake and an answer over 20 ms");
    let counted = exec::figures(&done).unwrap();
    assert_eq!(counted["client"].from_server.bytes, 50_000);
    assert_eq!(counted["server"].from_server.bytes, 50_000);
    // A server that ends before any client has connected is reported.
    let done = exec::exec(&scenario, &lines("exit 3", "exit 7"), out.path(), &stop).unwrap();
    let code = |status: Option<ExitStatus>| status.and_then(|status| status.code());
    assert_eq!((code(done.server), code(done.client)), (Some(3), Some(7)));
}
