//! [`HostCause`]: the names under which this machine's findings are told.
//!
//! Where a capture would tell the same cause it has that cause's name; the others are this list's
//! own. What a name means stands at the top of its rule's file, as with the rules of captures.

use serde::{Serialize, Serializer};
use std::fmt;
use whyslow_core::cause::{self, Cause};

/// Every name: the file of its rule, its name in the code, and its public name.
macro_rules! define {
    ($($file:ident $name:ident $slug:literal,)*) => {
        /// What makes transfers slow on a machine. Ordered by public names.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) enum HostCause {
            $($name,)*
        }

        impl HostCause {
            /// All of them.
            pub(crate) const ALL: &[Self] = &[$(Self::$name,)*];

            /// Its public name.
            pub(crate) const fn slug(self) -> &'static str {
                match self {
                    $(Self::$name => $slug,)*
                }
            }

            /// The documentation at the beginning of its rule's file, and nothing else of the file.
            const fn source(self) -> &'static [u8] {
                match self {
                    $(Self::$name => {
                        const FILE: &[u8] = include_bytes!(concat!("rules/", stringify!($file), ".rs"));
                        const DOC: [u8; cause::documentation_length(FILE)] = cause::documentation(FILE);
                        &DOC
                    })*
                }
            }
        }
    };
}

define! {
    bufferbloat Bufferbloat "bufferbloat",
    checksum_errors ChecksumErrors "checksum-errors",
    close_wait CloseWait "close-wait",
    conntrack_full ConntrackFull "conntrack-full",
    cpu_throttled CpuThrottled "cpu-throttled",
    host_cpu HostCpu "host-cpu",
    idle_beyond_peer IdleBeyondPeer "idle-beyond-peer",
    listen_overflow ListenOverflow "listen-overflow",
    loss Loss "loss",
    lost_retransmission LostRetransmission "lost-retransmission",
    mtu_black_hole MtuBlackHole "mtu-black-hole",
    needless_tail_probes NeedlessTailProbes "needless-tail-probes",
    new_connection_each_time NewConnectionEachTime "new-connection-each-time",
    nic_drops NicDrops "nic-drops",
    no_answer NoAnswer "no-answer",
    no_sack NoSack "no-sack",
    no_window_scaling NoWindowScaling "no-window-scaling",
    port_exhaustion PortExhaustion "port-exhaustion",
    qdisc_drops QdiscDrops "qdisc-drops",
    receive_drops ReceiveDrops "receive-drops",
    receive_window ReceiveWindow "receive-window",
    restart_after_idle RestartAfterIdle "restart-after-idle",
    sender_cap SenderCap "sender-cap",
    slow_start SlowStart "slow-start",
    softnet_drops SoftnetDrops "softnet-drops",
    spurious_retransmission SpuriousRetransmission "spurious-retransmission",
    stale_ssthresh StaleSsthresh "stale-ssthresh",
    timeout Timeout "timeout",
    unpaced_bbr UnpacedBbr "unpaced-bbr",
    zero_window ZeroWindow "zero-window",
}

impl HostCause {
    /// The one of this public name.
    pub(crate) fn from_slug(slug: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|cause| cause.slug() == slug)
    }

    /// Whether captures have it too.
    pub(crate) fn is_of_captures(self) -> bool {
        Cause::from_slug(self.slug()).is_some()
    }

    /// Its documentation as Markdown: the first line is the cause in one sentence.
    pub(crate) fn markdown(self) -> String {
        cause::markdown(self.source())
    }
}

impl fmt::Display for HostCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.slug())
    }
}

impl Serialize for HostCause {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.slug())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn each_name_has_its_documentation_and_its_word_in_the_glossary() {
        assert!(HostCause::ALL.is_sorted_by_key(|cause| cause.slug()));
        let glossary = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/glossary.md");
        let glossary = std::fs::read_to_string(glossary).unwrap();
        for &cause in HostCause::ALL {
            assert_eq!(HostCause::from_slug(cause.slug()), Some(cause));
            assert!(glossary.contains(&format!("- `{cause}`: ")), "docs/glossary.md lacks {cause}");
            let text = cause.markdown();
            for part in ["## How it is recognised", "## The fix", "## To see that it worked"] {
                assert!(text.contains(part), "{cause} lacks {part}");
            }
        }
    }
}
