//! Invalid arguments, and the page's options.

use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_whyslow"));
    command.arg("host").args(arguments).env_remove("COLUMNS").output().unwrap()
}

/// Checks the error message; the status is 2, and stdout is empty.
#[track_caller]
fn is_refused(arguments: &[&str], part: &str) {
    let output = run(arguments);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(output.stdout.is_empty());
    assert!(message.contains(part), "{part:?} is not in {message}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    is_refused(&["--for", "5"], "has no unit");
    is_refused(&["--for", "5s", "--watch", "1s"], "cannot be used with");
    is_refused(&["--watch", "0s"], "out of range");
    is_refused(&["--count", "3"], "--watch");
    is_refused(&["--watch", "1s", "--count", "0"], "0 is not in");
    is_refused(&["--peer", "example.com"], "no address and no prefix");
    is_refused(&["--peer", "192.0.2.0/40"], "no address and no prefix");
    is_refused(&["--process", "/usr/sbin/nginx"], "neither the number nor the name");
    is_refused(&["--netns", "a/b"], "neither `all`, nor a process");
    is_refused(&["--netns", "no-such-namespace"], "no network namespace could be read");
    is_refused(&["--netns", "4000000"], "no network namespace could be read");
    is_refused(&["--fail-on", "close-wiat"], "did you mean `close-wait`?");
    is_refused(&["--fail-on", "slow start!"], "no finding of a host");
    is_refused(&["--fail-on", "xyzzy"], "`whyslow causes` lists them");
    is_refused(&["eth0"], "unexpected argument");
}

#[test]
fn causes_of_hosts_are_explained() {
    let explain = |slug: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_whyslow")).args(["causes", slug]).output().unwrap();
        assert!(output.status.success(), "{slug}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(explain("close-wait").contains("The peer has closed its connections"));
    // A cause of captures has both.
    let both = explain("receive-window");
    assert!(both.contains("as `whyslow host` finds it") || both.contains("as whyslow host finds it"), "{both}");
    let list = Command::new(env!("CARGO_BIN_EXE_whyslow")).arg("causes").output().unwrap();
    assert!(String::from_utf8(list.stdout).unwrap().contains("stale-ssthresh"));
}

#[test]
fn a_missing_peer_or_process_is_reported() {
    let output = run(&["--peer", "192.0.2.77", "--process", "no-such-program"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8(output.stderr).unwrap().contains("no socket is of that peer or process"));
}

#[test]
fn what_happens_meanwhile_is_counted() {
    let output = run(&["--for", "200ms"]);
    assert_eq!(output.status.code(), Some(0));
    let page = String::from_utf8(output.stdout).unwrap();
    // How much longer than asked depends on the machine.
    assert!(page.contains("counted over "), "{page}");
    assert!(!page.contains("--for 10s"), "{page}");
}
