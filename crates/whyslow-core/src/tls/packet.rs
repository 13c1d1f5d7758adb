//! [`PacketKeys`]: the protection of QUIC packets (RFC 9001 section 5, RFC 9369 section 3.3).

use super::key_log::{MAX_SECRET, Random, Secret, Secrets};
use super::key_ring::KeyRing;
use super::schedule::{NONCE, expand};
use super::suite::{AeadKind, Suite};
use aes_gcm::aead::{AeadInPlace, KeyInit};
use aes_gcm::aes::cipher::BlockEncrypt;
use aes_gcm::aes::{Aes128, Aes256, Block};
use aes_gcm::{Aes128Gcm, Aes256Gcm, Nonce, Tag};
use chacha20::ChaCha20;
use chacha20::cipher::{KeyIvInit, StreamCipher, StreamCipherSeek};
use chacha20poly1305::ChaCha20Poly1305;
use whyslow_analysis::types::Frame;

/// Bytes of an authentication tag, of all suites.
pub(crate) const TAG: usize = 16;
/// Bytes of a packet that are the input of header protection.
const SAMPLE: usize = 16;
/// Longest key.
const MAX_KEY: usize = 32;
/// The suite of Initial packets: AES-128-GCM with SHA-256.
const INITIAL_SUITE: u16 = 0x1301;

/// Labels of a QUIC version: for the key, the nonce, header protection and the next secret.
#[derive(Clone, Copy, Debug)]
struct Labels([&'static [u8]; 4]);

const LABELS_V1: Labels = Labels([b"quic key", b"quic iv", b"quic hp", b"quic ku"]);
const LABELS_V2: Labels = Labels([b"quicv2 key", b"quicv2 iv", b"quicv2 hp", b"quicv2 ku"]);

/// Decrypts the packets that one end sends at one encryption level.
#[derive(Clone)]
pub(crate) struct PacketKeys {
    aead: PacketAead,
    header: HeaderKey,
    iv: [u8; NONCE],
    suite: Suite,
    labels: Labels,
    secret: Secret,
}

/// Large, but there is only one per end.
#[derive(Clone)]
enum PacketAead {
    Aes128(Box<Aes128Gcm>),
    Aes256(Box<Aes256Gcm>),
    ChaCha20(Box<ChaCha20Poly1305>),
}

#[derive(Clone)]
enum HeaderKey {
    Aes128(Box<Aes128>),
    Aes256(Box<Aes256>),
    ChaCha20([u8; MAX_KEY]),
}

impl std::fmt::Debug for PacketKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PacketKeys")
    }
}

/// A packet's header after removal of header protection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenHeader {
    /// The first byte.
    pub(crate) first: u8,
    /// The complete packet number.
    pub(crate) number: u64,
    /// Length of the encoded packet number, bytes.
    length: usize,
    /// The encoded packet number.
    truncated: u32,
}

impl PacketKeys {
    /// The keys of a traffic secret.
    #[cfg(any(test, feature = "unstable"))]
    pub(crate) fn of_secret(is_v2: bool, suite: u16, secret: &[u8]) -> Option<Self> {
        Self::new(is_v2, suite, &Secret::new(secret)?)
    }

    /// The keys of an Initial secret.
    pub(crate) fn of_initial(is_v2: bool, secret: &[u8; 32]) -> Option<Self> {
        Self::new(is_v2, INITIAL_SUITE, &Secret::new(secret)?)
    }

    fn new(is_v2: bool, suite: u16, secret: &Secret) -> Option<Self> {
        let suite = Suite::of(suite)?;
        let labels = if is_v2 { LABELS_V2 } else { LABELS_V1 };
        let Labels([_, _, header_label, _]) = labels;
        let mut key = [0; MAX_KEY];
        let header_key = key.get_mut(..suite.aead.key_len())?;
        expand(suite.hash, secret, header_label, header_key)?;
        let header = match suite.aead {
            AeadKind::Aes128Gcm => HeaderKey::Aes128(Box::new(Aes128::new_from_slice(header_key).ok()?)),
            AeadKind::Aes256Gcm => HeaderKey::Aes256(Box::new(Aes256::new_from_slice(header_key).ok()?)),
            AeadKind::ChaCha20Poly1305 => HeaderKey::ChaCha20(key),
        };
        Self::with_header_key(suite, labels, *secret, header)
    }

    fn with_header_key(suite: Suite, labels: Labels, secret: Secret, header: HeaderKey) -> Option<Self> {
        let Labels([key_label, iv_label, ..]) = labels;
        let (mut key, mut iv) = ([0; MAX_KEY], [0; NONCE]);
        let key = key.get_mut(..suite.aead.key_len())?;
        expand(suite.hash, &secret, key_label, key)?;
        expand(suite.hash, &secret, iv_label, &mut iv)?;
        let aead = match suite.aead {
            AeadKind::Aes128Gcm => PacketAead::Aes128(Box::new(Aes128Gcm::new_from_slice(key).ok()?)),
            AeadKind::Aes256Gcm => PacketAead::Aes256(Box::new(Aes256Gcm::new_from_slice(key).ok()?)),
            AeadKind::ChaCha20Poly1305 => PacketAead::ChaCha20(Box::new(ChaCha20Poly1305::new_from_slice(key).ok()?)),
        };
        Some(Self { aead, header, iv, suite, labels, secret })
    }

    /// The keys after a key update: the header protection key stays (RFC 9001 section 6).
    pub(crate) fn next(&self) -> Option<Self> {
        let Labels([.., label]) = self.labels;
        let mut next = [0; MAX_SECRET];
        let next = next.get_mut(..self.secret.bytes().len())?;
        expand(self.suite.hash, &self.secret, label, next)?;
        Self::with_header_key(self.suite, self.labels, Secret::new(next)?, self.header.clone())
    }

    /// Removes header protection. `number_at`: offset of the packet number; `largest`: the largest
    /// packet number so far. `None` if the packet is too short.
    pub(crate) fn header(&self, packet: &[u8], number_at: usize, largest: Option<u64>) -> Option<OpenHeader> {
        let sample = packet.get(number_at.checked_add(4)?..)?.first_chunk::<SAMPLE>()?;
        let mask = self.header.mask(sample)?;
        let long = packet.first()? & 0x80 != 0;
        let first = packet.first()? ^ (mask[0] & if long { 0x0f } else { 0x1f });
        let length = usize::from(first & 3) + 1;
        let protected = packet.get(number_at..number_at + length)?;
        let unmasked = protected.iter().zip(&mask[1..]).map(|(byte, mask)| byte ^ mask);
        let truncated = unmasked.fold(0, |number, byte| number << 8 | u32::from(byte));
        let number = whole_number(truncated, 8 * length as u32, largest);
        Some(OpenHeader { first, number, length, truncated })
    }

    /// Decrypts the packet into `frames`; returns whether its tag matches.
    pub(crate) fn open(&self, packet: &[u8], number_at: usize, header: &OpenHeader, frames: &mut Vec<u8>) -> bool {
        self.try_open(packet, number_at, header, frames).is_some()
    }

    fn try_open(&self, packet: &[u8], number_at: usize, header: &OpenHeader, frames: &mut Vec<u8>) -> Option<()> {
        // The first byte, version, two connection IDs, a token and lengths precede the number.
        let (mut short, mut long);
        let body_at = number_at + header.length;
        let clear = packet.get(..body_at)?;
        let additional: &mut [u8] = if clear.len() <= 64 {
            short = [0; 64];
            short.get_mut(..clear.len())?
        } else {
            long = vec![0; clear.len()];
            &mut long
        };
        additional.copy_from_slice(clear);
        *additional.first_mut()? = header.first;
        let number = header.truncated.to_be_bytes();
        additional.get_mut(number_at..)?.copy_from_slice(number.get(4 - header.length..)?);
        let (sealed, tag) = packet.get(body_at..)?.split_last_chunk::<TAG>()?;
        let mut nonce = self.iv;
        let numbered = nonce.iter_mut().skip(NONCE - 8).zip(header.number.to_be_bytes());
        numbered.for_each(|(byte, number)| *byte ^= number);
        frames.clear();
        frames.extend_from_slice(sealed);
        let (nonce, tag) = (Nonce::from_slice(&nonce), Tag::from_slice(tag));
        let opened = match &self.aead {
            PacketAead::Aes128(aead) => aead.decrypt_in_place_detached(nonce, additional, frames, tag),
            PacketAead::Aes256(aead) => aead.decrypt_in_place_detached(nonce, additional, frames, tag),
            PacketAead::ChaCha20(aead) => aead.decrypt_in_place_detached(nonce, additional, frames, tag),
        };
        opened.ok()
    }

    /// Encrypts a packet whose header, packet number included, is in clear.
    #[cfg(any(test, feature = "unstable"))]
    #[expect(clippy::unwrap_used, reason = "a test's packet")]
    pub(crate) fn seal(&self, header: &[u8], number_at: usize, number: u64, frames: &[u8]) -> Vec<u8> {
        let mut nonce = self.iv;
        nonce[4..].iter_mut().zip(number.to_be_bytes()).for_each(|(byte, number)| *byte ^= number);
        let (nonce, mut body) = (Nonce::from_slice(&nonce), frames.to_vec());
        let tag = match &self.aead {
            PacketAead::Aes128(aead) => aead.encrypt_in_place_detached(nonce, header, &mut body),
            PacketAead::Aes256(aead) => aead.encrypt_in_place_detached(nonce, header, &mut body),
            PacketAead::ChaCha20(aead) => aead.encrypt_in_place_detached(nonce, header, &mut body),
        };
        let mut packet = [header, &body, &tag.unwrap()[..]].concat();
        let mask = self.header.mask(packet[number_at + 4..].first_chunk().unwrap()).unwrap();
        packet[0] ^= mask[0] & if header[0] & 0x80 != 0 { 0x0f } else { 0x1f };
        packet[number_at..header.len()].iter_mut().zip(&mask[1..]).for_each(|(byte, mask)| *byte ^= mask);
        packet
    }
}

impl HeaderKey {
    fn mask(&self, sample: &[u8; SAMPLE]) -> Option<[u8; 5]> {
        let mut block = Block::clone_from_slice(sample);
        match self {
            Self::Aes128(key) => key.encrypt_block(&mut block),
            Self::Aes256(key) => key.encrypt_block(&mut block),
            Self::ChaCha20(key) => {
                let (counter, nonce) = sample.split_first_chunk::<4>()?;
                let mut cipher = ChaCha20::new(key.into(), nonce.first_chunk::<NONCE>()?.into());
                cipher.try_seek(u64::from(u32::from_le_bytes(*counter)) * 64).ok()?;
                let mut mask = [0; 5];
                cipher.try_apply_keystream(&mut mask).ok()?;
                return Some(mask);
            }
        }
        block.first_chunk().copied()
    }
}

/// The packet number that is nearest to the one expected (RFC 9000 appendix A.3).
fn whole_number(truncated: u32, bits: u32, largest: Option<u64>) -> u64 {
    let expected = largest.map_or(0, |largest| largest.saturating_add(1));
    let window = 1u64 << bits;
    let candidate = (expected & !(window - 1)) | u64::from(truncated);
    if candidate + window / 2 <= expected && candidate < (1 << 62) - window {
        candidate + window
    } else if candidate > expected.saturating_add(window / 2) && candidate >= window {
        candidate - window
    } else {
        candidate
    }
}

/// The secrets of a QUIC connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct QuicSecrets(Secrets);

impl KeyRing {
    /// The secrets of the connection with this random number in its ClientHello.
    pub(crate) fn of_quic(&self, random: &Random, place: Frame) -> Option<QuicSecrets> {
        self.find(random, place).map(QuicSecrets)
    }
}

impl QuicSecrets {
    /// The keys of the Handshake packets of the client and of the server.
    pub(crate) fn handshake(&self, is_v2: bool, suite: u16) -> [Option<PacketKeys>; 2] {
        self.0.handshake.map(|secret| PacketKeys::new(is_v2, suite, &secret?))
    }

    /// The first keys of the 1-RTT packets of the client and of the server.
    pub(crate) fn traffic(&self, is_v2: bool, suite: u16) -> [Option<PacketKeys>; 2] {
        self.0.traffic.map(|secret| PacketKeys::new(is_v2, suite, &secret?))
    }

    /// The possible keys of 0-RTT packets. Their suite is that of an earlier connection and
    /// unknown; the length of the secret narrows it down.
    pub(crate) fn early(&self, is_v2: bool) -> impl Iterator<Item = PacketKeys> {
        let secret = self.0.early;
        let suites = [0x1301, 0x1302, 0x1303].into_iter();
        suites.filter_map(move |suite| PacketKeys::new(is_v2, suite, &secret?))
    }
}

/// Whether QUIC packets with this cipher suite can be decrypted (RFC 9001 section 5.3).
pub(crate) fn is_readable(suite: u16) -> bool {
    matches!(suite, 0x1301..=0x1303)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        let digits: Vec<_> = text.chars().filter_map(|digit| digit.to_digit(16)).collect();
        digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect()
    }

    /// RFC 9001 appendix A.5: a ChaCha20-Poly1305 packet with a PING frame, and the next secret.
    #[test]
    fn short_header_packet_of_rfc_9001_is_decrypted() {
        let secret = hex("9ac312a7f877468ebe69422748ad00a15443f18203a07d6060f688f30f21632b");
        let keys = PacketKeys::of_secret(false, 0x1303, &secret).unwrap();
        let packet = hex("4cfe4189655e5cd55c41f69080575d7999c25a5bfb");
        let header = keys.header(&packet, 1, Some(654_360_563)).unwrap();
        assert_eq!((header.number, header.length, header.first), (654_360_564, 3, 0x42));
        let mut frames = Vec::new();
        assert!(keys.open(&packet, 1, &header, &mut frames));
        assert_eq!(frames, [1]);
        let next = hex("1223504755036d556342ee9361d253421a826c9ecdf3c7148684b36b714881f9");
        assert_eq!(keys.next().unwrap().secret.bytes(), next);
    }

    /// RFC 9000 appendix A.3.
    #[test]
    fn packet_number_is_nearest_to_the_expected_one() {
        assert_eq!(whole_number(0x9b32, 16, Some(0xa82f_30ea)), 0xa82f_9b32);
        assert_eq!(whole_number(0, 8, None), 0);
        assert_eq!(whole_number(0x01, 8, Some(0xff)), 0x101);
        assert_eq!(whole_number(0xff, 8, Some(0x101)), 0xff);
    }

    #[test]
    fn sealed_packets_of_each_suite_are_decrypted() {
        for (suite, len) in [(0x1301, 32), (0x1302, 48), (0x1303, 32)] {
            for is_v2 in [false, true] {
                let keys = PacketKeys::of_secret(is_v2, suite, &vec![7; len]).unwrap();
                let packet = keys.seal(&[0x41, 1, 2, 3, 4, 0, 9], 5, 9, &[1; 30]);
                let header = keys.header(&packet, 5, Some(8)).unwrap();
                let mut frames = Vec::new();
                assert_eq!(header.number, 9);
                assert!(keys.open(&packet, 5, &header, &mut frames));
                assert_eq!(frames, [1; 30]);
                assert!(!keys.next().unwrap().open(&packet, 5, &header, &mut frames));
            }
        }
    }
}
