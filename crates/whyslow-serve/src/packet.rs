//! [`PacketDetail`]: what the headers of one packet say beyond what a graph holds of it.

use serde::Serialize;
use whyslow_core::capture::Packet;
use whyslow_core::units::Nanos;
use whyslow_core::wire::{self, Checksum};
use whyslow_io::PacketSource;

/// A packet's headers.
#[derive(Debug, Serialize, PartialEq, Eq)]
pub(crate) struct PacketDetail {
    /// Bytes on the wire, and in the capture.
    bytes: u32,
    captured: usize,
    ttl: u8,
    ip_id: Option<u16>,
    ecn: u8,
    checksum: &'static str,
    window_field: u16,
    mss: Option<u16>,
    window_scale: Option<u8>,
    sack_permitted: bool,
    timestamps: Option<(u32, u32)>,
    fast_open: bool,
    mptcp: bool,
}

/// The packet of this number at this time.
///
/// # Errors
/// When it is not there, or the capture can no longer be read.
pub(crate) fn read(place: &PacketSource, frame: u64, time: Nanos) -> Result<PacketDetail, String> {
    let mut found = None;
    // A time is told in figures that may be rounded.
    let near = Nanos::from_micros(1);
    let mut look = |packet: &Packet<'_>| {
        if packet.frame == frame {
            found = detail(packet);
        }
    };
    whyslow_io::pick(place, (time - near, time + near), &mut look).map_err(|error| error.to_string())?;
    found.ok_or_else(|| "there is no such packet".to_owned())
}

fn detail(packet: &Packet<'_>) -> Option<PacketDetail> {
    let segment = wire::decode_verified(packet).ok()?;
    let options = segment.options;
    Some(PacketDetail {
        bytes: packet.original_len,
        captured: packet.data.len(),
        ttl: segment.ttl,
        ip_id: segment.ip_id,
        ecn: segment.ecn,
        checksum: match segment.checksum {
            Checksum::Good => "right",
            Checksum::Bad(_) | Checksum::BadHeader(_) => "wrong",
            Checksum::Partial => "left to the network card",
            Checksum::Unknown => "unknown",
        },
        window_field: segment.window,
        mss: options.mss,
        window_scale: options.window_scale,
        sack_permitted: options.sack_permitted,
        timestamps: options.timestamps,
        fast_open: options.fast_open,
        mptcp: options.mptcp,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::testing::{path, sample};
    use whyslow_io::Input;

    #[test]
    fn a_syn_says_what_the_handshake_says() {
        let analysis = sample("loss-client");
        let connection = &analysis.connections[0];
        let place = PacketSource::alone(&Input::Path(path("loss-client")), connection);
        let syn = read(&place, 1, Nanos::ZERO).unwrap();
        let handshake = connection.handshake.as_ref().unwrap();
        assert_eq!((syn.mss, syn.window_scale), (handshake.mss[0], handshake.window_scale[0]));
        assert!(syn.sack_permitted && syn.timestamps.is_some());
        assert!(read(&place, 2, Nanos::ZERO).is_err());
    }
}
