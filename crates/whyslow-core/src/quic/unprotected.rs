//! Decrypted packets as input for tests of the frame parsers.

use super::opened::OpenedConnection;
use crate::tls::QuicSecrets;
use whyslow_analysis::types::{End, Quic, StreamBytes, TransportParameters};
use whyslow_units::Time;

/// Parses the frames of packets as if they had been decrypted; `packets`: sender, packet number and
/// frames of each. Calls `give` with stream bytes. Returns the number of packets with an effect.
pub fn read_frames<'a>(
    packets: impl Iterator<Item = (End, u64, &'a [u8])>,
    mut give: impl FnMut(&StreamBytes),
) -> usize {
    let client = TransportParameters { initial_max_data: Some(1 << 20), ..TransportParameters::default() };
    let facts = Quic { version: 1, alpn: vec!["h3".to_owned()], client, ..Quic::default() };
    let mut opened = OpenedConnection::new(QuicSecrets::default(), 1, &[1; 8], &facts);
    let mut did = 0;
    for (nth, (from, number, frames)) in packets.enumerate() {
        let emission = opened.plain(from, number, frames, Time(nth as i64 * 1_000_000));
        did += usize::from(emission.is_some());
        opened.take_pending().iter().for_each(&mut give);
        opened.ids.clear();
    }
    did
}
