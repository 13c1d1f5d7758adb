//! Protection of Initial packets (RFC 9001 section 5, RFC 9369 section 3.3): the keys are derived
//! from a connection ID in clear.

use super::header::{Long, V2};
use crate::tls::PacketKeys;
use hkdf::Hkdf;
use sha2::Sha256;

/// The salt of version 1.
const SALT_V1: [u8; 20] = [
    0x38, 0x76, 0x2c, 0xf7, 0xf5, 0x59, 0x34, 0xb3, 0x4d, 0x17, 0x9a, 0xe6, 0xa4, 0xc8, 0x0c, 0xad, 0xcc, 0xbb, 0x7f,
    0x0a,
];
/// The salt of version 2.
const SALT_V2: [u8; 20] = [
    0x0d, 0xed, 0xe3, 0xde, 0xf7, 0x00, 0xa6, 0xdb, 0x81, 0x93, 0x81, 0xbe, 0x6e, 0x26, 0x9d, 0xcb, 0xf9, 0xbd, 0x2e,
    0xd9,
];

/// The keys of one end's Initial packets.
#[derive(Clone, Debug)]
pub(super) struct InitialKeys(PacketKeys);

/// A decrypted packet.
#[derive(Debug)]
pub(super) struct Opened {
    /// Its frames.
    pub(super) frames: Vec<u8>,
}

impl InitialKeys {
    /// The client's keys, for a connection whose first packet has this destination ID.
    pub(super) fn of_client(version: u32, dcid: &[u8]) -> Option<Self> {
        Self::of(version, dcid, b"client in")
    }

    /// The server's keys of the same connection.
    pub(super) fn of_server(version: u32, dcid: &[u8]) -> Option<Self> {
        Self::of(version, dcid, b"server in")
    }

    fn of(version: u32, dcid: &[u8], label: &[u8]) -> Option<Self> {
        let salt = if version == V2 { &SALT_V2 } else { &SALT_V1 };
        let (_, initial) = Hkdf::<Sha256>::extract(Some(salt), dcid);
        let mut secret = [0; 32];
        expand(&initial, label, &mut secret)?;
        PacketKeys::of_initial(version == V2, &secret).map(Self)
    }

    /// Decrypts a packet; `None` if it is truncated, damaged or protected by other keys.
    pub(super) fn open(&self, long: &Long<'_>) -> Option<Opened> {
        let header = self.0.header(long.packet, long.number_at, None)?;
        let mut frames = Vec::new();
        self.0.open(long.packet, long.number_at, &header, &mut frames).then_some(Opened { frames })
    }

    /// The keys themselves.
    pub(super) fn keys(&self) -> &PacketKeys {
        &self.0
    }

    /// As [`keys`](Self::keys), to keep them.
    #[cfg(feature = "unstable")]
    pub(super) fn into_keys(self) -> PacketKeys {
        self.0
    }
}

/// HKDF-Expand-Label of TLS 1.3 (RFC 8446 section 7.1) with an empty context.
fn expand(from: &Hkdf<Sha256>, label: &[u8], out: &mut [u8]) -> Option<()> {
    let length = u16::try_from(out.len()).ok()?.to_be_bytes();
    let label_length = u8::try_from(label.len() + 6).ok()?;
    from.expand_multi_info(&[&length, &[label_length], b"tls13 ", label, &[0]], out).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::header::Kind;
    use super::super::hello::CryptoStream;
    use super::*;

    /// The client's Initial packets of RFC 9001 appendix A.2 and RFC 9369 appendix A.2.
    #[test]
    fn packets_of_the_standards_are_decrypted() {
        let packets =
            [(1, &include_bytes!("vectors/rfc9001-a2.bin")[..]), (V2, include_bytes!("vectors/rfc9369-a2.bin"))];
        for (version, packet) in packets {
            let (long, rest) = Long::split(packet).unwrap();
            assert_eq!((long.version, long.kind, rest.len()), (version, Kind::Initial, 0));
            let opened = InitialKeys::of_client(long.version, long.dcid).unwrap().open(&long).unwrap();
            let mut stream = CryptoStream::default();
            assert_eq!(stream.take(&opened.frames), Some(false));
            let hello = stream.hello().unwrap();
            assert_eq!(hello.server_name.as_deref(), Some("example.com"));
            assert_eq!(hello.alpn, ["alpn"]);
            assert_eq!(hello.parameters.initial_max_data, Some(u64::MAX >> 2));
            assert_eq!(hello.parameters.max_idle_timeout_ms, Some(30_000));
            let mut damaged = packet.to_vec();
            damaged[1_199] ^= 1;
            let (long, _) = Long::split(&damaged).unwrap();
            assert!(InitialKeys::of_client(version, long.dcid).unwrap().open(&long).is_none());
        }
    }
}
