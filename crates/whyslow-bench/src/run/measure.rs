//! [`measure`]: one run of one program.

use super::contest::Program;
use anyhow::{Context, bail};
use std::fs;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};
use wait4::Wait4;

/// The cost of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Sample {
    /// Seconds.
    pub(super) wall: f64,
    /// Seconds of all its threads, in user and kernel mode, and of the program at the other end of
    /// its pipe.
    pub(super) cpu: f64,
    /// Its memory; `None` if the system does not report it, or the run ended before the first
    /// sample.
    pub(super) memory: Option<Memory>,
    /// The most memory it had by the kernel's account, files included, bytes; 0 if unknown.
    pub(super) max_rss: u64,
}

/// The most memory that a program had, bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Memory {
    /// Its own: what it would need were its files not mapped. Looked at a hundred times a second.
    pub(super) own: u64,
    /// Peak memory, including the files that the program maps.
    pub(super) peak: u64,
}

/// A run that came to an end, or did not.
pub(super) enum Run {
    Done(Sample),
    /// It took more memory of its own than this, bytes, and was stopped.
    Stopped(u64),
}

/// Between two looks at a program's memory.
const LOOK: Duration = Duration::from_millis(10);

/// Runs a program, its output thrown away. One that takes more than `most` bytes of memory of its
/// own is stopped before it takes the machine with it.
///
/// # Errors
/// When it does not start, or fails.
pub(super) fn measure(program: &Program, most: u64) -> anyhow::Result<Run> {
    let name = program.name;
    let (path, args) = program.command.split_first().context("a command without a program")?;
    let mut feeder = match &program.through_pipe {
        Some(file) => Some(Command::new("cat").arg(file).stdout(Stdio::piped()).spawn().context("cat")?),
        None => None,
    };
    let stdin = feeder.as_mut().and_then(|cat| cat.stdout.take()).map_or_else(Stdio::null, Stdio::from);
    let mut command = Command::new(path);
    command.args(args).stdin(stdin).stdout(Stdio::null()).stderr(Stdio::null());
    let began = Instant::now();
    let mut child = command.spawn().with_context(|| format!("{name} does not start"))?;
    // The pipe's end that this process holds goes, or the program would never see its end.
    drop(command);
    let (stop, stopped) = channel();
    let pid = child.id();
    let watcher = thread::spawn(move || watch(pid, most, &stopped));
    let used = child.wait4().with_context(|| name.to_owned())?;
    let wall = began.elapsed().as_secs_f64();
    drop(stop);
    let memory = watcher.join().ok().flatten();
    let fed = feeder.as_mut().map(Child::wait4).transpose().context("cat")?;
    if memory.is_some_and(|memory| memory.own > most) {
        return Ok(Run::Stopped(most));
    }
    if !used.status.success() {
        bail!("{name} fails: {}", used.status);
    }
    let max_rss = used.rusage.maxrss;
    let usages = [Some(used), fed].into_iter().flatten().map(|used| used.rusage);
    let cpu = usages.map(|usage| (usage.utime + usage.stime).as_secs_f64()).sum();
    Ok(Run::Done(Sample { wall, cpu, memory, max_rss }))
}

/// The most memory that a process is seen to have, until `stopped` is, or it has more than
/// `allowed`.
fn watch(pid: u32, allowed: u64, stopped: &Receiver<()>) -> Option<Memory> {
    let mut most: Option<Memory> = None;
    while stopped.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
        let Some(now) = memory(&fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default()) else {
            continue;
        };
        let so_far = most.unwrap_or_default();
        most = Some(Memory { own: now.own.max(so_far.own), peak: now.peak.max(so_far.peak) });
        if now.own > allowed {
            kill(pid);
            break;
        }
    }
    most
}

/// Ends a process that its parent has not waited for yet, so that it is that one and no other.
#[cfg(unix)]
fn kill(pid: u32) {
    use rustix::process::{Pid, Signal, kill_process};
    let process = i32::try_from(pid).ok().and_then(Pid::from_raw);
    // A process that has ended need not be killed.
    let _ = process.map(|process| kill_process(process, Signal::KILL));
}

/// Other systems do not report a process' memory, so no limit applies.
#[cfg(not(unix))]
fn kill(_: u32) {}

/// A process's memory by its status: anonymous and shared memory is its own.
pub(super) fn memory(status: &str) -> Option<Memory> {
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        let kilobytes = line.trim_start_matches(':').trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?;
        Some(kilobytes * 1_024)
    };
    Some(Memory { own: field("RssAnon")? + field("RssShmem")?, peak: field("VmHWM")? })
}
