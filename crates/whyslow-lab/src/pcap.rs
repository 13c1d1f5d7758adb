//! Writes capture files: classic pcap with nanoseconds (magic 0xa1b23c4d), Ethernet.

use std::io::{self, Write};

/// Link type of Ethernet (LINKTYPE_ETHERNET).
const ETHERNET: u32 = 1;
const NANOSECONDS: u32 = 0xa1b2_3c4d;

/// A capture file being written. Its integers are little-endian, on any machine.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    snaplen: u32,
}

impl<W: Write> Writer<W> {
    /// Writes the file header. `snaplen`: most bytes kept of a packet.
    pub fn new(mut out: W, snaplen: u32) -> io::Result<Self> {
        let mut header = [0; 24];
        header[0..4].copy_from_slice(&NANOSECONDS.to_le_bytes());
        header[4..6].copy_from_slice(&2_u16.to_le_bytes());
        header[6..8].copy_from_slice(&4_u16.to_le_bytes());
        header[16..20].copy_from_slice(&snaplen.to_le_bytes());
        header[20..24].copy_from_slice(&ETHERNET.to_le_bytes());
        out.write_all(&header)?;
        Ok(Self { out, snaplen })
    }

    /// Writes a packet: as many bytes as there are, at most the file's snaplen; `original` is its
    /// length on the wire.
    pub fn packet(&mut self, realtime_ns: u64, bytes: &[u8], original: u32) -> io::Result<()> {
        let bytes = bytes.get(..self.snaplen as usize).unwrap_or(bytes);
        let mut header = [0; 16];
        // Seconds fit until 2106.
        header[0..4].copy_from_slice(&((realtime_ns / 1_000_000_000) as u32).to_le_bytes());
        header[4..8].copy_from_slice(&((realtime_ns % 1_000_000_000) as u32).to_le_bytes());
        header[8..12].copy_from_slice(&(bytes.len() as u32).to_le_bytes());
        header[12..16].copy_from_slice(&original.to_le_bytes());
        self.out.write_all(&header)?;
        self.out.write_all(bytes)
    }

    /// Flushes the written records.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Flushes and gives the file back.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

#[cfg(test)]
mod tests;
