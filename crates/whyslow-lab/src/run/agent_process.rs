//! Starts this program again inside a host, and reads its answers.

use crate::agent::{self, Event, Job};
use crate::net::Path as NetPath;
use crate::net::config::Host;
use crate::work::Report;
use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc;
use std::time::Instant;

/// A child process that is an agent; it does not outlive this value.
pub(super) struct AgentProcess {
    name: &'static str,
    child: Child,
    // Its end signals to the agent that its result is no longer needed.
    _input: ChildStdin,
    events: mpsc::Receiver<io::Result<Event>>,
}

impl AgentProcess {
    /// Starts `program`, or this very binary, on a host and gives it its job.
    pub(super) fn start(path: &NetPath, host: Host, job: &Job, program: Option<PathBuf>) -> io::Result<Self> {
        let program = program.map_or_else(std::env::current_exe, Ok)?;
        let mut command = Command::new(program);
        command.arg(agent::ARGUMENT).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = path.spawn(host, command).map_err(io::Error::other)?;
        let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("the agent has no pipes"));
        };
        let (sender, events) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                let event = line.and_then(|line| serde_json::from_str(&line).map_err(io::Error::other));
                if sender.send(event).is_err() {
                    return;
                }
            }
        });
        let mut line = serde_json::to_vec(job)?;
        line.push(b'\n');
        let agent_started = input.write_all(&line).and_then(|()| input.flush());
        let agent = Self { name: host.name(), child, _input: input, events };
        agent_started.map(|()| agent)
    }

    fn next(&mut self, deadline: Instant) -> io::Result<Event> {
        let left = deadline.saturating_duration_since(Instant::now());
        match self.events.recv_timeout(left) {
            Ok(Ok(Event::Failed { what })) => Err(io::Error::other(format!("the {}: {what}", self.name))),
            Ok(event) => event,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                let text = format!("the {} was not done in time (see the scenario's `timeout`)", self.name);
                Err(io::Error::new(io::ErrorKind::TimedOut, text))
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                let status = self.child.wait()?;
                Err(io::Error::other(format!("the {}'s program ended without a word ({status})", self.name)))
            }
        }
    }

    /// Waits until it listens; its certificate when it has one.
    pub(super) fn ready(&mut self, deadline: Instant) -> io::Result<Option<Vec<u8>>> {
        match self.next(deadline)? {
            Event::Ready { certificate } => Ok(certificate),
            other => Err(io::Error::other(format!("the {} said {other:?} before it was ready", self.name))),
        }
    }

    /// Waits until it has done its work.
    pub(super) fn done(&mut self, deadline: Instant) -> io::Result<Report> {
        match self.next(deadline)? {
            Event::Done(report) => Ok(*report),
            other => Err(io::Error::other(format!("the {} said {other:?} at its end", self.name))),
        }
    }
}

impl Drop for AgentProcess {
    fn drop(&mut self) {
        // It has ended by itself, or its answer is not needed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
