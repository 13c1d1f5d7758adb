//! The kernel's filter: TCP from or to some ports, in packets that begin with an IP header.

use super::WHOLE;
use crate::bpf::{
    Assembler, HEADER_LENGTH_TO_X, Instruction, JUMP_IF_EQUAL, JUMP_IF_SET, LOAD_BYTE, LOAD_HALF, LOAD_HALF_AT_X,
    Label, RETURN, SHIFT_RIGHT,
};

/// Maximum number of ports: a jump reaches 255 instructions far.
pub(super) const MOST_PORTS: usize = 60;

const TCP: u32 = 6;
/// The fragment's offset of IPv4.
const OFFSET: u32 = 0x1fff;

/// Makes the filter; without ports no packet passes.
pub(super) fn program(ports: &[u16]) -> Vec<Instruction> {
    let ports = &ports[ports.len().saturating_sub(MOST_PORTS)..];
    let mut code = Assembler::default();
    let [v4, v6] = [(); 2].map(|()| code.label());
    code.op(LOAD_BYTE, 0);
    code.op(SHIFT_RIGHT, 4);
    // What is neither of the two finds no port there, or one by chance: addresses are compared
    // once more.
    code.test(JUMP_IF_EQUAL, 4, Some(v4), Some(v6));
    code.place(v6);
    let [keep, drop] = [(); 2].map(|()| code.label());
    code.op(LOAD_BYTE, 6);
    code.test(JUMP_IF_EQUAL, TCP, None, Some(drop));
    is_one_of(&mut code, ports, [LOAD_HALF.into(), 40], keep);
    end(&mut code, keep, drop);
    code.place(v4);
    let [keep, drop] = [(); 2].map(|()| code.label());
    code.op(LOAD_BYTE, 9);
    code.test(JUMP_IF_EQUAL, TCP, None, Some(drop));
    code.op(LOAD_HALF, 6);
    code.test(JUMP_IF_SET, OFFSET, Some(drop), None);
    code.op(HEADER_LENGTH_TO_X, 0);
    is_one_of(&mut code, ports, [LOAD_HALF_AT_X.into(), 0], keep);
    end(&mut code, keep, drop);
    code.finish()
}

/// Whether the source or the destination, which are read by this instruction at this place, is one
/// of these ports.
fn is_one_of(code: &mut Assembler, ports: &[u16], [load, at]: [u32; 2], keep: Label) {
    for at in [at, at + 2] {
        code.op(load as u16, at);
        for port in ports {
            code.test(JUMP_IF_EQUAL, (*port).into(), Some(keep), None);
        }
    }
}

fn end(code: &mut Assembler, keep: Label, drop: Label) {
    code.place(drop);
    code.op(RETURN, 0);
    code.place(keep);
    // Packets that pass are cut when they are received: the length of a packet that a filter cuts
    // is not reported.
    code.op(RETURN, WHOLE);
}
