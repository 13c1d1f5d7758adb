//! Two hosts, 200 ms apart: the storage at the far one, and whatever is compared at the near one.

use std::net::TcpStream;
use std::path::Path as File;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use whyslow_lab::link::config::{Conditions, LinkConfig, Queue, QueueLimit};
use whyslow_lab::net::config::{EmulatorConfig, Host, HostConfig, LinkPair, PathConfig};
use whyslow_lab::net::{self, Path};
use whyslow_testing::{Lack, skip};

/// The user of the store.
pub const USER: &str = "gateway";
pub const SECRET: &str = "a-secret-of-tests-alone";
/// The program under test.
const GATEWAY: &str = env!("CARGO_BIN_EXE_whyslow-gateway");

/// The store at the far end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// Takes uploads, keeps nothing, and closes connections that are idle for 5 s.
    Sink,
    /// versitygw in front of a folder.
    Versity,
    /// moto, in memory.
    Moto,
}

/// A program that ends with its owner.
pub struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The path, with a storage that has the bucket `bucket`.
pub struct Far {
    path: Path,
    /// The storage's.
    pub address: String,
    _storage: Running,
    _folder: TempDir,
}

impl Far {
    /// None, with a line, where there can be no such path.
    pub fn build(kind: Storage) -> Option<Self> {
        if let Err(error) = net::enter() {
            skip(Lack::Machine, error);
            return None;
        }
        let mut path = match Path::build(&config()) {
            Ok(path) => path,
            Err(error) => {
                skip(Lack::Machine, error);
                return None;
            }
        };
        path.start(&[]).unwrap();
        let address = format!("{}:9000", path.address(Host::Server).unwrap());
        let folder = tempfile::tempdir().unwrap();
        let stored = folder.path().join("stored");
        std::fs::create_dir_all(stored.join("bucket")).unwrap();
        let command = match kind {
            Storage::Sink => {
                let mut command = Command::new(std::env::current_exe().unwrap());
                command.args(["sink", &address]);
                command
            }
            Storage::Moto => {
                let mut command = Command::new("moto_server");
                command.args(["--host", "0.0.0.0", "--port", "9000"]).stdout(Stdio::null()).stderr(Stdio::null());
                command
            }
            Storage::Versity => {
                let mut command = Command::new("versitygw");
                command
                    .args([
                        "--access",
                        USER,
                        "--secret",
                        SECRET,
                        "--port",
                        &address,
                        "--quiet",
                        "--keep-alive",
                        "posix",
                    ])
                    .arg(&stored);
                command
            }
        };
        let storage = Running(start(&path, Host::Server, command));
        let far = Self { path, address: address.clone(), _storage: storage, _folder: folder };
        wait_for(&far, Host::Server, &address);
        if kind == Storage::Moto {
            let mut make = Command::new("curl");
            make.args(["--silent", "--request", "PUT", &format!("http://{address}/bucket")]).stdout(Stdio::null());
            assert!(far.spawn(Host::Server, make).wait().unwrap().success());
        }
        Some(far)
    }

    /// Starts a gateway at the near end, with its keys in this folder.
    pub fn gateway(&self, folder: &File, listen: &str) -> Running {
        let mut command = gateway(folder, listen);
        command.args(["--endpoint", &format!("http://{}", self.address), "--may-set-sysctl"]);
        command.env("AWS_ACCESS_KEY_ID", USER).env("AWS_SECRET_ACCESS_KEY", SECRET);
        self.run(command, listen)
    }

    /// Starts a program at the near end that listens there.
    pub fn run(&self, command: Command, listen: &str) -> Running {
        let running = Running(self.spawn(Host::Client, command));
        wait_for(self, Host::Client, listen);
        running
    }

    /// Starts a program.
    pub fn spawn(&self, host: Host, command: Command) -> Child {
        start(&self.path, host, command)
    }

    /// Why the run cannot be trusted; nothing if it can.
    pub fn stop(&mut self) -> Vec<String> {
        self.path.stop().unwrap().void
    }
}

fn start(path: &Path, host: Host, mut command: Command) -> Child {
    command.stdin(Stdio::null());
    path.spawn(host, command).unwrap()
}

/// `whyslow-gateway serve` with keys of its own, made in this folder.
fn gateway(folder: &File, listen: &str) -> Command {
    let keys = folder.join("keys");
    let mut init = Command::new(GATEWAY);
    let made = init.args(["init"]).arg(&keys).args(["--store", "s3://bucket"]).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let mut command = Command::new(GATEWAY);
    command.args(["serve", "--config"]).arg(keys.join("gateway.toml"));
    command.args(["--listen", listen, "--admin", "off", "--access-key", &format!("{USER}=env:SECRET")]);
    command.env("SECRET", SECRET).arg("--log").arg(folder.join("log"));
    command.stderr(std::fs::File::create(folder.join("stderr")).unwrap());
    command
}

/// Waits until a program of a host accepts connections there.
fn wait_for(far: &Far, host: Host, address: &str) {
    let since = Instant::now();
    let accepts = || far.path.within(host, || TcpStream::connect(address).is_ok()).unwrap();
    while !accepts() {
        assert!(since.elapsed() < Duration::from_secs(30), "nothing listens at {address}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// The queue before the link may take 100 ms.
fn config() -> PathConfig {
    let conditions = Conditions {
        rate_bps: Some(1_000_000_000),
        queue: Queue { limit: QueueLimit::TimeNs(100_000_000), ..Queue::default() },
        delay_ns: 100_000_000,
        ..Conditions::default()
    };
    let host = HostConfig { tso: true, gro: true, ..HostConfig::default() };
    let link = LinkConfig::steady(conditions, 1);
    PathConfig {
        client: host.clone(),
        server: host,
        proxy: None,
        cross: None,
        links: vec![LinkPair { up: link.clone(), down: link }],
        emulator: EmulatorConfig { fast: true, ..EmulatorConfig::default() },
    }
}
