use super::conclude;
use crate::together::LargestFlows;
use crate::together::synthetic_transfer::{connection, flow, found, ms, transfer};
use whyslow_analysis::cause::Cause;
use whyslow_analysis::{Connection, Handshake, LimitingFactor};

/// A download with a queue of 30 ms from 1 s to 3 s, and at `start` an exchange with a wait of
/// `cause`.
fn exchange_next_to_a_queue(start: i64, cause: Cause, wait: i64) -> Connection {
    let mut other = connection(7, 1, 443, &[]);
    other.start_s = ms(start - 50);
    other.transfers.push(transfer(start, &[(LimitingFactor::RoundTrip, 60)], cause, wait));
    let flows = LargestFlows::of(vec![flow(1, 1_000, &[10.0; 40])]);
    let mut connections = [other];
    conclude(&flows, &mut connections);
    let [other] = connections;
    other
}

#[test]
fn response_in_another_transfers_queue_is_not_late() {
    for cause in [Cause::DelayedAck, Cause::ServerThink] {
        let other = exchange_next_to_a_queue(2_000, cause, 32);
        assert!(other.transfers[0].findings.is_empty(), "{cause}");
        assert_eq!(other.transfers[0].verdict, whyslow_analysis::Verdict::QueuedBehindOther);
    }
    assert_eq!(exchange_next_to_a_queue(2_000, Cause::Loss, 32).transfers[0].findings.len(), 1, "another cause");
    assert_eq!(
        exchange_next_to_a_queue(2_000, Cause::ServerThink, 200).transfers[0].findings.len(),
        1,
        "longer than the queue"
    );
    assert_eq!(
        exchange_next_to_a_queue(4_000, Cause::ServerThink, 32).transfers[0].findings.len(),
        1,
        "the queue is gone"
    );
}

#[test]
fn occasional_queue_may_overflow() {
    let findings = |flat, lost| {
        let mut other = connection(7, 1, 443, &[]);
        other.start_s = ms(1_950);
        other.transfers.push(transfer(2_000, &[(LimitingFactor::RoundTrip, 60)], Cause::DelayedAck, 32));
        let flow = crate::together::Flow { queued: false, flat, lost, ..flow(1, 1_000, &[10.0; 40]) };
        let mut connections = [other];
        conclude(&LargestFlows::of(vec![flow]), &mut connections);
        connections[0].transfers[0].findings.len()
    };
    assert_eq!([findings(false, 3), findings(false, 0), findings(true, 3)], [0, 1, 1]);
}

#[test]
fn handshake_in_another_transfers_queue_is_not_late() {
    let mut other = connection(7, 1, 443, &[]);
    other.start_s = ms(1_500);
    let none = [None; 2];
    other.handshake = Some(Handshake {
        rtt_ms: Some(55.0),
        mss: none,
        window_scale: none.map(|_: Option<u16>| None),
        sack: [None; 2],
        timestamps: [None; 2],
        retries: [0; 2],
    });
    other.findings = vec![found(Cause::PathLatency, 35), found(Cause::TurnTaking, 30)];
    let mut far = other.clone();
    far.server.address = "198.51.100.77".into();
    let mut connections = [other, far];
    conclude(&LargestFlows::of(vec![flow(1, 1_000, &[10.0; 40])]), &mut connections);
    assert_eq!(connections[0].findings.len(), 1);
    assert_eq!(connections[1].findings.len(), 2, "another path");
}
