//! Uploads in parts.

use super::fields::{Sums, attributes, conditions, refuse, size, source, source_range, tag, timestamp};
use super::objects::{fault, not_modified_is_failed};
use super::{Answer, Endpoint};
use crate::front::call::Call;
use crate::front::checksums::Algorithm;
use crate::front::content::Upload;
use crate::front::errors::{answer, invalid, not_here};
use crate::sealed::{Receipt, Whole};
use crate::store::ObjectName;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use s3s::dto::*;
use s3s::{S3Error, S3ErrorCode, S3Request, S3Response, S3Result};
use std::time::SystemTime;

/// Maximum number of entries of a page.
const PAGE: usize = 1000;
/// The assumed size of the parts of an upload that begins; clients rarely choose smaller ones.
const USUAL_PART: u64 = 8 << 20;

impl Endpoint {
    pub(super) async fn create_multipart_upload(
        &self,
        call: &Call,
        request: S3Request<CreateMultipartUploadInput>,
    ) -> Answer<CreateMultipartUploadOutput> {
        refuse(&request.headers)?;
        let input = request.input;
        self.store.expect_upload(&input.bucket, USUAL_PART);
        let attributes = attributes(&request.headers, input.content_type, input.metadata)?;
        let object = ObjectName::new(input.bucket, input.key);
        let created = self.store.create_upload(&object, &attributes).await;
        let upload_id = created.map_err(|error| answer(call, error))?;
        Ok(S3Response::new(CreateMultipartUploadOutput {
            bucket: Some(object.bucket),
            key: Some(object.key),
            upload_id: Some(upload_id),
            checksum_algorithm: input.checksum_algorithm,
            checksum_type: input.checksum_type,
            ..CreateMultipartUploadOutput::default()
        }))
    }

    pub(super) async fn upload_part(
        &self,
        call: &Call,
        request: S3Request<UploadPartInput>,
    ) -> Answer<UploadPartOutput> {
        refuse(&request.headers)?;
        let upload = Upload::take(&request, self.limits.object_bytes)?;
        let input = request.input;
        let number = number(input.part_number)?;
        self.store.expect_upload(&input.bucket, upload.length);
        let (content, sums) = upload.content().await.map_err(|_| fault(call))?;
        let object = ObjectName::new(input.bucket, input.key);
        let stored = self.store.put_part(&object, &input.upload_id, number, content).await;
        let receipt = stored.map_err(|error| answer(call, error))?;
        call.stored(&receipt);
        let sums = sums.get();
        Ok(S3Response::new(UploadPartOutput {
            e_tag: tag(&receipt.tag),
            checksum_crc32: sums.of(Algorithm::Crc32),
            checksum_crc32c: sums.of(Algorithm::Crc32c),
            checksum_crc64nvme: sums.of(Algorithm::Crc64Nvme),
            checksum_sha1: sums.of(Algorithm::Sha1),
            checksum_sha256: sums.of(Algorithm::Sha256),
            ..UploadPartOutput::default()
        }))
    }

    pub(super) async fn upload_part_copy(
        &self,
        call: &Call,
        request: S3Request<UploadPartCopyInput>,
    ) -> Answer<UploadPartCopyOutput> {
        refuse(&request.headers)?;
        let input = request.input;
        let (from, to) = (source(&input.copy_source)?, ObjectName::new(input.bucket, input.key));
        let number = number(input.part_number)?;
        let range = source_range(input.copy_source_range.as_deref())?;
        let conditions = conditions(&request.headers, "x-amz-copy-source-");
        let copied = self.store.copy_part(&to, &input.upload_id, number, (&from, range, &conditions)).await;
        let receipt = copied.map_err(|error| not_modified_is_failed(answer(call, error)))?;
        call.stored(&receipt);
        let result = CopyPartResult {
            e_tag: tag(&receipt.tag),
            last_modified: timestamp(receipt.modified.unwrap_or_else(SystemTime::now)),
            ..CopyPartResult::default()
        };
        Ok(S3Response::new(UploadPartCopyOutput { copy_part_result: Some(result), ..UploadPartCopyOutput::default() }))
    }

    pub(super) async fn complete_multipart_upload(
        &self,
        call: &Call,
        request: S3Request<CompleteMultipartUploadInput>,
    ) -> Answer<CompleteMultipartUploadOutput> {
        let conditions = conditions(&request.headers, "");
        let input = request.input;
        let (parts, whole) = (parts(input.multipart_upload.clone())?, whole(&input)?);
        let object = ObjectName::new(input.bucket, input.key);
        let output = CompleteMultipartUploadOutput {
            bucket: Some(object.bucket.clone()),
            key: Some(object.key.clone()),
            location: Some(format!("/{}/{}", object.bucket, object.key)),
            ..CompleteMultipartUploadOutput::default()
        };
        // A completion that has begun goes on to its end, even if the client leaves.
        let (store, noted) = (self.store.clone(), call.clone());
        let mut work = tokio::spawn(async move {
            let completed = store.complete_whole(&object, &input.upload_id, &parts, (&whole, &conditions)).await;
            completed.map_err(|error| answer(&noted, error))
        });
        // A client that waits for longer gets white space, as from S3; an error is then inside of
        // an answer that began as 200.
        if let Ok(done) = tokio::time::timeout(self.limits.complete_patience, &mut work).await {
            return Ok(S3Response::new(completed(call, output, done)?));
        }
        let noted = call.clone();
        let head = CompleteMultipartUploadOutput::default();
        let future = Box::pin(async move { completed(&noted, output, work.await) });
        Ok(S3Response::new(CompleteMultipartUploadOutput { future: Some(future), ..head }))
    }

    pub(super) async fn abort_multipart_upload(
        &self,
        call: &Call,
        request: S3Request<AbortMultipartUploadInput>,
    ) -> Answer<AbortMultipartUploadOutput> {
        let input = request.input;
        let object = ObjectName::new(input.bucket, input.key);
        let aborted = self.store.abort_upload(&object, &input.upload_id).await;
        aborted.map_err(|error| answer(call, error))?;
        Ok(S3Response::new(AbortMultipartUploadOutput::default()))
    }

    pub(super) async fn list_parts(&self, call: &Call, request: S3Request<ListPartsInput>) -> Answer<ListPartsOutput> {
        let input = request.input;
        let marker = input.part_number_marker;
        let after = marker.map_or(0, |marker| u32::try_from(marker).unwrap_or(0));
        let most = page(input.max_parts)?;
        let object = ObjectName::new(input.bucket, input.key);
        let listed = self.store.list_parts(&object, &input.upload_id, after).await;
        let (mut parts, mut has_more) = listed.map_err(|error| answer(call, error))?;
        has_more |= parts.len() > most;
        parts.truncate(most);
        let number = |number: u32| i32::try_from(number).ok();
        let part = |part: &crate::sealed::PartInfo| Part {
            part_number: number(part.number),
            e_tag: tag(&part.tag),
            size: size(part.size),
            last_modified: timestamp(part.modified),
            ..Part::default()
        };
        Ok(S3Response::new(ListPartsOutput {
            bucket: Some(object.bucket),
            key: Some(object.key),
            upload_id: Some(input.upload_id),
            part_number_marker: marker.or(Some(0)),
            next_part_number_marker: parts.last().and_then(|part| number(part.number)),
            max_parts: i32::try_from(most).ok(),
            is_truncated: Some(has_more),
            parts: Some(parts.iter().map(part).collect()),
            ..ListPartsOutput::default()
        }))
    }

    pub(super) async fn list_multipart_uploads(
        &self,
        call: &Call,
        request: S3Request<ListMultipartUploadsInput>,
    ) -> Answer<ListMultipartUploadsOutput> {
        let input = request.input;
        if input.delimiter.as_ref().is_some_and(|delimiter| !delimiter.is_empty()) {
            return Err(not_here("delimiter in lists of uploads"));
        }
        let most = page(input.max_uploads)?;
        let prefix = input.prefix.clone().unwrap_or_default();
        // S3 lists behind all uploads of the key when no id is given.
        let after_id = input.upload_id_marker.as_deref().unwrap_or("\u{10FFFF}");
        let after = input.key_marker.as_deref().filter(|key| !key.is_empty()).map(|key| (key, after_id));
        let listed = self.store.list_uploads(&input.bucket, &prefix, after).await;
        let (mut uploads, mut has_more) = listed.map_err(|error| answer(call, error))?;
        has_more |= uploads.len() > most;
        uploads.truncate(most);
        let coded = super::lists::Coding::of(input.encoding_type.as_ref());
        let last = uploads.last().filter(|_| has_more);
        let output = ListMultipartUploadsOutput {
            bucket: Some(input.bucket),
            prefix: input.prefix.map(|prefix| coded.text(&prefix)),
            key_marker: Some(coded.text(&input.key_marker.unwrap_or_default())),
            upload_id_marker: input.upload_id_marker,
            next_key_marker: last.map(|upload| coded.text(&upload.key)),
            next_upload_id_marker: last.map(|upload| upload.upload_id.clone()),
            encoding_type: input.encoding_type,
            max_uploads: i32::try_from(most).ok(),
            is_truncated: Some(has_more),
            uploads: Some(
                uploads
                    .iter()
                    .map(|upload| MultipartUpload {
                        key: Some(coded.text(&upload.key)),
                        upload_id: Some(upload.upload_id.clone()),
                        initiated: timestamp(upload.begun),
                        ..MultipartUpload::default()
                    })
                    .collect(),
            ),
            ..ListMultipartUploadsOutput::default()
        };
        Ok(S3Response::new(output))
    }
}

fn number(number: i32) -> S3Result<u32> {
    let valid = u32::try_from(number).ok().filter(|number| (1..=10_000).contains(number));
    valid.ok_or_else(|| invalid("partNumber is from 1 to 10,000"))
}

/// How many a client wants on a page.
fn page(most: Option<i32>) -> S3Result<usize> {
    match most.map(usize::try_from) {
        None => Ok(PAGE),
        Some(Ok(most)) => Ok(most.min(PAGE)),
        Some(Err(_)) => Err(invalid("a page has no negative number of entries")),
    }
}

fn parts(upload: Option<CompletedMultipartUpload>) -> S3Result<Vec<(u32, String)>> {
    let parts = upload.and_then(|upload| upload.parts).unwrap_or_default();
    if parts.is_empty() {
        return Err(S3Error::with_message(S3ErrorCode::MalformedXML, "the upload is to be completed without a part"));
    }
    let part = |part: CompletedPart| {
        let missing = || S3Error::with_message(S3ErrorCode::MalformedXML, "a part has no number or no ETag");
        let tag = part.e_tag.ok_or_else(missing)?;
        Ok((number(part.part_number.ok_or_else(missing)?)?, tag.into_value()))
    };
    parts.into_iter().map(part).collect()
}

type Done = Result<S3Result<Receipt>, tokio::task::JoinError>;

fn completed(
    call: &Call,
    mut output: CompleteMultipartUploadOutput,
    done: Done,
) -> S3Result<CompleteMultipartUploadOutput> {
    let broken = |_| S3Error::with_message(S3ErrorCode::InternalError, "the gateway failed");
    let receipt = done.map_err(broken)??;
    call.stored(&receipt);
    output.e_tag = tag(&receipt.tag);
    let sums = Sums::of(&receipt.checksums);
    output.checksum_crc32 = sums.crc32;
    output.checksum_crc32c = sums.crc32c;
    output.checksum_crc64nvme = sums.crc64nvme;
    output.checksum_type = sums.kind;
    Ok(output)
}

/// What the request states of the whole object. Checksums of the parts' checksums (`COMPOSITE`),
/// SHA-1 and SHA-256 cannot be verified when the parts are stored: they are passed over.
fn whole(input: &CompleteMultipartUploadInput) -> S3Result<Whole> {
    let size = input.mpu_object_size.map(|size| u64::try_from(size).map_err(|_| invalid("a size is negative")));
    let size = size.transpose()?;
    if input.checksum_type.as_ref().is_some_and(|kind| kind.as_str() == ChecksumType::COMPOSITE) {
        return Ok(Whole { size, ..Whole::default() });
    }
    Ok(Whole {
        size,
        crc32: crc(input.checksum_crc32.as_deref())?.map(u32::from_be_bytes),
        crc32c: crc(input.checksum_crc32c.as_deref())?.map(u32::from_be_bytes),
        crc64nvme: crc(input.checksum_crc64nvme.as_deref())?.map(u64::from_be_bytes),
    })
}

/// A checksum in base64. One that ends with the number of parts is of their checksums.
fn crc<const N: usize>(text: Option<&str>) -> S3Result<Option<[u8; N]>> {
    let Some(text) = text.filter(|text| !text.contains('-')) else { return Ok(None) };
    let bytes = STANDARD.decode(text).ok().and_then(|bytes| bytes.try_into().ok());
    let wrong =
        || S3Error::with_message(S3ErrorCode::InvalidRequest, format!("{text:?} is not a checksum of {N} bytes"));
    bytes.ok_or_else(wrong).map(Some)
}
