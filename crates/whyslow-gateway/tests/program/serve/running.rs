//! A gateway that runs, and a client that knows HTTP alone.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// As long as a busy machine may need.
const PATIENCE: Duration = Duration::from_secs(60);

/// A folder with keys, a store, and a home.
pub struct Place(TempDir);

impl Place {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A file in it.
    pub fn put(&self, name: &str, bytes: &[u8]) -> PathBuf {
        std::fs::write(self.at(name), bytes).unwrap();
        self.at(name)
    }

    /// The program in this place, which has none of the user's settings.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("whyslow-gateway"));
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy().into_owned();
            if name.starts_with("WHYSLOW_GATEWAY_") || name.starts_with("AWS_") || name.starts_with("XDG_") {
                command.env_remove(name);
            }
        }
        command.env("HOME", self.at("home")).env("AWS_EC2_METADATA_DISABLED", "true");
        command.env_remove("COLUMNS").current_dir(self.0.path()).args(arguments);
        command
    }

    /// Starts a gateway in front of the folder `store`, without access keys.
    pub fn serve(&self, more: &[&str]) -> Running {
        Running::start(self.command(&["serve", "--store", "file:store", "--no-auth"]), more)
    }
}

/// It ends with the test.
pub struct Running {
    child: Child,
    pub address: SocketAddr,
    pub admin: SocketAddr,
    /// Its output there.
    stderr: Arc<Mutex<String>>,
    /// Reads that.
    reader: JoinHandle<()>,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Running {
    /// Starts it on free ports, and waits until it is ready.
    pub fn start(mut command: Command, more: &[&str]) -> Self {
        command.args(["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"]).args(more);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut stderr = String::new();
        let ready = loop {
            let Some(line) = lines.next().transpose().unwrap() else { panic!("it did not start: {stderr}") };
            stderr.push_str(&line);
            stderr.push('\n');
            if line.starts_with("whyslow-gateway: ready: ") {
                break line;
            }
        };
        let stderr = Arc::new(Mutex::new(stderr));
        let more = Arc::clone(&stderr);
        let reader = thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                let mut stderr = more.lock().unwrap();
                stderr.push_str(&line);
                stderr.push('\n');
            }
        });
        let address = |before: &str| {
            let rest = ready.split_once(before).unwrap().1;
            rest.split([' ', ';']).next().unwrap().parse().unwrap()
        };
        let (address, admin) = (address("S3 at http://"), address("administration at http://"));
        Self { child, address, admin, stderr, reader }
    }

    pub fn stderr(&self) -> String {
        self.stderr.lock().unwrap().clone()
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn admin_url(&self) -> String {
        format!("http://{}", self.admin)
    }

    pub fn signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for its end, and for all that it printed.
    pub fn wait(&mut self) -> ExitStatus {
        let status = self.child.wait().unwrap();
        // A program that it started may hold stderr open.
        let end = Instant::now() + Duration::from_secs(10);
        while !self.reader.is_finished() && Instant::now() < end {
            thread::sleep(Duration::from_millis(5));
        }
        status
    }

    /// Ends it as `kill` does, which must end well.
    pub fn end(mut self) -> String {
        self.signal(rustix::process::Signal::TERM);
        let status = self.wait();
        assert_eq!((status.code(), status.signal()), (Some(0), None), "{}", self.stderr());
        self.stderr()
    }

    /// Ends it as a power cut does.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// One request on a connection of its own; its status and body.
    pub fn ask(&self, method: &str, path: &str, body: &[u8]) -> (u16, Vec<u8>) {
        ask(self.address, method, path, body).unwrap()
    }

    /// The same; its status and its head.
    pub fn head_of(&self, method: &str, path: &str, body: &[u8]) -> (u16, String) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(head(method, path, body.len()).as_bytes()).unwrap();
        stream.write_all(body).unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        let text = String::from_utf8_lossy(&all);
        let head = text.split("\r\n\r\n").next().unwrap_or_default();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap();
        (status, head.to_owned())
    }

    /// Maximum memory that it held so far, bytes (`VmHWM`).
    pub fn most_memory(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
    }

    /// An answer of the administration.
    pub fn administration(&self, path: &str) -> (u16, String) {
        let (status, body) = ask(self.admin, "GET", path, b"").unwrap();
        (status, String::from_utf8(body).unwrap())
    }

    /// Its sockets in CLOSE_WAIT (state 8 of `/proc/PID/net/tcp`) at the port of the clients.
    pub fn close_waits(&self) -> usize {
        let table = std::fs::read_to_string(Path::new("/proc/self/net/tcp")).unwrap();
        let port = format!(":{:04X}", self.address.port());
        let is_one = |line: &&str| {
            let fields: Vec<_> = line.split_whitespace().collect();
            fields.get(1).is_some_and(|local| local.ends_with(&port)) && fields.get(3) == Some(&"08")
        };
        table.lines().filter(is_one).count()
    }
}

/// The head of a request.
pub fn head(method: &str, path: &str, length: usize) -> String {
    format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n")
}

/// One request on a connection of its own.
pub fn ask(to: SocketAddr, method: &str, path: &str, body: &[u8]) -> std::io::Result<(u16, Vec<u8>)> {
    let mut stream = TcpStream::connect(to)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(head(method, path, body.len()).as_bytes())?;
    stream.write_all(body)?;
    answer(&mut stream)
}

/// An answer, whose body is as long as it was announced, or goes to the end.
pub fn answer(stream: &mut TcpStream) -> std::io::Result<(u16, Vec<u8>)> {
    let cut = || std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
    let mut all = Vec::new();
    stream.read_to_end(&mut all)?;
    let end = all.windows(4).position(|four| four == b"\r\n\r\n").ok_or_else(cut)?;
    let head = String::from_utf8_lossy(&all[..end]).to_lowercase();
    let body = all[end + 4..].to_vec();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
    if length.is_some_and(|length| length != body.len()) {
        return Err(cut());
    }
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(cut)?;
    Ok((status, body))
}

/// Waits until the condition holds; it does not measure time.
pub fn until(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..6000 {
        if holds() {
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
    panic!("not within 60 s: {what}");
}
