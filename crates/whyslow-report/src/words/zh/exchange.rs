//! Applications, requests and connections. A file per topic.

mod action;
mod application;
mod no_answer;
mod opening;
mod reset;

pub(super) use action::action;

use super::ends::name;
use whyslow_analysis::{ExchangeQuestion, ExchangeStatement};

pub(super) fn statement(statement: &ExchangeStatement) -> String {
    use ExchangeStatement as S;
    match statement {
        S::NothingToSend { paused_s, whole_s, pauses } => application::nothing_to_send(*paused_s, *whole_s, *pauses),
        S::NothingArrived { paused_s, whole_s, pauses } => application::nothing_arrived(*paused_s, *whole_s, *pauses),
        S::SilentUnderEncryption { paused_s, whole_s, pauses } => {
            application::silent_under_encryption(*paused_s, *whole_s, *pauses)
        }
        S::InitialRetransmitted { times, took_s, opening } => opening::initial_retransmitted(*times, *took_s, *opening),
        S::SmallWrites { rate_bps, segment, spent_s, whole_s } => {
            application::small_writes(*rate_bps, *segment, *spent_s, *whole_s)
        }
        S::RequestWas { label, stream } => application::request_was(label, *stream),
        S::ResponseLate { by, took_s, rtt_s } => application::response_late(*by, *took_s, *rtt_s),
        S::RequestsLate { first_s, later } => application::requests_late(*first_s, *later),
        S::RequestsOneByOne { requests, rtt_s, spent_s, whole_s } => {
            application::requests_one_by_one(*requests, *rtt_s, *spent_s, *whole_s)
        }
        S::BurstsOfProxy { bursts, interval_s, rtt_s } => application::bursts(*bursts, *interval_s, *rtt_s),
        S::HopsDiffer { handshake_s, response_s } => application::hops_differ(*handshake_s, *response_s),
        S::RecordSpansFlights { late_s, record, flights } => application::record(*late_s, *record, *flights),
        S::NewConnections { connections, server, opening_s, whole_s, closed } => {
            opening::new_connections(*connections, server, *opening_s, *whole_s, *closed)
        }
        S::Refused { server, times, waited_s } => opening::refused(server, *times, *waited_s),
        S::LookupsSlow { .. } => super::lookup::slow(statement),
        S::FirstReplySlow { reply, took_s, later_s } => opening::first_reply_slow(*reply, *took_s, *later_s),
        S::HandshakeRetransmitted { syns, syn_acks, took_s, opening } => {
            opening::retransmitted(*syns, *syn_acks, *took_s, *opening)
        }
        S::SynUndelivered { server, reason, syns, waited_s } => {
            no_answer::syn_undelivered(server, reason, *syns, *waited_s)
        }
        S::SynUnanswered { server, syns, waited_s, end } => no_answer::syn(server, *syns, *waited_s, *end),
        S::SynAckUnanswered { client, syns, syn_acks, waited_s } => {
            no_answer::syn_ack(client, *syns, *syn_acks, *waited_s)
        }
        S::DataUnanswered { by, tries, waited_s, end } => no_answer::data(*by, *tries, *waited_s, *end),
        S::Undelivered { reason } => format!("{}（ICMP）", no_answer::undelivered(reason)),
        S::RequestUnanswered { request, waited_s, end } => no_answer::request(request, *waited_s, *end),
        S::ResponseStopped { bytes, waited_s, end } => no_answer::response_stopped(*bytes, *waited_s, *end),
        S::ResetAmid { by, message, into_s, unacknowledged } => reset::amid(*by, *message, *into_s, *unacknowledged),
        S::ResetBehindFullSegment { into_s } => reset::behind_full_segment(*into_s),
        S::ClosedBeforeRequest { request } => reset::closed_before_request(request),
        S::RequestReset { request } => reset::request_reset(request),
        S::ResetWithoutResponse { request, waited_s } => reset::without_response(request, *waited_s),
        S::ClientLeft { waited_s } => reset::client_left(*waited_s),
        S::ResetBeforeData { waited_s } => reset::before_data(*waited_s),
    }
}

pub(super) fn question(question: &ExchangeQuestion) -> String {
    use ExchangeQuestion as Q;
    match question {
        Q::OneMessage => {
            "如果发送端会在没有请求时推送数据，这些停顿就在两条消息之间，没有耗费时间：请查看其应用的日志".to_owned()
        }
        Q::WaitLikeTimer { timer_s } => {
            let seconds = timer_s.as_secs_f64();
            format!("定时器常设为 {seconds} 秒：如果该请求在等待消息（长轮询），就没有变慢；否则是服务器所调用的服务没有响应，请查看其日志")
        }
        Q::SessionTickets => {
            "停顿之前的数据可能是 TLS 1.3 会话票据，那么停顿就是服务器的处理时间：抓取有效数据或用 `tcpdump -x` 可以确认"
                .to_owned()
        }
        Q::PausesLikeTimers => {
            "停顿时间与发送端定时器相同：在发送端抓包，可以看出报文段是否在到达此处之前丢失".to_owned()
        }
        Q::MayBeProxy { end } => {
            format!("如果{}是代理，它可能在等待后面的服务器：请在代理与后端之间抓包", name(*end))
        }
        Q::AppLimited => "在发送端用 `ss -ti` 查看，等待应用时会显示 app_limited".to_owned(),
        Q::LongSegmentsUnseen => {
            "没有一个报文段达到双方协商的长度，更长的报文段可能已在途中丢失：在服务器抓包，或抓取 IP 标识（`tcpdump -v`），可以确认".to_owned()
        }
        Q::ProxyBetween => "同时在此处和该地址与其后端服务器之间抓包，可以证实或排除".to_owned(),
        Q::SynsArrive => "在服务器抓包，可以看出 SYN 是否到达，以及服务器是否响应".to_owned(),
        Q::SynAcksArrive => "在客户端抓包，可以看出 SYN-ACK 是否到达".to_owned(),
        Q::RetransmissionsArrive { at } => {
            format!("在{}抓包，可以看出重传是否到达，以及它是否响应", name(*at))
        }
        Q::ResponseAfterCapture => "延长抓包时间，可以看出响应是否到达".to_owned(),
        Q::ServerWentOn => "在服务器抓包，可以看出它是否继续发送".to_owned(),
        Q::ResetByMiddlebox { end } => {
            let end = name(*end);
            format!("RST 的 TTL 与{end}其他报文不同，可能由防火墙或负载均衡发出：在{end}抓包可以确认")
        }
        Q::FirstPacketSlow { server } => {
            format!("停顿之后执行 `ping -c 5 {server}`：如果只有第一个应答慢，就是路径的原因")
        }
        Q::NameServerSlow { server, name } => {
            format!("执行两次 `dig @{server} {name}`：如果只有第一次慢，说明该服务器需要询问其他服务器")
        }
        Q::SynOrSynAckLost => "在服务器抓包，可以看出丢失的是 SYN 还是 SYN-ACK".to_owned(),
    }
}
