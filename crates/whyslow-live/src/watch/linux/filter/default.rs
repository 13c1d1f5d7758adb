//! TCP and ICMP errors, in IPv4 and IPv6, behind VLAN tags and extension headers.
//!
//! The kernel takes the outer VLAN tag out of a packet before the filter sees it; a second one, or
//! one that a device leaves, stands in the packet.

use crate::bpf::{
    A_TO_X, ADD, ADD_X, Assembler, HEADER_LENGTH_TO_X, Instruction, JUMP_IF_AT_LEAST, JUMP_IF_EQUAL, JUMP_IF_SET,
    LOAD_BYTE, LOAD_BYTE_AT_X, LOAD_HALF, LOAD_STORED, LOAD_WORD, Label, RETURN, SHIFT_LEFT, STORE, X_IMMEDIATE,
    X_TO_A, ancillary,
};

const IPV4: u32 = 0x0800;
const IPV6: u32 = 0x86dd;
const TAGS: [u32; 3] = [0x8100, 0x88a8, 0x9100];
const TCP: u32 = 6;
const ICMP: u32 = 1;
const ICMPV6: u32 = 58;
const FRAGMENT: u32 = 44;
const EXTENSIONS: [u32; 3] = [0, 43, 60];
/// Destination unreachable, source quench, time exceeded, parameter problem.
const ERRORS: [u32; 4] = [3, 4, 11, 12];
/// ICMPv6 types below are errors.
const INFORMATION: u32 = 128;
/// Tags that stand in the packet, and extension headers before TCP.
const DEPTH: usize = 2;
const MOST_EXTENSIONS: usize = 4;
/// All of a packet: how much is kept is put in later.
const KEEP: u32 = u32::MAX;

/// For packets with an Ethernet header.
pub(super) fn ethernet() -> Vec<Instruction> {
    let mut code = Assembler::default();
    code.op(LOAD_HALF, 12);
    network(&mut code, 14);
    code.finish()
}

/// For packets that begin with the network layer.
pub(super) fn cooked() -> Vec<Instruction> {
    let mut code = Assembler::default();
    code.op(LOAD_WORD, ancillary(libc::SKF_AD_PROTOCOL));
    network(&mut code, 0);
    code.finish()
}

/// The EtherType is loaded; its packet begins at `base`.
fn network(code: &mut Assembler, mut base: u32) {
    for depth in 0..=DEPTH {
        let [v4, v6, other, tag] = [(); 4].map(|()| code.label());
        code.test(JUMP_IF_EQUAL, IPV4, Some(v4), None);
        code.test(JUMP_IF_EQUAL, IPV6, Some(v6), Some(other));
        code.place(v4);
        ipv4(code, base);
        code.place(v6);
        ipv6(code, base);
        code.place(other);
        if depth < DEPTH {
            for value in TAGS {
                code.test(JUMP_IF_EQUAL, value, Some(tag), None);
            }
            code.op(RETURN, 0);
            code.place(tag);
            code.op(LOAD_HALF, base + 2);
            base += 4;
        } else {
            code.place(tag);
            code.op(RETURN, 0);
        }
    }
}

fn ipv4(code: &mut Assembler, base: u32) {
    let [keep, drop, icmp, first] = [(); 4].map(|()| code.label());
    code.op(LOAD_BYTE, base + 9);
    code.test(JUMP_IF_EQUAL, TCP, Some(keep), None);
    code.test(JUMP_IF_EQUAL, ICMP, Some(icmp), Some(drop));
    code.place(icmp);
    // A later fragment of a message has no type.
    code.op(LOAD_HALF, base + 6);
    code.test(JUMP_IF_SET, 0x1fff, Some(drop), Some(first));
    code.place(first);
    code.op(HEADER_LENGTH_TO_X, base);
    code.op(LOAD_BYTE_AT_X, base);
    for kind in ERRORS {
        code.test(JUMP_IF_EQUAL, kind, Some(keep), None);
    }
    end(code, keep, drop);
}

/// X is the distance from `base` to the current header, and A is that header's type.
fn ipv6(code: &mut Assembler, base: u32) {
    let [keep, drop, icmp] = [(); 3].map(|()| code.label());
    code.op(X_IMMEDIATE, 40);
    code.op(LOAD_BYTE, base + 6);
    for _ in 0..MOST_EXTENSIONS {
        let [fragment, extension, next] = [(); 3].map(|()| code.label());
        code.test(JUMP_IF_EQUAL, TCP, Some(keep), None);
        code.test(JUMP_IF_EQUAL, ICMPV6, Some(icmp), None);
        code.test(JUMP_IF_EQUAL, FRAGMENT, Some(fragment), None);
        for kind in EXTENSIONS {
            code.test(JUMP_IF_EQUAL, kind, Some(extension), None);
        }
        code.op(RETURN, 0);
        code.place(fragment);
        code.op(LOAD_BYTE_AT_X, base);
        code.op(STORE, 0);
        code.op(X_TO_A, 0);
        code.op(ADD, 8);
        // Always true.
        code.test(JUMP_IF_AT_LEAST, 0, Some(next), Some(next));
        code.place(extension);
        code.op(LOAD_BYTE_AT_X, base);
        code.op(STORE, 0);
        code.op(LOAD_BYTE_AT_X, base + 1);
        code.op(ADD, 1);
        code.op(SHIFT_LEFT, 3);
        code.op(ADD_X, 0);
        code.place(next);
        code.op(A_TO_X, 0);
        code.op(LOAD_STORED, 0);
    }
    code.test(JUMP_IF_EQUAL, TCP, Some(keep), None);
    code.test(JUMP_IF_EQUAL, ICMPV6, Some(icmp), Some(drop));
    code.place(icmp);
    code.op(LOAD_BYTE_AT_X, base);
    code.test(JUMP_IF_AT_LEAST, INFORMATION, Some(drop), Some(keep));
    end(code, keep, drop);
}

fn end(code: &mut Assembler, keep: Label, drop: Label) {
    code.place(drop);
    code.op(RETURN, 0);
    code.place(keep);
    code.op(RETURN, KEEP);
}
