//! [`Cause`]: why a transfer was slow, or a limit of a capture.
//!
//! This is the only list of causes: their rules, their documentation, the names on the command line
//! and the tests of the casebook come from it. A cause is defined at the top of its rule's file.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::{Serialize, Serializer};
use std::fmt;
use std::sync::LazyLock;

/// Every cause, in the order of their public names: the file of its rule, its name in the code, and
/// its public name.
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
pub(crate) use for_each_cause;

macro_rules! define {
    ($($file:ident $name:ident $slug:literal,)*) => {
        /// Why a transfer was slow, or a limit of a capture. Ordered by public names.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, BorshSerialize, BorshDeserialize)]
        #[non_exhaustive]
        pub enum Cause {
            $(#[doc = concat!("`", $slug, "`, see `rules/", stringify!($file), ".rs`.")] $name,)*
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

            /// The documentation at the beginning of its rule's file, and nothing else of the file.
            const fn source(self) -> &'static [u8] {
                match self {
                    $(Self::$name => {
                        const FILE: &[u8] = include_bytes!(concat!("rules/", stringify!($file), ".rs"));
                        const DOC: [u8; documentation_length(FILE)] = documentation(FILE);
                        &DOC
                    })*
                }
            }
        }
    };
}
for_each_cause!(define);

/// The length of the comment that a rule's file begins with, bytes.
pub const fn documentation_length(file: &[u8]) -> usize {
    let mut at = 0;
    while at + 2 < file.len() && file[at] == b'/' && file[at + 1] == b'/' && file[at + 2] == b'!' {
        while at < file.len() && file[at] != b'\n' {
            at += 1;
        }
        at += 1;
    }
    at
}

/// The comment that a rule's file begins with, copied: a part of the file would keep all of it in
/// the program.
pub const fn documentation<const LENGTH: usize>(file: &[u8]) -> [u8; LENGTH] {
    let mut copy = [0; LENGTH];
    let mut at = 0;
    while at < LENGTH {
        copy[at] = file[at];
        at += 1;
    }
    copy
}

/// Such a comment as Markdown: the first line is the cause in one sentence.
pub fn markdown(documentation: &[u8]) -> String {
    let text = String::from_utf8_lossy(documentation)
        .lines()
        .map(|line| line.trim_start_matches("//!").trim_start_matches(' '))
        .collect::<Vec<_>>()
        .join("\n");
    // The title may be wrapped in the source.
    match text.split_once("\n\n") {
        Some((title, rest)) => format!("{}\n\n{rest}", title.replace('\n', " ")),
        None => text,
    }
}

impl Cause {
    /// The cause with this public name.
    pub fn from_slug(slug: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|cause| cause.slug() == slug)
    }

    /// Its documentation as Markdown, as `causes` prints it: the first line is the cause in one
    /// sentence.
    pub fn markdown(self) -> String {
        markdown(self.source())
    }

    /// How to see that its fix worked, as a clause: the section of that name.
    pub fn verify(self) -> Option<&'static str> {
        static CLAUSES: LazyLock<Vec<Option<String>>> =
            LazyLock::new(|| Cause::ALL.iter().map(|cause| clause(&cause.markdown())).collect());
        CLAUSES.get(self as usize)?.as_deref()
    }
}

/// The section on how to see that the fix worked, as a clause.
fn clause(markdown: &str) -> Option<String> {
    let lines = markdown.lines().skip_while(|line| *line != "## To see that it worked").skip(1);
    let words: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
    let text = words.join(" ");
    let mut letters = text.trim_end_matches('.').chars();
    let first = letters.next()?;
    Some(first.to_lowercase().chain(letters).collect())
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.slug())
    }
}

/// As its public name.
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
