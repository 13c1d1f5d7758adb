//! [`walk`]: the least that a program must do to find the packets of a capture.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Reads a little-endian pcap file and goes from record to record, without reading a packet.
/// Returns their number. This is not a reader but a yardstick: a program that reads packets cannot
/// be faster.
///
/// # Errors
/// When the file cannot be read, or ends within a record.
pub fn walk(path: &Path) -> io::Result<u64> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 1 << 20];
    // Bytes to pass over, from the start of the buffer on, and those of a record header that are at
    // its start.
    let (mut skip, mut kept, mut packets) = (24, 0, 0);
    loop {
        let read = file.read(buffer.get_mut(kept..).unwrap_or_default())?;
        if read == 0 {
            let whole = kept == 0 && skip == 0;
            return if whole { Ok(packets) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
        }
        let end = kept + read;
        let mut at = skip;
        while let Some(header) = buffer.get(at..end).and_then(|rest| rest.first_chunk::<16>()) {
            let length = [header[8], header[9], header[10], header[11]];
            packets += 1;
            at += 16 + u32::from_le_bytes(length) as usize;
        }
        (skip, kept) = (at.saturating_sub(end), end.saturating_sub(at));
        buffer.copy_within(end - kept..end, 0);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::make::recipes;
    use std::fs;

    #[test]
    fn all_packets_are_counted_and_a_torn_end_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        // Larger than the buffer, so that records straddle its ends.
        let recipe = recipes().into_iter().find(|recipe| recipe.name == "full").unwrap().smaller(300);
        let made = recipe.make(folder.path()).unwrap();
        let file = &made.files[0];
        assert!(made.bytes > 3 << 20);
        assert_eq!(walk(file).unwrap(), made.packets);
        let bytes = fs::read(file).unwrap();
        for cut in [1, 15, 16, 60] {
            fs::write(file, &bytes[..bytes.len() - cut]).unwrap();
            assert!(walk(file).is_err(), "{cut}");
        }
    }
}
