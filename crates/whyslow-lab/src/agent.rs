//! Runs the programs at the two ends: this same binary, started again inside a host's namespace.
//!
//! A binary that uses the lab calls [`maybe_run`] first in `main`. The parent writes one [`Job`] as
//! a line of JSON to the agent's standard input. The agent answers on standard output with
//! [`Event`]s, one a line. When the parent exits, the agent's input closes and the agent exits too.

use crate::sample::Sampler;
use crate::scenario::Leg;
use crate::scenario::host::SocketOptions;
use crate::scenario::units::{Size, Time};
use crate::scenario::work::{Connection, Work};
use crate::work::proxy::Proxy;
use crate::work::stream::{self, Tls};
use crate::work::transfers::{Client, Direction};
use crate::work::{Report, credit, one, proxy, script, socket, transfers, turns};
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, Write};
use std::net::SocketAddr;

/// The argument that makes a binary an agent.
pub const ARGUMENT: &str = "__whyslow-lab-agent";

/// The task of an agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// Its role.
    pub role: Role,
    /// Its socket options.
    pub options: SocketOptions,
    /// The workload.
    pub work: Work,
    /// Sampling interval.
    pub sample_every: Time,
    /// Run on this processor alone.
    pub cpu: Option<usize>,
    /// Nice value.
    pub nice: i32,
    /// Nothing else is to run on its host.
    pub is_alone: bool,
}

/// The role of an agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Connects to `peer`.
    Client {
        /// The server, or the proxy.
        peer: SocketAddr,
        /// The server's certificate (DER), for TLS.
        certificate: Option<Vec<u8>>,
    },
    /// Listens.
    Server {
        /// Here.
        listen: SocketAddr,
    },
    /// Listens and connects on.
    Proxy {
        /// Here.
        listen: SocketAddr,
        /// On to this.
        server: SocketAddr,
        /// With a buffer of this size for each direction.
        buffer: Size,
        /// The leg without window scaling.
        unscaled: Option<Leg>,
    },
    /// Burns its processor.
    Hog,
}

/// A message of an agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// It is ready: it listens, or burns; with TLS this is its certificate.
    Ready {
        /// DER.
        certificate: Option<Vec<u8>>,
    },
    /// It has finished.
    Done(Box<Report>),
    /// It failed.
    Failed {
        /// The reason.
        what: String,
    },
}

/// Runs as an agent and returns the exit code when this process was started as one; `None`
/// otherwise.
pub fn maybe_run() -> Option<i32> {
    if std::env::args_os().nth(1)? != ARGUMENT {
        return None;
    }
    let mut line = String::new();
    let job = match io::stdin().lock().read_line(&mut line) {
        Ok(0) => return Some(1),
        Ok(_) => serde_json::from_str::<Job>(&line).map_err(io::Error::other),
        Err(e) => Err(e),
    };
    // Without the parent the agent has no task. The parent holds the other end of our input.
    std::thread::spawn(|| {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        std::process::exit(1);
    });
    let event = match job.and_then(|job| run(&job)) {
        Ok(report) => Event::Done(Box::new(report)),
        Err(e) => Event::Failed { what: e.to_string() },
    };
    let failed = matches!(event, Event::Failed { .. });
    let sent = report(&event);
    Some(i32::from(failed || sent.is_err()))
}

fn report(event: &Event) -> io::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, event)?;
    out.write_all(b"\n")?;
    out.flush()
}

fn run(job: &Job) -> io::Result<Report> {
    place(job)?;
    if matches!(job.role, Role::Hog) {
        report(&Event::Ready { certificate: None })?;
        let mut n = 0_u64;
        loop {
            n = std::hint::black_box(n.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        }
    }
    crate::sample::set_timer_slack();
    let waited = waited_us();
    let sampler = Sampler::start(job.sample_every.duration());
    let (connections, transfers) = match &job.role {
        Role::Client { peer, certificate } => client(job, *peer, certificate.as_deref(), &sampler)?,
        Role::Server { listen } => (server(job, *listen, &sampler)?, Vec::new()),
        Role::Proxy { listen, server, buffer, unscaled } => {
            proxy::scale(*unscaled, Leg::Client)?;
            let listener = socket::listen(*listen, &job.options)?;
            report(&Event::Ready { certificate: None })?;
            let proxy = Proxy { server: *server, options: &job.options, buffer: buffer.len(), unscaled: *unscaled };
            let opened = proxy::run(&proxy, connections(&job.work), &listener, &sampler)?;
            (opened, Vec::new())
        }
        Role::Hog => (Vec::new(), Vec::new()),
    };
    let (sockets, sampling) = sampler.finish();
    let waited_us = waited_us().saturating_sub(waited);
    Ok(Report { connections, transfers, sockets, sampling, cpu_us: cpu_us(), waited_us })
}

/// How many connections the client will make.
fn connections(work: &Work) -> usize {
    match work {
        Work::Download(t) | Work::Upload(t) => {
            let each = if t.connection == Connection::New { t.all_sizes().len() } else { 1 };
            each * t.parallel as usize
        }
        _ => 1,
    }
}

fn client(
    job: &Job,
    peer: SocketAddr,
    certificate: Option<&[u8]>,
    sampler: &Sampler,
) -> io::Result<(Vec<crate::work::Opened>, Vec<crate::work::Transfer>)> {
    let options = &job.options;
    match &job.work {
        Work::Download(t) | Work::Upload(t) => {
            let tls = match certificate {
                Some(certificate) => Some(Tls::client(certificate, t.record.len())?),
                None => None,
            };
            let direction = direction(&job.work);
            Client { work: t, direction, peer, options, tls: tls.as_ref(), sampler }.run()
        }
        Work::Turns(t) => one::connect(peer, options, sampler, |stream, start| turns::client(&t.into(), stream, start)),
        Work::WriteWriteRead(w) => {
            one::connect(peer, options, sampler, |stream, start| turns::client(&w.into(), stream, start))
        }
        Work::Credit(c) => one::connect(peer, options, sampler, |stream, start| credit::client(c, stream, start)),
        Work::Script(s) => one::connect(peer, options, sampler, |stream, start| script::client(s, stream, start)),
    }
}

fn direction(work: &Work) -> Direction {
    if matches!(work, Work::Upload(_)) { Direction::Up } else { Direction::Down }
}

fn server(job: &Job, listen: SocketAddr, sampler: &Sampler) -> io::Result<Vec<crate::work::Opened>> {
    let mut tls = None;
    let mut certificate = None;
    if let Work::Download(t) | Work::Upload(t) = &job.work
        && t.protocol.tls()
    {
        let (der, key) = stream::certificate()?;
        tls = Some(Tls::server(der.clone(), key, t.record.len())?);
        certificate = Some(der);
    }
    if matches!(&job.work, Work::Download(t) if t.refused) {
        report(&Event::Ready { certificate })?;
        return Ok(Vec::new());
    }
    let listener = socket::listen(listen, &job.options)?;
    report(&Event::Ready { certificate })?;
    match &job.work {
        Work::Download(t) | Work::Upload(t) => {
            let direction = direction(&job.work);
            transfers::Server { work: t, direction, listener: &listener, tls: tls.as_ref(), sampler }.run()
        }
        Work::Turns(t) => one::accept(&listener, sampler, |stream| turns::server(&t.into(), stream)),
        Work::WriteWriteRead(w) => one::accept(&listener, sampler, |stream| turns::server(&w.into(), stream)),
        Work::Credit(c) => one::accept(&listener, sampler, |stream| credit::server(c, stream)),
        Work::Script(s) => one::accept(&listener, sampler, |stream| script::server(s, stream)),
    }
}

/// Applies the processor and the nice value of the job.
fn place(job: &Job) -> io::Result<()> {
    if let Some(cpu) = job.cpu {
        let mut set = nix::sched::CpuSet::new();
        set.set(cpu)?;
        nix::sched::sched_setaffinity(nix::unistd::Pid::from_raw(0), &set)?;
    }
    if job.nice != 0 {
        // SAFETY: setpriority takes numbers only.
        let result = unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, job.nice) };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    if job.is_alone {
        crate::sched::claim_host();
    }
    Ok(())
}

/// How long this thread could have run so far and had no processor; 0 where the kernel does not
/// count it.
fn waited_us() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    // Time on a processor, time on a run queue, turns (Documentation/scheduler/sched-stats.rst).
    text.split_whitespace().nth(1).and_then(|ns| ns.parse::<u64>().ok()).unwrap_or(0) / 1_000
}

fn cpu_us() -> u64 {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike;
    getrusage(UsageWho::RUSAGE_SELF).map_or(0, |usage| {
        let time = usage.user_time() + usage.system_time();
        u64::try_from(time.num_microseconds()).unwrap_or(0)
    })
}
