//! A bucket's CORS configuration.

use super::{Answer, Endpoint};
use crate::front::call::Call;
use crate::front::cors::Rule;
use crate::front::errors::answer;
use http::StatusCode;
use s3s::dto::*;
use s3s::{S3Error, S3ErrorCode, S3Request, S3Response};

impl Endpoint {
    pub(super) async fn get_bucket_cors(
        &self,
        call: &Call,
        request: S3Request<GetBucketCorsInput>,
    ) -> Answer<GetBucketCorsOutput> {
        let bucket = request.input.bucket;
        self.is_there(call, &bucket).await?;
        let rules = self.cors.rules(&bucket).await.map_err(|error| answer(call, error))?;
        if rules.is_empty() {
            let message = "The CORS configuration does not exist";
            let mut error = S3Error::with_message(S3ErrorCode::NoSuchCORSConfiguration, message);
            error.set_status_code(StatusCode::NOT_FOUND);
            return Err(error);
        }
        let rules = rules.iter().cloned().map(Rule::into_dto).collect();
        Ok(S3Response::new(GetBucketCorsOutput { cors_rules: Some(rules) }))
    }

    pub(super) async fn put_bucket_cors(
        &self,
        call: &Call,
        request: S3Request<PutBucketCorsInput>,
    ) -> Answer<PutBucketCorsOutput> {
        let PutBucketCorsInput { bucket, cors_configuration, .. } = request.input;
        let rules = Rule::of(cors_configuration)?;
        self.is_there(call, &bucket).await?;
        self.cors.set(&bucket, rules).await.map_err(|error| answer(call, error))?;
        Ok(S3Response::new(PutBucketCorsOutput::default()))
    }

    pub(super) async fn delete_bucket_cors(
        &self,
        call: &Call,
        request: S3Request<DeleteBucketCorsInput>,
    ) -> Answer<DeleteBucketCorsOutput> {
        let bucket = request.input.bucket;
        self.is_there(call, &bucket).await?;
        self.cors.set(&bucket, Vec::new()).await.map_err(|error| answer(call, error))?;
        Ok(S3Response::with_status(DeleteBucketCorsOutput::default(), StatusCode::NO_CONTENT))
    }
}
