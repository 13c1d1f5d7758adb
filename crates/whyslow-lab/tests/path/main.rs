//! Paths on this machine's own kernel. Runs twice: as whoever runs it, and, if that is root, as an
//! ordinary user too.
//!
//! It brings its own `main`: namespaces are entered while the process has one thread, and one test
//! runs at a time so that none disturbs another's timing. Where the kernel forbids namespaces it
//! says so and tests nothing.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

mod capture;
mod contain;
mod hosts;
mod links;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use whyslow_lab::check::{self, CheckConfig, Verdict};
use whyslow_lab::link::config::{Conditions, LinkConfig};
use whyslow_lab::net::config::{EmulatorConfig, Host, HostConfig, LinkPair, PathConfig};
use whyslow_lab::net::{self, Path};
use whyslow_testing::{Lack, skip};

/// A name and what it runs.
type Test = (&'static str, fn());

const TESTS: &[Test] = &[
    ("hosts::settings_are_ours_and_not_the_machines", hosts::settings_are_ours_and_not_the_machines),
    ("hosts::what_the_kernel_refuses_is_named", hosts::what_the_kernel_refuses_is_named),
    ("hosts::routes_carry_their_attributes", hosts::routes_carry_their_attributes),
    ("hosts::a_proxy_stands_between_two_links", hosts::a_proxy_stands_between_two_links),
    ("links::both_captures_and_the_log_tell_the_same", links::both_captures_and_the_log_tell_the_same),
    ("links::a_corrupted_packet_fails_its_checksum", links::a_corrupted_packet_fails_its_checksum),
    ("links::marks_arrive", links::marks_arrive),
    ("links::a_small_mtu_is_told_or_is_a_black_hole", links::a_small_mtu_is_told_or_is_a_black_hole),
    ("links::super_packets_are_decided_on_segment_by_segment", links::super_packets_are_decided_on_segment_by_segment),
    ("links::a_path_can_be_started_again", links::a_path_can_be_started_again),
    ("links::a_tap_device_carries_the_same", links::a_tap_device_carries_the_same),
    (
        "contain::a_program_runs_on_its_host_and_ends_as_it_ends",
        contain::a_program_runs_on_its_host_and_ends_as_it_ends,
    ),
    ("contain::nothing_outlives_a_killed_lab", contain::nothing_outlives_a_killed_lab),
    ("the_quick_check_is_good", the_quick_check_is_good),
];

/// Set where root runs all this again as an ordinary user.
const AGAIN: &str = "WHYSLOW_TESTS_AGAIN";

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some(contain::VICTIM) {
        return contain::be_a_victim();
    }
    let is_again = std::env::var_os(AGAIN).is_some();
    let is_root = nix::unistd::geteuid().is_root();
    let who = if is_root { "root" } else { "an ordinary user" };
    let ordinary = is_root.then(as_ordinary_user).unwrap_or(true);
    if let Err(error) = net::enter() {
        skip(Lack::Machine, format!("as {who}: {error}"));
        return ExitCode::from(u8::from(!ordinary));
    }
    // As libtest has it: the first argument that is no option picks tests by a part of their names.
    let filter = std::env::args().skip(1).find(|arg| !arg.starts_with('-')).unwrap_or_default();
    let mut failed = 0;
    // The check measures the emulator for 20 s, who started it or not: once is enough.
    let is_wanted = |name: &str| name.contains(&filter) && !(is_again && name == "the_quick_check_is_good");
    for (name, test) in TESTS.iter().filter(|(name, _)| is_wanted(name)) {
        let (start, skips) = (Instant::now(), whyslow_testing::skips());
        let is_good = catch_unwind(AssertUnwindSafe(test)).is_ok();
        failed += usize::from(!is_good);
        let verdict = match is_good {
            true if whyslow_testing::skips() > skips => "skipped",
            true => "ok",
            false => "FAILED",
        };
        println!("test {name} as {who} ... {verdict} ({:.1} s)", start.elapsed().as_secs_f64());
    }
    ExitCode::from(u8::from(failed > 0 || !ordinary))
}

/// Runs all this again as nobody in particular; true when it went well or cannot be.
fn as_ordinary_user() -> bool {
    let arguments = std::env::args().skip(1);
    let run = std::env::current_exe().and_then(|program| {
        Command::new(program).args(arguments).env(AGAIN, "1").uid(65_534).gid(65_534).current_dir("/").status()
    });
    match run {
        Ok(status) => status.success(),
        Err(error) => {
            skip(Lack::Machine, format!("as an ordinary user: this program cannot be started as one: {error}"));
            true
        }
    }
}

fn the_quick_check_is_good() {
    let report = check::run(&CheckConfig { quick: true, ..CheckConfig::default() }, |_| {}).unwrap();
    println!("{}", report.table());
    assert!(report.is_good());
    let void = report.rows.iter().filter(|row| row.verdict == Verdict::Void).count();
    if void > 0 {
        skip(
            Lack::Quiet,
            format!("{void} of {} rows of the check are void: this machine is too busy", report.rows.len()),
        );
    }
}

/// Two hosts and a link.
fn config(up: Conditions, down: Conditions) -> PathConfig {
    PathConfig {
        client: HostConfig::default(),
        server: HostConfig::default(),
        proxy: None,
        links: vec![LinkPair { up: LinkConfig::steady(up, 1), down: LinkConfig::steady(down, 2) }],
        emulator: EmulatorConfig::default(),
    }
}

fn delay(ms: u64) -> Conditions {
    Conditions { delay_ns: ms * 1_000_000, ..Conditions::default() }
}

/// Bytes that differ from place to place.
fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|n| (n ^ n >> 8 ^ n >> 16) as u8).collect()
}

/// The server sends `length` bytes, the client reads them and finds them right. Returns how long it
/// took.
fn download(path: &Path, length: usize) -> std::io::Result<Duration> {
    let address = SocketAddr::new(path.address(Host::Server).unwrap(), 8080);
    let listener = path.within(Host::Server, || TcpListener::bind(address)).unwrap().unwrap();
    let server = path.thread(Host::Server, "server", move || {
        let (mut stream, _) = listener.accept()?;
        stream.set_write_timeout(Some(Duration::from_secs(2)))?;
        stream.write_all(&pattern(length))?;
        stream.shutdown(std::net::Shutdown::Write)?;
        stream.set_read_timeout(Some(Duration::from_secs(2)))?;
        stream.read(&mut [0]).map(|_| ())
    });
    let client = path.within(Host::Client, || {
        let start = Instant::now();
        let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(5))?;
        stream.set_read_timeout(Some(Duration::from_secs(2)))?;
        let mut received = Vec::new();
        stream.read_to_end(&mut received)?;
        assert!(received == pattern(length), "{} of {length} bytes arrived, or wrong ones", received.len());
        Ok(start.elapsed())
    });
    let sent = server.unwrap().join().unwrap();
    client.unwrap().and_then(|time| sent.map(|()| time))
}
