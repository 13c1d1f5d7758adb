//! [`Endpoint`]: S3's operations on a [`SealedStore`].

mod buckets;
mod cors;
pub(super) mod fields;
mod lists;
mod objects;
mod read;
mod settings;
pub(super) mod tag_set;
mod tags;
mod uploads;
mod versions;

use super::call::Call;
use super::content::Holding;
use super::cors::Cors;
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
    pub(super) cors: Cors,
    pub(super) holding: Holding,
}

impl Endpoint {
    /// Notes the operation and its names.
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
    delete_bucket_cors "DeleteBucketCors" DeleteBucketCorsInput DeleteBucketCorsOutput (bucket);
    delete_bucket_lifecycle "DeleteBucketLifecycle" DeleteBucketLifecycleInput DeleteBucketLifecycleOutput (bucket);
    delete_bucket_policy "DeleteBucketPolicy" DeleteBucketPolicyInput DeleteBucketPolicyOutput (bucket);
    delete_bucket_replication "DeleteBucketReplication" DeleteBucketReplicationInput DeleteBucketReplicationOutput (bucket);
    delete_bucket_tagging "DeleteBucketTagging" DeleteBucketTaggingInput DeleteBucketTaggingOutput (bucket);
    delete_bucket_website "DeleteBucketWebsite" DeleteBucketWebsiteInput DeleteBucketWebsiteOutput (bucket);
    delete_object "DeleteObject" DeleteObjectInput DeleteObjectOutput (bucket, key);
    delete_object_tagging "DeleteObjectTagging" DeleteObjectTaggingInput DeleteObjectTaggingOutput (bucket, key);
    delete_objects "DeleteObjects" DeleteObjectsInput DeleteObjectsOutput (bucket);
    get_bucket_accelerate_configuration "GetBucketAccelerateConfiguration" GetBucketAccelerateConfigurationInput GetBucketAccelerateConfigurationOutput (bucket);
    get_bucket_acl "GetBucketAcl" GetBucketAclInput GetBucketAclOutput (bucket);
    get_bucket_cors "GetBucketCors" GetBucketCorsInput GetBucketCorsOutput (bucket);
    get_bucket_encryption "GetBucketEncryption" GetBucketEncryptionInput GetBucketEncryptionOutput (bucket);
    get_bucket_lifecycle_configuration "GetBucketLifecycleConfiguration" GetBucketLifecycleConfigurationInput GetBucketLifecycleConfigurationOutput (bucket);
    get_bucket_location "GetBucketLocation" GetBucketLocationInput GetBucketLocationOutput (bucket);
    get_bucket_logging "GetBucketLogging" GetBucketLoggingInput GetBucketLoggingOutput (bucket);
    get_bucket_notification_configuration "GetBucketNotificationConfiguration" GetBucketNotificationConfigurationInput GetBucketNotificationConfigurationOutput (bucket);
    get_bucket_ownership_controls "GetBucketOwnershipControls" GetBucketOwnershipControlsInput GetBucketOwnershipControlsOutput (bucket);
    get_bucket_policy "GetBucketPolicy" GetBucketPolicyInput GetBucketPolicyOutput (bucket);
    get_bucket_policy_status "GetBucketPolicyStatus" GetBucketPolicyStatusInput GetBucketPolicyStatusOutput (bucket);
    get_bucket_replication "GetBucketReplication" GetBucketReplicationInput GetBucketReplicationOutput (bucket);
    get_bucket_request_payment "GetBucketRequestPayment" GetBucketRequestPaymentInput GetBucketRequestPaymentOutput (bucket);
    get_bucket_tagging "GetBucketTagging" GetBucketTaggingInput GetBucketTaggingOutput (bucket);
    get_bucket_versioning "GetBucketVersioning" GetBucketVersioningInput GetBucketVersioningOutput (bucket);
    get_bucket_website "GetBucketWebsite" GetBucketWebsiteInput GetBucketWebsiteOutput (bucket);
    get_object "GetObject" GetObjectInput GetObjectOutput (bucket, key);
    get_object_acl "GetObjectAcl" GetObjectAclInput GetObjectAclOutput (bucket, key);
    get_object_attributes "GetObjectAttributes" GetObjectAttributesInput GetObjectAttributesOutput (bucket, key);
    get_object_lock_configuration "GetObjectLockConfiguration" GetObjectLockConfigurationInput GetObjectLockConfigurationOutput (bucket);
    get_object_tagging "GetObjectTagging" GetObjectTaggingInput GetObjectTaggingOutput (bucket, key);
    get_public_access_block "GetPublicAccessBlock" GetPublicAccessBlockInput GetPublicAccessBlockOutput (bucket);
    head_bucket "HeadBucket" HeadBucketInput HeadBucketOutput (bucket);
    head_object "HeadObject" HeadObjectInput HeadObjectOutput (bucket, key);
    list_buckets "ListBuckets" ListBucketsInput ListBucketsOutput ();
    list_multipart_uploads "ListMultipartUploads" ListMultipartUploadsInput ListMultipartUploadsOutput (bucket);
    list_object_versions "ListObjectVersions" ListObjectVersionsInput ListObjectVersionsOutput (bucket);
    list_objects "ListObjects" ListObjectsInput ListObjectsOutput (bucket);
    list_objects_v2 "ListObjectsV2" ListObjectsV2Input ListObjectsV2Output (bucket);
    list_parts "ListParts" ListPartsInput ListPartsOutput (bucket, key);
    put_bucket_acl "PutBucketAcl" PutBucketAclInput PutBucketAclOutput (bucket);
    put_bucket_cors "PutBucketCors" PutBucketCorsInput PutBucketCorsOutput (bucket);
    put_object "PutObject" PutObjectInput PutObjectOutput (bucket, key);
    put_object_acl "PutObjectAcl" PutObjectAclInput PutObjectAclOutput (bucket, key);
    put_object_tagging "PutObjectTagging" PutObjectTaggingInput PutObjectTaggingOutput (bucket, key);
    upload_part "UploadPart" UploadPartInput UploadPartOutput (bucket, key);
    upload_part_copy "UploadPartCopy" UploadPartCopyInput UploadPartCopyOutput (bucket, key);
}
