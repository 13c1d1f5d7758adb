#![allow(clippy::unwrap_used)]

//! Connections written segment by segment, and the facts that must follow.

use super::facts::{Release, TransferFacts};
use super::*;
use crate::wire::{Options, SackBlocks};
use Side::{A, B};
use whyslow_analysis::types::Near;

mod copies;
mod early_acks;
mod endings;
mod fast_path;
mod ip_id;
mod notices;
mod retransmissions;
mod roles;
mod round_trips;
mod scale;
mod short_connection;
mod suspect;
mod turns;
mod windows;

const MSS: u32 = 1000;

/// One segment of an artificial capture.
#[derive(Clone, Copy)]
struct Line {
    ms: f64,
    from: Side,
    seq: u32,
    ack: u32,
    flags: Flags,
    len: u32,
    /// The captured payload.
    payload: &'static [u8],
    window: u16,
    stamps: Option<(u32, u32)>,
    sack: &'static [(u32, u32)],
    ip_id: u16,
    sum: Checksum,
}

/// A capture under construction. Sequence numbers are relative to these initial ones.
struct Script {
    isn: [u32; 2],
    lines: Vec<Line>,
    /// The window scale shift in the handshake.
    scale: Option<u8>,
    window: u16,
}

impl Script {
    fn new() -> Self {
        Self { isn: [1000, 2000], lines: Vec::new(), scale: Some(0), window: 60_000 }
    }

    fn line(&mut self, ms: f64, from: Side, [seq, ack]: [u32; 2], len: u32) -> &mut Line {
        let window = self.window;
        let (flags, sum) = (Flags::ACK, Checksum::Unknown);
        let line =
            Line { ms, from, seq, ack, flags, len, payload: &[], window, stamps: None, sack: &[], ip_id: 0, sum };
        self.lines.push(line);
        self.lines.last_mut().unwrap()
    }

    /// SYN, SYN-ACK and ACK, captured next to side B with a round trip of 100 ms.
    fn opened() -> Self {
        let mut script = Self::new();
        script.line(0.0, A, [0, 0], 0).flags = Flags::SYN;
        script.line(0.0, B, [0, 1], 0).flags = Flags::SYN | Flags::ACK;
        script.line(100.0, A, [1, 1], 0);
        script
    }

    /// A request of 100 bytes by side A, immediately after the handshake.
    fn asked() -> Self {
        let mut script = Self::opened();
        script.line(100.0, A, [1, 1], 100);
        script
    }

    fn run(&self) -> Facts {
        self.connection().finish([end(A), end(B)])
    }

    fn connection(&self) -> Connection {
        self.play(false, |_| ())
    }

    /// The connection after all lines; calls `after` with it after each one. `plainly`: plain
    /// segments use the fast path.
    fn play(&self, plainly: bool, after: impl Fn(&mut Connection)) -> Connection {
        let mut connection: Option<Connection> = None;
        for (index, line) in self.lines.iter().enumerate() {
            let mut sack = SackBlocks::default();
            for &(left, right) in line.sack {
                let isn = self.isn[!line.from];
                sack.push(SeqNumber(isn.wrapping_add(left)), SeqNumber(isn.wrapping_add(right)));
            }
            let syn = line.flags.has(Flags::SYN);
            let options = Options {
                mss: syn.then_some(MSS as u16),
                window_scale: self.scale.filter(|_| syn),
                sack_permitted: syn,
                sack,
                timestamps: line.stamps,
                ..Options::default()
            };
            let (src, dst) = (end(line.from), end(!line.from));
            let segment = Segment {
                src: src.0,
                dst: dst.0,
                src_port: src.1,
                dst_port: dst.1,
                seq: SeqNumber(self.isn[line.from].wrapping_add(line.seq)),
                ack: SeqNumber(self.isn[!line.from].wrapping_add(line.ack)),
                flags: line.flags,
                window: line.window,
                payload_len: line.len,
                payload: line.payload,
                options,
                ip_id: Some(line.ip_id),
                ttl: 64,
                ecn: 0,
                checksum: line.sum,
                fragment: false,
                tunnels: 0,
            };
            let time = Time::ZERO + Nanos::from_secs_f64(line.ms / 1e3);
            let frame = Frame { file: None, number: index as u64 + 1 };
            let connection = connection.get_or_insert_with(|| {
                assert_eq!(line.from, A, "side A sends first");
                Connection::new(&segment, time, frame)
            });
            let is_plain = line.flags.has(Flags::ACK)
                && line.flags.0 & (Flags::SYN | Flags::FIN | Flags::RST).0 == 0
                && line.sack.is_empty();
            if plainly && is_plain {
                let mut seg = Seg::new(&segment, line.from, time, frame.into());
                connection.clamp_time(&mut seg);
                connection.push_plain_seg(&mut seg, segment.payload);
            } else {
                connection.push(&segment, line.from, time, frame);
            }
            assert_eq!(connection.uses_fast_path, direct_sides(connection));
            after(connection);
        }
        connection.unwrap()
    }
}

/// The sides whose plain segments may use the fast path.
fn direct_sides(connection: &Connection) -> [bool; 2] {
    match &connection.stage {
        Stage::Tracking(tracking) if tracking.trace.is_none() && tracking.checksums_reliable == [false; 2] => {
            connection.is_past_opening
        }
        _ => [false; 2],
    }
}

fn end(side: Side) -> (IpAddr, u16) {
    (IpAddr::from([192, 0, 2, side as u8 + 1]), if side == A { 40_000 } else { 80 })
}

fn bulk(facts: &Facts) -> &TransferFacts {
    facts.directions[1].transfers.iter().max_by_key(|transfer| transfer.bytes()).unwrap()
}

/// Flights of 2, 4 and 8 segments, each acknowledged as a whole a round trip later.
fn doubling(script: &mut Script, shift_data: f64, shift_ack: f64) {
    let (mut seq, mut ms) = (1, 200.0);
    for flight in [2u32, 4, 8] {
        for n in 0..flight {
            script.line(ms + shift_data + f64::from(n) * 0.1, B, [seq + n * MSS, 101], MSS);
        }
        seq += flight * MSS;
        script.line(ms + shift_ack + 100.0, A, [101, seq], 0);
        ms += 100.0 + 0.1 * f64::from(flight);
    }
    script.lines.sort_by(|a, b| a.ms.total_cmp(&b.ms));
}

/// Six segments, of which the third is lost.
fn third_lost() -> Script {
    let mut script = Script::asked();
    for n in 0..6 {
        script.line(200.0 + f64::from(n), B, [1 + n * MSS, 101], MSS);
    }
    script.line(300.0, A, [101, 2001], 0);
    script.line(303.0, A, [101, 2001], 0).sack = &[(3001, 4001)];
    script.line(304.0, A, [101, 2001], 0).sack = &[(3001, 5001)];
    script.line(305.0, A, [101, 2001], 0).sack = &[(3001, 6001)];
    script
}

#[test]
fn rounds_are_the_same_from_both_ends() {
    let mut server = Script::asked();
    doubling(&mut server, 0.0, 0.0);
    // Next to the client, the server's segments are captured half a round trip later, and the
    // client's half a round trip earlier.
    let mut client = Script::new();
    client.line(0.0, A, [0, 0], 0).flags = Flags::SYN;
    client.line(100.0, B, [0, 1], 0).flags = Flags::SYN | Flags::ACK;
    client.line(100.0, A, [1, 1], 0);
    client.line(100.0, A, [1, 1], 100);
    doubling(&mut client, 50.0, -49.1);
    for (script, near) in [(&server, Near::Server), (&client, Near::Client)] {
        let facts = script.run();
        assert_eq!(facts.vantage.near, near);
        let rounds: Vec<_> = bulk(&facts).rounds.iter().map(|round| (round.bytes, round.in_flight)).collect();
        assert_eq!(rounds, [(2000, 2000), (4000, 4000), (8000, 8000)], "{near:?}");
        assert!(bulk(&facts).pauses.iter().all(|gap| gap.release == Release::Ack), "{near:?}");
        assert_eq!(facts.client, A);
    }
}

#[test]
fn ack_of_a_part_of_a_segment_captured_before_its_cut_ends_the_round() {
    let mut script = Script::asked();
    for n in 0..5 {
        script.line(200.0, B, [1 + 2 * n * MSS, 101], 2 * MSS);
    }
    for n in 0..10 {
        script.line(300.0 + f64::from(n), A, [101, 1001 + n * MSS], 0);
        script.line(300.0 + f64::from(n), B, [10_001 + 2 * n * MSS, 101], 2 * MSS);
    }
    let facts = script.run();
    let rounds: Vec<_> = bulk(&facts).rounds.iter().map(|round| round.bytes).collect();
    assert_eq!(rounds, [10_000, 20_000]);
}

#[test]
fn sequence_numbers_may_wrap() {
    let mut script = Script::asked();
    script.isn[1] = u32::MAX - 2500;
    doubling(&mut script, 0.0, 0.0);
    let facts = script.run();
    assert_eq!(facts.directions[1].bytes, 14_000);
    assert_eq!(bulk(&facts).seq, (1, 14_001));
    assert_eq!(facts.directions[1].retransmitted, Default::default());
}

#[test]
fn clock_step_back_gives_no_rtt_sample() {
    // Captured in the middle: 50 ms from each side.
    let mut script = Script::new();
    script.line(0.0, A, [0, 0], 0).flags = Flags::SYN;
    script.line(50.0, B, [0, 1], 0).flags = Flags::SYN | Flags::ACK;
    script.line(100.0, A, [1, 1], 0);
    script.line(100.0, A, [1, 1], 100);
    for n in 0..4 {
        let ms = 150.0 + 100.0 * f64::from(n);
        script.line(ms, B, [1 + n * MSS, 101], MSS);
        // Every second ACK has a timestamp that is 60 ms too early, before the segment that it
        // acknowledges.
        script.line(ms + if n % 2 == 0 { 50.0 } else { -10.0 }, A, [101, 1001 + n * MSS], 0);
    }
    let facts = script.run();
    assert_eq!(facts.capture_defects.backwards, 2);
    assert_eq!((facts.vantage.near, facts.vantage.toward), (Near::Middle, [Some(Nanos::from_millis(50)); 2]));
    assert_eq!((facts.rtt.min, facts.rtt.p50), (Some(Nanos::from_millis(100)), Some(Nanos::from_millis(100))));
    assert_eq!(facts.rtt.samples, 2);
}

#[test]
fn duplicate_frame_counts_once() {
    let mut script = Script::asked();
    for _ in 0..2 {
        script.line(200.0, B, [1, 101], MSS).ip_id = 77;
    }
    let facts = script.run();
    assert_eq!((facts.capture_defects.duplicate_frames, facts.directions[1].packets), (1, 2));
    assert_eq!(facts.directions[1].retransmitted, Default::default());
}

#[test]
fn acknowledged_uncaptured_bytes_are_a_capture_defect() {
    let mut script = Script::asked();
    script.line(200.0, B, [1, 101], MSS);
    script.line(200.1, B, [2001, 101], MSS);
    script.line(300.0, A, [101, 3001], 0);
    let facts = script.run();
    assert_eq!((facts.capture_defects.unseen_bytes, facts.capture_defects.unseen_stretches), (1000, 1));
    assert_eq!(bulk(&facts).bytes(), 3000);
    assert_eq!(facts.directions[1].retransmitted, Default::default());
}

#[test]
fn each_response_is_a_separate_transfer() {
    let mut script = Script::opened();
    for turn in 0..3u32 {
        let ms = 100.0 + 200.0 * f64::from(turn);
        script.line(ms, A, [1 + turn * 100, 1 + turn * 3000], 100);
        for n in 0..3 {
            script.line(ms + 5.0, B, [1 + turn * 3000 + n * MSS, 101 + turn * 100], MSS);
        }
        script.line(ms + 105.0, A, [101 + turn * 100, 3001 + turn * 3000], 0);
    }
    let facts = script.run();
    let sizes = |side: Side| facts.directions[side].transfers.iter().map(TransferFacts::bytes).collect::<Vec<_>>();
    assert_eq!(sizes(A), [100, 100, 100]);
    assert_eq!(sizes(B), [3000, 3000, 3000]);
    let think: Vec<_> = facts.directions[1].transfers.iter().map(|t| t.start - t.answered.unwrap().last).collect();
    assert_eq!(think, [Nanos::from_millis(5); 3]);
}

#[test]
fn final_state_follows_from_fin_and_rst() {
    let mut closing = Script::asked();
    closing.line(200.0, B, [1, 101], 0).flags = Flags::FIN | Flags::ACK;
    closing.line(300.0, A, [101, 2], 0);
    let facts = closing.run();
    assert_eq!((facts.state, facts.closed_by), (State::HalfClosed, Some(B)), "CLOSE_WAIT at the client");
    closing.line(400.0, A, [101, 2], 0).flags = Flags::FIN | Flags::ACK;
    assert_eq!(closing.run().state, State::Closed);

    let mut refused = Script::new();
    refused.line(0.0, A, [0, 0], 0).flags = Flags::SYN;
    assert_eq!(refused.run().state, State::Unanswered);
    refused.line(0.1, B, [0, 1], 0).flags = Flags::RST | Flags::ACK;
    assert_eq!(refused.run().state, State::Refused);

    let mut reset = Script::asked();
    assert_eq!(reset.run().state, State::Open);
    reset.line(200.0, A, [101, 1], 0).flags = Flags::RST | Flags::ACK;
    assert_eq!((reset.run().state, reset.run().closed_by), (State::Reset, Some(A)));
}

#[test]
fn retransmitted_syn_is_counted_without_an_rtt_sample() {
    let mut script = Script::new();
    script.line(0.0, A, [0, 0], 0).flags = Flags::SYN;
    script.line(1000.0, A, [0, 0], 0).flags = Flags::SYN;
    script.line(1000.0, B, [0, 1], 0).flags = Flags::SYN | Flags::ACK;
    script.line(1040.0, A, [1, 1], 0);
    let facts = script.run();
    assert_eq!(facts.handshake.retries, [1, 0]);
    assert_eq!(facts.handshake.rtt(), Some(Nanos::from_millis(40)));
    assert_eq!(facts.rtt.min, None, "the SYN-ACK may answer either SYN (Karn)");
    assert_eq!(facts.handshake.last_retry, Some(Time::from_millis(1000)));
}

#[test]
fn duplicate_syn_frame_is_not_a_retransmission() {
    for apart in [0.0, 5.0] {
        let mut script = Script::new();
        script.line(0.0, A, [0, 0], 0).flags = Flags::SYN;
        for at in [40.0, 40.0 + apart] {
            script.line(at, B, [0, 1], 0).flags = Flags::SYN | Flags::ACK;
        }
        script.line(80.0, A, [1, 1], 0);
        let facts = script.run();
        assert_eq!((facts.handshake.retries, facts.handshake.last_retry), ([0, 0], None));
        assert_eq!(facts.rtt.min, Some(Nanos::from_millis(80)));
    }
}

#[test]
fn syn_ack_retransmitted_after_the_handshake_is_not_a_delay() {
    let mut script = Script::opened();
    script.line(1000.0, B, [0, 1], 0).flags = Flags::SYN | Flags::ACK;
    let facts = script.run();
    assert_eq!((facts.handshake.retries, facts.handshake.last_retry), ([0, 1], None));
}

#[test]
fn ack_inside_a_large_segment_shows_the_sending_host() {
    let mut script = Script::new();
    script.line(0.0, A, [0, 0], 0).flags = Flags::SYN;
    script.line(50.0, B, [0, 1], 0).flags = Flags::SYN | Flags::ACK;
    script.line(100.0, A, [1, 1], 0);
    script.line(100.0, A, [1, 1], 100);
    script.line(150.0, B, [1, 101], 8 * MSS);
    script.line(200.0, A, [101, 3001], 0);
    let facts = script.run();
    assert_eq!(facts.vantage.near, Near::Server, "{:?}", facts.vantage.reason);
    assert_eq!(facts.vantage.toward, [Some(Nanos::from_millis(50)), Some(Nanos::from_millis(50))]);
}

#[test]
fn packets_of_one_end_leave_the_vantage_unknown() {
    let mut script = Script::asked();
    script.line(101.0, A, [101, 1], 1000);
    script.lines.retain(|line| line.from == A);
    let facts = script.run();
    assert!(facts.capture_defects.one_direction);
    assert_eq!(facts.vantage.near, Near::Unknown, "{:?}", facts.vantage.reason);
}
