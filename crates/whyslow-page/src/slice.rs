//! One connection's packets in a time range as pcapng (draft-ietf-opsawg-pcapng), as they were
//! captured.

use std::collections::BTreeMap;
use std::io::{self, Write};
use whyslow_core::capture::{LinkType, Packet};

/// Nanoseconds, as a power of ten.
const NANOS: u8 = 9;

/// Writes packets as pcapng.
pub struct Slice<W> {
    to: W,
    /// The interface of each link type.
    interfaces: BTreeMap<LinkType, u32>,
    failed: Option<io::Error>,
    /// Packets written.
    pub packets: u64,
}

impl<W: Write> Slice<W> {
    /// Begins a capture.
    pub fn new(mut to: W) -> Self {
        // Byte order, version 1.0, and an unknown length.
        let mut body = 0x1a2b_3c4d_u32.to_le_bytes().to_vec();
        body.extend([1, 0, 0, 0]);
        body.extend((-1_i64).to_le_bytes());
        let failed = block(&mut to, 0x0a0d_0d0a, &body).err();
        Self { to, interfaces: BTreeMap::new(), failed, packets: 0 }
    }

    /// Adds the next packet. Errors are reported at the end.
    pub fn push(&mut self, packet: &Packet<'_>) {
        self.push_with(packet, &[]);
    }

    /// Adds the next packet with comments.
    pub fn push_with(&mut self, packet: &Packet<'_>, comments: &[&str]) {
        if self.failed.is_none() {
            self.failed = self.write(packet, comments).err();
        }
    }

    fn write(&mut self, packet: &Packet<'_>, comments: &[&str]) -> io::Result<()> {
        let next = self.interfaces.len() as u32;
        let interface = match self.interfaces.get(&packet.link) {
            Some(interface) => *interface,
            None => {
                let mut body = packet.link.0.to_le_bytes().to_vec();
                // No snapshot length; option if_tsresol (9), one byte, padded; end of options.
                body.extend([0; 6]);
                body.extend([9, 0, 1, 0, NANOS, 0, 0, 0, 0, 0, 0, 0]);
                block(&mut self.to, 1, &body)?;
                self.interfaces.insert(packet.link, next);
                next
            }
        };
        let time = packet.time.0.max(0) as u64;
        let mut body = interface.to_le_bytes().to_vec();
        body.extend(((time >> 32) as u32).to_le_bytes());
        body.extend((time as u32).to_le_bytes());
        body.extend((packet.data.len() as u32).to_le_bytes());
        body.extend(packet.original_len.to_le_bytes());
        body.extend(packet.data);
        if !comments.is_empty() {
            body.resize(body.len().next_multiple_of(4), 0);
            comments.iter().for_each(|comment| add_comment(&mut body, comment));
            body.extend([0; 4]);
        }
        self.packets += 1;
        block(&mut self.to, 6, &body)
    }

    /// Finishes, and returns the writer.
    ///
    /// # Errors
    /// When a write failed.
    pub fn finish(mut self) -> io::Result<W> {
        self.to.flush()?;
        self.failed.map_or(Ok(self.to), Err)
    }
}

/// Option opt_comment (1), padded to four bytes; longer text is cut.
fn add_comment(body: &mut Vec<u8>, comment: &str) {
    let fitting = comment.floor_char_boundary(usize::from(u16::MAX));
    let text = comment.get(..fitting).unwrap_or_default().as_bytes();
    body.extend(1_u16.to_le_bytes());
    body.extend((text.len() as u16).to_le_bytes());
    body.extend(text);
    body.resize(body.len().next_multiple_of(4), 0);
}

/// A block: its kind, its length before and after, and its body padded to four bytes.
fn block(to: &mut impl Write, kind: u32, body: &[u8]) -> io::Result<()> {
    let padded = body.len().next_multiple_of(4);
    let length =
        u32::try_from(padded + 12).map_err(|_| io::Error::other("a packet is too long for pcapng"))?.to_le_bytes();
    to.write_all(&kind.to_le_bytes())?;
    to.write_all(&length)?;
    to.write_all(body)?;
    to.write_all([0; 3].get(..padded - body.len()).unwrap_or_default())?;
    to.write_all(&length)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::testing::{path, sample};
    use whyslow_io::{Input, PacketSource};
    use whyslow_units::Nanos;

    #[test]
    fn a_slice_of_everything_is_explained_as_the_whole_was() {
        let whole = sample("loss-client");
        let connection = &whole.connections[0];
        let mut slice = Slice::new(Vec::new());
        let range = (Nanos::ZERO, Nanos::from_millis(60_000));
        let input = Input::Path(path("loss-client"));
        whyslow_io::pick(&PacketSource::alone(&input, connection), range, &mut |packet| slice.push(packet)).unwrap();
        assert_eq!(slice.packets, whole.captures[0].tcp_packets);
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), slice.finish().unwrap()).unwrap();
        let again =
            whyslow_io::explain(&[Input::Path(file.path().to_owned())], &whyslow_io::Stop::default(), &mut |_| {})
                .unwrap();
        assert_eq!(again.captures[0].format, "pcapng");
        assert_eq!(again.captures[0].first_time, whole.captures[0].first_time);
        let json = |analysis: &whyslow_analysis::Analysis| serde_json::to_value(&analysis.connections).unwrap();
        assert!(json(&again) == json(&whole), "the slice is explained otherwise");
    }

    #[test]
    fn a_part_holds_what_lies_in_its_time() {
        let whole = sample("loss-client");
        let input = Input::Path(path("loss-client"));
        let range = (Nanos::from_millis(100), Nanos::from_millis(300));
        let mut times = Vec::new();
        let place = PacketSource::alone(&input, &whole.connections[0]);
        whyslow_io::pick(&place, range, &mut |packet| times.push(packet.time)).unwrap();
        assert!(!times.is_empty() && (times.len() as u64) < whole.captures[0].packets);
        assert!(*times.last().unwrap() - times[0] <= Nanos::from_millis(200));
    }
}
