//! The kernel's filter: TCP from or to some ports, in packets that begin with an IP header.

use super::WHOLE;
use socket2::SockFilter;

/// Most ports: a jump reaches 255 instructions far.
pub(super) const MOST_PORTS: usize = 60;

// Instructions of classic BPF (linux/filter.h).
const LOAD_BYTE: u16 = 0x30;
const LOAD_HALF: u16 = 0x28;
const LOAD_HALF_AT_X: u16 = 0x48;
const HEADER_LENGTH_TO_X: u16 = 0xb1;
const SHIFT_RIGHT: u16 = 0x74;
const JUMP_IF_EQUAL: u16 = 0x15;
const JUMP_IF_SET: u16 = 0x45;
const RETURN: u16 = 0x06;

const TCP: u32 = 6;
/// Of IPv4: the fragment's offset.
const OFFSET: u32 = 0x1fff;

#[derive(Clone, Copy)]
enum To {
    Next,
    Drop,
    Keep,
}

#[derive(Clone, Copy)]
enum Step {
    Do(u16, u32),
    Test { code: u16, value: u32, yes: To, no: To },
}

/// Makes the filter; without ports nothing passes.
pub(super) fn program(ports: &[u16]) -> Vec<SockFilter> {
    let ports = &ports[ports.len().saturating_sub(MOST_PORTS)..];
    let is_tcp = Step::Test { code: JUMP_IF_EQUAL, value: TCP, yes: To::Next, no: To::Drop };
    let is_later_fragment = Step::Test { code: JUMP_IF_SET, value: OFFSET, yes: To::Drop, no: To::Next };

    let mut v6 = vec![Step::Do(LOAD_BYTE, 6), is_tcp];
    v6.extend(is_one_of(ports, LOAD_HALF, 40));
    let mut v4 = vec![Step::Do(LOAD_BYTE, 9), is_tcp, Step::Do(LOAD_HALF, 6), is_later_fragment];
    v4.push(Step::Do(HEADER_LENGTH_TO_X, 0));
    v4.extend(is_one_of(ports, LOAD_HALF_AT_X, 0));

    let v6 = assemble(&v6);
    let mut out = vec![
        SockFilter::new(LOAD_BYTE, 0, 0, 0),
        SockFilter::new(SHIFT_RIGHT, 0, 0, 4),
        // What is neither of the two finds no port there, or one by chance: addresses are compared
        // once more.
        SockFilter::new(JUMP_IF_EQUAL, v6.len() as u8, 0, 4),
    ];
    out.extend(v6);
    out.extend(assemble(&v4));
    out
}

/// Whether the source or the destination is one of these ports.
fn is_one_of(ports: &[u16], load: u16, at: u32) -> Vec<Step> {
    let test = |port: &u16| Step::Test { code: JUMP_IF_EQUAL, value: (*port).into(), yes: To::Keep, no: To::Next };
    let mut out = vec![Step::Do(load, at)];
    out.extend(ports.iter().map(test));
    out.push(Step::Do(load, at + 2));
    out.extend(ports.iter().map(test));
    out
}

/// Steps, and behind them what drops and what keeps.
fn assemble(steps: &[Step]) -> Vec<SockFilter> {
    let jump = |from: usize, to: To| match to {
        To::Next => 0,
        To::Drop => (steps.len() - from - 1) as u8,
        To::Keep => (steps.len() - from) as u8,
    };
    let mut out: Vec<_> = steps
        .iter()
        .enumerate()
        .map(|(index, step)| match *step {
            Step::Do(code, value) => SockFilter::new(code, 0, 0, value),
            Step::Test { code, value, yes, no } => SockFilter::new(code, jump(index, yes), jump(index, no), value),
        })
        .collect();
    // What passes is cut when it is received: of a packet that a filter cuts, nobody learns the
    // length.
    out.extend([SockFilter::new(RETURN, 0, 0, 0), SockFilter::new(RETURN, 0, 0, WHOLE)]);
    out
}
