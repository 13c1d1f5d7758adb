//! [`Decryption`]: how much of a TLS connection could be decrypted.

use super::End;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;

/// How much of a TLS connection the given secrets decrypted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct Decryption {
    /// TLS version that the server chose, as on the wire: 0x0304 is TLS 1.3; null if the handshake
    /// was not captured.
    pub version: Option<u16>,
    /// The number of the cipher suite that the server chose (IANA's registry).
    pub cipher_suite: Option<u16>,
    /// The client's data and the server's data.
    pub directions: [DecryptedDirection; 2],
}

/// The decrypted part of one direction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
pub struct DecryptedDirection {
    /// The sender.
    pub from: End,
    /// Decrypted records.
    pub records: u64,
    /// Application plaintext in these records, bytes.
    pub bytes: u64,
    /// Why decryption stopped after these records; null if it did not stop.
    pub stopped: Option<Undecrypted>,
}

/// Why a direction was not decrypted, or only in part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Undecrypted {
    /// The key log has no secret of this connection.
    NoKeys,
    /// The capture begins after the hellos. They contain the random numbers that identify the
    /// secrets.
    HandshakeNotCaptured,
    /// The given secrets do not open the first record.
    WrongKeys,
    /// A version before TLS 1.2.
    UnsupportedVersion,
    /// A cipher suite other than AES-GCM and ChaCha20-Poly1305.
    UnsupportedCipher,
    /// The snapshot length truncated the packets.
    PacketsCut,
    /// Bytes were not captured.
    BytesMissing,
    /// A record is damaged, or encrypted with unknown keys.
    DamagedRecord,
}

impl Decryption {
    /// Why nothing was decrypted, or only a part. Prefers the server's direction.
    pub fn stopped(&self) -> Option<Undecrypted> {
        let [client, server] = &self.directions;
        server.stopped.or(client.stopped)
    }

    /// Application plaintext of both directions, bytes.
    pub fn bytes(&self) -> u64 {
        self.directions.iter().map(|direction| direction.bytes).sum()
    }
}
