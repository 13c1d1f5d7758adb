//! Compares the fast path for plain segments, and its conditions, with the general code.

use super::*;
use proptest::prelude::*;

/// The next action of a side.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// Sends this number of bytes, after a gap of this size.
    Send(u32, u16),
    /// Captures a recent packet again; holds its distance from the newest one.
    Again(usize),
    /// Retransmits from this many bytes before the end.
    Resend(u32),
    /// A segment with these flags, this number of bytes, and this sequence number.
    Odd(Flags, u32, u16),
    /// A number outside of the connection.
    Stray,
    /// The clock does not advance for this time.
    Pause(u16),
}

fn step() -> impl Strategy<Value = (Side, Step)> {
    let flags = prop::sample::select(vec![
        Flags::SYN,
        Flags::SYN | Flags::ACK,
        Flags::FIN | Flags::ACK,
        Flags::RST,
        Flags::RST | Flags::ACK,
        Flags::PSH,
    ]);
    let step = prop_oneof![
        60 => (prop_oneof![Just(MSS), Just(0), Just(3 * MSS)], Just(1)).prop_map(|(len, by)| Step::Send(len, by)),
        2 => (1..MSS, 0..4u16).prop_map(|(len, by)| Step::Send(len, by)),
        2 => (0..20usize).prop_map(Step::Again),
        1 => (1..9u32).prop_map(|back| Step::Resend(back * MSS)),
        1 => (flags, prop_oneof![Just(0), 1..9u32], 0..40u16).prop_map(|(flags, len, id)| Step::Odd(flags, len, id)),
        1 => Just(Step::Stray),
        1 => (0..300u16).prop_map(Step::Pause),
    ];
    (prop_oneof![3 => Just(B), 1 => Just(A)], step)
}

/// A connection with these steps, and the number of duplicated packets.
fn script(steps: &[(Side, Step)], first_id: u16, opened: bool, stamped: bool) -> (Script, u64) {
    let mut script = if opened { Script::opened() } else { Script::new() };
    if !opened {
        script.line(0.0, A, [1, 1], 0);
    }
    let (mut ms, mut ends, mut ids) = (200.0, [1u32; 2], [first_id; 2]);
    // The newest packets of each side; sequence numbers are relative.
    let mut newest: [Vec<Line>; 2] = Default::default();
    let mut twice = 0;
    for &(from, step) in steps {
        ms += 0.1;
        let mut line = Line {
            ms,
            from,
            seq: ends[from],
            ack: ends[!from],
            flags: Flags::ACK,
            len: 0,
            payload: &[],
            window: 60_000,
            stamps: stamped.then_some((ms as u32, ms as u32 / 2)),
            sack: &[],
            ip_id: ids[from],
            sum: Checksum::Unknown,
        };
        match step {
            Step::Send(len, by) => {
                (line.len, line.ip_id) = (len, ids[from].wrapping_add(by));
                ids[from] = line.ip_id.wrapping_add((len.div_ceil(MSS).max(1) - 1) as u16);
                ends[from] += len;
            }
            Step::Again(back) => match newest[from].iter().rev().nth(back) {
                Some(&other) => line = Line { ms, ..other },
                None => continue,
            },
            Step::Resend(back) => (line.seq, line.len) = (line.seq.saturating_sub(back).max(1), MSS),
            Step::Odd(flags, len, id) => {
                (line.flags, line.len, line.ip_id) = (flags, len, ids[from].wrapping_sub(20).wrapping_add(id));
            }
            Step::Stray => line.seq = line.seq.wrapping_add(1 << 31),
            Step::Pause(pause) => {
                ms += f64::from(pause);
                continue;
            }
        }
        script.lines.push(line);
        // Without its flag an ACK number is meaningless.
        let ack = |line: &Line| line.flags.has(Flags::ACK).then_some(line.ack);
        let identity = |line: &Line| (line.ip_id, line.seq, ack(line), line.flags, line.len, line.stamps);
        let soon = |other: &Line| {
            Nanos::from_secs_f64(ms / 1e3) - Nanos::from_secs_f64(other.ms / 1e3) < Nanos::from_millis(190)
        };
        let is_copy = |other: &Line| soon(other) && identity(other) == identity(&line);
        if line.ip_id != 0 && newest[from].iter().rev().take(16).any(is_copy) {
            twice += 1;
        } else if line.ip_id != 0 {
            newest[from].push(line);
        }
    }
    (script, twice)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn plain_segment_path_agrees_with_the_general_code(
        steps in prop::collection::vec(step(), 1..400),
        first_id in prop_oneof![any::<u16>(), 65_400..=u16::MAX],
        opened: bool,
        stamped: bool,
    ) {
        let (script, twice) = script(&steps, first_id, opened, stamped);
        let facts = |plainly| script.play(plainly, |_| ()).finish([end(A), end(B)]);
        let (general, plain) = (facts(false), facts(true));
        prop_assert_eq!(general.capture_defects.duplicate_frames, twice);
        prop_assert_eq!(format!("{plain:?}"), format!("{general:?}"));
    }
}
