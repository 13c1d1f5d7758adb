//! 200 clients for five minutes, and one bound of memory: what the gateway held, and what became of
//! the requests.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const CLIENTS: u64 = 200;
/// Each client stores and reads one object again and again: of 1 kB, 100 kB, 1 MB or 10 MB.
const SIZES: [usize; 4] = [1_000, 100_000, 1_000_000, 10_000_000];

/// Results of the requests of all clients.
#[derive(Default)]
struct Sums {
    puts: AtomicU64,
    gets: AtomicU64,
    bytes: AtomicU64,
    /// Why requests came to nothing, and how many.
    failures: Mutex<BTreeMap<String, u64>>,
}

impl Sums {
    fn failed(&self, method: &str, outcome: &std::io::Result<(u16, usize)>) {
        let why = match outcome {
            Ok((200, _)) => format!("{method}: cut"),
            Ok((status, _)) => format!("{method}: {status}"),
            Err(error) => format!("{method}: {error}"),
        };
        *self.failures.lock().unwrap().entry(why).or_default() += 1;
    }
}

struct Gateway {
    child: Child,
    address: SocketAddr,
    admin: SocketAddr,
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Gateway {
    fn start(folder: &std::path::Path) -> Self {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("whyslow-gateway"));
        command.args(["serve", "--store", "file:store", "--no-auth", "--memory", "256MiB", "--log", "log"]);
        command.args(["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"]).env("HOME", folder).current_dir(folder);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let ready =
            lines.find_map(|line| line.ok().filter(|line| line.starts_with("whyslow-gateway: ready: "))).unwrap();
        std::thread::spawn(move || lines.for_each(drop));
        let address = |before: &str| {
            let rest = ready.split_once(before).unwrap().1;
            rest.split([' ', ';']).next().unwrap().parse().unwrap()
        };
        Self { child, address: address("S3 at http://"), admin: address("administration at http://") }
    }

    /// A line of `/proc/PID/status`, kB.
    fn memory(&self, name: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }
}

/// One request on a connection of its own; its status, and how long its body is.
fn ask(to: SocketAddr, method: &str, path: &str, body: &[u8]) -> std::io::Result<(u16, usize)> {
    let mut stream = TcpStream::connect(to)?;
    stream.set_read_timeout(Some(Duration::from_secs(120)))?;
    let length = body.len();
    let head =
        format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)?;
    let mut all = Vec::new();
    stream.read_to_end(&mut all)?;
    let end = all.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(all.len());
    let status = String::from_utf8_lossy(&all[..end]).split(' ').nth(1).and_then(|status| status.parse().ok());
    Ok((status.unwrap_or(0), all.len().saturating_sub(end + 4)))
}

fn client(address: SocketAddr, number: u64, time: Duration, sums: &Sums) {
    let body = vec![7; SIZES[number as usize % SIZES.len()]];
    let (path, began) = (format!("/crowd/{number}"), Instant::now());
    let count = |sum: &AtomicU64, more: usize| sum.fetch_add(more as u64, Ordering::Relaxed);
    while began.elapsed() < time {
        match ask(address, "PUT", &path, &body) {
            Ok((200, _)) => {
                count(&sums.puts, 1);
                count(&sums.bytes, body.len());
            }
            other => {
                sums.failed("PUT", &other);
                continue;
            }
        }
        match ask(address, "GET", &path, b"") {
            Ok((200, length)) if length == body.len() => {
                count(&sums.gets, 1);
                count(&sums.bytes, length);
            }
            other => sums.failed("GET", &other),
        }
    }
}

/// Prints the result.
pub fn print(time: Duration) -> ExitCode {
    let folder = tempfile::tempdir().unwrap();
    let gateway = Gateway::start(folder.path());
    assert_eq!(ask(gateway.address, "PUT", "/crowd", b"").unwrap().0, 200);
    let sums = Sums::default();
    std::thread::scope(|scope| {
        for number in 0..CLIENTS {
            let (address, sums) = (gateway.address, &sums);
            scope.spawn(move || client(address, number, time, sums));
        }
        for minute in 1..=time.as_secs() / 60 {
            std::thread::sleep(Duration::from_secs(60));
            println!("after {minute} min: {} kB resident", gateway.memory("VmRSS:"));
        }
    });
    let mut stats = TcpStream::connect(gateway.admin).unwrap();
    stats.write_all(b"GET /stats HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stats.read_to_string(&mut text).unwrap();
    let report: serde_json::Value = serde_json::from_str(text.split_once("\r\n\r\n").unwrap().1).unwrap();
    let of = |sum: &AtomicU64| sum.load(Ordering::Relaxed);
    println!(
        "{CLIENTS} clients, {} s: {} objects stored, {} read, {:.1} GB of bodies; failed: {:?}",
        time.as_secs(),
        of(&sums.puts),
        of(&sums.gets),
        of(&sums.bytes) as f64 / 1e9,
        sums.failures.lock().unwrap()
    );
    println!("memory of requests: {}; at most {} kB resident", report["memory"], gateway.memory("VmHWM:"));
    ExitCode::SUCCESS
}
