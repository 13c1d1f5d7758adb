//! [`Machine`]: where and with what a run was made.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread::available_parallelism;
use std::time::Instant;

/// Properties of the machine that affect the figures.
#[derive(Clone, Debug)]
pub(super) struct Machine(Vec<(&'static str, String)>);

impl Machine {
    pub(super) fn look(whyslow: &Path) -> Self {
        let cores = Self::processors();
        let processor = field("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown processor".to_owned());
        let memory = field("/proc/meminfo", "MemTotal").unwrap_or_else(|| "unknown".to_owned());
        let load = read("/proc/loadavg").and_then(|text| text.split(' ').next().map(str::to_owned));
        Self(vec![
            ("date", output_of("date", &["-u", "+%Y-%m-%d %H:%M UTC"])),
            ("commit", output_of("git", &["describe", "--always", "--dirty", "--abbrev=10"])),
            ("processor", format!("{processor}, {cores} cores")),
            ("memory", format!("{memory}; a thread copies {:.1} GB/s", copying())),
            ("kernel", read("/proc/sys/kernel/osrelease").unwrap_or_else(|| output_of("uname", &["-sr"]))),
            ("load before", load.unwrap_or_else(|| "unknown".to_owned())),
            ("whyslow", output_of(&whyslow.to_string_lossy(), &["--version"])),
            ("tcptrace", output_of("tcptrace", &["-v"])),
            ("tshark", output_of("tshark", &["--version"])),
            ("argus", output_of("argus", &["-h"])),
            ("nfpcapd", output_of("nfpcapd", &["-V"])),
            ("cat", output_of("cat", &["--version"])),
        ])
    }

    /// How many threads run at the same time.
    pub(super) fn processors() -> usize {
        available_parallelism().map_or(1, usize::from)
    }

    /// Half of its memory, bytes: no program may take more.
    pub(super) fn allowance() -> u64 {
        let kilobytes = field("/proc/meminfo", "MemTotal").and_then(|text| text.split(' ').next()?.parse::<u64>().ok());
        kilobytes.map_or(u64::MAX, |kilobytes| kilobytes * 512)
    }

    pub(super) fn facts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.iter().map(|(what, value)| (*what, value.as_str()))
    }
}

fn read(path: &str) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

fn field(path: &str, name: &str) -> Option<String> {
    let text = read(path)?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// The first line that a program prints with a version in it, or its first.
fn output_of(program: &str, args: &[&str]) -> String {
    let Ok(output) = Command::new(program).args(args).output() else { return "not installed".to_owned() };
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or("says nothing").to_owned();
    lines.find(|line| line.starts_with("Version")).map_or(first, str::to_owned)
}

/// Gigabytes a second from memory to memory, the best of five: no analysis that looks at every byte
/// is faster than reading.
fn copying() -> f64 {
    let from = vec![1_u8; 256 << 20];
    let mut to = vec![0_u8; 256 << 20];
    let mut best = 0.0_f64;
    for _ in 0..5 {
        let began = Instant::now();
        to.copy_from_slice(std::hint::black_box(&from));
        std::hint::black_box(&mut to);
        best = best.max(from.len() as f64 / began.elapsed().as_secs_f64() / 1e9);
    }
    best
}
