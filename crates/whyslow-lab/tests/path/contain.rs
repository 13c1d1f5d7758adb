//! Programs on hosts: they run there, and nothing stays behind.

use std::io::{BufRead, BufReader};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use whyslow_lab::link::config::Conditions;
use whyslow_lab::net::config::Host;
use whyslow_lab::net::{self, Path};

use crate::config;

/// The argument that makes this program build a path, start programs on it and wait to be killed.
pub const VICTIM: &str = "--be-a-victim";

pub fn a_program_runs_on_its_host_and_ends_as_it_ends() {
    let path = Path::build(&config(Conditions::default(), Conditions::default())).unwrap();
    let run = |host, script: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdout(Stdio::piped());
        path.spawn(host, command).unwrap().wait_with_output().unwrap()
    };
    let addresses = run(Host::Server, "ip -4 -brief address");
    assert!(String::from_utf8_lossy(&addresses.stdout).contains("10.77.0.2/24"), "{addresses:?}");
    assert_eq!(run(Host::Client, "exit 7").status.code(), Some(7));
    assert_eq!(run(Host::Client, "kill -TERM $$; sleep 5").status.code(), Some(128 + 15));
    assert!(path.spawn(Host::Client, Command::new("/no/such/program")).is_err());

    // Processes that a program leaves running end with it.
    let mark = seconds(1);
    run(Host::Client, &format!("sleep {mark} >/dev/null & sleep 0.1"));
    assert!(goes_away(&mark), "a process outlived its program");
}

/// A number of seconds that no other process sleeps for.
fn seconds(n: u32) -> String {
    format!("{}.{}", 40_000 + n, std::process::id())
}

/// Waits up to a second until no process has this argument.
fn goes_away(argument: &str) -> bool {
    let start = Instant::now();
    while is_there(argument) {
        if start.elapsed() > Duration::from_secs(2) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}

fn is_there(argument: &str) -> bool {
    let lines = std::fs::read_dir("/proc").unwrap().flatten();
    let mut lines = lines.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.any(|line| line.split(|byte| *byte == 0).any(|part| part == argument.as_bytes()))
}

pub fn nothing_outlives_a_killed_lab() {
    let (first, second) = (seconds(2), seconds(3));
    let mut command = Command::new(std::env::current_exe().unwrap());
    let mut victim = command.args([VICTIM, &first, &second]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(victim.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    assert!(is_there(&first) && is_there(&second));
    victim.kill().unwrap();
    victim.wait().unwrap();
    assert!(goes_away(&first) && goes_away(&second), "a program outlived a lab that was killed");
}

/// Two programs, one of them in the background of another and deaf to signals.
pub fn be_a_victim() -> ExitCode {
    net::enter().unwrap();
    let mut path = Path::build(&config(Conditions::default(), Conditions::default())).unwrap();
    path.start(&[]).unwrap();
    let mut marks = std::env::args().skip(2);
    let (first, second) = (marks.next().unwrap(), marks.next().unwrap());
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("trap '' TERM HUP INT; sleep {first} & wait")]);
    let mut sleep = Command::new("sleep");
    sleep.arg(&second);
    let _children = [path.spawn(Host::Client, shell).unwrap(), path.spawn(Host::Server, sleep).unwrap()];
    while !(is_there(&first) && is_there(&second)) {
        std::thread::sleep(Duration::from_millis(5));
    }
    println!("ready");
    std::thread::sleep(Duration::from_secs(60));
    ExitCode::FAILURE
}
