//! Segments of a made-up connection: a flight, a loss that is repaired, a window that closes, an
//! end.

use super::{frame, ms};
use whyslow_analysis::End;
use whyslow_diagnosis::series::{Flags, Kind, Point};
use whyslow_units::SeqNumber;

/// Fields of a segment's TCP header, in relative numbers, and how much payload follows it.
struct Header {
    flags: Flags,
    seq: u64,
    len: u32,
    ack: u64,
}

/// The header of a pure ACK.
fn ack(seq: u64, ack: u64) -> Header {
    Header { flags: Flags::ACK, seq, len: 0, ack }
}

/// A segment at this many milliseconds.
fn segment(number: u64, at: f64, from: End, header: &Header) -> Point {
    let &Header { flags, seq, len, ack } = header;
    let syn = flags.has(Flags::SYN);
    Point {
        time: ms(at),
        frame: frame(number),
        from,
        flags,
        len,
        seq: Some(seq),
        raw_seq: SeqNumber(1_000 + seq as u32),
        ack: flags.has(Flags::ACK).then_some(ack),
        raw_ack: flags.has(Flags::ACK).then_some(SeqNumber(5_000 + ack as u32)),
        window: Some(64_000),
        raw_window: 1_000,
        kind: if len > 0 || syn || flags.has(Flags::FIN) { Kind::New } else { Kind::Empty },
        unseen_original: false,
        duplicate_ack: false,
        marked: false,
        sack: [(0, 0); 4],
        sacks: 0,
        dsack: false,
        in_flight: (len > 0).then_some(u64::from(len)),
        applied: None,
        rtt: None,
    }
}

/// As the server's side captured it.
pub fn lossy() -> Vec<Point> {
    use End::{Client, Server};
    let mut points = vec![
        segment(1, 0.0, Client, &Header { flags: Flags::SYN, seq: 0, len: 0, ack: 0 }),
        segment(2, 0.1, Server, &Header { flags: Flags::SYN | Flags::ACK, seq: 0, len: 0, ack: 1 }),
        segment(3, 20.0, Client, &ack(1, 1)),
        segment(4, 20.2, Client, &Header { flags: Flags::ACK | Flags::PSH, seq: 1, len: 100, ack: 1 }),
    ];
    for index in 0..10_u64 {
        let at = 20.5 + index as f64 / 10.0;
        let mut data =
            segment(5 + index, at, Server, &Header { flags: Flags::ACK, seq: 1 + 1_000 * index, len: 1_000, ack: 101 });
        data.in_flight = Some(1_000 * (index + 1));
        points.push(data);
    }
    for index in 0..4_u64 {
        let mut duplicate = segment(15 + index, 40.6 + index as f64 / 10.0, Client, &ack(101, 2_001));
        duplicate.applied = Some((duplicate.time, 8_000 - 1_000 * index));
        if index == 0 {
            duplicate.rtt = Some(ms(20.0));
        } else {
            (duplicate.duplicate_ack, duplicate.sacks, duplicate.sack[0]) = (true, 1, (3_001, 3_001 + 1_000 * index));
        }
        points.push(duplicate);
    }
    let mut again = segment(19, 41.1, Server, &Header { flags: Flags::ACK, seq: 2_001, len: 1_000, ack: 101 });
    again.kind = Kind::Fast;
    points.push(again);
    let mut closed = segment(20, 61.2, Client, &ack(101, 10_001));
    (closed.window, closed.raw_window, closed.applied, closed.rtt) = (Some(0), 0, Some((ms(61.2), 0)), Some(ms(20.1)));
    points.push(closed);
    points.push(segment(21, 90.0, Client, &ack(101, 10_001)));
    points.push(segment(
        22,
        90.1,
        Server,
        &Header { flags: Flags::ACK | Flags::PSH | Flags::FIN, seq: 10_001, len: 500, ack: 101 },
    ));
    let mut last = segment(23, 110.2, Client, &ack(101, 10_502));
    (last.applied, last.rtt) = (Some((last.time, 0)), Some(ms(20.1)));
    points.push(last);
    points
}
