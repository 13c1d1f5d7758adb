//! Very many at once.

use super::View;
use rustix::process::{Resource, Rlimit, Signal, getrlimit, setrlimit};
use std::process::Command;

/// Connections of each kind.
const MANY: usize = 500;

#[test]
fn idle_and_half_open_connections_do_not_block_others() {
    // This end of them takes as many descriptors.
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: maximum.map(|most| most.min(8_192)), maximum }).unwrap();
    // The other end has fewer than they need.
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 400; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_whyslow")]);
    let sample = super::sample("slow-start-client");
    let Some(view) = View::new(&mut command, &["view", sample.to_str().unwrap()]) else { return };
    assert_eq!(view.settled()["state"], "ready");
    let document = view.document();
    let before = view.most_memory();

    let idle: Vec<_> = (0..MANY).map(|_| view.connect()).collect();
    assert_eq!(view.state()["state"], "ready");
    let half: Vec<_> = (0..MANY).map(|_| view.send("GET / HTTP/1.1\r\nHost: 127")).collect();
    assert_eq!(view.state()["state"], "ready");
    // With the secret, and kept open for a next request.
    let asked: Vec<_> =
        (0..MANY).map(|_| view.send(format!("GET /{}/state HTTP/1.1\r\n{}\r\n", view.token, view.host()))).collect();
    // With the secret, and never to the end.
    let slow: Vec<_> = (0..MANY).map(|_| view.send(view.upload(1_000_000) + "x")).collect();
    assert_eq!(view.state()["state"], "ready");
    assert!(view.document() == document);
    assert_eq!(view.get("series?c=1&columns=100").status, 200);
    let file = super::loss();
    assert_eq!(view.ask([view.upload(file.len()).into_bytes(), file].concat()).status, 202);
    assert_eq!(view.settled()["number"], 2);
    let most = view.most_memory();
    assert!(most < before + (128 << 20), "{before} B before, {most} B after");
    drop((idle, half, asked, slow));
    assert_eq!(view.end(Signal::INT).code(), Some(0));
}
