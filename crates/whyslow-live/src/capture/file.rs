//! pcapng and pcap, as far as a recording needs them.

use super::{Format, Recorded};
pub(super) use crate::pcapng::Packet;
use crate::pcapng::{Interface, Statistics, Writer};
use std::io::{self, Write};

/// Packets that begin with an IP header (LINKTYPE_RAW).
const LINK_TYPE: u16 = 101;

/// Writes packets.
pub(super) enum File<W> {
    Pcapng(Writer<W>),
    Pcap(W),
}

impl<W: Write> File<W> {
    /// Writes the file's head.
    pub(super) fn begin(format: Format, snaplen: u32, mut out: W) -> io::Result<Self> {
        match format {
            Format::Pcap => {
                out.write_all(&0xa1b2_3c4d_u32.to_le_bytes())?;
                out.write_all(&[2, 0, 4, 0])?;
                out.write_all(&[0; 8])?;
                out.write_all(&snaplen.to_le_bytes())?;
                out.write_all(&u32::from(LINK_TYPE).to_le_bytes())?;
                Ok(Self::Pcap(out))
            }
            Format::Pcapng => {
                let mut writer = Writer::begin(out, "probe")?;
                writer.interface(Interface { name: None, link_type: LINK_TYPE, snaplen })?;
                Ok(Self::Pcapng(writer))
            }
        }
    }

    pub(super) fn packet(&mut self, packet: Packet<'_>) -> io::Result<()> {
        match self {
            Self::Pcap(out) => {
                let (seconds, nanos) = ((packet.time / 1_000_000_000) as u32, (packet.time % 1_000_000_000) as u32);
                for figure in [seconds, nanos, packet.bytes.len() as u32, packet.length] {
                    out.write_all(&figure.to_le_bytes())?;
                }
                out.write_all(packet.bytes)
            }
            Self::Pcapng(writer) => writer.packet(0, packet, &[]),
        }
    }

    /// Writes the file's end.
    pub(super) fn end(self, recorded: Recorded) -> io::Result<()> {
        match self {
            Self::Pcap(mut out) => out.flush(),
            Self::Pcapng(mut writer) => {
                let received = Some(recorded.packets + recorded.dropped);
                let dropped_by_interface = Some(recorded.dropped);
                writer
                    .statistics(0, Statistics { time: 0, received, dropped_by_interface, dropped_by_system: None })?;
                writer.flush()
            }
        }
    }
}
