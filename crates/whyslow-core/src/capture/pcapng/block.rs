//! Reads the blocks.

use super::kind;
use super::{HEAD, Interface, MAX_INTERFACES, PcapNgReader, Resolution, TAIL};
use crate::capture::bytes::{Order, section_order};
use crate::capture::ledger::CapturedRecord;
use crate::capture::pcap::longest_packet;
use crate::capture::{LinkType, Sink};
use std::net::IpAddr;

/// Option codes: those of all blocks, then by block.
mod option {
    pub(super) const END: u16 = 0;
    pub(super) const IF_TSRESOL: u16 = 9;
    pub(super) const IF_TSOFFSET: u16 = 14;
    pub(super) const PACKET_DROPCOUNT: u16 = 4;
    pub(super) const ISB_IFDROP: u16 = 5;
    pub(super) const ISB_OSDROP: u16 = 7;
}

/// An error in a block whose length is valid: slug and detail, to which the position is added.
type Wrong = (&'static str, String);

impl PcapNgReader {
    /// Reads a complete block, its head and tail included.
    pub(super) fn block<S: Sink>(&mut self, block: &[u8], sink: &mut S) {
        let block_type = self.order.u32_at(block, 0).unwrap_or_default();
        let body = block.get(HEAD..block.len() - TAIL).unwrap_or_default();
        let outcome = match block_type {
            kind::ENHANCED_PACKET => self.enhanced_packet(body, sink),
            kind::SECTION_HEADER => self.section(block),
            kind::INTERFACE => self.interface(body),
            kind::OBSOLETE_PACKET => self.obsolete_packet(body, sink),
            kind::SIMPLE_PACKET => self.simple_packet(body, sink),
            kind::NAME_RESOLUTION => names(self.order, body, sink),
            kind::STATISTICS => self.statistics(body),
            kind::SECRETS => secrets(self.order, body, self.ledger.next_frame(), sink),
            kind::JOURNAL | kind::CUSTOM | kind::CUSTOM_NO_COPY => self.not_a_packet(),
            event if kind::SYSDIG_EVENTS.contains(&event) => self.not_a_packet(),
            other => Err(("unknown-block", format!("a block of the unknown type {other:#x} was passed over"))),
        };
        if let Err((slug, detail)) = outcome {
            let offset = self.offset;
            self.ledger.note(slug, || format!("{detail}; first at byte {offset}"));
        }
    }

    fn not_a_packet(&mut self) -> Result<(), Wrong> {
        self.ledger.frame_without_packet();
        let detail = "a custom, journal or system call block has a frame number (as in Wireshark) but holds no packet";
        Err(("not-a-packet", detail.to_owned()))
    }

    fn section(&mut self, block: &[u8]) -> Result<(), Wrong> {
        self.end_section();
        self.begun = true;
        self.order = section_order(block).unwrap_or(self.order);
        let version = (self.order.u16_at(block, 12), self.order.u16_at(block, 14));
        match version {
            // Some writers use 1.2 with the same meaning.
            (Some(1), Some(0 | 2)) => Ok(()),
            (Some(major), Some(minor)) => {
                Err(("odd-header", format!("a section says version {major}.{minor}: read as if it were 1.0")))
            }
            _ => Err(("odd-header", "a section header is too short to be one".to_owned())),
        }
    }

    fn interface(&mut self, body: &[u8]) -> Result<(), Wrong> {
        let order = self.order;
        let (Some(link), Some(snaplen)) = (order.u16_at(body, 0), order.u32_at(body, 4)) else {
            return Err(damaged("an interface description is cut short"));
        };
        if self.interfaces.len() >= MAX_INTERFACES {
            return Err(damaged(&format!("a section declares more than {MAX_INTERFACES} interfaces")));
        }
        let link = LinkType(link);
        let mut resolution = Resolution::default();
        let outcome = options(order, body.get(8..).unwrap_or_default(), |code, value| match (code, value) {
            (option::IF_TSRESOL, &[unit]) => resolution.set_unit(unit),
            (option::IF_TSOFFSET, value) => {
                if let Some(seconds) = value.first_chunk() {
                    resolution.set_offset(order.u64(*seconds) as i64);
                }
            }
            _ => {}
        });
        self.ledger.link(link);
        self.interfaces.push(Interface { link, snaplen, resolution, dropped: 0, previous: None });
        outcome
    }

    fn enhanced_packet<S: Sink>(&mut self, body: &[u8], sink: &mut S) -> Result<(), Wrong> {
        let order = self.order;
        let Some((fixed, rest)) = body.split_first_chunk::<20>() else {
            return Err(damaged("an enhanced packet block is cut short"));
        };
        let [i0, i1, i2, i3, ..] = *fixed;
        let packet = TimedPacket::new(order, fixed, order.u32([i0, i1, i2, i3]));
        self.timed_packet(packet, rest, sink)
    }

    fn obsolete_packet<S: Sink>(&mut self, body: &[u8], sink: &mut S) -> Result<(), Wrong> {
        let order = self.order;
        let Some((fixed, rest)) = body.split_first_chunk::<20>() else {
            return Err(damaged("a packet block is cut short"));
        };
        let [i0, i1, d0, d1, ..] = *fixed;
        let packet = TimedPacket::new(order, fixed, u32::from(order.u16([i0, i1])));
        // 65,535 means that the number is unknown.
        let dropped = order.u16([d0, d1]);
        if dropped != u16::MAX {
            self.dropped_between = self.dropped_between.saturating_add(u64::from(dropped));
        }
        self.timed_packet(packet, rest, sink)
    }

    #[inline(always)]
    fn timed_packet<S: Sink>(&mut self, packet: TimedPacket, rest: &[u8], sink: &mut S) -> Result<(), Wrong> {
        let TimedPacket { interface, ticks, captured, original } = packet;
        let declared = self.interfaces.len();
        let Some(interface) = usize::try_from(interface).ok().and_then(|index| self.interfaces.get_mut(index)) else {
            return Err((
                "undeclared-interface",
                format!("a packet names interface {interface}, but its section declares {declared}: not read"),
            ));
        };
        let Some((data, after)) = rest.split_at_checked(captured as usize) else {
            return Err(damaged(&format!(
                "a packet claims {captured} bytes in a block that has room for {}",
                rest.len()
            )));
        };
        if captured > longest_packet(interface.link) {
            return Err(damaged(&format!("a packet claims {captured} bytes, more than any link of its type carries")));
        }
        let time = interface.resolution.nanos(ticks);
        let previous = interface.previous.replace(time).unwrap_or(time);
        let (link, snaplen) = (interface.link, interface.snaplen);
        self.ledger.compare_times(previous, time);
        if captured > original {
            let (offset, frame) = (self.offset, self.ledger.next_frame());
            self.ledger.note("odd-length", || {
                format!("frame {frame} at byte {offset} claims {captured} captured bytes of a packet of {original}")
            });
        }
        self.ledger.time(time);
        let original_len = original.max(captured);
        self.ledger.packet(sink, time, CapturedRecord { link, data, original_len, snaplen });
        // Options follow after the padding.
        let padding = data.len().wrapping_neg() & 3;
        let order = self.order;
        options(order, after.get(padding..).unwrap_or_default(), |code, value| {
            if code == option::PACKET_DROPCOUNT
                && let Some(dropped) = value.first_chunk()
            {
                self.dropped_between = self.dropped_between.saturating_add(order.u64(*dropped));
            }
        })
    }

    fn simple_packet<S: Sink>(&mut self, body: &[u8], sink: &mut S) -> Result<(), Wrong> {
        let Some((original, rest)) = body.split_first_chunk::<4>() else {
            return Err(damaged("a simple packet block is cut short"));
        };
        let original = self.order.u32(*original);
        let Some(interface) = self.interfaces.first() else {
            return Err((
                "undeclared-interface",
                "a simple packet block comes before any interface is declared: not read".to_owned(),
            ));
        };
        // The captured length is not stored: it follows from the snapshot length.
        let captured = if interface.snaplen == 0 { original } else { original.min(interface.snaplen) };
        let Some(data) = rest.get(..captured as usize) else {
            return Err(damaged(&format!(
                "a packet claims {captured} bytes in a block that has room for {}",
                rest.len()
            )));
        };
        if captured > longest_packet(interface.link) {
            return Err(damaged(&format!("a packet claims {captured} bytes, more than any link of its type carries")));
        }
        let (link, snaplen) = (interface.link, interface.snaplen);
        self.ledger.timeless_packet(sink, CapturedRecord { link, data, original_len: original, snaplen });
        Ok(())
    }

    fn statistics(&mut self, body: &[u8]) -> Result<(), Wrong> {
        let order = self.order;
        let Some(index) = order.u32_at(body, 0) else {
            return Err(damaged("an interface statistics block is cut short"));
        };
        let Some(interface) = usize::try_from(index).ok().and_then(|index| self.interfaces.get_mut(index)) else {
            return Err(("undeclared-interface", format!("statistics name interface {index}, which is not declared")));
        };
        // The interface and the operating system drop at different points.
        let (mut by_interface, mut by_system) = (0, 0);
        let outcome = options(order, body.get(12..).unwrap_or_default(), |code, value| {
            let Some(value) = value.first_chunk() else { return };
            match code {
                option::ISB_IFDROP => by_interface = order.u64(*value),
                option::ISB_OSDROP => by_system = order.u64(*value),
                _ => {}
            }
        });
        // Counted from the start of the capture, so the latest block has the total.
        interface.dropped = interface.dropped.max(by_interface.saturating_add(by_system));
        outcome
    }
}

/// The fixed fields of the two kinds of packet block with a time.
struct TimedPacket {
    interface: u32,
    ticks: u64,
    captured: u32,
    original: u32,
}

impl TimedPacket {
    #[inline(always)]
    fn new(order: Order, fixed: &[u8; 20], interface: u32) -> Self {
        let [_, _, _, _, h0, h1, h2, h3, l0, l1, l2, l3, c0, c1, c2, c3, o0, o1, o2, o3] = *fixed;
        // The high half comes first in both byte orders.
        let ticks = u64::from(order.u32([h0, h1, h2, h3])) << 32 | u64::from(order.u32([l0, l1, l2, l3]));
        Self { interface, ticks, captured: order.u32([c0, c1, c2, c3]), original: order.u32([o0, o1, o2, o3]) }
    }
}

fn damaged(what: &str) -> Wrong {
    ("damaged-record", what.to_owned())
}

/// Iterates over the options at the end of a block: code, length, value, padding.
#[inline]
fn options(order: Order, mut bytes: &[u8], mut take: impl FnMut(u16, &[u8])) -> Result<(), Wrong> {
    while let Some((head, rest)) = bytes.split_first_chunk::<4>() {
        let [c0, c1, l0, l1] = *head;
        let (code, length) = (order.u16([c0, c1]), usize::from(order.u16([l0, l1])));
        if code == option::END {
            return Ok(());
        }
        let Some((value, after)) = rest.split_at_checked(length) else {
            return Err((
                "damaged-options",
                format!("option {code} of a block claims {length} bytes where {} are left", rest.len()),
            ));
        };
        take(code, value);
        bytes = after.get(length.wrapping_neg() & 3..).unwrap_or_default();
    }
    Ok(())
}

/// Reads a decryption secrets block (draft-ietf-opsawg-pcapng section 4.7): its type and length,
/// and the secrets. Skips those of other protocols.
fn secrets<S: Sink>(order: Order, body: &[u8], next_frame: u64, sink: &mut S) -> Result<(), Wrong> {
    /// `TLSK`: the lines of a key log.
    const TLS_KEY_LOG: u32 = 0x544c_534b;
    let (Some(kind), Some(length)) = (order.u32_at(body, 0), order.u32_at(body, 4)) else {
        return Err(damaged("a decryption secrets block is cut short"));
    };
    let lines = usize::try_from(length).ok().and_then(|length| body.get(8..)?.get(..length));
    let Some(lines) = lines else {
        return Err(damaged(&format!("a decryption secrets block claims {length} bytes where fewer are left")));
    };
    if kind == TLS_KEY_LOG {
        sink.key_log(lines, next_frame);
    }
    Ok(())
}

/// Reads a name resolution block: records of type, length and value, padded; each has an address
/// and its names.
fn names<S: Sink>(order: Order, mut bytes: &[u8], sink: &mut S) -> Result<(), Wrong> {
    const END: u16 = 0;
    const IPV4: u16 = 1;
    const IPV6: u16 = 2;
    while let Some((head, rest)) = bytes.split_first_chunk::<4>() {
        let [t0, t1, l0, l1] = *head;
        let (record, length) = (order.u16([t0, t1]), usize::from(order.u16([l0, l1])));
        let Some((value, after)) = rest.split_at_checked(length) else {
            return Err(damaged(&format!("a name record claims {length} bytes where {} are left", rest.len())));
        };
        let named = match record {
            END => return Ok(()),
            IPV4 => value.split_first_chunk::<4>().map(|(address, names)| (IpAddr::from(*address), names)),
            IPV6 => value.split_first_chunk::<16>().map(|(address, names)| (IpAddr::from(*address), names)),
            // Names of hardware addresses, and future record types.
            _ => Some((IpAddr::from([0; 4]), &[][..])),
        };
        let Some((address, names)) = named else {
            return Err(damaged("a name record is too short for its address"));
        };
        for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
            sink.host_name(address, &String::from_utf8_lossy(name), false);
        }
        bytes = after.get(length.wrapping_neg() & 3..).unwrap_or_default();
    }
    Ok(())
}
