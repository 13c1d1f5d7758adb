#![allow(clippy::unwrap_used)]

use super::*;
use crate::rules::synthetic_transfer::{MSS, SyntheticTransfer, at_ms, ms};
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Statement, UnansweredRequest};
use whyslow_core::tcp::facts::PeerMessage;

/// A download of two flights at 1.0 and 1.1 s, the second one acknowledged at 1.2 s.
fn download() -> SyntheticTransfer {
    let mut scene = SyntheticTransfer::flights(&[8 * MSS, 8 * MSS]);
    scene.facts.handshake.syn_ack = Some((at_ms(850), Frame::default()));
    scene
}

/// Half of the response was never acknowledged.
fn amid(by: End, into: Option<i64>) -> Statement {
    let (message, unacknowledged) = (MessageKind::Response, 4 * MSS);
    ExchangeStatement::ResetAmid { by, message, into_s: into.map(ms), unacknowledged }.into()
}

/// Side `from` resets the connection.
fn reset_by(scene: &mut SyntheticTransfer, from: Side, at: i64) {
    scene.facts.state = State::Reset;
    scene.facts.reset = Some(ResetFacts { from, ttl: 64, is_bare: false, is_denied: false });
    scene.facts.closing[from] = Some((at_ms(at), Frame::default()));
    scene.facts.last = at_ms(at);
}

#[test]
fn reset_after_the_last_response_is_not_reported() {
    for side in Side::BOTH {
        let mut scene = download();
        reset_by(&mut scene, side, 5_000);
        assert!(scene.finding_over_connection(Cause::Reset).is_none(), "by {side:?}");
        // Nor is a closing message that the client does not read.
        scene.facts.directions[1].unacknowledged = 31;
        assert!(scene.finding_over_connection(Cause::Reset).is_none(), "by {side:?}");
    }
    let mut closed = download();
    reset_by(&mut closed, Side::A, 1_150);
    closed.facts.directions[1].unacknowledged = 4 * MSS;
    closed.facts.state = State::Closed;
    assert!(closed.finding_over_connection(Cause::Reset).is_none(), "behind both FINs");
}

#[test]
fn reset_within_a_response_costs_all_of_it() {
    let mut scene = download();
    reset_by(&mut scene, Side::B, 1_150);
    scene.facts.directions[1].unacknowledged = 4 * MSS;
    let found = scene.finding_over_connection(Cause::Reset).unwrap();
    // From the request at 0.9 s.
    assert_eq!(found.cost_s, ms(250));
    assert_eq!(found.statement, amid(End::Server, Some(150)));
    assert_eq!(found.evidence[0].value, 12_000.0);
}

#[test]
fn reset_after_a_full_segment_cuts_the_response() {
    let says = |len: u64, at: i64| {
        let mut scene = download();
        reset_by(&mut scene, Side::B, at);
        (scene.facts.directions[1].mss, scene.facts.directions[1].last_len) = (MSS, len);
        let found = scene.finding_over_connection(Cause::Reset)?;
        assert_eq!((found.cost_s, found.confidence), (ms(0), 0.6));
        Some(found.statement)
    };
    // The last segment leaves at 1.1 s, and its ACK is there at 1.2 s.
    let behind = ExchangeStatement::ResetBehindFullSegment { into_s: ms(150) };
    assert_eq!(says(MSS, 1_150), Some(behind.into()));
    assert!(says(3 * MSS, 1_150).is_some(), "as offload hands them over");
    assert_eq!((says(MSS - 1, 1_150), says(3 * MSS - 1, 1_150)), (None, None), "all was sent");
    assert_eq!(says(MSS, 1_190), None, "it knew that all had come");
    let mut closed = download();
    reset_by(&mut closed, Side::B, 1_150);
    (closed.facts.directions[1].mss, closed.facts.directions[1].last_len) = (MSS, MSS);
    assert!(closed.finding_over_connection(Cause::Reset).is_some());
    if let Some(reset) = &mut closed.facts.reset {
        reset.is_bare = true;
    }
    assert!(closed.finding_over_connection(Cause::Reset).is_none(), "an ACK that no socket takes is answered so");
}

#[test]
fn client_reset_costs_only_its_wait() {
    let mut scene = download();
    reset_by(&mut scene, Side::A, 1_150);
    scene.facts.directions[1].unacknowledged = 4 * MSS;
    let found = scene.finding_over_connection(Cause::Reset).unwrap();
    assert_eq!(found.cost_s, ms(0));
    assert_eq!(found.statement, amid(End::Client, Some(150)));
    reset_by(&mut scene, Side::A, 4_100);
    assert_eq!(scene.finding_over_connection(Cause::Reset).unwrap().cost_s, ms(3_000));
}

#[test]
fn elided_fin_does_not_blame_a_reset() {
    let mut scene = download();
    reset_by(&mut scene, Side::A, 1_150);
    scene.facts.directions[1].unacknowledged = 4 * MSS;
    scene.facts.elided = vec![(at_ms(1_110), at_ms(1_150))];
    assert!(scene.finding_over_connection(Cause::Reset).is_none());
    scene.facts.elided = vec![(at_ms(10), at_ms(20))];
    assert!(scene.finding_over_connection(Cause::Reset).is_some(), "long before the last exchange");
}

#[test]
fn request_answered_by_a_reset_is_reported() {
    let mut scene = download();
    scene.facts.content[0].heads = vec![(1, "GET /a".into())];
    reset_by(&mut scene, Side::B, 1_400);
    let found = scene.finding_without_answer(Cause::Reset).unwrap();
    assert_eq!((found.cost_s, found.confidence), (ms(500), 0.85));
    let request = UnansweredRequest { line: Some("GET /a".to_owned()), bytes: 100 };
    let late = ExchangeStatement::ResetWithoutResponse { request: request.clone(), waited_s: ms(500) };
    assert_eq!(found.statement, late.into());
    reset_by(&mut scene, Side::B, 950);
    let found = scene.finding_without_answer(Cause::Reset).unwrap();
    assert_eq!(found.statement, ExchangeStatement::RequestReset { request }.into());
}

#[test]
fn request_after_a_long_silence_met_an_idle_timeout() {
    let mut scene = download();
    let earlier =
        TransferFacts { seq: (1, 101), start: at_ms(-9_000), last_send: at_ms(-9_000), ..TransferFacts::default() };
    let answer = TransferFacts {
        answered: Some(PeerMessage { first: at_ms(-9_000), last: at_ms(-9_000), bytes: 100, ..PeerMessage::default() }),
        ..earlier.clone()
    };
    scene.facts.directions[0].transfers[0].seq = (101, 201);
    scene.facts.directions[0].transfers.insert(0, earlier);
    scene.facts.directions[1].transfers.push(answer);
    scene.facts.content[0].heads = vec![(1, "GET /a".into()), (101, "GET /b".into())];
    reset_by(&mut scene, Side::B, 1_000);
    let found = scene.finding_without_answer(Cause::Reset).unwrap();
    assert_eq!(found.remedies, forgotten(ms(9_900)));
}

#[test]
fn refused_connection_reports_its_delay() {
    let mut scene = download();
    scene.facts.directions[0].transfers.clear();
    scene.facts.handshake.syn = Some((at_ms(800), Frame::default()));
    scene.facts.handshake.syn_ack = None;
    reset_by(&mut scene, Side::B, 840);
    scene.facts.state = State::Refused;
    let found = scene.finding_without_answer(Cause::Reset).unwrap();
    assert_eq!(found.cost_s, ms(40));
    let server = "192.0.2.2:443".to_owned();
    assert_eq!(found.statement, ExchangeStatement::Refused { server, times: 1, waited_s: ms(40) }.into());
    assert_eq!(found.remedy().unwrap().action.command().unwrap(), "ss -ltn 'sport = :443'");
}

#[test]
fn different_ttl_shows_a_middlebox() {
    let mut scene = download();
    reset_by(&mut scene, Side::B, 1_150);
    scene.facts.directions[1].unacknowledged = 4 * MSS;
    scene.facts.ttl[1] = (Some(64), Some(64));
    assert!(scene.finding_over_connection(Cause::Reset).unwrap().to_confirm.is_empty());
    scene.facts.ttl[1] = (Some(49), Some(49));
    let found = scene.finding_over_connection(Cause::Reset).unwrap();
    assert_eq!(found.to_confirm, [ExchangeQuestion::ResetByMiddlebox { end: End::Server }.into()]);
}

#[test]
fn reset_followed_by_data_of_its_end_is_a_middleboxs() {
    let mut scene = download();
    reset_by(&mut scene, Side::B, 1_150);
    scene.facts.directions[1].unacknowledged = 4 * MSS;
    let by_whom = |scene: &SyntheticTransfer| scene.finding_over_connection(Cause::Reset).unwrap().remedies[0].actor;
    assert_eq!(by_whom(&scene), Actor::Application);
    scene.facts.reset = Some(ResetFacts { from: Side::B, ttl: 64, is_bare: false, is_denied: true });
    assert_eq!(by_whom(&scene), Actor::Network);
}
