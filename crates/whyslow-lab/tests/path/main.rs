//! Paths on this machine's own kernel.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

mod capture;
mod contain;
mod hosts;
mod links;
#[path = "../common/runner.rs"]
mod runner;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use whyslow_lab::check::{self, CheckConfig, Verdict};
use whyslow_lab::link::config::{Conditions, LinkConfig};
use whyslow_lab::net::Path;
use whyslow_lab::net::config::{EmulatorConfig, Host, HostConfig, LinkPair, PathConfig};
use whyslow_testing::{Lack, skip};

use runner::{Test, tests};

const TESTS: &[Test] = tests![
    hosts::settings_are_ours_and_not_the_machines,
    hosts::what_the_kernel_refuses_is_named,
    hosts::routes_carry_their_attributes,
    hosts::a_proxy_stands_between_two_links,
    links::both_captures_and_the_log_agree,
    links::a_corrupted_packet_fails_its_checksum,
    links::marks_arrive,
    links::a_small_mtu_sends_icmp_or_is_a_black_hole,
    links::super_packets_are_decided_on_segment_by_segment,
    links::a_path_can_be_started_again,
    links::a_tap_device_carries_the_same,
    contain::a_program_runs_on_its_host_and_ends_as_it_ends,
    contain::nothing_outlives_a_killed_lab,
];

/// The check measures the emulator for 20 s, the same for root and an ordinary user: once is
/// enough.
const CHECK: &[Test] = &[Test { name: "the_quick_check_is_good", run: the_quick_check_is_good, once: true }];

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some(contain::VICTIM) {
        return contain::be_a_victim();
    }
    runner::run(&[TESTS, CHECK])
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
        cross: None,
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
