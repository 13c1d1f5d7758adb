//! Uploads in parts: a slice for each, and a manifest with the valid versions.
//!
//! Upload ids and ETags of parts carry all facts that are needed, so that nothing is lost with this
//! process. But they cannot be listed: an upload's list would lack the parts that another gateway
//! took, and a client that completes it by that list would lose them. So such a list is refused.

use super::attributes;
use super::checked::OURS;
use super::context::Context;
use super::error::{SealedError, SealedErrorKind};
use super::known::Size;
use super::sealing::{Sealing, Taking};
use super::tags;
use super::tail;
use super::types::{Attributes, Content, PartInfo, Receipt, UploadInfo, Whole};
use crate::format::manifest::{self, MAX_PARTS};
use crate::format::{Algorithm, Checksums, HEADER, Kind, PartToken, Role, Sums, UploadToken, plain_size, sealed_size};
use crate::memory::Permit;
use crate::pool::{Body, LetGo};
use crate::store::{Conditions, ErrorKind, ObjectName, Part, ReadOptions, Stored, Upload};
use bytes::Bytes;
use std::time::SystemTime;

/// The manifest is a part of the storage's, the last one.
const MOST: u32 = MAX_PARTS - 1;
/// A chunk and its tag. A slice has no last chunk of 1 to 16 bytes with its tag: there would be
/// nothing in it.
const SEALED_CHUNK: u64 = 65_552;
const NO_CHUNK: u64 = 8;

const LIST_PARTS: &str = "complete the upload by the ETags that were answered when the parts were stored, or send the \
                          parts again";
const LIST_UPLOADS: &str = "there are uploads that were not begun by this gateway since it started, and cannot be listed; \
                            `whyslow gateway clean` lists them as they are stored";

pub(super) async fn create(
    context: &Context,
    name: &ObjectName,
    attributes: &Attributes,
) -> Result<String, SealedError> {
    let stored = context.names.stored(name)?;
    let object = context.new_object(Kind::Multipart)?;
    let options = attributes::to_options(&context.keyring, (&object, name), attributes, Conditions::default())?;
    let upload = context.store.create_upload(&stored, &options).await?;
    let token = UploadToken { object, backend: upload.id.clone() };
    let upload_id = token.to_text(&context.keyring, attributes::name(name))?;
    let info = UploadInfo { key: name.key.clone(), upload_id: upload_id.clone(), begun: SystemTime::now() };
    context.known.note_upload(&name.bucket, &upload.id, info);
    Ok(upload_id)
}

/// The upload that a client means, and the storage's.
fn of(context: &Context, name: &ObjectName, upload_id: &str) -> Result<(UploadToken, Upload), SealedError> {
    let token = UploadToken::verify(&context.keyring, upload_id, attributes::name(name))?;
    let upload = Upload { object: context.names.stored(name)?, id: token.backend.clone() };
    Ok((token, upload))
}

pub(super) async fn put_part(
    context: &Context,
    (name, upload_id, number): (&ObjectName, &str, u32),
    content: Content,
    place: Permit,
) -> Result<Receipt, SealedError> {
    let (token, upload) = of(context, name, upload_id)?;
    if !(1..=MOST).contains(&number) {
        let why = format!("part {number}: parts are numbered from 1 to {MOST}");
        return Err(SealedError::new(SealedErrorKind::InvalidRequest, why));
    }
    let length = content.length;
    let too_long = || SealedError::new(SealedErrorKind::EntityTooLarge, format!("{length} B are too many"));
    let size = sealed_size(length).ok_or_else(too_long)?;
    let filler = manifest::filler(size, context.options.least_part);
    let let_go = LetGo::default();
    let taking = Taking::Each(context.memory().clone(), let_go.clone());
    let slice = (token.object, Role::Part(number));
    let (bytes, sealed) = Sealing::begin(&context.keyring, slice, (content, filler), taking, Some(place))?;
    let replay = if size <= context.options.held_for_repeat { size + u64::from(filler) } else { 0 };
    let body = Body::stream_until(size + u64::from(filler), replay, bytes, let_go);
    let part = context.store.put_part(&upload, number, body).await?;
    let unfinished = || SealedError::new(SealedErrorKind::Internal, "the storage took a part before its end");
    let tag = sealed.tag().ok_or_else(unfinished)?;
    let backend = part.tag.trim_matches('"').to_owned();
    let own = PartToken { part: manifest::Part { number, length, filler, tag }, backend, sums: sealed.sums() };
    let tag = own.to_text(&context.keyring, token.object)?;
    let info = PartInfo { number, tag: tag.clone(), size: length, modified: SystemTime::now() };
    context.known.note_part(upload_id, &part.tag, info);
    Ok(Receipt { tag, transfer: part.transfer, sealing: sealed.time(), ..Receipt::default() })
}

/// Stores the manifest behind the parts, and makes all of it one object.
pub(super) async fn complete(
    context: &Context,
    (name, upload_id): (&ObjectName, &str),
    parts: &[(u32, String)],
    (whole, conditions): (&Whole, &Conditions),
) -> Result<Receipt, SealedError> {
    let (token, upload) = of(context, name, upload_id)?;
    if !parts.is_sorted_by(|one, next| one.0 < next.0) {
        let why = "the parts' numbers do not ascend";
        return Err(SealedError::new(SealedErrorKind::InvalidPartOrder, why));
    }
    let mut tokens = Vec::new();
    for (number, tag) in parts {
        let own = PartToken::verify(&context.keyring, tag.trim_matches('"'), token.object, *number);
        let wrong = |fault| SealedError::new(SealedErrorKind::InvalidPart, format!("part {number}: {fault}"));
        tokens.push(own.map_err(wrong)?);
    }
    let sums = verify(whole, &tokens)?;
    let checksums = sums.map(|sums| stated(whole, &sums)).unwrap_or_default();
    let mut list: Vec<_> = tokens.iter().map(|token| token.part).collect();
    if let Some(last) = list.last_mut() {
        last.filler = last.filler.saturating_add(checksums.in_filler());
    }
    let fillers = pad(&mut list);
    let end = manifest::seal_with_checksums(&context.keyring, token.object, &list, &checksums)?;
    let number = list.last().map_or(1, |part| part.number) + 1;
    let stored = |token: &PartToken, filler: u32| {
        let size = sealed_size(token.part.length).unwrap_or(0) + u64::from(filler);
        Part { number: token.part.number, tag: format!("\"{}\"", token.backend), size, transfer: None }
    };
    let mut of_storage: Vec<_> = tokens.iter().map(|token| stored(token, token.part.filler)).collect();
    let _permit = context.memory().acquire((end.len() + fillers) as u64).await;
    let body = Body::chunks(vec![Bytes::from(vec![0; fillers]), Bytes::from(end)]);
    let completed = async {
        of_storage.push(context.store.put_part(&upload, number, body).await?);
        context.store.complete_upload(&upload, &of_storage, &super::tags::conditions(conditions)).await
    };
    let done = match completed.await {
        Err(error) if error.kind == ErrorKind::NoSuchUpload => {
            let before = completed_before(context, name, (&token, &upload), &list).await;
            before.ok_or_else(|| SealedError::from(error))?
        }
        done => done?,
    };
    context.known.forget_upload(&name.bucket, &upload.id);
    let length = list.iter().map(|part| part.length).sum();
    let size = Size { length, parts: u32::try_from(list.len()).ok() };
    context.known.note_size(&upload.object, &done.tag, size);
    let tag = tags::to_client(&done.tag);
    Ok(Receipt { tag, transfer: done.transfer, checksums, ..Receipt::default() })
}

/// The object, if an earlier request completed the upload with the same parts: its answer may have
/// been lost. As in S3, the client is answered the same again.
async fn completed_before(
    context: &Context,
    name: &ObjectName,
    (token, upload): (&UploadToken, &Upload),
    parts: &[manifest::Part],
) -> Option<Stored> {
    let info = context.store.head(&upload.object, &Conditions::default()).await.ok()?;
    let (object, _) = attributes::verify(&context.keyring, name, &info).ok()?;
    if object.id() != token.object.id() {
        return None;
    }
    let _permit = context.memory().acquire(manifest::TAIL).await;
    let layout = tail::layout(context, &upload.object, (object, &info), &ReadOptions::default()).await.ok()?;
    manifest::is_of(&layout, parts).then_some(Stored { tag: info.tag, transfer: None })
}

/// Compares the parts with the client's description of the whole; gives the whole's CRCs. Without
/// those of all parts, which earlier versions did not note, there is nothing to compare.
fn verify(whole: &Whole, parts: &[PartToken]) -> Result<Option<Sums>, SealedError> {
    let size: u64 = parts.iter().map(|token| token.part.length).sum();
    if let Some(expected) = whole.size.filter(|expected| *expected != size) {
        let why = format!("the parts have {size} bytes, and the request states {expected}");
        return Err(SealedError::new(SealedErrorKind::InvalidRequest, why));
    }
    let all = parts.iter().try_fold(Sums::default(), |sums, token| Some(sums.then(token.sums?, token.part.length)));
    let Some(sums) = all else { return Ok(None) };
    let is_same = whole.crc32.is_none_or(|crc| crc == sums.crc32)
        && whole.crc32c.is_none_or(|crc| crc == sums.crc32c)
        && whole.crc64nvme.is_none_or(|crc| crc == sums.crc64nvme);
    if is_same {
        return Ok(Some(sums));
    }
    let why = "the parts together do not have the checksum that the request states for the whole object";
    Err(SealedError::new(SealedErrorKind::BadDigest, why))
}

/// The checksums that the client stated, and CRC-64 if it stated none, as S3 has it.
fn stated(whole: &Whole, sums: &Sums) -> Checksums {
    let mut checksums = Checksums::default();
    if whole.crc32.is_some() {
        checksums.add(Algorithm::Crc32, &sums.crc32.to_be_bytes());
    }
    if whole.crc32c.is_some() {
        checksums.add(Algorithm::Crc32c, &sums.crc32c.to_be_bytes());
    }
    if whole.crc64nvme.is_some() || checksums.is_empty() {
        checksums.add(Algorithm::Crc64Nvme, &sums.crc64nvme.to_be_bytes());
    }
    checksums
}

/// Makes the stored object of a size that no single one has, by bytes behind the last part: so
/// lists show that it is none. Gives how many bytes they are.
fn pad(parts: &mut [manifest::Part]) -> usize {
    let Some(size) = manifest::stored_size(parts) else { return 0 };
    let Some(last) = parts.last_mut() else { return 0 };
    if plain_size(size).is_none() {
        return 0;
    }
    let beyond = (size - HEADER) % SEALED_CHUNK;
    let pad = (SEALED_CHUNK + NO_CHUNK - beyond) % SEALED_CHUNK;
    let Some(filler) = u32::try_from(pad).ok().and_then(|pad| last.filler.checked_add(pad)) else { return 0 };
    last.filler = filler;
    usize::try_from(pad).unwrap_or(0)
}

pub(super) async fn abort(context: &Context, name: &ObjectName, upload_id: &str) -> Result<(), SealedError> {
    let (_, upload) = of(context, name, upload_id)?;
    context.store.abort_upload(&upload).await?;
    context.known.forget_upload(&name.bucket, &upload.id);
    Ok(())
}

pub(super) async fn list_parts(
    context: &Context,
    (name, upload_id): (&ObjectName, &str),
    after: u32,
) -> Result<(Vec<PartInfo>, bool), SealedError> {
    let (_, upload) = of(context, name, upload_id)?;
    let (parts, has_more) = context.store.list_parts(&upload, after).await?;
    let known = parts.iter().map(|part| {
        let why = || {
            format!("part {} of this upload was not stored by this gateway since it began: {LIST_PARTS}", part.number)
        };
        let known = context.known.part(upload_id, part.number, &part.tag);
        known.ok_or_else(|| SealedError::new(SealedErrorKind::NotKnown, why()))
    });
    Ok((known.collect::<Result<_, _>>()?, has_more))
}

pub(super) async fn list_uploads(
    context: &Context,
    (bucket, prefix): (&str, &str),
    after: Option<(&str, &str)>,
) -> Result<(Vec<UploadInfo>, bool), SealedError> {
    let after = match after {
        Some((key, upload_id)) => Some(of(context, &ObjectName::new(bucket, key), upload_id)?.1),
        None => None,
    };
    let stored_prefix = match context.names.cipher(bucket) {
        Some(cipher) => cipher.prefix(prefix)?.0,
        None => prefix.to_owned(),
    };
    let mut uploads = Vec::new();
    let mut after = after;
    // A page without a matching upload does not show what the next one holds.
    loop {
        let page = context.store.list_uploads(bucket, &stored_prefix, after.as_ref()).await?;
        after = page.uploads.last().map(|info| info.upload.clone());
        for info in page.uploads.iter().filter(|info| !info.upload.object.key.starts_with(OURS)) {
            let why = || SealedError::new(SealedErrorKind::NotKnown, LIST_UPLOADS);
            let known = context.known.upload(bucket, &info.upload.id).ok_or_else(why)?;
            uploads.extend(Some(known).filter(|info| info.key.starts_with(prefix)));
        }
        if !page.has_more || after.is_none() || !uploads.is_empty() {
            return Ok((uploads, page.has_more));
        }
    }
}
