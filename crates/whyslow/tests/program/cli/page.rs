//! `whyslow view` from the point of view of a user on the same machine: the program itself, over
//! its sockets.

mod crowd;
mod end;
mod forgery;
mod uploads;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use whyslow_testing::{Lack, skip};

/// An answer that does not come by then does not come at all.
const PATIENCE: Duration = Duration::from_secs(60);

/// The program while it serves the page; its files are in a folder of the test's own.
struct View {
    child: Child,
    port: u16,
    token: String,
    temporary: TempDir,
}

/// The response.
#[derive(Debug)]
struct Reply {
    /// 0 where there was none.
    status: u16,
    body: Vec<u8>,
}

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples").join(name).with_extension("pcap")
}

fn loss() -> Vec<u8> {
    fs::read(sample("loss-client")).unwrap()
}

impl View {
    /// With a sample, once it is open; `None` if the program was built without the page.
    fn of_sample() -> Option<Self> {
        let view = Self::new(
            &mut Command::new(env!("CARGO_BIN_EXE_whyslow")),
            &["view", sample("slow-start-client").to_str()?],
        )?;
        assert_eq!(view.settled()["state"], "ready");
        Some(view)
    }

    fn new(command: &mut Command, args: &[&str]) -> Option<Self> {
        let temporary = tempfile::tempdir().unwrap();
        command.args(args).env("TMPDIR", temporary.path());
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        let Some(rest) = url.trim().strip_prefix("http://127.0.0.1:") else {
            without_page(child);
            return None;
        };
        let (port, token) = rest.trim_end_matches('/').split_once('/').unwrap();
        Some(Self { child, port: port.parse().unwrap(), token: token.to_owned(), temporary })
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends these bytes, and no more.
    fn send(&self, bytes: impl AsRef<[u8]>) -> TcpStream {
        let mut stream = self.connect();
        // It may have been refused by then.
        let _ = stream.write_all(bytes.as_ref());
        stream
    }

    /// The response to these bytes.
    fn ask(&self, bytes: impl AsRef<[u8]>) -> Reply {
        reply(&mut self.send(bytes))
    }

    fn get(&self, what: &str) -> Reply {
        self.ask(format!("GET /{}/{what} HTTP/1.1\r\n{}Connection: close\r\n\r\n", self.token, self.host()))
    }

    fn host(&self) -> String {
        format!("Host: 127.0.0.1:{}\r\n", self.port)
    }

    fn state(&self) -> Value {
        // If there are very many connections, one may be closed before its request was read.
        let answered = || Some(self.get("state")).filter(|reply| reply.status == 200);
        serde_json::from_slice(&until("the state is given", answered).body).unwrap()
    }

    /// How it stands once nothing is read any more.
    fn settled(&self) -> Value {
        until("nothing is read", || Some(self.state()).filter(|state| state["state"] != "reading"))
    }

    /// The page's document, as it is sent.
    fn document(&self) -> Vec<u8> {
        let reply = self.get("document");
        assert_eq!(reply.status, 200);
        reply.body
    }

    /// The head of a file of this many bytes, which is the last of its drop.
    fn upload(&self, length: impl std::fmt::Display) -> String {
        self.upload_with(&format!("Content-Length: {length}\r\n"), "name=dropped.pcap&rest=0")
    }

    fn upload_with(&self, headers: &str, query: &str) -> String {
        format!("POST /{}/open?{query} HTTP/1.1\r\n{}{headers}Connection: close\r\n\r\n", self.token, self.host())
    }

    /// The most memory that it ever had, bytes.
    fn most_memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
    }

    /// All files that it keeps.
    fn stored_files(&self) -> Vec<PathBuf> {
        let mut all = Vec::new();
        let mut folders = vec![self.temporary.path().to_owned()];
        while let Some(folder) = folders.pop() {
            // A file may disappear during the search.
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                if entry.path().is_dir() {
                    folders.push(entry.path());
                }
                all.push(entry.path());
            }
        }
        all
    }

    /// Ends it; nothing may stay.
    fn end(mut self, signal: Signal) -> ExitStatus {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        let status = until("the program ends", || self.child.try_wait().unwrap());
        assert_eq!(self.stored_files(), [] as [PathBuf; 0], "left after {signal:?}");
        status
    }
}

impl Drop for View {
    fn drop(&mut self) {
        // A test that fails leaves it running otherwise.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reports that a program which ended could not show a page.
#[track_caller]
fn without_page(child: Child) {
    let stderr = child.wait_with_output().unwrap().stderr;
    let stderr = String::from_utf8_lossy(&stderr);
    assert!(stderr.contains("built without the page"), "{stderr}");
    skip(Lack::Machine, "the program was built without the page (`make web`)");
}

/// Waits for something.
#[track_caller]
fn until<T>(what: &str, mut is_so: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        match is_so() {
            Some(found) => return found,
            None => assert!(begin.elapsed() < PATIENCE, "it does not come so far that {what}"),
        }
        sleep(Duration::from_millis(10));
    }
}

/// All bytes until the other end closes, which may happen before it has read all of ours.
fn reply(stream: &mut TcpStream) -> Reply {
    let mut bytes = Vec::new();
    let mut block = [0; 1 << 16];
    loop {
        match stream.read(&mut block) {
            Ok(0) => break,
            Ok(read) => bytes.extend_from_slice(&block[..read]),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => break,
            Err(error) => panic!("no answer: {error}; so far {:?}", String::from_utf8_lossy(&bytes)),
        }
    }
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").map_or(bytes.len(), |end| end + 4);
    let body = bytes.split_off(end);
    let status = bytes.get(9..12).and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
    Reply { status: status.unwrap_or(0), body }
}

/// No more is sent, though there was more to come.
fn cut(stream: &TcpStream) {
    stream.shutdown(Shutdown::Write).unwrap();
}
