//! Uploads over a path of the lab: 200 ms, 1 Gbit/s, a backend that closes idle connections after
//! 5 s. As a test it is short, and compares within the run; `cargo test -p whyslow-gateway --test
//! far -- figures` prints what docs/gateway/storage.md has.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

mod backend;
mod client;

use client::Row;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};
use whyslow_lab::link::config::{Conditions, LinkConfig, Queue, QueueLimit};
use whyslow_lab::net::config::{EmulatorConfig, Host, HostConfig, LinkPair, PathConfig};
use whyslow_lab::net::{self, Path};
use whyslow_testing::{Lack, skip};

/// A way to keep windows, as `far client WAY` takes it.
const WAYS: [&str; 3] = ["sysctl", "bbr", "none"];

/// Names the congestion control with which the far end sends; that of the machine unless it is set.
const SERVER_CC: &str = "FAR_SERVER_CC";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["backend", address] => backend::run(&std::net::TcpListener::bind(address).unwrap()),
        ["client", way, address, idle, file] => {
            client::run(way, address, Duration::from_secs(idle.parse().unwrap()), file);
            ExitCode::SUCCESS
        }
        ["figures"] => figures(&WAYS, 60),
        ["figures", way] => figures(&[way], 60),
        ["figures", way, idle] => figures(&[way], idle.parse().unwrap()),
        _ if words.contains(&"--list") => {
            println!("a_warm_window_saves_round_trips: test");
            ExitCode::SUCCESS
        }
        _ => test(),
    }
}

/// Two hosts, 200 ms apart. What waits in front of the link may take 100 ms.
fn path() -> Option<Path> {
    if let Err(error) = net::enter() {
        skip(Lack::Machine, error);
        return None;
    }
    let conditions = Conditions {
        rate_bps: Some(1_000_000_000),
        queue: Queue { limit: QueueLimit::TimeNs(100_000_000), ..Queue::default() },
        delay_ns: 100_000_000,
        ..Conditions::default()
    };
    let host = HostConfig { tso: true, gro: true, ..HostConfig::default() };
    let mut server = host.clone();
    if let Ok(name) = std::env::var(SERVER_CC) {
        server.sysctls.insert("net.ipv4.tcp_congestion_control".to_owned(), name);
    }
    let link = LinkConfig::steady(conditions, 1);
    let config = PathConfig {
        client: host,
        server,
        proxy: None,
        cross: None,
        links: vec![LinkPair { up: link.clone(), down: link }],
        emulator: EmulatorConfig { fast: true, ..EmulatorConfig::default() },
    };
    match Path::build(&config) {
        Ok(path) => Some(path),
        Err(error) => {
            skip(Lack::Machine, error);
            None
        }
    }
}

/// Runs the client in one way, and gives its rows and why the link is not to be trusted.
fn measure(way: &str, idle: u64) -> Option<(Vec<Row>, Vec<String>)> {
    let mut path = path()?;
    path.start(&[]).unwrap();
    let program = std::env::current_exe().unwrap();
    let address = format!("{}:9000", path.address(Host::Server).unwrap());
    let mut backend = Command::new(&program);
    backend.args(["backend", &address]);
    let backend = path.spawn(Host::Server, backend).unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut command = if way == "none" && is_root() {
        // Neither the capability nor root's rights over the namespace's settings.
        let mut command = Command::new("setpriv");
        command.args([
            "--reuid=65534",
            "--regid=65534",
            "--clear-groups",
            "--bounding-set=-net_admin",
            "--inh-caps=-all",
        ]);
        std::os::unix::fs::chown(file.path(), Some(65534), Some(65534)).unwrap();
        command.arg(&program);
        command
    } else {
        Command::new(&program)
    };
    command.args(["client", way, &address, &idle.to_string()]).arg(file.path());
    let status = path.spawn(Host::Client, command).unwrap().wait().unwrap();
    drop(backend);
    let outcome = path.stop().unwrap();
    assert!(status.success(), "the client failed: {status}");
    let text = std::fs::read_to_string(file.path()).unwrap();
    Some((text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), outcome.void))
}

fn is_root() -> bool {
    std::fs::read_to_string("/proc/self/uid_map").is_ok_and(|map| map.split_whitespace().nth(2) == Some("4294967295"))
        && std::fs::read_to_string("/proc/self/status").is_ok_and(|status| status.contains("Uid:\t0\t"))
}

fn figures(ways: &[&str], idle: u64) -> ExitCode {
    for way in ways {
        let Some((rows, void)) = measure(way, idle) else { return ExitCode::FAILURE };
        for why in void {
            println!("the link is not to be trusted: {why}");
        }
        println!("{way}");
        for row in rows {
            println!("{row}");
        }
    }
    ExitCode::SUCCESS
}

/// The same uploads cold and warm. A machine that is busy may spoil a run, not three.
fn test() -> ExitCode {
    let began = Instant::now();
    for _ in 0..3 {
        let Some((rows, void)) = measure("sysctl", 7) else { return ExitCode::SUCCESS };
        let of = |state: &str| rows.iter().find(|row| row.state == state && row.bytes == 1_000_000).unwrap();
        let (cold, warm, idle) = (of("cold"), of("warm"), of("idle"));
        // No upload beats the path: handshake and slow start when cold, a round trip when warm.
        assert!(cold.seconds >= 1.2 && warm.seconds >= 0.2 && idle.seconds >= 0.2, "{rows:?}");
        let is_reused = warm.is_reused && idle.is_reused;
        if is_reused && warm.seconds < cold.seconds / 2.0 && idle.seconds < cold.seconds / 2.0 {
            println!("test a_warm_window_saves_round_trips ... ok ({:.0} s)", began.elapsed().as_secs_f64());
            return ExitCode::SUCCESS;
        }
        println!("not warm: {rows:?}; {void:?}");
        if !void.is_empty() {
            skip(Lack::Quiet, void.join("; "));
            return ExitCode::SUCCESS;
        }
    }
    println!("test a_warm_window_saves_round_trips ... FAILED");
    ExitCode::FAILURE
}
