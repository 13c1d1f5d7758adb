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
        S::Undelivered { reason } => format!("{} (ICMP)", no_answer::undelivered(reason)),
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
            "if the sender may push data without a request, the pauses were between messages and cost no time: see the log of its application".to_owned()
        }
        Q::WaitLikeTimer { timer_s } => {
            let seconds = timer_s.as_secs_f64();
            format!("{seconds} s is a common setting of timers: if the request waits for news (a long poll), nothing was slow; else something that the server asks did not respond, as its log shows")
        }
        Q::SessionTickets => {
            "the bytes before the pause may be session tickets of TLS 1.3, and then the pause is the server's processing time: a capture with payload, or `tcpdump -x`, shows it".to_owned()
        }
        Q::PausesLikeTimers => {
            "the pauses are as long as the sender's timers: a capture at the sender shows whether segments were lost on the way here".to_owned()
        }
        Q::MayBeProxy { end } => {
            let end = name(*end);
            format!("if the {end} is a proxy, it may have waited for its backend: capture there")
        }
        Q::AppLimited => "`ss -ti` on the sender shows app_limited while it waits for the application".to_owned(),
        Q::LongSegmentsUnseen => {
            "no segment is as long as both ends agreed on, so longer ones may have been lost on the way: a capture at the server, or one with the packets' IP identification (`tcpdump -v`), shows it".to_owned()
        }
        Q::ProxyBetween => {
            "two captures, one of them between this address and the server behind it, prove or refute it".to_owned()
        }
        Q::SynsArrive => {
            "a capture at the server shows whether the SYNs arrive there, and whether it responds".to_owned()
        }
        Q::SynAcksArrive => "a capture at the client shows whether the SYN-ACKs arrive there".to_owned(),
        Q::RetransmissionsArrive { at } => {
            let at = name(*at);
            format!("a capture at the {at} shows whether the retransmissions arrive there, and whether it responds")
        }
        Q::ResponseAfterCapture => "a longer capture shows whether the response arrived".to_owned(),
        Q::ServerWentOn => "a capture at the server shows whether it went on sending".to_owned(),
        Q::ResetByMiddlebox { end } => {
            let end = name(*end);
            format!("the RST has another time to live than the {end}'s other packets, so a firewall or balancer may have sent it: a capture at the {end} shows it")
        }
        Q::FirstPacketSlow { server } => {
            format!("`ping -c 5 {server}` after a pause: if only the first reply is late, the path causes the delay")
        }
        Q::NameServerSlow { server, name } => {
            format!("`dig @{server} {name}`, twice: if only the first one is late, the server had to ask others")
        }
        Q::SynOrSynAckLost => "a capture at the server shows whether the SYNs or the SYN-ACKs were lost".to_owned(),
    }
}
