//! [`Fate`]: what an ICMP error reports of a packet.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::{Serialize, Serializer};

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, BorshSerialize, BorshDeserialize)]
pub enum Fate {
    /// It was too large for the next link, and may not be fragmented. Holds the longest packet that
    /// passes, bytes, if the error gives it.
    TooBig(Option<u32>),
    /// No route leads to its network.
    NetworkUnreachable,
    /// Its host does not respond to the last router.
    HostUnreachable,
    /// Its host does not speak TCP.
    ProtocolUnreachable,
    /// No socket listens at that port, or a firewall claims so.
    PortUnreachable,
    /// A filter forbids it.
    Prohibited,
    /// It passed more routers than its time to live allows: routers forward it in a loop, or its
    /// time to live was too low.
    TimeExceeded,
}

impl Fate {
    /// Its public name.
    pub const fn slug(self) -> &'static str {
        match self {
            Self::TooBig(_) => "too-big",
            Self::NetworkUnreachable => "network-unreachable",
            Self::HostUnreachable => "host-unreachable",
            Self::ProtocolUnreachable => "protocol-unreachable",
            Self::PortUnreachable => "port-unreachable",
            Self::Prohibited => "prohibited",
            Self::TimeExceeded => "time-exceeded",
        }
    }
}

/// As its public name.
impl Serialize for Fate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.slug())
    }
}
