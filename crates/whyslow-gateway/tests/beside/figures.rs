//! A table of one client, and three ways to the same storage.

use super::far::{Far, Running, SECRET, Storage, USER};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use whyslow_lab::net::config::Host;

const SCRIPT: &str = include_str!("client.py");

/// How long to take.
pub struct Choice {
    /// Seconds without a request, before one.
    idle: u64,
    /// Bytes of the large object; 0 for no such object.
    large: u64,
}

impl Default for Choice {
    fn default() -> Self {
        let large = std::env::var("LARGE").map_or(100_000_000, |bytes| bytes.parse().unwrap());
        Self { idle: 60, large }
    }
}

impl Choice {
    /// To see that it works.
    pub fn quick() -> Self {
        Self { idle: 2, large: 20_000_000 }
    }
}

#[derive(Deserialize)]
struct Row {
    what: String,
    state: String,
    bytes: u64,
    seconds: f64,
}

/// The compared program, and its command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    Straight,
    Gateway,
    Rclone,
}

/// Seconds of each way, by operation.
type Table = BTreeMap<(String, String, u64), BTreeMap<Way, Vec<f64>>>;

pub fn print(choice: &Choice) -> ExitCode {
    let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
    let storage = if has("versitygw") { Storage::Versity } else { Storage::Moto };
    let rclone = std::env::var("RCLONE").unwrap_or_else(|_| "rclone".to_owned());
    let mut table = Table::new();
    for way in [Way::Straight, Way::Gateway, Way::Rclone] {
        if way == Way::Rclone && !has(&rclone) {
            println!("{rclone} is not installed");
            continue;
        }
        let Some(mut far) = Far::build(storage) else { return ExitCode::FAILURE };
        let folder = tempfile::tempdir().unwrap();
        let (endpoint, program) = begin(&far, way, (folder.path(), &rclone));
        // Kept connections have had their bursts by then.
        std::thread::sleep(std::time::Duration::from_secs(10));
        for row in run(&far, way, (&endpoint, choice)) {
            table.entry((row.what, row.state, row.bytes)).or_default().entry(way).or_default().push(row.seconds);
        }
        drop(program);
        for why in far.stop() {
            println!("{way:?}: the link is not to be trusted: {why}");
        }
    }
    println!(
        "storage: {storage:?}; medians of the runs (how many), seconds; beside the gateway: how many times as long"
    );
    for ((what, state, bytes), ways) in &table {
        let ours = ways.get(&Way::Gateway).map(|seconds| median(seconds));
        print!("{what} {state:<7} {bytes:>11} B");
        for (way, seconds) in ways {
            let middle = median(seconds);
            print!("   {way:?} {middle:.3} s ({})", seconds.len());
            if let Some(ours) = ours.filter(|_| *way != Way::Gateway) {
                print!(" = {:.1} ×", middle / ours);
            }
        }
        println!();
    }
    ExitCode::SUCCESS
}

fn median(seconds: &[f64]) -> f64 {
    let mut sorted = seconds.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// The endpoint for clients, and the program that serves it.
fn begin(far: &Far, way: Way, (folder, rclone): (&Path, &str)) -> (String, Option<Running>) {
    let listen = "127.0.0.1:9000";
    match way {
        Way::Straight => (format!("http://{}", far.address), None),
        Way::Gateway => (format!("http://{listen}"), Some(far.gateway(folder, listen))),
        Way::Rclone => {
            let obscured = Command::new(rclone).args(["obscure", SECRET]).output().unwrap();
            let password = String::from_utf8(obscured.stdout).unwrap();
            let mut command = Command::new(rclone);
            command.args(["serve", "s3", "crypt:", "--addr", listen, "--auth-key", &format!("{USER},{SECRET}")]);
            let settings = [
                ("FAR_TYPE", "s3"),
                ("FAR_PROVIDER", "Other"),
                ("FAR_ENDPOINT", &format!("http://{}", far.address)),
                ("FAR_ACCESS_KEY_ID", USER),
                ("FAR_SECRET_ACCESS_KEY", SECRET),
                ("CRYPT_TYPE", "crypt"),
                // The bucket that clients name is the first folder there.
                ("CRYPT_REMOTE", "far:"),
                ("CRYPT_FILENAME_ENCRYPTION", "off"),
                ("CRYPT_DIRECTORY_NAME_ENCRYPTION", "false"),
                ("CRYPT_PASSWORD", password.trim()),
            ];
            command.envs(settings.map(|(name, value)| (format!("RCLONE_CONFIG_{name}"), value)));
            command.stdout(Stdio::null()).stderr(std::fs::File::create(folder.join("stderr")).unwrap());
            (format!("http://{listen}"), Some(far.run(command, listen)))
        }
    }
}

fn run(far: &Far, way: Way, (endpoint, choice): (&str, &Choice)) -> Vec<Row> {
    let kind = if way == Way::Straight { "straight" } else { "served" };
    let mut client = Command::new("python3");
    client.args(["-c", SCRIPT, endpoint, kind, &choice.idle.to_string(), &choice.large.to_string()]);
    client.env("AWS_ACCESS_KEY_ID", USER).env("AWS_SECRET_ACCESS_KEY", SECRET).env("AWS_EC2_METADATA_DISABLED", "true");
    let output = far
        .spawn(Host::Client, {
            client.stdout(Stdio::piped());
            client
        })
        .wait_with_output()
        .unwrap();
    if !output.status.success() {
        println!("{way:?}: the client failed: {}", output.status);
    }
    String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
