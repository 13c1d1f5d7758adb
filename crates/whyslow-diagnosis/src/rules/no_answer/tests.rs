#![allow(clippy::unwrap_used)]

use super::*;
use crate::rules::icmp::tests::notice;
use crate::rules::synthetic_transfer::{MSS, SyntheticTransfer, at_ms, gap, ms};
use whyslow_analysis::cause::Cause;
use whyslow_analysis::types::RequestProtocol;
use whyslow_analysis::{Action, Statement, UnansweredRequest, Undelivered};
use whyslow_core::tcp::facts::{Notice, PeerMessage, ResetFacts};
use whyslow_core::tcp::facts::{Release, SendPause};
use whyslow_core::tcp::payload::{MessageFacts, Protocol, RequestFacts};

/// A request of 100 B at 0.9 s, acknowledged and not answered until the capture ends at 3.4 s.
fn asked() -> SyntheticTransfer {
    let mut scene = SyntheticTransfer::flights(&[8 * MSS]);
    scene.facts.handshake.syn_ack = Some((at_ms(850), Frame::default()));
    scene.facts.handshake.ack = Some((at_ms(890), Frame::default()));
    (scene.facts.last, scene.facts.until) = (at_ms(1000), at_ms(3_400));
    scene
}

fn statement(scene: &SyntheticTransfer) -> Option<Statement> {
    scene.finding_without_answer(Cause::NoAnswer).map(|found| found.statement)
}

/// The request of [`asked`].
fn unanswered(line: Option<&str>, waited: i64, end: WaitEnd) -> Statement {
    let request = UnansweredRequest { line: line.map(str::to_owned), bytes: 100 };
    ExchangeStatement::RequestUnanswered { request, waited_s: ms(waited), end }.into()
}

#[test]
fn request_without_a_response_at_the_end_is_no_answer() {
    let found = asked().finding_without_answer(Cause::NoAnswer).unwrap();
    assert_eq!((found.cost_s, found.confidence), (ms(2_500), 0.5), "nothing proves that it is a request");
    assert_eq!(found.statement, unanswered(None, 2_500, WaitEnd::CaptureEnded));
    let mut scene = asked();
    scene.facts.content[0].heads = vec![(1, "GET /slow".into())];
    let found = scene.finding_without_answer(Cause::NoAnswer).unwrap();
    assert_eq!(found.confidence, 0.85);
    assert_eq!(found.statement, unanswered(Some("GET /slow"), 2_500, WaitEnd::CaptureEnded));
    // Within a second it may yet come.
    scene.facts.until = at_ms(1_850);
    assert_eq!(statement(&scene), None);
    // No client waits an hour.
    scene.facts.until = at_ms(3_600_000);
    assert_eq!(statement(&scene), None);
}

#[test]
fn request_before_later_ones_is_still_awaited() {
    let mut scene = asked();
    let asking = &mut scene.facts.directions[0];
    let later =
        TransferFacts { seq: (101, 201), start: at_ms(3_350), last_send: at_ms(3_350), ..asking.transfers[0].clone() };
    asking.transfers.push(later);
    (asking.last_payload, scene.facts.last) = (Some((at_ms(3_350), Frame::default())), at_ms(3_360));
    assert_eq!(statement(&scene), None, "the last message alone is known");
    let request = |seq, at| RequestFacts { sent: Some(at), ..RequestFacts::new("READ".to_owned(), seq, at) };
    scene.facts.messages = Some(Box::new(MessageFacts {
        protocol: RequestProtocol::OncRpc,
        requests: vec![request(1, at_ms(900)), request(101, at_ms(3_350))],
        requests_total: 2,
        windows: None,
        heartbeats: [Vec::new(), Vec::new()],
        is_whole: true,
    }));
    assert_eq!(statement(&scene), Some(unanswered(None, 2_500, WaitEnd::CaptureEnded)));
    // A request that waits for an event is not due.
    if let Some(messages) = &mut scene.facts.messages {
        messages.requests[0].is_poll = true;
    }
    assert_eq!(statement(&scene), None);
}

#[test]
fn connection_lasts_until_the_wait_ends() {
    let scene = asked();
    assert_eq!(scene.awaited_until(), Some(scene.facts.until), "not the last packet, 2.4 s before");
    let mut closed = asked();
    (closed.facts.closing[0], closed.facts.fins[0]) = (Some((at_ms(3_000), Frame::default())), true);
    closed.facts.last = at_ms(3_000);
    assert_eq!(closed.awaited_until(), Some(at_ms(3_000)));
}

#[test]
fn closing_client_gave_up() {
    let mut scene = asked();
    (scene.facts.closing[0], scene.facts.fins[0]) = (Some((at_ms(3_000), Frame::default())), true);
    assert_eq!(statement(&scene), Some(unanswered(None, 2_100, WaitEnd::GaveUp)));
    (scene.facts.closing[1], scene.facts.fins[1]) = (Some((at_ms(2_000), Frame::default())), true);
    assert_eq!(statement(&scene), Some(unanswered(None, 1_100, WaitEnd::Closed)));
    // A reset of the server has another name.
    scene.facts.fins = [false; 2];
    scene.facts.reset = Some(ResetFacts { from: Side::B, ttl: 64, is_bare: false, is_denied: false });
    assert_eq!(statement(&scene), None);
}

#[test]
fn message_without_a_request_is_not_waited_for() {
    let none = |change: fn(&mut SyntheticTransfer), why: &str| {
        let mut scene = asked();
        change(&mut scene);
        assert_eq!(statement(&scene), None, "{why}");
    };
    none(|scene| scene.facts.capture_defects.one_direction = true, "one direction");
    none(|scene| scene.facts.directions[1].bytes = 5_000, "the answer was not captured");
    none(|scene| scene.facts.content[0].protocol = Some(Protocol::Ssh), "a terminal");
    none(|scene| scene.facts.endpoints[1].1 = 22, "a terminal whose beginning was not captured");
    none(|scene| scene.facts.handshake.syn_ack = None, "its beginning was not captured");
    let pushed = |scene: &mut SyntheticTransfer| {
        let pause = SendPause { idle: true, ..gap(at_ms(900), at_ms(3_000), Release::Nothing) };
        let message = &mut scene.facts.directions[0].transfers[0];
        message.pauses = vec![pause];
        message.last_send = at_ms(900);
    };
    none(pushed, "who sends on after a pause waits for nothing");
    none(|scene| scene.facts.elided = vec![(at_ms(900), at_ms(950))], "lines are left out of the text");
}

/// Requests of these sizes, each answered after 20 ms, and one more.
fn answered(sizes: &[u64], after: Nanos) -> SyntheticTransfer {
    let mut scene = asked();
    let (mut at, mut seq) = (at_ms(900), [1, 1]);
    scene.facts.directions[0].transfers.clear();
    for (nth, &size) in sizes.iter().enumerate() {
        let sent = |from: u64, bytes, start| TransferFacts {
            seq: (from, from + bytes),
            start,
            last_send: start,
            end: start + ms(100),
            acknowledged: true,
            rounds_total: 1,
            ..TransferFacts::default()
        };
        scene.facts.directions[0].transfers.push(sent(seq[0], size, at));
        seq[0] += size;
        if nth + 1 < sizes.len() {
            let answer = TransferFacts {
                answered: Some(PeerMessage { first: at, last: at, bytes: size, ..PeerMessage::default() }),
                ..sent(seq[1], 500, at + ms(20))
            };
            scene.facts.directions[1].transfers.push(answer);
            seq[1] += 500;
            at += ms(20) + after;
        }
    }
    scene.facts.until = at + ms(2_500);
    scene
}

#[test]
fn unreadable_request_is_due_after_earlier_responses() {
    let found = answered(&[60, 60, 60, 60], ms(1)).finding_without_answer(Cause::NoAnswer).unwrap();
    assert_eq!((found.cost_s, found.confidence), (ms(2_500), 0.65));
    // Credit at the end is smaller than the requests.
    assert_eq!(statement(&answered(&[90, 90, 90, 35], ms(1))), None);
    assert_eq!(statement(&answered(&[60, 60, 60], ms(1))), None, "two answers may be chance");
    // If earlier responses took as long, the wait is usual.
    let mut slow = answered(&[60, 60, 60, 60], ms(1));
    slow.facts.directions[1].transfers[0].answered = Some(PeerMessage::default());
    assert_eq!(statement(&slow), None);
    // With TLS a larger message is a request.
    let mut tls = answered(&[300, 300], ms(1));
    tls.facts.content[0].protocol = Some(Protocol::Tls);
    assert_eq!(tls.finding_without_answer(Cause::NoAnswer).unwrap().confidence, 0.7);
}

#[test]
fn unanswered_syns_are_graded_by_their_number() {
    let mut scene = asked();
    scene.facts.directions[0].transfers.clear();
    scene.facts.state = State::Unanswered;
    scene.facts.handshake.syn = Some((at_ms(800), Frame::default()));
    (scene.facts.handshake.syn_ack, scene.facts.handshake.ack) = (None, None);
    let tried = |scene: &mut SyntheticTransfer, retries: u64, last: i64, until: i64| {
        scene.facts.handshake.retries = [retries, 0];
        scene.facts.handshake.answered_syn = Some(at_ms(last));
        (scene.facts.last, scene.facts.until) = (at_ms(last), at_ms(until));
        scene.finding_without_answer(Cause::NoAnswer)
    };
    let open = tried(&mut scene, 2, 3_800, 6_000).unwrap();
    assert_eq!(open.cost_s, ms(5_200));
    let unanswered = |waited: i64, end: WaitEnd| {
        let server = "192.0.2.2:443".to_owned();
        Statement::from(ExchangeStatement::SynUnanswered { server, syns: 3, waited_s: ms(waited), end })
    };
    assert_eq!(open.statement, unanswered(5_200, WaitEnd::CaptureEnded));
    // The fourth would have come 4 s after the third.
    let over = tried(&mut scene, 2, 3_800, 30_000).unwrap();
    assert_eq!(over.cost_s, ms(3_000));
    assert_eq!(over.statement, unanswered(3_000, WaitEnd::GaveUp));
    let action = over.remedy().unwrap().action.clone();
    assert_eq!(action, ExchangeAction::CheckServer { host: "192.0.2.2".to_owned(), port: 443 }.into());
    assert_eq!(action.command().unwrap(), "traceroute -n -T -p 443 192.0.2.2");
    assert!(scene.finding_without_answer(Cause::SynLoss).is_none(), "reported once");
    // A client that did not retry after 3 s is not waiting, and within a second no client retries.
    assert_eq!(tried(&mut scene, 0, 800, 2_500).unwrap().confidence, 0.5);
    assert!(tried(&mut scene, 0, 800, 1_500).is_none() && tried(&mut scene, 0, 800, 9_000).is_none());
}

#[test]
fn syn_acks_that_never_arrive_are_no_answer() {
    let mut scene = asked();
    scene.facts.directions.iter_mut().for_each(|direction| direction.transfers.clear());
    scene.facts.handshake.syn = Some((at_ms(800), Frame::default()));
    scene.facts.handshake.ack = None;
    (scene.facts.handshake.retries, scene.facts.handshake.last_retry) = ([4, 6], Some(at_ms(6_900)));
    scene.facts.last = at_ms(6_900);
    scene.facts.directions.iter_mut().for_each(|direction| direction.last_payload = None);
    let found = scene.finding_without_answer(Cause::NoAnswer).unwrap();
    assert_eq!(found.cost_s, ms(6_100));
    let client = "192.0.2.1:40000".to_owned();
    let statement = ExchangeStatement::SynAckUnanswered { client, syns: 5, syn_acks: 7, waited_s: ms(6_100) };
    assert_eq!(found.statement, statement.into());
    assert!(scene.finding_without_answer(Cause::SynLoss).is_none(), "reported once");
    // A client that sent one SYN may be gone, and one that was answered in the end had lost a SYN.
    for (retries, ack) in [([0, 6], None), ([4, 6], Some((at_ms(6_950), Frame::default())))] {
        (scene.facts.handshake.retries, scene.facts.handshake.ack) = (retries, ack);
        assert!(scene.finding_without_answer(Cause::NoAnswer).is_none(), "{retries:?}");
        assert!(scene.finding_without_answer(Cause::SynLoss).is_some(), "{retries:?}");
        let opened = std::mem::replace(&mut scene.facts.state, State::Refused);
        assert!(scene.finding_without_answer(Cause::SynLoss).is_none(), "refused, and tried again");
        scene.facts.state = opened;
    }
}

#[test]
fn single_icmp_error_is_sufficient() {
    let mut scene = asked();
    scene.facts.directions[0].transfers.clear();
    scene.facts.state = State::Unanswered;
    scene.facts.handshake.syn = Some((at_ms(800), Frame::default()));
    scene.facts.handshake.answered_syn = Some(at_ms(800));
    (scene.facts.handshake.syn_ack, scene.facts.handshake.ack) = (None, None);
    (scene.facts.last, scene.facts.until) = (at_ms(800), at_ms(9_000));
    assert_eq!(statement(&scene), None, "one SYN, and nothing more, may be anything");
    let (router, host) = ("192.0.2.9".to_owned(), "192.0.2.2".to_owned());
    let allow = ExchangeAction::AllowPort { at: router.clone(), host: host.clone(), port: 443 };
    for (fate, action) in [
        (Fate::NetworkUnreachable, ExchangeAction::AddRoute { at: router.clone(), to: host.clone() }),
        (Fate::HostUnreachable, ExchangeAction::CheckHost { host: host.clone(), router: router.clone() }),
        (Fate::PortUnreachable, allow.clone()),
        (Fate::Prohibited, allow),
        (Fate::TimeExceeded, ExchangeAction::FindRoutingLoop { host: host.clone(), port: 443 }),
    ] {
        scene.facts.notices.list = vec![notice(fate, Side::A, 840)];
        let found = scene.finding_without_answer(Cause::NoAnswer).unwrap();
        assert_eq!((found.cost_s, found.confidence), (ms(40), 0.85));
        let undelivered = ExchangeStatement::SynUndelivered {
            server: "192.0.2.2:443".to_owned(),
            reason: Undelivered { fate, by: router.clone(), host: host.clone(), port: 443 },
            syns: 1,
            waited_s: ms(40),
        };
        assert_eq!(found.statement, undelivered.into());
        assert_eq!(found.remedies, remedy(Actor::Network, action));
        assert_eq!(found.evidence[2].frames[0].number, 77);
    }
    // An error about the server's own port.
    scene.facts.notices.list[0] = Notice { by: [192, 0, 2, 2].into(), ..notice(Fate::PortUnreachable, Side::A, 840) };
    let found = scene.finding_without_answer(Cause::NoAnswer).unwrap();
    let [start, allow] = &found.remedies[..] else { panic!("{found:?}") };
    assert_eq!(start.action, ExchangeAction::StartService { host: host.clone(), port: 443 }.into());
    assert_eq!((start.actor, start.action.command().as_deref()), (Actor::Application, Some("ss -ltn 'sport = :443'")));
    assert_eq!(allow.action, ExchangeAction::AllowPort { at: host.clone(), host, port: 443 }.into());
    // Errors for packets that are too long, or about the other side's, do not show it.
    for other in [notice(Fate::TooBig(Some(852)), Side::A, 840), notice(Fate::Prohibited, Side::B, 840)] {
        scene.facts.notices.list = vec![other];
        assert_eq!(statement(&scene), None);
    }
}

#[test]
fn traceroute_probe_is_ignored_and_retries_wait() {
    let mut scene = asked();
    scene.facts.directions[0].transfers.clear();
    scene.facts.state = State::Unanswered;
    scene.facts.handshake.syn = Some((at_ms(800), Frame::default()));
    (scene.facts.handshake.syn_ack, scene.facts.handshake.ack) = (None, None);
    scene.facts.handshake.answered_syn = Some(at_ms(800));
    (scene.facts.last, scene.facts.until) = (at_ms(800), at_ms(9_000));
    scene.facts.notices.list = vec![notice(Fate::TimeExceeded, Side::A, 840)];
    scene.facts.ttl[0] = (Some(3), None);
    assert_eq!(statement(&scene), None, "traceroute");
    scene.facts.ttl[0] = (Some(61), None);
    assert!(statement(&scene).is_some());
    // Repeated SYNs, of which the last ones are not answered any more.
    scene.facts.handshake.retries = [4, 0];
    scene.facts.handshake.answered_syn = Some(at_ms(15_800));
    (scene.facts.last, scene.facts.until) = (at_ms(15_800), at_ms(90_000));
    let found = scene.finding_without_answer(Cause::NoAnswer).unwrap();
    let unanswered = ExchangeStatement::SynUnanswered {
        server: "192.0.2.2:443".to_owned(),
        syns: 5,
        waited_s: ms(15_000),
        end: WaitEnd::GaveUp,
    };
    assert_eq!(found.statement, unanswered.into());
    assert!(found.evidence.iter().any(|evidence| evidence.kind == Measure::IcmpTimeExceeded));
}

/// An answer whose last bytes are retransmitted after 0.3, 0.6 and 1.2 s, and never acknowledged.
fn lost() -> SyntheticTransfer {
    let mut scene = SyntheticTransfer::flights(&[8 * MSS, 8 * MSS]);
    let mut at = scene.transfer.last_send;
    for wait in [300, 600, 1_200] {
        let tried = SendPause { in_flight: 8 * MSS, ..gap(at, at + ms(wait), Release::Timer) };
        scene.transfer.pauses.push(tried);
        at += ms(wait);
    }
    scene.transfer.acknowledged = false;
    scene.transfer.rounds[1].last_send = at;
    (scene.transfer.last_send, scene.transfer.end) = (at, at);
    (scene.facts.last, scene.facts.until) = (at, at + ms(900));
    scene.facts.directions[1].mss = MSS;
    scene
}

#[test]
fn router_without_a_route_is_named() {
    let mut scene = lost();
    let now = scene.facts.last.0 / 1_000_000;
    scene.facts.notices.list =
        vec![notice(Fate::TooBig(Some(852)), Side::B, now), notice(Fate::NetworkUnreachable, Side::B, now)];
    let found = scene.finding_over_connection(Cause::NoAnswer).unwrap();
    let (by, host) = ("192.0.2.9".to_owned(), "192.0.2.1".to_owned());
    let route = ExchangeAction::AddRoute { at: by.clone(), to: host.clone() };
    let reason = Undelivered { fate: Fate::NetworkUnreachable, by, host, port: 40_000 };
    assert_eq!(found.details, [ExchangeStatement::Undelivered { reason }.into()]);
    assert_eq!(found.remedies, remedy(Actor::Network, route));
    // Errors about the other side's packets are not evidence for these.
    scene.facts.notices.list[1].about = Side::A;
    let found = scene.finding_over_connection(Cause::NoAnswer).unwrap();
    assert!(found.details.is_empty(), "{found:?}");
    assert_eq!(found.remedies, remedy(Actor::Network, ExchangeAction::CheckPeer { end: End::Client }));
}

#[test]
fn unacknowledged_data_is_no_answer_and_not_timeout() {
    let scene = lost();
    let found = scene.finding_over_connection(Cause::NoAnswer).unwrap();
    assert_eq!(found.cost_s, ms(3_000));
    let unanswered = |waited: i64, end: WaitEnd| {
        Statement::from(ExchangeStatement::DataUnanswered { by: End::Client, tries: 4, waited_s: ms(waited), end })
    };
    assert_eq!(found.statement, unanswered(3_000, WaitEnd::CaptureEnded));
    let mut over = lost();
    over.facts.until += ms(60_000);
    let found = over.finding_over_connection(Cause::NoAnswer).unwrap();
    assert_eq!(found.cost_s, ms(2_100));
    assert_eq!(found.statement, unanswered(2_100, WaitEnd::GaveUp));
    // A client that had closed waits for nothing. One that answers the last try by a RST has
    // forgotten the connection, and the tries were in vain.
    let mut closed = lost();
    closed.facts.closing[0] = Some((at_ms(1_050), Frame::default()));
    assert!(closed.finding_over_connection(Cause::NoAnswer).is_none());
    let mut reset = lost();
    reset.facts.reset = Some(ResetFacts { from: Side::A, ttl: 64, is_bare: false, is_denied: false });
    reset.facts.closing[0] = Some((reset.facts.until, Frame::default()));
    let found = reset.finding_over_connection(Cause::NoAnswer).unwrap();
    assert!(found.cost_s >= ms(2_100), "{found:?}");
    reset.facts.closing[0] = Some((at_ms(1_050), Frame::default()));
    assert!(reset.finding_over_connection(Cause::NoAnswer).is_none(), "it was there before the tries");
}

#[test]
fn doubling_waits_of_one_direction_show_missing_acks() {
    let mut scene = lost();
    scene.facts.capture_defects.one_direction = true;
    let found = scene.finding_over_connection(Cause::NoAnswer).unwrap();
    assert_eq!((found.cost_s, found.confidence), (ms(3_000), 0.7));
    // Copies at one interval may be answered each.
    for (tried, at) in scene.transfer.pauses.iter_mut().rev().zip([900, 600, 300]) {
        let end = scene.transfer.last_send - ms(900 - at);
        (tried.start, tried.end) = (end - ms(300), end);
    }
    assert!(scene.finding_over_connection(Cause::NoAnswer).is_none());
}

#[test]
fn long_silence_may_have_expired_middlebox_state() {
    let mut scene = lost();
    scene.facts.directions[0].transfers[0].last_send = at_ms(-300_000);
    let found = scene.finding_over_connection(Cause::NoAnswer).unwrap();
    let action = &found.remedy().unwrap().action;
    assert!(matches!(action, Action::Exchange(ExchangeAction::SendKeepalives { .. })), "{action:?}");
    let command = "sysctl -w net.ipv4.tcp_keepalive_time=60 net.ipv4.tcp_keepalive_intvl=15";
    assert_eq!(action.command().as_deref(), Some(command));
}

#[test]
fn response_that_stops_at_a_full_segment_is_broken_off() {
    let mut scene = SyntheticTransfer::flights(&[8 * MSS, 8 * MSS, 8 * MSS]);
    scene.facts.until = scene.transfer.end + ms(4_000);
    let direction = &mut scene.facts.directions[1];
    (direction.last_len, direction.last_unpushed) = (MSS, true);
    let found = scene.finding_over_connection(Cause::NoAnswer).unwrap();
    assert_eq!((found.cost_s, found.confidence), (ms(4_100), 0.6));
    // Pushed data may have been the last, unless even the client's FIN is not acknowledged.
    scene.facts.directions[1].last_unpushed = false;
    assert!(scene.finding_over_connection(Cause::NoAnswer).is_none());
    let closed = scene.transfer.end + ms(2_000);
    (scene.facts.closing[0], scene.facts.fins[0]) = (Some((closed, Frame::default())), true);
    let found = scene.finding_over_connection(Cause::NoAnswer).unwrap();
    let stopped = ExchangeStatement::ResponseStopped { bytes: 24 * MSS, waited_s: ms(2_100), end: WaitEnd::GaveUp };
    assert_eq!(found.statement, stopped.into());
    // A window that closed is another matter.
    scene.facts.directions[1].zero_windows = 1;
    assert!(scene.finding_over_connection(Cause::NoAnswer).is_none());
}
