//! The view of a terminal, on a terminal of its own.

use crate::sample;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Longer than any step takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// A watch on a terminal.
struct Terminal {
    child: Child,
    keys: ChildStdin,
    drawn: Receiver<String>,
    /// The text that was drawn.
    text: String,
}

impl Terminal {
    /// Watches a capture in this folder; `None` without a program that creates terminals.
    fn start(folder: &Path, capture: &Path) -> Option<Self> {
        if !whyslow_testing::tools(&["script", "stty"]) {
            return None;
        }
        let watch = format!(
            "stty cols 120 rows 30; exec '{}' watch '{}'",
            env!("CARGO_BIN_EXE_whyslow"),
            capture.canonicalize().unwrap().display()
        );
        let mut child = Command::new("script")
            .args(["-qfec", &watch, "/dev/null"])
            .current_dir(folder)
            .env("TERM", "xterm")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let (keys, mut out) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (send, drawn) = channel();
        thread::spawn(move || {
            let mut piece = [0; 4_096];
            while let Ok(length @ 1..) = out.read(&mut piece) {
                if send.send(String::from_utf8_lossy(&piece[..length]).into_owned()).is_err() {
                    return;
                }
            }
        });
        Some(Self { child, keys, drawn, text: String::new() })
    }

    /// Waits until this was drawn.
    #[track_caller]
    fn wait_for(&mut self, wanted: &str) {
        while !self.text.contains(wanted) {
            let Ok(piece) = self.drawn.recv_timeout(PATIENCE) else { panic!("no {wanted:?} in {:?}", self.text) };
            self.text += &piece;
        }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The first capture in a folder.
fn saved(folder: &Path) -> PathBuf {
    let start = Instant::now();
    loop {
        let mut files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        if let Some(path) = files.find(|path| path.extension().is_some_and(|extension| extension == "pcapng")) {
            return path;
        }
        assert!(start.elapsed() < PATIENCE, "nothing was saved");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_key_saves_the_packets_of_a_connection() {
    let folder = tempfile::tempdir().unwrap();
    let capture = sample("shared-bottleneck-client");
    let Some(mut terminal) = Terminal::start(folder.path(), &capture) else { return };
    // A later change of a line is drawn cell by cell; a new line is drawn whole.
    terminal.wait_for("10.77.0.2:5001");
    terminal.press("s");
    let path = saved(folder.path());
    // It is complete when the watch has ended.
    terminal.press("q");
    assert!(terminal.child.wait().unwrap().success());
    // The connection alone, all of it, with the verdict as a comment.
    let explain = |path: &Path| -> serde_json::Value {
        let output = Command::new(env!("CARGO_BIN_EXE_whyslow")).arg(path).arg("--json").output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let (saved, whole) = (explain(&path), explain(&capture));
    let connections = saved["connections"].as_array().unwrap();
    assert_eq!(connections.len(), 1);
    let of = whole["connections"].as_array().unwrap().iter().find(|of| of["client"] == connections[0]["client"]);
    let counted = |connection: &serde_json::Value| {
        let direction = |at: usize| connection["directions"][at]["packets"].as_u64().unwrap();
        (direction(0), direction(1), connection["transfers"].as_array().unwrap().len())
    };
    assert_eq!(counted(&connections[0]), counted(of.unwrap()));
    let name = path.file_name().unwrap().to_str().unwrap().to_owned();
    assert!(name.starts_with("whyslow-"), "{name}");
    let bytes = std::fs::read(&path).unwrap();
    assert!(bytes.windows(9).any(|window| window == b"whyslow: "));
}
