//! Measurements and units.

use std::borrow::Cow;
use whyslow_core::analysis::{Measure, Unit};

pub(in crate::words) fn measure(measure: &Measure) -> Cow<'_, str> {
    Cow::Borrowed(match measure {
        Measure::BurstBeyondRate => "burst beyond the rate (size of the bucket)",
        Measure::BytesInTwoRounds => "bytes in two rounds",
        Measure::BytesPerMessage => "bytes per message",
        Measure::CapRate => "cap / round trip",
        Measure::ClosedTime => "time with a closed window",
        Measure::Closings => "window closed",
        Measure::ExitFlight => "flight at which the doubling stopped",
        Measure::FirstFlight => "first flight",
        Measure::FlightAtEndOfSlowGrowth => "flight at their end",
        Measure::HeaderShare => "share of headers on the wire",
        Measure::HystartConnections => "of them after the round trip had risen (HyStart)",
        Measure::InitialWindowAssumed => "initial window assumed",
        Measure::LargestFlightBefore => "largest flight before",
        Measure::LargestWindow => "largest window",
        Measure::LateAcks => "late ACKs",
        Measure::LeastWindowMeanwhile => "receiver's smallest window meanwhile",
        Measure::MeanSegment => "mean segment",
        Measure::MeasuredRate => "measured rate",
        Measure::MedianExitFlight => "flight at which the doubling stopped, median",
        Measure::MinRoundTrip => "minimum RTT",
        Measure::MostInFlight => "most in flight",
        Measure::PausesEndedByMessage => "pauses ended by a message",
        Measure::PayloadRate => "payload rate",
        Measure::RateAfterBurst => "rate of payload from then on",
        Measure::RateBetweenLosses => "rate at which bytes passed between losses",
        Measure::RateOfBurst => "rate of the burst",
        Measure::RateP10 => "lower tenth of the rates",
        Measure::RateP90 => "upper tenth of the rates",
        Measure::RatePassed => "rate that passed",
        Measure::RateTimesMinRoundTrip => "rate × minimum RTT",
        Measure::ReceiveWindow => "receive window",
        Measure::Request => "request",
        Measure::RetransmissionsOfLost => "retransmissions whose earlier copy never arrived",
        Measure::RiseBeforeExit => "rise of the round trip before",
        Measure::RoundTrip => "round trip",
        Measure::RoundTripWhileFull => "typical round trip while it was full",
        Measure::RoundsAtCap => "rounds with that flight",
        Measure::RoundsNeeded => "rounds that these need",
        Measure::RoundsOfSlowGrowth => "rounds of slow growth",
        Measure::RoundsOfSlowStart => "rounds that opened the window",
        Measure::SameExitConnections => "connections that stopped at this size",
        Measure::SegmentSize => "maximum segment size",
        Measure::Segments => "segments",
        Measure::SegmentsHeldBack => "small segments held back",
        Measure::SegmentsToSend => "segments to send",
        Measure::SentBeforeFirstAck => "sent before the first ACK",
        Measure::SentBeforePacing => "sent freely before",
        Measure::Silence => "silence",
        Measure::SynsWithoutOption => "handshake without the option",
        Measure::TimeOfTwoRounds => "time of two rounds",
        Measure::TimesRequest => "times the request",
        Measure::TypicalDelay => "typical delay",
        Measure::TypicalWait => "typical wait",
        Measure::WindowProbes => "probes of the closed window",
        Measure::WindowRate => "window / round trip",
        Measure::WindowThen => "receiver's window then",
        Measure::Text(text) => text,
    })
}

/// Counted units are in the singular behind 1.
pub(in crate::words) fn unit(unit: Unit, value: f64) -> &'static str {
    let symbol = unit.symbol();
    let counts = symbol.len() > 2 && !symbol.contains('/');
    symbol.strip_suffix('s').filter(|_| counts && value == 1.0).unwrap_or(symbol)
}
