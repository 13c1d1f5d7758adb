//! [`Slug`]: the public name of a cause, and [`HostCause`]: those that only a host knows.

use serde::{Serialize, Serializer};
use std::fmt;
use whyslow_analysis::cause::Cause;

macro_rules! define {
    ($($name:ident $slug:literal,)*) => {
        /// What makes transfers slow and no capture shows. Ordered by public names.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum HostCause {
            $(#[doc = concat!("`", $slug, "`")] $name,)*
        }

        impl HostCause {
            /// All values.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// Its public name.
            pub const fn slug(self) -> &'static str {
                match self {
                    $(Self::$name => $slug,)*
                }
            }
        }
    };
}

define! {
    ChecksumErrors "checksum-errors",
    CloseWait "close-wait",
    ConntrackFull "conntrack-full",
    CpuThrottled "cpu-throttled",
    IdleBeyondPeer "idle-beyond-peer",
    ListenOverflow "listen-overflow",
    NeedlessTailProbes "needless-tail-probes",
    NicDrops "nic-drops",
    PortExhaustion "port-exhaustion",
    QdiscDrops "qdisc-drops",
    ReceiveDrops "receive-drops",
    SoftnetDrops "softnet-drops",
    StaleSsthresh "stale-ssthresh",
    UnpacedBbr "unpaced-bbr",
}

/// Public names of causes: those of captures, and those that only a host knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Slug {
    /// As in captures.
    Known(Cause),
    /// As in `whyslow host` alone.
    Host(HostCause),
}

impl Slug {
    /// The public name.
    pub const fn slug(self) -> &'static str {
        match self {
            Self::Known(cause) => cause.slug(),
            Self::Host(cause) => cause.slug(),
        }
    }
}

impl fmt::Display for Slug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.slug())
    }
}

impl From<Cause> for Slug {
    fn from(cause: Cause) -> Self {
        Self::Known(cause)
    }
}

impl From<HostCause> for Slug {
    fn from(cause: HostCause) -> Self {
        Self::Host(cause)
    }
}

impl Serialize for Slug {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.slug())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_of_captures_or_of_hosts() {
        assert!(HostCause::ALL.is_sorted_by_key(|cause| cause.slug()));
        assert!(HostCause::ALL.iter().all(|cause| Cause::from_slug(cause.slug()).is_none()));
    }
}
