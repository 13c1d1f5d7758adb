//! The page's server during a watch: its requests, their origin, and its end. The content of the
//! page is tested in a browser (`web/test/watch.test.mjs`).

use crate::{sample, watch};
use flate2::read::GzDecoder;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Output, Stdio};

/// A watch with a page.
struct Paged {
    child: Child,
    /// `127.0.0.1:PORT`, and the path with the secret.
    host: String,
    path: String,
}

impl Paged {
    /// `None` if the program was built without the page.
    fn start(arguments: &[&str]) -> Option<Self> {
        let mut child =
            watch(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut url).unwrap();
        let Some((host, path)) = url.trim().trim_start_matches("http://").split_once('/') else {
            let output = child.wait_with_output().unwrap();
            let message = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(message.contains("without the page"), "{message}");
            whyslow_testing::skip(whyslow_testing::Lack::Machine, message);
            return None;
        };
        let (host, path) = (host.to_owned(), format!("/{path}"));
        Some(Self { child, host, path })
    }

    /// Status, and body.
    fn ask(&self, method: &str, path: &str, host: &str) -> (u16, Vec<u8>) {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        write!(stream, "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let head = answer.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
        let status = std::str::from_utf8(&answer[9..12]).unwrap().parse().unwrap();
        (status, answer[head + 4..].to_vec())
    }

    fn get(&self, what: &str) -> (u16, Vec<u8>) {
        self.ask("GET", &format!("{}{what}", self.path), &self.host)
    }

    fn news(&self, since: u64) -> Value {
        let (status, body) = self.get(&format!("news?since={since}"));
        assert_eq!(status, 200);
        serde_json::from_reader(GzDecoder::new(body.as_slice())).unwrap()
    }

    /// The state when no more packets come.
    fn last_news(&self) -> Value {
        loop {
            let news = self.news(0);
            if news["state"]["is_over"] == true {
                return news;
            }
        }
    }

    /// Ends it as Ctrl-C does.
    fn end(mut self) -> Output {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
        drop(self.child.stdin.take());
        let mut output = Output { status: self.child.wait().unwrap(), stdout: Vec::new(), stderr: Vec::new() };
        self.child.stdout.as_mut().unwrap().read_to_end(&mut output.stdout).unwrap();
        self.child.stderr.as_mut().unwrap().read_to_end(&mut output.stderr).unwrap();
        output
    }
}

impl Drop for Paged {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A watch of a whole capture through a pipe, which is over.
fn over(name: &str, arguments: &[&str]) -> Option<Paged> {
    let mut paged = Paged::start(&[&["-", "--view"], arguments].concat())?;
    let mut input = paged.child.stdin.take().unwrap();
    input.write_all(&std::fs::read(sample(name)).unwrap()).unwrap();
    Some(paged)
}

fn explained(name: &str) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_whyslow")).arg(sample(name)).arg("--json").output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_news_are_those_of_the_capture_and_stay_after_its_end() {
    let Some(paged) = over("shared-bottleneck-client", &[]) else { return };
    let news = paged.last_news();
    let whole = explained("shared-bottleneck-client");
    let count = |analysis: &Value| -> usize {
        analysis["connections"].as_array().unwrap().iter().map(|of| of["transfers"].as_array().unwrap().len()).sum()
    };
    assert_eq!(news["transfers"].as_array().unwrap().len(), count(&whole));
    assert_eq!(news["state"]["transfers"], count(&whole));
    assert_eq!(news["state"]["packets"], whole["captures"][0]["packets"]);
    assert_eq!(news["state"]["total"]["causes"][0]["name"], "loss");
    assert!(!news["state"]["together"].as_array().unwrap().is_empty());
    assert_eq!((&news["is_all"], &news["left_out"]), (&Value::Bool(true), &Value::from(0)));
    // A connection is that of the analysis, with graphs of the capture's own frames.
    let (status, body) = paged.get("connection?c=1");
    let opened: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(status, 200);
    let client = &opened["connection"]["client"];
    let of = whole["connections"].as_array().unwrap().iter().find(|of| of["client"] == *client).unwrap();
    // An effect between connections is a finding of its own here, and changes no limit.
    let measured = |connection: &Value| -> Vec<Value> {
        let fields = ["bytes", "start_s", "duration_s", "rounds_total"];
        let transfers = connection["transfers"].as_array().unwrap().iter();
        transfers.flat_map(|transfer| fields.map(|field| transfer[field].clone())).collect()
    };
    assert_eq!(measured(&opened["connection"]), measured(of));
    let (status, body) = paged.get("series?c=1&columns=100");
    let graphs: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(status, 200);
    let packets = |at: usize| of["directions"][at]["packets"].as_u64().unwrap();
    assert_eq!(graphs["packets"], packets(0) + packets(1));
    assert_eq!(opened["packets"], graphs["packets"]);
    let round = &of["transfers"][1]["rounds"][0];
    let index = graphs["index"].as_array().unwrap();
    assert!(index.iter().any(|entry| entry[0] == round["first_frame"]), "{round}");
    let output = paged.end();
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{message}");
    assert!(message.contains("the page stays until Ctrl-C"), "{message}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("lost by server"));
}

#[test]
fn other_requests_get_nothing_and_change_nothing() {
    let Some(paged) = over("loss-client", &["--slower-than", "100ms"]) else { return };
    let news = paged.last_news();
    assert_eq!(news["transfers"].as_array().unwrap().len(), 1, "{news}");
    let status = |method: &str, what: &str| paged.ask(method, &format!("{}{what}", paged.path), &paged.host).0;
    for what in ["news?since=0", "connection?c=1", "series?c=1", "save?c=1", "document", "state"] {
        assert_eq!(status("GET", what), 200, "{what}");
        assert_eq!(status("POST", what), 405, "{what}");
        assert_eq!(paged.ask("GET", &format!("/{what}"), &paged.host).0, 403);
        assert_eq!(paged.ask("GET", &format!("{}{what}", paged.path), "evil.example").0, 421);
    }
    for what in ["connection?c=9", "connection", "series?c=x", "slice?c=1", "packet?c=1", "open", "report", "nothing"] {
        assert_eq!(status("GET", what), 404, "{what}");
    }
    assert_eq!(paged.end().status.code(), Some(0));
}

#[test]
fn an_invalid_capture_has_no_page() {
    let Some(mut paged) = Paged::start(&["-", "--view"]) else { return };
    paged.child.stdin.take().unwrap().write_all(&[b'x'; 500]).unwrap();
    assert_eq!(paged.child.wait().unwrap().code(), Some(2));
    let mut message = String::new();
    paged.child.stderr.as_mut().unwrap().read_to_string(&mut message).unwrap();
    assert!(message.contains("standard input"), "{message}");
}

#[test]
fn a_taken_port_is_reported() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let output = watch(&["-", &format!("--view={port}")]).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), &b""[..]), "{message}");
    assert!(message.contains(&port.to_string()) || message.contains("without the page"), "{message}");
}
