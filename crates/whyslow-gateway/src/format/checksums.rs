//! [`Checksums`]: S3's checksums of an object, which a client stated when it stored the object.
//!
//! They would reveal the plaintext to the storage, so they are encrypted (AES-256-SIV) under
//! a key of the epoch, and bound to the object. An earlier version still reads the object: the
//! checksums are an attribute of an object of one slice, and in the last filler of a
//! multipart one.

use super::metadata::{Object, base64};
use super::slice::SliceTag;
use crate::keys::{Epoch, Keyring};
use aes_siv::KeyInit;
use aes_siv::siv::Aes256Siv;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use std::collections::BTreeMap;

/// Follows a record in a filler.
const LABEL: &[u8; 8] = b"whysums/";
/// The record's length and its label.
const END: usize = 1 + LABEL.len();
/// Bytes that AES-SIV adds.
const TAG: usize = 16;
/// Bytes of the longest record in a filler.
pub(super) const LONGEST: u64 = (TAG + (1 + 4) + (1 + 4) + (1 + 8) + (1 + 20) + (1 + 32) + END) as u64;

/// An algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Algorithm {
    /// CRC-32 (ISO-HDLC).
    Crc32,
    /// CRC-32C (iSCSI).
    Crc32c,
    /// CRC-64/NVME.
    Crc64Nvme,
    /// SHA-1.
    Sha1,
    /// SHA-256.
    Sha256,
}

impl Algorithm {
    /// All algorithms, in the order of their numbers in a record, which begin with 1.
    pub const ALL: [Self; 5] = [Self::Crc32, Self::Crc32c, Self::Crc64Nvme, Self::Sha1, Self::Sha256];

    fn number(self) -> u8 {
        1 + Self::ALL.iter().position(|one| *one == self).unwrap_or(0) as u8
    }

    /// Bytes of a checksum.
    pub fn length(self) -> usize {
        match self {
            Self::Crc32 | Self::Crc32c => 4,
            Self::Crc64Nvme => 8,
            Self::Sha1 => 20,
            Self::Sha256 => 32,
        }
    }
}

/// Checksums of the plaintext of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checksums(BTreeMap<Algorithm, Vec<u8>>);

/// The place that the checksums are bound to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// The metadata of an object, whatever slices it has.
    Metadata,
    /// The last filler of a multipart object, in front of the manifest with this tag.
    Filler(SliceTag),
}

impl Checksums {
    /// Adds a checksum; one of the wrong length for its algorithm is ignored.
    pub fn add(&mut self, algorithm: Algorithm, sum: &[u8]) {
        if sum.len() == algorithm.length() {
            self.0.insert(algorithm, sum.to_vec());
        }
    }

    /// The checksum of this algorithm.
    pub fn get(&self, algorithm: Algorithm) -> Option<&[u8]> {
        self.0.get(&algorithm).map(Vec::as_slice)
    }

    /// Whether there are no checksums.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Bytes of their record in the last filler of a multipart object.
    pub fn in_filler(&self) -> u32 {
        let length: usize = self.0.keys().map(|algorithm| 1 + algorithm.length()).sum();
        if self.is_empty() { 0 } else { (TAG + length + END) as u32 }
    }

    fn to_bytes(&self) -> Vec<u8> {
        let each = self.0.iter().flat_map(|(algorithm, sum)| std::iter::once(algorithm.number()).chain(sum.clone()));
        each.collect()
    }

    /// Numbers must ascend, so that there is one form. An unknown number of a later version ends
    /// the
    /// list; the checksums before it are read.
    fn from_bytes(mut bytes: &[u8]) -> Option<Self> {
        let mut sums = Self::default();
        let mut above = 0;
        while let Some((number, rest)) = bytes.split_first() {
            let Some(algorithm) = usize::from(*number).checked_sub(1).and_then(|at| Algorithm::ALL.get(at)) else {
                break;
            };
            let (sum, rest) = rest.split_at_checked(algorithm.length())?;
            (*number > above).then_some(())?;
            sums.add(*algorithm, sum);
            (above, bytes) = (*number, rest);
        }
        Some(sums)
    }

    /// Encrypts them for this place of an object. Returns `None` without the epoch.
    pub(super) fn seal(&self, keyring: &Keyring, object: Object, place: Place) -> Option<Vec<u8>> {
        let mut cipher = cipher(keyring.get(object.epoch)?);
        cipher.encrypt(data(&object, &place), &self.to_bytes()).ok()
    }

    pub(super) fn open(keyring: &Keyring, object: Object, place: Place, sealed: &[u8]) -> Option<Self> {
        let mut cipher = cipher(keyring.get(object.epoch)?);
        Self::from_bytes(&cipher.decrypt(data(&object, &place), sealed).ok()?)
    }

    /// Returns them as an attribute of an object, which its metadata binds. Returns `None` if there
    /// are none, or without the epoch.
    pub fn to_attribute(&self, keyring: &Keyring, object: Object) -> Option<String> {
        let sealed = (!self.is_empty()).then(|| self.seal(keyring, object, Place::Metadata))?;
        sealed.map(|sealed| base64(&sealed))
    }

    /// Returns the checksums of an attribute; `None` if they are another object's, or were changed.
    pub fn from_attribute(keyring: &Keyring, object: Object, text: &str) -> Option<Self> {
        Self::open(keyring, object, Place::Metadata, &URL_SAFE_NO_PAD.decode(text).ok()?)
    }

    /// Their record in a filler.
    pub(super) fn record(&self, keyring: &Keyring, object: Object, manifest: SliceTag) -> Option<Vec<u8>> {
        if self.is_empty() {
            return Some(Vec::new());
        }
        let mut record = self.seal(keyring, object, Place::Filler(manifest))?;
        record.push(u8::try_from(record.len()).ok()?);
        record.extend_from_slice(LABEL);
        Some(record)
    }

    /// Reads those of a multipart object, from the bytes in front of its manifest. A filler without
    /// a
    /// record has none.
    ///
    /// # Errors
    /// If there is a record, and it was not made for this manifest.
    pub(super) fn in_front(
        keyring: &Keyring,
        object: Object,
        manifest: SliceTag,
        before: &[u8],
    ) -> Result<Self, NotTheirs> {
        let Some(rest) = before.strip_suffix(LABEL) else { return Ok(Self::default()) };
        let (length, rest) = rest.split_last().ok_or(NotTheirs)?;
        let at = rest.len().checked_sub(usize::from(*length)).ok_or(NotTheirs)?;
        Self::open(keyring, object, Place::Filler(manifest), &rest[at..]).ok_or(NotTheirs)
    }
}

/// A record that was changed, or moved from another object.
#[derive(Clone, Copy, Debug)]
pub(super) struct NotTheirs;

fn cipher(epoch: &Epoch) -> Aes256Siv {
    Aes256Siv::new(epoch.checksums_key().into())
}

/// The associated data of AES-SIV.
fn data<'d>(object: &'d Object, place: &'d Place) -> [&'d [u8]; 3] {
    match place {
        Place::Metadata => [b"metadata", object.id.bytes(), b""],
        Place::Filler(tag) => [b"filler", object.id.bytes(), tag.bytes()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Kind;
    use crate::format::tests::{epoch, ring};

    fn some() -> Checksums {
        let mut sums = Checksums::default();
        sums.add(Algorithm::Sha256, &[7; 32]);
        sums.add(Algorithm::Crc32, &[1, 2, 3, 4]);
        sums
    }

    #[test]
    fn checksums_open_at_their_place_alone() {
        let (sums, ring) = (some(), ring());
        let one = Object::new(&epoch(1), Kind::Single).unwrap();
        let other = Object::new(&epoch(1), Kind::Single).unwrap();
        let sealed = sums.seal(&ring, one, Place::Metadata).unwrap();
        assert_eq!(Checksums::open(&ring, one, Place::Metadata, &sealed), Some(sums));
        assert_eq!(Checksums::open(&ring, other, Place::Metadata, &sealed), None);
        let tag = SliceTag::from_bytes([1; SliceTag::SIZE]);
        assert_eq!(Checksums::open(&ring, one, Place::Filler(tag), &sealed), None);
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert_eq!(Checksums::open(&ring, one, Place::Metadata, &changed), None);
        }
    }

    #[test]
    fn record_stands_at_the_end_of_a_filler() {
        let (sums, ring, object) = (some(), ring(), Object::new(&epoch(1), Kind::Multipart).unwrap());
        let tag = |byte| SliceTag::from_bytes([byte; SliceTag::SIZE]);
        let record = sums.record(&ring, object, tag(1)).unwrap();
        assert_eq!(record.len(), sums.in_filler() as usize);
        let filler = [&[0; 40][..], &record].concat();
        assert_eq!(Checksums::in_front(&ring, object, tag(1), &filler).unwrap(), sums);
        assert!(Checksums::in_front(&ring, object, tag(2), &filler).is_err());
        assert!(Checksums::in_front(&ring, object, tag(1), &record[record.len() - END..]).is_err());
        assert!(Checksums::in_front(&ring, object, tag(1), &record[record.len() - END + 1..]).is_err());
        for without in [&[0; 40][..], b""] {
            assert!(Checksums::in_front(&ring, object, tag(1), without).unwrap().is_empty());
        }
        let mut all = Checksums::default();
        Algorithm::ALL.iter().for_each(|one| all.add(*one, &vec![1; one.length()]));
        assert_eq!(u64::from(all.in_filler()), LONGEST);
    }

    #[test]
    fn numbers_ascend_and_later_ones_end_the_list() {
        let bytes = some().to_bytes();
        assert_eq!(Checksums::from_bytes(&bytes), Some(some()));
        assert_eq!(Checksums::from_bytes(&[&bytes[..], &[9, 1, 2, 3]].concat()), Some(some()));
        assert_eq!(Checksums::from_bytes(&[&bytes[5..], &bytes[..5]].concat()), None);
        assert_eq!(Checksums::from_bytes(&[1, 2, 3]), None);
    }
}
