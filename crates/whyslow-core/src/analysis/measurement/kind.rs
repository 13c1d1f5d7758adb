//! [`Measure`]: what a value measures.

use borsh::{BorshDeserialize, BorshSerialize};
use serde::{Serialize, Serializer};

macro_rules! measures {
    ($($name:ident $slug:literal,)*) => {
        /// What a value measures.
        #[derive(Clone, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
        pub enum Measure {
            $(#[doc = concat!("`", $slug, "`")] $name,)*
            /// Not converted yet.
            Text(String),
        }

        impl Measure {
            /// Its public name.
            pub fn slug(&self) -> &str {
                match self {
                    $(Self::$name => $slug,)*
                    Self::Text(text) => text,
                }
            }
        }
    };
}

measures! {
    AcknowledgedBytes "acknowledged-bytes",
    BurstBeyondRate "burst-beyond-rate",
    BurstInterval "burst-interval",
    ClosedByClient "closed-by-client",
    ClosedByServer "closed-by-server",
    CompletingFlight "completing-flight",
    ConnectionsSharing "connections-sharing",
    DataTtl "data-ttl",
    ExitFlight "exit-flight",
    FirstBurst "first-burst",
    FirstDataAckTime "first-data-ack-time",
    FirstFlight "first-flight",
    FirstRecord "first-record",
    FirstSynToLastError "first-syn-to-last-error",
    FirstToLastSyn "first-to-last-syn",
    FlightAtEndOfSlowGrowth "flight-at-end-of-slow-growth",
    HandshakeAckTime "handshake-ack-time",
    HandshakeTime "handshake-time",
    HystartConnections "hystart-connections",
    IcmpHostUnreachable "icmp-host-unreachable",
    IcmpNetworkUnreachable "icmp-network-unreachable",
    IcmpPathMtu "icmp-path-mtu",
    IcmpPortUnreachable "icmp-port-unreachable",
    IcmpProhibited "icmp-prohibited",
    IcmpProtocolUnreachable "icmp-protocol-unreachable",
    IcmpTimeExceeded "icmp-time-exceeded",
    IcmpTooBig "icmp-too-big",
    InitialWindowAssumed "initial-window-assumed",
    LargestWindow "largest-window",
    LastGrowingBurst "last-growing-burst",
    LastRetransmissionWait "last-retransmission-wait",
    LaterRoundTripMedian "later-round-trip-median",
    LaterRoundTripP95 "later-round-trip-p95",
    LongestPause "longest-pause",
    LongestPauseBeforeRequest "longest-pause-before-request",
    LongestResponseWait "longest-response-wait",
    MaxInFlight "max-in-flight",
    MeanSegment "mean-segment",
    MedianExitFlight "median-exit-flight",
    MinRoundTrip "min-round-trip",
    Pauses "pauses",
    RateAfterBurst "rate-after-burst",
    RateBetweenLosses "rate-between-losses",
    RateOfBurst "rate-of-burst",
    RatePassed "rate-passed",
    RequestToClose "request-to-close",
    RequestToFirstByte "request-to-first-byte",
    RequestToReset "request-to-reset",
    ResetTtl "reset-ttl",
    ResponseReceived "response-received",
    RetransmissionsOfLost "retransmissions-of-lost",
    RiseBeforeExit "rise-before-exit",
    RoundTrip "round-trip",
    RoundsNeeded "rounds-needed",
    RoundsOfSlowGrowth "rounds-of-slow-growth",
    RoundsOfSlowStart "rounds-of-slow-start",
    SameExitConnections "same-exit-connections",
    SegmentBeforePause "segment-before-pause",
    SegmentSize "segment-size",
    SegmentsToSend "segments-to-send",
    SequentialConnections "sequential-connections",
    ServerSilence "server-silence",
    SilenceAfterRequest "silence-after-request",
    SilenceAfterResponse "silence-after-response",
    SilenceBeforeFirstTry "silence-before-first-try",
    SilenceBeforeRequest "silence-before-request",
    SilenceToCaptureEnd "silence-to-capture-end",
    SynAckTime "syn-ack-time",
    SynAcksRetransmitted "syn-acks-retransmitted",
    SynToReset "syn-to-reset",
    SynTtl "syn-ttl",
    Syns "syns",
    SynsRetransmitted "syns-retransmitted",
    SynsWithoutOption "syns-without-option",
    TriesWithoutAck "tries-without-ack",
    Turns "turns",
    TypicalCost "typical-cost",
    TypicalDelay "typical-delay",
    UnacknowledgedBytes "unacknowledged-bytes",
    UnacknowledgedSynAcks "unacknowledged-syn-acks",
    UnansweredRequest "unanswered-request",
    UnansweredSyns "unanswered-syns",
    UsualTtl "usual-ttl",
    WindowRate "window-rate",
    WorstCost "worst-cost",
    WriteRate "write-rate",
}

impl From<&str> for Measure {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Measure {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// As its public name.
impl Serialize for Measure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.slug())
    }
}

impl Measure {
    /// Applies `act` to every host that it names.
    pub(crate) fn each_host(&mut self, act: &dyn Fn(&mut String)) {
        if let Self::Text(text) = self {
            act(text);
        }
    }
}
