//! The same over streamable HTTP, and who is not answered.

use crate::client::{Assistant, initialize, samples};
use crate::sizes::Sizes;
use crate::walk::walk;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

const TOKEN: &str = "a-token-for-tests-0123";

/// A server on a free port, and a session.
struct Http {
    child: Child,
    address: String,
    token: String,
    session: Option<String>,
    next: u64,
}

/// An answer: status, head, body.
struct Answer(u16, String, String);

impl Http {
    fn start(token: Option<&str>, address: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_whyslow"));
        command.args(["mcp", "--http"]).args(address).arg("--dir").arg(samples()).env("LC_ALL", "C.UTF-8");
        command.env_remove("WHYSLOW_MCP_TOKEN").stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(token) = token {
            command.env("WHYSLOW_MCP_TOKEN", token);
        }
        let mut child = command.spawn().unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap()).lines();
        let first = errors.next().unwrap().unwrap();
        let address = first.split("http://").nth(1).unwrap().split("/mcp").next().unwrap().to_owned();
        let second = errors.next().unwrap().unwrap();
        let printed = second.strip_prefix("Authorization: Bearer ").unwrap();
        let token = token.map_or(printed, |token| {
            assert!(!second.contains(token), "{second}");
            token
        });
        Self { token: token.to_owned(), child, address, session: None, next: 1 }
    }

    fn begun() -> Self {
        let mut client = Self::start(Some(TOKEN), &[]);
        client.ask("initialize", initialize()).unwrap();
        assert!(client.session.is_some());
        client
    }

    /// Sends a request with these headers in addition to the usual ones.
    fn post(&self, headers: &[(&str, &str)], body: &str) -> Answer {
        let host = ("Host", self.address.as_str());
        let bearer = format!("Bearer {}", self.token);
        let usual = [host, ("Authorization", bearer.as_str())];
        let is_given = |name: &str| headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name));
        let usual = usual.iter().filter(|(name, _)| !is_given(name));
        let headers: Vec<_> = usual.chain(headers).filter(|(_, value)| !value.is_empty()).copied().collect();
        self.exchange("POST /mcp", &headers, body)
    }

    fn exchange(&self, line: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let mut head = format!("{line} HTTP/1.1\r\n");
        for (name, value) in headers {
            head += &format!("{name}: {value}\r\n");
        }
        head +=
            "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\nConnection: close\r\n";
        head += &format!("Content-Length: {}\r\n\r\n", body.len());
        stream.write_all(head.as_bytes()).unwrap();
        // A server that refused the head does not read the body.
        let _ = stream.write_all(body.as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Answer(status, head.to_owned(), body.to_owned())
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Assistant for Http {
    #[track_caller]
    fn ask(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.next;
        self.next += 1;
        let body = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string();
        let session = self.session.clone().unwrap_or_default();
        let Answer(status, head, body) =
            self.post(&[("Mcp-Session-Id", &session), ("MCP-Protocol-Version", "2025-06-18")], &body);
        assert_eq!(status, 200, "{head}\n{body}");
        for line in head.lines() {
            if let Some((name, value)) = line.split_once(": ")
                && name.eq_ignore_ascii_case("mcp-session-id")
            {
                self.session = Some(value.to_owned());
            }
        }
        // Chunks of events: the message is on a line of its own.
        let messages = body.lines().filter_map(|line| line.strip_prefix("data: ").or(Some(line)));
        let message = messages.filter_map(|line| serde_json::from_str::<Value>(line).ok()).find(|one| one["id"] == id);
        let message = message.unwrap_or_else(|| panic!("no answer in {body}"));
        message.get("result").cloned().ok_or_else(|| message["error"].clone())
    }
}

#[test]
fn known_causes_are_found_over_http() {
    let mut client = Http::begun();
    let mut sizes = Sizes::default();
    for (name, cause) in crate::captures::KNOWN.iter().step_by(7) {
        walk(&mut client, name, cause, &mut sizes);
    }
    // The server writes nothing to standard output.
    client.child.kill().unwrap();
    let mut out = String::new();
    client.child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert_eq!(out, "");
}

#[test]
fn a_generated_token_is_printed_and_needed() {
    let mut client = Http::start(None, &["127.0.0.1:0"]);
    assert!(client.token.len() >= 32 && client.token.bytes().all(|byte| byte.is_ascii_hexdigit()));
    assert!(client.ask("initialize", initialize()).is_ok());
    let other = Http::start(None, &["localhost:0"]);
    assert_ne!(client.token, other.token);
}

#[test]
fn requests_of_others_are_refused() {
    let client = Http::start(Some(TOKEN), &[]);
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize()}).to_string();
    let port = client.address.rsplit(':').next().unwrap();
    let status = |headers: &[(&str, &str)]| client.post(headers, &body).0;
    assert_eq!(status(&[]), 200);
    assert_eq!(status(&[("Host", &format!("localhost:{port}"))]), 200);
    assert_eq!(status(&[("Origin", &format!("http://{}", client.address))]), 200);
    for token in ["Bearer wrong", "Bearer a-token-for-tests-0124", "Basic YTpi", "", "Bearer"] {
        assert_eq!(status(&[("Authorization", token)]), 401, "{token}");
    }
    for host in ["evil.example", "127.0.0.1:1", &format!("evil.example:{port}"), "[::1]", ""] {
        assert!(matches!(status(&[("Host", host)]), 400 | 421), "{host}");
    }
    for origin in ["https://evil.example", "null", "http://localhost", "http://127.0.0.1:1"] {
        assert_eq!(status(&[("Origin", origin)]), 403, "{origin}");
    }
    let bearer = format!("Bearer {TOKEN}");
    let usual = [("Host", client.address.as_str()), ("Authorization", bearer.as_str())];
    assert_eq!(client.exchange("POST /", &usual, &body).0, 404);
    assert_eq!(client.exchange(&format!("POST /mcp?token={TOKEN}"), &usual[..1], &body).0, 401);
    let preflight = [usual[0], ("Origin", "https://evil.example"), ("Access-Control-Request-Method", "POST")];
    let Answer(status, head, _) = client.exchange("OPTIONS /mcp", &preflight, "");
    assert!(status >= 400 && !head.to_ascii_lowercase().contains("access-control"), "{head}");
}

#[test]
fn malformed_and_huge_requests_do_not_end_the_server() {
    let mut client = Http::begun();
    let session = client.session.clone().unwrap();
    for body in ["", "{", "null", "[]", "{}", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", "\u{feff}x"] {
        let Answer(status, ..) = client.post(&[("Mcp-Session-Id", &session)], body);
        assert!((200..500).contains(&status), "{body}: {status}");
    }
    let Answer(status, ..) = client.post(&[], &"x".repeat(8 << 20));
    assert!(matches!(status, 0 | 413), "{status}");
    let Answer(status, ..) = client.post(&[("X-Long", &"x".repeat(64 << 10))], "{}");
    assert!(matches!(status, 0 | 400..=431), "{status}");
    let Answer(status, ..) = client.post(&[("Mcp-Session-Id", "00000000")], "{\"jsonrpc\":\"2.0\",\"method\":\"x\"}");
    assert!((400..500).contains(&status), "{status}");
    assert!(client.data("explain", json!({"files": "loss-client.pcap"}))["findings"].is_array());
}

#[test]
fn addresses_of_the_network_and_short_tokens_are_refused() {
    let run = |options: &[&str], token: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_whyslow"));
        let out = command.arg("mcp").args(options).env("WHYSLOW_MCP_TOKEN", token).output().unwrap();
        assert_eq!(out.status.code(), Some(2));
        assert!(out.stdout.is_empty());
        String::from_utf8(out.stderr).unwrap()
    };
    for address in ["--http=0.0.0.0:0", "--http=192.0.2.1:8722", "--http=[::]:0"] {
        assert!(run(&[address], TOKEN).contains("is not a loopback address"), "{address}");
    }
    assert!(run(&["--http=127.0.0.1:0"], "short").contains("16 to 256"), "short");
    assert!(run(&["--dir", "/nonexistent"], TOKEN).contains("/nonexistent"));
    assert!(run(&["--allow", "gateway"], TOKEN).contains("possible values: host, probe"));
}
