//! The headers of one packet, read again from its capture.

use whyslow_core::capture::Packet;
use whyslow_diagnosis::series::PacketDetail;
use whyslow_io::PacketSource;
use whyslow_units::Nanos;

/// The packet of this number at this time.
///
/// # Errors
/// When it is not there, or the capture can no longer be read.
pub(crate) fn read(place: &PacketSource, frame: u64, time: Nanos) -> Result<PacketDetail, String> {
    let mut found = None;
    // Printed times may be rounded.
    let near = Nanos::from_micros(1);
    let mut look = |packet: &Packet<'_>| {
        if packet.frame == frame {
            found = PacketDetail::of(packet);
        }
    };
    whyslow_io::pick(place, (time - near, time + near), &mut look).map_err(|error| error.to_string())?;
    found.ok_or_else(|| "there is no such packet".to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::testing::{path, sample};
    use whyslow_io::Input;

    #[test]
    fn a_syn_has_the_handshakes_options() {
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
