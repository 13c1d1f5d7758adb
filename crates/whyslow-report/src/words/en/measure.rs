//! Measurements and units.

use std::borrow::Cow;
use whyslow_core::analysis::{Measure, Unit};

pub(in crate::words) fn measure(measure: &Measure) -> Cow<'_, str> {
    Cow::Borrowed(match measure {
        Measure::BurstBeyondRate => "burst beyond the rate (size of the bucket)",
        Measure::ExitFlight => "flight at which the doubling stopped",
        Measure::FirstFlight => "first flight",
        Measure::FlightAtEndOfSlowGrowth => "flight at their end",
        Measure::HystartConnections => "of them after the round trip had risen (HyStart)",
        Measure::InitialWindowAssumed => "initial window assumed",
        Measure::LargestWindow => "largest window",
        Measure::MedianExitFlight => "flight at which the doubling stopped, median",
        Measure::MinRoundTrip => "minimum RTT",
        Measure::RateAfterBurst => "rate of payload from then on",
        Measure::RateBetweenLosses => "rate at which bytes passed between losses",
        Measure::RateOfBurst => "rate of the burst",
        Measure::RatePassed => "rate that passed",
        Measure::RetransmissionsOfLost => "retransmissions whose earlier copy never arrived",
        Measure::RiseBeforeExit => "rise of the round trip before",
        Measure::RoundTrip => "round trip",
        Measure::RoundsNeeded => "rounds that these need",
        Measure::RoundsOfSlowGrowth => "rounds of slow growth",
        Measure::RoundsOfSlowStart => "rounds that opened the window",
        Measure::SameExitConnections => "connections that stopped at this size",
        Measure::SegmentsToSend => "segments to send",
        Measure::SynsWithoutOption => "handshake without the option",
        Measure::TypicalDelay => "typical delay",
        Measure::WindowRate => "window / round trip",
        Measure::Text(text) => text,
    })
}

/// Counted units are in the singular behind 1.
pub(in crate::words) fn unit(unit: Unit, value: f64) -> &'static str {
    let symbol = unit.symbol();
    let counts = symbol.len() > 2 && !symbol.contains('/');
    symbol.strip_suffix('s').filter(|_| counts && value == 1.0).unwrap_or(symbol)
}
