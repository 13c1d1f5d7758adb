//! Where a capture stands.

use crate::words::quantity::time;
use whyslow_analysis::{End, VantageReason};

pub(in crate::words) fn vantage(reason: &VantageReason) -> String {
    match reason {
        VantageReason::NoPair => "没有同时抓到报文及其响应".to_owned(),
        VantageReason::OneEnd => "只抓到一端的报文".to_owned(),
        VantageReason::WithinClockTick => "报文及其响应在同一时钟刻度内，或只有一个方向".to_owned(),
        VantageReason::ResponseTimes { near_s, far_s } => {
            format!("发往这一端的报文在 {} 后得到响应，发往另一端的在 {} 后", time(*near_s), time(*far_s))
        }
        VantageReason::RoundTripShare { client } => {
            format!("往返时延的 {:.0} % 在抓包点的客户端一侧", client * 100.0)
        }
        VantageReason::CutAfterCapture => {
            "大于 MSS 的报文段在抓包之后才被切分（TSO），证明抓包点在发送端主机上".to_owned()
        }
        VantageReason::CutAfterCaptureWithDelay => {
            "大于 MSS 的报文段在抓包之后才被切分（TSO），证明抓包点在发送端主机上，尽管主机自身会延迟报文".to_owned()
        }
        VantageReason::JoinedBeforeCapture => {
            "大于 MSS 的报文段被整段确认（GRO），说明抓包点可能在接收端主机上".to_owned()
        }
        VantageReason::UntouchedTtl { end: End::Client } => "客户端报文的 TTL 未被路由器递减".to_owned(),
        VantageReason::UntouchedTtl { end: End::Server } => "服务器报文的 TTL 未被路由器递减".to_owned(),
    }
}
