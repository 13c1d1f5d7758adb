//! ACKs that precede their data in the file.

use super::*;

/// A download in flights of two segments, captured next to the client; returns the index of each
/// flight's ACK.
fn download(flights: u32) -> (Script, Vec<usize>) {
    let mut script = Script::new();
    let mut acks = Vec::new();
    script.line(0.0, A, [0, 0], 0).flags = Flags::SYN;
    script.line(100.0, B, [0, 1], 0).flags = Flags::SYN | Flags::ACK;
    script.line(100.0, A, [1, 1], 0);
    script.line(100.0, A, [1, 1], 100);
    for flight in 0..flights {
        let (ms, seq) = (200.0 + 100.0 * f64::from(flight), 1 + 2 * MSS * flight);
        script.line(ms, B, [seq, 101], MSS);
        script.line(ms + 0.01, B, [seq + MSS, 101], MSS);
        acks.push(script.lines.len());
        script.line(ms + 0.02, A, [101, seq + 2 * MSS], 0);
    }
    (script, acks)
}

/// Retransmitted segments, reordered segments, and uncaptured bytes.
fn defects(script: &Script) -> (u64, u64, u64) {
    let facts = script.run();
    let data = &facts.directions[1];
    (data.retransmissions_total, data.out_of_order, facts.capture_defects.unseen_bytes)
}

#[test]
fn ack_before_its_data_waits_for_it() {
    // Fewer and more segments than are buffered until the vantage is known.
    for flights in [10, 100] {
        let (mut script, acks) = download(flights);
        for ack in acks {
            script.lines.swap(ack, ack - 1);
        }
        assert_eq!(defects(&script), (0, 0, 0), "{flights} flights");
        // Before both segments.
        let (mut script, acks) = download(flights);
        for ack in acks {
            script.lines[ack - 2..=ack].rotate_right(1);
        }
        assert_eq!(defects(&script), (0, 0, 0), "{flights} flights");
    }
}

#[test]
fn ack_of_uncaptured_data_is_a_capture_defect() {
    let (mut script, acks) = download(100);
    script.lines.remove(acks[90] - 1);
    assert_eq!(defects(&script), (0, 0, u64::from(MSS)));
}

#[test]
fn ack_that_waits_at_the_end_is_applied() {
    let (mut script, acks) = download(100);
    script.lines.remove(acks[99] - 1);
    let facts = script.run();
    assert_eq!(facts.directions[1].unacknowledged, 0);
}
