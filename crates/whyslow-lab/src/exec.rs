//! The user's own programs at the two ends, and a shell on a host.
//!
//! Knows: how to start them, how to tell that the server listens, where the captures go. Promises:
//! both programs and all that they started are gone when this returns; captures get their names
//! when they are whole, also when the run was stopped, and replace those of an earlier run then.
//! Ignores: what they say to each other. The result is explained by whoever calls this.

use crate::count;
use crate::net::config::Host;
use crate::net::{Path as NetPath, Tap};
use crate::real::counters::Counters;
use crate::run::{self, RunError};
use crate::scenario::Scenario;
use crate::truth::Truth;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A server that does not listen after this long is used as it is: it may not be a TCP server.
const LISTENS_WITHIN: Duration = Duration::from_secs(10);
/// One that is known to listen on a port may have to make its files first.
const LISTENS_AT_LAST: Duration = Duration::from_secs(40);
/// Between the client's end and the server's: what closes the connections is on its way.
const AFTERWARDS: Duration = Duration::from_millis(200);

/// How late the wish to stop may be noticed.
const NOTICED_WITHIN: Duration = Duration::from_millis(50);
/// Where the kernel tells of no process' end by a descriptor: between two looks.
const BETWEEN_LOOKS: Duration = Duration::from_millis(5);

/// What became of the two programs.
#[derive(Clone, Debug)]
pub struct Executed {
    /// The client's exit status; none when the run was stopped before it ended.
    pub client: Option<ExitStatus>,
    /// The server's, when it ended before the client.
    pub server: Option<ExitStatus>,
    /// How long the client ran.
    pub took: Duration,
    /// The captures: client's, server's.
    pub captures: [PathBuf; 2],
    /// Why the link is not to be trusted; empty when it is.
    pub void: Vec<String>,
}

/// Runs `server` and, as soon as it listens, `client`, both by `sh -c` with `$SERVER` and `$CLIENT`
/// set to the addresses. Their output goes to this process's standard error. The scenario gives the
/// path and the hosts; its workload, buffers of single sockets, processors and nice values are not
/// used, since they are the programs' own.
///
/// Once `stop` is set, both are ended, and what was captured by then is kept.
///
/// `folder` gets client.pcap, server.pcap and truth.json.
pub fn exec(
    scenario: &Scenario,
    server: &str,
    client: &str,
    folder: &Path,
    stop: &AtomicBool,
) -> Result<Executed, RunError> {
    let programs = Programs { server, client, ..Programs::default() };
    let files = Unfinished(["client.pcap", "server.pcap", "truth.json"].map(|name| folder.join(name)));
    std::fs::create_dir_all(folder).map_err(run::file_error(folder.display().to_string()))?;
    let taps = [files.unfinished(0), files.unfinished(1)];
    let (mut executed, truth) = record(scenario, &programs, taps, stop)?;
    run::write_json(&files.unfinished(2), &truth)?;
    let [client_capture, server_capture, _] = files.finish()?;
    executed.captures = [client_capture, server_capture];
    Ok(executed)
}

/// Two programs, and what is known about them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Programs<'a> {
    /// The server's command line.
    pub server: &'a str,
    /// The client's.
    pub client: &'a str,
    /// The port that the server listens on when it is ready; any, where none is named.
    pub port: Option<u16>,
    /// A folder of their own, as `$DIR`.
    pub folder: Option<&'a Path>,
    /// Whether the kernels are asked about all of their sockets, every [`Scenario::sample_every`].
    pub are_asked: bool,
    /// A client that takes longer is ended.
    pub timeout: Option<Duration>,
    /// A command for a host that is run before the server starts.
    pub before: Option<(Host, &'a str)>,
}

/// Runs two programs as [`exec`] does, and captures into these files, the client's and the
/// server's.
pub(crate) fn record(
    scenario: &Scenario,
    programs: &Programs<'_>,
    taps: [PathBuf; 2],
    stop: &AtomicBool,
) -> Result<(Executed, Truth), RunError> {
    let mut path = build(scenario)?;
    let snaplen = u32::try_from(scenario.snaplen.0).unwrap_or(u32::MAX);
    let tap = |host: Host, file: &PathBuf| Tap { host, file: file.clone(), snaplen };
    path.start(&[tap(Host::Client, &taps[0]), tap(Host::Server, &taps[1])])?;
    if let Some((host, line)) = programs.before {
        let status = Program(start(&path, host, line, programs.folder)?).wait(stop, None);
        let status = status.map_err(run::file_error("waiting for a command"))?;
        if !status.is_some_and(|status| status.success()) {
            return Err(RunError::Refused(line.to_owned()));
        }
    }
    let every = scenario.sample_every.duration();
    let asked = programs.are_asked.then(|| Counters::start(&path, every)).transpose()?;
    let (client_ended, server_ended, took) = play(&path, programs, stop)?;
    let ends = asked.map(Counters::finish).unwrap_or_default();
    let stopped = path.stop()?;
    let truth = Truth {
        experiment: "exec".to_owned(),
        label: programs.client.to_owned(),
        cause: String::new(),
        ends,
        links: stopped.links,
        void: stopped.void.clone(),
        partial: client_ended.is_none(),
        ..run::empty_truth(&path, scenario)?
    };
    let executed = Executed { client: client_ended, server: server_ended, took, captures: taps, void: stopped.void };
    Ok((executed, truth))
}

/// Lets both programs run until the client has ended, or it is to stop: their exit statuses, and
/// how long the client ran.
fn play(
    path: &NetPath,
    programs: &Programs<'_>,
    stop: &AtomicBool,
) -> Result<(Option<ExitStatus>, Option<ExitStatus>, Duration), RunError> {
    let mut serving = Program(start(path, Host::Server, programs.server, programs.folder)?);
    let mut server_ended = wait_until_it_listens(path, &mut serving, programs.port, stop)?;
    let began = Instant::now();
    if stop.load(Ordering::Relaxed) {
        return Ok((None, server_ended, Duration::ZERO));
    }
    let mut asking = Program(start(path, Host::Client, programs.client, programs.folder)?);
    let deadline = programs.timeout.map(|timeout| began + timeout);
    let client_ended = asking.wait(stop, deadline).map_err(run::file_error("waiting for the client"))?;
    let took = began.elapsed();
    if client_ended.is_some() && server_ended.is_none() {
        std::thread::sleep(AFTERWARDS);
        server_ended = serving.0.try_wait().map_err(run::file_error("waiting for the server"))?;
    }
    // A signal of the terminal ends the programs as well, and may end the client first.
    Ok((client_ended.filter(|_| !stop.load(Ordering::Relaxed)), server_ended, took))
}

/// Files that get their names when all of them are whole, and leave the folder otherwise.
struct Unfinished([PathBuf; 3]);

impl Unfinished {
    /// What one of them is called until then.
    fn unfinished(&self, index: usize) -> PathBuf {
        let mut name = self.0[index].clone().into_os_string();
        name.push(".partial");
        name.into()
    }

    fn finish(self) -> Result<[PathBuf; 3], RunError> {
        for (index, file) in self.0.iter().enumerate() {
            std::fs::rename(self.unfinished(index), file).map_err(run::file_error(file.display().to_string()))?;
        }
        Ok(self.0.clone())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // After `finish` none is left.
        (0..self.0.len()).for_each(|index| drop(std::fs::remove_file(self.unfinished(index))));
    }
}

/// Opens the user's shell on a host, with the path running and, if there is one, a program on the
/// other host, and waits until the shell ends.
pub fn shell(scenario: &Scenario, host: Host, other: Option<&str>) -> Result<ExitStatus, RunError> {
    let mut path = build(scenario)?;
    path.start(&[])?;
    let opposite = if host == Host::Client { Host::Server } else { Host::Client };
    let _other = other.map(|line| start(&path, opposite, line, None).map(Program)).transpose()?;
    let program = std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into());
    let mut command = Command::new(program);
    environment(&path, &mut command)?;
    command.env("PS1", format!("[{}] \\w \\$ ", host.name()));
    let mut child = path.spawn(host, command)?;
    let status = child.wait().map_err(run::file_error("waiting for the shell"))?;
    path.stop()?;
    Ok(status)
}

/// The figures that the captures and the link's log of an executed pair give.
pub fn figures(executed: &Executed) -> io::Result<BTreeMap<String, count::Counted>> {
    let [client, server] = &executed.captures;
    Ok(BTreeMap::from([("client".to_owned(), count::count(client)?), ("server".to_owned(), count::count(server)?)]))
}

fn build(scenario: &Scenario) -> Result<NetPath, RunError> {
    let mut config = scenario.resolve().map_err(|(key, allowed)| RunError::Impossible { key, allowed })?;
    if config.proxy.is_some() {
        let allowed = "no proxy: it has no program of its own here".to_owned();
        return Err(RunError::Impossible { key: "proxy".to_owned(), allowed });
    }
    // A program that chooses no congestion control gets the scenario's by the route.
    config.client.route.congestion_control = Some(scenario.client.congestion.clone());
    config.server.route.congestion_control = Some(scenario.server.congestion.clone());
    Ok(NetPath::build(&config)?)
}

fn environment(path: &NetPath, command: &mut Command) -> Result<(), RunError> {
    command.env("SERVER", path.address(Host::Server)?.to_string());
    command.env("CLIENT", path.address(Host::Client)?.to_string());
    Ok(())
}

fn start(path: &NetPath, host: Host, line: &str, folder: Option<&Path>) -> Result<Child, RunError> {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(line).stdin(Stdio::null());
    environment(path, &mut command)?;
    match folder {
        // What they say is kept for the case that they fail.
        Some(folder) => {
            let log = folder.join(format!("{}.log", host.name()));
            let log = std::fs::File::create(&log).map_err(run::file_error(log.display().to_string()))?;
            let copy = log.try_clone().map_err(run::file_error("copying a descriptor"))?;
            command.env("DIR", folder).current_dir(folder).stdout(log).stderr(copy);
        }
        None => drop(command.stdout(io::stderr())),
    }
    Ok(path.spawn(host, command)?)
}

/// A program that does not outlive this value.
struct Program(Child);

impl Program {
    /// Waits until it ends: how, or none when it is to stop before that, or has not ended by the
    /// deadline.
    fn wait(&mut self, stop: &AtomicBool, deadline: Option<Instant>) -> io::Result<Option<ExitStatus>> {
        let descriptor = descriptor(&self.0);
        loop {
            if let Some(status) = self.0.try_wait()? {
                return Ok(Some(status));
            }
            if stop.load(Ordering::Relaxed) || deadline.is_some_and(|deadline| Instant::now() > deadline) {
                return Ok(None);
            }
            match &descriptor {
                Some(descriptor) => {
                    let mut ended = [PollFd::new(descriptor.as_fd(), PollFlags::POLLIN)];
                    // A signal ends it early, and the loop sees why.
                    let _ = ppoll(&mut ended, Some(TimeSpec::from_duration(NOTICED_WITHIN)), None);
                }
                None => std::thread::sleep(BETWEEN_LOOKS),
            }
        }
    }
}

/// A descriptor that is readable when the process has ended; none before Linux 5.3.
fn descriptor(child: &Child) -> Option<OwnedFd> {
    // SAFETY: takes numbers only. The process is a child that was not waited for, so the number is
    // its own.
    let descriptor = unsafe { libc::syscall(libc::SYS_pidfd_open, child.id(), 0) };
    let descriptor = i32::try_from(descriptor).ok().filter(|descriptor| *descriptor >= 0)?;
    // SAFETY: the kernel has just given it to us, and nobody else knows it.
    Some(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns the server's exit status when it ended instead.
fn wait_until_it_listens(
    path: &NetPath,
    server: &mut Program,
    port: Option<u16>,
    stop: &AtomicBool,
) -> Result<Option<ExitStatus>, RunError> {
    let began = Instant::now();
    let patience = if port.is_some() { LISTENS_AT_LAST } else { LISTENS_WITHIN };
    while began.elapsed() < patience && !stop.load(Ordering::Relaxed) {
        if path.within(Host::Server, || something_listens(port))? {
            return Ok(None);
        }
        if let Some(status) = server.0.try_wait().map_err(run::file_error("waiting for the server"))? {
            return Ok(Some(status));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(None)
}

/// Whether this thread's network namespace has a TCP listener, on this port if one is named.
fn something_listens(port: Option<u16>) -> bool {
    ["/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"].iter().any(|table| {
        let text = std::fs::read_to_string(table).unwrap_or_default();
        // The second column is the address and port, in hexadecimal digits; the fourth the state:
        // 0A is LISTEN.
        text.lines().skip(1).any(|line| {
            let mut columns = line.split_whitespace().skip(1);
            let own = columns.next().and_then(|own| u16::from_str_radix(own.rsplit_once(':')?.1, 16).ok());
            columns.nth(1) == Some("0A") && port.is_none_or(|port| own == Some(port))
        })
    })
}
