//! A network namespace for a test alone.

use nix::sched::{CloneFlags, unshare};
use std::io;
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::time::{Duration, Instant};
use whyslow_live::host::{Host, Namespace, Options, Socket};
use whyslow_testing::{Lack, skip};

/// Runs a test on a thread in a new network namespace with a loopback device, if there can be one
/// and these tools are there.
#[track_caller]
pub fn alone(tools: &[&str], test: impl FnOnce() + Send) {
    if !whyslow_testing::tools(&[&["ip"], tools].concat()) {
        return;
    }
    let there = || {
        unshare(CloneFlags::CLONE_NEWNET)?;
        run("ip link set lo up");
        test();
        Ok(())
    };
    let result: io::Result<()> = std::thread::scope(|scope| {
        // It skips by the test's name.
        let name = std::thread::current().name().unwrap_or_default().to_owned();
        let thread = std::thread::Builder::new().name(name).spawn_scoped(scope, there).unwrap();
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    if let Err(error) = result {
        skip(Lack::Machine, format!("network namespaces are not allowed: {error}"));
    }
}

/// Runs a command in the thread's namespace. Returns its output.
pub fn run(command: &str) -> String {
    attempt(command).unwrap_or_else(|error| panic!("{command}: {error}"))
}

/// Runs a command that may fail.
pub fn attempt(command: &str) -> Result<String, String> {
    let words: Vec<&str> = command.split(' ').collect();
    let output = Command::new(words[0]).args(&words[1..]).output().unwrap();
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(String::from_utf8(output.stdout).unwrap())
}

/// Looks at the thread's namespace.
pub fn look() -> Namespace {
    let mut host = Host::read(&Options::default());
    assert_eq!(host.namespaces.len(), 1);
    host.namespaces.remove(0)
}

/// Looks until a socket is as it comes to be.
pub fn wait_for(wanted: impl Fn(&Socket) -> bool) -> (Namespace, Socket) {
    let start = Instant::now();
    loop {
        let namespace = look();
        if let Some(socket) = namespace.sockets.iter().find(|socket| wanted(socket)).cloned() {
            return (namespace, socket);
        }
        assert!(start.elapsed() < Duration::from_secs(20), "{:#?}", namespace.sockets);
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A listener and a connection to it, both ends.
pub fn pair() -> (TcpListener, TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (server, _) = listener.accept().unwrap();
    (listener, client, server)
}
