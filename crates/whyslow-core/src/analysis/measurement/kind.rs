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
    AckDelayMedian "ack-delay-median",
    AckDelayMin "ack-delay-min",
    AcknowledgedBytes "acknowledged-bytes",
    AgreedSegmentSize "agreed-segment-size",
    BurstBeyondRate "burst-beyond-rate",
    BurstInterval "burst-interval",
    BurstUsedUpAfter "burst-used-up-after",
    BytesInTwoRounds "bytes-in-two-rounds",
    BytesPerMessage "bytes-per-message",
    CapRate "cap-rate",
    ClosedByClient "closed-by-client",
    ClosedByServer "closed-by-server",
    ClosedTime "closed-time",
    Closings "closings",
    CompletingFlight "completing-flight",
    CongestionEchoes "congestion-echoes",
    CongestionMarks "congestion-marks",
    ConnectionsSharing "connections-sharing",
    DataTtl "data-ttl",
    DsacksForSentOnce "dsacks-for-sent-once",
    ExitFlight "exit-flight",
    FastRecoveryTime "fast-recovery-time",
    FirstBurst "first-burst",
    FirstCopyLostBeforeCapture "first-copy-lost-before-capture",
    FirstDataAckTime "first-data-ack-time",
    FirstFlight "first-flight",
    FirstRecord "first-record",
    FirstSynToLastError "first-syn-to-last-error",
    FirstToLastSyn "first-to-last-syn",
    FlightAfterEcho "flight-after-echo",
    FlightAtEcho "flight-at-echo",
    FlightAtEndOfSlowGrowth "flight-at-end-of-slow-growth",
    FlightCorrelation "flight-correlation",
    HandshakeAckTime "handshake-ack-time",
    HandshakeTime "handshake-time",
    HeaderShare "header-share",
    HealedHoles "healed-holes",
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
    JointRate "joint-rate",
    JointRetransmissions "joint-retransmissions",
    LargestFlightBefore "largest-flight-before",
    LargestSegment "largest-segment",
    LargestWindow "largest-window",
    LastGrowingBurst "last-growing-burst",
    LastRetransmissionWait "last-retransmission-wait",
    LateAcks "late-acks",
    LaterRoundTripMedian "later-round-trip-median",
    LaterRoundTripP95 "later-round-trip-p95",
    LeastWindowMeanwhile "least-window-meanwhile",
    LongestPause "longest-pause",
    LongestPauseBeforeRequest "longest-pause-before-request",
    LongestResponseWait "longest-response-wait",
    LongestWait "longest-wait",
    LossDistanceSpread "loss-distance-spread",
    LossDistanceSpreadByChance "loss-distance-spread-by-chance",
    LossFlightSpread "loss-flight-spread",
    LossesFromLargeFlights "losses-from-large-flights",
    LossesInBurst "losses-in-burst",
    LossesInOverrun "losses-in-overrun",
    LossesPerRoundTrip "losses-per-round-trip",
    MathisCeiling "mathis-ceiling",
    MaxInFlight "max-in-flight",
    MeanSegment "mean-segment",
    MeasuredRate "measured-rate",
    MedianExitFlight "median-exit-flight",
    MinRoundTrip "min-round-trip",
    MostInFlight "most-in-flight",
    OfferedRate "offered-rate",
    OvertakenShare "overtaken-share",
    OwnRate "own-rate",
    PacketsCapturedTwice "packets-captured-twice",
    PacketsMissingByIpId "packets-missing-by-ip-id",
    Pauses "pauses",
    PausesEndedByMessage "pauses-ended-by-message",
    PayloadRate "payload-rate",
    QueueAtMark "queue-at-mark",
    RateAfterBurst "rate-after-burst",
    RateBetweenLosses "rate-between-losses",
    RateLowerTenth "rate-lower-tenth",
    RateOfBurst "rate-of-burst",
    RateP10 "rate-p10",
    RateP90 "rate-p90",
    RatePassed "rate-passed",
    RateTimesMinRoundTrip "rate-times-min-round-trip",
    RateUpperTenth "rate-upper-tenth",
    ReceiveWindow "receive-window",
    ReorderingExtent "reordering-extent",
    Request "request",
    RequestToClose "request-to-close",
    RequestToFirstByte "request-to-first-byte",
    RequestToReset "request-to-reset",
    ResetTtl "reset-ttl",
    ResponseReceived "response-received",
    RetransmissionsLost "retransmissions-lost",
    RetransmissionsOfLost "retransmissions-of-lost",
    RetransmittedShare "retransmitted-share",
    RiseBeforeExit "rise-before-exit",
    RoundTrip "round-trip",
    RoundTripAfter "round-trip-after",
    RoundTripAtLosses "round-trip-at-losses",
    RoundTripBefore "round-trip-before",
    RoundTripP95 "round-trip-p95",
    RoundTripWhileFull "round-trip-while-full",
    RoundsAtCap "rounds-at-cap",
    RoundsNeeded "rounds-needed",
    RoundsOfSlowGrowth "rounds-of-slow-growth",
    RoundsOfSlowStart "rounds-of-slow-start",
    RoundsOverrun "rounds-overrun",
    SameExitConnections "same-exit-connections",
    SegmentBeforePause "segment-before-pause",
    SegmentSize "segment-size",
    Segments "segments",
    SegmentsHeldBack "segments-held-back",
    SegmentsLost "segments-lost",
    SegmentsOvertaken "segments-overtaken",
    SegmentsRetransmitted "segments-retransmitted",
    SegmentsToSend "segments-to-send",
    SentBeforeFirstAck "sent-before-first-ack",
    SentBeforePacing "sent-before-pacing",
    SequentialConnections "sequential-connections",
    ServerSilence "server-silence",
    Silence "silence",
    SilenceAfterRequest "silence-after-request",
    SilenceAfterResponse "silence-after-response",
    SilenceBeforeFirstTry "silence-before-first-try",
    SilenceBeforeRequest "silence-before-request",
    SilenceToCaptureEnd "silence-to-capture-end",
    SpuriousRetransmissions "spurious-retransmissions",
    SteadyRate "steady-rate",
    StretchesBetweenLosses "stretches-between-losses",
    StretchesOfAllTransfers "stretches-of-all-transfers",
    SynAckTime "syn-ack-time",
    SynAcksRetransmitted "syn-acks-retransmitted",
    SynToReset "syn-to-reset",
    SynTtl "syn-ttl",
    Syns "syns",
    SynsRetransmitted "syns-retransmitted",
    SynsWithoutOption "syns-without-option",
    SynsWithoutSack "syns-without-sack",
    TailLossProbes "tail-loss-probes",
    TimeOfTwoRounds "time-of-two-rounds",
    TimerRetransmissions "timer-retransmissions",
    TimerWaits "timer-waits",
    TimesRequest "times-request",
    TriesWithoutAck "tries-without-ack",
    Turns "turns",
    TypicalCost "typical-cost",
    TypicalDelay "typical-delay",
    TypicalWait "typical-wait",
    UnacknowledgedBytes "unacknowledged-bytes",
    UnacknowledgedSynAcks "unacknowledged-syn-acks",
    UnansweredRequest "unanswered-request",
    UnansweredSyns "unanswered-syns",
    UnexplainedPauses "unexplained-pauses",
    UsualTtl "usual-ttl",
    VanishedSegmentSize "vanished-segment-size",
    WaitForTimer "wait-for-timer",
    WaitInOverrun "wait-in-overrun",
    WaitsWithMissingIpId "waits-with-missing-ip-id",
    WindowProbes "window-probes",
    WindowRate "window-rate",
    WindowReductions "window-reductions",
    WindowThen "window-then",
    WireRate "wire-rate",
    WorstCost "worst-cost",
    WriteRate "write-rate",
    WrongChecksums "wrong-checksums",
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
