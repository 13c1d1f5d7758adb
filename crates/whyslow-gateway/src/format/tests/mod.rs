//! Helpers: stored objects, and reading them as a gateway does.

mod hostile;
mod json;
mod names;
mod objects;
mod stock;
mod tamper;
mod vectors;

use super::manifest::{Part, Tail};
use super::*;
use crate::age::Identity;
use crate::keys::{Epoch, Keyring};
use std::ops::Range;
use std::sync::Arc;

pub(super) const NAME: Name<'static> = Name { bucket: "bucket", key: "folder/file" };

pub(super) fn epoch(byte: u8) -> Epoch {
    Epoch::new(Identity::from_bytes(&[byte; 32]))
}

pub(super) fn ring() -> Arc<Keyring> {
    Arc::new(Keyring::new(epoch(1), []))
}

/// Bytes that do not repeat at a chunk's or part's size.
pub(super) fn text(length: usize) -> Vec<u8> {
    let mut state = 1u32;
    let step = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    (0..length).map(step).collect()
}

/// Seals `text` in pieces of at most `piece` bytes.
pub(super) fn seal(ring: &Keyring, object: Object, role: Role, text: &[u8], piece: usize) -> (Vec<u8>, SliceTag) {
    let mut out = Vec::new();
    let mut writer = SliceWriter::new(ring, object, role, text.len() as u64, &mut out).unwrap();
    for piece in text.chunks(piece) {
        writer.write(piece, &mut out).unwrap();
    }
    let tag = writer.finish(&mut out).unwrap();
    (out, tag)
}

/// An object as it is stored.
pub(super) struct Stored {
    pub object: Object,
    pub text: Vec<u8>,
    pub bytes: Vec<u8>,
}

impl Stored {
    pub fn single(length: usize, piece: usize) -> Self {
        let object = Object::new(&epoch(1), Kind::Single).unwrap();
        let text = text(length);
        let (bytes, _) = seal(&ring(), object, Role::Object, &text, piece);
        Self { object, text, bytes }
    }

    /// Parts of these lengths, with fillers up to `least` bytes.
    pub fn multipart(lengths: &[usize], least: u32) -> Self {
        let object = Object::new(&epoch(1), Kind::Multipart).unwrap();
        let text = text(lengths.iter().sum());
        let (mut bytes, mut parts, mut start) = (Vec::new(), Vec::new(), 0);
        for (number, length) in (1..).zip(lengths) {
            let (slice, tag) = seal(&ring(), object, Role::Part(number), &text[start..start + length], 10_000);
            let filler = manifest::filler(slice.len() as u64, least);
            parts.push(Part { number, length: *length as u64, filler, tag });
            bytes.extend_from_slice(&slice);
            bytes.resize(bytes.len() + filler as usize, 0);
            start += length;
        }
        bytes.extend_from_slice(&manifest::seal(&ring(), object, &parts).unwrap());
        assert_eq!(manifest::stored_size(&parts), Some(bytes.len() as u64));
        Self { object, text, bytes }
    }

    pub fn layout(&self) -> Layout {
        layout(self.object, &self.bytes).unwrap()
    }
}

/// The layout of a stored object; its manifest is read in as many steps as needed.
pub(super) fn layout(object: Object, bytes: &[u8]) -> Result<Layout, Fault> {
    let stored = bytes.len() as u64;
    if object.kind == Kind::Single {
        return Layout::single(object, stored);
    }
    let mut from = bytes.len().saturating_sub(100);
    loop {
        match manifest::read_tail(&ring(), object, stored, &bytes[from..])? {
            Tail::Layout(layout) => return Ok(layout),
            Tail::Longer(range) => {
                assert!(range.start < from as u64 && range.end == stored);
                from = range.start as usize;
            }
        }
    }
}

/// Reads a plan of `bytes` in pieces of at most `piece`; returns the plaintext before a fault.
pub(super) fn read(bytes: &[u8], layout: &Layout, plan: Plan, piece: usize) -> (Vec<u8>, Result<(), Fault>) {
    let mut reader = Reader::new(ring(), Arc::new(layout.clone()), plan.clone());
    let mut out = Vec::new();
    for span in plan.spans() {
        let end = (span.end as usize).min(bytes.len());
        for piece in bytes[(span.start as usize).min(end)..end].chunks(piece) {
            if let Err(fault) = reader.read(piece, &mut out) {
                let before = out.len();
                // The fault remains, and nothing more is handed out.
                assert_eq!(reader.read(bytes, &mut out), Err(fault));
                assert_eq!(out.len(), before);
                return (out, reader.finish());
            }
        }
    }
    (out, reader.finish())
}

/// Reads all stored bytes of this object.
pub(super) fn read_all(object: Object, bytes: &[u8]) -> (Vec<u8>, Result<(), Fault>) {
    match layout(object, bytes) {
        Ok(layout) => read(bytes, &layout, layout.plan_all(0), usize::MAX),
        Err(fault) => (Vec::new(), Err(fault)),
    }
}

/// How many bytes a plan asks for.
pub(super) fn asked(plan: &Plan) -> u64 {
    plan.spans().iter().map(|span: &Range<u64>| span.end - span.start).sum()
}
