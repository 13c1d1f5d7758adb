//! pcapng and pcap, as far as a recording needs them.

use super::Recorded;
use std::io::{self, Write};

/// Packets that begin with an IP header (LINKTYPE_RAW).
const LINK_TYPE: u16 = 101;

/// How packets are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// draft-ietf-opsawg-pcapng.
    Pcapng,
    /// draft-ietf-opsawg-pcap, with nanoseconds.
    Pcap,
}

/// A packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet<'a> {
    /// Nanoseconds since the epoch.
    pub time: u64,
    /// How long it was.
    pub length: u32,
    /// As much of it as is kept.
    pub bytes: &'a [u8],
}

/// Writes packets.
pub(super) struct File<W> {
    format: Format,
    out: W,
}

impl<W: Write> File<W> {
    /// Writes what comes before them.
    pub(super) fn begin(format: Format, snaplen: u32, mut out: W) -> io::Result<Self> {
        match format {
            Format::Pcap => {
                out.write_all(&0xa1b2_3c4d_u32.to_le_bytes())?;
                out.write_all(&[2, 0, 4, 0])?;
                out.write_all(&[0; 8])?;
                out.write_all(&snaplen.to_le_bytes())?;
                out.write_all(&u32::from(LINK_TYPE).to_le_bytes())?;
            }
            Format::Pcapng => {
                let mut section = 0x1a2b_3c4d_u32.to_le_bytes().to_vec();
                section.extend([1, 0, 0, 0]);
                section.extend([0xff; 8]);
                option(&mut section, 4, concat!("whyslow ", env!("CARGO_PKG_VERSION"), " probe").as_bytes());
                option(&mut section, 0, &[]);
                block(&mut out, 0x0a0d_0d0a, &section)?;
                let mut interface = LINK_TYPE.to_le_bytes().to_vec();
                interface.extend([0, 0]);
                interface.extend(snaplen.to_le_bytes());
                // Nanoseconds.
                option(&mut interface, 9, &[9]);
                option(&mut interface, 0, &[]);
                block(&mut out, 1, &interface)?;
            }
        }
        Ok(Self { format, out })
    }

    pub(super) fn packet(&mut self, packet: Packet<'_>) -> io::Result<()> {
        let kept = packet.bytes.len() as u32;
        match self.format {
            Format::Pcap => {
                let (seconds, nanos) = ((packet.time / 1_000_000_000) as u32, (packet.time % 1_000_000_000) as u32);
                for figure in [seconds, nanos, kept, packet.length] {
                    self.out.write_all(&figure.to_le_bytes())?;
                }
                self.out.write_all(packet.bytes)
            }
            Format::Pcapng => {
                let mut body = vec![0; 4];
                body.extend(((packet.time >> 32) as u32).to_le_bytes());
                body.extend((packet.time as u32).to_le_bytes());
                body.extend(kept.to_le_bytes());
                body.extend(packet.length.to_le_bytes());
                body.extend(packet.bytes);
                body.resize(body.len().next_multiple_of(4), 0);
                block(&mut self.out, 6, &body)
            }
        }
    }

    /// Writes what comes after them.
    pub(super) fn end(mut self, recorded: Recorded) -> io::Result<()> {
        if self.format == Format::Pcapng {
            let mut statistics = vec![0; 12];
            option(&mut statistics, 4, &(recorded.packets + recorded.dropped).to_le_bytes());
            option(&mut statistics, 5, &recorded.dropped.to_le_bytes());
            option(&mut statistics, 0, &[]);
            block(&mut self.out, 5, &statistics)?;
        }
        self.out.flush()
    }
}

fn block(out: &mut impl Write, kind: u32, body: &[u8]) -> io::Result<()> {
    let length = (body.len() as u32 + 12).to_le_bytes();
    out.write_all(&kind.to_le_bytes())?;
    out.write_all(&length)?;
    out.write_all(body)?;
    out.write_all(&length)
}

fn option(body: &mut Vec<u8>, code: u16, value: &[u8]) {
    body.extend(code.to_le_bytes());
    body.extend((value.len() as u16).to_le_bytes());
    body.extend(value);
    body.resize(body.len().next_multiple_of(4), 0);
}
