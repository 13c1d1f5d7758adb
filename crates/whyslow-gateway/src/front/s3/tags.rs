//! Tags of objects. They are stored with the object's metadata, and bound by it.

use super::objects::current;
use super::tag_set::{self, Tags};
use super::{Answer, Endpoint};
use crate::front::call::Call;
use crate::front::errors::answer;
use crate::store::{Conditions, ObjectName};
use http::StatusCode;
use s3s::dto::*;
use s3s::{S3Request, S3Response, S3Result};

impl Endpoint {
    pub(super) async fn get_object_tagging(
        &self,
        call: &Call,
        request: S3Request<GetObjectTaggingInput>,
    ) -> Answer<GetObjectTaggingOutput> {
        let input = request.input;
        current(input.version_id.as_deref())?;
        let object = ObjectName::new(input.bucket, input.key);
        let info = self.store.head(&object, &Conditions::default()).await.map_err(|error| answer(call, error))?;
        let tag = |(key, value)| Tag { key: Some(key), value: Some(value) };
        let tag_set = tag_set::of(&info.attributes).into_iter().map(tag).collect();
        Ok(S3Response::new(GetObjectTaggingOutput { tag_set, version_id: None }))
    }

    pub(super) async fn put_object_tagging(
        &self,
        call: &Call,
        request: S3Request<PutObjectTaggingInput>,
    ) -> Answer<PutObjectTaggingOutput> {
        let input = request.input;
        current(input.version_id.as_deref())?;
        let pair = |tag: Tag| (tag.key.unwrap_or_default(), tag.value.unwrap_or_default());
        let tags = tag_set::checked(input.tagging.tag_set.into_iter().map(pair))?;
        self.retag(call, &ObjectName::new(input.bucket, input.key), &tags).await?;
        Ok(S3Response::new(PutObjectTaggingOutput::default()))
    }

    pub(super) async fn delete_object_tagging(
        &self,
        call: &Call,
        request: S3Request<DeleteObjectTaggingInput>,
    ) -> Answer<DeleteObjectTaggingOutput> {
        let input = request.input;
        current(input.version_id.as_deref())?;
        self.retag(call, &ObjectName::new(input.bucket, input.key), &Tags::new()).await?;
        Ok(S3Response::with_status(DeleteObjectTaggingOutput::default(), StatusCode::NO_CONTENT))
    }

    /// Copies the object onto itself in the storage, with other tags in its metadata.
    async fn retag(&self, call: &Call, object: &ObjectName, tags: &Tags) -> S3Result<()> {
        let change = |mut attributes| {
            tag_set::set(&mut attributes, tags);
            attributes
        };
        let copied = self.store.copy_with(object, object, &change, &Conditions::default()).await;
        copied.map(drop).map_err(|error| answer(call, error))
    }
}
