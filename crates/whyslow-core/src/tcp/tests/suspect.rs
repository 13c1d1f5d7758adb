//! Wrong checksums and implausible sequence numbers: later segments show whether the packet
//! arrived.

use super::*;

/// Its sum is off by this.
const WRONG: Checksum = Checksum::Bad(7);

/// A download in flights of two segments, captured next to the server; all verified checksums are
/// correct.
fn download(flights: u32) -> Script {
    let mut script = Script::asked();
    for flight in 0..flights {
        let (ms, seq) = (200.0 + 100.0 * f64::from(flight), 1 + 2 * MSS * flight);
        script.line(ms, B, [seq, 101], MSS);
        script.line(ms + 0.1, B, [seq + MSS, 101], MSS);
        script.line(ms + 100.0, A, [101, seq + 2 * MSS], 0);
    }
    for line in script.lines.iter_mut().filter(|line| line.len == 0) {
        line.sum = Checksum::Good;
    }
    script
}

/// The facts, without the counters of checksums.
fn understood(script: &Script) -> String {
    format!("{:?}", Facts { capture_defects: CaptureDefects::default(), ..script.run() })
}

/// Index of the line with the ACK of that flight.
fn ack_of(flight: usize) -> usize {
    4 + 3 * flight + 2
}

#[test]
fn all_checksums_wrong_is_not_damage() {
    for flights in [1, 5, 60] {
        let right = download(flights);
        for by in [|_| 7, |n| 1 + n as u16] as [fn(usize) -> u16; 2] {
            let mut wrong = download(flights);
            for (n, line) in wrong.lines.iter_mut().enumerate().filter(|(_, line)| line.len == 0) {
                line.sum = Checksum::Bad(by(n));
            }
            assert_eq!(understood(&wrong), understood(&right), "{flights} flights");
            let defects = wrong.run().capture_defects;
            assert_eq!((defects.bad_checksums, defects.all_bad_checksums), (0, u64::from(flights) + 3));
        }
    }
}

#[test]
fn all_checksums_of_one_side_wrong_is_not_damage() {
    let mut wrong = download(60);
    for line in wrong.lines.iter_mut().filter(|line| line.len == 0 && line.from == A) {
        line.sum = WRONG;
    }
    assert_eq!(understood(&wrong), understood(&download(60)));
}

#[test]
fn answered_segment_with_a_wrong_checksum_arrived() {
    // The server continues immediately.
    for flight in [10, 50] {
        let mut script = download(60);
        script.lines[ack_of(flight)].sum = WRONG;
        assert_eq!(understood(&script), understood(&download(60)), "{flight}");
        assert_eq!(script.run().capture_defects.bad_checksums, 0);
    }
}

/// The server repeats a flight after 300 ms, and continues when it is acknowledged. Had it been
/// acknowledged before?
fn repeated(flight: usize, sum: Checksum) -> Facts {
    let mut script = download(60);
    let at = ack_of(flight);
    let (ack, mut again) = (script.lines[at], script.lines[at - 2]);
    script.lines[at].sum = sum;
    again.ms = ack.ms + 300.0;
    let again = [again, Line { ms: again.ms + 100.0, ..ack }];
    for line in &mut script.lines[at + 1..] {
        line.ms += 400.0;
    }
    script.lines.splice(at + 1..at + 1, again);
    script.run()
}

#[test]
fn ack_followed_by_a_retransmission_did_not_arrive() {
    for flight in [10, 50] {
        let came = repeated(flight, Checksum::Good);
        assert_eq!((came.directions[1].retransmitted.spurious, came.directions[1].retransmitted.timeout), (1, 0));
        let never = repeated(flight, WRONG);
        assert_eq!((never.directions[1].retransmitted.spurious, never.directions[1].retransmitted.timeout), (0, 1));
        assert_eq!((never.capture_defects.bad_checksums, never.capture_defects.all_bad_checksums), (1, 1), "{flight}");
    }
}

#[test]
fn fin_followed_by_data_did_not_arrive() {
    for flight in [10, 50] {
        for flags in [Flags::RST, Flags::FIN, Flags::SYN] {
            let mut script = download(60);
            script.lines[ack_of(flight)].flags = Flags::ACK | flags;
            script.lines[ack_of(flight)].sum = WRONG;
            let facts = script.run();
            assert_eq!(facts.state, State::Open, "{flags:?}");
            assert_eq!(facts.closing, [None; 2]);
            assert_eq!(facts.handshake.retries, [0, 0]);
            assert_eq!(facts.directions[0].bytes, 100, "{flags:?}");
            assert_eq!(facts.capture_defects.bad_checksums, 1);
        }
    }
}

#[test]
fn last_fin_with_a_wrong_checksum_is_accepted() {
    for (flags, state) in [(Flags::RST, State::Reset), (Flags::FIN, State::Open)] {
        let mut script = download(60);
        let last = script.lines.len() - 1;
        script.lines[last].flags = Flags::ACK | flags;
        script.lines[last].sum = WRONG;
        let facts = script.run();
        assert_eq!(facts.state, state);
        assert_eq!(facts.closed_by, Some(A), "{flags:?}");
        assert_eq!(facts.capture_defects.bad_checksums, 0);
    }
}

#[test]
fn damaged_sequence_number_makes_no_hole() {
    let right = download(60);
    for flight in [10, 50] {
        let at = ack_of(flight);
        for bit in [20, 24, 26, 29] {
            // A data segment whose checksum is not verified.
            let mut jump = download(60);
            jump.lines[at - 1].seq ^= 1 << bit;
            let facts = jump.run();
            assert_eq!(facts.directions[1].bytes, 120_000, "bit {bit}");
            assert_eq!(facts.capture_defects.stray, 1);
            // Its bytes are acknowledged.
            assert_eq!(facts.capture_defects.unseen_bytes, u64::from(MSS));
            let mut acked = download(60);
            acked.lines[at].ack ^= 1 << bit;
            let facts = acked.run();
            assert_eq!((facts.directions[1].bytes, facts.capture_defects.unseen_bytes), (120_000, 0), "bit {bit}");
        }
        // With a wrong checksum, each of these impossible numbers.
        for (seq, ack) in [(64, 0), (0, 1 << 14), (1 << 17, 0), (0, 1 << 30)] {
            let mut wrong = download(60);
            let line = &mut wrong.lines[at];
            (line.seq, line.ack, line.sum) = (line.seq + seq, line.ack + ack, WRONG);
            let facts = wrong.run();
            assert_eq!(facts.directions[1].bytes, right.run().directions[1].bytes);
            assert_eq!(
                (facts.capture_defects.bad_checksums, facts.capture_defects.unseen_bytes, facts.capture_defects.stray),
                (1, 0, 0)
            );
        }
    }
}

#[test]
fn jump_over_uncaptured_bytes_is_accepted() {
    let mut script = download(60);
    let at = ack_of(50) + 1;
    for line in &mut script.lines[at..] {
        if line.from == B {
            line.seq += 5_000_000;
        } else {
            line.ack += 5_000_000;
        }
    }
    let facts = script.run();
    assert_eq!(facts.directions[1].bytes, 5_120_000);
    assert_eq!((facts.capture_defects.unseen_bytes, facts.capture_defects.stray), (5_000_000, 0));
}
