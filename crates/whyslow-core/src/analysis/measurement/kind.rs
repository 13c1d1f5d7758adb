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
    ExitFlight "exit-flight",
    FirstFlight "first-flight",
    FlightAtEndOfSlowGrowth "flight-at-end-of-slow-growth",
    HystartConnections "hystart-connections",
    InitialWindowAssumed "initial-window-assumed",
    LargestWindow "largest-window",
    MedianExitFlight "median-exit-flight",
    MinRoundTrip "min-round-trip",
    RateAfterBurst "rate-after-burst",
    RateBetweenLosses "rate-between-losses",
    RateOfBurst "rate-of-burst",
    RatePassed "rate-passed",
    RetransmissionsOfLost "retransmissions-of-lost",
    RiseBeforeExit "rise-before-exit",
    RoundTrip "round-trip",
    RoundsNeeded "rounds-needed",
    RoundsOfSlowGrowth "rounds-of-slow-growth",
    RoundsOfSlowStart "rounds-of-slow-start",
    SameExitConnections "same-exit-connections",
    SegmentsToSend "segments-to-send",
    SynsWithoutOption "syns-without-option",
    TypicalDelay "typical-delay",
    WindowRate "window-rate",
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
