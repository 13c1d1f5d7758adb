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
    BurstBeyondRate "burst-beyond-rate",
    BytesInTwoRounds "bytes-in-two-rounds",
    BytesPerMessage "bytes-per-message",
    CapRate "cap-rate",
    ClosedTime "closed-time",
    Closings "closings",
    ExitFlight "exit-flight",
    FirstFlight "first-flight",
    FlightAtEndOfSlowGrowth "flight-at-end-of-slow-growth",
    HeaderShare "header-share",
    HystartConnections "hystart-connections",
    InitialWindowAssumed "initial-window-assumed",
    LargestFlightBefore "largest-flight-before",
    LargestWindow "largest-window",
    LateAcks "late-acks",
    LeastWindowMeanwhile "least-window-meanwhile",
    MeanSegment "mean-segment",
    MeasuredRate "measured-rate",
    MedianExitFlight "median-exit-flight",
    MinRoundTrip "min-round-trip",
    MostInFlight "most-in-flight",
    PausesEndedByMessage "pauses-ended-by-message",
    PayloadRate "payload-rate",
    RateAfterBurst "rate-after-burst",
    RateBetweenLosses "rate-between-losses",
    RateOfBurst "rate-of-burst",
    RateP10 "rate-p10",
    RateP90 "rate-p90",
    RatePassed "rate-passed",
    RateTimesMinRoundTrip "rate-times-min-round-trip",
    ReceiveWindow "receive-window",
    Request "request",
    RetransmissionsOfLost "retransmissions-of-lost",
    RiseBeforeExit "rise-before-exit",
    RoundTrip "round-trip",
    RoundTripWhileFull "round-trip-while-full",
    RoundsAtCap "rounds-at-cap",
    RoundsNeeded "rounds-needed",
    RoundsOfSlowGrowth "rounds-of-slow-growth",
    RoundsOfSlowStart "rounds-of-slow-start",
    SameExitConnections "same-exit-connections",
    SegmentSize "segment-size",
    Segments "segments",
    SegmentsHeldBack "segments-held-back",
    SegmentsToSend "segments-to-send",
    SentBeforeFirstAck "sent-before-first-ack",
    SentBeforePacing "sent-before-pacing",
    Silence "silence",
    SynsWithoutOption "syns-without-option",
    TimeOfTwoRounds "time-of-two-rounds",
    TimesRequest "times-request",
    TypicalDelay "typical-delay",
    TypicalWait "typical-wait",
    WindowProbes "window-probes",
    WindowRate "window-rate",
    WindowThen "window-then",
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
