//! Buckets.

use super::{Answer, Endpoint};
use crate::front::call::Call;
use crate::front::errors::answer;
use http::StatusCode;
use s3s::dto::*;
use s3s::{S3Request, S3Response, S3Result};
use std::time::SystemTime;

/// The first region of S3: answers omit its name.
const FIRST_REGION: &str = "us-east-1";

impl Endpoint {
    pub(super) async fn is_there(&self, call: &Call, bucket: &str) -> S3Result<()> {
        self.store.head_bucket(bucket).await.map_err(|error| answer(call, error))
    }

    pub(super) async fn list_buckets(
        &self,
        call: &Call,
        request: S3Request<ListBucketsInput>,
    ) -> Answer<ListBucketsOutput> {
        let names = self.store.list_buckets().await.map_err(|error| answer(call, error))?;
        let prefix = request.input.prefix;
        let is_wanted = |name: &String| prefix.as_ref().is_none_or(|prefix| name.starts_with(prefix.as_str()));
        let bucket = |name: String| Bucket {
            name: Some(name),
            // The storage was not asked for it, and clients fail for a bucket without a date.
            creation_date: Some(Timestamp::from(SystemTime::UNIX_EPOCH)),
            bucket_region: None,
        };
        let buckets = names.into_iter().filter(is_wanted).map(bucket).collect();
        Ok(S3Response::new(ListBucketsOutput { buckets: Some(buckets), prefix, ..ListBucketsOutput::default() }))
    }

    pub(super) async fn create_bucket(
        &self,
        call: &Call,
        request: S3Request<CreateBucketInput>,
    ) -> Answer<CreateBucketOutput> {
        super::fields::refuse(&request.headers)?;
        let bucket = request.input.bucket;
        self.store.create_bucket(&bucket).await.map_err(|error| answer(call, error))?;
        Ok(S3Response::new(CreateBucketOutput { location: Some(format!("/{bucket}")) }))
    }

    pub(super) async fn delete_bucket(
        &self,
        call: &Call,
        request: S3Request<DeleteBucketInput>,
    ) -> Answer<DeleteBucketOutput> {
        self.store.delete_bucket(&request.input.bucket).await.map_err(|error| answer(call, error))?;
        self.cors.forget(&request.input.bucket);
        Ok(S3Response::with_status(DeleteBucketOutput::default(), StatusCode::NO_CONTENT))
    }

    pub(super) async fn head_bucket(
        &self,
        call: &Call,
        request: S3Request<HeadBucketInput>,
    ) -> Answer<HeadBucketOutput> {
        self.is_there(call, &request.input.bucket).await?;
        let bucket_region = Some(self.region.clone());
        Ok(S3Response::new(HeadBucketOutput { bucket_region, ..HeadBucketOutput::default() }))
    }

    pub(super) async fn get_bucket_location(
        &self,
        call: &Call,
        request: S3Request<GetBucketLocationInput>,
    ) -> Answer<GetBucketLocationOutput> {
        self.is_there(call, &request.input.bucket).await?;
        let region = Some(self.region.clone()).filter(|region| region != FIRST_REGION);
        let location_constraint = region.map(BucketLocationConstraint::from);
        Ok(S3Response::new(GetBucketLocationOutput { location_constraint }))
    }

    /// There is none.
    pub(super) async fn get_bucket_versioning(
        &self,
        call: &Call,
        request: S3Request<GetBucketVersioningInput>,
    ) -> Answer<GetBucketVersioningOutput> {
        self.is_there(call, &request.input.bucket).await?;
        Ok(S3Response::new(GetBucketVersioningOutput::default()))
    }
}
