//! Cipher suites (IANA registry) that can be decrypted: those with AES-GCM or ChaCha20-Poly1305.

/// The hash of a suite's key schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HashKind {
    Sha256,
    Sha384,
}

/// The cipher of the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AeadKind {
    Aes128Gcm,
    Aes256Gcm,
    ChaCha20Poly1305,
}

impl AeadKind {
    /// Key length, bytes.
    pub(super) fn key_len(self) -> usize {
        match self {
            Self::Aes128Gcm => 16,
            Self::Aes256Gcm | Self::ChaCha20Poly1305 => 32,
        }
    }
}

/// A supported cipher suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Suite {
    pub(super) aead: AeadKind,
    pub(super) hash: HashKind,
}

impl Suite {
    /// Returns `None` for a suite without an AEAD, or with an unsupported one.
    pub(super) fn of(number: u16) -> Option<Self> {
        let aead = match number {
            // The suites of TLS 1.3 (RFC 8446 appendix B.4).
            0x1301 | 0x009c | 0x009e | 0x00a0 | 0x00a2 | 0x00a4 | 0x00a6 | 0x00a8 | 0x00aa | 0x00ac | 0xc02b
            | 0xc02d | 0xc02f | 0xc031 | 0xd001 => AeadKind::Aes128Gcm,
            // RFC 5288, RFC 5289, RFC 5487, RFC 8442: the odd numbers use AES-256.
            0x1302 | 0x009d | 0x009f | 0x00a1 | 0x00a3 | 0x00a5 | 0x00a7 | 0x00a9 | 0x00ab | 0x00ad | 0xc02c
            | 0xc02e | 0xc030 | 0xc032 | 0xd002 => AeadKind::Aes256Gcm,
            // RFC 7905.
            0x1303 | 0xcca8..=0xccae => AeadKind::ChaCha20Poly1305,
            _ => return None,
        };
        let hash = if aead == AeadKind::Aes256Gcm { HashKind::Sha384 } else { HashKind::Sha256 };
        Some(Self { aead, hash })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suites_without_aead_are_unsupported() {
        // TLS_RSA_WITH_AES_128_CBC_SHA, TLS_AES_128_CCM_SHA256.
        assert_eq!((Suite::of(0x002f), Suite::of(0x1304)), (None, None));
        let chacha = Suite { aead: AeadKind::ChaCha20Poly1305, hash: HashKind::Sha256 };
        assert_eq!(Suite::of(0xcca8), Some(chacha));
        assert_eq!(Suite::of(0xc030), Some(Suite { aead: AeadKind::Aes256Gcm, hash: HashKind::Sha384 }));
    }
}
