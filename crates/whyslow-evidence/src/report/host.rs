//! What a look at a machine finds (`whyslow host`): statements, remedies and checks that name its
//! peers, processes and devices. A finding is a [`Finding`](super::Finding), as of texts.

mod action;
mod check;
mod extent;
mod statement;

pub use action::{BufferSize, Cap, HostAction, TcpOption, Who};
pub use check::{Field, HostCheck};
pub use extent::Extent;
pub use statement::{Connections, HostStatement, Listener, Processes, Takes, Way};

use serde::Serialize;

/// The source of a figure, and the beginning of its count.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Origin {
    /// Where from.
    pub source: Place,
    /// Since when.
    pub since: Since,
}

/// The source of a figure of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// sock_diag, as `ss -tieom` prints it: the worst or the longest of the sockets.
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

/// Since when something is counted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Since {
    /// The value at this moment.
    Now,
    /// Since each of the connections began.
    Connection,
    /// Since the machine started, or the namespace or the device was made.
    Boot,
    /// Over this many seconds, until now.
    Seconds(f64),
}

/// A count, of how many, and since when.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Counted {
    /// How many.
    pub count: u64,
    /// The base of the share.
    pub of: u64,
    /// Since when.
    pub since: Since,
}

impl Counted {
    /// 0–1.
    pub fn share(self) -> f64 {
        self.count as f64 / self.of.max(1) as f64
    }
}
