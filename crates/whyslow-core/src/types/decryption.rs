//! [`Decryption`]: how far a connection of TLS could be decrypted.

use super::End;
use borsh::{BorshDeserialize, BorshSerialize};
use serde::Serialize;

/// How far a connection of TLS could be decrypted with the secrets that were given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[non_exhaustive]
pub struct Decryption {
    /// The version that the server chose, as the protocol numbers it: 0x0304 is TLS 1.3; null if
    /// the handshake was not captured.
    pub version: Option<u16>,
    /// The number of the cipher suite that the server chose (IANA's registry).
    pub cipher_suite: Option<u16>,
    /// What the client sent, and what the server sent.
    pub directions: [DecryptedDirection; 2],
}

/// What was decrypted of one direction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, BorshSerialize, BorshDeserialize)]
#[non_exhaustive]
pub struct DecryptedDirection {
    /// Who sent it.
    pub from: End,
    /// Records that were opened.
    pub records: u64,
    /// Plaintext of the application in them, bytes.
    pub bytes: u64,
    /// Why nothing was opened behind them; null if all was that was sent.
    pub stopped: Option<Undecrypted>,
}

/// Why a direction was not decrypted, or not to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, BorshSerialize, BorshDeserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Undecrypted {
    /// No secret of this connection was given.
    NoKeys,
    /// The capture begins behind the hellos, in which the random numbers stand that the secrets
    /// belong to.
    HandshakeNotCaptured,
    /// The given secrets do not open the first record.
    WrongKeys,
    /// A version before TLS 1.2.
    UnsupportedVersion,
    /// A cipher suite that has no AES-GCM or ChaCha20-Poly1305.
    UnsupportedCipher,
    /// The snapshot length cut the packets.
    PacketsCut,
    /// Bytes were not captured.
    BytesMissing,
    /// A record is damaged, or sealed with keys that nothing tells of.
    DamagedRecord,
}

impl Decryption {
    /// The reason why nothing was decrypted, or not to the end, that says most: the server's first.
    pub fn stopped(&self) -> Option<Undecrypted> {
        let [client, server] = &self.directions;
        server.stopped.or(client.stopped)
    }

    /// Plaintext of both directions, bytes.
    pub fn bytes(&self) -> u64 {
        self.directions.iter().map(|direction| direction.bytes).sum()
    }
}
