//! Objects: put, delete, copy.

use super::fields::{attributes, conditions, refuse, size, source, tag, timestamp};
use super::tag_set;
use super::{Answer, Endpoint};
use crate::front::call::Call;
use crate::front::checksums::Algorithm;
use crate::front::content::Upload;
use crate::front::errors::{answer, not_here};
use crate::sealed::Attributes;
use crate::store::ObjectName;
use http::StatusCode;
use s3s::dto::*;
use s3s::{S3Error, S3ErrorCode, S3Request, S3Response, S3Result};
use std::time::SystemTime;

/// S3 deletes no more keys in one request.
const MOST_KEYS: usize = 1000;

impl Endpoint {
    pub(super) async fn put_object(&self, call: &Call, request: S3Request<PutObjectInput>) -> Answer<PutObjectOutput> {
        refuse(&request.headers)?;
        let upload = Upload::take(&request, self.limits.object_bytes)?.with_default_checksum();
        let input = request.input;
        self.store.expect_upload(&input.bucket, upload.length);
        let mut attributes = attributes(&request.headers, input.content_type, input.metadata)?;
        let conditions = conditions(&request.headers, "");
        let size = size(upload.length);
        let content = upload.content_and_checksums(&self.holding).await;
        let (content, sums, known) = content.map_err(|_| fault(call))?;
        attributes.checksums = known;
        let object = ObjectName::new(input.bucket, input.key);
        let stored = self.store.put(&object, content, &attributes, &conditions).await;
        let receipt = stored.map_err(|error| answer(call, error))?;
        call.stored(&receipt);
        let sums = sums.get();
        Ok(S3Response::new(PutObjectOutput {
            e_tag: tag(&receipt.tag),
            size,
            checksum_crc32: sums.of(Algorithm::Crc32),
            checksum_crc32c: sums.of(Algorithm::Crc32c),
            checksum_crc64nvme: sums.of(Algorithm::Crc64Nvme),
            checksum_sha1: sums.of(Algorithm::Sha1),
            checksum_sha256: sums.of(Algorithm::Sha256),
            checksum_type: Some(ChecksumType::from_static(ChecksumType::FULL_OBJECT)),
            ..PutObjectOutput::default()
        }))
    }

    pub(super) async fn delete_object(
        &self,
        call: &Call,
        request: S3Request<DeleteObjectInput>,
    ) -> Answer<DeleteObjectOutput> {
        let input = request.input;
        current(input.version_id.as_deref())?;
        if input.if_match_size.is_some() || input.if_match_last_modified_time.is_some() {
            return Err(not_here("conditions for deleting but If-Match"));
        }
        let object = ObjectName::new(input.bucket, input.key);
        let deleted = match conditions(&request.headers, "").if_match {
            Some(tags) => self.store.delete_if(&object, &tags).await,
            None => self.store.delete(&object).await,
        };
        deleted.map_err(|error| answer(call, error))?;
        Ok(S3Response::with_status(DeleteObjectOutput::default(), StatusCode::NO_CONTENT))
    }

    pub(super) async fn delete_objects(
        &self,
        call: &Call,
        request: S3Request<DeleteObjectsInput>,
    ) -> Answer<DeleteObjectsOutput> {
        let DeleteObjectsInput { bucket, delete, .. } = request.input;
        if delete.objects.len() > MOST_KEYS {
            let message = format!("a request deletes at most {MOST_KEYS} keys");
            return Err(S3Error::with_message(S3ErrorCode::MalformedXML, message));
        }
        let is_plain = |one: &&ObjectIdentifier| {
            one.version_id.is_none() && one.e_tag.is_none() && one.last_modified_time.is_none() && one.size.is_none()
        };
        let (plain, others): (Vec<_>, Vec<_>) = delete.objects.iter().partition(is_plain);
        let keys: Vec<String> = plain.iter().map(|one| one.key.clone()).collect();
        let left = self.store.delete_many(&bucket, &keys).await.map_err(|error| answer(call, error))?;
        let mut errors: Vec<Error> = Vec::new();
        for one in others {
            errors.push(failure(&one.key, &not_here("versions, and no conditions for deleting")));
        }
        let is_left = |key: &String| left.iter().any(|(one, _)| one == key);
        let is_quiet = delete.quiet == Some(true);
        let gone = keys.iter().filter(|key| !is_quiet && !is_left(key));
        let deleted = gone.map(|key| DeletedObject { key: Some(key.clone()), ..DeletedObject::default() }).collect();
        errors.extend(left.into_iter().map(|(key, error)| failure(&key, &answer(call, error))));
        let output = DeleteObjectsOutput { deleted: Some(deleted), errors: Some(errors), request_charged: None };
        Ok(S3Response::new(output))
    }

    pub(super) async fn copy_object(
        &self,
        call: &Call,
        request: S3Request<CopyObjectInput>,
    ) -> Answer<CopyObjectOutput> {
        refuse(&request.headers)?;
        let input = request.input;
        let (from, to) = (source(&input.copy_source)?, ObjectName::new(input.bucket, input.key));
        let is_new = input.metadata_directive.as_ref().is_some_and(|word| word.as_str() == MetadataDirective::REPLACE);
        let has_new_tags =
            input.tagging_directive.as_ref().is_some_and(|word| word.as_str() == TaggingDirective::REPLACE);
        if from == to && !is_new && !has_new_tags {
            let message = "an object is copied onto itself only with other metadata";
            return Err(S3Error::with_message(S3ErrorCode::InvalidRequest, message));
        }
        let given = attributes(&request.headers, input.content_type, input.metadata)?;
        let change = |source: Attributes| {
            let tags = tag_set::of(if has_new_tags { &given } else { &source });
            let mut changed = if is_new { given.clone() } else { source };
            tag_set::set(&mut changed, &tags);
            changed
        };
        let conditions = conditions(&request.headers, "x-amz-copy-source-");
        let copied = self.store.copy_with(&from, &to, &change, &conditions).await;
        let receipt = copied.map_err(|error| not_modified_is_failed(answer(call, error)))?;
        call.stored(&receipt);
        let result = CopyObjectResult {
            e_tag: tag(&receipt.tag),
            last_modified: timestamp(receipt.modified.unwrap_or_else(SystemTime::now)),
            ..CopyObjectResult::default()
        };
        Ok(S3Response::new(CopyObjectOutput { copy_object_result: Some(result), ..CopyObjectOutput::default() }))
    }
}

/// The call's reason why a body failed before the store was asked.
pub(super) fn fault(call: &Call) -> S3Error {
    call.fault().unwrap_or_else(|| S3Error::with_message(S3ErrorCode::IncompleteBody, "the body ended early"))
}

/// A source that does not match is 412, for each kind of condition.
pub(super) fn not_modified_is_failed(error: S3Error) -> S3Error {
    if *error.code() == S3ErrorCode::NotModified {
        return S3Error::with_message(S3ErrorCode::PreconditionFailed, "a condition of the source does not hold");
    }
    error
}

/// There are no versions here.
pub(super) fn current(version: Option<&str>) -> S3Result<()> {
    if version.is_some_and(|version| version != "null") { Err(not_here("versions")) } else { Ok(()) }
}

fn failure(key: &str, error: &S3Error) -> Error {
    Error {
        key: Some(key.to_owned()),
        code: Some(error.code().as_str().to_owned()),
        message: error.message().map(str::to_owned),
        version_id: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_refused() {
        assert!(current(None).is_ok() && current(Some("null")).is_ok() && current(Some("3")).is_err());
        assert_eq!(failure("key", &not_here("x")).code.as_deref(), Some("NotImplemented"));
    }
}
