//! Scenarios: the path, the hosts' settings, the actions of the programs, and the expected result.
//!
//! A file is TOML: one scenario, a `[matrix]` that crosses lists of values, `[[case]]`s that name
//! sets of values, or both crossed. Everything is typed and has a unit. An unknown key, a missing
//! unit or an impossible value is an error with the file, the line, the key and the allowed values,
//! before anything starts. A scenario that loads can be built.

pub mod error;
pub mod host;
mod load;
pub mod path;
pub mod profile;
pub mod script;
mod side;
pub mod units;
pub mod work;

pub use error::ScenarioError;
pub use load::load;

use crate::figures::{Claim, Value};
use crate::net::config::{HostConfig, PathConfig};
use host::HostSpec;
use path::{EmulatorSpec, PathSpec};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use units::{Size, Time};
use work::{Connection, Protocol, Work};

/// One experiment: everything that one run needs to know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Scenario {
    /// The intended cause: a slug such as `receive-window`; `none` for a healthy transfer.
    pub cause: String,
    /// The path between client and server (with a proxy: between client and proxy).
    pub path: PathSpec,
    /// The host that connects.
    pub client: HostSpec,
    /// The host that listens.
    pub server: HostSpec,
    /// A TCP proxy between them, with its own path to the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy: Option<ProxySpec>,
    /// Another client, that shares `path` with the first: cross traffic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cross: Option<CrossSpec>,
    /// The work of the programs.
    pub work: Work,
    /// How the path is carried.
    pub emulator: EmulatorSpec,
    /// Bytes kept of each packet.
    pub snaplen: Size,
    /// Distance of the readings of TCP_INFO.
    pub sample_every: Time,
    /// A run that takes longer is stopped and is void.
    pub timeout: Time,
    /// Claims about the measured figures that confirm the intended cause.
    pub verify: Vec<Claim>,
}

impl Default for Scenario {
    fn default() -> Self {
        Self {
            cause: "none".to_owned(),
            path: PathSpec::default(),
            client: HostSpec::default(),
            server: HostSpec::default(),
            proxy: None,
            cross: None,
            work: Work::default(),
            emulator: EmulatorSpec::default(),
            snaplen: Size(128),
            sample_every: Time(2_000_000),
            timeout: Time(120_000_000_000),
            verify: Vec::new(),
        }
    }
}

/// The host in the middle: it accepts from the client and connects on to the server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProxySpec {
    /// The proxy's program.
    pub program: ProxyProgram,
    /// The connections to the server are kept and used again (HAProxy and nginx).
    pub pool: bool,
    /// Its settings.
    pub host: HostSpec,
    /// Between proxy and server.
    pub path: PathSpec,
    /// Bytes that the proxy holds in each direction.
    pub buffer: ProxyBuffer,
    /// The leg without window scaling, for a balancer that forgets the option on one side (none: as
    /// `host` sets it).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unscaled: Option<Leg>,
}

/// The program that is the proxy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProxyProgram {
    /// The lab's own: a connection to the server for each of the client's, and bytes that are
    /// copied.
    #[default]
    Copy,
    /// HAProxy, for HTTP.
    Haproxy,
    /// nginx, for HTTP.
    Nginx,
}

/// Another client, on the client's side of the first link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CrossSpec {
    /// Its settings.
    pub host: HostSpec,
    /// The work with the host at the other end of the link.
    pub work: Work,
    /// Time before the client's start.
    pub lead: Time,
}

/// One of the proxy's two connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Leg {
    /// With the client.
    Client,
    /// With the server.
    Server,
}

/// The proxy's own buffer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProxyBuffer(pub Size);

impl Default for ProxyBuffer {
    fn default() -> Self {
        Self(Size(65_536))
    }
}

/// A file's scenarios, and its description.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// Short name, as in `lab run NAME`.
    pub name: String,
    /// Title, one line.
    pub title: String,
    /// The effect, and the expected figures.
    pub about: String,
    /// The figures in a table of the runs.
    pub columns: Vec<String>,
    /// Published figures.
    pub expect: Vec<Expectation>,
    /// The runs.
    pub runs: Vec<Variant>,
}

/// One combination of the matrix.
#[derive(Clone, Debug)]
pub struct Variant {
    /// What is different from the other runs: `path.rtt=7ms`; the experiment's name when there is
    /// one run only.
    pub label: String,
    /// The same as key and value.
    pub values: BTreeMap<String, String>,
    /// The whole scenario.
    pub scenario: Scenario,
}

/// A figure that a write-up gives for some of the runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// Key and value of the runs that it is about; empty for all.
    #[serde(default)]
    pub when: BTreeMap<String, toml::Value>,
    /// Name of the figure.
    pub figure: String,
    /// The write-up's value.
    pub is: Value,
    /// A remark.
    #[serde(default)]
    pub note: String,
}

impl Variant {
    /// Whether an expectation speaks of this run.
    pub fn is_meant(&self, expectation: &Expectation) -> bool {
        expectation.when.iter().all(|(key, value)| self.values.get(key).is_some_and(|v| *v == plain(value)))
    }
}

/// A value as it stands in a label.
fn plain(value: &toml::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

impl ProxySpec {
    /// Returns an error if a value is not allowed: the key and the allowed values.
    fn check(&self, work: &Work) -> Result<(), (String, String)> {
        let wrong = |key: &str, allowed: &str| Err((format!("proxy.{key}"), allowed.to_owned()));
        if self.buffer.0.is_empty() {
            return wrong("buffer", "must be at least 1B");
        }
        if self.program == ProxyProgram::Copy {
            return if self.pool { wrong("pool", "takes the program haproxy or nginx") } else { Ok(()) };
        }
        let (Work::Download(transfers) | Work::Upload(transfers)) = work else {
            return wrong("program", "haproxy and nginx carry downloads and uploads");
        };
        if transfers.protocol != Protocol::Http {
            return wrong("program", "haproxy and nginx carry the protocol \"http\"");
        }
        if self.pool && transfers.parallel > 1 {
            return wrong("pool", "serves one client at a time: work's parallel is 1");
        }
        let own = &self.host;
        if self.unscaled.is_some() || own.rcvbuf.is_some() || own.sndbuf.is_some() || own.max_pacing.is_some() {
            return wrong(
                "program",
                "haproxy and nginx set their own sockets' options: leave out unscaled, rcvbuf, sndbuf and max_pacing",
            );
        }
        Ok(())
    }

    /// The client's work as the server sees it: its connections are the proxy's.
    pub(crate) fn behind(&self, work: &Work) -> Work {
        let mut behind = work.clone();
        if let (Work::Download(transfers) | Work::Upload(transfers), true) =
            (&mut behind, self.program != ProxyProgram::Copy)
        {
            transfers.connection = if self.pool { Connection::Reused } else { Connection::New };
        }
        behind
    }
}

impl CrossSpec {
    fn resolve(&self) -> Result<HostConfig, (String, String)> {
        self.work.check().map_err(|(key, allowed)| (format!("cross.{key}"), allowed))?;
        self.host.resolve("cross.host")
    }
}

impl Scenario {
    /// The path in the emulator's terms, or the error: the key and the allowed values.
    pub fn resolve(&self) -> Result<PathConfig, (String, String)> {
        self.work.check()?;
        if !(100_000..=1_000_000_000).contains(&self.sample_every.0) {
            return Err(("sample_every".into(), "must be from 100us to 1s".into()));
        }
        if !(64..=262_144).contains(&self.snaplen.0) {
            return Err(("snaplen".into(), "must be from 64B to 256KiB".into()));
        }
        let mut links = vec![self.path.resolve("path")?];
        let proxy = match &self.proxy {
            None => None,
            Some(proxy) => {
                links.push(proxy.path.resolve("proxy.path")?);
                proxy.check(&self.work)?;
                Some(proxy.host.resolve("proxy.host")?)
            }
        };
        Ok(PathConfig {
            client: self.client.resolve("client")?,
            server: self.server.resolve("server")?,
            proxy,
            cross: self.cross.as_ref().map(CrossSpec::resolve).transpose()?,
            links,
            emulator: self.emulator.resolve(),
        })
    }

    /// A name for exactly this scenario: the same text has the same key on every machine.
    pub fn key(&self) -> String {
        key_of(&serde_json::to_string(self).unwrap_or_default())
    }
}

/// FNV-1a, 64 bits: short and stable, and a folder name needs no protection against attacks.
pub(crate) fn key_of(text: &str) -> String {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests;
