//! Measurements and units.

use std::borrow::Cow;
use whyslow_core::analysis::{Measure, Unit};

pub(in crate::words) fn measure(measure: &Measure) -> Cow<'_, str> {
    Cow::Borrowed(match measure {
        Measure::BurstBeyondRate => "超出速率的突发量（令牌桶大小）",
        Measure::ExitFlight => "停止翻倍时的在途数据",
        Measure::FirstFlight => "第一批数据",
        Measure::FlightAtEndOfSlowGrowth => "缓慢增长结束时的在途数据",
        Measure::HystartConnections => "其中往返时延先升高的（HyStart）",
        Measure::InitialWindowAssumed => "假定的初始窗口",
        Measure::LargestWindow => "最大窗口",
        Measure::MedianExitFlight => "停止翻倍时的在途数据，中位数",
        Measure::MinRoundTrip => "最小 RTT",
        Measure::RateAfterBurst => "此后的有效数据速率",
        Measure::RateBetweenLosses => "两次丢包之间通过的速率",
        Measure::RateOfBurst => "突发期间的速率",
        Measure::RatePassed => "通过的速率",
        Measure::RetransmissionsOfLost => "先前副本从未到达的重传",
        Measure::RiseBeforeExit => "此前往返时延的升高",
        Measure::RoundTrip => "往返时延",
        Measure::RoundsNeeded => "所需的往返轮数",
        Measure::RoundsOfSlowGrowth => "缓慢增长的轮数",
        Measure::RoundsOfSlowStart => "窗口增长的轮数",
        Measure::SameExitConnections => "在同一大小停止的连接",
        Measure::SegmentsToSend => "要发送的报文段",
        Measure::SynsWithoutOption => "没有该选项的握手报文",
        Measure::TypicalDelay => "典型延迟",
        Measure::WindowRate => "窗口 / 往返时延",
        Measure::Text(text) => text,
    })
}

/// As it stands behind a value.
pub(in crate::words) fn unit(unit: Unit) -> &'static str {
    unit.symbol()
}
