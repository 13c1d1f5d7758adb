//! [`Endpoint`]: S3's operations on a [`SealedStore`].

mod buckets;
mod fields;
mod lists;
mod objects;
mod read;
mod uploads;

use super::call::Call;
use super::options::Limits;
use crate::sealed::SealedStore;
use s3s::dto::*;
use s3s::{S3, S3Request, S3Response, S3Result};

type Answer<T> = S3Result<S3Response<T>>;

/// S3 as its clients see it.
#[derive(Clone)]
pub(super) struct Endpoint {
    pub(super) store: SealedStore,
    pub(super) region: String,
    pub(super) limits: Limits,
}

impl Endpoint {
    /// Notes what is asked.
    fn begin<T>(request: &S3Request<T>, operation: &'static str, names: &[&str]) -> Call {
        let call = request.extensions.get::<Call>().cloned().unwrap_or_else(Call::new);
        call.begin(operation, request.credentials.as_ref().map(|credentials| credentials.access_key.as_str()));
        if let Some((bucket, key)) = names.split_first() {
            call.name(bucket, key.first().copied());
        }
        call
    }
}

/// Hands each operation to the method of the same name that also takes the call.
macro_rules! operations {
    ($($method:ident $name:literal $input:ident $output:ident ($($field:ident),*);)*) => {
        #[async_trait::async_trait]
        impl S3 for Endpoint {
            $(async fn $method(&self, request: S3Request<$input>) -> Answer<$output> {
                let call = Self::begin(&request, $name, &[$(request.input.$field.as_str()),*]);
                let answer = Endpoint::$method(self, &call, request).await;
                answer.inspect_err(|error| call.fail(error))
            })*
        }
    };
}

operations! {
    abort_multipart_upload "AbortMultipartUpload" AbortMultipartUploadInput AbortMultipartUploadOutput (bucket, key);
    complete_multipart_upload "CompleteMultipartUpload" CompleteMultipartUploadInput CompleteMultipartUploadOutput (bucket, key);
    copy_object "CopyObject" CopyObjectInput CopyObjectOutput (bucket, key);
    create_bucket "CreateBucket" CreateBucketInput CreateBucketOutput (bucket);
    create_multipart_upload "CreateMultipartUpload" CreateMultipartUploadInput CreateMultipartUploadOutput (bucket, key);
    delete_bucket "DeleteBucket" DeleteBucketInput DeleteBucketOutput (bucket);
    delete_object "DeleteObject" DeleteObjectInput DeleteObjectOutput (bucket, key);
    delete_objects "DeleteObjects" DeleteObjectsInput DeleteObjectsOutput (bucket);
    get_bucket_location "GetBucketLocation" GetBucketLocationInput GetBucketLocationOutput (bucket);
    get_bucket_versioning "GetBucketVersioning" GetBucketVersioningInput GetBucketVersioningOutput (bucket);
    get_object "GetObject" GetObjectInput GetObjectOutput (bucket, key);
    get_object_tagging "GetObjectTagging" GetObjectTaggingInput GetObjectTaggingOutput (bucket, key);
    head_bucket "HeadBucket" HeadBucketInput HeadBucketOutput (bucket);
    head_object "HeadObject" HeadObjectInput HeadObjectOutput (bucket, key);
    list_buckets "ListBuckets" ListBucketsInput ListBucketsOutput ();
    list_multipart_uploads "ListMultipartUploads" ListMultipartUploadsInput ListMultipartUploadsOutput (bucket);
    list_objects "ListObjects" ListObjectsInput ListObjectsOutput (bucket);
    list_objects_v2 "ListObjectsV2" ListObjectsV2Input ListObjectsV2Output (bucket);
    list_parts "ListParts" ListPartsInput ListPartsOutput (bucket, key);
    put_object "PutObject" PutObjectInput PutObjectOutput (bucket, key);
    upload_part "UploadPart" UploadPartInput UploadPartOutput (bucket, key);
    upload_part_copy "UploadPartCopy" UploadPartCopyInput UploadPartCopyOutput (bucket, key);
}
