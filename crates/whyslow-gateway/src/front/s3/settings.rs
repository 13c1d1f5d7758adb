//! Settings that buckets and objects do not have here: answered as S3 does for a bucket for which
//! they were never set. Clients ask for them before and after they copy. A request that would set
//! one is `NotImplemented`.

use super::{Answer, Endpoint};
use crate::front::call::Call;
use crate::front::errors::{answer, not_here};
use crate::front::s3::objects::current;
use crate::store::{Conditions, ObjectName};
use http::StatusCode;
use s3s::dto::*;
use s3s::{S3Error, S3ErrorCode, S3Request, S3Response};

/// The owner of all objects: there are no accounts.
const OWNER: &str = "whyslow-gateway";

fn owner() -> Owner {
    Owner { display_name: Some(OWNER.to_owned()), id: Some(OWNER.to_owned()) }
}

/// The owner may do everything, and others nothing.
fn grants() -> Grants {
    let grantee = Grantee {
        display_name: Some(OWNER.to_owned()),
        email_address: None,
        id: Some(OWNER.to_owned()),
        type_: Type::from_static(Type::CANONICAL_USER),
        uri: None,
    };
    let permission = Some(Permission::from_static(Permission::FULL_CONTROL));
    vec![Grant { grantee: Some(grantee), permission }]
}

fn absent(code: S3ErrorCode, message: &'static str) -> S3Error {
    let mut error = S3Error::with_message(code, message);
    error.set_status_code(StatusCode::NOT_FOUND);
    error
}

/// A bucket that is there, and has no such setting.
macro_rules! absent {
    ($($method:ident $input:ident $output:ident $code:ident $message:literal;)*) => {
        impl Endpoint {
            $(pub(super) async fn $method(&self, call: &Call, request: S3Request<$input>) -> Answer<$output> {
                self.is_there(call, &request.input.bucket).await?;
                Err(absent(S3ErrorCode::$code, $message))
            })*
        }
    };
}

absent! {
    get_bucket_lifecycle_configuration GetBucketLifecycleConfigurationInput GetBucketLifecycleConfigurationOutput
        NoSuchLifecycleConfiguration "The lifecycle configuration does not exist";
    get_bucket_policy GetBucketPolicyInput GetBucketPolicyOutput NoSuchBucketPolicy
        "The bucket policy does not exist";
    get_bucket_policy_status GetBucketPolicyStatusInput GetBucketPolicyStatusOutput NoSuchBucketPolicy
        "The bucket policy does not exist";
    get_bucket_replication GetBucketReplicationInput GetBucketReplicationOutput ReplicationConfigurationNotFoundError
        "The replication configuration was not found";
    get_bucket_tagging GetBucketTaggingInput GetBucketTaggingOutput NoSuchTagSet "The TagSet does not exist";
    get_bucket_website GetBucketWebsiteInput GetBucketWebsiteOutput NoSuchWebsiteConfiguration
        "The specified bucket does not have a website configuration";
    get_object_lock_configuration GetObjectLockConfigurationInput GetObjectLockConfigurationOutput
        ObjectLockConfigurationNotFoundError "Object Lock configuration does not exist for this bucket";
}

/// A bucket that is there, with a setting that holds for every bucket here.
macro_rules! fixed {
    ($($method:ident $input:ident $output:ident $value:expr;)*) => {
        impl Endpoint {
            $(pub(super) async fn $method(&self, call: &Call, request: S3Request<$input>) -> Answer<$output> {
                self.is_there(call, &request.input.bucket).await?;
                Ok(S3Response::new($value))
            })*
        }
    };
}

fixed! {
    get_bucket_accelerate_configuration GetBucketAccelerateConfigurationInput GetBucketAccelerateConfigurationOutput
        GetBucketAccelerateConfigurationOutput::default();
    get_bucket_acl GetBucketAclInput GetBucketAclOutput
        GetBucketAclOutput { grants: Some(grants()), owner: Some(owner()) };
    get_bucket_encryption GetBucketEncryptionInput GetBucketEncryptionOutput encryption();
    get_bucket_logging GetBucketLoggingInput GetBucketLoggingOutput GetBucketLoggingOutput::default();
    get_bucket_notification_configuration GetBucketNotificationConfigurationInput
        GetBucketNotificationConfigurationOutput GetBucketNotificationConfigurationOutput::default();
    get_bucket_ownership_controls GetBucketOwnershipControlsInput GetBucketOwnershipControlsOutput ownership();
    get_bucket_request_payment GetBucketRequestPaymentInput GetBucketRequestPaymentOutput
        GetBucketRequestPaymentOutput { payer: Some(Payer::from_static(Payer::BUCKET_OWNER)) };
    get_public_access_block GetPublicAccessBlockInput GetPublicAccessBlockOutput public_access();
}

/// There is nothing to delete.
macro_rules! deleted {
    ($($method:ident $input:ident $output:ident;)*) => {
        impl Endpoint {
            $(pub(super) async fn $method(&self, call: &Call, request: S3Request<$input>) -> Answer<$output> {
                self.is_there(call, &request.input.bucket).await?;
                Ok(S3Response::with_status($output::default(), StatusCode::NO_CONTENT))
            })*
        }
    };
}

deleted! {
    delete_bucket_lifecycle DeleteBucketLifecycleInput DeleteBucketLifecycleOutput;
    delete_bucket_policy DeleteBucketPolicyInput DeleteBucketPolicyOutput;
    delete_bucket_replication DeleteBucketReplicationInput DeleteBucketReplicationOutput;
    delete_bucket_tagging DeleteBucketTaggingInput DeleteBucketTaggingOutput;
    delete_bucket_website DeleteBucketWebsiteInput DeleteBucketWebsiteOutput;
}

/// Every object is encrypted.
fn encryption() -> GetBucketEncryptionOutput {
    let sse_algorithm = ServerSideEncryption::from_static(ServerSideEncryption::AES256);
    let default = ServerSideEncryptionByDefault { kms_master_key_id: None, sse_algorithm };
    let rule = ServerSideEncryptionRule {
        apply_server_side_encryption_by_default: Some(default),
        bucket_key_enabled: Some(false),
    };
    let configuration = ServerSideEncryptionConfiguration { rules: vec![rule] };
    GetBucketEncryptionOutput { server_side_encryption_configuration: Some(configuration) }
}

/// There are no access control lists.
fn ownership() -> GetBucketOwnershipControlsOutput {
    let object_ownership = ObjectOwnership::from_static(ObjectOwnership::BUCKET_OWNER_ENFORCED);
    let controls = OwnershipControls { rules: vec![OwnershipControlsRule { object_ownership }] };
    GetBucketOwnershipControlsOutput { ownership_controls: Some(controls) }
}

fn public_access() -> GetPublicAccessBlockOutput {
    let configuration = PublicAccessBlockConfiguration {
        block_public_acls: Some(true),
        block_public_policy: Some(true),
        ignore_public_acls: Some(true),
        restrict_public_buckets: Some(true),
    };
    GetPublicAccessBlockOutput { public_access_block_configuration: Some(configuration) }
}

impl Endpoint {
    async fn has_object(&self, call: &Call, object: &ObjectName, version: Option<&str>) -> s3s::S3Result<()> {
        current(version)?;
        let found = self.store.head(object, &Conditions::default()).await;
        found.map(drop).map_err(|error| answer(call, error))
    }

    pub(super) async fn get_object_acl(
        &self,
        call: &Call,
        request: S3Request<GetObjectAclInput>,
    ) -> Answer<GetObjectAclOutput> {
        let GetObjectAclInput { bucket, key, version_id, .. } = request.input;
        self.has_object(call, &ObjectName::new(bucket, key), version_id.as_deref()).await?;
        let output = GetObjectAclOutput { grants: Some(grants()), owner: Some(owner()), request_charged: None };
        Ok(S3Response::new(output))
    }

    /// `private` is what every bucket is.
    pub(super) async fn put_bucket_acl(
        &self,
        call: &Call,
        request: S3Request<PutBucketAclInput>,
    ) -> Answer<PutBucketAclOutput> {
        super::fields::refuse(&request.headers)?;
        self.is_there(call, &request.input.bucket).await?;
        if request.input.acl.is_none() {
            return Err(not_here("access control lists"));
        }
        Ok(S3Response::new(PutBucketAclOutput::default()))
    }

    pub(super) async fn put_object_acl(
        &self,
        call: &Call,
        request: S3Request<PutObjectAclInput>,
    ) -> Answer<PutObjectAclOutput> {
        super::fields::refuse(&request.headers)?;
        let PutObjectAclInput { bucket, key, version_id, acl, .. } = request.input;
        self.has_object(call, &ObjectName::new(bucket, key), version_id.as_deref()).await?;
        if acl.is_none() {
            return Err(not_here("access control lists"));
        }
        Ok(S3Response::new(PutObjectAclOutput::default()))
    }
}
