//! A multipart object's manifest: its parts, and the valid version of each.
//!
//! Parts are sealed before their number is known, and the storage fixes the metadata when the
//! upload begins. So the list of parts is a slice of its own, sealed when the client completes the
//! upload, and stored after the last part. A locator follows it, which is not sealed: it
//! only points to the manifest.

use super::checksums::{self, Checksums};
use super::fault::{Fault, Problem};
use super::header::{self, SliceSecrets};
use super::layout::{Layout, Slice};
use super::metadata::{Kind, Object};
use super::size::{HEADER, sealed_size};
pub use super::slice::MAX_PARTS;
use super::slice::{Role, SliceHead, SliceTag};
use super::writer::{SliceWriter, WriteError};
use crate::age::SEALED_CHUNK;
use crate::keys::Keyring;
use std::ops::Range;

/// Bytes at an object's end to ask for at first: the manifest of 2,000 parts.
pub const TAIL: u64 = 65_536;

/// Length of a part's entry in the manifest.
const ENTRY: usize = 4 + 4 + 8 + SliceTag::SIZE;
const LOCATOR_LABEL: &[u8; 8] = b"whyslow/";
/// Length of the label and of the length of the manifest's slice.
const LOCATOR: u64 = 16;

/// A part that an upload is completed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its number, from 1.
    pub number: u32,
    /// Bytes of plaintext.
    pub length: u64,
    /// Bytes stored after its slice to satisfy the storage, see [`filler`].
    pub filler: u32,
    /// The result of [`SliceWriter::finish`].
    pub tag: SliceTag,
}

/// The reason why these parts are not an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartsError {
    /// There are no parts, or too many.
    #[error("an object has 1 to {MAX_PARTS} parts, not {0}")]
    Count(usize),
    /// A number is out of range, or not above the one before.
    #[error("part {0}: numbers are 1 to {MAX_PARTS}, and ascend")]
    Number(u32),
    /// They are too long.
    #[error("the parts are too long for an object")]
    TooLong,
    /// The slice cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// Zero bytes to store after a slice of `sealed` bytes, so that it takes at least `least`: stores
/// refuse small parts (S3: below 5 MiB) except the last, and the manifest is the last.
pub fn filler(sealed: u64, least: u32) -> u32 {
    u32::try_from(u64::from(least).saturating_sub(sealed)).unwrap_or(0)
}

/// Bytes of a manifest of `parts` parts, with its locator.
pub fn size(parts: u32) -> u64 {
    let length = u64::from(parts) * ENTRY as u64;
    HEADER + length + super::size::chunks(length) * 16 + LOCATOR
}

/// Bytes at the end of an object of `parts` parts that [`read_tail`] needs.
pub fn tail_size(parts: u32) -> u64 {
    size(parts) + checksums::LONGEST
}

/// Bytes of the stored object of these parts. `None` if it is too large.
pub fn stored_size(parts: &[Part]) -> Option<u64> {
    let mut sum = size(u32::try_from(parts.len()).ok()?);
    for part in parts {
        sum = sum.checked_add(sealed_size(part.length)?)?.checked_add(part.filler.into())?;
    }
    Some(sum)
}

/// The manifest of `object`, and its locator, which end the stored object.
///
/// # Errors
/// If there are no parts, too many, or they are out of order, the object is not a multipart one,
/// its epoch is not available, or the system gives no random bytes.
pub fn seal(keyring: &Keyring, object: Object, parts: &[Part]) -> Result<Vec<u8>, PartsError> {
    seal_with_checksums(keyring, object, parts, &Checksums::default())
}

/// The same, after the checksums of the object: [`Checksums::in_filler`] bytes, which the filler
/// of the last part includes.
///
/// # Errors
/// The same.
pub fn seal_with_checksums(
    keyring: &Keyring,
    object: Object,
    parts: &[Part],
    checksums: &Checksums,
) -> Result<Vec<u8>, PartsError> {
    let secrets = SliceSecrets::generate().map_err(WriteError::from)?;
    seal_with(keyring, object, (parts, checksums), secrets)
}

pub(super) fn seal_with(
    keyring: &Keyring,
    object: Object,
    (parts, checksums): (&[Part], &Checksums),
    secrets: SliceSecrets,
) -> Result<Vec<u8>, PartsError> {
    let count = u32::try_from(parts.len()).ok().filter(|count| (1..=MAX_PARTS).contains(count));
    let count = count.ok_or(PartsError::Count(parts.len()))?;
    let mut above = 0;
    let mut plaintext = Vec::with_capacity(parts.len() * ENTRY);
    for part in parts {
        if part.number <= above || part.number > MAX_PARTS {
            return Err(PartsError::Number(part.number));
        }
        above = part.number;
        plaintext.extend_from_slice(&part.number.to_be_bytes());
        plaintext.extend_from_slice(&part.filler.to_be_bytes());
        plaintext.extend_from_slice(&part.length.to_be_bytes());
        plaintext.extend_from_slice(part.tag.bytes());
    }
    stored_size(parts).ok_or(PartsError::TooLong)?;
    let (role, length) = (Role::Manifest(count), plaintext.len() as u64);
    let mut out = Vec::new();
    let mut writer = SliceWriter::with(keyring, object, (role, length), secrets, &mut out)?;
    writer.write(&plaintext, &mut out)?;
    let tag = writer.finish(&mut out)?;
    let length = out.len() as u64;
    out.extend_from_slice(LOCATOR_LABEL);
    out.extend_from_slice(&length.to_be_bytes());
    let unknown = || WriteError::UnknownEpoch(object.epoch);
    let record = checksums.record(keyring, object, tag).ok_or_else(unknown)?;
    Ok([record, out].concat())
}

/// The content of the end of a multipart object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tail {
    /// The whole layout.
    Layout(Layout),
    /// The manifest begins earlier: read these bytes of the stored object, to its end.
    Longer(Range<u64>),
}

/// Reads the layout of a multipart object of `stored` bytes from its last bytes: [`TAIL`] of them,
/// or the whole object if that is shorter.
///
/// # Errors
/// If they have no manifest of this object, or it was changed or contradicts the size.
pub fn read_tail(keyring: &Keyring, object: Object, stored: u64, tail: &[u8]) -> Result<Tail, Fault> {
    let begin = stored.checked_sub(tail.len() as u64).ok_or(Problem::Surplus.at(stored))?;
    if object.kind != Kind::Multipart {
        return Err(Problem::Locator.at(begin));
    }
    let end = stored.saturating_sub(LOCATOR);
    let bad_locator = Problem::Locator.at(end);
    let (rest, length) = tail.split_last_chunk().ok_or(bad_locator)?;
    let slices = rest.strip_suffix(LOCATOR_LABEL).ok_or(bad_locator)?;
    let length = u64::from_be_bytes(*length);
    // The longest manifest bounds the bytes that a storage can make the gateway read.
    if !(size(1)..=size(MAX_PARTS)).contains(&(length.saturating_add(LOCATOR))) {
        return Err(bad_locator);
    }
    let at = end.checked_sub(length).ok_or(bad_locator)?;
    // Checksums may precede it.
    let first = at.saturating_sub(checksums::LONGEST);
    if begin > first {
        return Ok(Tail::Longer(first..stored));
    }
    let inside = usize::try_from(at - begin).map_err(|_| bad_locator)?;
    let (before, slice) = slices.split_at_checked(inside).ok_or(bad_locator)?;
    let (entries, tag) = open(keyring, object, slice, at)?;
    let parts = entries.chunks_exact(ENTRY).map(|entry| part(object, entry));
    let parts = parts.collect::<Option<Vec<_>>>().ok_or(Problem::Manifest.at(at))?;
    let ascending = parts.windows(2).all(|pair| number(&pair[0].0) < number(&pair[1].0));
    let in_range = parts.iter().all(|part| (1..=MAX_PARTS).contains(&number(&part.0)));
    if !ascending || !in_range {
        return Err(Problem::Manifest.at(at));
    }
    let mut layout = Layout::of_parts(object, parts, at, stored)?;
    let changed = |_| Problem::Manifest.at(first);
    layout.checksums = Checksums::in_front(keyring, object, tag, before).map_err(changed)?;
    Ok(Tail::Layout(layout))
}

/// Whether an object was completed with these parts, and these versions of them.
pub fn is_of(layout: &Layout, parts: &[Part]) -> bool {
    let is_same = |(slice, part): (&Slice, &Part)| {
        slice.role == Role::Part(part.number) && slice.length == part.length && slice.tag == Some(part.tag)
    };
    layout.slices().len() == parts.len() && layout.slices().iter().zip(parts).all(is_same)
}

fn number(head: &SliceHead) -> u32 {
    match head.role {
        Role::Part(number) => number,
        Role::Object | Role::Manifest(_) => 0,
    }
}

fn part(object: Object, entry: &[u8]) -> Option<(SliceHead, SliceTag, u32)> {
    let (number, rest) = entry.split_first_chunk()?;
    let (filler, rest) = rest.split_first_chunk()?;
    let (length, tag) = rest.split_first_chunk()?;
    let role = Role::Part(u32::from_be_bytes(*number));
    let head = SliceHead { object: object.id, role, length: u64::from_be_bytes(*length) };
    Some((head, SliceTag::from_bytes(tag.try_into().ok()?), u32::from_be_bytes(*filler)))
}

/// The plaintext of the manifest's slice, and its tag.
fn open(keyring: &Keyring, object: Object, slice: &[u8], at: u64) -> Result<(Vec<u8>, SliceTag), Fault> {
    let (header, payload) = slice.split_at_checked(HEADER as usize).ok_or(Problem::NotASlice.at(at))?;
    let opened = header::open(keyring, object.epoch, header).map_err(|problem| problem.at(at))?;
    let found = opened.head;
    let count = match found.role {
        Role::Manifest(count) => count,
        Role::Object | Role::Part(_) => return Err(Problem::Manifest.at(at)),
    };
    let length = u64::from(count) * ENTRY as u64;
    let whole = sealed_size(length) == Some(slice.len() as u64);
    if found.object != object.id || found.length != length || !whole {
        return Err(Problem::Manifest.at(at));
    }
    let mut plaintext = Vec::with_capacity(payload.len());
    let last = super::size::chunks(length) - 1;
    for (index, chunk) in (0u64..).zip(payload.chunks(SEALED_CHUNK)) {
        let start = plaintext.len();
        plaintext.extend_from_slice(chunk);
        let text = opened.stream.open(index, index == last, &mut plaintext[start..]);
        plaintext.truncate(start + text.ok_or(Problem::Chunk.at(at + super::size::chunk_offset(index)))?);
    }
    Ok((plaintext, opened.tag))
}
