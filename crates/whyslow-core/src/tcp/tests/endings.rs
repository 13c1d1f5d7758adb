//! Memory of a connection that has ended.

use super::*;

/// 40 flights of 8 segments, in which the third segment of every fifth flight is retransmitted;
/// then both sides close.
fn closed() -> Script {
    let mut script = Script::asked();
    let mut ms = 200.0;
    for flight in 0..40u32 {
        let seq = 1 + flight * 8 * MSS;
        for n in 0..8 {
            script.line(ms + f64::from(n), B, [seq + n * MSS, 101], MSS);
        }
        if flight % 5 == 4 {
            script.line(ms + 110.0, A, [101, seq + 2 * MSS], 0);
            script.line(ms + 330.0, B, [seq + 2 * MSS, 101], MSS);
            ms += 330.0;
        }
        ms += 108.0;
        script.line(ms, A, [101, seq + 8 * MSS], 0);
    }
    let end = 1 + 40 * 8 * MSS;
    script.line(ms + 1.0, B, [end, 101], 0).flags = Flags::FIN | Flags::ACK;
    script.line(ms + 101.0, A, [101, end + 1], 0).flags = Flags::FIN | Flags::ACK;
    script.line(ms + 101.0, B, [end + 1, 102], 0);
    script
}

/// Capacity for segments in flight on both sides.
fn room(connection: &Connection) -> [usize; 2] {
    let Stage::Tracking(tracking) = &connection.stage else { panic!("it has more segments than are buffered") };
    [0, 1].map(|side| tracking.senders[side].outstanding.capacity())
}

#[test]
fn ended_connection_has_no_unused_memory() {
    let script = closed();
    let mut open = closed();
    open.lines.truncate(script.lines.len() - 1);
    assert!(room(&open.connection())[1] >= 8, "{:?}", room(&open.connection()));
    let connection = script.connection();
    assert!(connection.has_ended());
    let left = room(&connection);
    assert!(left.iter().all(|room| *room <= 2), "{left:?}");
}

#[test]
fn releasing_memory_changes_no_fact() {
    let mut script = closed();
    // Late copies, and a retransmitted FIN.
    let (last, end) = (script.lines.last().unwrap().ms, 1 + 40 * 8 * MSS);
    script.line(last + 300.0, B, [end - MSS, 102], MSS);
    script.line(last + 400.0, A, [102, end + 1], 0);
    script.line(last + 900.0, A, [101, end + 1], 0).flags = Flags::FIN | Flags::ACK;
    let as_it_is = script.run();
    let always = script.play(false, Connection::shrink_buffers).finish([super::end(A), super::end(B)]);
    assert_eq!(format!("{always:?}"), format!("{as_it_is:?}"));
    assert!(as_it_is.directions[1].retransmitted.timeout > 0, "{:?}", as_it_is.directions[1].retransmitted);
}
