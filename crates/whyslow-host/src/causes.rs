//! Documentation of the findings of a machine: it stands at the top of each rule's file.
//!
//! Where a capture would show the same cause it has that cause's name ([`Slug::Known`]); the others
//! are those that only a host knows.

use crate::finding::{HostCause, Slug};
use whyslow_analysis::cause::Cause;
use whyslow_analysis::documentation;

/// Every cause of a machine: its list, its name in the code, and the file of its rule.
macro_rules! define {
    ($($list:ident $name:ident $file:ident,)*) => {
        /// The findings of `whyslow host`, in the order of public names.
        pub const ALL: &[Slug] = &[$(define!(@slug $list $name),)*];

        /// The documentation at the beginning of a rule's file, and nothing else of the file.
        fn source(slug: Slug) -> Option<&'static [u8]> {
            match slug {
                $(define!(@slug $list $name) => {
                    const FILE: &[u8] = include_bytes!(concat!("rules/", stringify!($file), ".rs"));
                    const DOC: [u8; documentation::length(FILE)] = documentation::copied(FILE);
                    Some(&DOC)
                })*
                Slug::Known(_) => None,
            }
        }
    };
    (@slug Cause $name:ident) => { Slug::Known(Cause::$name) };
    (@slug HostCause $name:ident) => { Slug::Host(HostCause::$name) };
}

define! {
    Cause Bufferbloat bufferbloat,
    HostCause ChecksumErrors checksum_errors,
    HostCause CloseWait close_wait,
    HostCause ConntrackFull conntrack_full,
    HostCause CpuThrottled cpu_throttled,
    Cause HostCpu host_cpu,
    HostCause IdleBeyondPeer idle_beyond_peer,
    HostCause ListenOverflow listen_overflow,
    Cause Loss loss,
    Cause LostRetransmission lost_retransmission,
    Cause MtuBlackHole mtu_black_hole,
    HostCause NeedlessTailProbes needless_tail_probes,
    Cause NewConnectionEachTime new_connection_each_time,
    HostCause NicDrops nic_drops,
    Cause NoAnswer no_answer,
    Cause NoSack no_sack,
    Cause NoWindowScaling no_window_scaling,
    HostCause PortExhaustion port_exhaustion,
    HostCause QdiscDrops qdisc_drops,
    HostCause ReceiveDrops receive_drops,
    Cause ReceiveWindow receive_window,
    Cause RestartAfterIdle restart_after_idle,
    Cause SenderCap sender_cap,
    Cause SlowStart slow_start,
    HostCause SoftnetDrops softnet_drops,
    Cause SpuriousRetransmission spurious_retransmission,
    HostCause StaleSsthresh stale_ssthresh,
    Cause Timeout timeout,
    HostCause UnpacedBbr unpaced_bbr,
    Cause ZeroWindow zero_window,
}

/// The cause of this public name, if `whyslow host` can find it.
pub fn from_slug(slug: &str) -> Option<Slug> {
    ALL.iter().copied().find(|cause| cause.slug() == slug)
}

/// Its documentation as Markdown: the first line is the cause in one sentence.
pub fn markdown(slug: Slug) -> String {
    source(slug).map_or(String::new(), documentation::markdown)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn each_name_has_its_documentation_and_a_section_of_the_reference() {
        assert!(ALL.is_sorted_by_key(|cause| cause.slug()));
        assert!(HostCause::ALL.iter().all(|cause| ALL.contains(&Slug::Host(*cause))));
        let reference = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/causes.md");
        let reference = std::fs::read_to_string(reference).unwrap();
        for &cause in ALL {
            assert_eq!(from_slug(cause.slug()), Some(cause));
            assert!(reference.contains(&format!("\n## {cause}\n")), "docs/reference/causes.md lacks {cause}");
            let text = markdown(cause);
            for part in ["## How it is recognised", "## The fix", "## To see that it worked"] {
                assert!(text.contains(part), "{cause} lacks {part}");
            }
        }
    }
}
