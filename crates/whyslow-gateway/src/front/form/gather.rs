//! A file of unknown length: a part is collected while the part before is sent.

use super::fields::File;
use super::forms::Forms;
use super::share::part_size;
use crate::front::call::Call;
use crate::front::errors;
use crate::memory::Permit;
use crate::pool::Transfer;
use crate::sealed::{Attributes, Content, Receipt, SealedError};
use crate::store::{Conditions, ObjectName};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use s3s::{S3Error, S3ErrorCode, S3Result};

/// A part of a file in memory.
struct Gathered {
    pieces: Vec<Bytes>,
    size: u64,
    is_last: bool,
}

/// Stores a file; returns its size, the number of parts, and the last receipt.
pub(super) async fn store(
    forms: &Forms,
    call: &Call,
    to: (&ObjectName, &Attributes),
    mut file: File,
) -> S3Result<Done> {
    let memory = forms.store.memory();
    let part = part_size(memory.capacity());
    let busy = || S3Error::with_message(S3ErrorCode::SlowDown, "too many forms without a size come in at once");
    let _turn = forms.gatherers.try_acquire().map_err(|_| busy())?;
    let _room: Permit = memory.try_acquire(2 * part).ok_or_else(busy)?;
    let first = gather(call, &mut file, part).await?;
    let (object, attributes) = to;
    forms.store.expect_upload(&object.bucket, first.size);
    if first.is_last {
        let size = first.size;
        let stored = forms.store.put(object, first.content(), attributes, &Conditions::default()).await;
        return Ok((size, 1, stored.map_err(|error| errors::answer(call, error))?));
    }
    let created = forms.store.create_upload(object, attributes).await;
    let upload_id = created.map_err(|error| errors::answer(call, error))?;
    let upload = Upload { forms, call, object, upload_id: &upload_id };
    let done = upload.parts(file, first, part).await;
    if done.is_err() {
        // `gateway clean` finds a rest.
        let _ = forms.store.abort_upload(object, &upload_id).await;
    }
    done
}

/// The size, the number of parts, and the object's receipt; of several parts with the sum of their
/// cipher time and the slowest transfer.
type Done = (u64, u32, Receipt);

struct Upload<'a> {
    forms: &'a Forms,
    call: &'a Call,
    object: &'a ObjectName,
    upload_id: &'a str,
}

impl Upload<'_> {
    async fn parts(&self, mut file: File, first: Gathered, part: u64) -> S3Result<Done> {
        let (mut parts, mut size, mut current) = (Vec::new(), 0, Some(first));
        let mut all = Receipt::default();
        while let Some(gathered) = current.take() {
            let number = u32::try_from(parts.len() + 1).unwrap_or(u32::MAX);
            let is_last = gathered.is_last;
            size += gathered.size;
            let next = async { if is_last { Ok(None) } else { gather(self.call, &mut file, part).await.map(Some) } };
            let put = self.put(number, gathered);
            let (stored, next) = tokio::join!(put, next);
            let receipt = stored.map_err(|error| self.failed(error))?;
            all.sealing += receipt.sealing;
            all.transfer = slower(all.transfer, receipt.transfer);
            parts.push((number, receipt.tag));
            current = next?;
        }
        let count = u32::try_from(parts.len()).unwrap_or(u32::MAX);
        let none = Conditions::default();
        let completed = self.forms.store.complete_upload(self.object, self.upload_id, &parts, &none).await;
        let Receipt { tag, modified, .. } = completed.map_err(|error| self.failed(error))?;
        Ok((size, count, Receipt { tag, modified, ..all }))
    }

    async fn put(&self, number: u32, gathered: Gathered) -> Result<Receipt, SealedError> {
        self.forms.store.put_part(self.object, self.upload_id, number, gathered.content()).await
    }

    fn failed(&self, error: SealedError) -> S3Error {
        errors::answer(self.call, error)
    }
}

/// The slower of two transfers.
fn slower(one: Option<Transfer>, other: Option<Transfer>) -> Option<Transfer> {
    one.into_iter().chain(other).max_by_key(|transfer| transfer.phases.total())
}

impl Gathered {
    fn content(self) -> Content {
        Content { length: self.size, bytes: stream::iter(self.pieces.into_iter().map(Ok)).boxed() }
    }
}

/// Collects a part's bytes; further bytes stay for the next part.
async fn gather(call: &Call, file: &mut File, part: u64) -> S3Result<Gathered> {
    let mut gathered = Gathered { pieces: Vec::new(), size: 0, is_last: false };
    let mut held: Vec<u8> = Vec::new();
    while gathered.size < part {
        let found = file.next().await.map_err(|error| call.fault().unwrap_or(error))?;
        let Some(mut bytes) = found else {
            gathered.is_last = true;
            break;
        };
        let room = usize::try_from(part - gathered.size).unwrap_or(usize::MAX);
        if bytes.len() > room {
            file.put_back(bytes.split_off(room));
        }
        gathered.size += bytes.len() as u64;
        held.extend_from_slice(&bytes);
    }
    gathered.pieces.push(Bytes::from(held));
    // A file that ends with the part is not followed by an empty part.
    if !gathered.is_last {
        match file.next().await.map_err(|error| call.fault().unwrap_or(error))? {
            Some(bytes) => file.put_back(bytes),
            None => gathered.is_last = true,
        }
    }
    Ok(gathered)
}
