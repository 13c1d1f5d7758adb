//! Measurements and units.

use std::borrow::Cow;
use whyslow_core::analysis::{Measure, Unit};

pub(in crate::words) fn measure(measure: &Measure) -> Cow<'_, str> {
    Cow::Borrowed(match measure {
        Measure::BurstBeyondRate => "超出速率的突发量（令牌桶大小）",
        Measure::BytesInTwoRounds => "两轮发送的字节数",
        Measure::BytesPerMessage => "每条消息对应的字节数",
        Measure::CapRate => "上限 / 往返时延",
        Measure::ClosedTime => "窗口关闭的时间",
        Measure::Closings => "窗口关闭次数",
        Measure::ExitFlight => "停止翻倍时的在途数据",
        Measure::FirstFlight => "第一批数据",
        Measure::FlightAtEndOfSlowGrowth => "缓慢增长结束时的在途数据",
        Measure::HeaderShare => "报文头占链路流量的比例",
        Measure::HystartConnections => "其中往返时延先升高的（HyStart）",
        Measure::InitialWindowAssumed => "假定的初始窗口",
        Measure::LargestFlightBefore => "此前最大的在途数据",
        Measure::LargestWindow => "最大窗口",
        Measure::LateAcks => "迟到的 ACK",
        Measure::LeastWindowMeanwhile => "期间最小的接收窗口",
        Measure::MeanSegment => "平均报文段长度",
        Measure::MeasuredRate => "实测速率",
        Measure::MedianExitFlight => "停止翻倍时的在途数据，中位数",
        Measure::MinRoundTrip => "最小 RTT",
        Measure::MostInFlight => "最大在途数据",
        Measure::PausesEndedByMessage => "由应用消息结束的停顿",
        Measure::PayloadRate => "有效数据速率",
        Measure::RateAfterBurst => "此后的有效数据速率",
        Measure::RateBetweenLosses => "两次丢包之间通过的速率",
        Measure::RateOfBurst => "突发期间的速率",
        Measure::RateP10 => "速率的第 10 百分位",
        Measure::RateP90 => "速率的第 90 百分位",
        Measure::RatePassed => "通过的速率",
        Measure::RateTimesMinRoundTrip => "速率 × 最小 RTT",
        Measure::ReceiveWindow => "接收窗口",
        Measure::Request => "请求",
        Measure::RetransmissionsOfLost => "先前副本从未到达的重传",
        Measure::RiseBeforeExit => "此前往返时延的升高",
        Measure::RoundTrip => "往返时延",
        Measure::RoundTripWhileFull => "窗口占满时的典型往返时延",
        Measure::RoundsAtCap => "达到该在途量的轮数",
        Measure::RoundsNeeded => "所需的往返轮数",
        Measure::RoundsOfSlowGrowth => "缓慢增长的轮数",
        Measure::RoundsOfSlowStart => "窗口增长的轮数",
        Measure::SameExitConnections => "在同一大小停止的连接",
        Measure::SegmentSize => "最大报文段长度",
        Measure::Segments => "报文段数",
        Measure::SegmentsHeldBack => "被推迟的小报文段",
        Measure::SegmentsToSend => "要发送的报文段",
        Measure::SentBeforeFirstAck => "第一个 ACK 之前发出的数据",
        Measure::SentBeforePacing => "限速之前自由发出的数据",
        Measure::Silence => "静默时间",
        Measure::SynsWithoutOption => "没有该选项的握手报文",
        Measure::TimeOfTwoRounds => "两轮的时间",
        Measure::TimesRequest => "相当于请求的倍数",
        Measure::TypicalDelay => "典型延迟",
        Measure::TypicalWait => "典型等待",
        Measure::WindowProbes => "窗口探测",
        Measure::WindowRate => "窗口 / 往返时延",
        Measure::WindowThen => "当时的接收窗口",
        Measure::Text(text) => text,
    })
}

/// As it stands behind a value.
pub(in crate::words) fn unit(unit: Unit) -> &'static str {
    unit.symbol()
}
