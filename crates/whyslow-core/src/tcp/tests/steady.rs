//! The straight way for steady segments finds what the general way finds.

use super::*;
use proptest::prelude::*;

/// Block `n` is the `n`th segment of the server's.
static BLOCKS: [[(u32, u32); 1]; 64] = {
    let mut blocks = [[(0, 0)]; 64];
    let mut n = 0;
    while n < 64 {
        blocks[n] = [(1 + n as u32 * MSS, 1 + (n as u32 + 1) * MSS)];
        n += 1;
    }
    blocks
};

#[derive(Clone, Copy, Debug)]
enum Step {
    /// The server sends on: so many segments, and how much shorter the last is.
    Send { segments: u32, short: u32 },
    /// The client acknowledges all but so many segments.
    Acknowledge { less: u32 },
    /// It acknowledges nothing new, and perhaps reports a block.
    Again { block: Option<u8> },
    /// The server sends a segment again, so many back.
    Resend { back: u32 },
    /// A segment of the server's is not captured.
    Skip,
    /// The client's window.
    Window { segments: u16 },
    /// The client sends payload.
    Ask { bytes: u32 },
    /// Something else is in the flags: ECE, CWR, URG, FIN.
    Flag { flag: u16, client: bool },
    /// Time goes by.
    Wait { micros: u32 },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        30 => (1u32..8, prop_oneof![4 => Just(0), 1 => 1u32..900]).prop_map(|(segments, short)| Step::Send { segments, short }),
        30 => prop_oneof![4 => Just(0), 1 => 0u32..4].prop_map(|less| Step::Acknowledge { less }),
        2 => prop::option::of(0u8..64).prop_map(|block| Step::Again { block }),
        2 => (1u32..6).prop_map(|back| Step::Resend { back }),
        1 => Just(Step::Skip),
        2 => prop_oneof![1 => Just(0u16), 4 => 1u16..60].prop_map(|segments| Step::Window { segments }),
        3 => prop_oneof![Just(20u32), Just(1000)].prop_map(|bytes| Step::Ask { bytes }),
        1 => (0usize..4, any::<bool>()).prop_map(|(flag, client)| Step::Flag { flag: [0x40, 0x80, 0x20, 0x01][flag], client }),
        8 => prop_oneof![8 => 0u32..20_000, 1 => 0u32..1_000_000].prop_map(|micros| Step::Wait { micros }),
    ]
}

/// What passed the capture point, `far` milliseconds from either end, where the hosts do or do not stamp and number what they send.
fn script(steps: &[Step], far: [f64; 2], stamps: bool, numbers: bool) -> Script {
    let mut script = Script::opened();
    let (mut ms, mut turn) = (200.0, 0);
    let (mut next, mut acked) = ([1u32, 1u32], 1u32);
    let mut newest = [0u32; 2];
    let mut id = 7;
    let mut window = 60_000;
    let mut extra = 0;
    for step in steps {
        let from =
            usize::from(matches!(step, Step::Send { .. } | Step::Resend { .. } | Step::Flag { client: false, .. }));
        // Whoever speaks now has heard the other one.
        if from != turn {
            ms += far[from];
            turn = from;
        }
        let mut put = |from: Side, seq: u32, len: u32, ack: u32, sack: &'static [(u32, u32)], ms: f64| {
            id += 1;
            newest[from] = (ms * 4.0) as u32;
            let echo = newest[1 - from];
            let flags = std::mem::take(&mut extra);
            let line = script.line(ms, from, seq, ack, len);
            line.flags = Flags(Flags::ACK.0 | flags | if len > 0 && len < MSS { Flags::PSH.0 } else { 0 });
            line.window = if from == 0 { window } else { 60_000 };
            line.stamps = stamps.then_some((newest[from], echo));
            line.ip_id = if numbers { id } else { 0 };
            line.sack = sack;
        };
        match *step {
            Step::Send { segments, short } => {
                for n in 0..segments {
                    let len = if n + 1 == segments { MSS - short } else { MSS };
                    put(1, next[1], len, next[0], &[], ms + f64::from(n) * 0.01);
                    next[1] += len;
                }
                ms += f64::from(segments) * 0.01;
            }
            Step::Acknowledge { less } => {
                acked = acked.max(next[1].saturating_sub(less * MSS));
                put(0, next[0], 0, acked, &[], ms);
            }
            Step::Again { block } => {
                let sack = block.map_or(&[][..], |block| &BLOCKS[usize::from(block)]);
                put(0, next[0], 0, acked, sack, ms);
            }
            Step::Resend { back } => {
                put(1, next[1].saturating_sub(back * MSS).max(1), MSS.min(next[1] - 1), next[0], &[], ms);
            }
            Step::Skip => next[1] += MSS,
            Step::Window { segments } => window = segments * MSS as u16,
            Step::Ask { bytes } => {
                put(0, next[0], bytes, acked, &[], ms);
                next[0] += bytes;
            }
            Step::Flag { flag, .. } => extra = flag,
            Step::Wait { micros } => ms += f64::from(micros) / 1e3,
        }
    }
    script
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn the_straight_way_ends_where_the_long_way_does(
        steps in prop::collection::vec(step(), 1..200),
        far in prop_oneof![Just([0.0, 40.0]), Just([40.0, 0.0]), Just([15.0, 25.0]), Just([0.0, 0.0])],
        stamps: bool,
        numbers: bool,
    ) {
        let script = script(&steps, far, stamps, numbers);
        // Settled at once, so that both are for all segments.
        let straight = script.play(|connection| { connection.settle(); }).finish();
        let long = script.play(|connection| {
            let settled = connection.settle();
            settled.halves.iter_mut().for_each(|half| half.never_steady = true);
        }).finish();
        prop_assert_eq!(format!("{straight:#?}"), format!("{long:#?}"));
    }
}

#[test]
fn most_segments_of_a_transfer_go_the_straight_way() {
    let steps: Vec<_> =
        [Step::Send { segments: 4, short: 0 }, Step::Acknowledge { less: 0 }].into_iter().cycle().take(100).collect();
    let script = script(&steps, [0.0, 40.0], true, true);
    let mut connection = script.play(|connection| {
        connection.settle();
    });
    let half = &connection.settle().halves[1];
    // Of the 50 flights of four segments the first one of each begins a round, and its ACK is for all of them.
    assert_eq!(half.steady, [147, 49]);
}
