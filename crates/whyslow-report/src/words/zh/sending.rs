//! Windows, segments and ACKs: a file for statements, one for remedies.

mod action;
mod statement;

pub(super) use action::action;

use crate::words::quantity::{thousands, time};
use whyslow_analysis::{Amount, SendingQuestion, SendingStatement, SmallSegmentReason};

pub(super) fn statement(statement: &SendingStatement) -> String {
    use SendingStatement as S;
    match statement {
        S::SlowStart { spent_s, whole_s, first_flight } => statement::slow_start(*spent_s, *whole_s, *first_flight),
        S::EarlyExit { segments, bytes, cost_s } => statement::early_exit(*segments, *bytes, *cost_s),
        S::RememberedThreshold { connections, sender, peer, segments, cost } => {
            statement::remembered_threshold(*connections, sender, peer, *segments, *cost)
        }
        S::NoWindowScaling { missing, window, rtt_s } => statement::no_window_scaling(missing, *window, *rtt_s),
        S::ReceiveWindowFull { window, full_s, whole_s, rtt_s } => {
            statement::receive_window_full(*window, *full_s, *whole_s, *rtt_s)
        }
        S::WindowClosed { closed_s, whole_s } => statement::window_closed(*closed_s, *whole_s),
        S::SenderCap { bytes, alternating, window, time_s } => {
            statement::sender_cap(*bytes, *alternating, *window, *time_s)
        }
        S::ProtocolWindow { bytes, rtt_s } => statement::protocol_window(*bytes, *rtt_s),
        S::FlowControlWindow { stream, bytes, granted_by, times, waited_s } => {
            statement::flow_control_window(*stream, *bytes, *granted_by, (*times, *waited_s))
        }
        S::ProtocolTurns { bytes, times, cost_s, whole_s } => {
            statement::protocol_turns(*bytes, *times, *cost_s, *whole_s)
        }
        S::SmallSegments { mean, mss, reason: SmallSegmentReason::Window { window } } => {
            statement::small_segments_of_window(*mean, *mss, *window)
        }
        S::SmallSegments { mean, mss, reason: SmallSegmentReason::Writes { cost_s, whole_s } } => {
            statement::small_segments_of_writes(*mean, *mss, *cost_s, *whole_s)
        }
        S::NagleWaits { segments, typical_s, delayed_ack } => {
            statement::nagle_waits(*segments, *typical_s, *delayed_ack)
        }
        S::DelayedAcks { acks, typical_s } => statement::delayed_acks(*acks, *typical_s),
        S::Paced { rate_bps, held_s, whole_s, flight } => statement::paced(*rate_bps, *held_s, *whole_s, *flight),
        S::Amplification { request, flight, filled_window, segments } => {
            statement::amplification(*request, *flight, *filled_window, *segments)
        }
        S::RestartAfterIdle { idle_s, flight, largest, cost_s } => {
            statement::restart_after_idle(*idle_s, *flight, *largest, *cost_s)
        }
    }
}

pub(super) fn question(question: &SendingQuestion) -> String {
    match question {
        SendingQuestion::FlightsEndShort => {
            "多数批次以不满的报文段结尾，可能是应用没有更多数据可发：在发送端用 `ss -ti` 看是否有 app_limited"
                .to_owned()
        }
        SendingQuestion::RememberedThreshold { peer: Some(peer), segments } => {
            format!("在发送端执行 `ip tcp_metrics show {peer}`，会看到 ssthresh 约为 {segments}")
        }
        SendingQuestion::RememberedThreshold { peer: None, segments } => format!(
            "在发送端执行 `ip tcp_metrics show`，该对端的 ssthresh 约为 {segments}；或 `nstat` 中有 TCPHystart* 计数"
        ),
        SendingQuestion::WindowFullInQueue { least_s, typical_s } => format!(
            "当时往返时延已从 {} 升到 {}：在途数据在排队，链路可能也满了，加大窗口未必有用",
            time(*least_s),
            time(*typical_s)
        ),
        SendingQuestion::WindowUnitUnknown => {
            "请连同握手一起抓包：没有握手就不知道窗口的单位，发送缓冲区已满看起来也一样".to_owned()
        }
        SendingQuestion::SlowReaderOrBusyHost => "应用读取慢和主机繁忙在这里看起来一样：查看接收端的 CPU".to_owned(),
        SendingQuestion::WhichCap { rounds, window_known } => format!(
            "{}发送缓冲区已满、代理的缓冲区和应用协议的窗口在 {} 轮之后看起来一样：传输时在发送端执行 `ss -tmi`",
            if *window_known { "" } else { "接收窗口已满、" },
            thousands(*rounds)
        ),
        SendingQuestion::WindowOrAnswers { after } => format!(
            "应用对每 {} 都回一条消息也是这样：查看哪个应用在维护窗口",
            match after {
                Amount::Segments(segments) => format!("{} 个报文段", thousands(*segments)),
                Amount::Bytes(bytes) => format!("{} B", thousands(*bytes)),
            }
        ),
        SendingQuestion::WindowInSegments => "Linux 按报文段计算拥塞窗口；按字节计算的发送端不受小报文段影响：用 `strace -e write,sendmsg` 看每次写入的大小".to_owned(),
        SendingQuestion::TinyInitialWindow => {
            "初始窗口只有一两个报文段时，写入的剩余部分也会这样等待：在发送端用 `ss -ti` 查看 cwnd".to_owned()
        }
        SendingQuestion::SenderOrNetworkRate => "在发送端用 `ss -ti` 查看 pacing_rate、delivery_rate 和 app_limited；若同时再开一个传输能增加总速率，说明网络还有余量".to_owned(),
        SendingQuestion::ServerInitialWindow => {
            "在服务器上用 `ip route show` 和 `ss -ti` 查看初始窗口；若对每个客户端第一批数据都这么大，就可以确认".to_owned()
        }
    }
}
