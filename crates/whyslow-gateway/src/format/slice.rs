//! The identity of a slice: its object, place, length and version.

use super::bind;
use super::size::MAX_LENGTH;
use crate::age::{FileKey, NoRandomness, equal, hkdf, random};
use crate::keys::{Epoch, EpochId};
use std::fmt;
use zeroize::Zeroizing;

/// Bytes of a slice's fields: epoch, object, role, number, length.
pub(super) const FIELDS: usize = EpochId::SIZE + ObjectId::SIZE + 1 + 4 + 8;

/// Maximum number of parts of an object, and of a part's number, as in S3.
pub const MAX_PARTS: u32 = 10_000;

/// Names an object; random.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ObjectId([u8; ObjectId::SIZE]);

impl ObjectId {
    /// Bytes of an id.
    pub const SIZE: usize = 16;

    /// Generates a new id.
    ///
    /// # Errors
    /// When the system gives no random bytes.
    pub fn generate() -> Result<Self, NoRandomness> {
        random().map(|bytes| Self(*bytes))
    }

    pub(crate) fn from_bytes(bytes: [u8; Self::SIZE]) -> Self {
        Self(bytes)
    }

    pub(crate) fn bytes(&self) -> &[u8; Self::SIZE] {
        &self.0
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectId({self})")
    }
}

/// The role of a slice in its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The whole object.
    Object,
    /// The client's part of this number.
    Part(u32),
    /// The list of the parts, with their number. It is the last slice.
    Manifest(u32),
}

/// The fields of a slice's header: its place, and its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SliceHead {
    /// The object of the slice.
    pub object: ObjectId,
    /// Its place there.
    pub role: Role,
    /// Bytes of plaintext.
    pub length: u64,
}

impl fmt::Display for SliceHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { object, length, .. } = self;
        match self.role {
            Role::Object => write!(f, "object {object} of {length} B"),
            Role::Part(number) => write!(f, "part {number} ({length} B) of object {object}"),
            Role::Manifest(parts) => write!(f, "the manifest ({parts} parts) of object {object}"),
        }
    }
}

impl SliceHead {
    /// All fields but the tag.
    pub(super) fn fields(&self, epoch: EpochId) -> [u8; FIELDS] {
        let (role, number) = match self.role {
            Role::Object => (1, 0),
            Role::Part(number) => (2, number),
            Role::Manifest(parts) => (3, parts),
        };
        let mut fields = [0; FIELDS];
        fields[..8].copy_from_slice(epoch.bytes());
        fields[8..24].copy_from_slice(self.object.bytes());
        fields[24] = role;
        fields[25..29].copy_from_slice(&u32::to_be_bytes(number));
        fields[29..].copy_from_slice(&self.length.to_be_bytes());
        fields
    }

    pub(super) fn from_fields(fields: &[u8; FIELDS]) -> Option<(EpochId, Self)> {
        let (epoch, rest) = fields.split_first_chunk()?;
        let (object, rest) = rest.split_first_chunk()?;
        let (role, rest) = rest.split_first()?;
        let (number, length) = rest.split_first_chunk()?;
        let number = u32::from_be_bytes(*number);
        let role = match role {
            1 if number == 0 => Role::Object,
            2 => Role::Part(number),
            3 => Role::Manifest(number),
            _ => return None,
        };
        let length = Some(u64::from_be_bytes(length.try_into().ok()?)).filter(|length| *length <= MAX_LENGTH)?;
        Some((EpochId::from_bytes(*epoch), Self { object: ObjectId::from_bytes(*object), role, length }))
    }
}

/// Identifies one version of a slice: it binds the header's fields to the slice's file key, and
/// cannot be made without the epoch's secret.
#[derive(Clone, Copy)]
pub struct SliceTag([u8; bind::TAG]);

impl SliceTag {
    /// Bytes of a tag.
    pub const SIZE: usize = bind::TAG;

    pub(super) fn new(epoch: &Epoch, key: &FileKey, fields: &[u8]) -> Self {
        let key: Zeroizing<[u8; 32]> = hkdf(epoch.slice_key(), key.bytes(), "whyslow-slice/1");
        Self(bind::tag(&key[..], "slice", &[fields]))
    }

    pub(super) fn from_bytes(bytes: [u8; Self::SIZE]) -> Self {
        Self(bytes)
    }

    pub(super) fn bytes(&self) -> &[u8; Self::SIZE] {
        &self.0
    }
}

impl PartialEq for SliceTag {
    fn eq(&self, other: &Self) -> bool {
        equal(&self.0, &other.0)
    }
}

impl Eq for SliceTag {}

impl fmt::Debug for SliceTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SliceTag(")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str(")")
    }
}
