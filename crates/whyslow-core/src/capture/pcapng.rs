//! pcapng: sections of self-describing blocks (draft-ietf-opsawg-pcapng).
//!
//! Supports sections in either byte order, any number of interfaces, all three kinds of packet
//! block, name resolution, interface statistics, and the key logs among decryption secrets. Skips
//! all other blocks: custom, journal and sysdig's event blocks get a frame number, as in Wireshark,
//! and are counted; other secrets are skipped without notice; unknown blocks are counted. A
//! section's declared length is not used.
//!
//! Every block has its length at both ends; a block with two different lengths is damaged. Where
//! Wireshark stops at a damaged block, this reader searches for the next complete one and continues
//! numbering.

mod block;
mod kind;
mod time;

use super::bytes::Order;
use super::bytes::section_order;
use super::ledger::{CaptureLedger, CapturedRecord};
use super::pcap::longest_packet;
use super::records::{Progress, Records};
use super::{CaptureError, LinkType, Sink, Summary};
use time::Resolution;

/// Bytes of type and length before a block's body.
const HEAD: usize = 8;
/// Bytes of the second length after it.
const TAIL: usize = 4;
/// Bytes of a section header that contain the byte order; the shortest block has as many.
const SECTION_HEAD: usize = 12;
/// Blocks are shorter than this, except for packets of link types without a limit.
const LONGEST: usize = 16 << 20;
/// Every link type's longest packet has at least this length.
const LONGEST_USUAL: u32 = 262_144;
/// Longer blocks are not accepted during the search for a complete block.
const LONGEST_CANDIDATE: usize = 1 << 20;
/// Maximum number of interfaces of a section.
const MAX_INTERFACES: usize = 1 << 16;

/// An interface, from its description block.
#[derive(Debug)]
struct Interface {
    link: LinkType,
    /// Snapshot length; 0 means unlimited.
    snaplen: u32,
    resolution: Resolution,
    /// Dropped packets in its latest statistics.
    dropped: u64,
    /// Time of its previous packet, ns.
    previous: Option<i64>,
}

/// Reads the blocks of a pcapng file.
#[derive(Debug)]
pub(super) struct PcapNgReader {
    ledger: CaptureLedger,
    /// Offset of the next byte in the file.
    offset: u64,
    /// Whether the first section header was read.
    begun: bool,
    /// Byte order of the current section.
    order: Order,
    /// Interfaces of the current section.
    interfaces: Vec<Interface>,
    /// Dropped packets as counted by packet blocks, and by the interface statistics of ended
    /// sections.
    dropped_between: u64,
    dropped_by_interfaces: u64,
    /// Offset of a damaged block, until a complete one is found.
    lost: Option<u64>,
}

impl Default for PcapNgReader {
    fn default() -> Self {
        Self {
            ledger: CaptureLedger::default(),
            offset: 0,
            begun: false,
            order: Order::Little,
            interfaces: Vec::new(),
            dropped_between: 0,
            dropped_by_interfaces: 0,
            lost: None,
        }
    }
}

/// Result of examining the start of some bytes.
enum BlockAt {
    /// A complete block with this number of bytes, padding included.
    Block(usize),
    /// Not a block, with the reason.
    Damaged(String),
    /// This many bytes are needed to decide.
    Need(usize),
}

impl PcapNgReader {
    /// The summary of the capture.
    pub(super) fn summary(mut self) -> Result<Summary, CaptureError> {
        self.end_section();
        let (between, interfaces) = (self.dropped_between, self.dropped_by_interfaces);
        // Both count the same losses.
        let dropped = between.max(interfaces);
        if dropped > 0 {
            self.ledger.note_many("dropped-by-capture", dropped, || {
                format!(
                    "the capturing machine says that it dropped packets: {between} by the packet blocks, {interfaces} by \
                     the interface statistics"
                )
            });
        }
        Ok(self.ledger.summary("pcapng", self.lost))
    }

    fn end_section(&mut self) {
        for interface in self.interfaces.drain(..) {
            self.dropped_by_interfaces = self.dropped_by_interfaces.saturating_add(interface.dropped);
        }
    }

    /// The inner loop: passes on the packets of complete enhanced packet blocks in `bytes` that
    /// need no closer examination, up to the first other block. Returns the number of consumed
    /// bytes.
    fn packets<const BIG: bool, S: Sink>(&mut self, bytes: &[u8], sink: &mut S) -> usize {
        const FIXED: usize = HEAD + 20;
        let order = if BIG { Order::Big } else { Order::Little };
        let mut rest = bytes;
        while let Some((fixed, _)) = rest.split_first_chunk::<FIXED>() {
            let (fields, _) = fixed.as_chunks::<4>();
            let [block_type, length, interface, high, low, captured, original] =
                [0, 1, 2, 3, 4, 5, 6].map(|at| fields.get(at).map_or(0, |field| order.u32(*field)));
            // Without options. Due to the padding, lengths that are not multiples of four need
            // another check.
            let padded = captured.wrapping_add(3) & !3;
            let usual = block_type == kind::ENHANCED_PACKET
                && captured <= LONGEST_USUAL.min(original)
                && length == padded + (FIXED + TAIL) as u32;
            let Some((block, after)) = rest.split_at_checked(length as usize).filter(|_| usual) else { break };
            let repeated = block.last_chunk().map(|tail| order.u32(*tail));
            let Some(interface) = self.interfaces.get_mut(interface as usize) else { break };
            let time = interface.resolution.nanos(u64::from(high) << 32 | u64::from(low));
            let steady = interface.previous.is_some_and(|previous| !CaptureLedger::is_step(previous, time));
            if !steady || repeated != Some(length) {
                break;
            }
            interface.previous = Some(time);
            let (link, snaplen) = (interface.link, interface.snaplen);
            let data = block.get(FIXED..FIXED + captured as usize).unwrap_or_default();
            self.ledger.time(time);
            self.ledger.packet(sink, time, CapturedRecord { link, data, original_len: original, snaplen });
            rest = after;
        }
        bytes.len() - rest.len()
    }

    /// Examines the start of `bytes`. `longest`: longest plausible block.
    fn find(&self, bytes: &[u8], longest: usize) -> BlockAt {
        // The shortest block has this length, and the result must not depend on the number of bytes
        // in this push.
        let Some(&head) = bytes.first_chunk::<SECTION_HEAD>() else { return BlockAt::Need(SECTION_HEAD) };
        let [t0, t1, t2, t3, l0, l1, l2, l3, ..] = head;
        let mut order = self.order;
        let block_type = order.u32([t0, t1, t2, t3]);
        if block_type == kind::SECTION_HEADER {
            match section_order(bytes) {
                Some(declared) => order = declared,
                None => return BlockAt::Damaged("a section header has no byte-order magic number".to_owned()),
            }
        }
        let claimed = order.u32([l0, l1, l2, l3]);
        // Accepts writers that do not include the padding in the length, like Wireshark.
        let length = (claimed as usize).saturating_add(3) & !3;
        if length < HEAD + TAIL {
            return BlockAt::Damaged(format!("a block claims a length of {claimed} bytes"));
        }
        if length > longest && length > self.longest_packet_block(block_type, bytes) {
            return BlockAt::Damaged(format!(
                "a block claims a length of {claimed} bytes, more than any reader accepts"
            ));
        }
        let Some(block) = bytes.get(..length) else { return BlockAt::Need(length) };
        let repeated = order.u32_at(block, length - TAIL).unwrap_or_default();
        if (repeated as usize).saturating_add(3) & !3 != length {
            return BlockAt::Damaged(format!("a block says {claimed} bytes at its start and {repeated} at its end"));
        }
        BlockAt::Block(length)
    }

    /// The longest plausible packet block of its interface, with room for options; 0 for other
    /// blocks.
    fn longest_packet_block(&self, block_type: u32, bytes: &[u8]) -> usize {
        if block_type != kind::ENHANCED_PACKET {
            return 0;
        }
        let index = self.order.u32_at(bytes, HEAD).and_then(|index| usize::try_from(index).ok());
        let interface = index.and_then(|index| self.interfaces.get(index));
        interface.map_or(0, |interface| longest_packet(interface.link) as usize + (1 << 16))
    }

    /// Searches for the next complete block of a known type in `bytes`. Returns the number of bytes
    /// before it, or of those that cannot contain one.
    fn search(&self, bytes: &[u8], end: bool) -> (usize, Option<usize>) {
        let mut at = 0;
        while let Some(rest) = bytes.get(at..)
            && rest.len() >= SECTION_HEAD
        {
            let known = self.order.u32_at(rest, 0).is_some_and(kind::is_known);
            match if known { self.find(rest, LONGEST_CANDIDATE) } else { BlockAt::Damaged(String::new()) } {
                BlockAt::Block(_) => return (at, None),
                BlockAt::Need(need) if !end => return (at, Some(need)),
                _ => at += 1,
            }
        }
        (if end { bytes.len() } else { at }, Some(SECTION_HEAD))
    }

    fn note_torn(&mut self, length: usize, need: usize) {
        let offset = self.offset;
        self.ledger.note("torn-record", || {
            format!("the capture ends inside the block at byte {offset}: {length} of {need} bytes are there")
        });
    }

    fn note_damaged(&mut self, why: &str) {
        let (offset, frame) = (self.offset, self.ledger.next_frame());
        self.ledger.note("damaged-record", || {
            format!(
                "{why}, at byte {offset}: frames are numbered on from {frame} with the next whole block, where other \
                 tools stop"
            )
        });
    }
}

impl Records for PcapNgReader {
    fn read<S: Sink>(&mut self, bytes: &[u8], end: bool, sink: &mut S) -> Result<Progress, CaptureError> {
        let mut rest = bytes;
        let need = loop {
            if self.lost.is_some() {
                let (skipped, need) = self.search(rest, end);
                self.ledger.skip(skipped);
                self.offset += skipped as u64;
                rest = rest.get(skipped..).unwrap_or_default();
                if let Some(need) = need {
                    break need;
                }
                self.lost = None;
            }
            let given = match self.order {
                Order::Little => self.packets::<false, S>(rest, sink),
                Order::Big => self.packets::<true, S>(rest, sink),
            };
            self.offset += given as u64;
            rest = rest.get(given..).unwrap_or_default();
            let why = match self.find(rest, LONGEST) {
                BlockAt::Block(length) => {
                    let (block, after) = rest.split_at(length);
                    self.block(block, sink);
                    self.offset += length as u64;
                    rest = after;
                    continue;
                }
                BlockAt::Need(need) if !end || rest.is_empty() => break need,
                BlockAt::Need(need) => {
                    // Truncated, unless complete blocks follow: then the length was wrong.
                    if self.search(rest.get(1..).unwrap_or_default(), true).1.is_some() {
                        self.note_torn(rest.len(), need);
                        self.offset += rest.len() as u64;
                        rest = &[];
                        break need;
                    }
                    format!("a block claims {need} bytes, among which other blocks stand")
                }
                BlockAt::Damaged(why) => why,
            };
            if !self.begun
                && let Some(order) = section_order(rest)
            {
                // The first section's header is damaged, but its byte order is known.
                self.order = order;
            }
            self.note_damaged(&why);
            self.lost = Some(self.offset);
            self.ledger.skip(1);
            self.offset += 1;
            rest = rest.get(1..).unwrap_or_default();
        };
        if end && !self.begun && self.ledger.next_frame() == 1 {
            let message = match self.lost {
                None => "the capture ends inside its first section header: no packet is in it",
                Some(_) => "the capture's first section header is damaged, and no whole block follows it",
            };
            return Err(CaptureError { offset: self.offset, message: message.to_owned() });
        }
        Ok(Progress { consumed: bytes.len() - rest.len(), need })
    }
}

#[cfg(test)]
mod tests;
