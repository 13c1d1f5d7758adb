//! A client that speaks the protocol by itself: a line a message.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

/// Maximum time of an answer: other tests run at the same time.
const PATIENCE: Duration = Duration::from_secs(120);

/// The bundled captures.
pub fn samples() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../samples")
}

/// The methods of a client that an assistant needs.
pub trait Assistant {
    /// The result of a request, or its error.
    fn ask(&mut self, method: &str, params: Value) -> Result<Value, Value>;

    /// The result of a tool.
    #[track_caller]
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({"name": tool, "arguments": arguments})).unwrap()
    }

    /// The result of a tool, as data.
    #[track_caller]
    fn data(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], false, "{tool}: {result}");
        result["structuredContent"].clone()
    }

    /// Why a tool has no result.
    #[track_caller]
    fn failure(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{tool}: {result}");
        let text = result["content"][0]["text"].as_str().unwrap().to_owned();
        assert!(text.contains("\nHint: "), "{tool}: {text}");
        text
    }
}

/// A server on pipes.
pub struct Pipes {
    pub child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    next: u64,
    /// Notifications that came.
    pub notifications: Vec<Value>,
}

impl Pipes {
    /// A server for captures in a folder.
    pub fn start(dir: &Path, options: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_whyslow"));
        command.arg("mcp").env("LC_ALL", "C.UTF-8").arg("--dir").arg(dir).args(options);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (sender, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let stdin = child.stdin.take();
        Self { child, stdin, lines, next: 1, notifications: Vec::new() }
    }

    /// Starts a server and initializes the session as the protocol requires.
    pub fn begun(dir: &Path, options: &[&str]) -> Self {
        let mut client = Self::start(dir, options);
        client.begin();
        client
    }

    /// The handshake.
    pub fn begin(&mut self) -> Value {
        let result = self.ask("initialize", initialize()).unwrap();
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        result
    }

    /// Sends bytes as they are.
    pub fn raw(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(bytes).unwrap();
        stdin.flush().unwrap();
    }

    pub fn send(&mut self, message: &Value) {
        self.raw(format!("{message}\n").as_bytes());
    }

    /// Sends a request, and returns its id.
    pub fn request(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// The next message; each line on standard output must be one.
    #[track_caller]
    pub fn message(&mut self) -> Option<Value> {
        let line = self.lines.recv_timeout(PATIENCE).ok()?;
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        Some(message)
    }

    /// The answer to a request.
    #[track_caller]
    pub fn answer(&mut self, id: u64) -> Result<Value, Value> {
        loop {
            let message = self.message().expect("an answer");
            if message["id"] == id {
                return match message.get("result") {
                    Some(result) => Ok(result.clone()),
                    None => Err(message["error"].clone()),
                };
            }
            self.notifications.push(message);
        }
    }

    /// Ends the input; returns the exit status and standard error.
    pub fn end(mut self) -> (Option<i32>, String) {
        drop(self.stdin.take());
        let status = self.child.wait().unwrap();
        let mut errors = String::new();
        if let Some(mut stderr) = self.child.stderr.take() {
            std::io::Read::read_to_string(&mut stderr, &mut errors).unwrap();
        }
        (status.code(), errors)
    }
}

impl Drop for Pipes {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Assistant for Pipes {
    #[track_caller]
    fn ask(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.request(method, params);
        self.answer(id)
    }
}

/// The first message of a client.
pub fn initialize() -> Value {
    json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}})
}
