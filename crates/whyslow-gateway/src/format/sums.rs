//! [`Sums`]: CRCs of a part's plaintext. The whole object's follow from them and from the
//! parts' lengths.

use crc_fast::{CrcAlgorithm, Digest, checksum_combine};

const CRC32: CrcAlgorithm = CrcAlgorithm::Crc32IsoHdlc;
const CRC32C: CrcAlgorithm = CrcAlgorithm::Crc32Iscsi;
const CRC64NVME: CrcAlgorithm = CrcAlgorithm::Crc64Nvme;

/// The CRCs of S3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// CRC-32 (ISO-HDLC).
    pub crc32: u32,
    /// CRC-32C (iSCSI).
    pub crc32c: u32,
    /// CRC-64/NVME.
    pub crc64nvme: u64,
}

impl Sums {
    /// Bytes of [`Self::to_bytes`].
    pub(super) const SIZE: usize = 16;

    pub(super) fn to_bytes(self) -> [u8; Self::SIZE] {
        let all = u128::from(self.crc32) << 96 | u128::from(self.crc32c) << 64 | u128::from(self.crc64nvme);
        all.to_be_bytes()
    }

    pub(super) fn from_bytes(bytes: [u8; Self::SIZE]) -> Self {
        let all = u128::from_be_bytes(bytes);
        Self { crc32: (all >> 96) as u32, crc32c: (all >> 64) as u32, crc64nvme: all as u64 }
    }

    /// The CRCs of these bytes followed by the `length` bytes of `next`.
    #[must_use]
    pub fn then(self, next: Self, length: u64) -> Self {
        let both = |algorithm, one: u64, next: u64| checksum_combine(algorithm, one, next, length);
        Self {
            crc32: both(CRC32, self.crc32.into(), next.crc32.into()) as u32,
            crc32c: both(CRC32C, self.crc32c.into(), next.crc32c.into()) as u32,
            crc64nvme: both(CRC64NVME, self.crc64nvme, next.crc64nvme),
        }
    }
}

/// Computes the CRCs of bytes.
pub struct Summer {
    crc32: Digest,
    crc32c: Digest,
    crc64nvme: Digest,
}

impl Default for Summer {
    fn default() -> Self {
        Self { crc32: Digest::new(CRC32), crc32c: Digest::new(CRC32C), crc64nvme: Digest::new(CRC64NVME) }
    }
}

impl Summer {
    /// Takes the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.crc32.update(bytes);
        self.crc32c.update(bytes);
        self.crc64nvme.update(bytes);
    }

    /// The CRCs of all of them.
    pub fn finish(&self) -> Sums {
        Sums {
            crc32: self.crc32.finalize() as u32,
            crc32c: self.crc32c.finalize() as u32,
            crc64nvme: self.crc64nvme.finalize(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: &[u8]) -> Sums {
        let mut summer = Summer::default();
        summer.update(bytes);
        summer.finish()
    }

    #[test]
    fn sums_are_those_of_other_programs() {
        // For `hello`, from Python's zlib and awscrt.
        let hello = Sums { crc32: 0x3610_a686, crc32c: 0x9a71_bb4c, crc64nvme: 0x3377_8570_0652_4257 };
        assert_eq!(of(b"hello"), hello);
        assert_eq!(of(b""), Sums::default());
        assert_eq!(Sums::from_bytes(hello.to_bytes()), hello);
    }

    #[test]
    fn sums_of_parts_make_those_of_the_whole() {
        let bytes: Vec<u8> = (0..300_000_u32).map(|n| (n ^ n >> 7) as u8).collect();
        for cut in [0, 1, 65_536, 299_999, 300_000] {
            let (one, next) = bytes.split_at(cut);
            assert_eq!(of(one).then(of(next), next.len() as u64), of(&bytes), "{cut}");
        }
    }
}
