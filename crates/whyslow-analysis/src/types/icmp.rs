//! [`Fate`]: the error that an ICMP message reports for a packet.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::{Serialize, Serializer};

/// Why a packet was not delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, BorshSerialize, BorshDeserialize)]
pub enum Fate {
    /// The packet was too large for the next link and must not be fragmented. Holds the MTU of that
    /// link in bytes, if the error gives it.
    TooBig(Option<u32>),
    /// No route leads to its network.
    NetworkUnreachable,
    /// The last router gets no response from the host.
    HostUnreachable,
    /// The host does not support TCP.
    ProtocolUnreachable,
    /// No socket listens at that port, or a firewall pretends so.
    PortUnreachable,
    /// A filter rejects it.
    Prohibited,
    /// Its time to live reached 0: a routing loop, or the initial value was too low.
    TimeExceeded,
}

impl Fate {
    /// Public name.
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

/// Serialized as its public name.
impl Serialize for Fate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.slug())
    }
}
