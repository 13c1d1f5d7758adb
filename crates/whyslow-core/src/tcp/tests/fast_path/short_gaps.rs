//! The fast path for new bytes without other events must give the same result as the general code.

use super::*;
use proptest::prelude::*;

/// The next event, some microseconds after the previous one.
#[derive(Clone, Debug)]
struct Step {
    after: i64,
    what: What,
    window: u16,
    /// Age of the echoed timestamp.
    echo: u32,
}

#[derive(Clone, Debug)]
enum What {
    /// New bytes, after a hole; holds both sizes.
    New(u32, u32),
    /// Old bytes; holds the distance of their start from the end, and their number.
    Again(u32, u32),
    /// An ACK with payload. Holds the number of bytes that stay outstanding, the payload length,
    /// and a SACK block relative to the acknowledgment number.
    Ack(u32, u32, Option<(u32, u32)>),
    /// An ACK for this many bytes that were not captured.
    Unseen(u32),
    /// This many new bytes with a FIN; more data may follow, as in damaged captures.
    Fin(u32),
    /// Another SYN.
    Syn,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let len = || prop_oneof![6 => Just(MSS), 1 => 1..MSS, 1 => MSS..20_000];
    let sack = prop::option::weighted(0.15, (1..20 * MSS, 1..4 * MSS));
    let what = prop_oneof![
        12 => (len(), prop_oneof![30 => Just(0), 1 => 1..3 * MSS]).prop_map(|(len, hole)| What::New(len, hole)),
        1 => (1..10 * MSS, len()).prop_map(|(back, len)| What::Again(back, len)),
        4 => (prop_oneof![Just(0), 0..8 * MSS], prop_oneof![8 => Just(0), 1 => 1..200u32, 1 => Just(MSS)], sack)
            .prop_map(|(left, len, sack)| What::Ack(left, len, sack)),
        1 => prop_oneof![(2..3 * MSS).prop_map(What::Unseen), Just(What::Fin(0)), len().prop_map(What::Fin), Just(What::Syn)],
    ];
    let after = prop_oneof![6 => 0..200i64, 3 => 200..3_000i64, 1 => 3_000..120_000i64, 1 => 120_000..900_000i64];
    let window = prop_oneof![6 => Just(60_000u16), 3 => 3_000..9_000u16, 1 => Just(0u16)];
    let step = (after, what, window, prop_oneof![4 => Just(0u32), 1 => 0..300u32])
        .prop_map(|(after, what, window, echo)| Step { after, what, window, echo });
    prop::collection::vec(step, 1..120)
}

/// The position of the capture, if the handshake shows it.
#[derive(Clone, Copy, Debug)]
enum Place {
    Unknown,
    NextToSender,
    NextToReceiver,
}

/// Side B sends, side A acknowledges.
fn script(steps: &[Step], stamped: bool, place: Place) -> Script {
    let mut script = match place {
        Place::NextToSender => Script::opened(),
        _ => Script::new(),
    };
    if let Place::NextToReceiver = place {
        script.line(0.0, A, [0, 0], 0).flags = Flags::SYN;
        script.line(100.0, B, [0, 1], 0).flags = Flags::SYN | Flags::ACK;
        script.line(100.0, A, [1, 1], 0);
    }
    script.line(100.0, A, [1, 1], 100);
    let (mut micros, mut sent, mut asked) = (200_000, 1u32, 101u32);
    for step in steps {
        micros += step.after;
        let ms = micros as f64 / 1e3;
        let line = match step.what {
            What::New(len, hole) => {
                let start = sent + hole;
                sent = start + len;
                script.line(ms, B, [start, asked], len)
            }
            What::Again(back, len) => {
                let start = sent.saturating_sub(back).max(1);
                sent = sent.max(start + len);
                script.line(ms, B, [start, asked], len)
            }
            What::Ack(left, len, sack) => {
                let ack = sent.saturating_sub(left).max(1);
                let line = script.line(ms, A, [asked, ack], len);
                if let Some((above, bytes)) = sack {
                    line.sack = vec![(ack + above, ack + above + bytes)].leak();
                }
                asked += len;
                line
            }
            What::Unseen(bytes) => {
                sent += bytes;
                script.line(ms, A, [asked, sent], 0)
            }
            What::Fin(len) => {
                sent += len + 1;
                let line = script.line(ms, B, [sent - len - 1, asked], len);
                line.flags = Flags::ACK | Flags::FIN;
                line
            }
            What::Syn => {
                let line = script.line(ms, B, [0, 1], 0);
                line.flags = Flags::ACK | Flags::SYN;
                line
            }
        };
        line.window = step.window;
        let clock = (micros / 1_000) as u32;
        line.stamps = stamped.then_some((clock, clock.saturating_sub(step.echo)));
        // A flight's congestion marks, and the sender's reaction.
        if step.echo % 50 == 1 {
            line.flags = line.flags | Flags::CWR;
        }
    }
    script
}

fn place() -> impl Strategy<Value = Place> {
    prop_oneof![Just(Place::Unknown), Just(Place::NextToSender), Just(Place::NextToReceiver)]
}

/// The facts if `to` is called for both directions before each segment.
fn found(script: &Script, to: fn(&mut SenderState)) -> String {
    let connection = script.play(false, |connection| connection.start_tracking().senders.iter_mut().for_each(to));
    format!("{:#?}", connection.finish([end(A), end(B)]))
}

/// Disables the fast path for all segments.
fn disable_short_gaps(direction: &mut SenderState) {
    direction.short_gap_limit = 0;
}

/// Also disables the fast path for all short pauses.
fn disable_all_short_gaps(direction: &mut SenderState) {
    direction.short_gap_limit = 0;
    if let Some(transfer) = &mut direction.transfer {
        transfer.disable_short_gaps();
    }
}

/// Treats no ACK as plain progress, and searches for retransmissions in all cases.
fn ask_for_copies(direction: &mut SenderState) {
    (direction.retransmits.end, direction.retransmits.unseen_end) = (u64::MAX, u64::MAX);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn short_gap_path_agrees_with_the_general_code(steps in steps(), stamped: bool, place in place()) {
        let script = script(&steps, stamped, place);
        let short = found(&script, |_| ());
        prop_assert_eq!(&short, &found(&script, disable_short_gaps));
        prop_assert_eq!(&short, &found(&script, disable_all_short_gaps));
    }

    #[test]
    fn plain_ack_path_agrees_with_the_general_code(steps in steps(), stamped: bool, place in place()) {
        let script = script(&steps, stamped, place);
        prop_assert_eq!(found(&script, |_| ()), found(&script, ask_for_copies));
    }
}

#[test]
fn flight_uses_the_short_gap_path_until_another_event() {
    let mut script = Script::asked();
    for n in 0..4 {
        script.line(200.0 + 0.1 * f64::from(n), B, [1 + n * MSS, 101], MSS);
    }
    let uses_short_gaps = |script: &Script| {
        script.play(false, |connection| _ = connection.start_tracking()).start_tracking().senders[1].short_gap_limit > 0
    };
    assert!(uses_short_gaps(&script));
    let after = |change: fn(&mut Script)| {
        let mut script = Script { lines: script.lines.clone(), ..script };
        change(&mut script);
        uses_short_gaps(&script)
    };
    assert!(after(|script| _ = script.line(200.5, B, [4001, 101], MSS)), "more of the same");
    assert!(!after(|script| _ = script.line(300.0, A, [101, 1001], 0)), "an ACK");
    assert!(!after(|script| _ = script.line(300.0, A, [101, 1], 100)), "payload of the other side");
    assert!(!after(|script| _ = script.line(200.5, B, [1001, 101], MSS)), "a copy");
    assert!(!after(|script| script.line(200.5, B, [4001, 101], 0).flags = Flags::FIN | Flags::ACK), "the end");
}
