//! [`Finding`]: something of this machine that makes transfers slow, and what shows it.

use super::causes::HostCause;
use serde::Serialize;
use whyslow_report::text::units;

/// Something that costs, with its evidence and its fix.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Finding {
    /// Its name; `whyslow help-cause` explains it.
    pub cause: HostCause,
    /// The network namespace it is in, where it is not the own one.
    pub namespace: Option<String>,
    /// The peer that it is about, where it is about one.
    pub peer: Option<String>,
    /// Seconds that it cost, as measured, or costs, as predicted; none where it costs no time that
    /// can be told.
    pub seconds: Option<f64>,
    /// What it costs, in a few words: `83 s of 120 s`, `12 connections`.
    pub cost: String,
    /// 0–1.
    pub confidence: f64,
    /// What costs whom, in one sentence.
    pub summary: String,
    /// What it rests on.
    pub evidence: Vec<Evidence>,
    /// What to do about it.
    pub fix: Fix,
}

/// A figure, or a line about a socket, and where it is from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Evidence {
    /// What it is: the name of a counter or of a setting, a figure of `ss`.
    pub figure: String,
    #[serde(flatten)]
    pub value: Value,
    /// Where it is from.
    pub source: Source,
    /// Since when it was counted.
    pub since: Since,
}

/// What a piece of evidence says.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Value {
    Figure { value: f64, unit: &'static str },
    Text { text: String },
}

/// Where a figure is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Source {
    /// sock_diag, as `ss -tieom` prints it.
    Socket,
    /// Several sockets together.
    Sockets,
    /// `/proc/net/netstat` and `snmp`, as `nstat -az` prints them.
    Counter,
    /// sysctl.
    Setting,
    /// `ip tcp_metrics`.
    Metrics,
    /// `ip route`.
    Route,
    /// `ip -s link`, `ethtool`.
    Device,
    /// `/proc/net/softnet_stat`, PSI.
    Kernel,
    /// The owner's control group.
    Cgroup,
    /// `nf_conntrack`.
    Conntrack,
    /// Played by the model of `whyslow predict`.
    Model,
}

impl Source {
    /// In words; nothing where the figure's own name says it.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Socket => "this socket",
            Self::Sockets => "these sockets",
            Self::Counter => "counter",
            Self::Setting => "setting",
            Self::Metrics => "ip tcp_metrics",
            Self::Route => "ip route",
            Self::Device => "device",
            Self::Kernel => "kernel",
            Self::Cgroup => "its cgroup",
            Self::Conntrack => "conntrack",
            Self::Model => "predicted",
        }
    }
}

/// Since when something was counted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Since {
    /// As it is at this moment.
    Now,
    /// Since each of the connections began.
    Connection,
    /// Since the machine started, or the namespace or the device was made.
    Boot,
    /// Over so many seconds, until now.
    Seconds(f64),
}

impl Since {
    /// In words, of what is from there.
    pub(crate) fn words(self, source: Source) -> String {
        match self {
            Self::Now => "now".to_owned(),
            Self::Connection if source == Source::Socket => "since it began".to_owned(),
            Self::Connection => "since they began".to_owned(),
            Self::Boot => "since boot".to_owned(),
            Self::Seconds(seconds) => format!("over {}", units::figure(seconds, "s")),
        }
    }
}

/// What to do.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Fix {
    pub who: Who,
    pub what: String,
    /// To be pasted; it raises or removes what the finding names, and nothing else.
    pub command: Option<String>,
    /// What shows that it worked.
    pub verify: String,
}

/// Who must act.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Who {
    /// Whoever runs this machine.
    Host,
    /// The program here.
    Program,
    /// Whoever runs the other end.
    Peer,
    /// Whoever runs the path.
    Network,
}

impl Who {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Host => "on this machine",
            Self::Program => "in the program",
            Self::Peer => "at the peer",
            Self::Network => "on the path",
        }
    }
}

/// A figure with its unit.
pub(crate) fn figure(name: impl Into<String>, value: f64, unit: &'static str, from: (Source, Since)) -> Evidence {
    Evidence { figure: name.into(), value: Value::Figure { value, unit }, source: from.0, since: from.1 }
}

/// A text, as a socket's line.
pub(crate) fn text(name: impl Into<String>, text: impl Into<String>, from: (Source, Since)) -> Evidence {
    Evidence { figure: name.into(), value: Value::Text { text: text.into() }, source: from.0, since: from.1 }
}
