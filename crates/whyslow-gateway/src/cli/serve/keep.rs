//! [`Keep`]: the packets of slow transfers, written by a `whyslow watch` that runs with the
//! gateway.
//!
//! It is a process of its own, so that the process with the right to capture packets holds no
//! secret, and the one that serves clients needs no such right.

use crate::complain::complain;
use anyhow::{Context, bail};
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

/// The line of `watch` when it takes packets.
const READY: &str = "listening on ";

/// The packets to write, and the file.
pub(super) struct Keep {
    pub path: PathBuf,
    pub slower_than: Duration,
    /// Maximum size of the file and the one before it together, bytes.
    pub most_bytes: u64,
}

impl Keep {
    /// Starts the process that keeps packets of a filter.
    ///
    /// # Errors
    /// If the store is not reached by TCP, capturing is not permitted, or the file cannot be
    /// written.
    pub(super) fn record(&self, filter: Option<&str>) -> anyhow::Result<Recorder> {
        let Some(filter) = filter else {
            bail!("--keep: the store is a folder, which no packets go to: leave it out");
        };
        let mut watch = Command::new(whyslow());
        watch.args(["watch", "--lines", "--until-eof"]).arg("--keep").arg(&self.path);
        watch.arg("--slower-than").arg(format!("{}us", self.slower_than.as_micros()));
        watch.arg("--keep-size").arg(format!("{}B", self.most_bytes)).arg(filter);
        watch.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // The gateway handles Ctrl-C: transfers that it ends may still be slow.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut watch, 0);
        let mut child =
            watch.spawn().context("--keep: `whyslow watch` records the packets, and whyslow is not installed here")?;
        let (Some(lines), Some(messages)) = (child.stdout.take(), child.stderr.take()) else {
            bail!("--keep: whyslow watch has no output");
        };
        let mut messages = BufReader::new(messages);
        wait_until_ready(&mut messages)?;
        Ok(Recorder { child, readers: vec![pass_on(BufReader::new(lines)), pass_on(messages)] })
    }
}

/// `whyslow` in the folder of this program, or else where the shell finds it.
fn whyslow() -> PathBuf {
    let name = format!("whyslow{}", std::env::consts::EXE_SUFFIX);
    let beside = std::env::current_exe().ok().map(|own| own.with_file_name(&name)).filter(|path| path.is_file());
    beside.unwrap_or_else(|| name.into())
}

/// Its output before it takes packets is the reason for a failure.
fn wait_until_ready(messages: &mut BufReader<ChildStderr>) -> anyhow::Result<()> {
    let mut all = String::new();
    loop {
        let mut line = String::new();
        if messages.read_line(&mut line)? == 0 {
            bail!("--keep: no packets can be recorded here: {}", all.trim_end());
        }
        if line.contains(READY) {
            return Ok(());
        }
        all += &line;
    }
}

/// A line for each slow transfer, with the cause.
fn pass_on(lines: BufReader<impl Read + Send + 'static>) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let lines = lines.lines().map_while(Result::ok).filter(|line| !line.trim().is_empty());
        lines.for_each(|line| complain(&format!("--keep: {line}")));
    })
}

/// The process that keeps packets. It ends with this value.
pub(super) struct Recorder {
    child: Child,
    readers: Vec<JoinHandle<()>>,
}

impl Recorder {
    /// Lets it write the rest and end.
    ///
    /// # Errors
    /// If it fails.
    pub(super) fn end(mut self) -> anyhow::Result<()> {
        drop(self.child.stdin.take());
        for reader in self.readers {
            let _ = reader.join();
        }
        let status = self.child.wait().context("--keep")?;
        if !status.success() {
            bail!("--keep: the recorder of packets ended with {status}");
        }
        Ok(())
    }
}
