//! The server had the whole request and took its time before it began the response.
//!
//! ## What it is
//! Between the last byte of a request and the first byte of the answer lie one round trip and the
//! server's own time: a query, a computation, or another server that it asks in turn.
//!
//! ## How it is recognised
//! The first byte of the response comes later than a round trip after the request, by more than a
//! round trip and 50 ms. The request was acknowledged at once, so the network had delivered it. On
//! connections without clear requests (a shell, a chat, a routing session, a connection that was
//! open before the capture began and shows no protocol), the server's data after a prompt message
//! of the client, or seconds later, may not be a response, and does not count. Small messages of an
//! unknown protocol that are more than a second apart, without prompt responses elsewhere, are
//! possibly a request and its response, and no more. If the server sends unrequested data elsewhere
//! on the connection, or both are as small as keep-alives, they are not. OpenFlow's switches
//! connect to the controller that queries them: there the client is the side whose responses are
//! late. Less than 200 ms between the messages of an SSH login is the time for computing keys.
//!
//! ## What it is confused with
//! - a long poll, or a time limit of a backend: the wait is as long as such timers are set to (10,
//!   30, 60 s …), within a hundredth. Then it is a possible cause.
//! - `proxy-split`: a proxy near the client has acknowledged the request and fetches the answer
//!   from afar. From one side the two look the same.
//! - `loss`: the request or the first answer was lost and retransmitted.
//! - `mtu-black-hole`: the response's first segments were too large for the path; next to the
//!   receiver only IP numbers show it.
//!
//! ## The fix
//! Profile the server for this request; if it is a proxy, capture behind it. Its log has details:
//! nginx `$upstream_response_time` next to `$request_time`, HAProxy's timers `%Tw/%Tc/%Tr`, Envoy
//! `%RESPONSE_DURATION%`; a client: `curl -w '%{time_starttransfer}'`.
//!
//! ## To see that it worked
//! `curl -so /dev/null -w '%{time_starttransfer}\n' URL` shows the first byte earlier.
//!
//! ## References
//! RFC 9110 (semantics of requests and answers); no threshold is standard: 50 ms is where people
//! begin to notice.

use super::black_hole::may_be_unseen;
use super::parts::{confirm, evidence, finding, remedy};
use super::proxy_evidence::{is_relayed, is_two_machines};
use super::requests;
use super::rule::{Check, Evidence, Rule};
use super::rule_input::TransferView;
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{
    Actor, ExchangeAction, ExchangeQuestion, ExchangeStatement, Finding, LimitingFactor, Measure, Unit,
};
use whyslow_core::message::{NOTICEABLE_WAIT, may_be_unrelated};
use whyslow_units::Nanos;

/// Time of a server for keys, or for looking a user up, that every login needs. Half and twice
/// change 8 and 7 of 2,061 captures.
const LOGIN: Nanos = Nanos::from_millis(200);

pub(super) const RULE: Rule = Rule::new(Cause::ServerThink, Check::Transfer(check))
    .may_cost(|brief| brief.max_answer > NOTICEABLE_WAIT)
    .certain_with(&[Evidence::Opening, Evidence::Protocol]);

fn check(view: &TransferView<'_>) -> Option<Finding> {
    let think = view.before.iter().find(|phase| phase.limit == LimitingFactor::ServerThink)?.time;
    let rtt = view.context.rtt?;
    if think <= rtt.max(NOTICEABLE_WAIT) || think < view.duration().scale(0.2) {
        return None;
    }
    if view.is_ssh_message() && think < LOGIN {
        return None;
    }
    // A switch connects to the controller that asks it.
    let by = view.facts.end_of(view.sender);
    let statement = ExchangeStatement::ResponseLate { by, took_s: think, rtt_s: rtt };
    // It may be a proxy, and then the time is spent behind it.
    let split = is_relayed(view) || is_two_machines(view);
    let unseen = may_be_unseen(view);
    // For small messages of an unknown protocol there is no evidence that one answers the other.
    let is_open = may_be_unrelated(view.facts, view.transfer, think);
    let timer = timer_of(think);
    let weight = if split || unseen || is_open || timer.is_some() { 0.5 } else { 0.85 };
    let mut found = finding(Cause::ServerThink, think, view.trust(weight), statement);
    found.evidence.push(evidence(
        Measure::RequestToFirstByte,
        think.as_secs_f64(),
        Unit::Seconds,
        &[view.transfer.frames.0],
    ));
    found.evidence.push(evidence(Measure::RoundTrip, rtt.as_millis_f64(), Unit::Milliseconds, &[]));
    found.remedies = remedy(Actor::Application, ExchangeAction::ProfileRequest { at: by });
    found.details.extend(requests::answered_by(view));
    found.to_confirm = confirm(match timer {
        Some(timer_s) => ExchangeQuestion::WaitLikeTimer { timer_s },
        None if unseen => ExchangeQuestion::LongSegmentsUnseen,
        None => ExchangeQuestion::MayBeProxy { end: by },
    });
    Some(found)
}

/// Seconds that long polls and time limits are set to (documentation of nginx `proxy_read_timeout`
/// 60, gunicorn `timeout` 30, Consul's blocking queries 300, Couchbase's `waitChange` 10,
/// Telegram's polls 50).
const TIMERS: [i64; 11] = [10, 15, 20, 25, 30, 45, 50, 60, 90, 120, 300];
/// A wait within this share of a timer ends by it. Follows from chance: of random waits between 10
/// and 60 s one in ten does. Half and twice change 1 and 0 of 2,061 captures.
const TIMER_SHARE: f64 = 0.01;

/// The timer that a wait is as long as; `None` for most waits.
fn timer_of(wait: Nanos) -> Option<Nanos> {
    let mut timers = TIMERS.iter().map(|seconds| Nanos::from_millis(1_000 * seconds));
    timers.find(|timer| (wait - *timer).0.abs() <= timer.scale(TIMER_SHARE).0)
}

#[cfg(test)]
mod tests {
    use crate::rules::TransferView;
    use crate::rules::synthetic_transfer::{MSS, SyntheticTransfer, at_ms, ms};
    use whyslow_analysis::LimitTime;
    use whyslow_analysis::LimitingFactor;
    use whyslow_analysis::types::Side;
    use whyslow_core::message::waits;
    use whyslow_core::tcp::facts::{ExchangeFacts, Loss, PeerMessage, SendPause, TransferFacts};
    use whyslow_core::tcp::payload::Protocol;
    use whyslow_units::{Nanos, Time};

    /// An exchange: whether the client sent the request, the time before it, and the server's time,
    /// milliseconds.
    type Turn = (bool, i64, i64);

    /// Times of the server and of the client in each, if known.
    fn wait_times(change: impl Fn(&mut SyntheticTransfer), turns: &[Turn]) -> Vec<(Option<Nanos>, Nanos)> {
        let mut scene = SyntheticTransfer::flights(&[500]);
        let mut at = at_ms(1_000);
        scene.facts.exchanges.clear();
        scene.facts.directions.iter_mut().for_each(|direction| direction.transfers.clear());
        for (n, &(asked, before, server)) in turns.iter().enumerate() {
            let start = at + ms(before);
            let message = |start: Time| TransferFacts {
                seq: (1 + 100 * n as u64, 101 + 100 * n as u64),
                start,
                last_send: start,
                ..TransferFacts::default()
            };
            let question = PeerMessage { first: start, last: start, bytes: 100, ..PeerMessage::default() };
            let answer = TransferFacts { answered: asked.then_some(question), ..message(start + ms(server)) };
            scene.facts.directions[0].transfers.push(message(start));
            scene.facts.directions[1].transfers.push(answer);
            at = start + ms(server + 100);
            scene.facts.exchanges.push(ExchangeFacts {
                request: asked.then_some(n),
                answer: Some(n),
                start,
                end: at,
                before: Some(ms(before)),
                server: asked.then_some(ms(server)),
            });
        }
        scene.facts.endpoints[1].1 = 5_000;
        change(&mut scene);
        waits(&scene.facts).iter().map(|wait| (wait.server, wait.client)).collect()
    }

    fn servers(change: impl Fn(&mut SyntheticTransfer), turns: &[Turn]) -> Vec<Option<Nanos>> {
        wait_times(change, turns).into_iter().map(|(server, _)| server).collect()
    }

    const PROMPT_QUESTIONS: [Turn; 3] = [(true, 0, 300), (true, 1, 700), (true, 2, 400)];
    const ALL: [Option<Nanos>; 3] = [Some(Nanos(300_000_000)), Some(Nanos(700_000_000)), Some(Nanos(400_000_000))];

    fn without_handshake(scene: &mut SyntheticTransfer) {
        scene.facts.handshake.offers = [None; 2];
    }

    #[test]
    fn key_exchange_of_a_login_is_not_reported() {
        let found = |milliseconds: i64, protocol| {
            let mut scene = SyntheticTransfer::flights(&[1_500]);
            scene.facts.content[1].protocol = protocol;
            let before = [LimitTime { limit: LimitingFactor::ServerThink, time: ms(milliseconds) }];
            scene.judge(|view| {
                let TransferView { facts, first, sender, transfer, attribution, context, earlier, .. } = *view;
                let view =
                    TransferView { facts, first, sender, transfer, attribution, before: &before, context, earlier };
                super::check(&view).is_some()
            })
        };
        assert!(found(150, None) && found(300, Some(Protocol::Ssh)));
        assert!(!found(150, Some(Protocol::Ssh)));
    }

    #[test]
    fn end_that_connects_and_sends_first_is_the_client() {
        assert_eq!(servers(|_| (), &PROMPT_QUESTIONS), ALL);
    }

    #[test]
    fn routing_session_has_no_requests() {
        assert_eq!(servers(|scene| scene.facts.endpoints[1].1 = 179, &PROMPT_QUESTIONS), [None; 3]);
    }

    #[test]
    fn openflow_controller_requests_from_the_switch() {
        let asked_by_the_server = |scene: &mut SyntheticTransfer| {
            scene.facts.requester = Side::A;
            scene.facts.client = Side::B;
        };
        let turns = [(true, 0, 900), (true, 1, 300), (true, 1, 1_200)];
        // Greetings are not responses, and the switch's messages later than a second are as likely
        // unrequested.
        assert_eq!(servers(asked_by_the_server, &turns), [None, Some(ms(300)), None]);
    }

    #[test]
    fn prompt_client_data_on_an_open_connection_may_be_a_response() {
        assert_eq!(servers(without_handshake, &PROMPT_QUESTIONS), [None; 3]);
        // A person's input is a request, and data within a second its response.
        let turns = [(true, 900, 300), (true, 900, 2_500)];
        assert_eq!(servers(without_handshake, &turns), [Some(ms(300)), None]);
        // A side that has responded promptly many times is the one that responds.
        let mut habit = vec![(true, 0, 5); 8];
        habit.push((true, 0, 2_500));
        assert_eq!(servers(without_handshake, &habit).last(), Some(&Some(ms(2_500))));
    }

    #[test]
    fn server_with_unrequested_data_may_not_respond() {
        let turns = [(true, 0, 300), (false, 4_000, 0), (true, 1, 3_000), (true, 500, 300), (true, 500, 3_000)];
        let waits = wait_times(|_| (), &turns);
        let servers: Vec<_> = waits.iter().map(|(server, _)| *server).collect();
        assert_eq!(servers, [Some(ms(300)), None, None, Some(ms(300)), None]);
        assert!(waits[2..].iter().all(|(_, client)| *client == ms(0)), "nor need the client be asking: {waits:?}");
    }

    #[test]
    fn greeting_is_not_unrequested() {
        let turns = [(false, 0, 0), (true, 1, 300), (true, 1, 700)];
        let greeted = servers(|scene| scene.facts.begins_with_text[1] = true, &turns);
        assert_eq!(greeted, [None, Some(ms(300)), Some(ms(700))]);
        assert_eq!(servers(|_| (), &turns), [None; 3], "unreadable bytes may be a request");
        let mut prompt = vec![(false, 0, 0)];
        prompt.extend([(true, 0, 5); 8]);
        prompt.push((true, 0, 900));
        assert_eq!(
            servers(|_| (), &prompt).last(),
            Some(&Some(ms(900))),
            "but who answers at once again and again is asked"
        );
    }

    /// The server's answer in the first exchange goes on with another message after a pause.
    fn pushes(pauses: i64, milliseconds: i64) -> impl Fn(&mut SyntheticTransfer) {
        move |scene: &mut SyntheticTransfer| {
            let first = &mut scene.facts.directions[1].transfers[0];
            (first.rounds_total, first.max_in_flight) = (1 + pauses as u64, 60);
            first.pauses = (0..pauses)
                .map(|n| SendPause {
                    app_limited: true,
                    idle: true,
                    after_len: 60,
                    before_len: 40,
                    ..SendPause::example(at_ms(milliseconds * n), at_ms(milliseconds * (n + 1)))
                })
                .collect();
        }
    }

    #[test]
    fn data_after_an_unprompted_pause_is_unrequested() {
        let turns = [(true, 0, 2), (true, 1, 600), (true, 1, 600)];
        let fed = servers(pushes(1, 480), &turns);
        assert_eq!(fed, [Some(ms(2)), None, None], "a subscription, acknowledged message by message");
        let turns = [(true, 0, 700), (true, 1, 600), (true, 1, 600)];
        assert_eq!(servers(pushes(1, 480), &turns), [None; 3], "its first message is as late as the next");
        assert_eq!(servers(pushes(1, 90), &turns)[1], Some(ms(600)), "an answer in two pieces");
        let tls = |times: i64| {
            let tls = move |scene: &mut SyntheticTransfer| {
                pushes(times, 480)(scene);
                scene.facts.content[0].protocol = Some(Protocol::Tls);
                let small = |transfer: &mut TransferFacts| transfer.seq.1 = transfer.seq.0 + 32;
                scene.facts.directions[0].transfers.iter_mut().skip(2).for_each(small);
            };
            servers(tls, &turns)
        };
        assert_eq!(tls(2)[1..], [Some(ms(600)); 2], "a page in pieces");
        assert_eq!(tls(3)[1..], [Some(ms(600)), None], "a feed; what is large enough is a question all the same");
    }

    #[test]
    fn upgraded_connection_has_no_clear_requests() {
        let upgraded = |scene: &mut SyntheticTransfer| {
            let content = &mut scene.facts.content[1];
            (content.protocol, content.heads) = (Some(Protocol::Http), vec![(1, "101 Switching Protocols".into())]);
        };
        assert_eq!(servers(upgraded, &PROMPT_QUESTIONS), [ALL[0], None, None], "it was asked for the upgrade");
        let http = |scene: &mut SyntheticTransfer| scene.facts.content[1].protocol = Some(Protocol::Http);
        assert_eq!(servers(http, &PROMPT_QUESTIONS), ALL);
    }

    #[test]
    fn client_that_sends_more_may_be_the_responder() {
        let reports = |port: u16, bytes: u64| {
            move |scene: &mut SyntheticTransfer| {
                scene.facts.endpoints[1].1 = port;
                let grow = |transfer: &mut TransferFacts| transfer.seq.1 = transfer.seq.0 + bytes;
                scene.facts.directions[0].transfers.iter_mut().for_each(grow);
            }
        };
        assert_eq!(servers(reports(5_000, 300), &PROMPT_QUESTIONS), [None; 3]);
        assert_eq!(servers(reports(5_000, 60_000), &PROMPT_QUESTIONS), ALL, "uploads");
        assert_eq!(servers(reports(5_432, 300), &PROMPT_QUESTIONS), ALL, "rows for a database");
    }

    #[test]
    fn response_with_lost_first_bytes_began_earlier() {
        let lost = |scene: &mut SyntheticTransfer| {
            let answer = &mut scene.facts.directions[1].transfers[1];
            answer.losses = vec![Loss { unseen: true, seq: answer.seq.0, ..Loss::default() }];
        };
        assert_eq!(servers(lost, &PROMPT_QUESTIONS), [ALL[0], None, ALL[2]]);
    }

    #[test]
    fn subflow_may_be_answered_on_another() {
        let joins = |scene: &mut SyntheticTransfer| {
            if let Some(offer) = &mut scene.facts.handshake.offers[0] {
                offer.multipath = whyslow_core::tcp::facts::Multipath::Joins;
            }
        };
        assert_eq!(servers(joins, &PROMPT_QUESTIONS), [None; 3]);
    }

    #[test]
    fn small_distant_messages_of_an_unknown_protocol_are_not_requests() {
        let late = [(true, 900, 1_500), (true, 900, 2_500)];
        let sized = |bytes: u64| {
            move |scene: &mut SyntheticTransfer| {
                let grow = |transfer: &mut TransferFacts| transfer.seq.1 = transfer.seq.0 + bytes;
                scene.facts.directions.iter_mut().flat_map(|half| &mut half.transfers).for_each(grow);
            }
        };
        let asked = [Some(ms(1_500)), Some(ms(2_500))];
        assert_eq!(servers(sized(30), &late), [None; 2], "signs of life");
        assert_eq!(servers(sized(300), &late), asked, "possibly a question and its answer");
        let unrequested = [(true, 900, 1_500), (false, 4_000, 0)];
        assert_eq!(servers(sized(300), &unrequested), [None; 2], "the server sends unrequested data");
        let database = |scene: &mut SyntheticTransfer| {
            sized(30)(scene);
            scene.facts.endpoints[1].1 = 5_432;
        };
        assert_eq!(servers(database, &late), asked);
        let prompt = [(true, 900, 5), (true, 900, 2_500), (true, 900, 4)];
        assert_eq!(servers(sized(30), &prompt)[1], Some(ms(2_500)), "small requests are answered at once as a rule");
    }

    #[test]
    fn wait_of_timer_length_is_a_timer() {
        let of = |milliseconds: i64| super::timer_of(ms(milliseconds)).map(|timer| timer.as_secs_f64());
        assert_eq!([of(9_910), of(10_090), of(30_020)], [Some(10.0), Some(10.0), Some(30.0)]);
        assert_eq!([of(9_500), of(1_000), of(12_300), of(33_000)], [None; 4]);
    }

    #[test]
    fn possibly_unrelated_response_is_at_most_possible() {
        let sure = |bytes: u64, milliseconds: i64| {
            let mut scene = SyntheticTransfer::flights(&[bytes]);
            scene.facts.endpoints[1].1 = 5_000;
            scene.facts.directions[1].largest_len = MSS;
            let before = [LimitTime { limit: LimitingFactor::ServerThink, time: ms(milliseconds) }];
            scene.judge(|view| {
                let TransferView { facts, first, sender, transfer, attribution, context, earlier, .. } = *view;
                let view =
                    TransferView { facts, first, sender, transfer, attribution, before: &before, context, earlier };
                super::check(&view).map(|found| found.confidence)
            })
        };
        assert_eq!([sure(300, 1_500), sure(300, 700), sure(9_000, 1_500)], [Some(0.5), Some(0.85), Some(0.85)]);
    }

    #[test]
    fn uncaptured_data_may_be_the_request() {
        let unseen =
            |scene: &mut SyntheticTransfer| scene.facts.directions[0].missing = vec![(at_ms(1_450), at_ms(1_900))];
        assert_eq!(servers(unseen, &PROMPT_QUESTIONS), [ALL[0], None, ALL[2]]);
    }
}
