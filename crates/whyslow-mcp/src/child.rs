//! Runs this program again, for what a server must not do itself: a probe gives up all its rights,
//! and both may take long. What it prints is its result.

use crate::clip;
use crate::failure::Failure;
use crate::work;
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use serde::de::DeserializeOwned;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::process::Command;
use tokio::time::timeout;

/// Longest run.
const LONGEST: Duration = Duration::from_secs(120);
/// Maximum length of its output: the state of a host with thousands of sockets takes 10 MB.
const MOST: u64 = 64 << 20;

/// Runs a command of whyslow that prints JSON.
///
/// # Errors
/// When it fails, takes too long, or the request was cancelled.
pub(crate) async fn run<T: DeserializeOwned>(
    program: &Path,
    arguments: &[&str],
    context: &RequestContext<RoleServer>,
) -> Result<T, Failure> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let failed = |why: String| {
        Failure::new(format!("whyslow {} failed: {why}", arguments[0]), {
            format!("check the arguments; `whyslow {}` on the command line of this machine fails alike", arguments[0])
        })
    };
    let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
    let (mut out, mut errors) = (Vec::new(), Vec::new());
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let reading = async {
        let read_out = async {
            match stdout {
                Some(stdout) => stdout.take(MOST).read_to_end(&mut out).await,
                None => Ok(0),
            }
        };
        let read_error = async {
            match stderr {
                Some(stderr) => stderr.take(MOST).read_to_end(&mut errors).await,
                None => Ok(0),
            }
        };
        let _ = tokio::join!(read_out, read_error);
        child.wait().await
    };
    tokio::select! {
        ended = timeout(LONGEST, reading) => match ended {
            Err(_) => return Err(failed(format!("it took longer than {} s", LONGEST.as_secs()))),
            Ok(Err(error)) => return Err(failed(error.to_string())),
            Ok(Ok(_)) => {}
        },
        () = context.ct.cancelled() => return Err(work::cancelled()),
    }
    // Failed requests are results, too.
    serde_json::from_slice(&out).map_err(|error| {
        let errors = String::from_utf8_lossy(&errors);
        let lines: Vec<_> = errors.lines().map(|line| line.trim().trim_start_matches("whyslow: ")).collect();
        failed(if lines.is_empty() { error.to_string() } else { clip::sentence(&lines.join("; ")) })
    })
}
