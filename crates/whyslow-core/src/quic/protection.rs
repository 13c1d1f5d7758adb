//! The protection of Initial packets (RFC 9001 section 5, RFC 9369 section 3.3): its keys come from
//! a connection id that is sent in clear.

use super::header::{Long, V2};
use aes_gcm::aead::AeadInPlace;
use aes_gcm::aes::Aes128;
use aes_gcm::aes::cipher::{BlockEncrypt, KeyInit};
use aes_gcm::{Aes128Gcm, Nonce, Tag};
use hkdf::Hkdf;
use sha2::Sha256;

/// Of version 1.
const SALT_V1: [u8; 20] = [
    0x38, 0x76, 0x2c, 0xf7, 0xf5, 0x59, 0x34, 0xb3, 0x4d, 0x17, 0x9a, 0xe6, 0xa4, 0xc8, 0x0c, 0xad, 0xcc, 0xbb, 0x7f,
    0x0a,
];
/// Of version 2.
const SALT_V2: [u8; 20] = [
    0x0d, 0xed, 0xe3, 0xde, 0xf7, 0x00, 0xa6, 0xdb, 0x81, 0x93, 0x81, 0xbe, 0x6e, 0x26, 0x9d, 0xcb, 0xf9, 0xbd, 0x2e,
    0xd9,
];

/// The authentication tag's length, bytes.
pub(super) const TAG: usize = 16;

/// What protects the Initial packets of one end.
pub(super) struct InitialKeys {
    aead: Aes128Gcm,
    iv: [u8; 12],
    header: Aes128,
}

impl std::fmt::Debug for InitialKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("InitialKeys")
    }
}

/// A packet without its protection.
#[derive(Debug)]
pub(super) struct Opened {
    /// Its frames.
    pub(super) frames: Vec<u8>,
}

impl InitialKeys {
    /// Those of the client, of a connection whose first packet went to this connection id.
    pub(super) fn of_client(version: u32, dcid: &[u8]) -> Option<Self> {
        Self::of(version, dcid, b"client in")
    }

    fn of(version: u32, dcid: &[u8], label: &[u8]) -> Option<Self> {
        let salt = if version == V2 { &SALT_V2 } else { &SALT_V1 };
        let (_, initial) = Hkdf::<Sha256>::extract(Some(salt), dcid);
        let mut secret = [0; 32];
        expand(&initial, label, &mut secret)?;
        let of_end = Hkdf::<Sha256>::from_prk(&secret).ok()?;
        let labels: [&[u8]; 3] = match version {
            V2 => [b"quicv2 key", b"quicv2 iv", b"quicv2 hp"],
            _ => [b"quic key", b"quic iv", b"quic hp"],
        };
        let (mut key, mut iv, mut header) = ([0; 16], [0; 12], [0; 16]);
        expand(&of_end, labels[0], &mut key)?;
        expand(&of_end, labels[1], &mut iv)?;
        expand(&of_end, labels[2], &mut header)?;
        Some(Self { aead: Aes128Gcm::new(&key.into()), iv, header: Aes128::new(&header.into()) })
    }

    /// Opens a packet; `None` if it is cut, damaged or protected by other keys.
    pub(super) fn open(&self, long: &Long<'_>) -> Option<Opened> {
        let sample = long.packet.get(long.number_at + 4..long.number_at + 4 + TAG)?;
        let mut mask = aes_gcm::aes::Block::clone_from_slice(sample);
        self.header.encrypt_block(&mut mask);
        let first = long.packet.first()? ^ (mask.first()? & 0x0f);
        let length = usize::from(first & 3) + 1;
        let mut header = long.packet.get(..long.number_at + length)?.to_vec();
        *header.first_mut()? = first;
        let mut number = 0;
        for (byte, mask) in header.get_mut(long.number_at..)?.iter_mut().zip(mask.iter().skip(1)) {
            *byte ^= mask;
            number = number << 8 | u64::from(*byte);
        }
        let sealed = long.packet.get(long.number_at + length..)?;
        let (sealed, tag) = sealed.split_at_checked(sealed.len().checked_sub(TAG)?)?;
        let mut nonce = self.iv;
        for (byte, number) in nonce.iter_mut().skip(4).zip(number.to_be_bytes()) {
            *byte ^= number;
        }
        let mut frames = sealed.to_vec();
        let opened =
            self.aead.decrypt_in_place_detached(Nonce::from_slice(&nonce), &header, &mut frames, Tag::from_slice(tag));
        opened.ok().map(|()| Opened { frames })
    }
}

/// HKDF-Expand-Label of TLS 1.3 (RFC 8446 section 7.1) with an empty context.
fn expand(from: &Hkdf<Sha256>, label: &[u8], out: &mut [u8]) -> Option<()> {
    let length = u16::try_from(out.len()).ok()?.to_be_bytes();
    let label_length = u8::try_from(label.len() + 6).ok()?;
    from.expand_multi_info(&[&length, &[label_length], b"tls13 ", label, &[0]], out).ok()
}

#[cfg(test)]
impl InitialKeys {
    /// A client's Initial packet with these frames, protected.
    #[expect(clippy::unwrap_used, reason = "a test's packet")]
    pub(super) fn seal(version: u32, dcid: &[u8], number: u8, frames: &[u8]) -> Vec<u8> {
        let keys = Self::of_client(version, dcid).unwrap();
        let mut frames = frames.to_vec();
        frames.resize(frames.len().max(1_164), 0);
        let mut header = vec![if version == V2 { 0xd0 } else { 0xc0 }];
        header.extend(version.to_be_bytes());
        header.push(dcid.len() as u8);
        header.extend(dcid);
        header.extend([4, 9, 8, 7, 6, 0]);
        header.extend((0x4000 | (frames.len() + 1 + TAG) as u16).to_be_bytes());
        let at = header.len();
        header.push(number);
        let mut nonce = keys.iv;
        nonce[11] ^= number;
        let tag = keys.aead.encrypt_in_place_detached(Nonce::from_slice(&nonce), &header, &mut frames).unwrap();
        let mut packet = [header, frames, tag.to_vec()].concat();
        let mut mask = aes_gcm::aes::Block::clone_from_slice(&packet[at + 4..at + 4 + TAG]);
        keys.header.encrypt_block(&mut mask);
        packet[0] ^= mask[0] & 0x0f;
        packet[at] ^= mask[1];
        packet
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::header::Kind;
    use super::super::hello::CryptoStream;
    use super::*;

    /// The client's Initial packets of RFC 9001 appendix A.2 and RFC 9369 appendix A.2.
    #[test]
    fn packets_of_the_standards_are_opened() {
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

    /// RFC 9001 appendix A.1 and RFC 9369 appendix A.1.
    #[test]
    fn keys_are_those_of_the_standards() {
        let dcid = [0x83, 0x94, 0xc8, 0xf0, 0x3e, 0x51, 0x57, 0x08];
        assert_eq!(
            InitialKeys::of_client(1, &dcid).unwrap().iv,
            [0xfa, 0x04, 0x4b, 0x2f, 0x42, 0xa3, 0xfd, 0x3b, 0x46, 0xfb, 0x25, 0x5c]
        );
        assert_eq!(
            InitialKeys::of_client(V2, &dcid).unwrap().iv,
            [0x91, 0xf7, 0x3e, 0x23, 0x51, 0xd8, 0xfa, 0x91, 0x66, 0x0e, 0x90, 0x9f]
        );
    }
}
