//! [`Cause`]: why a transfer was slow, or a limit of a capture.
//!
//! This is the only list of causes: their rules, their documentation, the names on the command line
//! and the tests of the casebook come from it.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::{Serialize, Serializer};
use std::fmt;

/// Every cause, in the order of their public names: the file of its rule, its name in the code, and
/// its public name.
#[doc(hidden)]
#[macro_export]
macro_rules! for_each_cause {
    ($then:ident) => {
        $then! {
            amplification_risk AmplificationRisk "amplification-risk",
            application Application "application",
            bad_checksums BadChecksums "bad-checksums",
            bandwidth Bandwidth "bandwidth",
            bufferbloat Bufferbloat "bufferbloat",
            capture_loss CaptureLoss "capture-loss",
            client_think ClientThink "client-think",
            clock_step ClockStep "clock-step",
            coarse_times CoarseTimes "coarse-times",
            delayed_ack DelayedAck "delayed-ack",
            duplication Duplication "duplication",
            early_slow_start_exit EarlySlowStartExit "early-slow-start-exit",
            ecn Ecn "ecn",
            elided_text ElidedText "elided-text",
            host_cpu HostCpu "host-cpu",
            loss Loss "loss",
            lost_retransmission LostRetransmission "lost-retransmission",
            mtu_black_hole MtuBlackHole "mtu-black-hole",
            nagle_delayed_ack NagleDelayedAck "nagle-delayed-ack",
            new_connection_each_time NewConnectionEachTime "new-connection-each-time",
            no_answer NoAnswer "no-answer",
            no_handshake NoHandshake "no-handshake",
            no_sack NoSack "no-sack",
            no_window_scaling NoWindowScaling "no-window-scaling",
            offload Offload "offload",
            one_direction OneDirection "one-direction",
            pacing Pacing "pacing",
            path_latency PathLatency "path-latency",
            policer Policer "policer",
            protocol_window ProtocolWindow "protocol-window",
            proxy_split ProxySplit "proxy-split",
            random_loss RandomLoss "random-loss",
            receive_window ReceiveWindow "receive-window",
            reordering Reordering "reordering",
            reset Reset "reset",
            restart_after_idle RestartAfterIdle "restart-after-idle",
            sender_cap SenderCap "sender-cap",
            server_think ServerThink "server-think",
            shaper Shaper "shaper",
            short_snaplen ShortSnaplen "short-snaplen",
            slow_lookup SlowLookup "slow-lookup",
            slow_start SlowStart "slow-start",
            small_segments SmallSegments "small-segments",
            spurious_retransmission SpuriousRetransmission "spurious-retransmission",
            syn_loss SynLoss "syn-loss",
            tail_loss TailLoss "tail-loss",
            terse_text TerseText "terse-text",
            timeout Timeout "timeout",
            tls_record_buffering TlsRecordBuffering "tls-record-buffering",
            turn_taking TurnTaking "turn-taking",
            zero_window ZeroWindow "zero-window",
        }
    };
}

macro_rules! define {
    ($($file:ident $name:ident $slug:literal,)*) => {
        /// Why a transfer was slow, or a limit of a capture. Ordered by public names.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, BorshSerialize, BorshDeserialize)]
        pub enum Cause {
            $(#[doc = concat!("`", $slug, "`.")] $name,)*
        }

        impl Cause {
            /// All of them, in the order of their public names.
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
for_each_cause!(define);

impl Cause {
    /// The cause with this public name.
    pub fn from_slug(slug: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|cause| cause.slug() == slug)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.slug())
    }
}

/// Serializes the public name.
impl Serialize for Cause {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.slug())
    }
}

#[cfg(test)]
mod tests {
    use super::Cause;

    #[test]
    fn causes_are_ordered_by_public_name() {
        assert!(Cause::ALL.is_sorted_by_key(|cause| cause.slug()));
        for (place, cause) in Cause::ALL.iter().enumerate() {
            assert_eq!(*cause as usize, place);
            assert_eq!(Cause::from_slug(cause.slug()), Some(*cause));
        }
        assert_eq!(Cause::from_slug("Loss"), None);
    }
}
