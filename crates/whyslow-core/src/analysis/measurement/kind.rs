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
    AgreedSegmentSize "agreed-segment-size",
    BurstBeyondRate "burst-beyond-rate",
    BurstUsedUpAfter "burst-used-up-after",
    BytesInTwoRounds "bytes-in-two-rounds",
    BytesPerMessage "bytes-per-message",
    CapRate "cap-rate",
    ClosedTime "closed-time",
    Closings "closings",
    CongestionEchoes "congestion-echoes",
    CongestionMarks "congestion-marks",
    DsacksForSentOnce "dsacks-for-sent-once",
    ExitFlight "exit-flight",
    FastRecoveryTime "fast-recovery-time",
    FirstCopyLostBeforeCapture "first-copy-lost-before-capture",
    FirstFlight "first-flight",
    FlightAfterEcho "flight-after-echo",
    FlightAtEcho "flight-at-echo",
    FlightAtEndOfSlowGrowth "flight-at-end-of-slow-growth",
    FlightCorrelation "flight-correlation",
    HeaderShare "header-share",
    HealedHoles "healed-holes",
    HystartConnections "hystart-connections",
    InitialWindowAssumed "initial-window-assumed",
    JointRate "joint-rate",
    JointRetransmissions "joint-retransmissions",
    LargestFlightBefore "largest-flight-before",
    LargestSegment "largest-segment",
    LargestWindow "largest-window",
    LateAcks "late-acks",
    LeastWindowMeanwhile "least-window-meanwhile",
    LongestPause "longest-pause",
    LongestWait "longest-wait",
    LossDistanceSpread "loss-distance-spread",
    LossDistanceSpreadByChance "loss-distance-spread-by-chance",
    LossFlightSpread "loss-flight-spread",
    LossesFromLargeFlights "losses-from-large-flights",
    LossesInBurst "losses-in-burst",
    LossesInOverrun "losses-in-overrun",
    LossesPerRoundTrip "losses-per-round-trip",
    MathisCeiling "mathis-ceiling",
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
    SegmentSize "segment-size",
    Segments "segments",
    SegmentsHeldBack "segments-held-back",
    SegmentsLost "segments-lost",
    SegmentsOvertaken "segments-overtaken",
    SegmentsRetransmitted "segments-retransmitted",
    SegmentsToSend "segments-to-send",
    SentBeforeFirstAck "sent-before-first-ack",
    SentBeforePacing "sent-before-pacing",
    Silence "silence",
    SpuriousRetransmissions "spurious-retransmissions",
    SteadyRate "steady-rate",
    StretchesBetweenLosses "stretches-between-losses",
    StretchesOfAllTransfers "stretches-of-all-transfers",
    SynsWithoutOption "syns-without-option",
    SynsWithoutSack "syns-without-sack",
    TailLossProbes "tail-loss-probes",
    TimeOfTwoRounds "time-of-two-rounds",
    TimerRetransmissions "timer-retransmissions",
    TimerWaits "timer-waits",
    TimesRequest "times-request",
    TypicalDelay "typical-delay",
    TypicalWait "typical-wait",
    UnexplainedPauses "unexplained-pauses",
    VanishedSegmentSize "vanished-segment-size",
    WaitForTimer "wait-for-timer",
    WaitInOverrun "wait-in-overrun",
    WaitsWithMissingIpId "waits-with-missing-ip-id",
    WindowProbes "window-probes",
    WindowRate "window-rate",
    WindowReductions "window-reductions",
    WindowThen "window-then",
    WireRate "wire-rate",
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
