//! Runs the user's own programs at the two ends, or a shell on a host.
//!
//! When this returns, both programs and all their children are gone. A capture gets its name once
//! it is complete, even when the run was stopped, and replaces one of an earlier run. The caller
//! explains the result.

use crate::count;
use crate::figures::Figures;
use crate::net::config::Host;
use crate::net::{Path as NetPath, Tap};
use crate::noise::Noise;
use crate::program::{Program, something_listens};
use crate::real::counters::Counters;
use crate::run::{self, RunError};
use crate::scenario::Scenario;
use crate::truth::Truth;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// After this time a server counts as ready even if it does not listen: it may not be a TCP server.
const LISTENS_WITHIN: Duration = Duration::from_secs(10);
/// The same for a server with a known port, which may have to create its files first.
const LISTENS_AT_LAST: Duration = Duration::from_secs(40);
/// Time between the client's exit and the server's end, for the packets that close the connections.
const AFTERWARDS: Duration = Duration::from_millis(200);

/// The results of the two programs.
#[derive(Clone, Debug)]
pub struct ExecOutcome {
    /// The client's exit status; `None` if the run was stopped first.
    pub client: Option<ExitStatus>,
    /// The server's, if it ended before the client.
    pub server: Option<ExitStatus>,
    /// How long the client ran.
    pub took: Duration,
    /// The captures: client's, server's.
    pub captures: [PathBuf; 2],
    /// Why nothing of it can be trusted; empty if it can.
    pub void: Vec<String>,
    /// How much the machine disturbed it.
    pub noise: Noise,
}

/// The destination of the client's standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClientOutput {
    /// To this process's standard output.
    Stdout,
    /// To its standard error, as the server's does.
    #[default]
    Stderr,
}

/// The programs of the two ends.
#[derive(Clone, Copy, Debug)]
pub struct CommandLines<'a> {
    /// The server's command line, if there is a server of one's own.
    pub server: Option<&'a str>,
    /// The client's.
    pub client: &'a str,
    /// The destination of the client's standard output.
    pub client_output: ClientOutput,
    /// TCP ports at which the client reaches services outside, and names; without any it reaches
    /// the server alone.
    pub outside: &'a [u16],
}

/// Runs the server and, as soon as it listens, the client, both by `sh -c` with `$SERVER` and
/// `$CLIENT` set to the addresses. Their other output goes to this process's standard error. The
/// scenario gives the
/// path and the hosts; its workload, buffers of single sockets, processors and nice values are not
/// used, since they are the programs' own.
///
/// Once `stop` is set, both are killed, and the captures are kept.
///
/// `folder` gets client.pcap, server.pcap and truth.json.
pub fn exec(
    scenario: &Scenario,
    lines: &CommandLines<'_>,
    folder: &Path,
    stop: &AtomicBool,
) -> Result<ExecOutcome, RunError> {
    let CommandLines { server, client, client_output, outside } = *lines;
    let outside = (!outside.is_empty()).then_some(Outside { ports: outside, folder });
    let programs = Programs { server, client, client_output, outside, ..Programs::default() };
    let files = PartialFiles(["client.pcap", "server.pcap", "truth.json"].map(|name| folder.join(name)));
    std::fs::create_dir_all(folder).map_err(run::file_error(folder.display().to_string()))?;
    let taps = [files.unfinished(0), files.unfinished(1)];
    let (mut executed, truth) = record(scenario, &programs, taps, stop)?;
    run::write_json(&files.unfinished(2), &truth)?;
    let [client_capture, server_capture, _] = files.finish()?;
    executed.captures = [client_capture, server_capture];
    Ok(executed)
}

/// Services outside.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outside<'a> {
    /// TCP ports.
    pub ports: &'a [u16],
    /// A folder for files of the path.
    pub folder: &'a Path,
}

/// Two programs, and how to run them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Programs<'a> {
    /// The server's command line, if there is one.
    pub server: Option<&'a str>,
    /// The client's.
    pub client: &'a str,
    /// The outside services that the client reaches.
    pub outside: Option<Outside<'a>>,
    /// The destination of the client's standard output, without a folder.
    pub client_output: ClientOutput,
    /// The port that shows that the server is ready; any if none is given.
    pub port: Option<u16>,
    /// A folder of theirs, as `$DIR`.
    pub folder: Option<&'a Path>,
    /// Whether to sample all sockets of both hosts, every [`Scenario::sample_every`].
    pub are_asked: bool,
    /// The time after which the client is killed.
    pub timeout: Option<Duration>,
    /// A command to run on a host before the server starts.
    pub before: Option<(Host, &'a str)>,
}

/// Runs two programs as [`exec`] does, and captures into these files, the client's and the
/// server's.
pub(crate) fn record(
    scenario: &Scenario,
    programs: &Programs<'_>,
    taps: [PathBuf; 2],
    stop: &AtomicBool,
) -> Result<(ExecOutcome, Truth), RunError> {
    let mut path = build(scenario)?;
    if let Some(Outside { ports, folder }) = programs.outside {
        path.reach_outside(ports, folder)?;
    }
    let snaplen = u32::try_from(scenario.snaplen.0).unwrap_or(u32::MAX);
    let tap = |host: Host, file: &PathBuf| Tap { host, is_far: false, file: file.clone(), snaplen };
    path.start(&[tap(Host::Client, &taps[0]), tap(Host::Server, &taps[1])])?;
    if let Some((host, line)) = programs.before {
        let status = Program(start(&path, host, line, programs.folder)?).wait(stop, None);
        let status = status.map_err(run::file_error("waiting for a command"))?;
        if !status.is_some_and(|status| status.success()) {
            return Err(RunError::Refused(line.to_owned()));
        }
    }
    let every = scenario.sample_every.duration();
    let asked = programs
        .are_asked
        .then(|| Counters::of_both_ends(&path, every))
        .transpose()
        .map_err(run::file_error("reading sockets"))?;
    let (client_ended, server_ended, took) = play(&path, programs, stop)?;
    let ends = asked.map(Counters::finish).unwrap_or_default();
    let stopped = path.stop()?;
    let truth = Truth {
        experiment: "exec".to_owned(),
        label: programs.client.to_owned(),
        cause: String::new(),
        ends,
        links: stopped.links,
        void: stopped.spoiled,
        partial: client_ended.is_none(),
        ..run::empty_truth(&path, scenario)?
    };
    let noise = truth.noise(&Figures::new());
    let void = truth.void.clone();
    let executed = ExecOutcome { client: client_ended, server: server_ended, took, captures: taps, void, noise };
    Ok((executed, truth))
}

/// Waits until the client exits or the run is stopped. Returns the exit statuses, and how long the
/// client ran.
fn play(
    path: &NetPath,
    programs: &Programs<'_>,
    stop: &AtomicBool,
) -> Result<(Option<ExitStatus>, Option<ExitStatus>, Duration), RunError> {
    let serving = programs.server.map(|line| start(path, Host::Server, line, programs.folder)).transpose()?;
    let mut serving = serving.map(Program);
    let mut server_ended = match &mut serving {
        Some(serving) => wait_until_it_listens(path, serving, programs.port, stop)?,
        None => None,
    };
    let began = Instant::now();
    if stop.load(Ordering::Relaxed) {
        return Ok((None, server_ended, Duration::ZERO));
    }
    let output = (programs.folder, programs.client_output);
    let mut asking = Program(start_with(path, Host::Client, programs.client, output)?);
    let deadline = programs.timeout.map(|timeout| began + timeout);
    let client_ended = asking.wait(stop, deadline).map_err(run::file_error("waiting for the client"))?;
    let took = began.elapsed();
    if client_ended.is_some() && server_ended.is_none() {
        std::thread::sleep(AFTERWARDS);
        if let Some(serving) = &mut serving {
            server_ended = serving.0.try_wait().map_err(run::file_error("waiting for the server"))?;
        }
    }
    // A signal of the terminal ends the programs as well, and may end the client first.
    Ok((client_ended.filter(|_| !stop.load(Ordering::Relaxed)), server_ended, took))
}

/// Files that are renamed once all are complete, and removed otherwise.
struct PartialFiles([PathBuf; 3]);

impl PartialFiles {
    /// The temporary name of a file.
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

impl Drop for PartialFiles {
    fn drop(&mut self) {
        // After `finish` none is left.
        (0..self.0.len()).for_each(|index| drop(std::fs::remove_file(self.unfinished(index))));
    }
}

/// Opens the user's shell on a host of a running path, with an optional program on the other host,
/// and waits until the shell exits.
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

/// The figures from the captures and the link's log.
pub fn figures(executed: &ExecOutcome) -> io::Result<BTreeMap<String, count::Counted>> {
    let [client, server] = &executed.captures;
    Ok(BTreeMap::from([("client".to_owned(), count::count(client)?), ("server".to_owned(), count::count(server)?)]))
}

fn build(scenario: &Scenario) -> Result<NetPath, RunError> {
    let mut config = scenario.resolve().map_err(|(key, allowed)| RunError::Impossible { key, allowed })?;
    for (key, there) in [("proxy", config.proxy.is_some()), ("cross", config.cross.is_some())] {
        if there {
            let allowed = format!("no {key}: it has no program of its own here");
            return Err(RunError::Impossible { key: key.to_owned(), allowed });
        }
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

/// Starts a program whose output is only messages.
fn start(path: &NetPath, host: Host, line: &str, folder: Option<&Path>) -> Result<Child, RunError> {
    start_with(path, host, line, (folder, ClientOutput::Stderr))
}

fn start_with(
    path: &NetPath,
    host: Host,
    line: &str,
    (folder, output): (Option<&Path>, ClientOutput),
) -> Result<Child, RunError> {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(line).stdin(Stdio::null());
    environment(path, &mut command)?;
    match folder {
        // Their output is kept in case they fail.
        Some(folder) => {
            let log = folder.join(format!("{}.log", host.name()));
            let log = std::fs::File::create(&log).map_err(run::file_error(log.display().to_string()))?;
            let copy = log.try_clone().map_err(run::file_error("copying a descriptor"))?;
            command.env("DIR", folder).current_dir(folder).stdout(log).stderr(copy);
        }
        None if output == ClientOutput::Stderr => drop(command.stdout(io::stderr())),
        None => {}
    }
    Ok(path.spawn(host, command)?)
}

/// Returns the server's exit status if it exits instead.
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
