//! Plays a scenario on a path that runs: starts the programs of all hosts, and waits for them.

use super::agent_process::AgentProcess;
use super::proxy_program;
use crate::agent::{Job, Role};
use crate::net::Path as NetPath;
use crate::net::config::Host;
use crate::program::Program;
use crate::real::counters::Counters;
use crate::scenario::host::HostSpec;
use crate::scenario::work::{Protocol, Work};
use crate::scenario::{CrossSpec, ProxyProgram, ProxySpec, Scenario};
use crate::truth::{CROSS_SERVER, EndTruth};
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Instant;

/// By host, what its program measured. The program that serves the cross traffic counts as a host.
type Ends = BTreeMap<String, EndTruth>;

/// The server's port, by which an analyser recognises the protocol.
fn port(work: &Work) -> u16 {
    match work {
        Work::Download(t) | Work::Upload(t) => match t.protocol {
            Protocol::Plain => 5001,
            Protocol::Http => 80,
            Protocol::Tls | Protocol::Https => 443,
        },
        Work::Turns(_) | Work::WriteWriteRead(_) | Work::Credit(_) | Work::Script(_) => 5001,
    }
}

/// The port of the cross traffic's server, which may stand on the same host.
fn cross_port(work: &Work) -> u16 {
    match port(work) {
        80 => 8080,
        443 => 8443,
        other => other + 1,
    }
}

fn anywhere(port: u16) -> SocketAddr {
    SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), port)
}

/// Everything that a program is started with.
struct Stage<'a> {
    path: &'a NetPath,
    scenario: &'a Scenario,
    /// The program that becomes an agent; this binary when it is none.
    agent: Option<&'a Path>,
    /// The folder of the run.
    folder: &'a Path,
    deadline: Instant,
}

/// Plays it, and returns what the programs measured.
///
/// # Errors
/// When a program fails or is not done in time.
pub(super) fn play(path: &NetPath, scenario: &Scenario, agent: Option<&Path>, folder: &Path) -> io::Result<Ends> {
    let deadline = Instant::now() + scenario.timeout.duration();
    let stage = Stage { path, scenario, agent, folder, deadline };
    let _hogs = stage.hogs()?;
    let behind = scenario.proxy.as_ref().map_or_else(|| scenario.work.clone(), |proxy| proxy.behind(&scenario.work));
    let port = port(&behind);
    let mut server = stage.start(Host::Server, &scenario.server, &behind, Role::Server { listen: anywhere(port) })?;
    let certificate = server.ready(deadline)?;
    let at_server = SocketAddr::new(stage.address(Host::Server)?, port);
    let proxy = scenario.proxy.as_ref().map(|spec| stage.proxy(spec, at_server)).transpose()?;
    let peer = if proxy.is_some() { SocketAddr::new(stage.address(Host::Proxy)?, port) } else { at_server };
    let cross = scenario.cross.as_ref().map(|spec| stage.cross(spec)).transpose()?;
    let mut client = stage.start(Host::Client, &scenario.client, &scenario.work, Role::Client { peer, certificate })?;
    // The client first: if an end fails, the client's error is the one that the user would have
    // seen.
    let mut ends = Ends::from([("client".to_owned(), client.done(deadline)?.into())]);
    if let Some([mut client, mut server]) = cross {
        ends.insert("cross".to_owned(), client.done(deadline)?.into());
        ends.insert(CROSS_SERVER.to_owned(), server.done(deadline)?.into());
    }
    if let Some(proxy) = proxy {
        ends.extend(proxy.done(&stage)?);
    }
    ends.insert("server".to_owned(), server.done(deadline)?.into());
    Ok(ends)
}

/// The program in the middle.
enum Middle {
    /// The lab's own.
    Agent(AgentProcess),
    /// HAProxy or nginx, and the kernel's counters of its sockets.
    Program(Program, Counters),
}

impl Middle {
    fn done(self, stage: &Stage<'_>) -> io::Result<Ends> {
        match self {
            Self::Agent(mut agent) => Ok([("proxy".to_owned(), agent.done(stage.deadline)?.into())].into()),
            Self::Program(program, counters) => {
                let ends = counters.finish();
                // Its connections to the server end with it.
                proxy_program::end(program, stage.folder);
                Ok(ends)
            }
        }
    }
}

impl Stage<'_> {
    fn address(&self, host: Host) -> io::Result<IpAddr> {
        self.path.address(host).map_err(io::Error::other)
    }

    fn start(&self, host: Host, spec: &HostSpec, work: &Work, role: Role) -> io::Result<AgentProcess> {
        let job = Job {
            role,
            options: spec.socket(),
            work: work.clone(),
            sample_every: self.scenario.sample_every,
            cpu: spec.cpu,
            nice: spec.nice,
            is_alone: spec.hogs == 0 && spec.nice == 0 && spec.cpu.is_none(),
        };
        AgentProcess::start(self.path, host, &job, self.agent.map(Path::to_owned))
    }

    /// Programs that keep the processors busy.
    fn hogs(&self) -> io::Result<Vec<AgentProcess>> {
        let mut hogs = Vec::new();
        for (host, spec) in [(Host::Client, &self.scenario.client), (Host::Server, &self.scenario.server)] {
            for _ in 0..spec.hogs {
                let spec = HostSpec { nice: 0, ..spec.clone() };
                let mut hog = self.start(host, &spec, &self.scenario.work, Role::Hog)?;
                hog.ready(self.deadline)?;
                hogs.push(hog);
            }
        }
        Ok(hogs)
    }

    fn proxy(&self, spec: &ProxySpec, server: SocketAddr) -> io::Result<Middle> {
        if spec.program != ProxyProgram::Copy {
            let peers = vec![self.address(Host::Client)?, server.ip()];
            let counters =
                Counters::start(self.path, vec![(Host::Proxy, peers)], self.scenario.sample_every.duration());
            let program = proxy_program::start(self.path, spec, server, self.folder, self.deadline)?;
            return Ok(Middle::Program(program, counters?));
        }
        let listen = anywhere(server.port());
        let role = Role::Proxy { listen, server, buffer: spec.buffer.0, unscaled: spec.unscaled };
        let mut agent = self.start(Host::Proxy, &spec.host, &self.scenario.work, role)?;
        agent.ready(self.deadline)?;
        Ok(Middle::Agent(agent))
    }

    /// The second client and the program that serves it, at the other end of the link that both
    /// clients share.
    fn cross(&self, spec: &CrossSpec) -> io::Result<[AgentProcess; 2]> {
        let port = cross_port(&spec.work);
        let (host, far) = match &self.scenario.proxy {
            Some(proxy) => (Host::Proxy, &proxy.host),
            None => (Host::Server, &self.scenario.server),
        };
        let mut server = self.start(host, far, &spec.work, Role::Server { listen: anywhere(port) })?;
        let certificate = server.ready(self.deadline)?;
        let peer = SocketAddr::new(self.address(host)?, port);
        let client = self.start(Host::Cross, &spec.host, &spec.work, Role::Client { peer, certificate })?;
        std::thread::sleep(spec.lead.duration());
        Ok([client, server])
    }
}
