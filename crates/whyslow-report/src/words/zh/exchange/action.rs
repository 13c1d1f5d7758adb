//! What to do about applications, requests and connections.

use crate::words::quantity::{thousands, time};
use crate::words::zh::ends::name;
use crate::words::zh::lookup;
use whyslow_analysis::{ClientState, End, ExchangeAction, LogTopic};

const KEEP_PATH_WARM: &str =
    "查明第一个报文要建立什么（地址解析、NAT 或防火墙、VPN、无线、负载均衡自身的连接），并保持其有效";

pub(in crate::words::zh) fn action(action: &ExchangeAction) -> String {
    use ExchangeAction as A;
    match action {
        A::KeepDataReady => "提前备好数据：预读、每次写入更多，并且两次写入之间不等待其他服务".to_owned(),
        A::WriteLargerPieces => "每次写入更多，并分析应用在两次写入之间等待什么".to_owned(),
        A::ProfileRequest { at: End::Server } => "分析服务器或其后端处理此请求的耗时".to_owned(),
        A::ProfileRequest { at: End::Client } => "分析客户端处理此请求的耗时".to_owned(),
        A::RequestEarlier => "分析客户端应用发出请求之前的耗时：让自身工作与传输并行，并提前请求".to_owned(),
        A::BatchRequests => "一次发出多个请求：批量或流水线".to_owned(),
        A::MoveCloser => "让两端应用部署得更近".to_owned(),
        A::KeepUpstreamConnections => "保持该地址到后端的连接，使响应不必每次都经历慢启动".to_owned(),
        A::KeepConnections { by: End::Client } => {
            "在客户端保持连接：使用一个带连接池的客户端对象，并把响应读完".to_owned()
        }
        A::KeepConnections { by: End::Server } => {
            "让服务器保持连接（keep-alive 及其超时时间）：是服务器先关闭的".to_owned()
        }
        A::AddRoute { at, to } => format!("为 {at} 添加到 {to} 的路由，或修复原有路由"),
        A::CheckHost { host, router } => {
            format!("检查 {host} 是否在线：最后一跳路由器 {router} 得不到它的应答（ARP、邻居发现）")
        }
        A::StartService { host, port } => format!("在 {host} 上启动应监听{}的服务", of_port(*port)),
        A::AllowPort { at, host, port } if at == host => format!("让 {at} 的防火墙放行{}", of_port(*port)),
        A::AllowPort { at, host, port } => format!("让 {at} 上的过滤规则放行到 {host} {}的报文", of_port(*port)),
        A::FindRoutingLoop { host, .. } => format!("查找把发往 {host} 的报文来回转发的路由器：路由环路"),
        A::CheckServer { host, port } => {
            format!("检查 {host} 是否在线并监听{}，以及防火墙或路由是否丢弃 SYN 或响应", of_port(*port))
        }
        A::CheckWayBack { host } => format!("检查防火墙或服务器的返回路由是否丢弃发往 {host} 的报文"),
        A::CheckPeer { end } => format!("检查{}是否仍在线，以及双向报文是否仍能通过", name(*end)),
        A::SendKeepalives { idle_s } => format!(
            "连接此前已静默 {}，NAT 或防火墙可能已删除其状态：让 keep-alive 的间隔短于其超时时间",
            time(*idle_s)
        ),
        A::ReadServerLog { about } => format!("在服务器或其前置代理的日志中查看{}", log(*about)),
        A::FindWhyClientClosed { state: ClientState::AmidResponse } => {
            "查明客户端应用为何未读完就关闭：超时、限制，或用户离开".to_owned()
        }
        A::FindWhyClientClosed { state: ClientState::BeforeResponse } => "查明客户端应用为何没有等待响应".to_owned(),
        A::FindResettingBox { end } => resetting_box(name(*end)),
        A::FindWhyServerDrops => {
            "查明服务器为何丢弃已接受的连接：队列已满（tcp_abort_on_overflow）、限制，或代理没有后端".to_owned()
        }
        A::CloseIdleSooner { idle_s } => {
            format!("连接静默 {} 后服务器已将其丢弃：让客户端比服务器更早关闭空闲连接", time(*idle_s))
        }
        A::RetryOnNewConnection => "让客户端在新连接上重试这类请求".to_owned(),
        A::CheckNameServer { .. } | A::CacheLookups | A::QualifyNames => lookup::action(action),
        A::KeepPathWarm => KEEP_PATH_WARM.to_owned(),
        A::FindSynDrops => "检查服务器的 accept 队列是否已满、防火墙是否丢弃 SYN，以及链路是否丢包".to_owned(),
        A::FindUdpDrops => {
            "检查防火墙或限速是否丢弃 UDP、服务器 UDP 套接字的接收缓冲区是否已满，以及链路是否丢包".to_owned()
        }
        A::LimitTlsRecords { to, first_flight } => format!(
            "响应开头的 TLS 记录不超过 {} B（第一批数据为 {} B）；其后的大块数据用时不变",
            thousands(*to),
            thousands(*first_flight),
        ),
    }
}

fn resetting_box(end: &str) -> String {
    format!("找出两端之间以{end}名义发送 RST 的防火墙或负载均衡：{end}在这个 RST 之后仍在发送")
}

fn of_port(port: u16) -> String {
    if port == 0 { "该端口".to_owned() } else { format!("端口 {port} ") }
}

fn log(about: LogTopic) -> &'static str {
    match about {
        LogTopic::RequestReceived => "应用如何处理此请求：其主机已确认收到",
        LogTopic::RequestDropped => "为何丢弃此请求",
        LogTopic::MessageCut => "为何中断：已传输的部分必须重新传输",
        LogTopic::ResponseComplete => "它是否在响应完整之前中断",
    }
}
