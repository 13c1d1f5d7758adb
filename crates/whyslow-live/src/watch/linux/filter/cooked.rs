//! Moves a program from LINKTYPE_LINUX_SLL to a socket whose packets begin with the network layer.

use crate::bpf::{Instruction, ancillary};

/// Bytes of the header that the socket's packets lack.
const HEADER: u32 = 16;

// Parts of an instruction's code (linux/bpf_common.h).
const CLASS: u16 = 0x07;
const LD: u16 = 0x00;
const LDX: u16 = 0x01;
const MODE: u16 = 0xe0;
const ABS: u16 = 0x20;
const IND: u16 = 0x40;
const MSH: u16 = 0xa0;
const SIZE: u16 = 0x18;
const HALF: u16 = 0x08;

/// What the kernel knows in place of a half word of the header: packet type, hardware type,
/// protocol.
fn known(offset: u32) -> Option<u32> {
    match offset {
        0 => Some(ancillary(libc::SKF_AD_PKTTYPE)),
        2 => Some(ancillary(libc::SKF_AD_HATYPE)),
        14 => Some(ancillary(libc::SKF_AD_PROTOCOL)),
        _ => None,
    }
}

/// The program, or why it has no counterpart.
pub(super) fn from_linux_sll(program: &[Instruction]) -> Result<Vec<Instruction>, String> {
    program.iter().map(instruction).collect()
}

fn instruction(old: &Instruction) -> Result<Instruction, String> {
    let (code, value) = (old.code, old.value);
    let reads = matches!((code & CLASS, code & MODE), (LD, ABS | IND) | (LDX, MSH));
    // The kernel's additional data on a packet has the highest addresses.
    if !reads || value.cast_signed() < 0 {
        return Ok(*old);
    }
    let moved = match value.checked_sub(HEADER) {
        Some(moved) => Some(moved),
        None if code & MODE == ABS && code & SIZE == HALF => known(value),
        None => None,
    };
    let moved = moved.ok_or_else(|| {
        "it asks for a part of the link layer's header that is not there on several interfaces".to_owned()
    })?;
    Ok(Instruction { value: moved, ..*old })
}
