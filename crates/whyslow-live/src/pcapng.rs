//! Writes pcapng (draft-ietf-opsawg-pcapng): interfaces with nanoseconds, packets with comments,
//! statistics with drops.
//!
//! The crates that write it leave out comments or the resolution of times, or are not finished.

use std::io::{self, Write};

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const STATISTICS: u32 = 5;
const PACKET: u32 = 6;

/// Options: of every block, and of its own kind.
mod code {
    pub(super) const END: u16 = 0;
    pub(super) const COMMENT: u16 = 1;
    pub(super) const SHB_USERAPPL: u16 = 4;
    pub(super) const IF_NAME: u16 = 2;
    pub(super) const IF_TSRESOL: u16 = 9;
    pub(super) const ISB_IFRECV: u16 = 4;
    pub(super) const ISB_IFDROP: u16 = 5;
    pub(super) const ISB_OSDROP: u16 = 7;
}

/// A packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet<'a> {
    /// Nanoseconds since the epoch.
    pub time: u64,
    /// How long it was.
    pub length: u32,
    /// The kept part of it.
    pub bytes: &'a [u8],
}

/// The source of packets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Interface<'a> {
    pub name: Option<&'a str>,
    /// LINKTYPE_ of its packets.
    pub link_type: u16,
    /// Maximum bytes that are kept of a packet; 0 means unlimited.
    pub snaplen: u32,
}

/// Packets of an interface since the file began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Statistics {
    /// When it was counted, nanoseconds since the epoch.
    pub time: u64,
    pub received: Option<u64>,
    pub dropped_by_interface: Option<u64>,
    pub dropped_by_system: Option<u64>,
}

/// Writes a file of one section.
#[derive(Debug)]
pub(crate) struct Writer<W> {
    out: W,
    written: u64,
    interfaces: u32,
    body: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Begins a file; `part` is the part of whyslow that writes it.
    pub(crate) fn begin(out: W, part: &str) -> io::Result<Self> {
        let mut writer = Self { out, written: 0, interfaces: 0, body: Vec::new() };
        let mut body = 0x1a2b_3c4d_u32.to_le_bytes().to_vec();
        body.extend([1, 0, 0, 0]);
        // The section's length is not known.
        body.extend([0xff; 8]);
        let name = format!("whyslow {} {part}", env!("CARGO_PKG_VERSION"));
        option(&mut body, code::SHB_USERAPPL, name.as_bytes());
        option(&mut body, code::END, &[]);
        writer.block(SECTION, body)?;
        Ok(writer)
    }

    /// Bytes so far.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Declares an interface. Returns its number in this file.
    pub(crate) fn interface(&mut self, interface: Interface<'_>) -> io::Result<u32> {
        let mut body = self.body();
        body.extend(interface.link_type.to_le_bytes());
        body.extend([0, 0]);
        body.extend(interface.snaplen.to_le_bytes());
        if let Some(name) = interface.name {
            option(&mut body, code::IF_NAME, name.as_bytes());
        }
        // Nanoseconds.
        option(&mut body, code::IF_TSRESOL, &[9]);
        option(&mut body, code::END, &[]);
        self.block(INTERFACE, body)?;
        self.interfaces += 1;
        Ok(self.interfaces - 1)
    }

    /// Writes a packet of a declared interface.
    pub(crate) fn packet(&mut self, interface: u32, packet: Packet<'_>, comments: &[String]) -> io::Result<()> {
        let mut body = self.body();
        body.extend(interface.to_le_bytes());
        body.extend(high_and_low(packet.time));
        body.extend((packet.bytes.len() as u32).to_le_bytes());
        body.extend(packet.length.to_le_bytes());
        body.extend(packet.bytes);
        body.resize(body.len().next_multiple_of(4), 0);
        for comment in comments {
            option(&mut body, code::COMMENT, comment.as_bytes());
        }
        if !comments.is_empty() {
            option(&mut body, code::END, &[]);
        }
        self.block(PACKET, body)
    }

    /// Writes what an interface counted.
    pub(crate) fn statistics(&mut self, interface: u32, statistics: Statistics) -> io::Result<()> {
        let mut body = self.body();
        body.extend(interface.to_le_bytes());
        body.extend(high_and_low(statistics.time));
        let figures = [
            (code::ISB_IFRECV, statistics.received),
            (code::ISB_IFDROP, statistics.dropped_by_interface),
            (code::ISB_OSDROP, statistics.dropped_by_system),
        ];
        for (code, figure) in figures {
            if let Some(figure) = figure {
                option(&mut body, code, &figure.to_le_bytes());
            }
        }
        option(&mut body, code::END, &[]);
        self.block(STATISTICS, body)
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Room for a block; it is used again.
    fn body(&mut self) -> Vec<u8> {
        let mut body = std::mem::take(&mut self.body);
        body.clear();
        body
    }

    fn block(&mut self, kind: u32, body: Vec<u8>) -> io::Result<()> {
        let length = body.len() as u32 + 12;
        self.out.write_all(&kind.to_le_bytes())?;
        self.out.write_all(&length.to_le_bytes())?;
        self.out.write_all(&body)?;
        self.out.write_all(&length.to_le_bytes())?;
        self.written += u64::from(length);
        self.body = body;
        Ok(())
    }
}

/// A time, or a 64-bit figure, as two words.
fn high_and_low(figure: u64) -> [u8; 8] {
    (figure.rotate_left(32)).to_le_bytes()
}

/// Adds an option. A value that is too long is cut, at the end of a character.
fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    let mut length = value.len().min(usize::from(u16::MAX));
    while length < value.len() && length > 0 && (value[length] & 0xc0) == 0x80 {
        length -= 1;
    }
    body.extend(code.to_le_bytes());
    body.extend((length as u16).to_le_bytes());
    body.extend(&value[..length]);
    body.resize(body.len().next_multiple_of(4), 0);
}
