//! Classic BPF (linux/filter.h): its instructions, and an assembler with labels.

use socket2::{SockFilter, Socket};
use std::io;

pub(crate) const LOAD_WORD: u16 = 0x20;
pub(crate) const LOAD_HALF: u16 = 0x28;
pub(crate) const LOAD_BYTE: u16 = 0x30;
pub(crate) const LOAD_HALF_AT_X: u16 = 0x48;
pub(crate) const LOAD_BYTE_AT_X: u16 = 0x50;
/// Four times the low half of a byte: the length of an IPv4 header.
pub(crate) const HEADER_LENGTH_TO_X: u16 = 0xb1;
pub(crate) const X_IMMEDIATE: u16 = 0x01;
pub(crate) const A_TO_X: u16 = 0x07;
pub(crate) const X_TO_A: u16 = 0x87;
pub(crate) const STORE: u16 = 0x02;
pub(crate) const LOAD_STORED: u16 = 0x60;
pub(crate) const ADD: u16 = 0x04;
pub(crate) const ADD_X: u16 = 0x0c;
pub(crate) const SHIFT_LEFT: u16 = 0x64;
pub(crate) const SHIFT_RIGHT: u16 = 0x74;
pub(crate) const JUMP_IF_EQUAL: u16 = 0x15;
pub(crate) const JUMP_IF_AT_LEAST: u16 = 0x35;
pub(crate) const JUMP_IF_SET: u16 = 0x45;
pub(crate) const RETURN: u16 = 0x06;

/// The kernel's data on a packet that is not in its bytes, as an address to load from.
pub(crate) fn ancillary(what: i32) -> u32 {
    (libc::SKF_AD_OFF + what).cast_unsigned()
}

/// An instruction (`struct sock_filter`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instruction {
    pub code: u16,
    /// Instructions to leave out where a test holds, and where it does not.
    pub jumps: [u8; 2],
    pub value: u32,
}

/// Has the kernel run a program on what the socket would receive.
pub(crate) fn attach(socket: &Socket, program: &[Instruction]) -> io::Result<()> {
    let program: Vec<_> =
        program.iter().map(|line| SockFilter::new(line.code, line.jumps[0], line.jumps[1], line.value)).collect();
    socket.attach_filter(&program)
}

/// A place in a program that jumps lead to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Label(usize);

#[derive(Clone, Copy)]
struct Line {
    code: u16,
    value: u32,
    /// The targets of the jumps; `None` for the next line.
    jumps: [Option<Label>; 2],
}

/// Lines of a program. Jumps lead forward, over at most 255 lines.
#[derive(Default)]
pub(crate) struct Assembler {
    lines: Vec<Line>,
    labels: Vec<Option<usize>>,
}

impl Assembler {
    /// A label that [`Assembler::place`] puts somewhere later.
    pub(crate) fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Places the label before the next line.
    pub(crate) fn place(&mut self, label: Label) {
        self.labels[label.0] = Some(self.lines.len());
    }

    pub(crate) fn op(&mut self, code: u16, value: u32) {
        self.lines.push(Line { code, value, jumps: [None, None] });
    }

    /// Continues at `yes` or `no`; `None` for the next line.
    pub(crate) fn test(&mut self, code: u16, value: u32, yes: Option<Label>, no: Option<Label>) {
        self.lines.push(Line { code, value, jumps: [yes, no] });
    }

    /// The instructions.
    ///
    /// # Panics
    /// When a label was not placed, or lies behind its jump or too far away: programs are made
    /// here and tested.
    pub(crate) fn finish(self) -> Vec<Instruction> {
        let distance = |from: usize, to: Option<Label>| {
            let lines = to.map_or(0, |label| {
                let at = self.labels[label.0].expect("every label is placed");
                at.checked_sub(from + 1).expect("jumps lead forward")
            });
            u8::try_from(lines).expect("a jump leads over at most 255 lines")
        };
        let lines = self.lines.iter().enumerate();
        lines
            .map(|(at, line)| {
                let jumps = line.jumps.map(|label| distance(at, label));
                Instruction { code: line.code, jumps, value: line.value }
            })
            .collect()
    }
}
