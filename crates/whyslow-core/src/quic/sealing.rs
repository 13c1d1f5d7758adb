//! Protected packets, for tests of the crates that read them.
#![expect(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test's packets")]

pub use super::header::V2;
use super::protection::InitialKeys;
use crate::tls::{PacketKeys, TAG};

/// Keys that protect packets (RFC 9001 section 5).
pub struct SealingKeys(PacketKeys);

impl SealingKeys {
    /// The keys of a TLS cipher suite and a traffic secret; `None` for an unknown suite.
    pub fn new(is_v2: bool, suite: u16, secret: &[u8]) -> Option<Self> {
        PacketKeys::of_secret(is_v2, suite, secret).map(Self)
    }

    /// The keys of a server's Initial packets.
    pub fn of_server(version: u32, dcid: &[u8]) -> Option<Self> {
        InitialKeys::of_server(version, dcid).map(|keys| Self(keys.into_keys()))
    }

    /// Protects a packet; `header` in clear, up to the packet number, which begins at `number_at`.
    pub fn seal(&self, header: &[u8], number_at: usize, number: u64, frames: &[u8]) -> Vec<u8> {
        self.0.seal(header, number_at, number, frames)
    }
}

/// A client's Initial packet with these frames.
pub fn seal_initial(version: u32, dcid: &[u8], number: u8, frames: &[u8]) -> Vec<u8> {
    let keys = InitialKeys::of_client(version, dcid).unwrap().into_keys();
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
    keys.seal(&header, at, number.into(), &frames)
}
