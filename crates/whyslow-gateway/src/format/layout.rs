//! [`Layout`]: the place of each slice in a stored object.

use super::checksums::Checksums;
use super::fault::{Fault, Problem};
use super::metadata::{Kind, Object};
use super::size::{MAX_LENGTH, plain_size, sealed_size};
use super::slice::{Role, SliceHead, SliceTag};
use std::ops::Range;

/// One slice of plaintext in a stored object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Offset in the stored object.
    pub at: u64,
    /// Length in the stored object.
    pub sealed: u64,
    /// Offset of its plaintext in the object.
    pub start: u64,
    /// Bytes of plaintext.
    pub length: u64,
    /// The whole object, or a part.
    pub role: Role,
    /// The valid version of a part.
    pub(super) tag: Option<SliceTag>,
}

impl Slice {
    /// Its bytes in the stored object.
    pub fn stored(&self) -> Range<u64> {
        self.at..self.at + self.sealed
    }

    /// Its plaintext in the object.
    pub fn plain(&self) -> Range<u64> {
        self.start..self.start + self.length
    }
}

/// The place of each slice of plaintext in a stored object, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    pub(super) object: Object,
    slices: Vec<Slice>,
    length: u64,
    stored: u64,
    pub(super) checksums: Checksums,
}

impl Layout {
    /// The layout of an object of one slice with `stored` bytes.
    ///
    /// # Errors
    /// If it is a multipart object, or no plaintext has this size.
    pub fn single(object: Object, stored: u64) -> Result<Self, Fault> {
        let length = plain_size(stored).filter(|_| object.kind == Kind::Single);
        let length = length.ok_or(Problem::Size(stored).at(0))?;
        let slice = Slice { at: 0, sealed: stored, start: 0, length, role: Role::Object, tag: None };
        Ok(Self { object, slices: vec![slice], length, stored, checksums: Checksums::default() })
    }

    /// The layout of an object of one slice whose size is not known yet, to plan a request: bytes
    /// after its end are simply missing. Use [`Layout::single`] with the size from the answer to
    /// read it.
    pub fn unsized_single(object: Object) -> Self {
        let sealed = sealed_size(MAX_LENGTH).unwrap_or(u64::MAX);
        let slice = Slice { at: 0, sealed, start: 0, length: MAX_LENGTH, role: Role::Object, tag: None };
        let checksums = Checksums::default();
        Self { object, slices: vec![slice], length: MAX_LENGTH, stored: sealed, checksums }
    }

    /// The layout of parts, before a manifest at `manifest`.
    pub(super) fn of_parts(
        object: Object,
        parts: impl IntoIterator<Item = (SliceHead, SliceTag, u32)>,
        manifest: u64,
        stored: u64,
    ) -> Result<Self, Fault> {
        let wrong = Problem::Manifest.at(manifest);
        let (mut at, mut start) = (0u64, 0u64);
        let mut slices = Vec::new();
        for (SliceHead { role, length, .. }, tag, filler) in parts {
            let sealed = sealed_size(length).ok_or(wrong)?;
            slices.push(Slice { at, sealed, start, length, role, tag: Some(tag) });
            at = at.checked_add(sealed).and_then(|at| at.checked_add(filler.into())).ok_or(wrong)?;
            start = start.checked_add(length).ok_or(wrong)?;
        }
        if at != manifest {
            return Err(wrong);
        }
        Ok(Self { object, slices, length: start, stored, checksums: Checksums::default() })
    }

    /// The object.
    pub fn object(&self) -> Object {
        self.object
    }

    /// The slices of plaintext, in order, without a multipart object's manifest.
    pub fn slices(&self) -> &[Slice] {
        &self.slices
    }

    /// Checksums of the plaintext, of a multipart object that has them.
    pub fn checksums(&self) -> &Checksums {
        &self.checksums
    }

    /// Bytes of plaintext.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Bytes of the stored object. Every answer of the storage must have the same size.
    pub fn stored(&self) -> u64 {
        self.stored
    }
}
